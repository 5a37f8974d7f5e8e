"""Cases on which losses and layers are known to break, each with its stated behaviour."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from workloads import attention, cross_entropy, cross_entropy_of_softmax, logsumexp, softmax

import saturate as sat

Array = Any
INF = np.float32(np.inf)


def drawn(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def wide(p: Array) -> Array:
    return np.asarray(p, "float64")


@cache
def optimized(f: Callable[..., Array], *shapes: tuple[int, ...]) -> sat.Optimized:
    return sat.optimize(f, *(sat.Type(s, "float32") for s in shapes), wrt=0)


def true_gradient(logits: Array, labels: Array) -> Array:
    """(p·Σt − t)/n in float64."""
    z = wide(logits) - wide(logits).max(axis=-1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)
    return (p * labels.sum(axis=-1, keepdims=True) - labels) / len(labels)


# Rows that are masked whole: no number there, as the function itself says, and nowhere else.


@pytest.mark.parametrize("f", [softmax, logsumexp])
def test_a_row_of_minus_infinities_gives_no_number_there_alone(f: Callable[[Array], Array]) -> None:
    masked = drawn(5, 7)
    masked[2] = -INF
    masked[3, 1:4] = -INF
    best = sat.optimize(f, masked, wrt="x")
    assert best.check().passed
    with np.errstate(invalid="ignore"):
        value, dx = best(masked, cotangent=np.ones_like(f(masked)))
        plain = f(masked)
    np.testing.assert_array_equal(np.isnan(value), np.isnan(plain))
    assert np.isnan(value[2]).all()
    assert np.isnan(dx[2]).all()
    kept = [0, 1, 3, 4]
    np.testing.assert_allclose(value[kept], plain[kept], rtol=2e-6)
    assert np.isfinite(dx[kept]).all()
    assert (dx[3, 1:4] == 0).all()


def test_a_row_of_a_mask_of_attention_gives_no_number_there_alone() -> None:
    mask = np.where(np.tri(5, 7, dtype=bool), 0, -INF).astype("float32")
    mask[1] = -INF

    def masked(q: Array, k: Array, v: Array) -> Array:
        s = q @ k.T * 0.5 + mask
        e = np.exp(s - s.max(axis=-1, keepdims=True))
        return (e / e.sum(axis=-1, keepdims=True)) @ v

    q, k, v = drawn(5, 4), drawn(7, 4, seed=1), drawn(7, 3, seed=2)
    best = sat.optimize(masked, q, k, v, wrt="q")
    with np.errstate(invalid="ignore"):
        value, dq = best(q, k, v, cotangent=drawn(5, 3, seed=3))
        plain = masked(q, k, v)
    assert np.isnan(value[1]).all()
    assert np.isnan(dq[1]).all()
    kept = [0, 2, 3, 4]
    np.testing.assert_allclose(value[kept], plain[kept], rtol=1e-5, atol=1e-6)
    assert np.isfinite(dq[kept]).all()


# A choice between what is larger and what is not, at NaN


def relu_by_choice(x: Array) -> Array:
    return np.where(x > 0, x, 0)


def test_a_choice_becomes_a_maximum_where_arguments_are_numbers_and_the_report_says_so() -> None:
    best = sat.optimize(relu_by_choice, drawn(31, 37))
    assert {type(n.op).__name__ for n in best.program.nodes} == {"Maximum"}
    assert best.report.assumptions == ("inputs are finite where their examples are",)


def test_a_choice_stays_one_where_an_example_holds_nan() -> None:
    held = drawn(31, 37)
    held[3, 1:4] = np.nan
    best = sat.optimize(relu_by_choice, held)
    assert {type(n.op).__name__ for n in best.program.nodes} == {"Greater", "Where"}
    np.testing.assert_array_equal(best(held), relu_by_choice(held))


def test_a_choice_stays_one_where_a_value_may_be_no_number() -> None:
    """The logarithm of a negative number is none, though no argument of the example is negative."""
    best = sat.optimize(
        lambda x: relu_by_choice(np.log(x)), np.exp(drawn(31, 37)), accuracy=None, check=False
    )
    assert {type(n.op).__name__ for n in best.program.nodes} == {"Log", "Greater", "Where"}


# Ties


@pytest.mark.parametrize("f", [softmax, logsumexp, lambda x: np.sum(x.max(axis=-1)), attention])
def test_where_all_is_equal_nothing_is_special(f: Callable[..., Array]) -> None:
    given = [np.full((5, 7), 3, "float32")] * (3 if f is attention else 1)
    best = optimized(f, *(x.shape for x in given))
    plain = f(*given)
    value, gradient = best(*given, cotangent=np.ones_like(plain)) if plain.ndim else best(*given)
    np.testing.assert_allclose(value, plain, rtol=1e-6)
    assert np.ptp(gradient) <= 1e-6


# Powers and their inverses at the edge of float32


@pytest.mark.parametrize("x", [-126.0, 0.0, 88.0, 89.0, 126.0, 1e30])
@pytest.mark.parametrize(
    "f", [lambda x: np.log(np.exp(x)), lambda x: np.log2(np.exp2(x))], ids=["log-exp", "log2-exp2"]
)
def test_a_logarithm_undoes_an_exponential_that_overflows(f: Callable[[Array], Array], x: float) -> None:
    best = optimized(f, (3,))
    given = np.full(3, x, "float32")
    value, dx = best(given, cotangent=np.ones_like(given))
    np.testing.assert_array_equal(value, given)
    np.testing.assert_array_equal(dx, np.ones_like(given))


def root_of_square(x: Array) -> Array:
    return np.sqrt(x * x)


@pytest.mark.parametrize("size", ["max", "smallest_normal"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_root_of_a_square_neither_overflows_nor_vanishes(size: str, sign: int) -> None:
    best = optimized(root_of_square, (3,))
    given = np.full(3, sign * getattr(np.finfo("float32"), size))
    value, dx = best(given, cotangent=np.ones_like(given))
    np.testing.assert_array_equal(value, np.abs(given))
    np.testing.assert_allclose(dx, np.sign(given), rtol=1e-6)


# Losses


LABELS: dict[str, Callable[[int], Array]] = {
    "one-hot": lambda batch: np.eye(11)[np.arange(batch) % 11],
    "sum to two": lambda batch: np.full((batch, 11), 2 / 11),
    "sum to nothing": lambda batch: np.zeros((batch, 11)),
    "some zero": lambda batch: np.abs(drawn(batch, 11)) * (drawn(batch, 11, seed=1) > 0),
}


@pytest.mark.parametrize(
    ("loss", "scale"), [(cross_entropy, 1.0), (cross_entropy, 1000.0), (cross_entropy_of_softmax, 1.0)]
)
@pytest.mark.parametrize("batch", [1, 3, 13])
@pytest.mark.parametrize("labels", LABELS)
def test_a_loss_and_its_gradient(loss: Callable[..., Array], scale: float, batch: int, labels: str) -> None:
    """Logits times 1,000, labels that do not sum to one, a batch of one."""
    t = LABELS[labels](batch).astype("float32")
    logits = scale * drawn(batch, 11, seed=2)
    value, gradient = optimized(loss, (batch, 11), (batch, 11))(logits, t)
    assert np.isfinite(value)
    true = true_gradient(logits, t)
    assert np.abs(gradient - true).max() <= 4e-6 * max(1.0, np.abs(true).max())


def test_a_loss_with_a_coefficient_whose_value_is_read_again() -> None:
    def loss(logits: Array, labels: Array) -> Array:
        first = cross_entropy(logits, labels)
        return 3 * first + 0.5 * first * first

    logits, labels = drawn(3, 11), np.eye(11, dtype="float32")[[1, 4, 4]]
    best = sat.optimize(loss, logits, labels, wrt="logits")
    value, gradient = best(logits, labels)
    first = float(cross_entropy(wide(logits), wide(labels)))
    assert value == pytest.approx(3 * first + 0.5 * first**2, rel=1e-6)
    np.testing.assert_allclose(gradient, (3 + first) * true_gradient(logits, labels), atol=1e-6)


# Integers and booleans


def test_integer_and_boolean_operands() -> None:
    def loss(x: Array, kept: Array, classes: Array, counts: Array) -> Array:
        chosen = np.where(kept, x, np.float32(0))
        hot = (np.arange(7) == classes[:, None]).astype(x.dtype)
        weight = counts.astype(x.dtype) // 2 + (counts > 3)
        return np.sum(chosen * hot * weight[:, None]) + np.sum(kept) * np.float32(2)

    rng = np.random.default_rng(0)
    x, kept = drawn(5, 7), rng.random((5, 7)) < 0.5
    classes, counts = rng.integers(0, 7, 5), rng.integers(0, 9, 5)
    best = sat.optimize(loss, x, kept, classes, counts, wrt="x")
    value, gradient = best(x, kept, classes, counts)
    assert value == pytest.approx(float(loss(x, kept, classes, counts)), rel=1e-6)
    hot = np.arange(7) == classes[:, None]
    expected = kept * hot * (counts // 2 + (counts > 3))[:, None]
    np.testing.assert_array_equal(gradient, expected)
