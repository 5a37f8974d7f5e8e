"""The portfolio: cheap searches first, then solvers in turn, each from the best answer of those before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saturate.extract import solver
from saturate.extract.classes import Classes
from saturate.extract.clock import Clock
from saturate.extract.cpsat import STEPS_PER_UNIT, cpsat
from saturate.extract.extraction import Extraction
from saturate.extract.greedy import by_sets
from saturate.extract.local import exchanges
from saturate.extract.milp import milp
from saturate.extract.neighbourhood import improve
from saturate.extract.portfolio import Part, Search, Stage
from saturate.extract.tree import bottom_up

DEFAULT_WORK = 2_000_000
FIRST_UNITS = 1.5
WORKERS = 8
LARGE = 3000
PREPARATION = 5e-4
LITTLE_PREPARATION = 1e-4
"""Seconds a node that CP-SAT takes before it searches, with as much and with little simplification."""


def auto(
    classes: Classes,
    seconds: float | None = 10,
    seed: int = 0,
    *,
    warm: Mapping[int, int] | None = None,
    work: int | None = None,
) -> Extraction:
    """The best answer of the portfolio within the limit, with the best bound.

    With `work` or `seconds=None` counted work ends the search (steps of two to five microseconds, two million
    where not given): then the same classes, seed, warm start and work give the same choice on every
    machine. It never costs more than `tree`, nor than `greedy` with the same seed and limit: the restarts of
    that come first.
    """
    if seconds is None and work is None:
        work = DEFAULT_WORK
    counted = work is not None
    search = Search(classes, Clock(seconds, work), seed, warm)
    first: list[Stage] = [("cores", _cores), ("exchanges", _exchanges), ("CP-SAT", _first)]
    later: list[Stage] = [("neighbourhoods", _search)]
    if not counted:
        later = [("HiGHS", _highs), *later, (f"CP-SAT, {WORKERS} workers", _all_workers)]
        later.append(("neighbourhoods", _last))
    search.run(first, later)
    return search.result("auto")


def _exchanges(part: Part, clock: Clock, seed: int) -> None:
    """Polish three starts: the best so far, trees, and sets, both drawn anew on the reduced part."""
    instance = part.model.problem
    for start, who in (
        (part.choice, part.found_by),
        (bottom_up(instance), "tree"),
        (by_sets(instance), "greedy"),
    ):
        choice = exchanges(instance, start, clock)
        part.learn(solver.Answer(choice, part.model.cost(choice), 0.0), f"{who} and exchanges")


def _cores(part: Part, clock: Clock, seed: int) -> None:
    """A CP-SAT worker by unsatisfiable cores, for a counted effort: it closes most parts, large ones too."""
    _counted(part, clock, seed, LITTLE_PREPARATION, presolve=1, cores=True)


def _first(part: Part, clock: Clock, seed: int) -> None:
    """One CP-SAT worker with the full linear relaxation, where a node's cost is shared by so many choices
    that cores are many.
    """
    if len(part.model.owner) <= LARGE:
        _counted(part, clock, seed, PREPARATION, presolve=None if clock.work is None else 1)


def _counted(part: Part, clock: Clock, seed: int, preparation: float, **options: Any) -> None:
    """A counted effort of one worker; a clock of counted work may have less."""
    if clock.work is None:
        _cpsat(part, clock, 0.3, seed, preparation, units=FIRST_UNITS, **options)
    else:
        units = min(FIRST_UNITS, clock.work / STEPS_PER_UNIT)
        _cpsat(part, clock, 1.0, seed, preparation, units=units, **options)


def _search(part: Part, clock: Clock, seed: int) -> None:
    share = clock if clock.work is not None else clock.part(0.4)
    improve(part, share, seed)


def _highs(part: Part, clock: Clock, seed: int) -> None:
    part.learn(milp(part.model, clock.part(0.4), part.cost), "HiGHS")


def _all_workers(part: Part, clock: Clock, seed: int) -> None:
    _cpsat(part, clock, 1.0, seed, PREPARATION, workers=WORKERS)


def _last(part: Part, clock: Clock, seed: int) -> None:
    improve(part, clock, seed + 1)


def _cpsat(part: Part, clock: Clock, share: float, seed: int, preparation: float, **options: Any) -> None:
    """CP-SAT on the whole part, where its preparation, which no limit ends, leaves time to search."""
    if clock.left() * share > preparation * len(part.model.owner):
        mine = clock.part(share)
        before = mine.work or 0
        part.learn(cpsat(part.model, mine, seed, part.choice, near=part.near, **options), "CP-SAT")
        clock.spend(before - (mine.work or 0))
