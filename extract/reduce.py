"""Reductions: what a cheapest extraction never uses is removed, what it always uses becomes a root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from saturate.extract.clock import Clock
from saturate.extract.cycles import components
from saturate.extract.must import MOST_CLASSES, MustSets, must_sets, unpacked
from saturate.extract.problem import Alternative, Problem, extractable, reachable

ROUNDS = 8
COMPARED = 400


@dataclass(frozen=True)
class Reduced:
    """A smaller problem with the same optimum.

    Any choice for it, joined with `fixed` (the contracted classes), is a choice for the whole of the same cost.
    `swaps` are (class, index, index of the node that is never worse), in the order of removal: applying them brings a
    choice for the whole into the problem at no cost. `lower_bound` counts what every extraction contains.
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


def reduced(instance: Problem, upper: float, clock: Clock) -> Reduced:
    """Apply every reduction until none fires. Nodes that no extraction cheaper than or equal to `upper` uses go too."""
    state = _State(instance, upper, clock)
    for _ in range(ROUNDS):
        if clock.over() or len(state.live()) > MOST_CLASSES or not state.round():
            break
    return Reduced(Problem(state.nodes, state.roots), state.fixed, state.swaps, state.bound)


class _State:
    """The problem while it shrinks."""

    def __init__(self, instance: Problem, upper: float, clock: Clock) -> None:
        self.nodes: list[Sequence[Alternative]] = list(instance.nodes)
        self.roots = instance.roots
        self.upper = upper
        self.clock = clock
        self.fixed: dict[int, int] = {}
        self.swaps: list[tuple[int, int, int]] = []
        self.bound = 0.0

    def live(self) -> list[int]:
        return [c for c, group in enumerate(self.nodes) if group]

    def size(self) -> tuple[int, int]:
        return sum(map(len, self.nodes)), sum(len(node.kids) for group in self.nodes for node in group)

    def round(self) -> bool:
        """One pass of all the reductions; whether anything became smaller."""
        before = self.size()
        self.clock.check(sum(before))
        must = must_sets(Problem(self.nodes, self.roots), self.clock)
        needed = must.under(self.roots)
        self._drop_cyclic(must)
        self.roots = tuple(sorted(must.members(needed)))
        part = components(self.nodes)
        self._prune_by_bound(must, needed)
        self._drop_dominated(must, part)
        self._cut_edges_to_roots(part)
        self._contract()
        self._clean()
        return self.size() != before

    def _drop_cyclic(self, must: MustSets) -> None:
        for c in self.live():
            bit = 1 << must.rank[c]
            kept = [node for node in self.nodes[c] if not must.under(node.kids) & bit]
            if len(kept) < len(self.nodes[c]):
                self.nodes[c] = kept

    def _prune_by_bound(self, must: MustSets, needed: int) -> None:
        """A node is useless where it, what must come with it, and what every extraction has, cost more than `upper`."""
        least = np.array([min(node.cost for node in self.nodes[c]) for c in must.order])
        self.bound = max(self.bound, float(least @ unpacked(needed, len(least))))
        slack = self.upper * (1 + 1e-9) - self.bound
        for c in self.live():
            group = self.nodes[c]
            if len(group) == 1:
                continue
            base = least[must.rank[c]] if must.holds(needed, c) else 0.0
            extra = [must.under(node.kids) & ~needed for node in group]
            self.nodes[c] = [
                node
                for node, bits in zip(group, extra, strict=True)
                if node.cost - base + (float(least @ unpacked(bits, len(least))) if bits else 0.0) <= slack
            ]

    def _drop_dominated(self, must: MustSets, part: Sequence[int]) -> None:
        """n' makes n useless where it costs no more and needs only what n needs anyway, or roots not above it."""
        always = [False] * len(self.nodes)
        for c in self.roots:
            always[c] = True
        for c in self.live():
            self.clock.check()
            group = sorted(self.nodes[c], key=lambda node: (node.cost, len(node.kids), node.index))
            wants = [
                sum(1 << must.rank[d] for d in node.kids if not (always[d] and part[d] != part[c])) for node in group
            ]
            kept: list[int] = []
            for i, node in enumerate(group):
                allowed = ~must.under(node.kids)
                by = next((k for k in kept[:COMPARED] if not wants[k] & allowed), None)
                if by is None:
                    kept.append(i)
                else:
                    self.swaps.append((c, node.index, group[by].index))
            if len(kept) < len(group):
                self.nodes[c] = sorted((group[k] for k in kept), key=lambda node: node.index)

    def _cut_edges_to_roots(self, part: Sequence[int]) -> None:
        """A root that cannot reach back is needed anyway: its users need not ask for it."""
        always = set(self.roots)
        for c in self.live():
            self.nodes[c] = [
                replace(node, kids=kids)
                if len(kids := tuple(d for d in node.kids if d not in always or part[d] == part[c])) < len(node.kids)
                else node
                for node in self.nodes[c]
            ]

    def _contract(self) -> None:
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
            self.fixed[d] = group[0].index
            self.nodes[d] = ()

    def _clean(self) -> None:
        founded = extractable(self.nodes)
        kept = [[node for node in group if all(founded[d] for d in node.kids)] for group in self.nodes]
        self.nodes = reachable(kept, self.roots)


def _absorb(node: Alternative, d: int, single: Alternative) -> Alternative:
    if d not in node.kids:
        return node
    kids = tuple(sorted({*node.kids, *single.kids} - {d}))
    return replace(node, cost=node.cost + single.cost, kids=kids)
