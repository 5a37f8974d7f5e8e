"""The portfolio: cheap searches first, then solvers in turn, each from the best answer of those before."""

from __future__ import annotations

from collections.abc import Mapping

from saturate.extract import solver
from saturate.extract.classes import Classes
from saturate.extract.clock import Clock
from saturate.extract.cpsat import STEPS_PER_UNIT, cpsat
from saturate.extract.extraction import Extraction
from saturate.extract.local import exchanges
from saturate.extract.milp import milp
from saturate.extract.neighbourhood import improve
from saturate.extract.portfolio import Part, Search

DEFAULT_WORK = 2_000_000
FIRST_UNITS = 1.5
WORKERS = 8


def auto(
    classes: Classes,
    seconds: float | None = 10,
    seed: int = 0,
    *,
    warm: Mapping[int, int] | None = None,
    work: int | None = None,
) -> Extraction:
    """The best answer of the portfolio within the limit, with the best bound.

    With `seconds=None` only counted work ends the search (`work` steps of about a microsecond, two million where not
    given): then the same classes, seed, warm start and work give the same choice on every machine.
    """
    counted = seconds is None
    if counted and work is None:
        work = DEFAULT_WORK
    search = Search(classes, Clock(seconds, work), seed, warm)
    search.run([_exchanges, _first, _search] if counted else [_exchanges, _first, _search, _highs, _all_workers])
    return search.result("auto")


def _exchanges(part: Part, clock: Clock, seed: int) -> None:
    choice = exchanges(part.model.problem, part.choice, clock)
    part.learn(solver.Answer(choice, part.model.cost(choice), 0.0), "exchanges")


def _first(part: Part, clock: Clock, seed: int) -> None:
    """One CP-SAT worker with the full linear relaxation, for a counted effort: it closes most parts."""
    units = FIRST_UNITS if clock.work is None else clock.work / 2 / STEPS_PER_UNIT
    part.learn(cpsat(part.model, clock.part(0.5), seed, part.choice, units=units), "CP-SAT")


def _search(part: Part, clock: Clock, seed: int) -> None:
    share = clock.part(1.0 if clock.seconds is None else 0.3)
    choice = improve(part.model.problem, part.choice, part.model.part, share, seed, part.bound)
    part.learn(solver.Answer(choice, part.model.cost(choice), 0.0), "neighbourhoods")
    clock.work = share.work if clock.seconds is None else clock.work


def _highs(part: Part, clock: Clock, seed: int) -> None:
    part.learn(milp(part.model, clock.part(0.3), part.cost), "HiGHS")


def _all_workers(part: Part, clock: Clock, seed: int) -> None:
    part.learn(cpsat(part.model, clock, seed, part.choice, workers=WORKERS), "CP-SAT")
