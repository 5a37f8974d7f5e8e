"""How large the rounding errors of a program can be, not how large they happen to be: each rounding moved
at random.

At one point a program can be right by luck: where a softmax is saturated, two sums of the same numbers
cancel to an exact zero that another order of the same sums misses. So the baseline's error is measured with
every result moved by up to one unit in the last place, and with every operand of a sum or contraction moved
(Monte Carlo arithmetic, Parker 1997). Results that are exact, such as maxima, comparisons and views, are
not moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from saturate.ops.arithmetic import Neg
from saturate.ops.binary import Fmax, Fmin, Heaviside, Maximum, Minimum
from saturate.ops.constants import Constant, Eye, Full, Iota
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.reduction import Cumsum, Max, Mean, Min, Sum
from saturate.ops.select import Where
from saturate.ops.unary import Abs, Ceil, Floor, Rint, Sign, Trunc
from saturate.program import Node, Program

EXACT = (Neg, Abs, Sign, Floor, Ceil, Rint, Trunc, Max, Min, Maximum, Minimum, Fmax, Fmin, Heaviside, Where)
MADE = (Constant, Eye, Full, Iota)
SUMS = (Sum, Mean, Cumsum, Matmul, Einsum, VecDot)


def perturbed(program: Program, arrays: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """The results of the program with its roundings moved at random; equal for equal seeds."""
    rng = np.random.default_rng(seed)
    found = {given.value: array for given, array in zip(program.inputs, arrays, strict=True)}
    for node in program.nodes:
        operands = [found[v] for v in node.operands]
        if isinstance(node.op, SUMS):
            operands = [_moved(x, rng) for x in operands]
        result = node.op.evaluate(np, *operands)
        found[node.value] = _moved(result, rng) if _rounds(node) else result
    return tuple(found[v] for v in program.results)


def nearby(arrays: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """The arguments with each finite number up or down one unit in the last place, or kept."""
    rng = np.random.default_rng([seed, 1])
    return tuple(_moved(a, rng) for a in arrays)


def _rounds(node: Node) -> bool:
    return node.type.is_float and not node.op.view and not isinstance(node.op, EXACT + MADE + SUMS)


def _moved(x: Any, rng: np.random.Generator) -> Any:
    """Each finite element up, down or kept, one unit in the last place of its magnitude."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return x
    steps = rng.integers(-1, 2, x.shape, dtype=np.int8).astype(x.dtype)
    return x + np.where(np.isfinite(x), x, 0) * (steps * np.finfo(x.dtype).eps)
