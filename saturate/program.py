"""The program: a positional graph of array ops in static single assignment; it knows no concrete op."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from saturate.errors import ProgramError, SaturateError, ShapeError, shown
from saturate.op import Op, Type


@dataclass(frozen=True)
class Input:
    """A named argument: the path of the argument in the user's function, its value id and type."""

    name: str
    value: str
    type: Type


@dataclass(frozen=True)
class Node:
    """One op applied to values. `label` is the name that the user's function gave to the result, or empty."""

    id: str
    value: str
    op: Op
    operands: tuple[str, ...]
    type: Type
    label: str = ""


@dataclass(frozen=True)
class Program:
    """Inputs, nodes (operands stand before their readers), outputs, and gradients by input name.

    `gradients` pairs the name of an input with the value id of its gradient. Construction checks ids, order,
    operands and every declared type, and raises `ProgramError` naming the node.
    """

    name: str
    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    gradients: tuple[tuple[str, str], ...] = ()
    types: Mapping[str, Type] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        _check_fields(self)
        types: dict[str, Type] = {}
        names: set[str] = set()
        for given in self.inputs:
            _define(types, given.value, given.type, f"input {shown(given.name)}")
            names.add(given.name)
        if len(names) != len(self.inputs):
            raise _malformed("a program needs distinct input names")
        ids: set[str] = set()
        for node in self.nodes:
            if node.id in ids:
                raise _malformed(f"node id {node.id!r} stands twice")
            ids.add(node.id)
            _check_node(node, types)
            _define(types, node.value, node.type, f"node {node.id!r}")
        for value in self.outputs:
            if value not in types:
                raise _malformed(f"output {value!r} is produced by no node")
        for name, value in self.gradients:
            if name not in names or value not in types:
                raise _malformed(f"gradient {value!r} of {name!r}: no such input or value")
        object.__setattr__(self, "types", types)

    @property
    def results(self) -> tuple[str, ...]:
        """What running the program returns: the outputs, then the gradients."""
        return self.outputs + tuple(value for _, value in self.gradients)

    @cached_property
    def producer(self) -> dict[str, Node]:
        """The node that produces each value that is not an input."""
        return {node.value: node for node in self.nodes}

    @cached_property
    def uses(self) -> Counter[str]:
        """How often each value is read, by nodes and as a result."""
        found = Counter(v for node in self.nodes for v in node.operands)
        found.update(self.results)
        return found

    @cached_property
    def readers(self) -> dict[str, tuple[Node, ...]]:
        """The nodes that read each value, once for each operand slot."""
        found: dict[str, list[Node]] = {value: [] for value in self.types}
        for node in self.nodes:
            for operand in node.operands:
                found[operand].append(node)
        return {value: tuple(nodes) for value, nodes in found.items()}

    def to_networkx(self) -> Any:
        """A `networkx.MultiDiGraph` over value ids; edges go from operand to reader and carry the `slot`."""
        import networkx as nx

        graph = nx.MultiDiGraph(name=self.name)
        for given in self.inputs:
            graph.add_node(given.value, op="input", type=given.type)
        for node in self.nodes:
            graph.add_node(node.value, op=node.op.name, type=node.type, label=node.label)
            for slot, operand in enumerate(node.operands):
                graph.add_edge(operand, node.value, slot=slot)
        return graph

    def __str__(self) -> str:
        from saturate.text import format_program

        return format_program(self)


def _malformed(message: str) -> ProgramError:
    return ProgramError(message, code="malformed_derivative_ir")


def _strings(values: object) -> bool:
    return isinstance(values, tuple) and all(isinstance(v, str) and v for v in values)


def _check_fields(program: Any) -> None:
    """Raise unless every field has the Python type that it declares; what ids and ops say comes later."""
    if not isinstance(program.name, str):
        raise _malformed(f"a program needs a str as its name, got {shown(program.name)}")
    for what, values, kind in (("inputs", program.inputs, Input), ("nodes", program.nodes, Node)):
        if not isinstance(values, tuple) or not all(isinstance(v, kind) for v in values):
            raise _malformed(f"a program needs a tuple of {kind.__name__} as {what}, got {shown(values)}")
    for given in program.inputs:
        if not _strings((given.name, given.value)):
            raise _malformed(
                f"an input needs a name and a value id, got {shown(given.name)}, {shown(given.value)}"
            )
    for node in program.nodes:
        if not (_strings((node.id, node.value)) and isinstance(node.label, str)):
            raise _malformed(f"a node needs str as id, value id and label, got {shown(node)}")
        if not _strings(node.operands):
            raise _malformed(f"node {node.id!r} needs a tuple of value ids, got {shown(node.operands)}")
    if not _strings(program.outputs):
        raise _malformed(f"a program needs a tuple of value ids as outputs, got {shown(program.outputs)}")
    pairs = program.gradients
    if not isinstance(pairs, tuple) or not all(_strings(pair) and len(pair) == 2 for pair in pairs):
        raise _malformed(f"a program needs pairs of input name and value id as gradients, got {shown(pairs)}")


def _define(types: dict[str, Type], value: str, kind: Any, who: str) -> None:
    if not isinstance(kind, Type):
        raise ProgramError(f"{who} needs a Type, got {shown(kind)}", code="missing_shape_metadata")
    if value in types:
        raise _malformed(f"{who} produces {value!r}, which is produced already")
    types[value] = kind


def _check_node(node: Node, types: Mapping[str, Type]) -> None:
    op: Any = node.op
    declared: Any = node.type
    if not isinstance(op, Op):
        raise _malformed(f"node {node.id!r} needs an op, got {shown(op)}")
    for operand in node.operands:
        if operand not in types:
            raise _malformed(
                f"node {node.id!r} ({op.name}) reads {operand!r}, which nothing before it produces"
            )
    operands = tuple(types[v] for v in node.operands)
    try:
        true = op.checked(operands)
    except ShapeError as error:
        code = op.code("type") if error.code == ShapeError.code else error.code
        raise ProgramError(f"node {node.id!r} ({op.name}): {error}", code=code) from error
    except SaturateError as error:
        raise ProgramError(f"node {node.id!r} ({op.name}): {error}", code=error.code) from error
    if not isinstance(declared, Type):
        raise ProgramError(
            f"node {node.id!r} needs a Type, got {shown(declared)}", code="missing_shape_metadata"
        )
    if (true.shape, true.dtype) != (declared.shape, declared.dtype):
        raise ProgramError(
            f"node {node.id!r} ({op.name}) declares {declared}, but its operands make {true}",
            code=op.code("type"),
        )
