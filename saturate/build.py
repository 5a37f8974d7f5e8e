"""Building a program op by op: the handle that tracing, differentiation, passes and lowering share."""

from __future__ import annotations

from dataclasses import dataclass, field

from saturate.op import Op, Type
from saturate.program import Input, Node, Program


@dataclass(frozen=True)
class Value:
    """A value under construction: its builder, id and type."""

    builder: Builder = field(repr=False, compare=False)
    id: str
    type: Type

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the value."""
        return self.type.shape

    @property
    def dtype(self) -> str:
        """Name of the value's dtype."""
        return self.type.dtype


class Builder:
    """Collects inputs and nodes; ids are minted in order from `values` and `nodes` (`v0`, `n0`, …)."""

    def __init__(self, values: str = "v", nodes: str = "n", start: Program | None = None) -> None:
        self.inputs: list[Input] = list(start.inputs) if start else []
        self.nodes: list[Node] = list(start.nodes) if start else []
        self._values, self._nodes = values, nodes
        self._value_count = self._node_count = 0
        self.label = ""

    def prefix(self, values: str, nodes: str) -> None:
        """Mint ids from other prefixes from here on, starting at 0."""
        self._values, self._nodes = values, nodes
        self._value_count = self._node_count = 0

    def _value_id(self) -> str:
        self._value_count += 1
        return f"{self._values}{self._value_count - 1}"

    def input(self, name: str, type: Type) -> Value:
        """Add a named argument."""
        value = self._value_id()
        self.inputs.append(Input(name, value, type))
        return Value(self, value, type)

    def emit(self, op: Op, *operands: Value, label: str = "") -> Value:
        """Append `op` applied to `operands`; the type is the op's own answer."""
        types = tuple(v.type for v in operands)
        op.check_operands(types)
        op.check_attributes()
        kind = op.type(*types)
        value = self._value_id()
        self._node_count += 1
        node = f"{self._nodes}{self._node_count - 1}"
        self.nodes.append(Node(node, value, op, tuple(v.id for v in operands), kind, label))
        return Value(self, value, kind)

    def relabel(self, labels: dict[str, str]) -> None:
        """Give values the names that the user's function used for them."""
        self.nodes = [
            Node(n.id, n.value, n.op, n.operands, n.type, labels.get(n.value, n.label)) for n in self.nodes
        ]

    def program(
        self, name: str, outputs: tuple[str, ...], gradients: tuple[tuple[str, str], ...] = ()
    ) -> Program:
        """The finished program."""
        return Program(name, tuple(self.inputs), tuple(self.nodes), outputs, gradients)


def apply(op: Op, first: Value, *rest: Value) -> Value:
    """Emit `op` into the builder of its operands."""
    return first.builder.emit(op, first, *rest)
