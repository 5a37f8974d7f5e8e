"""The meaning of a program: node after node, each by its op's own definition; no plan, no printing."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from saturate.program import Program


def values(program: Program, *arrays: Any, xp: ModuleType = np) -> dict[str, Any]:
    """Every value of the program by value id, for arguments in the order of its inputs."""
    found = {given.value: array for given, array in zip(program.inputs, arrays, strict=True)}
    for node in program.nodes:
        found[node.value] = node.op.evaluate(xp, *(found[v] for v in node.operands))
    return found


def evaluate(program: Program, *arrays: Any, xp: ModuleType = np) -> tuple[Any, ...]:
    """The results of the program: outputs, then gradients."""
    found = values(program, *arrays, xp=xp)
    return tuple(found[v] for v in program.results)
