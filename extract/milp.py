"""Mixed-integer extraction: rows for pairs of classes, cycles cut off as they appear, solved by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
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
    need = needs(model)
    rows: list[Row] = [
        (left, () if d in model.roots else need[d], int(d in model.roots)) for left, d in model.pairs()
    ]
    scale = 1.0 / max([cost for cost in model.costs if cost > 0], default=1.0)
    best = solver.Answer(None, math.inf, 0.0)
    while clock.left() > LEAST_SECONDS and not clock.over():
        reply = HIGHS.solve(_request(model, need, rows, scale), min(clock.left(), 1e6))
        if reply is None:
            break
        choice = None if reply["values"] is None else model.chosen(reply["values"])
        circles = [] if choice is None else unfounded(model.problem.nodes, choice)
        best = believed(model, best, reply, scale, None if circles else choice)
        if not circles or best.optimal or solver.closed(upper, best.bound):
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


def needs(model: Model) -> dict[int, tuple[int, ...]]:
    """The one column that says whether a class is needed: its only node's, or one of its own after all
    nodes'.
    """
    columns = {c: tuple(own) for c, own in model.variables.items() if len(own) == 1}
    extra = [c for c, own in model.variables.items() if len(own) > 1 and c not in model.roots]
    return columns | {c: (len(model.owner) + k,) for k, c in enumerate(extra)}


def _request(
    model: Model, need: Mapping[int, tuple[int, ...]], rows: Sequence[Row], scale: float
) -> dict[str, Any]:
    """The program as arrays.

    Only nodes of classes with a choice are integer; the nodes of a class sum to its need.
    """
    count, width = len(model.owner), len(model.owner) + sum(v >= len(model.owner) for (v,) in need.values())
    sums = [(own, need.get(c, ())) for c, own in model.variables.items() if len(own) > 1]
    sparse = [_coefficients(left, right) for left, right, _ in rows] + [_coefficients(*row) for row in sums]
    equal = [float(not right) for _, right in sums]
    lower = np.zeros(width)
    lower[[model.variables[c][0] for c in sorted(model.roots) if len(model.variables[c]) == 1]] = 1.0
    return {
        "costs": np.array([*model.costs, *[0.0] * (width - count)]) * scale,
        "lower": lower,
        "upper": np.ones(width),
        "integer": np.array(
            [len(model.variables[c]) > 1 for c, _ in model.owner] + [False] * (width - count)
        ),
        "starts": np.cumsum([0, *map(len, sparse)]).astype(np.int32),
        "index": np.array([v for row in sparse for v in row], dtype=np.int32),
        "value": np.array([x for row in sparse for x in row.values()]),
        "row_lower": np.array([-math.inf] * len(rows) + equal),
        "row_upper": np.array([float(k) for _, _, k in rows] + equal),
    }


def _coefficients(left: Sequence[int], right: Sequence[int]) -> dict[int, float]:
    sums: dict[int, float] = {}
    for v in left:
        sums[v] = sums.get(v, 0.0) + 1.0
    for v in right:
        sums[v] = sums.get(v, 0.0) - 1.0
    return {v: x for v, x in sums.items() if x}
