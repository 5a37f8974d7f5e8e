"""Sums that are one but for names of bound indices have one normal form, and no others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import saturate as sat
from saturate.alike import Form
from saturate.denote import denote
from saturate.normal import NormalForms

Array = Any
SQUARE = sat.Type((5, 5))


def forms(f: Any, *types: sat.Type) -> list[Form]:
    program = sat.trace(f, *types)
    meaning, normal = denote(program), NormalForms()
    for term in meaning.terms.all:
        normal.of(term)
    return [normal.of(meaning.values[v]) for v in program.outputs]


def test_a_trace_is_cyclic() -> None:
    def traces(a: Array, b: Array, c: Array) -> tuple[Array, ...]:
        return np.trace(a @ b @ c), np.trace(b @ c @ a), np.trace(c @ a @ b)

    found = forms(traces, sat.Type((5, 7)), sat.Type((7, 3)), sat.Type((3, 5)))
    assert found[0] == found[1] == found[2]
    square = forms(lambda a, b, c: (*traces(a, b, c), np.trace(a @ c @ b)), SQUARE, SQUARE, SQUARE)
    assert square[0] == square[1] == square[2] != square[3]


def test_bound_names_do_not_matter_below_functions_and_maxima() -> None:
    def pairs(a: Array, b: Array) -> tuple[Array, ...]:
        return (
            np.trace(np.exp(a) @ np.tanh(b)),
            np.trace(np.tanh(b) @ np.exp(a)),
            np.sum(a.max(0) * b),
            np.sum(a.max(0)[:, None] * b.T),
            np.sum(a.max(1) * b),
            np.sum(a.max(1)[:, None] * b),
        )

    one, two, three, four, five, six = forms(pairs, SQUARE, SQUARE)
    assert one == two
    assert three == four
    assert len({one, three, five, six}) == 4


FACTORS = (
    lambda a, b: a,
    lambda a, b: b,
    lambda a, b: np.exp(a),
    lambda a, b: a @ b,
    lambda a, b: np.tanh(b @ a),
    lambda a, b: a.max(axis=0) + 0 * a,
    lambda a, b: np.cumsum(a, axis=0) * b,
    lambda a, b: np.min(a + b.T, axis=1, keepdims=True) * b,
    lambda a, b: a * a.sum(axis=1),
)


def drawn(rng: np.random.Generator) -> Any:
    """The sum over all places of a product of three matrices, each turned or not, in one of the ways."""
    picks = rng.integers(0, 3 if rng.random() < 0.5 else len(FACTORS), 3)
    turned = rng.integers(0, 2, 3)
    subscripts = ("ij,jk,ki->", "ij,ij,ij->", "ij,ik,jk->", "ij,jk,lk->")[rng.integers(0, 4)]

    def f(a: Array, b: Array) -> Array:
        made = [FACTORS[k](a, b) for k in picks]
        return np.einsum(subscripts, *(m.T if t else m for m, t in zip(made, turned, strict=True)))

    return f


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_one_form_are_equal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = [drawn(rng) for _ in range(100)]
    found = forms(lambda a, b: tuple(f(a, b) for f in every), SQUARE, SQUARE)
    a, b = rng.standard_normal((2, 5, 5))
    values: dict[Form, float] = {}
    for form, f in zip(found, every, strict=True):
        value = f(a, b)
        assert value == pytest.approx(values.setdefault(form, value), rel=1e-9)
    assert 1 < len(values) < len(every)
