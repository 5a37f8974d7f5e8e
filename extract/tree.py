"""Bottom-up extraction: the cheapest tree for every class (Knuth 1977), blind to sharing."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from saturate.extract.classes import Classes
from saturate.extract.clock import Stopwatch
from saturate.extract.extraction import Extraction, cheapest, extraction
from saturate.extract.problem import Problem, problem


def bottom_up(instance: Problem, costs: Sequence[Sequence[float]] | None = None) -> dict[int, int]:
    """class → position of the node whose tree is cheapest under `costs` (default: the nodes' own).

    Classes stand in the order they were settled in, children first, so the choice has no cycle even where
    costs are zero. Ties go to the class and node of the lower number. O(edges · log nodes).
    """
    flat = instance.flat
    owner, above, waiting = flat.owner, flat.above, flat.arity.copy()
    total = flat.costs.copy() if costs is None else [cost for group in costs for cost in group]
    heap = [(total[v], v) for v, count in enumerate(waiting) if not count]
    heapq.heapify(heap)
    settled: dict[int, int] = {}
    while heap:
        value, v = heapq.heappop(heap)
        c = owner[v]
        if c in settled:
            continue
        settled[c] = v - flat.first[c]
        for user in above[c]:
            total[user] += value
            waiting[user] -= 1
            if not waiting[user] and owner[user] not in settled:
                heapq.heappush(heap, (total[user], user))
    return settled


def original(instance: Problem, choice: Mapping[int, int]) -> dict[int, int]:
    """Positions in the problem as indices in the user's classes."""
    return {c: instance.nodes[c][i].origin for c, i in choice.items()}


def tree(
    classes: Classes,
    seconds: float | None = 10,
    seed: int = 0,
    *,
    warm: Mapping[int, int] | None = None,
    work: int | None = None,
) -> Extraction:
    """The cheapest tree for each root, classes shared where trees coincide.

    Optimal where nothing is shared.
    """
    watch = Stopwatch("reading")
    instance = problem(classes)
    watch.begin("trees")
    choice = original(instance, bottom_up(instance))
    if warm is not None:
        choice = dict(cheapest(classes, [choice, warm]))
    return extraction(
        classes,
        choice,
        lower_bound=0.0,
        method="tree",
        bound_by="costs are not negative",
        watch=watch,
    )
