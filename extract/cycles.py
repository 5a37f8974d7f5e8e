"""Cycles between classes: strongly connected parts, and the sets of a choice that rest on nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    successors = [sorted({d for node in group for d in node.kids}) for group in nodes]
    return strong(successors)


def strong(successors: Sequence[Sequence[int]]) -> list[int]:
    """Tarjan's algorithm without recursion, for any graph given by successor lists."""
    index = [-1] * len(successors)
    low = [0] * len(successors)
    part = [-1] * len(successors)
    stack: list[int] = []
    count = parts = 0
    for start in range(len(successors)):
        if index[start] >= 0:
            continue
        index[start] = low[start] = count
        count += 1
        stack.append(start)
        walk: list[tuple[int, Iterator[int]]] = [(start, iter(successors[start]))]
        while walk:
            c, rest = walk[-1]
            fresh = next((d for d in rest if _relax(d, c, index, low, part)), -1)
            if fresh >= 0:
                index[fresh] = low[fresh] = count
                count += 1
                stack.append(fresh)
                walk.append((fresh, iter(successors[fresh])))
                continue
            walk.pop()
            if walk:
                low[walk[-1][0]] = min(low[walk[-1][0]], low[c])
            if low[c] == index[c]:
                _close(c, stack, part, parts)
                parts += 1
    return part


def _relax(d: int, c: int, index: Sequence[int], low: list[int], part: Sequence[int]) -> bool:
    """Whether d is unvisited; otherwise lower c's link if d is still open."""
    if index[d] < 0:
        return True
    if part[d] < 0:
        low[c] = min(low[c], index[d])
    return False


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
