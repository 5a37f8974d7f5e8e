"""Greedy extraction over sets of classes: bottom-up, but what two children share is counted once."""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from saturate.extract.classes import Classes
from saturate.extract.clock import Clock, Stopwatch, TimeUp
from saturate.extract.extraction import Extraction, cheapest, extraction
from saturate.extract.must import members
from saturate.extract.problem import Problem, problem
from saturate.extract.reduce import Reduced, contracted
from saturate.extract.tree import bottom_up, original

SET_BYTES = 200_000_000
RESTARTS = 4


class _Sets:
    """For every settled class the shared classes under it, as bits of one int, and what they cost.

    Only a class with several users and a cost gets a bit: any other is under c exactly when its user is, so
    its cost is carried by the user. A chain therefore needs no bits and stays linear. When the sets outgrow
    `SET_BYTES`, later classes count shared parts twice, as trees do.
    """

    def __init__(self, shared: Sequence[bool]) -> None:
        count = len(shared)
        self.shared = shared
        self.below = [0] * count
        self.below_cost = [0.0] * count
        self.private = [0.0] * count
        self.weights: list[float] = []
        self.known: dict[int, float] = {}
        self.bytes = 0

    def join(self, kids: Sequence[int]) -> tuple[int, float, float]:
        """(set, its cost, cost carried outside the set) of what these classes need together."""
        if not kids:
            return 0, 0.0, 0.0
        first = kids[0]
        below, cost, private = self.below[first], self.below_cost[first], self.private[first]
        for d in kids[1:]:
            private += self.private[d]
            more = self.below[d]
            fresh = more & ~below
            if fresh:
                cost += self.below_cost[d] if fresh == more else self._weight(fresh)
                below |= fresh
        return below, cost, private

    def at_least(self, kids: Sequence[int]) -> float:
        """A bound below what these classes need together; less than their sum by a part in 10⁹, so that
        rounding does not matter.
        """
        below, private = 0.0, 0.0
        for d in kids:
            private += self.private[d]
            if self.below_cost[d] > below:
                below = self.below_cost[d]
        return (below + private) * (1 - 1e-9)

    def settle(self, c: int, cost: float, kids: Sequence[int]) -> None:
        below, below_cost, private = self.join(kids)
        private += cost
        if private and self.shared[c] and self.bytes < SET_BYTES:
            below |= 1 << len(self.weights)
            self.weights.append(private)
            below_cost += private
            private = 0.0
        self.below[c], self.below_cost[c], self.private[c] = below, below_cost, private
        self.bytes += below.bit_length() >> 3

    def _weight(self, bits: int) -> float:
        """The cost of a set; what two classes share often comes again, so it is kept."""
        weight = self.known.get(bits)
        if weight is None:
            weight = sum([self.weights[i] for i in members(bits, len(self.weights))])
            if self.bytes < SET_BYTES:
                self.known[bits] = weight
                self.bytes += bits.bit_length() >> 3
        return weight


def by_sets(
    instance: Problem, costs: Sequence[float] | None = None, clock: Clock | None = None
) -> dict[int, int]:
    """As `bottom_up`, with the cost of the union of the children's sets in place of the sum of their
    costs. Raises TimeUp where the clock is over.
    """
    flat = instance.flat
    owner, kids, above, waiting = flat.owner, flat.kids, flat.above, flat.arity.copy()
    own = flat.costs if costs is None else costs
    heap = [(own[v], v) for v, count in enumerate(waiting) if not count]
    heapq.heapify(heap)
    sets = _Sets([len(users) > 1 for users in above])
    least = [math.inf] * len(instance.nodes)  # what a node of the class that is in the heap costs
    settled: dict[int, int] = {}
    while heap:
        _, v = heapq.heappop(heap)
        c = owner[v]
        if c in settled:
            continue
        if clock is not None and len(settled) % 256 == 0:
            clock.check()
        settled[c] = v - flat.first[c]
        sets.settle(c, own[v], kids[v])
        for user in above[c]:
            waiting[user] -= 1
            if waiting[user] or owner[user] in settled:
                continue
            known = least[owner[user]]
            if own[user] + sets.at_least(kids[user]) > known:
                continue
            _, below_cost, private = sets.join(kids[user])
            total = own[user] + below_cost + private
            heapq.heappush(heap, (total, user))
            if total < known:
                least[owner[user]] = total
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
        start = contracted(instance, clock)
        clock.check()
        for choice in restarts(start, seed, clock, RESTARTS if work is None else work):
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


def restarts(start: Reduced, seed: int, clock: Clock, count: int = RESTARTS) -> Iterator[dict[int, int]]:
    """Choices by sets (class → user's index), first under the costs as they are, then `count` times
    shaken. Raises TimeUp where the clock is over.
    """
    random_ = random.Random(seed)
    for attempt in range(1 + count):
        costs = _shaken(start.problem, random_) if attempt else None
        yield start.lift(original(start.problem, by_sets(start.problem, costs, clock)))


def _shaken(instance: Problem, random_: random.Random) -> list[float]:
    return [cost * random_.uniform(0.8, 1.25) for cost in instance.flat.costs]
