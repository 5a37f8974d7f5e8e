"""What the tests of the whole share: workloads optimized once a process, fresh arguments, programs looked
at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import optree
from op_checks import sample
from workloads import WORKLOADS, Workload

import saturate as sat
from saturate.lift import lift, lifted_array
from saturate.op import AnyArray
from saturate.program import Program
from saturate.runners.evaluate import evaluate
from saturate.split import COTANGENT

TREES: Any = optree
"""Its annotations ask for trees of one type of leaf; the tests have arrays, tuples and dicts of them."""
NAMES = [load.name for load in WORKLOADS]
DTYPES = ["float32", "float64"]
TOLERANCE = {"float32": 1e-4, "float64": 1e-11}
"""Distance in parts of a result's largest magnitude, on standard normal arguments."""


def workload(name: str, dtype: str = "float64") -> Workload:
    """The workload of that name over a dtype."""
    return next(load for load in WORKLOADS if load.name == name).with_dtype(dtype)


@cache
def optimized(name: str, dtype: str) -> sat.Optimized:
    """The workload with its gradients, optimized as a user would."""
    load = workload(name, dtype)
    return sat.optimize(load.function, *load.types, wrt=load.wrt)


def fresh(program: Program, seed: int) -> list[AnyArray]:
    """Arguments that no search has seen, one for each input."""
    rng = np.random.default_rng([7, seed])
    return [sample(rng, i.type) for i in program.inputs]


def called(best: sat.Optimized, arrays: Sequence[AnyArray]) -> list[Any]:
    """Value and gradients of a call with arrays for the inputs of the baseline."""
    value, gradients = best(*arguments(best, arrays), **cotangent(best, arrays))
    return [value, *gradients]


def arguments(best: sat.Optimized, arrays: Sequence[AnyArray]) -> list[AnyArray]:
    """The arrays without that of the cotangent."""
    return [a for i, a in zip(best.baseline.inputs, arrays, strict=True) if i.name != COTANGENT]


def cotangent(best: sat.Optimized, arrays: Sequence[AnyArray]) -> dict[str, AnyArray]:
    """The array of the cotangent by name, where there is one."""
    return {i.name: a for i, a in zip(best.baseline.inputs, arrays, strict=True) if i.name == COTANGENT}


def reference(program: Program, arrays: Sequence[AnyArray], dtype: str = "float64") -> list[AnyArray]:
    """The results of a program with everything in a wider dtype."""
    wide = _lifted(program, dtype)
    given = [lifted_array(a, i.type.dtype) for i, a in zip(wide.inputs, arrays, strict=True)]
    return [np.asarray(x) for x in evaluate(wide, *given)]


_lifted = cache(lift)


def off(found: Any, true: Any) -> float:
    """The largest distance, in parts of the largest magnitude of the truth; types have to agree in shape."""
    found, true = np.asarray(found), np.asarray(true)
    assert found.shape == true.shape
    scale = float(np.max(np.abs(true), initial=0.0))
    distance = float(np.max(np.abs(found.astype(true.dtype) - true), initial=0.0))
    return distance / scale if scale else distance


def ops(program: Program) -> Counter[str]:
    """How often each op stands in a program."""
    return Counter(type(node.op).__name__ for node in program.nodes)


def passes(program: Program) -> int:
    """Steps that touch memory: neither views nor arrays of one repeated number."""
    free = {"Broadcast", "Full", "Constant", "Eye"}
    return sum(not n.op.view and type(n.op).__name__ not in free for n in program.nodes)


def elementwise(program: Program, shape: tuple[int, ...]) -> list[str]:
    """The elementwise ops whose result has this shape, up to the order of its axes and axes of size one."""
    plain = {"Matmul", "Einsum", "VecDot", "Max", "Sum", "Broadcast", "Full"}
    return [
        type(n.op).__name__
        for n in program.nodes
        if sorted(d for d in n.type.shape if d != 1) == sorted(shape)
        and not n.op.view
        and type(n.op).__name__ not in plain
    ]
