"""Greedy extraction over sets of classes: bottom-up, but what two children share is counted once."""

from __future__ import annotations

import heapq
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from saturate.extract.classes import Classes
from saturate.extract.clock import Clock, Stopwatch, TimeUp
from saturate.extract.extraction import Extraction, cheapest, extraction
from saturate.extract.must import members
from saturate.extract.problem import Problem, problem
from saturate.extract.tree import bottom_up, original

SET_BYTES = 200_000_000
RESTARTS = 4


class _Sets:
    """For every settled class the shared classes under it, as bits of one int, and what they cost.

    Only a class with several users gets a bit: any other is under c exactly when its user is, so its cost is
    carried by the user. A chain therefore needs no bits and stays linear. When the sets outgrow `SET_BYTES`,
    later classes count shared parts twice, as trees do.
    """

    def __init__(self, instance: Problem, users: Sequence[Sequence[tuple[int, int]]]) -> None:
        count = len(instance.nodes)
        self.shared = [len(group) > 1 for group in users]
        self.below = [0] * count
        self.below_cost = [0.0] * count
        self.private = [0.0] * count
        self.weights: list[float] = []
        self.bytes = 0

    def join(self, kids: Sequence[int]) -> tuple[int, float, float]:
        """(set, its cost, cost carried outside the set) of what these classes need together."""
        if not kids:
            return 0, 0.0, 0.0
        below, cost = self.below[kids[0]], self.below_cost[kids[0]]
        for d in kids[1:]:
            fresh = self.below[d] & ~below
            cost += self.below_cost[d] if fresh == self.below[d] else self._weight(fresh)
            below |= fresh
        return below, cost, sum(self.private[d] for d in kids)

    def settle(self, c: int, cost: float, kids: Sequence[int]) -> None:
        below, below_cost, private = self.join(kids)
        private += cost
        if self.shared[c] and self.bytes < SET_BYTES:
            below |= 1 << len(self.weights)
            self.weights.append(private)
            below_cost += private
            private = 0.0
        self.below[c], self.below_cost[c], self.private[c] = below, below_cost, private
        self.bytes += below.bit_length() >> 3

    def _weight(self, bits: int) -> float:
        return sum([self.weights[i] for i in members(bits, len(self.weights))])


def by_sets(
    instance: Problem, costs: Sequence[Sequence[float]] | None = None, clock: Clock | None = None
) -> dict[int, int]:
    """As `bottom_up`, with the cost of the union of the children's sets in place of the sum of their
    costs.
    """
    users = instance.users
    waiting = [[len(node.kids) for node in group] for group in instance.nodes]
    own = [[node.cost for node in group] for group in instance.nodes] if costs is None else costs
    heap = [
        (own[c][i], c, i)
        for c, group in enumerate(instance.nodes)
        for i, node in enumerate(group)
        if not node.kids
    ]
    heapq.heapify(heap)
    sets = _Sets(instance, users)
    settled: dict[int, int] = {}
    while heap:
        _, c, i = heapq.heappop(heap)
        if c in settled:
            continue
        if clock is not None and len(settled) % 256 == 0:
            clock.check()
        settled[c] = i
        sets.settle(c, own[c][i], instance.nodes[c][i].kids)
        for user, j in users[c]:
            waiting[user][j] -= 1
            if waiting[user][j] == 0 and user not in settled:
                _, below_cost, private = sets.join(instance.nodes[user][j].kids)
                heapq.heappush(heap, (own[user][j] + below_cost + private, user, j))
    return settled


def greedy(
    classes: Classes,
    seconds: float | None = 10,
    seed: int = 0,
    *,
    warm: Mapping[int, int] | None = None,
    work: int | None = None,
) -> Extraction:
    """The best of trees, sets, and sets under costs shaken by the seed, until the time or the restarts are
    used up.

    `work` is the number of restarts.
    """
    clock, watch = Clock(seconds), Stopwatch("reading")
    instance = problem(classes)
    watch.begin("trees")
    best = cheapest(classes, [original(instance, bottom_up(instance)), *([warm] if warm is not None else [])])
    watch.begin("sets")
    with suppress(TimeUp):
        for choice in restarts(instance, seed, clock, RESTARTS if work is None else work):
            best = cheapest(classes, [best, choice])
            if seconds is not None and clock.elapsed() > seconds / 2:
                break
    return extraction(
        classes,
        best,
        lower_bound=0.0,
        method="greedy",
        bound_by="costs are not negative",
        watch=watch,
    )


def restarts(instance: Problem, seed: int, clock: Clock, count: int = RESTARTS) -> Iterator[dict[int, int]]:
    """Choices by sets (class → user's index), first under the costs as they are, then `count` times
    shaken. Raises TimeUp where the clock is over.
    """
    random_ = random.Random(seed)
    for attempt in range(1 + count):
        yield original(instance, by_sets(instance, _shaken(instance, random_) if attempt else None, clock))


def _shaken(instance: Problem, random_: random.Random) -> list[list[float]]:
    return [[node.cost * random_.uniform(0.8, 1.25) for node in group] for group in instance.nodes]
