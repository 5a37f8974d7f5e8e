"""From chosen steps over named indices to a program: axis orders, strided matrix products, explicit views.

Every value gets an order of its indices, most often the order in which inputs and results hold them, so
that transposes are views. Contractions become one `matmul` over merged axes, or one `vecdot` where neither
side has an index of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from string import ascii_letters
from typing import Any

from saturate.algebra import Ix
from saturate.build import Builder, Value
from saturate.lattice import Lattice
from saturate.op import Op
from saturate.ops import OPS
from saturate.ops.binary import Add, Div, Mul, Sub
from saturate.ops.constants import Eye, Full
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.reduction import Max, Min, Prod, Sum
from saturate.ops.select import Where
from saturate.ops.structure import Broadcast, Reshape, Transpose
from saturate.ops.unary import Cast, Square
from saturate.program import Input, Node, Program
from saturate.step import Step

Order = tuple[Ix, ...]
Slots = tuple[Ix | None, ...]


@dataclass(frozen=True)
class Root:
    """A result to be: its value in the lattice and its axes in order, None for size one."""

    value: int
    axes: Slots
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Lowered:
    """The program; for its values the law that their step came from, and the step as (value, position) in the
    lattice; for some, `orders` says which value of the lattice they are, with its indices in which order.
    """

    program: Program
    laws: Mapping[str, str]
    steps: Mapping[str, tuple[int, int]]
    orders: Mapping[str, tuple[int, Order]]


@dataclass
class Lowering:
    """Emits the chosen steps of a lattice into a builder."""

    lattice: Lattice
    choice: Mapping[int, int]
    builder: Builder
    order: Mapping[Ix, int]
    labels: Mapping[int, str]
    wishes: Mapping[int, Order]
    laws: dict[str, str] = field(default_factory=dict)
    steps: dict[str, tuple[int, int]] = field(default_factory=dict)
    orders: dict[str, tuple[int, Order]] = field(default_factory=dict)
    _done: dict[int, tuple[Value, Order]] = field(default_factory=dict)
    _constants: dict[str, Value] = field(default_factory=dict)
    _views: dict[tuple[Op, str], Value] = field(default_factory=dict)
    _flat: dict[str, Value] = field(default_factory=dict)

    def run(self, leaves: Mapping[str, tuple[Value, Slots]], constants: Mapping[str, Op]) -> None:
        """Emit every chosen step, operands first; `choice` stands in that order."""
        for value, index in self.choice.items():
            step = self.lattice.steps[value][index]
            label = self.labels.get(value, "")
            before = len(self.builder.nodes)
            self._done[value] = found, order = self._emit(value, step, leaves, constants)
            self.orders.setdefault(found.id, (value, order))
            made = self.builder.nodes[before:]
            self.steps.update({node.value: (value, index) for node in made if not node.op.view})
            self._mark(made, label, step)

    def _mark(self, made: Sequence[Node], label: str, step: Step) -> None:
        if made and step.law not in ("", "program"):
            self.laws[made[-1].value] = step.law
        if made and label:
            self.builder.relabel({made[-1].value: label})

    # steps

    def _emit(
        self, value: int, step: Step, leaves: Mapping[str, tuple[Value, Slots]], constants: Mapping[str, Op]
    ) -> tuple[Value, Order]:
        match step.kind:
            case "leaf":
                return self._leaf(step, leaves, constants)
            case "number":
                return self._number(step.head[0], value), ()
            case "ren":
                inner, order = self._done[step.args[0]]
                return inner, tuple(dict(step.head).get(i, i) for i in order)
            case "delta":
                i, j = step.head
                return self.builder.emit(Eye(i.size, self.lattice.dtype[value])), (i, j)
            case "sum" | "red":
                return self._reduce(step)
            case "dot":
                return self._dot(value, step)
            case "diagonal":
                return self._diagonal(step)
            case "opaque":
                return self._opaque(step)
            case _:
                return self._elementwise(value, step)

    def _leaf(
        self, step: Step, leaves: Mapping[str, tuple[Value, Slots]], constants: Mapping[str, Op]
    ) -> tuple[Value, Order]:
        name, indices = step.head
        if name in constants and name not in self._constants:
            self._constants[name] = self.builder.emit(constants[name])
        given = self._constants[name] if name in constants else leaves[name][0]
        return self._reshaped(given, tuple(i.size for i in indices)), indices

    def _number(self, k: Fraction, value: int) -> Value:
        return self.builder.emit(Full(float(k), (), self.lattice.dtype[value]))

    def _reduce(self, step: Step) -> tuple[Value, Order]:
        inner, order = self._done[step.args[0]]
        indices = step.head[-1]
        axes = tuple(k for k, i in enumerate(order) if i in indices)
        kinds: dict[str, type[Sum] | type[Max] | type[Min] | type[Prod]] = {
            "max": Max,
            "min": Min,
            "prod": Prod,
        }
        op = Sum(axes, False) if step.kind == "sum" else kinds[step.head[0]](axes, False)
        return self.builder.emit(op, inner), tuple(i for i in order if i not in indices)

    def _elementwise(self, value: int, step: Step) -> tuple[Value, Order]:
        order = self._order_of(value, step.args)
        operands = [self.aligned(a, order) for a in step.args]
        dtype = self.lattice.dtype[value]
        match step.kind:
            case "mul":
                return self.builder.emit(Mul(), *operands), order
            case "div":
                return self.builder.emit(Div(), *operands), order
            case "square":
                return self.builder.emit(Square(), operands[0]), order
            case "add":
                return self.builder.emit(Add(), *operands), order
            case "sub":
                return self.builder.emit(Sub(), *operands), order
            case "over":
                return self.builder.emit(Div(left_literal=float(step.head[0])), *operands), order
            case "plus":
                k: Fraction = step.head[0]
                op = Sub(right_literal=float(-k)) if k < 0 else Add(right_literal=float(k))
                return self.builder.emit(op, *operands), order
            case "minus":
                return self.builder.emit(Sub(left_literal=float(step.head[0])), *operands), order
            case "scale":
                return self.builder.emit(scaling(step.head[0]), *operands), order
            case _:
                found = self.builder.emit(function(step, dtype), *operands)
                # a literal beside float32 may make float64 in SciPy
                return found if found.dtype == dtype else self.builder.emit(Cast(dtype), found), order

    def _order_of(self, value: int, args: Sequence[int]) -> Order:
        """The order of the widest operand where it holds every index, else the program's."""
        free = self.lattice.free[value]
        for a in sorted(args, key=lambda v: -len(self.lattice.free[v])):
            order = self._done[a][1]
            if frozenset(order) == free:
                return order
        return self.sorted(free)

    def sorted(self, indices: frozenset[Ix]) -> Order:
        """Indices in the order of the program."""
        return tuple(sorted(indices, key=lambda i: (self.order[i], i)))

    # views

    def aligned(self, value: int, order: Order) -> Value:
        """The value with exactly these axes, broadcast where it lacks one."""
        return self.placed(value, order, tuple(i.size for i in order))

    def placed(self, value: int, axes: Slots, shape: tuple[int, ...]) -> Value:
        """The value with these axes, None for size one, broadcast to `shape`."""
        given, order = self._done[value]
        wanted = tuple(i for i in axes if i is not None and i in order)
        given = self._transposed(given, order, wanted)
        narrow = tuple(i.size if i is not None and i in order else 1 for i in axes)
        if narrow == shape:
            return self._reshaped(given, shape)
        while narrow and narrow[0] == 1:
            narrow = narrow[1:]
        return self._view(Broadcast(shape), self._reshaped(given, narrow))

    def _transposed(self, given: Value, order: Order, wanted: Order) -> Value:
        if order == wanted:
            return given
        return self._view(Transpose(tuple(order.index(i) for i in wanted)), given)

    def _reshaped(self, given: Value, shape: tuple[int, ...]) -> Value:
        return given if given.shape == shape else self._view(Reshape(shape), given)

    def _view(self, op: Op, given: Value) -> Value:
        """One view of a value for all its readers; a reshape of a reshape is one reshape."""
        while isinstance(op, Reshape) and given.id in self._flat:
            given = self._flat[given.id]
        if op == Reshape(given.shape):
            return given
        if (op, given.id) not in self._views:
            self._views[op, given.id] = self.builder.emit(op, given)
            if isinstance(op, Reshape):
                self._flat[self._views[op, given.id].id] = given
        return self._views[op, given.id]

    # contractions

    def _dot(self, value: int, step: Step) -> tuple[Value, Order]:
        summed: frozenset[Ix] = step.head[0]
        (a, a_order), (b, b_order) = (self._done[v] for v in step.args)
        longer, other = (a_order, b_order) if len(a_order) >= len(b_order) else (b_order, a_order)
        batch = tuple(i for i in longer if i in other and i not in summed)
        rows = tuple(i for i in a_order if i not in summed and i not in batch)
        columns = tuple(i for i in b_order if i not in summed and i not in batch)
        wider = a_order if len(rows) >= len(columns) else b_order
        depth = tuple(i for i in wider if i in summed)
        if not rows and not columns and not (a_order == b_order == batch + depth):
            return self._einsum(a, a_order, b, b_order, batch)
        if not rows and not columns:
            left = self._grouped(a, a_order, (batch, depth))
            right = self._grouped(b, b_order, (batch, depth))
            return self.builder.emit(VecDot(), left, right), batch
        if not rows or (columns and self._before(value, columns, rows)):
            a, b, a_order, b_order, rows, columns = b, a, b_order, a_order, columns, rows
        left = self._grouped(a, a_order, (batch, rows, depth))
        right = self._grouped(b, b_order, (batch, depth, columns))
        made = self.builder.emit(Matmul(), left, right)
        order = batch + rows + columns
        return self._reshaped(made, tuple(i.size for i in order)), order

    def _before(self, value: int, these: Order, those: Order) -> bool:
        """Whether one side's indices stand before the other's: where the value is read, else the side with
        more of them, which are most often a batch, else in the order of the program.
        """
        i, j, wish = these[0], those[0], self.wishes.get(value, ())
        if i in wish and j in wish:
            return wish.index(i) < wish.index(j)
        return (-len(these), self.order[i]) < (-len(those), self.order[j])

    def _einsum(self, a: Value, a_order: Order, b: Value, b_order: Order, out: Order) -> tuple[Value, Order]:
        """Σ of a product over axes that are not the last ones: one pass in memory order."""
        letters = {i: ascii_letters[k] for k, i in enumerate(a_order)}
        spec = [("".join(letters[i] for i in order)) for order in (a_order, b_order, out)]
        return self.builder.emit(Einsum(f"{spec[0]},{spec[1]}->{spec[2]}"), a, b), out

    def _diagonal(self, step: Step) -> tuple[Value, Order]:
        j, i, summed = step.head
        given, order = self._done[step.args[0]]
        letters = {index: ascii_letters[k] for k, index in enumerate(order)}
        out = tuple(index for index in order if index != j and (index != i or not summed))
        inside = "".join(letters[i if index == j else index] for index in order)
        return self.builder.emit(Einsum(f"{inside}->{''.join(letters[index] for index in out)}"), given), out

    def _grouped(self, given: Value, order: Order, groups: tuple[Order, ...]) -> Value:
        """Batch axes, then each further group merged into one axis: before the transpose where its indices
        stand together, since merging after it would copy.
        """
        blocks = [*((i,) for i in groups[0]), *groups[1:]]
        merged = tuple(prod(i.size for i in block) for block in blocks)
        held = sorted((block for block in blocks if block), key=lambda block: order.index(block[0]))
        if tuple(i for block in held for i in block) != order:
            wanted = tuple(i for group in groups for i in group)
            return self._reshaped(self._transposed(given, order, wanted), merged)
        given = self._reshaped(given, tuple(prod(i.size for i in block) for block in held))
        places = [held.index(block) for block in blocks if block]
        if places != sorted(places):
            given = self._view(Transpose(tuple(places)), given)
        return self._reshaped(given, merged)

    def _opaque(self, step: Step) -> tuple[Value, Order]:
        (op, shapes), results, indices = step.head
        operands = [
            self.placed(a, axes, shape) for a, axes, shape in zip(step.args, indices, shapes, strict=True)
        ]
        made = self._view(op, operands[0]) if isinstance(op, Reshape) else self.builder.emit(op, *operands)
        order = tuple(i for i in results if i is not None)
        return self._reshaped(made, tuple(i.size for i in order)), order


def scaling(k: Fraction) -> Op:
    """Multiplication by k; division where 1/k is a whole number, most often a count."""
    if k == 0:  # of what may be infinite
        return Mul(right_literal=0.0)
    if k == -1:
        return OPS["neg"]()
    inverse = 1 / k
    if inverse.denominator == 1 and 4 < abs(inverse) <= 1 << 24:
        return Div(right_literal=float(inverse))
    return Mul(right_literal=float(k))


def function(step: Step, dtype: str) -> Op:
    """The op of a `fn` step, its literals as attributes."""
    name: str = step.head[0]
    slots: tuple[Fraction | float | None, ...] = step.head[1]
    if name.startswith("cast:"):
        return Cast(dtype)
    literals = [None if s is None else float(s) for s in slots]
    if name == "where":
        return Where(left_literal=literals[1], right_literal=literals[2])
    made: Any = OPS[name]
    op: Op = made(left_literal=literals[0], right_literal=literals[1]) if len(slots) == 2 else made()
    return op


def index_order(given: Sequence[tuple[Slots, int]]) -> dict[Ix, int]:
    """One order of all indices that disagrees least with the axes of inputs and results, weighed by their
    sizes.
    """
    weight: dict[tuple[Ix, Ix], int] = {}
    indices: list[Ix] = []
    for axes, size in given:
        known = [i for i in axes if i is not None]
        indices += [i for i in known if i not in indices]
        for k, i in enumerate(known):
            for j in known[k + 1 :]:
                weight[i, j] = weight.get((i, j), 0) + size
    order: dict[Ix, int] = {}
    left = list(indices)
    while left:
        best = min(
            left, key=lambda i: sum(max(0, weight.get((j, i), 0) - weight.get((i, j), 0)) for j in left)
        )
        order[best] = len(order)
        left.remove(best)
    return order


def wishes(lattice: Lattice, choice: Mapping[int, int], roots: Sequence[Root]) -> dict[int, Order]:
    """The order of indices in which results and opaque ops read a value, directly or through elementwise
    steps; sums and contractions read any order as well.
    """
    found: dict[int, Order] = {}

    def wish(value: int, wanted: Sequence[Ix | None]) -> None:
        found.setdefault(value, tuple(i for i in wanted if i is not None and i in lattice.free[value]))

    for root in roots:
        wish(root.value, root.axes)
    for value, index in reversed([*choice.items()]):
        step = lattice.steps[value][index]
        if step.kind == "opaque":
            for arg, axes in zip(step.args, step.head[2], strict=True):
                wish(arg, axes)
        elif value in found and step.kind == "ren":
            back = {new: old for old, new in dict(step.head).items()}
            wish(step.args[0], [back.get(i, i) for i in found[value]])
        elif value in found and step.kind not in ("dot", "sum", "red", "diagonal"):
            for arg in step.args:
                wish(arg, found[value])
    return found


def lower(
    lattice: Lattice,
    choice: Mapping[int, int],
    roots: Sequence[Root],
    gradients: Sequence[str],
    inputs: Sequence[Input],
    leaf_axes: Mapping[str, Slots],
    constants: Mapping[str, Op],
    labels: Mapping[int, str],
    name: str,
) -> Lowered:
    """The program of the chosen steps; the last `len(gradients)` roots are gradients of the named inputs."""
    builder = Builder()
    leaves = {i.name: (builder.input(i.name, i.type), leaf_axes[i.name]) for i in inputs}
    weights = [(axes, 1 + prod(i.size for i in axes if i)) for axes in leaf_axes.values()]
    weights += [(root.axes, 1 + prod(root.shape)) for root in roots]
    order = index_order(weights)
    for value in choice:
        for index in sorted(lattice.free[value]):
            order.setdefault(index, len(order))
    lowering = Lowering(lattice, choice, builder, order, labels, wishes(lattice, choice, roots))
    lowering.run(leaves, constants)
    results = [lowering.placed(r.value, r.axes, r.shape).id for r in roots]
    split = len(roots) - len(gradients)
    program = builder.program(
        name, tuple(results[:split]), tuple(zip(gradients, results[split:], strict=True))
    )
    return Lowered(program, lowering.laws, lowering.steps, lowering.orders)
