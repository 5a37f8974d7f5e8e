"""The ways to make a value in a layout out of the ops of a target: its own op where the target has it, else
others that come to the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from saturate.algebra import Ix, is_float
from saturate.cells import Layout, Way, size, sizes
from saturate.forms import Forms
from saturate.op import Array
from saturate.ops.arithmetic import Div, Mul
from saturate.ops.constants import Constant, Eye, Full
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.reduction import Max, Mean, Min, Prod, Sum
from saturate.orders import filled, indices, widened
from saturate.step import Step
from saturate.views import Views

REDUCTIONS: dict[str, type[Max] | type[Min] | type[Prod]] = {"max": Max, "min": Min, "prod": Prod}


class Ways(Views):
    """Spans the cells of a lattice for one target; what it takes is what `Views` takes."""

    @cached_property
    def forms(self) -> Forms:
        """What stands for ops that the target lacks."""
        return Forms(self.lattice, self.cells.target.lacks)

    def of(self, value: int, layout: Layout) -> Iterator[Way]:
        """Every way to make the value in the layout."""
        free, order = self.lattice.free[value], indices(layout)
        if not self.reshapes:
            yield from self.resized(value, layout)
        numbers = [s for s in self.lattice.steps[value] if s.kind == "number"]
        if numbers:
            if self.cells.has("full"):
                yield Way(Full(float(numbers[0].head[0]), sizes(layout), self.lattice.dtype[value]), (), "")
            return
        if frozenset(order) != free:
            yield from self.copies(value, layout, frozenset(order) - free)
            return
        yield from self.turned(value, layout)
        plain = not self.turns or order == self.sorted(free)
        for step in tuple(self.lattice.steps[value]):
            if self._carries(step, free):
                yield from self._of_step(value, layout, step, plain)

    def _carries(self, step: Step, free: frozenset[Ix]) -> bool:
        """Whether the step's operands carry no index that the value has lost by a law."""
        if step.kind not in ("mul", "div", "square", "scale", "over", "add", "sub", "plus", "minus", "fn"):
            return True
        return frozenset().union(*(self.lattice.free[a] for a in step.args)) == free

    def _delta(self, value: int, order: tuple[Ix, ...], law: str) -> Iterator[Way]:
        """The identity matrix, as a constant where the target cannot make it."""
        dtype = self.lattice.dtype[value]
        if len(order) == 2 and self.cells.has("eye"):
            yield Way(Eye(order[0].size, dtype), (), law)
        elif len(order) == 2 and self.cells.has("constant"):
            yield Way(Constant(Array(np.eye(order[0].size, dtype=dtype))), (), law)

    def _of_step(self, value: int, layout: Layout, step: Step, plain: bool) -> Iterator[Way]:
        order = indices(layout)
        match step.kind:
            case "leaf":
                yield from self.leaf(value, layout, step)
            case "ren":
                back = {j: i for i, j in step.head}
                inner = tuple(None if i is None else back.get(i, i) for i in layout)
                yield Way(None, (self.arg(step.args[0], inner),), step.law)
            case "delta":
                yield from self._delta(value, order, step.law)
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
                yield from self._sum(value, step.args[0], step.head[0], layout, step.law)
            case "red":
                if self.cells.has(step.head[0]):
                    made: Any = REDUCTIONS[step.head[0]]
                    yield from self._reduced(made, step.args[0], step.head[1], layout, step.law)
            case "diagonal":
                yield from self._diagonal(layout, step)
            case _:
                yield from self._elementwise(value, layout, step)

    # elementwise

    def _elementwise(self, value: int, layout: Layout, step: Step) -> Iterator[Way]:
        dtype = self.lattice.dtype[value]
        for op, args, law in self.forms.of(step, dtype):
            if self.cells.has(op.name):
                yield Way(op, tuple(self.arg(a, layout) for a in args), law)
        if step.kind in ("mul", "div", "square"):
            yield from self._contracted(layout, step, dtype)
        if step.kind == "scale":
            yield from self._scaled(step.args[0], step.head[0], layout)

    def _contracted(self, layout: Layout, step: Step, dtype: str) -> Iterator[Way]:
        """A product as a contraction of depth one, where what it needs elementwise is not there."""
        target = self.cells.target
        if not is_float(dtype) or not (target.lacks("broadcast") or target.lacks("mul")):
            return
        a, b = self.forms.factors(step, dtype)
        if self.cells.has("matmul"):
            yield from self.product(a, b, frozenset(), layout, "product_as_contraction", True)
        if not target.lacks("einsum") and None not in layout:
            yield self._einsum((a, b), frozenset(), layout, "product_as_sum")
        narrow = self.reshapes or len(layout) < self.rank
        if target.lacks("mul") and not target.lacks("vec_dot") and narrow:
            deep = tuple(self.arg(v, (*layout, None), (*sizes(layout), 1)) for v in (a, b))
            yield Way(VecDot(), deep, "product_as_sum")

    def _scaled(self, a: int, k: Fraction, layout: Layout) -> Iterator[Way]:
        """A number that joins the constant of a sum, makes it a mean, or is one of one row and column."""
        dtype = self.lattice.dtype[a]
        for step in tuple(self.lattice.steps[a]):
            if step.kind == "sum" and self.constants_multiply(dtype):
                yield from self.blocks(step.args[0], step.head[0], layout, float(k), "number_in_constant")
            if step.kind == "sum" and self._means() and k * size(self.sorted(step.head[0])) == 1:
                yield from self._reduced(Mean, step.args[0], step.head[0], layout, step.law)
        if self.cells.target.lacks("mul") and self.cells.has("full") and is_float(dtype):
            yield from self._times_constant(a, float(k), layout)

    def _times_constant(self, a: int, k: float, layout: Layout) -> Iterator[Way]:
        """The value times a generated constant that holds the number, by a contraction."""
        dtype, target = self.lattice.dtype[a], self.cells.target
        if self.cells.has("matmul") and self.reshapes:
            column = self.arg(a, layout, (size(layout), 1))
            yield Way(Matmul(), (column, Full(k, (1, 1), dtype)), "number_in_constant")
        if not target.lacks("vec_dot") and (self.reshapes or len(layout) < self.rank):
            shape = (*sizes(layout), 1)
            deep = self.arg(a, (*layout, None), shape)
            yield Way(VecDot(), (deep, Full(k, shape, dtype)), "number_in_constant")
        if not target.lacks("einsum") and None not in layout:
            letters = "".join(chr(ord("a") + n) for n in range(len(layout)))
            given = (Full(k, (), dtype), self.arg(a, layout, sizes(layout)))
            yield Way(Einsum(f",{letters}->{letters}"), given, "number_in_constant")

    def _means(self) -> bool:
        """Whether means stand for sums."""
        return self.cells.target.lacks("sum") and not self.cells.target.lacks("mean")

    # sums and contractions

    def _sum(self, value: int, a: int, summed: frozenset[Ix], layout: Layout, law: str) -> Iterator[Way]:
        dtype = self.lattice.dtype[a]
        if self.cells.has("sum"):
            yield from self._reduced(Sum, a, summed, layout, law)
        if self.constants_multiply(dtype):
            yield from self.blocks(a, summed, layout, 1.0, "sum_as_product")
        if self.cells.target.lacks("sum") and is_float(dtype):
            yield from self._as_other(value, a, summed, layout)

    def _as_other(self, value: int, a: int, summed: frozenset[Ix], layout: Layout) -> Iterator[Way]:
        """A sum as a mean times its count, or as a contraction with ones or with nothing."""
        target, dtype, n = self.cells.target, self.lattice.dtype[a], size(self.sorted(summed))
        if self._means():
            mean = Step("scale", (Fraction(1, n),), (value,), "")
            given = self.arg(self.lattice.made(mean, self.lattice.free[value], dtype), layout)
            for op in (Mul(right_literal=float(n)), Div(right_literal=1 / n)):
                if self.cells.has(op.name):
                    yield Way(op, (given,), "sum_as_mean")
        if not target.lacks("vec_dot") and self.cells.has("full") and (self.reshapes or len(summed) == 1):
            shape = (*sizes(layout), n)
            deep = self.arg(a, layout + self.sorted(summed), shape)
            yield Way(VecDot(), (deep, Full(1.0, shape, dtype)), "sum_as_product")
        if not target.lacks("einsum") and None not in layout:
            yield self._einsum((a,), summed, layout, "sum_as_product")

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
        if self.cells.has("einsum") and None not in layout:
            if frees[0] == frees[1] or not self.cells.has("matmul"):
                yield self._einsum((a, b), summed, layout, law)
        if plain and (self.cells.target.lacks("matmul") or not self.turns):
            mul = Step("mul", (), (a, b), "") if a != b else Step("square", (), (a,), "")
            whole = self.lattice.made(mul, frees[0] | frees[1], self.lattice.dtype[a])
            total = self.lattice.made(
                Step("sum", (summed,), (whole,), ""), frozenset(indices(layout)), self.lattice.dtype[a]
            )
            yield from self._sum(total, whole, summed, layout, "contraction_as_sum")

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
