"""Reductions: what a cheapest extraction never uses is removed, what it always uses becomes a root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from saturate.extract.clock import Clock, TimeUp
from saturate.extract.dominance import Dominated, larger, useless
from saturate.extract.must import MOST_CLASSES, MustSets, Weights, must_sets
from saturate.extract.problem import Alternative, Problem, founded_order, reachable

ROUNDS = 8
WORTHWHILE = 0.97
BATCH = 256
"""Sets that are weighed at a time."""
MOST_COPIED = 64
"""Edges that putting a class into its users may add, and children that it may have there."""


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


def contracted(instance: Problem, clock: Clock) -> Reduced:
    """Only what is quick: equal or larger nodes beside smaller ones, and classes that need no choice.

    Less of it where the clock ends.
    """
    state = _State(Reduced(instance, {}, [], 0.0), float("inf"))
    with suppress(TimeUp):
        state.drop_larger(clock)
        state.clean()
        state.drop_larger(clock)
    return state.result()


def reduced(
    start: Reduced, upper: float, clock: Clock, rounds: int = ROUNDS, later: float = WORTHWHILE
) -> Reduced:
    """Apply every reduction until it no longer pays, `rounds` times, or until the clock is over; a pass that
    the clock ends counts for the bound alone. After the second pass another follows where that left at most
    the part `later` of the problem.

    Nodes that no extraction of cost `upper` or less uses go too.
    """
    state, done = _State(start, upper), start
    with suppress(TimeUp):
        for k in range(rounds):
            clock.check(sum(state.size()))
            if len(state.live()) > MOST_CLASSES:
                break
            left = state.round(clock)
            done = state.result()
            if left > (later if k else WORTHWHILE):
                break
    return replace(done, lower_bound=state.bound)


class _State:
    """The problem while it shrinks."""

    def __init__(self, start: Reduced, upper: float) -> None:
        self.nodes: list[Sequence[Alternative]] = list(start.problem.nodes)
        self.roots = start.problem.roots
        self.upper = upper
        self.fixed = dict(start.fixed)
        self.swaps = list(start.swaps)
        self.bound = start.lower_bound
        self.must: MustSets | None = None
        self.always = set(self.roots)
        self.compared: dict[int, tuple[Sequence[Alternative], int]] = {}
        self.beside: dict[int, Sequence[Alternative]] = {}

    def result(self) -> Reduced:
        return Reduced(
            Problem(self.nodes.copy(), self.roots), self.fixed.copy(), self.swaps.copy(), self.bound
        )

    def live(self) -> list[int]:
        return [c for c, group in enumerate(self.nodes) if group]

    def size(self) -> tuple[int, int]:
        kids = [len(node.kids) for group in self.nodes for node in group]
        return len(kids), sum(kids)

    def round(self, clock: Clock) -> float:
        """One pass of all the reductions; which part of the problem is left."""
        before = self.size()
        instance = Problem(self.nodes, self.roots)
        must = must_sets(instance, clock, self.must)
        self.must = MustSets(must.rank, must.order, ())
        needed, known = must.under(self.roots), self.always
        self.roots = tuple(sorted(must.members(needed)))
        self.always = set(self.roots)
        self._drop(must, needed, known, instance.part, clock)
        self._cut_edges_to_roots(instance.part)
        self.clean()
        return sum(self.size()) / max(1, sum(before))

    def _drop(self, must: MustSets, needed: int, known: set[int], part: Sequence[int], clock: Clock) -> None:
        """Nodes that are necessarily cyclic, too dear, or dominated, class by class.

        Dominance is looked for again where a node of the class, what it has, or its being needed (`known`
        were before) changed.
        """
        least = np.array([min([node.cost for node in self.nodes[c]], default=0.0) for c in must.order])
        always = must.flags(needed)
        self.bound = max(self.bound, float(least[always].sum()))
        rest = Weights(least, needed)
        extra = self._extra(must, rest, clock)
        base = np.where(always, least, 0.0).tolist()
        fresh = set(self.roots) - known
        for c in self.live():
            if len(self.nodes[c]) == 1:
                continue
            clock.check()
            slack = self.upper * (1 + 1e-9) - self.bound + base[must.rank[c]]
            has = self._drop_costly(c, must, slack, rest, extra)
            group, seen = self.nodes[c], hash(tuple(has))
            same = self.compared.get(c) == (group, seen)
            if not same or any(not fresh.isdisjoint(node.kids) for node in group):
                has = self._drop_dominated(c, must, has, part)
                self.compared[c] = self.nodes[c], seen if len(has) == len(group) else hash(tuple(has))

    def _drop_costly(
        self, c: int, must: MustSets, slack: float, rest: Weights, extra: Mapping[int, float]
    ) -> list[int]:
        """Nodes of c that need c, or cost more than `slack` with what comes with them; what the others
        have.
        """
        group, sets = self.nodes[c], must.sets
        own = 1 << must.rank[c]
        has: list[int] = []
        out: list[bool] = []
        dear: list[int] = []
        for k, node in enumerate(group):
            bits, most = 0, node.cost
            for d in node.kids:
                bits |= sets[d]
                most += extra[d]
            has.append(bits)
            out.append(bool(bits & own))
            if most > slack and not out[k]:
                dear.append(k)
        together = rest.of([has[k] for k in dear]) if dear else []
        for k, weight in zip(dear, together, strict=True):
            out[k] = group[k].cost + weight > slack
        if any(out):
            self.nodes[c] = [node for k, node in enumerate(group) if not out[k]]
            has = [bits for k, bits in enumerate(has) if not out[k]]
        return has

    def _drop_dominated(self, c: int, must: MustSets, has: list[int], part: Sequence[int]) -> list[int]:
        """n' makes n useless where it costs no more and needs only what n needs anyway, or roots not
        above it; what the others have.
        """
        group, always = self.nodes[c], self.always
        wants = [
            sum([1 << must.rank[d] for d in node.kids if d not in always or part[d] == part[c]])
            for node in group
        ]
        gone = self._keep(c, useless(group, wants, has))
        return [bits for k, bits in enumerate(has) if k not in gone] if gone else has

    def _extra(self, must: MustSets, rest: Weights, clock: Clock) -> dict[int, float]:
        """For each child of a node that may go: what comes with it beyond what every extraction has.

        The sum over a node's children bounds what comes with the node, and mostly shows without the union
        that it may stay.
        """
        asked = list(
            dict.fromkeys(d for group in self.nodes if len(group) > 1 for node in group for d in node.kids)
        )
        found: dict[int, float] = {}
        for start in range(0, len(asked), BATCH):
            clock.check()
            some = asked[start : start + BATCH]
            found.update(zip(some, rest.of([must.sets[d] for d in some]), strict=True))
        return found

    def drop_larger(self, clock: Clock) -> None:
        """A node is useless beside one that costs no more and needs a subset."""
        for k, c in enumerate(self.live()):
            if k % 64 == 0:
                clock.check()
            if len(self.nodes[c]) > 1 and self.beside.get(c) is not self.nodes[c]:
                self._keep(c, larger(self.nodes[c]))
                self.beside[c] = self.nodes[c]

    def _keep(self, c: int, dominated: Dominated) -> set[int]:
        """Leave c the nodes that are not dominated, and remember who takes the place of whom; who is gone."""
        group = self.nodes[c]
        self.swaps += [(c, group[k].origin, group[by].origin) for k, by in dominated]
        gone = {k for k, _ in dominated}
        if gone:
            self.nodes[c] = [node for k, node in enumerate(group) if k not in gone]
        return gone

    def _cut_edges_to_roots(self, part: Sequence[int]) -> None:
        """A root that cannot reach back is needed anyway: its users need not ask for it."""
        always = self.always
        for c in self.live():
            if all(always.isdisjoint(node.kids) for node in self.nodes[c]):
                continue
            self.nodes[c] = [
                Alternative(
                    node.cost,
                    tuple([d for d in node.kids if d not in always or part[d] == part[c]]),
                    node.origin,
                )
                for node in self.nodes[c]
            ]

    def clean(self) -> None:
        """Leave out what nothing finite or no root reaches, and put classes that need no choice into their
        users.
        """
        order = founded_order(self.nodes)
        founded = set(order)
        for c in self.live():
            group = self.nodes[c]
            if not all([founded.issuperset(node.kids) for node in group]):
                self.nodes[c] = [node for node in group if founded.issuperset(node.kids)]
        self._contract(order)
        self.nodes = reachable(self.nodes, self.roots)

    def _contract(self, order: Sequence[int]) -> None:
        """Put a class of one node into its users, where it is free or has one user.

        In an order in which a class of one node stands after its children, so that each is put into its users
        once. Not where that would copy many edges.
        """
        users = [0] * len(self.nodes)
        for group in self.nodes:
            for node in group:
                for d in node.kids:
                    users[d] += 1
        gone: dict[int, Alternative] = {}
        for d in order:
            group = self.nodes[d]
            if len(group) != 1 or d in self.always:
                continue
            node = _absorb(group[0], gone)
            if node.cost == 0 or users[d] == 1:
                more = (users[d] - 1) * (len(node.kids) - 1)
                if more > MOST_COPIED or len(node.kids) > MOST_COPIED:
                    continue
                gone[d] = node
                for e in node.kids:
                    users[e] += users[d] - 1
        for c, group in enumerate(self.nodes):
            if c in gone:
                self.fixed[c] = gone[c].origin
                self.nodes[c] = ()
            elif gone and any(d in gone for node in group for d in node.kids):
                absorbed = [_absorb(node, gone) for node in group]
                self.nodes[c] = [node for node in absorbed if c not in node.kids]


def _absorb(node: Alternative, gone: Mapping[int, Alternative]) -> Alternative:
    """The node with the classes that are gone replaced by what their nodes need and cost."""
    below = [gone[d] for d in node.kids if d in gone]
    if not below:
        return node
    kids = {d for d in node.kids if d not in gone}.union(*(other.kids for other in below))
    cost = node.cost + sum([other.cost for other in below])
    return Alternative(cost, tuple(sorted(kids)), node.origin)
