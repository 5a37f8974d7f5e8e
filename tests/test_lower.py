"""Lowering: whatever is chosen, the program is worth what the baseline is; every kind of step is emitted."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from lattices import random_extraction, searched
from op_checks import run
from running import arguments, joint
from workloads import WORKLOADS, Workload, t

from saturate.algebra import Ix
from saturate.lower import index_order
from saturate.op import AnyArray
from saturate.search import emit
from saturate.trace import trace

Array = Any
KINDS = frozenset(
    "leaf number mul div square scale over add sub plus minus sum dot fn red ren delta opaque".split()
) | {"diagonal"}
ONE_WAY = ("chain3", "constant")
"""Loads that have one program, all others being wider."""


def renamed(x: Array) -> Array:
    return np.tanh(x) @ np.tanh(x).T


def identity(x: Array) -> Array:
    return x @ x.T + np.trace(x) * np.eye(5)


def diagonal(x: Array) -> Array:
    return np.trace(x) * np.diag(x)


def complement(x: Array) -> Array:
    return (1 - np.tanh(x)) * x + 3.0 / np.cosh(x)


def flipped(x: Array, y: Array) -> Array:
    return np.flip(x, axis=0) * y.T - np.max(x, axis=1, keepdims=True) * 2.0


def constant(x: Array) -> Array:
    return np.sum(x - x) + 2.0


def outer_sum(x: Array, y: Array) -> Array:
    return np.sum(x[:, None, :] * y.T[None, :, :], axis=-1) / np.prod(np.cosh(y))


def inner(x: Array, y: Array) -> Array:
    return np.sum(x * y.T, axis=1), np.sum(x * y.T, axis=0), np.sum(x * y.T)


def load(function: Callable[..., Any], *types: Any, wrt: tuple[str, ...] = ("x",)) -> Workload:
    return Workload(function.__name__, function, types, wrt)


LOADS = (
    *(w for w in WORKLOADS if w.name not in ("logistic_regression", "row_scale_then_narrow")),
    load(renamed, t(5, 3)),
    load(identity, t(5, 5)),
    load(diagonal, t(5, 5)),
    load(complement, t(5, 3)),
    load(flipped, t(5, 3), t(3, 5)),
    load(constant, t(5, 3)),
    load(outer_sum, t(5, 3), t(3, 7), wrt=("x", "y")),
)


@cache
def emitted(number: int) -> tuple[set[str], set[str]]:
    """Kinds of steps in 32 random choices for a load, each worth what the baseline is, and their programs."""
    program = joint(LOADS[number])
    found = searched(program)
    arrays = arguments(program)
    expected = run(program, arrays)
    rng = np.random.default_rng(0)
    kinds: set[str] = set()
    programs: set[str] = set()
    for _ in range(32):
        extraction = random_extraction(found.classes, rng)
        lowered = emit(found, extraction)
        programs.add(str(lowered.program))
        kinds |= {found.lattice.steps[v][k].kind for v, k in extraction.choice.items()}
        assert_same(run(lowered.program, arrays), expected)
    return kinds, programs


@pytest.mark.parametrize("number", range(len(LOADS)), ids=[each.name for each in LOADS])
def test_any_choice_is_worth_what_the_baseline_is(number: int) -> None:
    _, programs = emitted(number)
    assert len(programs) > 1 or LOADS[number].name in ONE_WAY


def test_every_kind_of_step_is_emitted() -> None:
    known = [k for k, each in enumerate(LOADS) if each not in WORKLOADS]
    assert set().union(*(emitted(k)[0] for k in (0, *known))) == KINDS


def assert_same(found: list[AnyArray], expected: list[AnyArray]) -> None:
    for a, b in zip(found, expected, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        scale = float(np.abs(b).max(initial=1.0))
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8 * scale)


def test_results_that_are_one_value_and_results_of_several_outputs() -> None:
    program = trace(inner, t(5, 3), t(3, 5))
    found = searched(program)
    arrays = arguments(program)
    rng = np.random.default_rng(1)
    for _ in range(32):
        choice = random_extraction(found.classes, rng)
        assert_same(run(emit(found, choice).program, arrays), run(program, arrays))


def test_the_order_of_indices_is_that_of_inputs_and_results() -> None:
    i, j, k = Ix(5, 0), Ix(3, 0), Ix(7, 0)
    assert list(index_order([((i, j), 15), ((j, k), 21)])) == [i, j, k]
    assert list(index_order([((j, i), 15), ((i, None, j), 4)])) == [j, i]
    assert list(index_order([((), 1)])) == []
