"""What is known of the leaves of a program: its arguments, by contract, and the arrays that it captured."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import numpy as np

from saturate.bounds import UNBOUNDED, Bounds
from saturate.facts import BINARY, FINITE, INTEGER, NONNEG, NONZERO, ZERO_OR_ONE, Facts
from saturate.op import Array, Type


def only_number(array: Array) -> float | None:
    """The number that every element of a captured array of floats is, such as 1 in `np.ones`; else None."""
    value = array.value
    if value.dtype.kind != "f" or not value.size or not isfinite(value.flat[0]):
        return None
    return float(value.flat[0]) if (value == value.flat[0]).all() else None


def is_identity(array: Array) -> bool:
    """Whether a captured array of floats is the identity matrix, of more than one row."""
    value = array.value
    square = value.ndim == 2 and value.shape[0] == value.shape[1] > 1 and value.dtype.kind == "f"
    return square and np.array_equal(value, np.eye(len(value), dtype=value.dtype))


def one_hot_axes(array: Array) -> tuple[int, ...]:
    """The axes along which an array of zeros and ones holds exactly one one, everywhere."""
    if BINARY not in constant_facts(array):
        return ()
    return tuple(k for k in range(array.value.ndim) if (array.value.astype(float).sum(axis=k) == 1).all())


def input_facts(type: Type) -> Facts:
    """What an input has by contract: finite, and the sign that its bounds give."""
    if type.dtype == "bool":
        return ZERO_OR_ONE
    found = {FINITE} if type.is_float else {FINITE, INTEGER}
    if type.low is not None and type.low >= 0:
        found |= {NONNEG} if type.low == 0 else {NONNEG, NONZERO}
    if type.high is not None and type.high < 0:
        found.add(NONZERO)
    return frozenset(found)


def input_bounds(type: Type) -> Bounds:
    """The bounds that the type states, by contract."""
    if type.dtype == "bool":
        return (Fraction(0), Fraction(1))
    low, high = (None if end is None or not isfinite(end) else Fraction(end) for end in (type.low, type.high))
    return (low, high)


def constant_bounds(array: Array) -> Bounds:
    """The smallest and the largest element of a captured array."""
    value = array.value
    if value.dtype.kind not in "fiub" or not value.size or not np.isfinite(value).all():
        return UNBOUNDED
    return (Fraction(value.min().item()), Fraction(value.max().item()))


def constant_facts(array: Array) -> Facts:
    """What holds of every element of a captured array."""
    value = array.value
    if value.dtype.kind not in "fiu":
        return ZERO_OR_ONE
    found = set[str]()
    if (value == np.rint(value)).all():
        found |= ZERO_OR_ONE if ((value == 0) | (value == 1)).all() else {INTEGER}
    if all(isfinite(x) for x in value.ravel().tolist()):
        found.add(FINITE)
    if (value >= 0).all():
        found.add(NONNEG)
    if (value != 0).all():
        found.add(NONZERO)
    return frozenset(found)
