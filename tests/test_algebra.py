"""The index algebra: terms are shared, axes are unified, diagonals are deltas, free indices are tracked."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_terms import random_terms, values
from term_values import arranged, evaluate

from saturate import Type
from saturate.algebra import Ix, Term, Terms
from saturate.denote import Denotation, denote
from saturate.facts import FINITE, NONNEG, NONZERO
from saturate.normal import needed, rebuild
from saturate.op import AnyArray
from saturate.trace import trace

Array = Any
ROW, COLUMN, OTHER = Ix(5, 0), Ix(3, 0), Ix(5, 1)
FINITE_ONLY = frozenset((FINITE,))


def denoted(f: Callable[..., Array], *shapes: tuple[int, ...]) -> tuple[Denotation, Term]:
    program = trace(f, *(Type(s) for s in shapes))
    meaning = denote(program)
    return meaning, meaning.values[program.outputs[0]]


def kinds(term: Term) -> list[str]:
    return [t.kind for t in needed([term])]


def worth(f: Callable[..., Array], *shapes: tuple[int, ...]) -> Term:
    """The term of a function, which is worth what NumPy says."""
    program = trace(f, *(Type(s) for s in shapes))
    meaning = denote(program)
    out = program.outputs[0]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(s) for s in shapes]
    leaves: dict[str, AnyArray] = dict(zip((i.name for i in program.inputs), arrays, strict=True))
    term = meaning.values[out]
    found = arranged(evaluate(term, leaves), term.free, meaning.axes[out])
    expected = np.asarray(f(*arrays))
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, rtol=1e-12)
    return term


# unification of axes


def test_broadcasting_and_transposing_are_no_operations() -> None:
    term = worth(lambda x, m: x - m[:, None], (5, 3), (5,))
    assert kinds(term) == ["leaf", "leaf", "con", "plus"]
    both = worth(lambda x, y: x + y.T, (5, 3), (3, 5))
    assert kinds(both) == ["leaf", "leaf", "plus"]
    assert both.args[0].free == both.args[1].free


def test_rows_that_meet_themselves_are_renamed_on_one_edge() -> None:
    """Self-attention's scores: keys come from the rows that queries come from."""
    term = worth(lambda x: x @ x.T, (5, 3))
    assert len(term.free) == 2
    assert {i.size for i in term.free} == {5}
    assert len({str(a) for a in term.args}) == 2
    hidden = worth(lambda x: np.tanh(x) @ np.tanh(x).T, (5, 3))
    assert kinds(hidden).count("ren") == 1
    assert kinds(hidden).count("fn") == 1


def test_square_operands_keep_their_axes_apart() -> None:
    one, other = (worth(f, (5, 5), (5, 5)) for f in (lambda a, b: a @ b, lambda a, b: a @ b.T))
    assert str(one) != str(other)
    assert kinds(worth(lambda a: a - a.T, (5, 5))).count("con") == 1
    assert len(worth(lambda a: a - a.T, (5, 5)).free) == 2


def test_axes_of_size_one_have_no_index() -> None:
    term = worth(lambda x: x - x.max(axis=1, keepdims=True), (5, 3))
    assert {i.size for i in term.free} == {5, 3}
    assert worth(lambda x, y: x * y, (1, 3), (5, 3)).free == frozenset((Ix(5, 0), Ix(3, 0)))


# diagonals


def test_a_trace_of_a_product_needs_no_matrix() -> None:
    term = worth(lambda a, b: np.trace(a @ b), (5, 3), (3, 5))
    assert term.free == frozenset()
    assert "delta" not in kinds(term)
    assert max(len(t.free) for t in needed([term])) == 2


def test_a_diagonal_of_a_product_needs_no_matrix() -> None:
    term = worth(lambda a, b: np.diag(a @ b), (5, 3), (3, 5))
    assert {i.size for i in term.free} == {5}
    assert "delta" not in kinds(term)


def test_a_diagonal_of_an_argument_keeps_its_delta() -> None:
    term = worth(lambda a: np.trace(a), (5, 5))
    assert kinds(term).count("delta") == 1
    assert term.free == frozenset()


def test_a_product_with_the_identity_is_a_renaming() -> None:
    terms = Terms()
    a = terms.leaf("a", (ROW, COLUMN), "float64", FINITE_ONLY)
    delta = terms.delta(ROW, OTHER, "float64")
    term = terms.con(Fraction(1), frozenset((ROW,)), (a, delta), "float64")
    assert term.kind == "leaf"
    assert term.head == ("a", (OTHER, COLUMN))
    infinite = terms.leaf("b", (ROW, COLUMN), "float64")
    assert terms.con(Fraction(1), frozenset((ROW,)), (infinite, delta), "float64").kind == "con"


# sharing and shape


def test_equal_terms_are_one_term() -> None:
    terms = Terms()
    x, y = (terms.leaf(n, (ROW,), "float64", FINITE_ONLY) for n in "xy")
    assert terms.leaf("x", (ROW,), "float64") is x
    assert terms.plus([x, y], "float64") is terms.plus([y, x], "float64")
    product = terms.con(Fraction(2), frozenset((ROW,)), (x, y), "float64")
    assert product is terms.con(Fraction(2), frozenset((ROW,)), (y, x), "float64")
    assert terms.fn("exp", (x,), "float64") is terms.fn("exp", (x,), "float64")
    assert terms.leaf("x", (ROW,), "float32") is not x
    assert [t.id for t in terms.all] == list(range(len(terms.all)))


def test_constructors_keep_the_normal_shape() -> None:
    terms = Terms()
    x = terms.leaf("x", (ROW,), "float64", FINITE_ONLY)
    two, none = terms.number(2.0, "float64"), frozenset[Ix]()
    double = terms.con(Fraction(1), none, (two, x), "float64")
    assert double.head == (2, none)
    assert terms.plus([x, x], "float64") is double
    assert terms.con(Fraction(1), none, (double, double), "float64").head == (4, none)
    assert terms.con(Fraction(1), frozenset((COLUMN,)), (x,), "float64").head == (3, none)
    assert terms.plus([x, terms.con(Fraction(-1), none, (x,), "float64")], "float64").constant == 0
    assert terms.con(Fraction(1), none, (x,), "float64") is x
    assert terms.recip(double).head == (Fraction(1, 2), none)
    assert terms.number(float("inf"), "float64").kind == "fn"


def test_what_may_be_infinite_is_not_dropped() -> None:
    terms = Terms()
    u = terms.leaf("u", (ROW,), "float64")
    none = frozenset[Ix]()
    assert terms.plus([u, terms.con(Fraction(-1), none, (u,), "float64")], "float64").constant is None
    assert terms.con(Fraction(0), none, (u,), "float64").constant is None


def test_a_matrix_with_a_vector_on_its_diagonal_is_a_product_with_delta() -> None:
    scaled = worth(lambda s, b: np.diag(s) @ b, (5,), (5, 3))
    assert (scaled.kind, scaled.head[1], [t.kind for t in scaled.args]) == (
        "con",
        frozenset(),
        ["leaf", "leaf"],
    )
    assert worth(lambda s, b: np.diag(s) @ b, (1,), (1, 3)).kind == "con"
    program = trace(np.diag, Type((5,)))
    unknown = denote(program, {program.inputs[0].value: frozenset()})
    assert unknown.values[program.outputs[0]].kind == "fn", "0·∞ is no number: a choice stays one"


def test_a_captured_identity_matrix_is_delta() -> None:
    eye = np.eye(5)
    assert denoted(lambda a: a @ eye, (3, 5))[1].kind == "leaf"
    assert denoted(lambda a: a @ eye[::-1], (3, 5))[1].kind == "con"
    assert denoted(lambda a: a + np.eye(1), (1, 1))[1].constant is None


def test_a_choice_by_a_number_is_made() -> None:
    terms = Terms()
    a, b = terms.leaf("a", (ROW,), "float64"), terms.leaf("b", (ROW,), "float64")
    assert terms.fn("where", (terms.number(1, "bool"), a, b), "float64") is a
    assert terms.fn("where", (terms.number(0, "bool"), a, b), "float64") is b


def test_renaming_is_simultaneous_and_free_of_cost() -> None:
    terms = Terms()
    a = terms.leaf("a", (ROW, OTHER), "float64")
    swapped = terms.rename(a, {ROW: OTHER, OTHER: ROW})
    assert swapped.head == ("a", (OTHER, ROW))
    assert terms.rename(a, {COLUMN: Ix(3, 1)}) is a
    assert terms.rename(terms.delta(ROW, OTHER, "float64"), {OTHER: Ix(5, 2)}).head == (ROW, Ix(5, 2))


# free indices and facts


def test_what_is_padded_with_infinity_is_not_finite() -> None:
    def padded(fill: float) -> Term:
        return denoted(lambda x: np.pad(x, 1, constant_values=fill), (5,))[1]

    assert padded(0.0).kind == padded(-np.inf).kind == "opaque"
    assert FINITE in padded(0.0).facts
    assert FINITE not in padded(-np.inf).facts


@pytest.mark.parametrize("seed", range(10))
def test_free_indices_facts_and_shape_are_right_on_random_terms(seed: int) -> None:
    """`evaluate` checks free indices; facts hold of every value; the normal shape is worth the same."""
    rng = np.random.default_rng(seed)
    _, made = random_terms(rng, count=24)
    leaves = values(rng)
    fresh = Terms()
    image: dict[int, Term] = {}
    for term in needed(made):
        image[term.id] = rebuild(fresh, term, tuple(image[a.id] for a in term.args))
    for term in made:
        with np.errstate(all="ignore"):
            value, other = evaluate(term, leaves), evaluate(image[term.id], leaves)
        assert_facts(term, value)
        every = tuple(sorted(term.free))
        shaped = arranged(other, image[term.id].free, every)
        scale = float(np.abs(value[np.isfinite(value)]).max(initial=1.0))
        np.testing.assert_allclose(
            np.broadcast_to(shaped, value.shape), value, rtol=1e-9, atol=1e-9 * scale, err_msg=str(term)
        )


def assert_facts(term: Term, value: AnyArray) -> None:
    numbers = value[~np.isnan(value)]
    assert FINITE not in term.facts or np.isfinite(value).all(), term
    assert NONNEG not in term.facts or (numbers >= 0).all(), term
    assert NONZERO not in term.facts or (numbers != 0).all(), term
