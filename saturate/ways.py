"""The ways to make a value in a layout out of the ops of a target: its own op where the target has it, else
others that come to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from typing import Any

from saturate.algebra import Ix, is_float
from saturate.cells import Cells, Layout, Way, size, sizes
from saturate.forms import Forms
from saturate.lattice import Lattice
from saturate.op import Op
from saturate.ops.constants import Eye, Full
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.reduction import Max, Min, Prod, Sum
from saturate.ops.structure import Broadcast, Reshape, Transpose
from saturate.orders import Order, filled, indices, widened, without
from saturate.products import Products
from saturate.step import Step

ONE = Fraction(1)
REDUCTIONS: dict[str, type[Max] | type[Min] | type[Prod]] = {"max": Max, "min": Min, "prod": Prod}


class Ways(Products):
    """Spans the cells of a lattice for one target.

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
        self.forms = Forms(lattice, cells.target.lacks)

    def of(self, value: int, layout: Layout) -> Iterator[Way]:
        """Every way to make the value in the layout."""
        free, order = self.lattice.free[value], indices(layout)
        if not self.reshapes and self.cells.closest:
            yield from self._reshaped(value, layout)
        numbers = [s for s in self.lattice.steps[value] if s.kind == "number"]
        for step in numbers:
            yield Way(Full(float(step.head[0]), sizes(layout), self.lattice.dtype[value]), (), "")
        if numbers:
            return
        if frozenset(order) != free:
            yield from self._copies(value, layout, frozenset(order) - free)
            return
        if self.cells.has("transpose"):
            yield from self._turned(value, layout)
        plain = not self.turns or order == self.sorted(free)
        for step in tuple(self.lattice.steps[value]):
            if self._carries(step, free):
                yield from self._of_step(value, layout, step, plain)

    def _carries(self, step: Step, free: frozenset[Ix]) -> bool:
        """Whether the step's operands carry no index that the value has lost by a law."""
        if step.kind not in ("mul", "div", "square", "scale", "over", "add", "sub", "plus", "minus", "fn"):
            return True
        return frozenset().union(*(self.lattice.free[a] for a in step.args)) == free

    def _of_step(self, value: int, layout: Layout, step: Step, plain: bool) -> Iterator[Way]:
        order = indices(layout)
        match step.kind:
            case "leaf":
                yield from self._leaf(value, layout, step)
            case "ren":
                back = {j: i for i, j in step.head}
                inner = tuple(None if i is None else back.get(i, i) for i in layout)
                yield Way(None, (self.arg(step.args[0], inner),), step.law)
            case "delta":
                if self.cells.has("eye") and len(layout) == 2:
                    yield Way(Eye(order[0].size, self.lattice.dtype[value]), (), step.law)
            case "dot":
                a, b = step.args
                yield from self._dot(a, b, step.head[0], layout, step.law, plain)
            case "opaque":
                yield from self._opaque(layout, step)
            case _ if plain:
                yield from self._in_place(value, layout, step)
            case _:
                return

    def _in_place(self, value: int, layout: Layout, step: Step) -> Iterator[Way]:
        """Steps that keep the order of axes."""
        match step.kind:
            case "sum":
                yield from self._sum(step.args[0], step.head[0], layout, step.law)
            case "red":
                if self.cells.has(step.head[0]):
                    made: Any = REDUCTIONS[step.head[0]]
                    yield from self._reduced(made, step.args[0], step.head[1], layout, step.law)
            case "diagonal":
                yield from self._diagonal(layout, step)
            case _:
                yield from self._elementwise(value, layout, step)

    # views

    def _leaf(self, value: int, layout: Layout, step: Step) -> Iterator[Way]:
        name, axes = step.head[0], self._axes(step)
        if layout == axes:
            if name not in self._constants:
                yield Way(None, (), step.law, leaf=name)
            elif self.cells.has("constant"):
                yield Way(self._constants[name], (), step.law)
        elif self.cells.has("transpose"):
            yield from self._permuted(value, axes, layout)

    def _axes(self, leaf: Step) -> Layout:
        """The layout in which an input or captured array comes."""
        own = iter(leaf.head[1])
        return self.cells.layout(tuple(None if i is None else next(own) for i in self._leaves[leaf.head[0]]))

    def _turned(self, value: int, layout: Layout) -> Iterator[Way]:
        """Transposes: from the program's order, and to it from the orders in which products come."""
        free = self.lattice.free[value]
        if not self.reshapes:
            for other in permutations(layout) if len(layout) <= 4 else ():
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
        if source != layout and set(source) == set(layout):
            permutation = tuple(source.index(i) for i in layout)
            if None not in layout or len(set(layout)) == len(layout):
                yield Way(Transpose(permutation), (self.arg(value, source, sizes(source)),), "")

    def _reshaped(self, value: int, layout: Layout) -> Iterator[Way]:
        """Axes of size one dropped and added, where that is what the target misses."""
        narrow = indices(layout)
        near: list[Layout] = [narrow, (*narrow, None), (None, *narrow), (*narrow, None, None)]
        axes = [self._axes(step) for step in self.lattice.steps[value] if step.kind == "leaf"]
        for other in [*near, *axes] if layout == narrow else near[:1]:
            if other != layout and indices(other) == narrow:
                yield Way(Reshape(sizes(layout)), (self.arg(value, other, sizes(other)),), "")

    def _copies(self, value: int, layout: Layout, added: frozenset[Ix]) -> Iterator[Way]:
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

    # elementwise

    def _elementwise(self, value: int, layout: Layout, step: Step) -> Iterator[Way]:
        dtype = self.lattice.dtype[value]
        for op, args, law in self.forms.of(step, self.lattice.free[value], dtype):
            if self.cells.has(op.name):
                yield Way(op, tuple(self.arg(a, layout) for a in args), law)
        matmul = self.cells.has("matmul") and is_float(dtype)
        if step.kind in ("mul", "div") and matmul and self.cells.target.lacks("broadcast"):
            a, b = self.forms.factors(step, dtype)
            yield from self.product(a, b, frozenset(), layout, "product_as_contraction", True)
        if step.kind == "scale" and matmul and self.cells.has("full"):
            yield from self._scaled(step.args[0], step.head[0], layout)

    def _scaled(self, a: int, k: Fraction, layout: Layout) -> Iterator[Way]:
        """A number that joins the constant of a sum, or is one of one row and column."""
        for step in tuple(self.lattice.steps[a]):
            if step.kind == "sum":
                yield from self.blocks(step.args[0], step.head[0], layout, float(k), "number_in_constant")
        if self.cells.target.lacks("mul") and self.reshapes:
            one = Full(float(k), (1, 1), self.lattice.dtype[a])
            yield Way(Matmul(), (self.arg(a, layout, (size(layout), 1)), one), "number_in_constant")

    # sums and contractions

    def _sum(self, a: int, summed: frozenset[Ix], layout: Layout, law: str) -> Iterator[Way]:
        if self.cells.has("sum"):
            yield from self._reduced(Sum, a, summed, layout, law)
        if self.constants_multiply(self.lattice.dtype[a]):
            yield from self.blocks(a, summed, layout, 1.0, "sum_as_product")

    def _reduced(self, op: Any, a: int, summed: frozenset[Ix], layout: Layout, law: str) -> Iterator[Way]:
        chosen = self.sorted(summed)
        if self.turns and self.reshapes:
            wide: Layout = self.sorted(self.lattice.free[a])
            yield self._reduction(op, a, wide, summed, False, law)
            return
        for wide in widened(layout, chosen):
            yield self._reduction(op, a, wide, summed, False, law)
        for wide in () if self.reshapes else filled(layout, chosen):
            yield self._reduction(op, a, wide, summed, True, law)

    def _reduction(
        self, op: Any, a: int, wide: Layout, summed: frozenset[Ix], keepdims: bool, law: str
    ) -> Way:
        axes = tuple(k for k, i in enumerate(wide) if i in summed)
        return Way(op(axes, keepdims), (self.arg(a, wide, sizes(wide)),), law)

    def _dot(
        self, a: int, b: int, summed: frozenset[Ix], layout: Layout, law: str, plain: bool
    ) -> Iterator[Way]:
        if self.cells.has("matmul"):
            yield from self.product(a, b, summed, layout, law, False)
        frees = self.lattice.free[a], self.lattice.free[b]
        if frees[0] == frees[1] and self.cells.has("vec_dot") and (self.reshapes or len(summed) == 1):
            deep = layout + self.sorted(summed)
            shape = (*sizes(layout), size(self.sorted(summed)))
            yield Way(VecDot(), tuple(self.arg(v, deep, shape) for v in (a, b)), law)
        if frees[0] == frees[1] and self.cells.has("einsum") and None not in layout:
            yield self._einsum((a, b), summed, layout, law)
        if plain and (self.cells.target.lacks("matmul") or not self.turns):
            mul = Step("mul", (), (a, b), "") if a != b else Step("square", (), (a,), "")
            whole = self.lattice.made(mul, frees[0] | frees[1], self.lattice.dtype[a])
            yield from self._sum(whole, summed, layout, "contraction_as_sum")

    def _einsum(self, values: tuple[int, ...], summed: frozenset[Ix], layout: Layout, law: str) -> Way:
        """A sum of products over axes wherever they stand."""
        order = indices(layout)
        wide = [self.sorted(self.lattice.free[v]) for v in values]
        letters = {i: chr(ord("a") + k) for k, i in enumerate((*order, *self.sorted(summed)))}
        spec = ["".join(letters[i] for i in o) for o in (*wide, order)]
        operands = tuple(self.arg(v, o, sizes(o)) for v, o in zip(values, wide, strict=True))
        return Way(Einsum(f"{','.join(spec[:-1])}->{spec[-1]}"), operands, law)

    def _diagonal(self, layout: Layout, step: Step) -> Iterator[Way]:
        j, i, _ = step.head
        (a,) = step.args
        if self.cells.has("einsum") and None not in layout:
            wide = self.sorted(self.lattice.free[a])
            letters = {index: chr(ord("a") + k) for k, index in enumerate(wide)}
            inside = "".join(letters[i if index == j else index] for index in wide)
            out = "".join(letters[index] for index in indices(layout))
            yield Way(Einsum(f"{inside}->{out}"), (self.arg(a, wide, sizes(wide)),), step.law)

    def _opaque(self, layout: Layout, step: Step) -> Iterator[Way]:
        (op, shapes), results, axes = step.head
        if layout == self.cells.layout(results) and self.cells.has(op.name):
            operands = zip(step.args, axes, shapes, strict=True)
            yield Way(op, tuple(self.arg(a, i, s) for a, i, s in operands), step.law)
