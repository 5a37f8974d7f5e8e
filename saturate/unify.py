"""Which axes are the same axis: union-find that refuses to join axes which one value carries together."""

from __future__ import annotations

from saturate.algebra import Ix

Axes = tuple[int | None, ...]
"""Axes by number, in order; None for an axis of size one."""


class Unifier:
    """Union-find over axes that refuses to join two axes which some value carries together."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.sizes: list[int] = []
        self._seen: list[set[int]] = []
        self._spaces = 0

    def fresh(self, size: int) -> int:
        """A new axis."""
        self.parent.append(len(self.parent))
        self.sizes.append(size)
        self._seen.append(set())
        return len(self.parent) - 1

    def find(self, axis: int) -> int:
        """The axis that stands for all that are the same as `axis`."""
        while self.parent[axis] != axis:
            self.parent[axis] = self.parent[self.parent[axis]]
            axis = self.parent[axis]
        return axis

    def space(self, axes: Axes) -> None:
        """Axes that occur together and must stay distinct."""
        for axis in axes:
            if axis is not None:
                self._seen[self.find(axis)].add(self._spaces)
        self._spaces += 1

    def union(self, a: int, b: int) -> None:
        """Make two axes the same, unless some value carries both."""
        a, b = sorted((self.find(a), self.find(b)))
        if a == b or self._seen[a] & self._seen[b]:
            return
        self.parent[b] = a
        self._seen[a] |= self._seen[b]
        self._seen[b] = set()

    def names(self) -> dict[int, Ix]:
        """An index for every axis that stands for itself, numbered by size in order of first use."""
        used: dict[int, int] = {}
        names = {}
        for axis in range(len(self.parent)):
            if self.find(axis) == axis:
                size = self.sizes[axis]
                names[axis] = Ix(size, used.get(size, 0))
                used[size] = used.get(size, 0) + 1
        return names
