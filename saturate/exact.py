"""Identities that keep every bit, on programs: what `exact="bitwise"` may do besides sharing work.

What stands for a value has its memory layout too, as sums and products depend on it: it is the result of an
elementwise op itself, and the step that goes had no other array to follow.
"""

from __future__ import annotations

from saturate.cse import twins
from saturate.op import Op
from saturate.ops.elementwise import Elementwise
from saturate.program import Node, Program

ONE = {"mul": ("left_literal", "right_literal"), "div": ("right_literal",), "power": ("right_literal",)}
"""Ops that do nothing where one of these attributes is 1."""
WHOLE = ("floor", "ceil", "rint", "trunc", "sign")
"""Functions whose results the first four leave as they are."""
TWICE = ("neg", "logical_not")
"""Functions that undo themselves."""
SAME = ("maximum", "minimum", "logical_and", "logical_or")
"""Functions of two operands that are one of them where both are equal."""


def without_identities(program: Program) -> Program:
    """The program without steps that change no bit of their operand but the sign or payload of a NaN:

    1·x, x/1, x¹, x − 0, −(−x), max(x, x), min(x, x), |x| of |x| and whole numbers made whole.
    """
    return _reduced(program)[0]


def fate(program: Program, result: Program, value: str | None) -> str:
    """What became of a value of the program in what was left of it without any search."""
    if value is None or value in result.types:
        return "computed as the program has it: no search found anything cheaper"
    reduced, same = _reduced(program)
    first = twins(reduced)
    other = same.get(value, value)
    other = first.get(other, other)
    return "nothing reads it" if other == value else f"left out: it is {other}, bit for bit"


def _reduced(program: Program) -> tuple[Program, dict[str, str]]:
    same: dict[str, str] = {}
    made: dict[str, Node] = {}
    nodes: list[Node] = []
    for node in program.nodes:
        operands = tuple(same.get(v, v) for v in node.operands)
        kept = Node(node.id, node.value, node.op, operands, node.type, node.label)
        value = _equal(kept, made)
        if value in made and isinstance(made[value].op, Elementwise) and made[value].type == node.type:
            same[node.value] = value
        else:
            made[node.value] = kept
            nodes.append(kept)
    outputs = tuple(same.get(v, v) for v in program.outputs)
    gradients = tuple((name, same.get(v, v)) for name, v in program.gradients)
    return Program(program.name, program.inputs, tuple(nodes), outputs, gradients), same


def _equal(node: Node, made: dict[str, Node]) -> str:
    """The value that the node's result is equal to, empty where none is known."""
    op, name, operands = node.op, node.op.name, node.operands
    inner = made.get(operands[0]) if operands else None
    if name in ONE and any(_literal(op, end) == 1 for end in ONE[name]):
        return operands[0]
    if name == "sub" and _is_zero(_literal(op, "right_literal")):
        return operands[0]
    if name in SAME and len(operands) == 2 and operands[0] == operands[1]:
        return operands[0]
    if inner is None:
        return ""
    if name in TWICE and inner.op.name == name:
        return inner.operands[0]
    if (name == "abs" and inner.op.name == "abs") or (name in WHOLE[:4] and inner.op.name in WHOLE):
        return operands[0]
    return ""


def _literal(op: Op, name: str) -> object:
    return op.attributes().get(name)


def _is_zero(number: object) -> bool:
    """Whether it is +0, in any of Python's types: x − (−0) makes +0 of −0."""
    return isinstance(number, int | float) and str(float(number)) == "0.0"
