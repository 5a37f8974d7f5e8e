"""What holds without laws: contraction, structure and lowering are decided by terms and normal forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import saturate as sat
from saturate.rules import ELSEWHERE
from saturate.search import search

Array = Any
Form = Callable[..., Array]
A, B, C, S, X = (sat.Type(s) for s in ((5, 7), (7, 5), (5, 3), (5,), (7,)))
X7, Y = sat.Type((7, 3)), sat.Type((3, 5))

EQUAL: dict[str, list[tuple[Form, Form, tuple[sat.Type, ...]]]] = {
    "contraction": [
        (lambda a, b, c: (a @ b) @ c, lambda a, b, c: a @ (b @ c), (A, B, C)),
        (lambda a, b: np.trace(a @ b), lambda a, b: np.sum(a * b.T), (A, B)),
        (lambda a, b: np.trace(a @ b), lambda a, b: np.trace(b @ a), (A, B)),
        (lambda a, b, c: np.trace(a @ b @ c), lambda a, b, c: np.trace(c @ a @ b), (A, X7, Y)),
        (lambda a, b: np.diag(a @ b), lambda a, b: np.einsum("ij,ji->i", a, b), (A, B)),
        (lambda s, x: np.sum(np.outer(s, x)), lambda s, x: s.sum() * x.sum(), (S, X)),
        (lambda a, s, b: (a * s[:, None]) @ b, lambda a, s, b: s[:, None] * (a @ b), (A, S, B)),
    ],
    "structure": [
        (lambda a: np.exp(a.T).T, np.exp, (A,)),
        (lambda a, s: (a.T + s).T, lambda a, s: a + s[:, None], (A, S)),
        (lambda a: np.expand_dims(a, 1).sum(axis=2)[:, 0], lambda a: a.sum(axis=1), (A,)),
        (lambda a, b: np.tanh(a @ b).T, lambda a, b: np.tanh(b.T @ a.T), (A, B)),
    ],
    "lowering": [
        (lambda a: a @ np.ones(7), lambda a: a.sum(axis=1), (A,)),
        (
            lambda a: a @ np.full((7, 7), 0.25),
            lambda a: a.sum(axis=1, keepdims=True) * np.full(7, 0.25),
            (A,),
        ),
        (lambda a: np.einsum("ij,ij->i", a, np.ones_like(a)) / 7, lambda a: a.mean(axis=1), (A,)),
        (lambda s, x: np.outer(s, np.ones(7)) * x, lambda s, x: np.outer(s, x), (S, X)),
    ],
}


def test_every_theory_that_is_elsewhere_is_held_here() -> None:
    assert set(EQUAL) == set(ELSEWHERE)


@pytest.mark.parametrize(
    ("one", "other", "types"),
    [case for cases in EQUAL.values() for case in cases],
    ids=[f"{theory}-{k}" for theory, cases in EQUAL.items() for k in range(len(cases))],
)
def test_two_forms_are_one_value_without_any_law(one: Form, other: Form, types: tuple[sat.Type, ...]) -> None:
    found = search(sat.trace(lambda *x: (one(*x), other(*x)), *types), [], sat.Limits())
    assert found.roots[0].value == found.roots[1].value
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(t.shape) for t in types]
    np.testing.assert_allclose(one(*arrays), other(*arrays), rtol=1e-12, atol=1e-12)
