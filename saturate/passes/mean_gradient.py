"""The derivative of a mean as products with generated constants; what does not match is left alone, silently.

A broadcast divided by the number of its copies is found by what it computes, not by where it came from. Seven
clauses decide; those that `Program` does not guarantee stand by number in `_broadcast_of`.
"""

from __future__ import annotations

from math import prod

from saturate.attributes import is_number
from saturate.op import Type
from saturate.ops.arithmetic import Div
from saturate.ops.spreading import Broadcast
from saturate.passes import ones
from saturate.passes.emitter import Emitter, checked_prefix, checked_program
from saturate.passes.records import (
    BROADCAST_SCALE_EXPANSION,
    RANK_PRESERVING,
    ExpansionResult,
    MeanExpansionRegion,
)
from saturate.program import Node, Program

Result = ExpansionResult[MeanExpansionRegion]


def expand_mean_derivative_program(
    program: Program, *, reserved_id_prefix: str | None = None, strict: bool = True
) -> Program:
    """The program of `expand_mean_derivative_program_detailed`."""
    return expand_mean_derivative_program_detailed(
        program, reserved_id_prefix=reserved_id_prefix, strict=strict
    ).program


def expand_mean_derivative_program_detailed(
    program: Program, *, reserved_id_prefix: str | None = None, strict: bool = True
) -> Result:
    """Every `broadcast(g[1, 1], [r, c]) / (r·c)` becomes `((1[r, 1] @ g) @ 1[1, c]) · 1/(r·c)`.

    The broadcast has no other reader and is dropped; the value of the division is produced by the last node
    of the region; a reshape before it stays; new ids begin with `reserved_id_prefix` (`ex`). Values agree
    within one unit in the last place, except that −0.0 becomes +0.0.

    With `strict=False` also of any rank, repeated along any axes. A division that does not match stays as
    it is. Raises `ProgramError` (`malformed_derivative_ir`) where a new id is taken, and `ArgumentError`
    for a prefix that tracing or differentiation owns.
    """
    e = Emitter(
        checked_program(program, "expand_mean_derivative_program"), checked_prefix(reserved_id_prefix)
    )
    results = frozenset(program.results)
    found: dict[str, Node] = {}
    for node in program.nodes:
        below = _broadcast_of(node, program, results, strict)
        if below is not None:
            found[node.id] = below
    if not found:
        return ExpansionResult(program, ())
    dropped = {below.id for below in found.values()}
    regions: list[MeanExpansionRegion] = []
    for node in program.nodes:
        if node.id in found:
            regions.append(_expand(found[node.id], node, e))
        elif node.id not in dropped:
            e.nodes.append(node)
    return ExpansionResult(e.result(), tuple(regions))


def _broadcast_of(q: Node, program: Program, results: frozenset[str], strict: bool) -> Node | None:
    """The broadcast that `q` divides by the number of its copies, where all seven clauses hold."""
    if type(q.op) is not Div or type(q.op.right_literal) not in (int, float):  # 1
        return None
    b = program.producer.get(q.operands[0])
    if b is None or type(b.op) is not Broadcast:  # 2
        return None
    g = program.types[b.operands[0]]
    if 0 in b.type.shape or not is_number(b.type.size) or (strict and b.type.rank != 2):  # 3
        return None
    if strict and g.shape != (1, 1):  # 4
        return None
    if q.op.right_literal != prod(b.type.shape[k] for k in _repeated(g, b.type)):  # 5
        return None
    if q.type.dtype != b.type.dtype:  # 6
        return None
    if program.readers[b.value] != (q,) or b.value in results:  # 7
        return None
    return b


def _repeated(g: Type, out: Type) -> tuple[int, ...]:
    """The axes of `out` on which `g` has one element, or that it lacks."""
    shape = (1,) * (out.rank - g.rank) + g.shape
    return tuple(k for k, n in enumerate(shape) if n == 1)


def _expand(b: Node, q: Node, e: Emitter) -> MeanExpansionRegion:
    first = len(e.nodes)
    value = b.operands[0]
    axes = _repeated(e.type(value), b.type)
    for block in ones.blocks(b.type.shape, axes):
        value = ones.repeat(e, value, block)
    count = prod(b.type.shape[k] for k in axes)
    ones.scale(e, value, count, q.type.shape, q.value, q.label)
    emitted = tuple(n.id for n in e.nodes[first:])
    return MeanExpansionRegion(BROADCAST_SCALE_EXPANSION, (b.id, q.id), emitted, q.value, RANK_PRESERVING)
