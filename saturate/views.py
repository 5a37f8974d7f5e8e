"""Ways that change no number: axes in other orders, more or fewer of them, by whatever ops do that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import permutations

from saturate.algebra import Ix, is_float
from saturate.cells import Cells, Layout, Way, sizes
from saturate.lattice import Lattice
from saturate.op import Op, Type
from saturate.ops.constants import Full
from saturate.ops.contraction import Einsum, VecDot
from saturate.ops.reduction import Max, Mean, Min, Prod, Sum
from saturate.ops.structure import Broadcast, Reshape, Transpose
from saturate.orders import Order, indices, without
from saturate.products import Products
from saturate.step import Step

ONE = Fraction(1)
TURNED = 4
"""Values of more axes than this are not tried in every order."""


class Views(Products):
    """The ways to see a value in another layout.

    `order` is the program's order of indices, `leaves` the axes of inputs and captured arrays, `constants`
    their ops.
    """

    def __init__(
        self,
        lattice: Lattice,
        cells: Cells,
        order: Mapping[Ix, int],
        leaves: Mapping[str, Layout],
        constants: Mapping[str, Op],
    ) -> None:
        super().__init__(lattice, cells, order)
        self._leaves, self._constants = leaves, constants
        self.rank = max((len(axes) for axes in leaves.values()), default=0)

    def leaf(self, value: int, layout: Layout, step: Step) -> Iterator[Way]:
        """An input or captured array, turned where the layout is not its own."""
        name, axes = step.head[0], self._axes(step)
        if layout == axes:
            if name not in self._constants:
                yield Way(None, (), step.law, leaf=name)
            elif self.cells.has("constant"):
                yield Way(self._constants[name], (), step.law)
        else:
            yield from self._permuted(value, axes, layout)

    def _axes(self, leaf: Step) -> Layout:
        """The layout in which an input or captured array comes."""
        own = iter(leaf.head[1])
        return self.cells.layout(tuple(None if i is None else next(own) for i in self._leaves[leaf.head[0]]))

    def turned(self, value: int, layout: Layout) -> Iterator[Way]:
        """Transposes: from the program's order, and to it from the orders in which products come."""
        free = self.lattice.free[value]
        if not self.reshapes or not (self.turns or self.cells.closest):
            for other in permutations(layout) if len(layout) <= TURNED else ():
                yield from self._permuted(value, other, layout)
            return
        if layout != self.sorted(free):
            yield from self._permuted(value, self.sorted(free), layout)
            return
        for step in self.lattice.steps[value]:
            for other in self._natural(step):
                yield from self._permuted(value, other, layout)

    def _natural(self, step: Step) -> Iterator[Order]:
        """The orders in which a step gives its result by itself."""
        if step.kind == "dot":
            a, b = (self.lattice.free[v] - step.head[0] for v in step.args)
            batch, rows, columns = map(self.sorted, (a & b, a - b, b - a))
            yield batch + rows + columns
            yield batch + columns + rows
        elif step.kind == "opaque":
            yield indices(step.head[1])
        elif step.kind == "ren":
            names = dict(step.head)
            yield tuple(names.get(i, i) for i in self.sorted(self.lattice.free[step.args[0]]))

    def _permuted(self, value: int, source: Layout, layout: Layout) -> Iterator[Way]:
        if source == layout or Counter(source) != Counter(layout):
            return
        if self.cells.closest and layout.count(None) > 1:
            return
        given = (self.arg(value, source, sizes(source)),)
        if self.cells.has("transpose"):
            yield Way(Transpose(permutation(source, layout)), given, "")
        elif self.cells.has("einsum"):
            letters = "".join(chr(ord("a") + k) for k in range(len(source)))
            spelled = "".join(letters[k] for k in permutation(source, layout))
            yield Way(Einsum(f"{letters}->{spelled}"), given, "")

    def resized(self, value: int, layout: Layout) -> Iterator[Way]:
        """Axes of size one added and dropped without `reshape`."""
        if self.cells.closest:
            yield from self._reshaped(value, layout)
            return
        if layout[:1] == (None,) and self.cells.has("broadcast"):
            yield Way(Broadcast(sizes(layout)), (self._whole(value, layout[1:]),), "")
        if len(layout) >= self.rank:
            return
        own = [self._axes(step) for step in self.lattice.steps[value] if step.kind == "leaf"]
        for k in range(len(layout) + 1):
            wide = (*layout[:k], None, *layout[k:])
            if k in (0, len(layout) - 1, len(layout)) or wide in own:
                yield from self._dropped(value, wide, k)

    def _dropped(self, value: int, wide: Layout, k: int) -> Iterator[Way]:
        """The value without the axis of size one at place k: a reduction of one element."""
        given, dtype = self._whole(value, wide), self.lattice.dtype[value]
        for kind in (Sum, Max, Min, Prod, Mean):
            op = kind((k,), False)
            if self.cells.has(op.name) and op.type(Type(sizes(wide), dtype)).dtype == dtype:
                yield Way(op, (given,), "")
                return
        if not is_float(dtype):
            return
        if self.cells.has("einsum"):
            letters = "".join(chr(ord("a") + n) for n in range(len(wide)))
            yield Way(Einsum(f"{letters}->{letters[:k]}{letters[k + 1 :]}"), (given,), "")
        elif self.cells.has("vec_dot") and self.cells.has("full") and k == len(wide) - 1:
            yield Way(VecDot(), (given, Full(1.0, sizes(wide), dtype)), "")

    def _reshaped(self, value: int, layout: Layout) -> Iterator[Way]:
        """Axes of size one dropped and added, where the closest form is looked for."""
        narrow = indices(layout)
        near: list[Layout] = [narrow, (*narrow, None), (None, *narrow), (*narrow, None, None)]
        axes = [self._axes(step) for step in self.lattice.steps[value] if step.kind == "leaf"]
        for other in [*near, *axes] if layout == narrow else near[:1]:
            if other != layout and indices(other) == narrow:
                yield Way(Reshape(sizes(layout)), (self.arg(value, other, sizes(other)),), "")

    def copies(self, value: int, layout: Layout, added: frozenset[Ix]) -> Iterator[Way]:
        """The value repeated along axes that it lacks."""
        if self.cells.has("broadcast"):
            narrow = without(layout, added)
            shape = short = sizes(narrow)
            while short and short[0] == 1:
                short = short[1:]
            if not self.reshapes:
                yield Way(Broadcast(sizes(layout)), (self.arg(value, narrow, shape),), "")
            if self.reshapes or short != shape:
                tail = narrow[len(shape) - len(short) :]
                yield Way(Broadcast(sizes(layout)), (self.arg(value, tail, short),), "")
        if not self.constants_multiply(self.lattice.dtype[value]):
            return
        numbers = [(ONE, value)] + [
            (s.head[0], s.args[0])
            for s in self.lattice.steps[value]
            if s.kind == "scale" and self.lattice.free[s.args[0]] == self.lattice.free[value]
        ]
        for k, source in numbers:
            law = "copies_as_product" if k == 1 else "number_in_constant"
            yield from self.repeated(source, layout, added, float(k), law)


def permutation(source: Layout, layout: Layout) -> tuple[int, ...]:
    """Where each axis of the layout stands in the source; of several of size one the next."""
    places = {i: [k for k, j in enumerate(source) if j == i] for i in set(source)}
    return tuple(places[i].pop(0) for i in layout)
