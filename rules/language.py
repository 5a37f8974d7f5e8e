"""The language in which laws are stated: expressions over variables, shown, evaluated and compiled.

`a + b + c` and `a * b * c` are one sum and one product; parentheses on the right keep one inside another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from saturate.facts import BOOLEAN_FUNCTIONS
from saturate.op import AnyArray


@dataclass(frozen=True)
class Expr:
    """A side of a law."""

    def __add__(self, other: Expr | float) -> Expr:
        return _sum(self, lift(other))

    def __radd__(self, other: float) -> Expr:
        return _sum(lift(other), self)

    def __sub__(self, other: Expr | float) -> Expr:
        return _sum(self, -lift(other))

    def __rsub__(self, other: float) -> Expr:
        return _sum(lift(other), -self)

    def __mul__(self, other: Expr | float) -> Expr:
        return _product(self, lift(other))

    def __rmul__(self, other: float) -> Expr:
        return _product(lift(other), self)

    def __truediv__(self, other: Expr | float) -> Expr:
        if isinstance(other, int | float) and other != 0:
            return _product(Num(1 / Fraction(other)), self)
        return _product(self, recip(lift(other)))

    def __rtruediv__(self, other: float) -> Expr:
        return _product(lift(other), recip(self))

    def __neg__(self) -> Expr:
        return _product(Num(Fraction(-1)), self)


@dataclass(frozen=True)
class Var(Expr):
    """A pattern variable."""

    name: str


@dataclass(frozen=True)
class Num(Expr):
    """An exact number."""

    value: Fraction


@dataclass(frozen=True)
class Product(Expr):
    """A product of factors; numbers among them are its coefficient."""

    factors: tuple[Expr, ...]


@dataclass(frozen=True)
class Sum(Expr):
    """A sum of members."""

    members: tuple[Expr, ...]


@dataclass(frozen=True)
class Call(Expr):
    """An elementwise function by the name of its op, or `recip`."""

    function: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True)
class Total(Expr):
    """Σ over the letters of the body."""

    letters: str
    body: Expr


@dataclass(frozen=True)
class Largest(Expr):
    """The maximum over the letters of the body."""

    letters: str
    body: Expr


def lift(x: Expr | float) -> Expr:
    """A Python number as an expression."""
    return x if isinstance(x, Expr) else Num(Fraction(x))


def _product(a: Expr, b: Expr) -> Expr:
    return Product((*a.factors, b) if isinstance(a, Product) else (a, b))


def _sum(a: Expr, b: Expr) -> Expr:
    return Sum((*a.members, b) if isinstance(a, Sum) else (a, b))


def total(letters: str, body: Expr) -> Expr:
    """Σ over `letters` of `body`."""
    return Total(letters, body)


def largest(letters: str, body: Expr) -> Expr:
    """The maximum over `letters` of `body`."""
    return Largest(letters, body)


def recip(a: Expr | float) -> Expr:
    """1 / a."""
    return Call("recip", (lift(a),))


def const(value: float | Fraction) -> Expr:
    """A number."""
    return Num(Fraction(value))


def fn(name: str, *operands: Expr | float) -> Expr:
    """An elementwise function by the name of its op."""
    return Call(name, tuple(lift(o) for o in operands))


def exp(a: Expr) -> Expr:
    """e to the power a."""
    return fn("exp", a)


def log(a: Expr) -> Expr:
    """Natural logarithm."""
    return fn("log", a)


def sqrt(a: Expr) -> Expr:
    """Square root."""
    return fn("sqrt", a)


def free_letters(expr: Expr, variables: Mapping[str, str]) -> frozenset[str]:
    """The index letters that the expression depends on, by declaration."""
    match expr:
        case Var(name):
            return frozenset(variables[name])
        case Total(letters, body) | Largest(letters, body):
            return free_letters(body, variables) - set(letters)
        case Product(parts) | Sum(parts) | Call(_, parts):
            return frozenset().union(*(free_letters(p, variables) for p in parts))
        case _:
            return frozenset()


def names_in(expr: Expr) -> frozenset[str]:
    """The variables of an expression."""
    match expr:
        case Var(name):
            return frozenset((name,))
        case Total(_, body) | Largest(_, body):
            return names_in(body)
        case Product(parts) | Sum(parts) | Call(_, parts):
            return frozenset().union(*(names_in(p) for p in parts))
        case _:
            return frozenset()


def letters_in(expr: Expr) -> frozenset[str]:
    """The letters that the expression sums over, or takes a maximum over."""
    match expr:
        case Total(letters, body) | Largest(letters, body):
            return frozenset(letters) | letters_in(body)
        case Product(parts) | Sum(parts) | Call(_, parts):
            return frozenset().union(*(letters_in(p) for p in parts))
        case _:
            return frozenset()


def functions_in(expr: Expr) -> frozenset[str]:
    """The elementwise functions that the expression calls, `recip` among them."""
    match expr:
        case Total(_, body) | Largest(_, body):
            return functions_in(body)
        case Product(parts) | Sum(parts):
            return frozenset().union(*(functions_in(p) for p in parts))
        case Call(function, parts):
            return frozenset((function,)).union(*(functions_in(p) for p in parts))
        case _:
            return frozenset()


def show(expr: Expr) -> str:
    """The expression as mathematics."""
    match expr:
        case Var(name):
            return name
        case Num(value):
            return str(value)
        case Product(factors):
            return "·".join(f"({show(f)})" if isinstance(f, Sum | Product) else show(f) for f in factors)
        case Sum(members):
            return " + ".join(f"({show(m)})" if isinstance(m, Sum) else show(m) for m in members)
        case Total(letters, body):
            return f"Σ_{letters} ({show(body)})"
        case Largest(letters, body):
            return f"max_{letters} ({show(body)})"
        case Call(function, operands):
            return f"{function}({', '.join(show(o) for o in operands)})"
        case _:
            raise TypeError(f"no expression: {expr!r}")


def evaluate(
    expr: Expr,
    values: Mapping[str, AnyArray],
    axes: Mapping[str, int],
    sizes: Mapping[str, int],
    rounded: Callable[[AnyArray], AnyArray] = np.asarray,
) -> AnyArray:
    """Value with one axis for every letter, at its place in `axes`; of size one where it lacks the letter.

    `rounded` is applied to the result of each step.
    """
    dtype = np.result_type(*values.values()) if values else np.dtype(np.float64)

    def of(part: Expr) -> AnyArray:
        return evaluate(part, values, axes, sizes, rounded)

    match expr:
        case Var(name):
            return values[name]
        case Num(value):
            return np.full((1,) * len(axes), float(value), dtype)
        case Product(factors):
            found: AnyArray = np.ones((1,) * len(axes), dtype)
            for factor in factors:
                found = rounded(found * of(factor))
            return found
        case Sum(members):
            parts = [of(m) for m in members]
            found = parts[0]
            for part in parts[1:]:
                found = rounded(found + part)
            return found
        case Total(letters, body):
            found = rounded(of(body))
            for letter in letters:
                missing = found.shape[axes[letter]] == 1
                found = found.sum(axis=axes[letter], keepdims=True) * (sizes[letter] if missing else 1)
            return rounded(found.astype(dtype))
        case Largest(letters, body):
            axis = tuple(axes[letter] for letter in letters)
            return np.asarray(of(body).max(axis=axis, keepdims=True))
        case Call(function, operands):
            return rounded(_call(function, [of(o) for o in operands]))
        case _:
            raise TypeError(f"no expression: {expr!r}")


def _call(function: str, operands: list[AnyArray]) -> AnyArray:
    if function == "recip":
        return np.asarray(1 / operands[0])
    from saturate.ops import OPS

    op: Any = OPS[function]()
    shape = np.broadcast_shapes(*(o.shape for o in operands))
    result = op.evaluate(np, *(np.broadcast_to(o, shape) for o in operands))
    return np.asarray(result if function not in BOOLEAN_FUNCTIONS else result.astype(bool))
