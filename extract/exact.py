"""Exact extraction: reductions, then a mixed-integer program with cycles cut off as they appear."""

from __future__ import annotations

from collections.abc import Mapping

from saturate.extract.classes import Classes
from saturate.extract.clock import Clock
from saturate.extract.extraction import Extraction
from saturate.extract.milp import milp
from saturate.extract.portfolio import Part, Search


def exact(
    classes: Classes,
    seconds: float | None = 10,
    seed: int = 0,
    *,
    warm: Mapping[int, int] | None = None,
    work: int | None = None,
) -> Extraction:
    """The optimum, if the limit allows the proof; otherwise the best valid answer seen, and the bound so
    far.
    """
    search = Search(classes, Clock(seconds, work), seed, warm)
    search.run([("HiGHS", _milp)])
    return search.result("exact")


def _milp(part: Part, clock: Clock, seed: int) -> None:
    part.learn(milp(part.model, clock, part.cost), "HiGHS")
