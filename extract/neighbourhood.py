"""Neighbourhood search: free the classes around one, keep the rest of a choice, and solve that exactly."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from saturate.extract import solver
from saturate.extract.clock import Clock
from saturate.extract.cpsat import cpsat
from saturate.extract.local import Solution, exchanges
from saturate.extract.model import model, split
from saturate.extract.portfolio import Part
from saturate.extract.problem import Alternative, Problem
from saturate.extract.reduce import contracted, reduced
from saturate.extract.tree import bottom_up

FIRST_SIZE = 40
LARGEST_SIZE = 1200
EFFORT = 0.15
PATIENCE = 4


@dataclass
class Neighbourhoods:
    """A choice for one part, and the part's graph without direction, to draw neighbourhoods from."""

    problem: Problem
    solution: Solution
    random: random.Random

    def __post_init__(self) -> None:
        roots = set(self.problem.roots)
        links: list[set[int]] = [set() for _ in self.problem.nodes]
        for c, group in enumerate(self.problem.nodes):
            for node in group:
                for d in node.kids:
                    if d not in roots or c not in roots:
                        links[c].add(d)
                        links[d].add(c)
        self.links = [sorted(ends) for ends in links]

    def draw(self, size: int) -> set[int]:
        """A connected set with about `size` classes that have a choice, around a needed one."""
        centres = [c for c in self.solution.choice if len(self.problem.nodes[c]) > 1]
        ring = [self.random.choice(sorted(centres))]
        drawn = set(ring)
        choices = 0
        while ring and choices < size:
            c = ring.pop(self.random.randrange(len(ring)))
            choices += len(self.problem.nodes[c]) > 1
            fresh = [d for d in self.links[c] if d not in drawn]
            drawn.update(fresh)
            ring.extend(fresh)
        return drawn.difference(ring)

    def restricted(self, free: set[int]) -> tuple[Problem, list[int]]:
        """The problem of choosing in `free` alone, renumbered; an alternative's index is its position here.

        What is needed without passing through `free` is given: it costs nothing more, and its users there
        need not ask for it, unless it may lead back to them.
        """
        given, entries = self._given(free)
        kept: dict[int, list[Alternative]] = {}
        stack = sorted(entries)
        while stack:
            c = stack.pop()
            if c in kept:
                continue
            kept[c] = self._alternatives(c, free, given)
            stack.extend(d for node in kept[c] for d in node.kids)
        number = {c: k for k, c in enumerate(kept)}
        nodes = [
            [Alternative(cost, tuple([number[d] for d in kids]), i) for cost, kids, i in group]
            for group in kept.values()
        ]
        roots = tuple(k for c, k in number.items() if c in entries or c in given)
        return Problem(nodes, roots), list(kept)

    def _given(self, free: set[int]) -> tuple[set[int], set[int]]:
        given: set[int] = set()
        entries: set[int] = set()
        stack = list(self.problem.roots)
        while stack:
            c = stack.pop()
            if c in free:
                entries.add(c)
            elif c not in given:
                given.add(c)
                stack.extend(self.problem.nodes[c][self.solution.choice[c]].kids)
        return given, entries

    def _alternatives(self, c: int, free: set[int], given: set[int]) -> list[Alternative]:
        group = self.problem.nodes[c]
        if c in free:
            positions: Sequence[int] = range(len(group))
        else:
            positions = [self.solution.choice[c] if c in self.solution.choice else self.solution.spare[c]]
        return [
            Alternative(
                group[i].cost,
                tuple(
                    d for d in group[i].kids if d not in given or self.problem.part[d] == self.problem.part[c]
                ),
                i,
            )
            for i in positions
        ]


def improve(part: Part, clock: Clock, seed: int) -> None:
    """Solve neighbourhoods of the part's choice until the clock is over or the bound is met."""
    instance = part.model.problem
    whole = {**bottom_up(instance), **part.choice}
    around = Neighbourhoods(instance, Solution(instance, whole), random.Random(seed))
    size = FIRST_SIZE
    misses = 0
    while not clock.over() and not part.closed:
        better, closed = _solve(around, around.draw(size), clock)
        if better is not None:
            polished = exchanges(instance, better, clock)
            around.solution = Solution(instance, {**around.solution.spare, **polished})
            part.learn(solver.Answer(polished, part.model.cost(polished), 0.0), "neighbourhoods")
            misses = 0
        else:
            misses += 1
        if not closed:
            size = max(FIRST_SIZE // 4, size * 3 // 4)
        elif misses > PATIENCE:
            size = min(LARGEST_SIZE, size * 5 // 4 + 1)
            misses = 0


def _solve(around: Neighbourhoods, free: set[int], clock: Clock) -> tuple[dict[int, int] | None, bool]:
    """(a cheaper choice or None, whether the neighbourhood was solved to the end)."""
    sub, names = around.restricted(free)
    clock.spend(10 * len(sub.nodes) + len(around.problem.nodes))
    number = {c: k for k, c in enumerate(names)}
    now = {number[c]: i for c, i in around.solution.choice.items() if c in number}
    upper = sum(sub_node.cost for k, i in now.items() for sub_node in sub.nodes[k] if sub_node.origin == i)
    small = reduced(contracted(sub, clock), upper, clock, rounds=1)
    found: dict[int, int] = {}
    closed = True
    hint = small.restrict(now)
    for piece, classes in split(small.problem):
        if all(len(group) == 1 for group in piece.nodes):
            found.update({classes[k]: group[0].origin for k, group in enumerate(piece.nodes)})
            continue
        answer = cpsat(model(piece), clock, hint=_positions(piece, classes, hint), units=EFFORT, presolve=0)
        closed &= answer.optimal
        if answer.choice is None:
            return None, False
        found.update({classes[k]: piece.nodes[k][i].origin for k, i in answer.choice.items()})
    whole = small.lift(found)
    merged = {**around.solution.choice, **{names[k]: i for k, i in whole.items()}}
    cost = Solution(around.problem, {**around.solution.spare, **merged}).cost
    return (merged, closed) if cost < around.solution.cost * (1 - 1e-12) else (None, closed)


def _positions(piece: Problem, classes: Sequence[int], choice: dict[int, int]) -> dict[int, int]:
    """Indices in the whole as positions in a piece."""
    return {
        k: i
        for k, c in enumerate(classes)
        for i, node in enumerate(piece.nodes[k])
        if node.origin == choice.get(c)
    }
