"""Must-sets: for each class, the classes that every extraction of it contains. As bits of one int a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    def flags(self, bits: int) -> NDArray[np.bool_]:
        """For each class in `order`, whether it is in the set."""
        found = np.zeros(len(self.order), dtype=np.bool_)
        found[members(bits, len(self.order))] = True
        return found

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
        top = bits.bit_length() - 1
        few.append(top)
        bits ^= 1 << top
    return few[::-1]


def must_sets(instance: Problem, clock: Clock, before: MustSets | None = None) -> MustSets:
    """The greatest fixed point of M(c) = {c} ∪ ⋂_{n in c} ⋃_{d child of n} M(d); every class must be
    extractable.

    Any fixed point is sound, by induction over a finite extraction; the greatest is reached from "everything"
    downwards. Strongly connected parts are settled one after the other, children first: one pass where there
    are no cycles. Bits are numbered in that order, so that the sets of low classes are short ints; or as
    `before`, which is of the same problem with more nodes, so that sets can be compared.
    """
    order = _upwards(instance)
    before = before or _numbered(order, len(instance.nodes))
    rank = before.rank
    everything = (1 << len(before.order)) - 1
    sets = [everything] * len(instance.nodes)
    start = 0
    while start < len(order):
        c = order[start]
        end = start + 1
        while end < len(order) and instance.part[order[end]] == instance.part[c]:
            end += 1
        if end - start == 1:
            sets[c] = _meet(instance, sets, c) | 1 << rank[c]
            if start % 256 == 0:
                clock.check(2 * min(256, len(order) - start))
        else:
            _settle(instance, order[start:end], rank, sets, clock)
        start = end
    return MustSets(rank, before.order, sets)


def _numbered(order: Sequence[int], count: int) -> MustSets:
    rank = [-1] * count
    for position, c in enumerate(order):
        rank[c] = position
    return MustSets(rank, order, ())


def _upwards(instance: Problem) -> list[int]:
    """The classes, children's strongly connected parts first, in each part as they are founded."""
    part = instance.part
    found = founded_order(instance.nodes) if instance.cyclic else range(len(instance.nodes))
    return sorted([c for c in found if instance.nodes[c]], key=part.__getitem__)


def _settle(
    instance: Problem, classes: Sequence[int], rank: Sequence[int], sets: list[int], clock: Clock
) -> None:
    """The sets of the classes of one strongly connected part, by rounds over those with a changed child."""
    users: dict[int, set[int]] = {c: set() for c in classes}
    for c in classes:
        for node in instance.nodes[c]:
            for d in node.kids:
                if d in users:
                    users[d].add(c)
    dirty = set(classes)
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


class Weights:
    """Sums of weights over sets of bits, those in `without` not counted; eight bits at a time from tables."""

    def __init__(self, weights: NDArray[np.float64], without: int) -> None:
        self.counted = ~without
        self.weights: list[float] = weights.tolist()
        width = (len(weights) + 7) // 8
        padded = np.zeros((width, 8))
        padded.ravel()[: len(weights)] = weights
        table = np.zeros((width, 256))
        for bit in range(8):
            table[:, 1 << bit : 2 << bit] = table[:, : 1 << bit] + padded[:, bit, None]
        self.table = table.ravel()
        self.first = 256 * np.arange(width)

    def of(self, sets: Sequence[int]) -> list[float]:
        """The weight of each set."""
        sets = [bits & self.counted for bits in sets]
        found = [self._few(bits) if bits.bit_count() <= FEW else 0.0 for bits in sets]
        many = [k for k, bits in enumerate(sets) if bits.bit_count() > FEW]
        if many:
            width = len(self.first)
            raw = b"".join([sets[k].to_bytes(width, "little") for k in many])
            rows = np.frombuffer(raw, dtype=np.uint8).reshape(-1, width)
            for k, weight in zip(many, self.table[rows + self.first].sum(axis=1).tolist(), strict=True):
                found[k] = weight
        return found

    def _few(self, bits: int) -> float:
        return sum([self.weights[i] for i in members(bits, len(self.weights))])
