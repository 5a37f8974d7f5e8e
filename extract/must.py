"""Must-sets: for each class, the classes that every extraction of it contains. As bits of one int a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturate.extract.clock import Clock
from saturate.extract.problem import Problem, founded_order

MOST_CLASSES = 60_000
FEW = 24


@dataclass(frozen=True)
class MustSets:
    """`sets[c]` has bit `rank[d]` where every extraction of c contains d; c is in its own set.

    A node whose children's sets hold its own class is `cyclic`: no extraction uses it.
    """

    rank: Sequence[int]
    order: Sequence[int]
    sets: Sequence[int]

    def under(self, kids: Sequence[int]) -> int:
        """The union over some classes."""
        union = 0
        for d in kids:
            union |= self.sets[d]
        return union

    def members(self, bits: int) -> list[int]:
        """The classes of a set, children before users where the order of settling says so."""
        return [self.order[i] for i in members(bits, len(self.order))]

    def holds(self, bits: int, c: int) -> bool:
        """Whether c is in the set."""
        return bool(bits >> self.rank[c] & 1)


def members(bits: int, count: int) -> list[int]:
    """The positions of the bits that are set, of at most `count`, lowest first."""
    if bits.bit_count() > FEW:
        raw = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
        found: list[int] = np.flatnonzero(np.unpackbits(raw, bitorder="little", count=count)).tolist()
        return found
    few: list[int] = []
    while bits:
        few.append(bits.bit_length() - 1)
        bits ^= 1 << few[-1]
    return few[::-1]


def must_sets(instance: Problem, clock: Clock) -> MustSets:
    """The greatest fixed point of M(c) = {c} ∪ ⋂_{n in c} ⋃_{d child of n} M(d) over the extractable classes.

    Any fixed point is sound, by induction over a finite extraction; the greatest is reached from "everything"
    downwards. Bits are numbered bottom-up, so that the sets of low classes are short ints.
    """
    order = founded_order(instance.nodes)
    rank = [-1] * len(instance.nodes)
    for position, c in enumerate(order):
        rank[c] = position
    everything = (1 << len(order)) - 1
    sets = [everything] * len(instance.nodes)
    users: list[set[int]] = [set() for _ in instance.nodes]
    for c in order:
        for node in instance.nodes[c]:
            for d in node.kids:
                users[d].add(c)
    dirty = set(order)
    while dirty:
        clock.check(2 * len(dirty))
        batch, dirty = sorted(dirty, key=rank.__getitem__), set()
        for k, c in enumerate(batch):
            if k % 256 == 0:
                clock.check()
            dirty.discard(c)
            met = _meet(instance, sets, c) | 1 << rank[c]
            if met != sets[c]:
                sets[c] = met
                dirty |= users[c]
    return MustSets(rank, order, sets)


def _meet(instance: Problem, sets: Sequence[int], c: int) -> int:
    met = -1
    for node in instance.nodes[c]:
        union = 0
        for d in node.kids:
            union |= sets[d]
        met &= union
        if not met:
            break
    return met
