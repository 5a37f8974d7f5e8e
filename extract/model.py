"""The extraction of one part as linear rows: the same for every solver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from saturate.extract.problem import Alternative, Problem
from saturate.extract.solver import unit

Row = tuple[Sequence[int], Sequence[int], int]
"""(left, right, k): the variables on the left sum to at most those on the right plus k; both may share
some.
"""


@dataclass(frozen=True)
class Model:
    """One 0/1 variable for each node of each class; a class is needed where its variables sum to 1.

    `owner[v]` is (class, position). `variables[c]` are the variables of class c.
    """

    problem: Problem
    owner: Sequence[tuple[int, int]]
    variables: Mapping[int, Sequence[int]]

    @cached_property
    def costs(self) -> list[float]:
        """The cost of each variable."""
        return [self.problem.nodes[c][i].cost for c, i in self.owner]

    @cached_property
    def roots(self) -> frozenset[int]:
        """The classes needed without a user."""
        return frozenset(self.problem.roots)

    @cached_property
    def unit(self) -> float:
        """What all costs are multiples of; 0 where they have no common unit."""
        return unit(self.costs)

    def pairs(self) -> Iterator[tuple[list[int], int]]:
        """(variables, d): at most one of them is used, and only if class d is needed.

        For classes c and d: the nodes of c that need d, with, where d needs c too, the nodes of d that do.
        Left out where d is a root and its own nodes are not among them: then nothing is said.
        """
        uses: dict[tuple[int, int], list[int]] = {}
        for v, (c, i) in enumerate(self.owner):
            for d in self.problem.nodes[c][i].kids:
                uses.setdefault((c, d), []).append(v)
        for (c, d), left in uses.items():
            back = uses.get((d, c), [])
            if back or d not in self.roots:
                yield left + back, d

    def cuts(self, circle: set[int]) -> Iterator[Row]:
        """Loop formulas (Lin and Zhao 2004): if a class of the circle S is needed, some node of S leads out
        of it.

        x_c ≤ Σ_{n in S, no child in S} y_n, for each c in S.
        """
        outside = [
            v
            for c in sorted(circle)
            for v in self.variables[c]
            if circle.isdisjoint(self.problem.nodes[c][self.owner[v][1]].kids)
        ]
        if not circle.isdisjoint(self.roots):
            yield (), outside, -1
            return
        for c in sorted(circle):
            yield self.variables[c], outside, 0

    def chosen(self, values: Sequence[float]) -> dict[int, int]:
        """class → position for what the roots reach through variables that are on; may run in circles."""
        choice: dict[int, int] = {}
        stack = list(self.problem.roots)
        while stack:
            c = stack.pop()
            if c in choice:
                continue
            v = max(self.variables[c], key=lambda v: values[v])
            choice[c] = self.owner[v][1]
            stack.extend(self.problem.nodes[c][choice[c]].kids)
        return choice

    def cost(self, choice: Mapping[int, int]) -> float:
        """The cost of class → position."""
        return sum(self.problem.nodes[c][i].cost for c, i in choice.items())


def model(instance: Problem) -> Model:
    """Number the nodes of the classes that are in the problem."""
    owner = [(c, i) for c, group in enumerate(instance.nodes) for i in range(len(group))]
    variables: dict[int, list[int]] = {}
    for v, (c, _) in enumerate(owner):
        variables.setdefault(c, []).append(v)
    return Model(instance, owner, variables)


def split(instance: Problem) -> list[tuple[Problem, list[int]]]:
    """The parts that share no class, renumbered; with each, the class numbers that it had in the whole."""
    leader = list(range(len(instance.nodes)))
    for c, group in enumerate(instance.nodes):
        for node in group:
            for d in node.kids:
                leader[_find(leader, d)] = _find(leader, c)
    members: dict[int, list[int]] = {}
    for c, group in enumerate(instance.nodes):
        if group:
            members.setdefault(_find(leader, c), []).append(c)
    roots = set(instance.roots)
    return [_part(instance, classes, roots) for classes in members.values()]


def _find(leader: list[int], c: int) -> int:
    while leader[c] != c:
        leader[c] = leader[leader[c]]
        c = leader[c]
    return c


def _part(instance: Problem, classes: list[int], roots: set[int]) -> tuple[Problem, list[int]]:
    number = {c: k for k, c in enumerate(classes)}
    nodes = [
        [
            Alternative(node.cost, tuple([number[d] for d in node.kids]), node.origin)
            for node in instance.nodes[c]
        ]
        for c in classes
    ]
    return Problem(nodes, tuple(number[c] for c in classes if c in roots)), classes
