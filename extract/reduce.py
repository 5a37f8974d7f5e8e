"""Reductions: what a cheapest extraction never uses is removed, what it always uses becomes a root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from saturate.extract.clock import Clock, TimeUp
from saturate.extract.cycles import components
from saturate.extract.must import MOST_CLASSES, MustSets, members, must_sets
from saturate.extract.problem import Alternative, Problem, extractable, reachable

ROUNDS = 8
WORTHWHILE = 0.97
COMPARED = 400


@dataclass(frozen=True)
class Reduced:
    """A smaller problem with the same optimum.

    Any choice for it, joined with `fixed` (the contracted classes), is a choice for the whole of the same
    cost. `swaps` are (class, index, index of the node that is never worse), in the order of removal: applying
    them brings a choice for the whole into the problem at no cost. `lower_bound` counts what every extraction
    contains.
    """

    problem: Problem
    fixed: Mapping[int, int]
    swaps: Sequence[tuple[int, int, int]]
    lower_bound: float

    def lift(self, choice: Mapping[int, int]) -> dict[int, int]:
        """A choice (class → user's index) for the whole."""
        return {**self.fixed, **choice}

    def restrict(self, choice: Mapping[int, int]) -> dict[int, int]:
        """A choice for the whole, with removed nodes swapped for those that dominate them."""
        moved = dict(choice)
        for c, old, new in self.swaps:
            if moved.get(c) == old:
                moved[c] = new
        return moved


def contracted(instance: Problem) -> Reduced:
    """Only what is quick: equal or larger nodes beside smaller ones, and classes that need no choice."""
    state = _State(Reduced(instance, {}, [], 0.0), float("inf"))
    state.drop_larger()
    state.contract()
    state.drop_larger()
    state.clean()
    return state.result()


def reduced(start: Reduced, upper: float, clock: Clock, rounds: int = ROUNDS) -> Reduced:
    """Apply every reduction until it no longer pays, `rounds` times, or until the clock is over.

    Nodes that no extraction of cost `upper` or less uses go too.
    """
    state = _State(start, upper)
    try:
        for _ in range(rounds):
            clock.check(sum(state.size()))
            if len(state.live()) > MOST_CLASSES or not state.round(clock):
                break
    except TimeUp:
        state.clean()
    return state.result()


class _State:
    """The problem while it shrinks."""

    def __init__(self, start: Reduced, upper: float) -> None:
        self.nodes: list[Sequence[Alternative]] = list(start.problem.nodes)
        self.roots = start.problem.roots
        self.upper = upper
        self.fixed = dict(start.fixed)
        self.swaps = list(start.swaps)
        self.bound = start.lower_bound

    def result(self) -> Reduced:
        return Reduced(Problem(self.nodes, self.roots), self.fixed, self.swaps, self.bound)

    def live(self) -> list[int]:
        return [c for c, group in enumerate(self.nodes) if group]

    def size(self) -> tuple[int, int]:
        return sum(map(len, self.nodes)), sum(len(node.kids) for group in self.nodes for node in group)

    def round(self, clock: Clock) -> bool:
        """One pass of all the reductions; whether it became so much smaller that another pays."""
        before = self.size()
        must = must_sets(Problem(self.nodes, self.roots), clock)
        needed = must.under(self.roots)
        self._drop_cyclic(must)
        clock.check()
        self.roots = tuple(sorted(must.members(needed)))
        part = components(self.nodes)
        self._prune_by_bound(must, needed, clock)
        self._drop_dominated(must, part, clock)
        self._cut_edges_to_roots(part)
        self.contract()
        self.clean()
        return sum(self.size()) < WORTHWHILE * sum(before)

    def _drop_cyclic(self, must: MustSets) -> None:
        for c in self.live():
            bit = 1 << must.rank[c]
            kept = [node for node in self.nodes[c] if not must.under(node.kids) & bit]
            if len(kept) < len(self.nodes[c]):
                self.nodes[c] = kept

    def _prune_by_bound(self, must: MustSets, needed: int, clock: Clock) -> None:
        """A node is useless where it, what comes with it, and what every extraction has, cost more than
        `upper`.

        The sum over its children bounds what comes with it, and mostly shows without the union that it may
        stay.
        """
        least = np.array([min(node.cost for node in self.nodes[c]) for c in must.order])
        self.bound = max(self.bound, _weight(least, needed))
        slack = self.upper * (1 + 1e-9) - self.bound
        extra: dict[int, float] = {}
        for c in self.live():
            group = self.nodes[c]
            if len(group) == 1:
                continue
            clock.check()
            base = least[must.rank[c]] if must.holds(needed, c) else 0.0
            for node in group:
                for d in node.kids:
                    if d not in extra:
                        extra[d] = _weight(least, must.sets[d] & ~needed)
            self.nodes[c] = [
                node
                for node in group
                if node.cost - base + sum([extra[d] for d in node.kids]) <= slack
                or node.cost - base + _weight(least, must.under(node.kids) & ~needed) <= slack
            ]

    def _drop_dominated(self, must: MustSets, part: Sequence[int], clock: Clock) -> None:
        """n' makes n useless where it costs no more and needs only what n needs anyway, or roots not
        above it.
        """
        always = [False] * len(self.nodes)
        for c in self.roots:
            always[c] = True
        for c in self.live():
            if len(self.nodes[c]) == 1:
                continue
            clock.check()
            group = sorted(self.nodes[c], key=lambda node: (node.cost, len(node.kids), node.origin))
            wants = [
                sum(1 << must.rank[d] for d in node.kids if not (always[d] and part[d] != part[c]))
                for node in group
            ]
            kept: list[int] = []
            for i, node in enumerate(group):
                allowed = ~must.under(node.kids)
                by = next((k for k in kept[:COMPARED] if not wants[k] & allowed), None)
                if by is None:
                    kept.append(i)
                else:
                    self.swaps.append((c, node.origin, group[by].origin))
            if len(kept) < len(group):
                self.nodes[c] = sorted((group[k] for k in kept), key=lambda node: node.origin)

    def drop_larger(self) -> None:
        """A node is useless beside one that costs no more and needs a subset."""
        for c in self.live():
            if len(self.nodes[c]) == 1:
                continue
            group = sorted(self.nodes[c], key=lambda node: (node.cost, len(node.kids), node.origin))
            kept: list[tuple[Alternative, frozenset[int]]] = []
            for node in group:
                wants = frozenset(node.kids)
                by = next((other for other, needs in kept[:COMPARED] if needs <= wants), None)
                if by is None:
                    kept.append((node, wants))
                else:
                    self.swaps.append((c, node.origin, by.origin))
            if len(kept) < len(group):
                self.nodes[c] = sorted([node for node, _ in kept], key=lambda node: node.origin)

    def _cut_edges_to_roots(self, part: Sequence[int]) -> None:
        """A root that cannot reach back is needed anyway: its users need not ask for it."""
        always = set(self.roots)
        for c in self.live():
            self.nodes[c] = [
                Alternative(node.cost, kids, node.origin)
                if len(kids := tuple(d for d in node.kids if d not in always or part[d] == part[c]))
                < len(node.kids)
                else node
                for node in self.nodes[c]
            ]

    def contract(self) -> None:
        """Put a class of one node into its users, where it is free or has one user."""
        users: list[list[int]] = [[] for _ in self.nodes]
        for c in self.live():
            for node in self.nodes[c]:
                for d in node.kids:
                    users[d].append(c)
        roots = set(self.roots)
        for d in self.live():
            group = self.nodes[d]
            if d in roots or len(group) != 1 or not (group[0].cost == 0 or len(users[d]) == 1):
                continue
            for c in dict.fromkeys(users[d]):
                self.nodes[c] = [_absorb(node, d, group[0]) for node in self.nodes[c]]
                self.nodes[c] = [node for node in self.nodes[c] if c not in node.kids]
                for e in group[0].kids:
                    users[e].append(c)
            self.fixed[d] = group[0].origin
            self.nodes[d] = ()

    def clean(self) -> None:
        founded = extractable(self.nodes)
        kept = [[node for node in group if all(founded[d] for d in node.kids)] for group in self.nodes]
        self.nodes = reachable(kept, self.roots)


def _absorb(node: Alternative, d: int, single: Alternative) -> Alternative:
    if d not in node.kids:
        return node
    kids = tuple(sorted({*node.kids, *single.kids} - {d}))
    return Alternative(node.cost + single.cost, kids, node.origin)


def _weight(least: NDArray[np.float64], bits: int) -> float:
    """The cost of a set of classes, each at its cheapest node."""
    return float(least[members(bits, len(least))].sum()) if bits else 0.0
