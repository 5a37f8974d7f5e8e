"""What is returned under a target holds its ops alone: both halves, the source, and any cotangent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import saturate as sat
from saturate.errors import TargetError
from saturate.scaled import product
from saturate.split import split

Array = Any
LINEAR = ("full", "matmul", "mul", "reshape")


def squares(x: Array) -> Array:
    return np.sum(x * x)


def mean_of_product(x: Array, w: Array) -> Array:
    return np.mean((x @ w) ** 2)


def cross_entropy(x: Array, t: Array, m: Array) -> Array:
    z = x - m
    return -np.mean(np.sum(t * (z - np.log(np.exp(z).sum(axis=-1, keepdims=True))), axis=-1))


def scalar(x: Array) -> Array:
    return x * x


CASES: list[tuple[Any, tuple[tuple[int, ...], ...], tuple[str, ...]]] = [
    (squares, ((3, 5),), LINEAR),
    (squares, ((),), LINEAR),
    (squares, ((1,),), LINEAR),
    (squares, ((3, 5),), ("full", "matmul", "reshape")),
    (squares, ((3, 5),), ("mul", "sum", "broadcast")),
    (squares, ((3, 5),), ("div", "sum", "broadcast")),
    (squares, ((5,),), ("vec_dot", "mul", "broadcast")),
    (squares, ((3, 5),), ("einsum", "mul")),
    (mean_of_product, ((7, 3), (3,)), LINEAR),
    (cross_entropy, ((5, 7), (5, 7), (5, 1)), (*LINEAR, "add", "exp", "log", "reciprocal", "rsqrt")),
    (scalar, ((),), ("mul",)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("function", "shapes", "ops"), CASES, ids=lambda x: getattr(x, "__name__", str(x)))
def test_backward_and_source_hold_the_targets_ops(
    function: Any, shapes: tuple[tuple[int, ...], ...], ops: tuple[str, ...], dtype: str
) -> None:
    types = [sat.Type(shape, dtype) for shape in shapes]
    target = sat.Target(ops=ops)
    best = sat.optimize(function, *types, wrt=tuple(range(len(types))), target=target, check=False)
    halves = split(best.program, product(target))
    for program in (best.program, halves.forward, halves.backward):
        assert {n.op.name for n in program.nodes} <= set(ops)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.1, 1.0, shape).astype(dtype) for shape in shapes]
    _, residuals = best.forward(*arrays)
    made: dict[str, Any] = {}
    exec(best.source(), made)
    for cotangent in (None, 3.0):
        given = () if cotangent is None else (cotangent,)
        found = best.backward(residuals, *given)
        for a, b, unit in zip(
            found, made["backward"](made["forward"](*arrays)[1], *given), best(*arrays)[1], strict=True
        ):
            assert np.array_equal(a, b)
            assert a.dtype == np.asarray(b).dtype == dtype
            np.testing.assert_allclose(a, unit * (cotangent or 1.0), rtol=1e-5)


REFUSED: list[tuple[Any, tuple[str, ...], str]] = [
    (np.sum, ("full", "sum"), "full, sum: 'v3' (node 'n1', mul) needs broadcast, mul"),
    (squares, ("mul", "sum"), "mul, sum: 'v3' (node 'n1', mul) needs broadcast"),
]


@pytest.mark.parametrize(("function", "ops", "said"), REFUSED, ids=[said for *_, said in REFUSED])
def test_gradients_that_nothing_multiplies_are_those_of_the_cotangent_one(
    function: Any, ops: tuple[str, ...], said: str
) -> None:
    """They are given for it, and refused for any other with what is missing."""
    best = sat.optimize(function, sat.Type((3, 5)), wrt=0, target=sat.Target(ops=ops), check=False)
    x = np.random.default_rng(0).normal(size=(3, 5))
    _, residuals = best.forward(x)
    made: dict[str, Any] = {}
    exec(best.source(), made)
    assert {n.op.name for n in split(best.program, product(best.target)).backward.nodes} <= set(ops)
    expected = best(x)[1]
    for given in ((), (1.0,), (np.float64(1.0),)):
        np.testing.assert_array_equal(best.backward(residuals, *given), expected)
        np.testing.assert_array_equal(made["backward"](made["forward"](x)[1], *given)[0], expected)
    with pytest.raises(TargetError) as error:
        best.backward(residuals, 3.0)
    assert str(error.value).startswith(
        f"backward of {best.program.name} gives gradients for the cotangent 1 alone, got 3.0: "
        f"scaled_gradient cannot be made for the target numpy with {said}; the closest form found has "
    )
    with pytest.raises(ValueError, match="no ops to multiply by another cotangent than 1"):
        made["backward"](made["forward"](x)[1], 3.0)
