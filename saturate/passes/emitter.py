"""Collects the nodes of a rewritten program under reserved ids; it knows no op."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

from saturate.errors import ArgumentError, ProgramError, shown
from saturate.op import Op, Type
from saturate.program import Node, Program

DEFAULT_PREFIX = "ex"
_OWNED = ("v", "n", "d")
"""First letters of the ids that tracing (`v0`, `n0`) and differentiation (`d0`, `dn0`) mint."""


def checked_program(program: Any, who: str) -> Program:
    """`program` where it is one; raises `ArgumentError`."""
    if not isinstance(program, Program):
        raise ArgumentError(
            f"{who} needs a Program, got {type(program).__name__}", code="malformed_derivative_ir"
        )
    return program


def checked_prefix(prefix: Any) -> str:
    """The prefix of new ids, `ex` for None; raises `ArgumentError` for one that could meet other ids."""
    if prefix is None:
        return DEFAULT_PREFIX
    if not isinstance(prefix, str) or not prefix.isidentifier() or prefix.startswith(_OWNED):
        raise ArgumentError(
            "reserved_id_prefix needs an identifier that does not begin with v, n or d, as traced and "
            f"derivative ids do; got {shown(prefix)}",
            code="malformed_derivative_ir",
        )
    return prefix


@dataclass
class Emitter:
    """Nodes kept and emitted so far. New ids are `<prefix>n0`, … and `<prefix>v0`, …, counted from 0."""

    program: Program
    prefix: str
    nodes: list[Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._node_ids = {node.id for node in self.program.nodes}
        self._types = dict(self.program.types)
        self._nodes, self._values = count(), count()

    def type(self, value: str) -> Type:
        """Type of a value of the program, or of one that was emitted."""
        return self._types[value]

    def reserves(self, name: str) -> bool:
        """Whether `name` stands in the namespace of the new ids."""
        return name.startswith((f"{self.prefix}n", f"{self.prefix}v"))

    def emit(self, op: Op, *operands: str, value: str = "", label: str = "") -> str:
        """Append `op` applied to `operands`; the result is called `value`, or by a new id.

        Raises `ProgramError` where a new id stands in the program already.
        """
        kind = op.type(*(self._types[v] for v in operands))
        node = f"{self.prefix}n{next(self._nodes)}"
        _check_free(node, "node", node in self._node_ids)
        if not value:
            value = f"{self.prefix}v{next(self._values)}"
            _check_free(value, "value", value in self.program.types)
        self._types[value] = kind
        self.nodes.append(Node(node, value, op, operands, kind, label))
        return value

    def result(self) -> Program:
        """The program with the collected nodes in place of its own; inputs, outputs and gradients stay."""
        old = self.program
        return Program(old.name, old.inputs, tuple(self.nodes), old.outputs, old.gradients)


def _check_free(minted: str, what: str, taken: bool) -> None:
    if taken:
        raise ProgramError(
            f"the new {what} id {minted!r} stands in the program already; give another reserved_id_prefix",
            code="malformed_derivative_ir",
        )
