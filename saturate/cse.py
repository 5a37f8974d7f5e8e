"""Shared work and dead code, without any algebra: what `exact="bitwise"` may do."""

from __future__ import annotations

from saturate.op import Op
from saturate.program import Node, Program


def share(program: Program) -> Program:
    """The same program with equal nodes computed once and unread nodes dropped; every bit of a result is
    kept.
    """
    same, kept = _shared(program)
    outputs = tuple(same.get(v, v) for v in program.outputs)
    gradients = tuple((name, same.get(v, v)) for name, v in program.gradients)
    live = set(outputs) | {v for _, v in gradients}
    for node in reversed(kept):
        if node.value in live:
            live |= set(node.operands)
    nodes = tuple(n for n in kept if n.value in live)
    return Program(program.name, program.inputs, nodes, outputs, gradients)


def twins(program: Program) -> dict[str, str]:
    """For each value that `share` drops as equal to an earlier one, that one."""
    return _shared(program)[0]


def _shared(program: Program) -> tuple[dict[str, str], list[Node]]:
    """The values that are equal to earlier ones, and the nodes that are left."""
    same: dict[str, str] = {}
    first: dict[tuple[Op, tuple[str, ...]], str] = {}
    kept: list[Node] = []
    for node in program.nodes:
        operands = tuple(same.get(v, v) for v in node.operands)
        value = first.setdefault((node.op, operands), node.value)
        if value != node.value:
            same[node.value] = value
        else:
            kept.append(Node(node.id, node.value, node.op, operands, node.type, node.label))
    return same, kept
