"""What is known of every element of a value, and how ops pass it on: one table for terms and for the e-graph.

A fact is a word: `finite` (neither infinite nor NaN, over the reals: overflow does not count), `nonneg`
(nowhere below 0), `nonzero`, `integer` (what rounding to a whole number leaves as it is) and `binary` (0 or
1). Positive is `nonneg` and `nonzero` together. Only `finite` and `binary` rule NaN out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

FINITE, NONNEG, NONZERO = "finite", "nonneg", "nonzero"
INTEGER, BINARY = "integer", "binary"
WALKED = (FINITE, NONNEG, NONZERO)
"""What the e-graph works out for sums and products too; others of functions and leaves alone."""
FACTS = (*WALKED, INTEGER, BINARY)
Facts = frozenset[str]
NOTHING: Facts = frozenset()
ZERO_OR_ONE: Facts = frozenset((FINITE, NONNEG, INTEGER, BINARY))


class Step(NamedTuple):
    """A function of one operand has `result` where its operand has all of `needs`."""

    function: str
    needs: tuple[str, ...]
    result: str


def _steps(names: Iterable[str], *rows: tuple[tuple[str, ...], str]) -> list[Step]:
    return [Step(name, needs, result) for name in names for needs, result in rows]


UNARY_FACTS: tuple[Step, ...] = tuple(
    _steps(
        ("exp", "exp2"),
        ((), NONNEG),
        ((FINITE,), FINITE),
        ((FINITE,), NONZERO),
    )
    + _steps(("expit", "ndtr"), ((), NONNEG), ((FINITE,), FINITE), ((FINITE,), NONZERO))
    + _steps(("sqrt",), ((), NONNEG), ((NONNEG, FINITE), FINITE), ((NONNEG, NONZERO), NONZERO))
    + _steps(("recip",), ((NONNEG,), NONNEG), ((NONZERO, FINITE), FINITE), ((FINITE,), NONZERO))
    + _steps(("abs",), ((), NONNEG), ((FINITE,), FINITE), ((NONZERO,), NONZERO))
    + _steps(("abs", "floor", "ceil", "rint", "trunc"), ((BINARY,), BINARY))
    + _steps(("abs",), ((INTEGER,), INTEGER))
    + _steps(("sign", "floor", "ceil", "rint", "trunc"), ((), INTEGER), ((NONNEG,), NONNEG))
    + _steps(("log", "log2", "log10"), ((NONNEG, NONZERO, FINITE), FINITE))
    + _steps(("log1p",), ((NONNEG, FINITE), FINITE), ((NONNEG,), NONNEG))
    + _steps(("expm1",), ((FINITE,), FINITE), ((NONNEG,), NONNEG), ((NONZERO,), NONZERO))
    + _steps(
        ("tanh", "erf", "sinh", "arctan", "cbrt"),
        ((FINITE,), FINITE),
        ((NONNEG,), NONNEG),
        ((NONZERO,), NONZERO),
    )
    + _steps(("cosh",), ((), NONNEG), ((FINITE,), FINITE), ((), NONZERO))
    + _steps(("sin", "cos", "sign", "floor", "ceil", "rint", "trunc", "log_ndtr"), ((FINITE,), FINITE))
)
"""Facts that unary functions pass on. Monotone and odd functions keep signs; `exp` makes them."""

BY_FUNCTION: dict[str, tuple[Step, ...]] = {
    name: tuple(s for s in UNARY_FACTS if s.function == name)
    for name in dict.fromkeys(s.function for s in UNARY_FACTS)
}

BOOLEAN_FUNCTIONS = frozenset(
    "less less_equal greater greater_equal equal not_equal logical_and logical_or logical_xor logical_not "
    "is_finite is_nan".split()
)
"""Functions whose result is a boolean."""


ROUNDING_CASTS = ("cast:int", "cast:uint")
"""Casts that make zero of what is not zero."""


def of_function(name: str, operands: tuple[Facts, ...]) -> Facts:
    """Facts of `name` applied to operands with these facts."""
    if name in BOOLEAN_FUNCTIONS:
        return ZERO_OR_ONE
    if name.startswith("cast:"):
        whole = name.startswith(ROUNDING_CASTS)
        return (operands[0] - {NONZERO}) | {INTEGER} if whole else operands[0]
    if name in ("maximum", "minimum", "where"):
        return _of_choice(name, operands[-2], operands[-1])
    return frozenset(s.result for s in BY_FUNCTION.get(name, ()) if operands[0].issuperset(s.needs))


def _of_choice(name: str, a: Facts, b: Facts) -> Facts:
    found = a & b
    if name == "maximum":
        found |= {NONNEG} & (a | b)
        if (NONNEG in a and NONZERO in a) or (NONNEG in b and NONZERO in b):
            found |= {NONZERO}
    return found


def of_product(k: Fraction, summed: bool, factors: Mapping[int, tuple[int, Facts]]) -> Facts:
    """Facts of k·Σ ∏ factor^count, `factors` mapping each factor to its count and facts."""
    found = set()
    if all(FINITE in f for _, f in factors.values()):
        found.add(FINITE)
    nonneg = all(NONNEG in f or count % 2 == 0 for count, f in factors.values())
    if nonneg and k >= 0:
        found.add(NONNEG)
    if k != 0 and all(NONZERO in f for _, f in factors.values()) and (nonneg or not summed):
        found.add(NONZERO)
    if k.denominator == 1 and all(INTEGER in f for _, f in factors.values()):
        found.add(INTEGER)
    if k in (0, 1) and not summed and all(BINARY in f for _, f in factors.values()):
        found.add(BINARY)
    return frozenset(found)


def of_sum(members: tuple[Facts, ...]) -> Facts:
    """Facts of a sum of members."""
    found = set()
    if all(FINITE in f for f in members):
        found.add(FINITE)
    if all(INTEGER in f for f in members):
        found.add(INTEGER)
    if all(NONNEG in f for f in members):
        found.add(NONNEG)
        if any(NONZERO in f for f in members):
            found.add(NONZERO)
    return frozenset(found)


def of_reduction(operand: Facts) -> Facts:
    """Facts of a maximum, minimum or product over axes that are not empty: those of every element."""
    return operand
