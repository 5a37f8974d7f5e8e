"""Cells: values with their axes in an order, and for a target the ways to make them, each one op of it.

Named indices need no broadcast and no transpose, arrays do. Where a target lacks some ops, even a view may
have to be made of others, and the order of axes decides what can be made at all. So below the lattice of
values stands one of cells. Constants of ones enter here and nowhere else: they are operands of ways, never
values, and so never the number 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod

from saturate.algebra import Ix
from saturate.errors import TargetError
from saturate.extract import Classes, ENode
from saturate.extract.costs import Profile, roofline
from saturate.op import Op, Type
from saturate.ops.constants import Full
from saturate.price import pass_of
from saturate.target import Target

Layout = tuple[Ix | None, ...]
"""Axes in order, None for one of size one; without any where the target has `reshape`."""
CELLS = 30_000
"""More cells than this end a search."""
PENALTY = 1e12
"""What an op that the target lacks costs where the closest form is looked for."""


class CellLimit(TargetError):
    """A program with more orders of axes than are looked at."""


@dataclass(frozen=True)
class Arg:
    """An operand: a cell, seen under a shape, or under any one that all operands share where that is None."""

    cell: int
    shape: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Way:
    """One op that makes a cell, of cells and generated constants; without an op it is its one operand, or an
    input.
    """

    op: Op | None
    operands: tuple[Arg | Full, ...]
    law: str
    leaf: str = ""


Spanner = Callable[[int, Layout], Iterator[Way]]
"""The ways to make a value in a layout."""


@dataclass
class Cells:
    """Cells by number: `keys` are values and layouts, `ways` what makes them.

    With `closest`, ops that the target lacks are allowed and dear.
    """

    target: Target
    profile: Profile
    dtype: Sequence[str]
    base: Callable[[int, Layout], int]
    closest: bool = False
    keys: list[tuple[int, Layout]] = field(default_factory=list)
    ways: list[list[Way]] = field(default_factory=list)
    _numbers: dict[tuple[int, Layout], int] = field(default_factory=dict)

    def cell(self, value: int, layout: Layout) -> int:
        """The number of a cell, a new one where it is new."""
        key = (value, layout)
        if key not in self._numbers:
            self._numbers[key] = len(self.keys)
            self.keys.append(key)
        return self._numbers[key]

    def layout(self, axes: Layout) -> Layout:
        """Axes as the layout that cells of the target have."""
        return axes if self.target.lacks("reshape") else tuple(i for i in axes if i is not None)

    def has(self, op: str) -> bool:
        """Whether ways may use the op of this name."""
        return self.closest or not self.target.lacks(op)

    def shape(self, cell: int) -> tuple[int, ...]:
        """The shape of a cell's layout."""
        return sizes(self.keys[cell][1])

    def span(self, roots: Iterable[tuple[int, Layout]], ways: Spanner) -> Classes:
        """All ways to all cells that the roots may need, as classes with prices; what nothing makes is left
        without ways.
        """
        wanted = tuple(dict.fromkeys(self.cell(value, layout) for value, layout in roots))
        while len(self.ways) < len(self.keys):
            if len(self.keys) > CELLS:
                raise CellLimit(f"the target {self.target} needs more than {CELLS} cells, the limit")
            value, layout = self.keys[len(self.ways)]
            self.ways.append(list(dict.fromkeys(ways(value, layout))))
        self._keep_feasible()
        needed = self._needed(wanted)
        nodes = tuple(
            tuple(self._node(c, k, way) for k, way in enumerate(found)) if c in needed else ()
            for c, found in enumerate(self.ways)
        )
        return Classes(nodes, wanted, tuple(map(str, range(len(nodes)))))

    def _keep_feasible(self) -> None:
        """Drop the ways that need what nothing makes."""
        readers: dict[int, list[tuple[int, int]]] = {}
        missing: dict[tuple[int, int], int] = {}
        made: list[int] = []
        for c, ways in enumerate(self.ways):
            for k, way in enumerate(ways):
                below = set(cells_of(way))
                missing[c, k] = len(below)
                for d in below:
                    readers.setdefault(d, []).append((c, k))
                if not below:
                    made.append(c)
        known = set(made)
        while made:
            for c, k in readers.get(made.pop(), ()):
                missing[c, k] -= 1
                if not missing[c, k] and c not in known:
                    known.add(c)
                    made.append(c)
        self.ways = [[w for k, w in enumerate(ways) if not missing[c, k]] for c, ways in enumerate(self.ways)]

    def _needed(self, roots: Iterable[int]) -> set[int]:
        seen, stack = set[int](), list(roots)
        while stack:
            c = stack.pop()
            if c not in seen:
                seen.add(c)
                stack += [d for way in self.ways[c] for d in cells_of(way)]
        return seen

    def _node(self, cell: int, number: int, way: Way) -> ENode:
        name = "view" if way.op is None else way.op.name
        return ENode(f"{cell}.{number}", name, cells_of(way), self.price(way))

    def price(self, way: Way) -> float:
        """Cost of a way in nanoseconds, ops that the target lacks included."""
        if way.op is None:
            return 0.0
        operands = [self._operand(x) for x in way.operands]
        reads = [
            x.type().size if isinstance(x, Full) else self.base(*self.keys[x.cell]) for x in way.operands
        ]
        made = way.op.type(*operands)
        lacking = self.target.lacks(way.op.name) + any(isinstance(x, Full) for x in way.operands) * (
            self.target.lacks("full")
        )
        return roofline(pass_of(way.op, made, operands, reads), self.profile) + PENALTY * lacking

    def _operand(self, operand: Arg | Full) -> Type:
        if isinstance(operand, Full):
            return operand.type()
        shape = self.shape(operand.cell) if operand.shape is None else operand.shape
        return Type(shape, self.dtype[self.keys[operand.cell][0]])


def cells_of(way: Way) -> tuple[int, ...]:
    """The cells that a way reads."""
    return tuple(x.cell for x in way.operands if isinstance(x, Arg))


def sizes(layout: Layout) -> tuple[int, ...]:
    """The shape of a layout."""
    return tuple(1 if i is None else i.size for i in layout)


def size(layout: Layout) -> int:
    """The number of elements of a layout."""
    return prod(sizes(layout))
