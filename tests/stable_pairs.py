"""Pairs of equal forms of one function: what is right everywhere, and what is cheap where it is safe."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from saturate import Type

Array = Any


@dataclass(frozen=True)
class Pair:
    """A stable and another form, the types of the arguments, and between what they are mild.

    There both are right. `exact` is the class of the laws that lead from one to the other.
    """

    name: str
    stable: Callable[..., Array]
    other: Callable[..., Array]
    types: tuple[Type, ...]
    mild: tuple[float, float]
    exact: str = "rounding"


def t(*shape: int, low: float | None = None, high: float | None = None) -> Type:
    return Type(shape, "float32", low, high)


VECTOR, MATRIX = (7747,), (61, 127)


def variance(x: Array) -> Array:
    return np.mean((x - x.mean(axis=-1, keepdims=True)) ** 2, axis=-1)


def raw_variance(x: Array) -> Array:
    return np.mean(x * x, axis=-1) - x.mean(axis=-1) ** 2


def product_of_conjugates(a: Array, b: Array) -> Array:
    return np.sum((a + b) * (a - b), axis=-1)


def difference_of_squares(a: Array, b: Array) -> Array:
    return np.sum(a * a, axis=-1) - np.sum(b * b, axis=-1)


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def plain_softmax(x: Array) -> Array:
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def logsumexp(x: Array) -> Array:
    m = x.max(axis=-1, keepdims=True)
    return m[..., 0] + np.log(np.exp(x - m).sum(axis=-1))


def plain_logsumexp(x: Array) -> Array:
    return np.log(np.exp(x).sum(axis=-1))


def log_softmax(x: Array) -> Array:
    z = x - x.max(axis=-1, keepdims=True)
    return z - np.log(np.exp(z).sum(axis=-1, keepdims=True))


def both_sides(x: Array) -> tuple[Array, Array]:
    return special.expit(x), special.expit(-x)


def both_sides_by_difference(x: Array) -> tuple[Array, Array]:
    s = special.expit(x)
    return s, 1 - s


def squared_distances(a: Array, b: Array) -> Array:
    return np.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=-1)


def squared_distances_by_product(a: Array, b: Array) -> Array:
    return np.sum(a * a, axis=1)[:, None] + np.sum(b * b, axis=1) - 2 * (a @ b.T)


def exp_of_difference(a: Array, b: Array) -> Array:
    return np.exp(a[:, None] - b)


def product_of_exps(a: Array, b: Array) -> Array:
    return np.exp(a)[:, None] * np.exp(-b)


def reciprocal_of_roots(x: Array) -> Array:
    return 1 / (np.sqrt(1 + x) + np.sqrt(x))


def difference_of_roots(x: Array) -> Array:
    return np.sqrt(1 + x) - np.sqrt(x)


def divided_twice(x: Array, a: Array, b: Array) -> Array:
    return x / a[:, None] / b[:, None]


def divided_by_product(x: Array, a: Array, b: Array) -> Array:
    return x / (a * b)[:, None]


def wide(count: int, low: float, high: float) -> tuple[Type, ...]:
    """Arguments that lie far out, where squares and products overflow."""
    return (t(*VECTOR, low=low, high=high),) * count


PAIRS: tuple[Pair, ...] = (
    Pair("variance", variance, raw_variance, (t(*MATRIX),), (-1, 1)),
    Pair(
        "squared distances", squared_distances, squared_distances_by_product, (t(61, 5), t(127, 5)), (-1, 1)
    ),
    Pair(
        "difference of squares",
        product_of_conjugates,
        difference_of_squares,
        (t(*MATRIX, low=3e19, high=3.001e19),) * 2,
        (-1, 1),
    ),
    Pair("softmax", softmax, plain_softmax, (t(*MATRIX),), (-1, 1), "domain"),
    Pair("log-sum-exp", logsumexp, plain_logsumexp, (t(*MATRIX),), (-1, 1), "domain"),
    Pair(
        "exponential of a difference", exp_of_difference, product_of_exps, (t(61), t(127)), (-1, 1), "domain"
    ),
    Pair("log1p", np.log1p, lambda x: np.log(1 + x), (t(*VECTOR, low=0),), (1, 2), "domain"),
    Pair("expm1", np.expm1, lambda x: np.exp(x) - 1, (t(*VECTOR),), (1, 2), "domain"),
    Pair("sinh", np.sinh, lambda x: 0.5 * np.exp(x) - 0.5 * np.exp(-x), (t(*VECTOR),), (1, 2), "domain"),
    Pair(
        "softplus",
        lambda x: np.logaddexp(x, 0),
        lambda x: np.log(np.exp(x) + 1),
        (t(*VECTOR),),
        (-1, 1),
        "domain",
    ),
    Pair(
        "logaddexp",
        np.logaddexp,
        lambda a, b: np.log(np.exp(a) + np.exp(b)),
        (t(*VECTOR), t(*VECTOR)),
        (-1, 1),
        "domain",
    ),
    Pair(
        "sigmoid of large negatives",
        both_sides,
        both_sides_by_difference,
        (t(*VECTOR, low=5, high=20),),
        (-1, 1),
    ),
    Pair("hypot", np.hypot, lambda a, b: np.sqrt(a * a + b * b), wide(2, -1e30, 1e30), (1, 2)),
    Pair(
        "product of roots",
        lambda a, b: np.sqrt(a) * np.sqrt(b),
        lambda a, b: np.sqrt(a * b),
        wide(2, 0, 1e30),
        (1, 2),
        "domain",
    ),
    Pair(
        "sum of logarithms",
        lambda a, b: np.log(a) + np.log(b),
        lambda a, b: np.log(a * b),
        wide(2, 1e-30, 1e30),
        (1, 2),
        "domain",
    ),
    Pair("difference of roots", reciprocal_of_roots, difference_of_roots, (t(*VECTOR, low=0),), (0.1, 1)),
    Pair(
        "product of reciprocals",
        divided_twice,
        divided_by_product,
        (t(*MATRIX, low=1e25, high=1e30), *(t(61, low=1e20, high=1e25),) * 2),
        (1, 2),
    ),
)
"""The stable form is the dearer one, and returned; the fast one where samples say that it is safe."""

CHEAPER: tuple[Pair, ...] = (
    Pair(
        "logarithm of a softmax",
        log_softmax,
        lambda x: np.log(softmax(x)),
        (t(*MATRIX),),
        (-1, 1),
    ),
    Pair(
        "logarithm of exponentials",
        lambda a, b: a + b,
        lambda a, b: np.log(np.exp(a) * np.exp(b)),
        (t(*VECTOR), t(*VECTOR)),
        (-1, 1),
    ),
    Pair("root of a square", np.abs, lambda x: np.sqrt(x * x), wide(1, -1e30, 1e30), (1, 2)),
    Pair(
        "logarithm and power of two", lambda x: 1 * x, lambda x: np.log2(np.exp2(x)), (t(*VECTOR),), (-1, 1)
    ),
)
"""The stable form is the cheaper one as well, and found from the other."""
