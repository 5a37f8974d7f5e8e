"""Cycles between classes: strongly connected parts, and the sets of a choice that rest on nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Needy(Protocol):
    """A node, as far as cycles go: the classes that it needs."""

    @property
    def kids(self) -> tuple[int, ...]:
        """The classes, each once."""
        ...


def components(nodes: Sequence[Sequence[Needy]]) -> list[int]:
    """The number of each class's strongly connected part (Tarjan 1972); a class needs only lower or equal
    ones.
    """
    return strong([list({d for node in group for d in node.kids}) for group in nodes])


def strong(successors: Sequence[Sequence[int]]) -> list[int]:
    """Tarjan's algorithm without recursion, for any graph given by successor lists."""
    index = [0] * len(successors)
    part = [-1] * len(successors)
    low = [0] * len(successors)
    rest = [iter(fresh) for fresh in successors]
    open_: list[int] = []
    count = parts = 0
    for start in range(len(successors)):
        walk = [] if index[start] else [start]
        while walk:
            c = walk[-1]
            if not index[c]:
                count += 1
                index[c] = low[c] = count
                open_.append(c)
            for d in rest[c]:
                if not index[d]:
                    walk.append(d)
                    break
                if part[d] < 0 and low[d] < low[c]:
                    low[c] = low[d]
            else:
                walk.pop()
                if low[c] == index[c]:
                    _close(c, open_, part, parts)
                    parts += 1
                elif low[c] < low[walk[-1]]:
                    low[walk[-1]] = low[c]
    return part


def _close(c: int, stack: list[int], part: list[int], number: int) -> None:
    while True:
        d = stack.pop()
        part[d] = number
        if d == c:
            return


def unfounded(nodes: Sequence[Sequence[Needy]], choice: Mapping[int, int]) -> list[set[int]]:
    """The strongly connected sets of chosen classes that need each other in a circle; empty for a valid
    choice.
    """
    number = {c: k for k, c in enumerate(choice)}
    successors = [[number[d] for d in nodes[c][i].kids if d in number] for c, i in choice.items()]
    part = strong(successors)
    sets: dict[int, set[int]] = {}
    for c, k in number.items():
        sets.setdefault(part[k], set()).add(c)
    return [circle for circle in sets.values() if len(circle) > 1]
