"""What a law is and how it is declared; tests, reports and rules of the e-graph follow from that."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import accumulate
from typing import Any

import numpy as np

from saturate.errors import LawError
from saturate.facts import FACTS
from saturate.op import AnyArray
from saturate.ops import OPS
from saturate.ops.elementwise import Elementwise
from saturate.rules.language import Expr, Var, free_letters, functions_in, names_in, show

BITWISE, ROUNDING, DOMAIN, BOUNDED = "bitwise", "rounding", "domain", "bounded"
PROMISES: dict[str, str] = {
    BITWISE: "the same bits at every argument, up to the sign and payload of NaN",
    ROUNDING: "equal over the reals, at infinities and NaN unless a condition bars them; rounding may differ",
    DOMAIN: "equal over the reals where nothing overflows",
    BOUNDED: "off by at most its bound over the reals",
}
"""What a law of each class of exactness promises, strictest first; the checker holds it to that."""
EXACTNESS = tuple(PROMISES)
"""Classes of exactness, strictest first; `optimize(exact=…)` admits laws up to one of them."""

SIMPLIFY, EXPLORE, MERGE_SUMS = "simplify", "explore", "merge_sums"
DIRECTIONS = (SIMPLIFY, EXPLORE, MERGE_SUMS)
"""When a law runs: always to the end, one round at a time, or with the merging of sums."""


@dataclass(frozen=True)
class Condition:
    """A fact that a variable must have: a guard in the e-graph, a check on arrays, a way to make samples."""

    variable: str
    fact: str

    @property
    def guard(self) -> str:
        """The condition as egglog sees it."""
        return f"({self.fact} {self.variable})"

    def holds(self, array: AnyArray) -> bool:
        """Whether every element has the fact."""
        checks: dict[str, Callable[[AnyArray], AnyArray]] = {
            "nonzero": lambda a: a != 0,
            "nonneg": lambda a: ~(a < 0),
            "finite": np.isfinite,
            "integer": lambda a: (a == np.rint(a)) | np.isnan(a),
            "binary": lambda a: (a == 0) | (a == 1),
        }
        return bool(checks[self.fact](array).all())

    def make(self, array: AnyArray) -> AnyArray:
        """A sample that has the fact, near `array`."""
        if self.fact == "nonzero":
            return np.where(np.abs(array) < 0.1, np.copysign(0.5, array), array).astype(array.dtype)
        if self.fact == "integer":
            return np.asarray(np.rint(3 * array))
        if self.fact == "binary":
            return (array > 0).astype(array.dtype)
        return np.abs(array) if self.fact == "nonneg" else array


def nonzero(*variables: str) -> tuple[Condition, ...]:
    """The variables are nowhere zero."""
    return tuple(Condition(v, "nonzero") for v in variables)


def nonneg(*variables: str) -> tuple[Condition, ...]:
    """The variables are nowhere negative."""
    return tuple(Condition(v, "nonneg") for v in variables)


def finite(*variables: str) -> tuple[Condition, ...]:
    """The variables are nowhere infinite or NaN."""
    return tuple(Condition(v, "finite") for v in variables)


def integer(*variables: str) -> tuple[Condition, ...]:
    """The variables are whole numbers everywhere."""
    return tuple(Condition(v, "integer") for v in variables)


def binary(*variables: str) -> tuple[Condition, ...]:
    """The variables are 0 or 1 everywhere."""
    return tuple(Condition(v, "binary") for v in variables)


@dataclass(frozen=True)
class Law:
    """An equation with its conditions and class of exactness.

    `egglog` is the pair of facts and actions for laws about n-ary sums and products, whose rest of members no
    pattern over two operands can say; elsewhere it is compiled from the two sides. `bound` is the largest
    distance between the sides of a `bounded` law. `unchecked` laws enter an
    e-graph without being tested, and reports say so.
    """

    name: str
    theory: str
    doc: str
    variables: Mapping[str, str] = field(hash=False)
    left: Expr
    right: Expr
    exact: str
    direction: str
    where: tuple[Condition, ...]
    narrows: bool
    source: str
    line: str
    egglog: tuple[str, str] | None = None
    unchecked: bool = False
    bound: float = 0.0

    def __str__(self) -> str:
        return f"{self.name}: {show(self.left)} = {show(self.right)}"


def law(
    *,
    exact: str = ROUNDING,
    direction: str = EXPLORE,
    where: tuple[Condition, ...] = (),
    narrows: bool = False,
    source: str = "",
    egglog: tuple[str, str] | None = None,
    unchecked: bool = False,
    bound: float = 0.0,
    **variables: str,
) -> Callable[[Callable[..., tuple[Expr, Expr]]], Law]:
    """Declare a law: a function of pattern variables that returns its two sides.

    Keywords name the variables with their index letters: a letter that a variable lacks is forbidden to it
    where the law sums over it; any other index is always allowed. `egglog` text carries its guards itself.
    `optimize` tests a law that is not of the catalogue before it uses it, unless it is `unchecked`.
    Raises `LawError` for an unbound variable, a condition on none of the variables, sides with different free
    letters without `narrows=True`, a bare variable on the left, an unknown function, a missing docstring, an
    unknown class or direction, what is not two sides, egglog text whose parentheses do not match, and a
    `bounded` law without its `bound` or another law with one.
    """

    def declare(function: Callable[..., tuple[Expr, Expr]]) -> Law:
        name = function.__name__
        parameters = tuple(inspect.signature(function).parameters)
        if set(parameters) != set(variables):
            raise LawError(
                f"law {name} needs index letters for each of its variables {list(parameters)}, "
                f"got {sorted(variables)}: write @law(a='ij')"
            )
        if not function.__doc__:
            raise LawError(f"law {name} needs a docstring that states it, got none")
        for what, given, allowed in (("exact", exact, EXACTNESS), ("direction", direction, DIRECTIONS)):
            if given not in allowed:
                raise LawError(f"law {name} needs {what} to be one of {', '.join(allowed)}; got {given!r}")
        if (exact == BOUNDED) != (bound > 0):
            raise LawError(
                f"law {name} needs a bound above zero where it is bounded, and none elsewhere: got {bound}"
            )
        left, right = _sides(name, function(**{p: Var(p) for p in parameters}))
        _check_functions(name, left, right)
        _check_sides(name, left, right, variables, narrows)
        _check_conditions(name, where, parameters)
        _check_parentheses(name, egglog or ())
        code = function.__code__
        theory = function.__module__.rpartition(".")[2]
        return Law(
            name, theory, inspect.cleandoc(function.__doc__), dict(variables), left, right, exact, direction,
            where, narrows, source, f"{code.co_filename}:{code.co_firstlineno}", egglog, unchecked, bound,
        )  # fmt: skip

    return declare


def _sides(name: str, returned: Any) -> tuple[Expr, Expr]:
    match returned:
        case (Expr() as left, Expr() as right):
            return left, right
        case tuple() as parts:
            got = ", ".join(show(part) if isinstance(part, Expr) else repr(part) for part in parts)
        case _:
            got = repr(returned)
    raise LawError(
        f"law {name} needs to return its two sides, terms made of its variables, got ({got}): "
        "a number alone is const(1)"
    )


def _check_functions(name: str, *sides: Expr) -> None:
    known = {"recip", *(op for op, made in OPS.items() if issubclass(made, Elementwise))}
    unknown = sorted(frozenset().union(*map(functions_in, sides)) - known)
    if unknown:
        near = get_close_matches(unknown[0], sorted(known), 3)
        raise LawError(
            f"law {name} needs elementwise functions by the names of their ops, got {unknown[0]!r}"
            + (f": is it {' or '.join(near)}?" if near else f"; there are {', '.join(sorted(known))}")
        )


def _check_sides(name: str, left: Expr, right: Expr, variables: Mapping[str, str], narrows: bool) -> None:
    unbound = sorted(names_in(right) - names_in(left))
    if unbound:
        raise LawError(
            f"law {name} needs every variable of its right side on its left, and {', '.join(unbound)} "
            f"is not in {show(left)}"
        )
    if isinstance(left, Var):
        raise LawError(
            f"law {name} needs more than the bare variable {left.name} on its left, which matches every "
            "term: swap the sides, or leave the law out"
        )
    a, b = free_letters(left, variables), free_letters(right, variables)
    if a != b and not (narrows and b < a):
        raise LawError(
            f"law {name} needs sides that depend on the same index letters, got {_listed(a)} and "
            f"{_listed(b)}: say narrows=True where the right side is meant to depend on fewer"
        )


def _check_conditions(name: str, where: tuple[Condition, ...], variables: tuple[str, ...]) -> None:
    for condition in where:
        if condition.variable not in variables:
            raise LawError(
                f"law {name} needs conditions on its own variables {', '.join(variables)}, "
                f"got {condition.fact}({condition.variable!r})"
            )
        if condition.fact not in FACTS:
            raise LawError(f"law {name} needs facts among {', '.join(FACTS)}; got {condition.fact!r}")


def _check_parentheses(name: str, texts: tuple[str, ...]) -> None:
    for text in texts:
        depths = list(accumulate((c == "(") - (c == ")") for c in text))
        if min(depths, default=0) < 0 or (depths and depths[-1] != 0):
            raise LawError(f"law {name} needs egglog text whose parentheses match, got {text!r}")


def _listed(letters: frozenset[str]) -> str:
    return " ".join(sorted(letters)) or "none"
