"""The working form of an e-graph: only extractable, reachable classes, plain lists, children without
repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from saturate.errors import ExtractionError
from saturate.extract.classes import Classes
from saturate.extract.cycles import components


class Alternative(NamedTuple):
    """A node: its cost, the classes it needs (sorted, each once), and its index in the user's class."""

    cost: float
    kids: tuple[int, ...]
    origin: int


class Flat:
    """The nodes of all classes in one row, so that a walk over them needs one number for each.

    `owner[v]` is the class of node v and `first[c]` the number of the first node of c; `above[d]` are the
    nodes that need class d.
    """

    def __init__(self, nodes: Sequence[Sequence[Alternative]]) -> None:
        self.owner = [c for c, group in enumerate(nodes) for _ in group]
        self.first = [0, *accumulate(map(len, nodes))]
        self.kids = [node.kids for group in nodes for node in group]
        self.costs = [node.cost for group in nodes for node in group]
        self.arity = list(map(len, self.kids))
        self.above: list[list[int]] = [[] for _ in nodes]
        for v, kids in enumerate(self.kids):
            for d in kids:
                self.above[d].append(v)


@dataclass(frozen=True)
class Problem:
    """`nodes[c]` may be empty: then c is needed by nothing. Class numbers are the user's."""

    nodes: Sequence[Sequence[Alternative]]
    roots: tuple[int, ...]

    @cached_property
    def flat(self) -> Flat:
        """The nodes of all classes in one row."""
        return Flat(self.nodes)

    @cached_property
    def part(self) -> Sequence[int]:
        """Strongly connected parts, by class."""
        return components(self.nodes)

    @cached_property
    def cyclic(self) -> bool:
        """Whether some classes need each other in a circle."""
        return len(set(self.part)) < len(self.nodes)


def problem(classes: Classes) -> Problem:
    """Keep what can be extracted and is reachable from the roots.

    Raises ExtractionError (code `unextractable`) naming a root from which nothing finite can be extracted,
    and the class that blocks it.
    """
    nodes = [
        [
            Alternative(node.cost, tuple(sorted(set(node.children))), i)
            for i, node in enumerate(group)
            if c not in node.children
        ]
        for c, group in enumerate(classes.nodes)
    ]
    roots = tuple(dict.fromkeys(classes.roots))
    founded = extractable(nodes)
    for root in roots:
        if not founded[root]:
            raise ExtractionError(_blame(classes, root, founded), code="unextractable")
    kept = [[node for node in group if all(founded[d] for d in node.kids)] for group in nodes]
    return Problem(reachable(kept, roots), roots)


def extractable(nodes: Sequence[Sequence[Alternative]]) -> list[bool]:
    """Which classes have a finite extraction."""
    founded = [False] * len(nodes)
    for c in founded_order(nodes):
        founded[c] = True
    return founded


def founded_order(nodes: Sequence[Sequence[Alternative]]) -> list[int]:
    """The extractable classes, each after all children of some node of it: a least fixed point, in linear
    time.
    """
    flat = Flat(nodes)
    owner, waiting = flat.owner, flat.arity
    founded = [False] * len(nodes)
    order: list[int] = []
    for v, count in enumerate(waiting):
        if not count and not founded[owner[v]]:
            founded[owner[v]] = True
            order.append(owner[v])
    for ready in order:
        for user in flat.above[ready]:
            waiting[user] -= 1
            if not waiting[user] and not founded[owner[user]]:
                founded[owner[user]] = True
                order.append(owner[user])
    return order


def reachable(nodes: Sequence[Sequence[Alternative]], roots: Iterable[int]) -> list[Sequence[Alternative]]:
    """The same classes, emptied where the roots cannot reach them."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for node in nodes[stack.pop()]:
            for d in node.kids:
                if d not in seen:
                    seen.add(d)
                    stack.append(d)
    return [group if c in seen else () for c, group in enumerate(nodes)]


def _blame(classes: Classes, root: int, founded: Sequence[bool]) -> str:
    """Follow unextractable children from the root to an empty class or into a circle, and say so."""
    seen: list[int] = [root]
    while True:
        group = classes.nodes[seen[-1]]
        if not group:
            why = f"class {classes.names[seen[-1]]!r} has no node"
            break
        bad = next(d for d in group[0].children if not founded[d])
        if bad in seen:
            why = f"every node of class {classes.names[bad]!r} needs the class itself or another such class"
            break
        seen.append(bad)
    return f"nothing can be extracted for root class {classes.names[root]!r}: {why}"
