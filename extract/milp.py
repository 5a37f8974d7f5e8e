"""Mixed-integer extraction: rows for pairs of classes, cycles cut off as they appear, solved by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from saturate.extract import solver
from saturate.extract.clock import Clock
from saturate.extract.cycles import unfounded
from saturate.extract.highs import HIGHS
from saturate.extract.model import Model, Row

LEAST_SECONDS = 0.01


def milp(model: Model, clock: Clock, upper: float = math.inf) -> solver.Answer:
    """Solve, cut off the circles of the answer, and solve again, until there is none or the clock is over.

    The bound of any round holds for the whole. A reported optimum counts only if the cost recomputed from the
    choice equals it. `upper` is a known cost: once the bound reaches it the search ends.
    """
    rows = [*model.rows(), *model.exclusive()]
    scale = 1.0 / max([cost for cost in model.costs if cost > 0], default=1.0)
    best = solver.Answer(None, math.inf, 0.0)
    while clock.left() > LEAST_SECONDS and not clock.over():
        reply = HIGHS.solve(_request(model, rows, scale), min(clock.left(), 1e6))
        if reply is None:
            break
        choice = None if reply["values"] is None else model.chosen(reply["values"])
        circles = [] if choice is None else unfounded(model.problem.nodes, choice)
        best = believed(model, best, reply, scale, None if circles else choice)
        if not circles or best.optimal or best.bound >= upper - solver.CLOSED * max(1.0, upper):
            break
        rows += [row for circle in circles for row in model.cuts(circle)]
    return best


def believed(
    model: Model, best: solver.Answer, reply: dict[str, Any], scale: float, choice: dict[int, int] | None
) -> solver.Answer:
    """What is known after a reply, each claim checked against the cost recomputed from the choice.

    A claim that the choice contradicts is not believed, neither as a cost nor as a bound.
    """
    bound = reply["bound"] / scale
    bound = solver.rounded_up(bound, model.unit) if math.isfinite(bound) else 0.0
    if choice is None:
        return solver.Answer(best.choice, best.cost, max(best.bound, bound))
    cost = model.cost(choice)
    tolerance = solver.TOLERANCE * max(1.0 / scale, cost)
    claimed = reply["objective"] / scale
    if cost > claimed + tolerance or (reply["optimal"] and cost < claimed - tolerance):
        bound = 0.0
    elif reply["optimal"] and cost - bound <= tolerance:
        bound = cost
    bound = max(best.bound, bound)
    if cost < best.cost:
        return solver.Answer(choice, cost, min(bound, cost))
    return solver.Answer(best.choice, best.cost, min(bound, best.cost))


def _request(model: Model, rows: Sequence[Row], scale: float) -> dict[str, Any]:
    """The program as arrays; a class of one node needs no integer variable."""
    sparse = [_coefficients(left, right) for left, right, _ in rows]
    single = [len(model.variables[c]) == 1 for c, _ in model.owner]
    needed = [c in model.roots and alone for (c, _), alone in zip(model.owner, single, strict=True)]
    equal = [c for c in model.roots if len(model.variables[c]) > 1]
    roots = [np.array(model.variables[c], dtype=np.int32) for c in sorted(equal)]
    index = [np.array(list(row), dtype=np.int32) for row in sparse] + roots
    value = [np.array(list(row.values())) for row in sparse] + [np.ones(len(row)) for row in roots]
    return {
        "costs": np.array(model.costs) * scale,
        "lower": np.array(needed, dtype=float),
        "upper": np.ones(len(model.owner)),
        "integer": np.array([not alone for alone in single]),
        "starts": np.cumsum([0, *map(len, index)]).astype(np.int32),
        "index": np.concatenate([*index, np.zeros(0, dtype=np.int32)]),
        "value": np.concatenate([*value, np.zeros(0)]),
        "row_lower": np.array([-math.inf] * len(rows) + [1.0] * len(roots)),
        "row_upper": np.array([float(k) for _, _, k in rows] + [1.0] * len(roots)),
    }


def _coefficients(left: Sequence[int], right: Sequence[int]) -> dict[int, float]:
    sums: dict[int, float] = {}
    for v in left:
        sums[v] = sums.get(v, 0.0) + 1.0
    for v in right:
        sums[v] = sums.get(v, 0.0) - 1.0
    return {v: x for v, x in sums.items() if x}
