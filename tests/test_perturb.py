"""Roundings moved at random: by one unit, only where something rounds, and nothing infinite lost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import saturate as sat
from saturate.perturb import nearby, perturbed
from saturate.runners.evaluate import evaluate

EPS = float(np.finfo("float32").eps)


def masked_softmax(x: Any, mask: Any) -> Any:
    s = x + mask
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_a_mask_stays_a_mask_and_the_rest_moves_by_units() -> None:
    x = np.random.default_rng(0).standard_normal((5, 7)).astype("float32")
    mask = np.where(np.tri(5, 7), 0.0, -np.inf).astype("float32")
    program = sat.trace(masked_softmax, x, mask)
    (plain,) = sat.optimize(program, exact="bitwise", check=False)(x, mask)[None]
    moved = [perturbed(program, (x, mask), seed)[0] for seed in range(4)]
    for found in moved:
        np.testing.assert_allclose(found, plain, rtol=32 * EPS)
        np.testing.assert_array_equal(found == 0, np.tri(5, 7) == 0)
    assert any((found != plain).any() for found in moved)


def test_arguments_move_by_one_unit_and_keep_what_is_not_finite() -> None:
    x = np.array([1.0, -np.inf, np.nan, 0.0, 3.0], "float32")
    for seed in range(8):
        (found,) = nearby((x,), seed)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found[1:4], x[1:4])
        np.testing.assert_allclose(found[[0, 4]], x[[0, 4]], rtol=2 * EPS)


def test_the_roundings_of_a_value_move_together_too() -> None:
    """Independent moves of 4,096 equal numbers cancel in their sum, to a 64th; a bias does not."""
    x = np.full((4096,), 0.1, "float32")
    program = sat.trace(lambda x: np.sum(x * 3), x)
    (plain,) = evaluate(program, x)
    moves = [abs(float(perturbed(program, (x,), seed)[0]) / float(plain) - 1) for seed in range(8)]
    assert max(moves) == pytest.approx(2 * EPS, rel=0.5)
