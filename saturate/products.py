"""Matrix products: contractions of two values, and sums and copies as products with generated constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations

from saturate.algebra import Ix, is_float
from saturate.cells import Arg, Cells, Layout, Way, size, sizes
from saturate.lattice import Lattice
from saturate.ops.constants import Full
from saturate.ops.contraction import Matmul
from saturate.orders import Order, cuts, indices, parts, runs
from saturate.step import Step


class Products:
    """The ways that end in a matrix product, each over one cut of the axes into batch, rows and columns."""

    def __init__(self, lattice: Lattice, cells: Cells, order: Mapping[Ix, int]) -> None:
        self.lattice, self.cells = lattice, cells
        self._order = order
        self.reshapes = not cells.target.lacks("reshape")
        self.turns = not cells.target.lacks("transpose")

    def sorted(self, given: frozenset[Ix]) -> Order:
        """Indices in the order of the program."""
        return tuple(sorted(given, key=lambda i: (self._order[i], i)))

    def arg(self, value: int, layout: Layout, shape: tuple[int, ...] | None = None) -> Arg:
        """A value in a layout as an operand, seen under a shape."""
        return Arg(self.cells.cell(value, self.cells.layout(layout)), shape)

    def _whole(self, value: int, layout: Layout) -> Arg:
        return self.arg(value, layout, sizes(layout))

    def constants_multiply(self, dtype: str) -> bool:
        """Whether there are products with generated constants of this dtype."""
        return is_float(dtype) and self.cells.has("matmul") and self.cells.has("full")

    # copies

    def repeated(self, value: int, layout: Layout, added: frozenset[Ix], k: float, law: str) -> Iterator[Way]:
        """k times the value along axes that it lacks: one block of neighbours, the others before."""
        if not self.reshapes:
            yield from self._outer(value, layout, added, k, law)
            return
        dtype, order = self.lattice.dtype[value], indices(layout)
        for start, end in runs(order, added):
            before, block, after = order[:start], order[start:end], order[end:]
            b, n, a = size(before), size(block), size(after)
            rest = before + after
            if not after:
                yield Way(Matmul(), (self.arg(value, rest, (b, 1)), Full(k, (1, n), dtype)), law)
            elif not before:
                yield Way(Matmul(), (Full(k, (n, 1), dtype), self.arg(value, rest, (1, a))), law)
            else:
                yield Way(Matmul(), (Full(k, (b, n, 1), dtype), self.arg(value, rest, (b, 1, a))), law)

    def _outer(self, value: int, layout: Layout, added: frozenset[Ix], k: float, law: str) -> Iterator[Way]:
        """One of the last two axes repeated, where no reshape helps."""
        dtype, batch = self.lattice.dtype[value], sizes(layout[:-2])
        if len(layout) < 2:
            return
        if layout[-1] in added:
            constant = Full(k, (*batch, 1, size(layout[-1:])), dtype)
            yield Way(Matmul(), (self._whole(value, (*layout[:-1], None)), constant), law)
        if layout[-2] in added:
            constant = Full(k, (*batch, size(layout[-2:-1]), 1), dtype)
            yield Way(Matmul(), (constant, self._whole(value, (*layout[:-2], None, layout[-1]))), law)

    # sums

    def blocks(self, a: int, summed: frozenset[Ix], layout: Layout, k: float, law: str) -> Iterator[Way]:
        """k times a sum: its last product is over one block of neighbours, the other axes summed before."""
        dtype, free = self.lattice.dtype[a], self.lattice.free[a]
        for part in parts(summed):
            rest = summed.difference(part)
            inner = self.lattice.made(Step("sum", (rest,), (a,), ""), free - rest, dtype) if rest else a
            if not self.reshapes:
                yield from self._matrix_sum(inner, part, layout, k, law) if len(part) == 1 else ()
                continue
            for block in permutations(part):
                for p in range(len(layout) + 1):
                    yield self._block(inner, layout[:p], block, layout[p:], k, law)

    def _block(self, a: int, before: Layout, block: Order, after: Layout, k: float, law: str) -> Way:
        dtype, wide = self.lattice.dtype[a], before + block + after
        b, n, c = size(before), size(block), size(after)
        if not after:
            return Way(Matmul(), (self.arg(a, wide, (b, n)), Full(k, (n, 1), dtype)), law)
        if not before:
            return Way(Matmul(), (Full(k, (1, n), dtype), self.arg(a, wide, (n, c))), law)
        return Way(Matmul(), (Full(k, (b, 1, n), dtype), self.arg(a, wide, (b, n, c))), law)

    def _matrix_sum(self, a: int, part: Order, layout: Layout, k: float, law: str) -> Iterator[Way]:
        """One of the last two axes summed, where no reshape helps."""
        dtype, batch, n = self.lattice.dtype[a], sizes(layout[:-2]), size(part)
        if len(layout) < 2:
            return
        if layout[-1] is None:
            wide = (*layout[:-1], *part)
            yield Way(Matmul(), (self._whole(a, wide), Full(k, (*batch, n, 1), dtype)), law)
        if layout[-2] is None:
            wide = (*layout[:-2], *part, layout[-1])
            yield Way(Matmul(), (Full(k, (*batch, 1, n), dtype), self._whole(a, wide)), law)

    # contractions

    def product(
        self, a: int, b: int, summed: frozenset[Ix], layout: Layout, law: str, outer: bool
    ) -> Iterator[Way]:
        """Σ of a·b over what is summed; `outer`: without depth, where no `mul` does it alone."""
        multiplies = not self.cells.target.lacks("mul")
        depths = [self.sorted(summed)] if self.turns else list(permutations(self.sorted(summed)))
        for left, right in ((a, b), (b, a))[: 1 + (a != b)]:
            lefts, rights = self.lattice.free[left], self.lattice.free[right]
            for batch, rows, columns in cuts(layout) if self.reshapes else self._last(layout):
                if rights.intersection(indices(rows)) or lefts.intersection(indices(columns)):
                    continue
                if self.reshapes and not (lefts & rights).issuperset(indices(batch)):
                    continue
                if outer and multiplies and not indices(rows) and not indices(columns):
                    continue
                for depth in depths:
                    yield from self._matmul((left, right), (batch, rows, columns), depth, law)

    def _last(self, layout: Layout) -> Iterator[tuple[Layout, Layout, Layout]]:
        """The only cut where no reshape helps."""
        if len(layout) >= 2:
            yield layout[:-2], layout[-2:-1], layout[-1:]

    def _matmul(
        self, values: tuple[int, int], groups: tuple[Layout, Layout, Layout], depth: Order, law: str
    ) -> Iterator[Way]:
        batch, rows, columns = groups
        inner: Layout = depth
        if not self.reshapes:
            if len(depth) > 1:
                return
            inner = depth or (None,)
        shapes = (
            (*sizes(batch), size(rows), size(inner)),
            (*sizes(batch), size(inner), size(columns)),
        )
        left = self.arg(values[0], batch + rows + inner, shapes[0])
        yield Way(Matmul(), (left, self.arg(values[1], batch + inner + columns, shapes[1])), law)
