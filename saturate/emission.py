"""From chosen ways to a program: every way is one op, and an operand is reshaped where its shape differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from saturate.build import Builder, Value
from saturate.cells import Arg, Cells, Way
from saturate.lower import Lowered, Root
from saturate.op import Op
from saturate.ops.constants import Full
from saturate.ops.structure import Reshape
from saturate.orders import Order, indices
from saturate.program import Input


@dataclass
class _Emission:
    cells: Cells
    builder: Builder
    labels: Mapping[int, str]
    leaves: Mapping[str, Value]
    laws: dict[str, str] = field(default_factory=dict)
    steps: dict[str, tuple[int, int]] = field(default_factory=dict)
    orders: dict[str, tuple[int, Order]] = field(default_factory=dict)
    _named: dict[str, str] = field(default_factory=dict)
    _done: dict[int, Value] = field(default_factory=dict)
    _made: dict[tuple[Op, str], Value] = field(default_factory=dict)

    def run(self, choice: Mapping[int, int]) -> None:
        """Emit every chosen way, operands first; `choice` stands in that order."""
        for cell, number in choice.items():
            way = self.cells.ways[cell][number]
            before = len(self.builder.nodes)
            self._done[cell] = self._emit(cell, way)
            value, layout = self.cells.keys[cell]
            self.orders.setdefault(self._done[cell].id, (value, indices(layout)))
            made = [node for node in self.builder.nodes[before:] if node.operands or not way.operands]
            self.steps.update({node.value: (cell, number) for node in made if not node.op.view})
            label = self.labels.get(value, "")
            if made and not made[-1].op.view:
                if way.law not in ("", "program"):
                    self.laws[made[-1].value] = way.law
                if label:
                    self._named[label] = made[-1].value
        self.builder.relabel({value: label for label, value in self._named.items()})

    def _emit(self, cell: int, way: Way) -> Value:
        if way.leaf:
            return self.leaves[way.leaf]
        operands = [self._operand(cell, x, way) for x in way.operands]
        return operands[0] if way.op is None else self.builder.emit(way.op, *operands)

    def _operand(self, cell: int, operand: Arg | Full, way: Way) -> Value:
        if isinstance(operand, Full):
            return self._once(operand)
        given = self._done[operand.cell]
        if operand.shape is not None:
            return self.seen(given, operand.shape)
        shapes = {self._done[x.cell].shape for x in way.operands if isinstance(x, Arg)}
        return given if len(shapes) == 1 else self.seen(given, self.cells.shape(cell))

    def seen(self, given: Value, shape: tuple[int, ...]) -> Value:
        """The value under a shape."""
        return given if given.shape == shape else self._once(Reshape(shape), given)

    def _once(self, op: Op, *operands: Value) -> Value:
        """One constant and one view for all its readers."""
        key = (op, operands[0].id if operands else "")
        if key not in self._made:
            self._made[key] = self.builder.emit(op, *operands)
        return self._made[key]

    def result(self, cell: int, shape: tuple[int, ...]) -> str:
        """The value id of a cell under a shape."""
        return self.seen(self._done[cell], shape).id


def emitted(
    cells: Cells,
    choice: Mapping[int, int],
    roots: Sequence[Root],
    gradients: Sequence[str],
    inputs: Sequence[Input],
    labels: Mapping[int, str],
    name: str,
) -> Lowered:
    """The program of the chosen ways; the last `len(gradients)` roots are gradients of the named inputs."""
    builder = Builder()
    leaves = {i.name: builder.input(i.name, i.type) for i in inputs}
    emission = _Emission(cells, builder, labels, leaves)
    emission.run(choice)
    results = [emission.result(cells.cell(root.value, cells.layout(root.axes)), root.shape) for root in roots]
    split = len(roots) - len(gradients)
    program = builder.program(
        name, tuple(results[:split]), tuple(zip(gradients, results[split:], strict=True))
    )
    return Lowered(program, emission.laws, emission.steps, emission.orders)
