"""Found, not coded: what the maximum's adjoint leaves behind, over axes, sizes, dtypes, and every way to
write it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from optimized import TOLERANCE, called, fresh, off, ops, optimized, passes, reference

import saturate as sat
from saturate.program import Program

Array = Any
Shape = tuple[int, ...]

COMPARED = {"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual", "Sign", "Heaviside", "IsNan"}
CHOSEN = {"Argmax", "Argmin", "Where", "Take", "ScatterAdd", "Maximum", "Minimum", "Fmax", "Fmin", "Cast"}
PLAIN = set(
    "Max Sub Exp Sum Mean Div Mul VecDot Einsum Matmul Log Add Neg Square Reciprocal "
    "Reshape Transpose Broadcast Full".split()
)
"""The ops that a softmax or a cross-entropy is written in; anything else would hide something."""

CASES: list[tuple[Shape, int | tuple[int, ...], bool, str]] = [
    ((5, 7), -1, True, "float32"),
    ((5, 7), 1, False, "float64"),
    ((5, 7), 0, False, "float32"),
    ((7, 7), -1, True, "float64"),
    ((3, 5, 7), 2, True, "float64"),
    ((3, 5, 7), 1, False, "float32"),
    ((5, 5, 5), -2, False, "float64"),
    ((3, 5, 7), (1, 2), True, "float32"),
    ((11,), 0, False, "float32"),
]
cases = pytest.mark.parametrize(("shape", "axis", "keepdims", "dtype"), CASES, ids=str)


def exponentials(x: Array, axis: Any, keepdims: bool) -> tuple[Array, Array, Array]:
    """Maximum, exponentials and their sum; the last two spread over `axis` with either way to keep axes."""
    if keepdims:
        m = x.max(axis=axis, keepdims=True)
        e = np.exp(x - m)
        return m, e, e.sum(axis=axis, keepdims=True)
    m = np.expand_dims(np.max(x, axis=axis), axis)
    e = np.exp(x - m)
    return m, e, np.expand_dims(np.sum(e, axis=axis), axis)


def softmax(axis: Any, keepdims: bool) -> Callable[[Array], Array]:
    def softmax(x: Array) -> Array:
        _, e, s = exponentials(x, axis, keepdims)
        return e / s

    return softmax


def logsumexp(axis: Any, keepdims: bool) -> Callable[[Array], Array]:
    def logsumexp(x: Array) -> Array:
        m, _, s = exponentials(x, axis, keepdims)
        out = m + np.log(s)
        return out if keepdims else np.squeeze(out, axis)

    return logsumexp


def log_of_shifted_sum(axis: Any, keepdims: bool) -> Callable[[Array], Array]:
    def log_of_shifted_sum(x: Array) -> Array:
        m = np.max(x, axis=axis, keepdims=keepdims)
        shifted = x - (m if keepdims else np.expand_dims(m, axis))
        return np.log(np.sum(np.exp(shifted), axis=axis, keepdims=keepdims)) + m

    return log_of_shifted_sum


def cross_entropy(axis: Any, keepdims: bool) -> Callable[[Array, Array], Array]:
    def cross_entropy(logits: Array, labels: Array) -> Array:
        m, _, s = exponentials(logits, axis, keepdims)
        return -np.mean(np.sum(labels * (logits - m - np.log(s)), axis=axis))

    return cross_entropy


def cross_entropy_of_softmax(axis: Any, keepdims: bool) -> Callable[[Array, Array], Array]:
    def cross_entropy_of_softmax(logits: Array, labels: Array) -> Array:
        return -np.sum(labels * np.log(softmax(axis, keepdims)(logits)))

    return cross_entropy_of_softmax


def assert_nothing_of_the_maximum_is_left(program: Program) -> None:
    found = ops(program)
    assert not COMPARED & set(found)
    assert not CHOSEN & set(found)
    assert set(found) <= PLAIN
    assert found["Max"] == 1
    assert "bool" not in {n.type.dtype for n in program.nodes}


def assert_right(best: sat.Optimized) -> None:
    """Against the baseline in a wider dtype, on data that no search has seen, with and without ties."""
    dtype = best.baseline.types[best.baseline.outputs[0]].dtype
    for seed in range(2):
        arrays = fresh(best.baseline, seed)
        if seed:
            arrays = [np.rint(a).astype(a.dtype) for a in arrays]
        for found, true in zip(called(best, arrays), reference(best.baseline, arrays), strict=True):
            assert off(found, true) <= TOLERANCE[dtype]


def found(f: Callable[..., Any], *types: sat.Type, wrt: Any) -> sat.Optimized:
    return sat.optimize(f, *types, wrt=wrt, check=False)


@cases
def test_softmax_and_its_backward_take_eight_passes(
    shape: Shape, axis: Any, keepdims: bool, dtype: str
) -> None:
    best = found(softmax(axis, keepdims), sat.Type(shape, dtype), wrt=("x",))
    assert_nothing_of_the_maximum_is_left(best.program)
    assert passes(best.program) <= 8
    assert_right(best)


@cases
@pytest.mark.parametrize("way", [logsumexp, log_of_shifted_sum])
def test_log_sum_exp_and_its_backward_take_eight_passes(
    way: Callable[..., Any], shape: Shape, axis: Any, keepdims: bool, dtype: str
) -> None:
    best = found(way(axis, keepdims), sat.Type(shape, dtype), wrt=("x",))
    assert_nothing_of_the_maximum_is_left(best.program)
    assert passes(best.program) <= 8
    assert ops(best.program)["Exp"] == ops(best.program)["Log"] == 1
    assert_right(best)


@cases
def test_cross_entropy_takes_thirteen_passes(shape: Shape, axis: Any, keepdims: bool, dtype: str) -> None:
    labels = sat.Type(shape, dtype, low=0.0, high=1.0)
    best = found(cross_entropy(axis, keepdims), sat.Type(shape, dtype), labels, wrt=("logits",))
    assert_nothing_of_the_maximum_is_left(best.program)
    assert passes(best.program) <= 13
    assert_right(best)


@pytest.mark.parametrize(("shape", "axis", "keepdims", "dtype"), CASES[:6], ids=str)
def test_cross_entropy_of_a_softmax_does_not_divide_by_it(
    shape: Shape, axis: Any, keepdims: bool, dtype: str
) -> None:
    labels = sat.Type(shape, dtype, low=0.0, high=1.0)
    best = found(cross_entropy_of_softmax(axis, keepdims), sat.Type(shape, dtype), labels, wrt=("logits",))
    assert_nothing_of_the_maximum_is_left(best.program)
    assert passes(best.program) <= 13
    assert ops(best.program)["Exp"] == ops(best.program)["Log"] == 1
    assert_right(best)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_labels_that_are_one_hot(dtype: str) -> None:
    labels = np.eye(11, dtype=dtype)[np.random.default_rng(0).integers(0, 11, 13)]
    logits = np.random.default_rng(1).standard_normal((13, 11)).astype(dtype)
    best = sat.optimize(cross_entropy(-1, True), logits, labels, wrt="logits")
    assert_nothing_of_the_maximum_is_left(best.program)
    value, gradient = best(logits, labels)
    p = np.exp(logits.astype("float64"))
    p /= p.sum(axis=1, keepdims=True)
    assert off(value, -np.mean(np.log((p * labels).sum(axis=1)))) <= TOLERANCE[dtype]
    assert off(gradient, (p - labels) / 13) <= TOLERANCE[dtype]


def test_labels_that_are_one_hot_by_comparison_keep_that_comparison_alone() -> None:
    def loss(logits: Array, classes: Array) -> Array:
        labels = (np.arange(11) == classes[:, None]).astype(logits.dtype)
        return cross_entropy(-1, True)(logits, labels)

    best = found(
        loss, sat.Type((13, 11), "float32"), sat.Type((13,), "int64", low=0, high=10), wrt=("logits",)
    )
    equal = [n for n in best.program.nodes if type(n.op).__name__ in COMPARED]
    assert [best.program.types[v].dtype for n in equal for v in n.operands] == ["int64"] * 2 * len(equal)
    assert len(equal) == 1
    assert ops(best.program)["Max"] == 1
    assert passes(best.program) <= 15
    assert_right(best)


# A loss around it: coefficients, values used again, and the maximum read on purpose.


def scaled(logits: Array, labels: Array) -> Array:
    return 3.5 * cross_entropy(-1, True)(logits, labels) / 7


def scaled_by_an_argument(logits: Array, labels: Array, c: Array) -> Array:
    return c * cross_entropy(-1, False)(logits, labels)


def used_again(logits: Array, labels: Array) -> Array:
    m, e, s = exponentials(logits, -1, True)
    logp = logits - m - np.log(s)
    p = e / s
    return -np.sum(labels * logp) + 0.1 * np.sum(p * p)


def entropy(logits: Array) -> Array:
    m, e, s = exponentials(logits, -1, True)
    return -np.sum(e / s * (logits - m - np.log(s)))


def two_of_them(logits: Array, labels: Array) -> Array:
    lse = log_of_shifted_sum(-1, False)(logits)
    return np.sum(lse * lse) + np.sum(np.tanh(lse)) - np.sum(labels * logits)


def after_a_layer(w: Array, x: Array, labels: Array) -> Array:
    return cross_entropy(-1, True)(x @ w, labels)


T = sat.Type
LOSSES: list[tuple[Callable[..., Any], tuple[sat.Type, ...], str]] = [
    (scaled, (T((5, 7)), T((5, 7))), "logits"),
    (scaled_by_an_argument, (T((5, 7)), T((5, 7)), T(())), "logits"),
    (used_again, (T((5, 7)), T((5, 7))), "logits"),
    (entropy, (T((5, 7)),), "logits"),
    (two_of_them, (T((5, 7)), T((5, 7))), "logits"),
    (after_a_layer, (T((3, 7)), T((5, 3)), T((5, 7))), "w"),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("loss", "types", "wrt"), LOSSES, ids=[f.__name__ for f, _, _ in LOSSES])
def test_nothing_of_the_maximum_is_left_inside_a_loss(
    loss: Callable[..., Any], types: tuple[sat.Type, ...], wrt: str, dtype: str
) -> None:
    best = found(loss, *(sat.Type(t.shape, dtype) for t in types), wrt=(wrt,))
    remaining = set(ops(best.program)) - {"Tanh"}
    assert not remaining & (COMPARED | CHOSEN)
    assert remaining <= PLAIN
    assert ops(best.program)["Max"] == 1
    assert_right(best)


def sum_of_maxima(x: Array) -> Array:
    m, _, s = exponentials(x, -1, True)
    return np.sum(np.log(s)) + np.sum(m**2)


def lse_and_twice_the_maximum(x: Array) -> Array:
    m, _, s = exponentials(x, -1, True)
    return np.sum(m + np.log(s)) + 2 * np.sum(m)


def half_shifted(x: Array) -> Array:
    m = x.max(axis=-1, keepdims=True)
    return np.sum(np.log(np.exp(x - 0.5 * m).sum(axis=-1)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("loss", [sum_of_maxima, lse_and_twice_the_maximum, half_shifted])
def test_a_loss_that_reads_the_maximum_keeps_its_gradient(loss: Callable[..., Any], dtype: str) -> None:
    best = sat.optimize(loss, sat.Type((5, 7), dtype), wrt=("x",))
    assert set(ops(best.program)) & COMPARED
    assert best.check().passed
    assert_right(best)
    x = np.random.default_rng(3).standard_normal((5, 7))
    direction = np.random.default_rng(4).standard_normal((5, 7))
    h = 1e-6
    quotient = (loss(x + h * direction) - loss(x - h * direction)) / (2 * h)
    gradient = best(x.astype(dtype))[1][0]
    assert np.sum(gradient * direction) == pytest.approx(quotient, rel=1e-3 if dtype == "float32" else 1e-7)


def test_ties_share_the_gradient_of_a_maximum_that_is_read() -> None:
    best = sat.optimize(lambda x: np.sum(x.max(axis=1)), sat.Type((3, 5)), wrt="x")
    x = np.array([[1.0, 3.0, 3.0, 0.0, 3.0], [2.0, 1.0, 0.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0, 4.0]])
    _, gradient = best(x)
    expected = np.array([[0, 1 / 3, 1 / 3, 0, 1 / 3], [1, 0, 0, 0, 0], [0.2] * 5])
    np.testing.assert_allclose(gradient, expected, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_published_backward_of_softmax(dtype: str) -> None:
    best = optimized("softmax", dtype)
    y, (dx,) = best(x := fresh(best.baseline, 1)[0], cotangent=(g := fresh(best.baseline, 2)[1]))
    wide = np.exp(x.astype("float64"))
    wide /= wide.sum(axis=1, keepdims=True)
    assert off(y, wide) <= TOLERANCE[dtype]
    assert off(dx, wide * (g - (g * wide).sum(axis=1, keepdims=True))) <= TOLERANCE[dtype]
