"""Running a traced program node by node, and comparing it with NumPy run directly."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import optree
import pytest
import scipy.special as special
from trace_tables import INDICES, KNOWN, MASKS, SHAPES

from saturate.program import Program
from saturate.trace import trace, traced

Function = Callable[..., Any]


def run(program: Program, *arrays: Any) -> list[Any]:
    """The outputs of the program, one op after another."""
    values: dict[str, Any] = {given.value: x for given, x in zip(program.inputs, arrays, strict=True)}
    for node in program.nodes:
        values[node.value] = node.op.evaluate(np, *(values[v] for v in node.operands))
        found = np.asarray(values[node.value])
        assert (found.shape, found.dtype.name) == (node.type.shape, node.type.dtype), node
    return [values[v] for v in program.outputs]


def check(f: Function, *arrays: Any, ulps: int = 0) -> Program:
    """Trace, run, and compare with NumPy: structure, shapes, dtypes, values up to ulps of the largest."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        direct, spec = optree.tree_flatten(f(*arrays))
        found = traced(f, *arrays)
        leaves: list[Any] = optree.tree_leaves(arrays)  # type: ignore[arg-type]
        computed = run(found.program, *(x for x in leaves if isinstance(x, np.ndarray | np.generic)))
    assert found.out_spec == spec
    for ours, theirs in zip(computed, map(np.asarray, direct), strict=True):
        assert (np.shape(ours), np.asarray(ours).dtype) == (theirs.shape, theirs.dtype)
        compare(ours, theirs, ulps)
    return found.program


def compare(ours: Any, theirs: Any, ulps: int) -> None:
    """Equal, or within so many ulps of the largest finite magnitude."""
    if not ulps or theirs.dtype.kind != "f":
        np.testing.assert_array_equal(ours, theirs)
        return
    largest = np.max(np.abs(theirs), initial=1.0, where=np.isfinite(theirs))
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=ulps * float(np.finfo(theirs.dtype).eps * largest))


def error_of(f: Function, *arrays: Any) -> Exception | None:
    """What NumPy raises, if it does."""
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        try:
            f(*arrays)
        except Exception as error:
            return error
    return None


def agree(f: Function, *arrays: Any, ulps: int = 0) -> bool:
    """As `check`, and True, where NumPy answers; where it raises, tracing must raise the same, and False."""
    theirs = error_of(f, *arrays)
    if theirs is None:
        check(f, *arrays, ulps=ulps)
        return True
    with pytest.raises(type(theirs)) as ours:
        trace(f, *arrays)
    assert (type(ours.value), str(ours.value)) == (type(theirs), str(theirs))
    return False


def sample(dtype: str, *shape: int, seed: int = 0) -> Any:
    """Values of both signs where the dtype has them, ties among them."""
    drawn = np.random.default_rng([seed, *shape]).uniform(-3, 4, shape)
    kind = np.dtype(dtype).kind
    drawn = np.abs(drawn) if kind == "u" else np.maximum(np.round(drawn), 0) if kind == "b" else drawn
    found = np.asarray(np.round(drawn, 2)).astype(dtype)
    found.reshape(-1)[: found.size // 5] = found.reshape(-1)[:1]
    return found if shape else found[()]


def argument(name: str, dtype: str) -> Any:
    """The array that a name of the tables stands for."""
    if name in SHAPES:
        return sample(dtype, *SHAPES[name], seed=ord(name))
    if name in MASKS:
        return sample("bool", *MASKS[name], seed=ord(name))
    return np.random.default_rng(ord(name)).integers(0, 7, INDICES[name])


def case(expression: str, dtype: str) -> tuple[Function, list[Any]]:
    """The expression as a function of the tables' arrays that it names, and these arrays."""
    tree = ast.parse(expression, mode="eval")
    targets = [c.target for c in ast.walk(tree) if isinstance(c, ast.comprehension)]
    bound = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    found = dict.fromkeys(n.id for n in ast.walk(tree) if isinstance(n, ast.Name))
    names = [n for n in found if n in {**SHAPES, **MASKS, **INDICES} and n not in bound]
    scope = {"np": np, "special": special, **KNOWN}
    made: Function = eval(f"lambda {', '.join(names)}: {expression}", scope)
    return made, [argument(n, dtype) for n in names]
