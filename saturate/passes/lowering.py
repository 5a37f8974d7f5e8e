"""Backends as tables from op class to handler; an op without one is refused before any handler runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saturate.errors import ArgumentError, RunnerError
from saturate.op import AnyArray, Op
from saturate.ops.arithmetic import Mul
from saturate.ops.constants import Full
from saturate.ops.contraction import Matmul
from saturate.ops.spreading import Reshape
from saturate.program import Node, Program

Handler = Callable[..., Any]
"""`handler(node, *operands)` returns the value of the node; what a value is, the backend alone knows."""


@dataclass(frozen=True)
class Backend:
    """A system that runs programs made of the ops in its table; an op is looked up by its concrete class."""

    name: str
    handlers: Mapping[type[Op], Handler]

    def check(self, program: Program) -> None:
        """Raise `RunnerError` (`unsupported_operator`) naming the first node whose op has no handler."""
        for node in program.nodes:
            if type(node.op) not in self.handlers:
                known = ", ".join(op.name for op in self.handlers)
                raise RunnerError(
                    f"backend {self.name!r} has no handler for {node.op.name}, which node {node.id!r} needs; "
                    f"it has {known or 'none'}",
                    code="unsupported_operator",
                )

    def run(self, program: Program, *arguments: Any) -> tuple[Any, ...]:
        """The outputs, then the gradients; arguments stand in the order of the program's inputs.

        Raises `RunnerError` (`unsupported_operator`) before any handler runs, and `ArgumentError` for a wrong
        number of arguments.
        """
        self.check(program)
        if len(arguments) != len(program.inputs):
            names = ", ".join(given.name for given in program.inputs)
            raise ArgumentError(
                f"program {program.name!r} needs {len(program.inputs)} argument(s) ({names}), "
                f"got {len(arguments)}"
            )
        values = dict(zip((given.value for given in program.inputs), arguments, strict=True))
        for node in program.nodes:
            values[node.value] = self.call(node, *(values[v] for v in node.operands))
        return tuple(values[v] for v in program.results)

    def call(self, node: Node, *operands: Any) -> Any:
        """Run the handler of one node."""
        return self.handlers[type(node.op)](node, *operands)


@dataclass(frozen=True)
class Invocation:
    """One call of a handler."""

    node_id: str
    op: str
    operands: int


@dataclass(frozen=True)
class RecordingBackend(Backend):
    """A backend that writes down every call of a handler before it makes it."""

    invocations: list[Invocation] = field(default_factory=list)

    def call(self, node: Node, *operands: Any) -> Any:
        """Record the call, then make it."""
        self.invocations.append(Invocation(node.id, node.op.name, len(operands)))
        return super().call(node, *operands)


def evaluated(node: Node, *operands: AnyArray) -> AnyArray:
    """The handler that asks the op itself, over NumPy."""
    value: AnyArray = node.op.evaluate(np, *operands)
    return value


def accumulated(node: Node, *operands: AnyArray) -> AnyArray:
    """The handler of a product whose floats are added up in double precision at least, and rounded once.

    The order in which a BLAS adds is no part of what a program says, and on long rows of one sign it shows.
    """
    wide = [x.astype(np.result_type(x, np.float64)) if x.dtype.kind == "f" else x for x in operands]
    with np.errstate(over="ignore"):  # float16 may not hold the sum, and says so with an infinity
        return evaluated(node, *wide).astype(node.type.dtype)


CONSTANT_AND_MATMUL: Mapping[type[Op], Handler] = {
    Full: evaluated,
    Matmul: accumulated,
    Mul: evaluated,
    Reshape: evaluated,
}
"""A system that has generated constants, matmul, multiply and reshape, which is all that the passes emit."""
