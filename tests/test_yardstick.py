"""A baseline is run with moved roundings once, and more often where a program seems too far off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import saturate as sat
from saturate import yardstick
from saturate.demos import DEMOS
from saturate.op import AnyArray
from saturate.perturb import perturbed
from saturate.program import Program
from saturate.samples import FINITE, samples
from saturate.yardstick import MOVES, Yardstick

ATTENTION = sat.grad(DEMOS["attention"].function, *[sat.Type((24, 8), "float32")] * 3, wrt=("q", "k", "v"))
NAMES = ["value", "dq", "dk", "dv"]


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the runs with moved roundings."""
    seeds: list[int] = []

    def counted(program: Program, arrays: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
        seeds.append(seed)
        return perturbed(program, arrays, seed)

    monkeypatch.setattr(yardstick, "perturbed", counted)
    return seeds


def shifted(measured: Yardstick, by: Sequence[float]) -> dict[int, list[AnyArray]]:
    """The results of the baseline, off by so many times the largest error that it showed."""
    return {
        k: [
            np.asarray(x + t * e).astype(x.dtype)
            for x, e, t in zip(run.baseline, run.errors, by, strict=True)
        ]
        for k, run in enumerate(measured.runs)
    }


@pytest.fixture
def full() -> Yardstick:
    """All moves made on every sample, by results that are far off."""
    measured = Yardstick(ATTENTION, samples(ATTENTION.inputs), 4.0)
    broken = {k: [x + x.dtype.type(1e30) for x in run.baseline] for k, run in enumerate(measured.runs)}
    rows, _ = measured.judge(NAMES, broken)
    assert not any(row.passed for row in rows)
    assert all(run.moves == MOVES for run in measured.runs if run.sample.kind not in FINITE)
    return measured


def test_what_passes_costs_one_run_a_sample(moved: list[int]) -> None:
    drawn = samples(ATTENTION.inputs)
    measured = Yardstick(ATTENTION, drawn, 4.0)
    rows, _ = measured.judge(NAMES, shifted(measured, [0.0] * 4))
    assert all(row.passed for row in rows)
    assert moved == [0] * len(drawn)


def test_what_seems_too_far_off_is_held_against_every_move(full: Yardstick, moved: list[int]) -> None:
    measured = Yardstick(ATTENTION, samples(ATTENTION.inputs), 4.0)
    first = [run.errors for run in measured.runs]
    rows, runs = measured.judge(NAMES, shifted(full, [3.0] * 4))
    assert all(row.passed for row in rows)
    widened = [k for k, run in enumerate(runs) if run.moves == MOVES]
    assert widened, "on a saturated softmax one run shows less than a fourth of what eight show"
    assert len(moved) == len(runs) + len(widened) * (MOVES - 1)
    for k in widened:
        assert runs[k].errors == full.runs[k].errors
        assert runs[k].errors != first[k]


def test_no_verdict_depends_on_what_was_judged_before(full: Yardstick) -> None:
    drawn = samples(ATTENTION.inputs)
    for by in ([0.0] * 4, [3.0] * 4, [0.0, 0.0, 40.0, 0.0], [0.0] * 4):
        fresh = Yardstick(ATTENTION, drawn, 4.0)
        found = shifted(full, by)
        verdicts = [[row.passed for row in measured.judge(NAMES, found)[0]] for measured in (fresh, full)]
        assert verdicts[0] == verdicts[1]
        assert verdicts[0] == [x < 4 for x in by]


def test_what_no_move_excuses_makes_none(moved: list[int]) -> None:
    measured = Yardstick(ATTENTION, samples(ATTENTION.inputs), 4.0)
    nans = {k: [np.full_like(x, np.nan) for x in run.baseline] for k, run in enumerate(measured.runs)}
    rows, _ = measured.judge(NAMES, nans)
    assert not any(row.passed for row in rows)
    assert moved == [0] * len(nans)


def test_a_run_that_was_widened_without_another_form_is_made_again(full: Yardstick) -> None:
    """Another form of the baseline that is right on mild samples counts whoever measured before."""

    def scaled(q: Any, k: Any, v: Any) -> Any:
        return DEMOS["attention"].function(q * 3.0, k / 3.0, v)

    other = sat.grad(scaled, *[sat.Type((24, 8), "float32")] * 3, wrt=("q", "k", "v"))
    drawn = samples(ATTENTION.inputs)
    alone, after = (Yardstick(ATTENTION, drawn, 4.0, also=(other,), measured=m) for m in ((), full.runs))
    broken = {k: [x + x.dtype.type(1e30) for x in run.baseline] for k, run in enumerate(full.runs)}
    for measured in (alone, after):
        measured.judge(NAMES, broken)
    assert [run.errors for run in alone.runs] == [run.errors for run in after.runs]
    assert [run.errors for run in alone.runs] != [run.errors for run in full.runs]
