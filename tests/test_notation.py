"""Terms as mathematics: signs, fractions, divisions, names, and letters that no value has."""

from __future__ import annotations

from fractions import Fraction

import pytest

from saturate.algebra import Ix, Term, Terms
from saturate.notation import DEPTH, Writer, indices_of, letters, number

POOL = Terms()
ROW, COLUMN = Ix(5, 0), Ix(7, 0)
A = POOL.leaf("a", (ROW, COLUMN), "float64")
B = POOL.leaf("b", (ROW,), "float64")
NONE: frozenset[Ix] = frozenset()


def product(k: Fraction | int, *factors: Term, over: frozenset[Ix] = NONE) -> Term:
    return POOL.plain_con(Fraction(k), over, factors, "float64")


def total(*members: Term) -> Term:
    return POOL.plain_plus(members, "float64")


WRITER = Writer(letters(indices_of([A, B])))


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (product(1, A, B), "a·b"),
        (product(-1, A), "−a"),
        (product(Fraction(1, 3), A, A), "1/3·a²"),
        (product(1, A, POOL.fn("recip", (B,), "float64")), "a/b"),
        (product(1, POOL.fn("recip", (total(A, B),), "float64")), "1/(a + b)"),
        (product(1, A, over=frozenset((COLUMN,))), "Σ_j a"),
        (product(2, B, product(1, A, over=frozenset((COLUMN,)))), "2·b·(Σ_j a)"),
        (total(product(-1, A), B), "b − a"),
        (total(POOL.number(3, "float64"), B), "b + 3"),
        (total(POOL.number(-3, "float64"), B), "b − 3"),
        (POOL.fn("exp", (total(A, B),), "float64"), "exp(a + b)"),
        (POOL.fn("cast:float32", (A,), "float32"), "float32(a)"),
        (POOL.number(float("-inf"), "float64"), "−inf"),
        (POOL.red("max", frozenset((COLUMN,)), A), "max_j a"),
        (POOL.delta(ROW, Ix(5, 1), "float64"), "δ[i,i:5]"),
    ],
)
def test_terms_are_written(term: Term, text: str) -> None:
    known = Writer({**letters(indices_of([A, B])), Ix(5, 1): "i:5"})
    assert known.text(term) == text


def test_numbers_are_short() -> None:
    assert number(Fraction(-1, 17)) == "−1/17"
    assert number(Fraction(1e-05)) == "1e-05"
    assert number(Fraction(0.1) * -1) == "−0.1"


def test_names_stand_for_operands_and_never_for_the_whole() -> None:
    inner = POOL.fn("tanh", (A,), "float64")
    whole = product(1, inner, B)
    named = Writer(WRITER.letters, {inner.id: "h", whole.id: "y"})
    assert named.text(whole) == "b·h"
    assert named.called(whole) == "y"
    assert Writer(WRITER.letters, {}, {}, {"b": "bias"}).text(whole) == "bias·tanh(a)"


def test_long_texts_use_more_names_and_deep_ones_are_cut() -> None:
    deep = A
    for _ in range(DEPTH + 3):
        deep = POOL.fn("tanh", (deep,), "float64")
    assert WRITER.text(deep) == "tanh(" * (DEPTH + 1) + "…" + ")" * (DEPTH + 1)
    wide = POOL.fn("exp", (total(*(product(k, A, B) for k in range(2, 40))),), "float64")
    assert Writer(WRITER.letters, {}, {wide.args[0].id: "s"}).text(wide) == "exp(s)"


def test_letters_are_none_that_a_value_has() -> None:
    assert list(letters([ROW, COLUMN], ["i", "k"]).values()) == ["j", "l"]
    many = letters([Ix(5, k) for k in range(12)])
    assert list(many.values()) == [*"ijklmnpqrs", "i1", "j1"]
