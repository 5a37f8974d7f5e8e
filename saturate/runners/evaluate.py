"""The meaning of a program: node after node, each by its op's own definition; no plan, no printing."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from saturate.program import Node, Program

Step = Callable[[Node, list[Any]], Any]
"""The result of a node for its operands."""


def values(program: Program, *arrays: Any, xp: ModuleType = np) -> dict[str, Any]:
    """Every value of the program by value id, for arguments in the order of its inputs."""
    found = {given.value: array for given, array in zip(program.inputs, arrays, strict=True)}
    for node in program.nodes:
        found[node.value] = node.op.evaluate(xp, *(found[v] for v in node.operands))
    return found


def evaluate(program: Program, *arrays: Any, xp: ModuleType = np, by: Step | None = None) -> tuple[Any, ...]:
    """The results of the program: outputs, then gradients; what nothing reads any more is let go.

    `by` does another thing at each node than its op's evaluation.
    """
    found = {given.value: array for given, array in zip(program.inputs, arrays, strict=True)}
    reads = program.uses.copy()
    for node in program.nodes:
        operands = [found[v] for v in node.operands]
        found[node.value] = by(node, operands) if by else node.op.evaluate(xp, *operands)
        for v in node.operands:
            reads[v] -= 1
            if not reads[v]:
                found.pop(v, None)
    return tuple(found[v] for v in program.results)
