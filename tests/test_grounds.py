"""What facts of explored values rest on, kind by kind; and facts of each kind that contradict each other."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from workloads import layer_norm, softmax, t

import saturate as sat
from saturate.algebra import Ix, Term, Terms
from saturate.errors import EGraphError
from saturate.explore import Graph, load
from saturate.facts import BINARY, FINITE, INTEGER, NONNEG, NONZERO
from saturate.rules import law
from saturate.rules.language import Expr, const, exp, fn
from saturate.rules.law import DOMAIN
from saturate.signature import rational

Array = Any
X = sat.Type((5, 7))
SHARE = sat.Type((5, 7), low=0.0, high=1.0)
HOT = np.eye(7)[[3, 0, 6, 6, 1]]
ROW, COLUMN = Ix(5, 0), Ix(7, 0)
X_FINITE, X_BETWEEN = "x is finite", "x is between 0 and 1"


def shares(x: Array) -> Array:
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def given(*facts: str, units: bool = False) -> Graph:
    """|x| of a leaf x of which this is given."""
    pool = Terms()
    ones = frozenset((COLUMN,)) if units else frozenset[Ix]()
    x = pool.leaf("x", (ROW, COLUMN), "float64", frozenset(facts), ones)
    return load({"x": x, "value": pool.fn("abs", (x,), "float64")})


def of(f: Callable[..., Any], *types: sat.Type) -> Graph:
    return load(f, *(types or (X,)))


PROVED: tuple[tuple[str, str, Graph], ...] = (
    ("indices", "i, j", of(np.exp)),
    ("dtype", "float64", of(np.exp)),
    ("number", "2", of(lambda x: 2 * np.ones(5))),
    ("sign", "nowhere negative", of(np.exp)),
    ("sign", "nowhere zero", of(np.cosh)),
    ("finite", "finite", of(lambda x: (x > 0) * 3.0)),
    ("finite", "finite", of(lambda n: n * 2, sat.Type((5,), "int64"))),
    ("integer", "whole", of(np.floor)),
    ("bounds", "at least −1", of(np.tanh)),
    ("bounds", "at most 1", of(np.tanh)),
    ("shares", "summing to one over j", of(lambda x: HOT * np.ones((5, 7)))),
    ("binary", "0 or 1 everywhere", of(lambda x: (x > 0).astype("float64"))),
)
"""A fact of each kind that needs no assumption."""

ASSUMED: tuple[tuple[str, str, Graph, str], ...] = (
    ("indices", "none", of(lambda x: x - x), X_FINITE),
    ("number", "0", of(lambda x: x - x), X_FINITE),
    ("sign", "nowhere negative", of(lambda x: x * 2, SHARE), X_BETWEEN),
    ("sign", "nowhere zero", of(np.exp), X_FINITE),
    ("finite", "finite", of(np.exp), X_FINITE),
    ("integer", "whole", given(INTEGER), "x is whole"),
    ("bounds", "at least 0", of(lambda x: x * 2, SHARE), f"{X_BETWEEN}; {X_FINITE}"),
    ("bounds", "at most 2", of(lambda x: x * 2, SHARE), f"{X_BETWEEN}; {X_FINITE}"),
    ("shares", "summing to one over j", of(shares), X_FINITE),
    ("binary", "0 or 1 everywhere", given(BINARY), "x is 0 or 1 everywhere"),
    ("sign", "nowhere zero", given(NONZERO, FINITE), "x is nowhere zero"),
)
"""A fact of each kind but the dtype, which is never assumed, and what it rests on."""


def rows(graph: Graph, name: str = "value") -> dict[tuple[str, str], tuple[str, str]]:
    return {(kind, fact): (known, rests) for kind, fact, known, rests in graph.facts(name)}


@pytest.mark.parametrize(("kind", "fact", "graph"), PROVED, ids=[f"{k} {f}" for k, f, _ in PROVED])
def test_a_fact_without_assumptions_is_proved(kind: str, fact: str, graph: Graph) -> None:
    assert rows(graph)[kind, fact] == ("proved", "")


@pytest.mark.parametrize(
    ("kind", "fact", "graph", "rests"), ASSUMED, ids=[f"{k} {f}" for k, f, *_ in ASSUMED]
)
def test_a_fact_that_rests_on_assumptions_names_them(kind: str, fact: str, graph: Graph, rests: str) -> None:
    assert rows(graph)[kind, fact] == ("assumed", rests)


def test_every_kind_is_tried_both_ways() -> None:
    kinds = {"indices", "dtype", "number", "sign", "finite", "integer", "bounds", "shares", "binary"}
    assert {kind for kind, *_ in PROVED} == kinds
    assert {kind for kind, *_ in ASSUMED} == kinds - {"dtype"}
    assert {kind for kind, *_ in CONFLICTS} == kinds - {"indices"}


def test_what_is_given_of_a_leaf_is_assumed() -> None:
    assert rows(given(units=True), "x")["shares", "summing to one over j"] == ("assumed", "x sums to one")
    assert rows(given(FINITE), "x")["finite", "finite"] == ("assumed", X_FINITE)
    assert rows(of(np.exp), "x")["finite", "finite"] == ("assumed", X_FINITE)


def test_only_what_is_needed_is_listed() -> None:
    """Either operand makes a maximum nowhere negative; one of two assumptions is enough."""
    graph = of(lambda x, y, z: np.maximum(x, y) + 0 * z, SHARE, SHARE, X)
    assert rows(graph)["finite", "finite"] == ("assumed", "x is finite; y is finite; z is finite")
    known, rests = rows(of(np.maximum, SHARE, SHARE), "value")["sign", "nowhere negative"]
    assert (known, rests) in [("assumed", X_BETWEEN), ("assumed", "x2 is between 0 and 1")]


@law(a="i", narrows=True, exact=DOMAIN)
def exp_is_one(a: Expr) -> tuple[Expr, Expr]:
    """exp(a) = 1."""
    return exp(a), const(1)


def test_a_law_that_needs_more_than_its_conditions_is_an_assumption() -> None:
    graph = load(np.exp, X).run(exp_is_one)
    assert rows(graph)["number", "1"] == ("assumed", "the law exp_is_one")
    assert rows(graph)["sign", "nowhere negative"] == ("proved", "")
    known, rests = rows(graph)["finite", "finite"]
    assert (known, rests) in [("assumed", X_FINITE), ("assumed", "the law exp_is_one")]


def test_facts_are_told_after_a_search() -> None:
    """What laws found counts too: √x·√x is x where x is not negative, as its type says."""
    graph = load(lambda x: np.sqrt(x) * np.sqrt(x), SHARE).saturate()
    assert rows(graph)["bounds", "at most 1"] == ("assumed", f"{X_BETWEEN}; {X_FINITE}")
    assert rows(graph)["sign", "nowhere negative"] == ("proved", "")


HOSTILE = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -2.5])


@pytest.mark.parametrize(
    "f",
    [np.exp, np.cosh, np.tanh, np.abs, np.sqrt, np.sign, shares, lambda x: (x > 0) * np.floor(x),
     lambda x: np.maximum(x, 1.0), lambda x: np.exp(-np.abs(x)) * (x > 0),
     lambda x: np.minimum(np.exp(x), 2.0)],
)  # fmt: skip
def test_what_is_proved_holds_where_inputs_are_infinite_or_no_numbers(f: Callable[[Array], Array]) -> None:
    """An independent look: no array breaks a fact that rests on nothing."""
    x = np.stack([HOSTILE, np.roll(HOSTILE, 3), np.full(7, np.inf), np.zeros(7), np.full(7, 2.0)])
    with np.errstate(all="ignore"):
        made = np.asarray(f(x), dtype=float)
    seen = made[~np.isnan(made)]
    proved = {fact for (_, fact), (known, _) in rows(of(f)).items() if known == "proved"}
    assert {"i, j", "float64"} <= proved
    for fact in proved - {"i, j", "float64"}:
        assert holds(fact, made, seen), fact


def holds(fact: str, made: Array, seen: Array) -> bool:
    """Whether an array has a fact; NaN counts only for what rules it out."""
    match fact:
        case "finite":
            return bool(np.isfinite(made).all())
        case "0 or 1 everywhere":
            return bool(np.isin(made, (0, 1)).all())
        case "whole":
            return bool((seen == np.rint(seen)).all())
        case "nowhere negative":
            return bool((seen >= 0).all())
        case "nowhere zero":
            return bool((seen != 0).all())
        case _:
            side, end = fact.rsplit(" ", 1)
            bound = float(Fraction(end.replace("−", "-")))
            return bool((seen >= bound).all() if side == "at least" else (seen <= bound).all())


@pytest.mark.parametrize(("f", "types"), [(softmax, 1), (layer_norm, 3)])
def test_every_named_value_of_a_program_has_facts(f: Callable[..., Any], types: int) -> None:
    graph = load(f, t(5, 7), *[t(7)] * (types - 1), wrt="x")
    for name in list(graph.names)[:8]:
        table = graph.facts(name)
        assert {"indices", "dtype"} <= set(table.column("kind"))
        assert set(table.column("known")) <= {"proved", "assumed"}
        assert all((known == "assumed") == bool(rests) for _, _, known, rests in table)


# contradictions


def number(k: Fraction | int, of: str = "e") -> str:
    """The action that makes a class a number."""
    return f"(union {of} (Con d {rational(Fraction(k))} (set-empty) (multiset-of)))"


HALF = Fraction(1, 2)
CONFLICTS: tuple[tuple[str, str, set[str], str, str], ...] = (
    ("dtype", "exp", {FINITE}, '(union e (Fn1 "exp" "float32" a))', "attempted for function dtype"),
    ("number", "sin", {FINITE}, number(0) + number(HALF), "attempted for function value"),
    ("sign", "tanh", {NONNEG}, number(-HALF), "of what is negative with what is nowhere negative"),
    ("sign", "exp", {FINITE}, number(0), "of zero with what is nowhere zero"),
    ("finite", "exp", {FINITE}, '(union e (Fn0 "literal:inf" d))', "of what is not finite with what is"),
    ("integer", "floor", {FINITE}, number(HALF), "of a fraction with what is whole"),
    ("bounds", "tanh", {FINITE}, number(2), "of bounds that cross"),
    ("binary", "abs", {BINARY}, number(HALF), "of another number with what is 0 or 1"),
    ("shares", "abs", set(), number(HALF, "a"), "of a number with what sums to one otherwise"),
)
"""For each kind that can be contradicted: a function of a leaf, what is given of the leaf, and what a false
law's rule does where it finds the function. Indices cannot: equal values have those that both have.
"""


@pytest.mark.parametrize(
    ("kind", "function", "facts", "actions", "says"), CONFLICTS, ids=[f"{c[0]}-{c[1]}" for c in CONFLICTS]
)
def test_facts_that_contradict_each_other_name_the_law_and_what_it_was_applied_to(
    kind: str, function: str, facts: set[str], actions: str, says: str
) -> None:
    @law(a="i", egglog=(f'(= e (Fn1 "{function}" d a))', actions))
    def contradicts(a: Expr) -> tuple[Expr, Expr]:
        """Both sides are the same; its rule does something else."""
        return fn(function, a), fn(function, a)

    pool = Terms()
    units = frozenset((COLUMN,) if kind == "shares" else ())
    x = pool.leaf("x", (ROW, COLUMN), "float64", frozenset(facts), units)
    graph = load({"value": pool.fn(function, (x,), "float64")}).run(contradicts)
    with pytest.raises(EGraphError) as raised:
        _ = graph.classes
    assert str(raised.value) == (
        f"a law is false or needs a condition, one of: {contradicts} ({contradicts.line}), a = x[i:5,i:7]: "
        f"the e-graph refuses a merge or a rule: Panic: Illegal merge {says}"
    )


@law(a="i")
def sine_is_a_tangent(a: Expr) -> tuple[Expr, Expr]:
    """sin(a) = tanh(a)."""
    return fn("sin", a), fn("tanh", a)


@law(a="i", narrows=True)
def tanh_is_two(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = 2."""
    return fn("tanh", a), const(2)


def test_what_a_law_was_applied_to_is_said_where_another_law_made_it() -> None:
    pool = Terms()
    x: Term = pool.leaf("x", (ROW,), "float64", frozenset((FINITE,)))
    graph = load({"value": pool.fn("sin", (x,), "float64")}).run([sine_is_a_tangent, tanh_is_two], rounds=3)
    with pytest.raises(EGraphError, match=r"tanh_is_two: tanh\(a\) = 2 \([^)]*\), a = x\[i:5\]"):
        _ = graph.classes


def test_what_a_rounding_shows_stops_no_optimizer() -> None:
    """The divisor is zero over the reals, and nowhere zero on the example."""
    x, y = np.array([0.1, 0.7, 1.3]), np.array([1000.123, 2000.4567, 3300.0])
    noise = (x + y) - y - x
    assert noise.all()
    best = sat.optimize(lambda x, y: x / ((x + y) - y - x), x, y)
    np.testing.assert_array_equal(best(x, y), x / noise)
