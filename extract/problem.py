"""The working form of an e-graph: only extractable, reachable classes, plain lists, children without
repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from saturate.errors import ExtractionError
from saturate.extract.classes import Classes
from saturate.extract.cycles import components


class Alternative(NamedTuple):
    """A node: its cost, the classes it needs (sorted, each once), and its index in the user's class."""

    cost: float
    kids: tuple[int, ...]
    origin: int


@dataclass(frozen=True)
class Problem:
    """`nodes[c]` may be empty: then c is needed by nothing. Class numbers are the user's."""

    nodes: Sequence[Sequence[Alternative]]
    roots: tuple[int, ...]

    @cached_property
    def users(self) -> Sequence[Sequence[tuple[int, int]]]:
        """For each class the (class, position) of the nodes that need it."""
        users: list[list[tuple[int, int]]] = [[] for _ in self.nodes]
        for c, group in enumerate(self.nodes):
            for i, node in enumerate(group):
                for d in node.kids:
                    users[d].append((c, i))
        return users

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
    founded = [False] * len(nodes)
    users: list[list[tuple[int, int]]] = [[] for _ in nodes]
    waiting = [[len(node.kids) for node in group] for group in nodes]
    order: list[int] = []
    for c, group in enumerate(nodes):
        for i, node in enumerate(group):
            for d in node.kids:
                users[d].append((c, i))
            if not node.kids and not founded[c]:
                founded[c] = True
                order.append(c)
    for ready in order:
        for c, i in users[ready]:
            waiting[c][i] -= 1
            if waiting[c][i] == 0 and not founded[c]:
                founded[c] = True
                order.append(c)
    return order


def reachable(nodes: Sequence[Sequence[Alternative]], roots: Iterable[int]) -> list[Sequence[Alternative]]:
    """The same classes, emptied where the roots cannot reach them."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        for node in nodes[stack.pop()]:
            fresh = [d for d in node.kids if d not in seen]
            seen.update(fresh)
            stack.extend(fresh)
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
