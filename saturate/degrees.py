"""How values grow with the inputs: a proof that ops without sums cannot join what grows in different ways."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from saturate.program import Node, Program
from saturate.target import Target

Degree = Mapping[str, Fraction]
"""The power with which a value grows, by the name of each input that it grows with."""

PRODUCTS = ("mul", "matmul", "einsum", "vec_dot")
POWERS = {
    "square": Fraction(2), "sqrt": Fraction(1, 2), "reciprocal": Fraction(-1), "rsqrt": Fraction(-1, 2),
}  # fmt: skip
SAME = ("neg", "reshape", "transpose", "broadcast", "flip", "slice", "sum", "mean")
NUMBERS = ("full", "constant", "eye")
HOMOGENEOUS = frozenset((*PRODUCTS, *POWERS, *SAME, *NUMBERS))
"""Ops whose result is multiplied by a power of c where an operand is multiplied by c > 0.

A value made of these alone grows with each input by one power, and all of its elements do by the same one:
an input does by the first, a number by none, a product adds the powers of its factors, and the others keep
or multiply them. A sum of two values of unequal powers does not, unless one of them is zero.
"""


def degrees(program: Program) -> dict[str, Degree | None]:
    """The degree of every value by its id; None where it has none, or where none is known."""
    found: dict[str, Degree | None] = {i.value: {i.name: Fraction(1)} for i in program.inputs}
    for node in program.nodes:
        below = [found[v] for v in node.operands]
        known = [d for d in below if d is not None]
        found[node.value] = _degree(node, known) if len(known) == len(below) else None
    return found


def _degree(node: Node, below: list[Degree]) -> Degree | None:
    name = node.op.name
    if name in PRODUCTS or name in NUMBERS:
        names = dict.fromkeys(name for degree in below for name in degree)
        powers = {
            name: sum((degree.get(name, Fraction(0)) for degree in below), Fraction(0)) for name in names
        }
        return {name: power for name, power in powers.items() if power}
    if name in POWERS:
        return {key: power * POWERS[name] for key, power in below[0].items()}
    if name in SAME or (name in ("add", "sub") and len(below) == 2 and below[0] == below[1]):
        return below[0]
    return None


def mixed(program: Program, node: Node, target: Target) -> tuple[str, str] | None:
    """What the operands of a sum grow as, where a target's ops can make each and never both together."""
    if target.ops is None or not HOMOGENEOUS.issuperset(target.ops) or node.op.name not in ("add", "sub"):
        return None
    known = degrees(program)
    below = [known[v] for v in node.operands] + [{}] * (2 - len(node.operands))
    first, second = below
    if first is None or second is None or first == second:
        return None
    return _shown(first), _shown(second)


def _shown(degree: Degree) -> str:
    """`x·w^2`."""
    factors = (name if power == 1 else f"{name}^{power}" for name, power in degree.items())
    return "·".join(factors) or "a number"
