"""Between what the elements of a value lie, over the reals: one table for terms and for the e-graph.

A bound is an exact number, None where none is known. NaN is outside of any bounds and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from saturate.facts import BOOLEAN_FUNCTIONS

Bound = Fraction | None
Bounds = tuple[Bound, Bound]
UNBOUNDED: Bounds = (None, None)
ZERO, ONE = Fraction(0), Fraction(1)
SHARES: Bounds = (ZERO, ONE)
"""Of what sums to one and is nowhere negative."""

RANGES: dict[str, Bounds] = {
    **dict.fromkeys(("tanh", "erf", "sin", "cos", "sign"), (-ONE, ONE)),
    **dict.fromkeys(("expit", "ndtr"), (ZERO, ONE)),
    **dict.fromkeys(("exp", "exp2", "sqrt", "abs"), (ZERO, None)),
    "cosh": (ONE, None),
    "expm1": (-ONE, None),
}
"""Functions whose results lie in bounds whatever their operand is."""


def of_function(name: str, operands: Sequence[Bounds]) -> Bounds:
    """Bounds of `name` applied to operands with these bounds."""
    if name in BOOLEAN_FUNCTIONS:
        return (ZERO, ONE)
    if name.startswith("cast:float"):
        return operands[0]
    match name:
        case "maximum":
            return (_any(max, [b[0] for b in operands]), _all(max, [b[1] for b in operands]))
        case "minimum":
            return (_all(min, [b[0] for b in operands]), _any(min, [b[1] for b in operands]))
        case "where":
            lows, highs = zip(*operands[1:], strict=True)
            return (_all(min, lows), _all(max, highs))
        case _:
            return RANGES.get(name, UNBOUNDED)


def of_product(k: Fraction, summed: bool, factors: Sequence[Bounds]) -> Bounds:
    """Bounds of k·Σ ∏ factors: of numbers and of multiples of one factor."""
    if summed or len(factors) > 1:
        return UNBOUNDED
    low, high = factors[0] if factors else (ONE, ONE)
    a, b = (None if end is None else k * end for end in (low, high))
    return (a, b) if k >= 0 else (b, a)


def of_sum(members: Sequence[Bounds]) -> Bounds:
    """Bounds of a sum of members."""
    lows, highs = zip(*members, strict=True)
    return (_all(_sum, lows), _all(_sum, highs))


def _all(combine: Callable[[list[Fraction]], Fraction], ends: Sequence[Bound]) -> Bound:
    """Combined where every end is known."""
    known = [end for end in ends if end is not None]
    return combine(known) if len(known) == len(ends) else None


def _any(combine: Callable[[list[Fraction]], Fraction], ends: Sequence[Bound]) -> Bound:
    """Combined over those that are known."""
    known = [end for end in ends if end is not None]
    return combine(known) if known else None


def _sum(ends: list[Fraction]) -> Fraction:
    return sum(ends, ZERO)
