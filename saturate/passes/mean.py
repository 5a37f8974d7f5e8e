"""Means as products with generated constants; what cannot be expanded is refused before anything is emitted.

Wrong numbers of operands, attributes and declared types cannot be constructed; the clauses that are left to
check stand in `_refusal`, in their order.
"""

from __future__ import annotations

from math import prod

from saturate.attributes import is_number
from saturate.errors import ProgramError
from saturate.ops.reduction import Mean
from saturate.passes import ones
from saturate.passes.emitter import Emitter, checked_prefix, checked_program
from saturate.passes.records import (
    MEAN_EXPANSION_FORWARD,
    RANK_PRESERVING,
    RANK_REDUCING,
    ExpansionResult,
    MeanExpansionRegion,
)
from saturate.program import Node, Program

Result = ExpansionResult[MeanExpansionRegion]
Sums = dict[frozenset[int], str]
"""Sums of one operand that are computed already, by the axes that they are over."""


def expand_mean_program(
    program: Program, *, reserved_id_prefix: str | None = None, strict: bool = True
) -> Program:
    """The program of `expand_mean_program_detailed`."""
    return expand_mean_program_detailed(program, reserved_id_prefix=reserved_id_prefix, strict=strict).program


def expand_mean_program_detailed(
    program: Program, *, reserved_id_prefix: str | None = None, strict: bool = True
) -> Result:
    """Every mean of `x[r, c]` becomes `(1[1, r] @ (x @ 1[c, 1])) · 1/(r·c)`, and a reshape where the axes go.

    The value that a mean produced is produced by the last node of its region; new ids begin with
    `reserved_id_prefix` (`ex`). Values agree up to rounding: sums run in another order, and the product with
    1/(r·c) is within one unit in the last place of the quotient. float16 is summed in float16.

    With `strict=False` also means over some axes, and of any rank (batched products where axes stand on both
    sides); and means of one operand share the sums that they have in common.

    Raises `ProgramError` for the first mean that is not supported, its category the `code`
    (`unsupported_reduction`, `dtype_not_differentiable`; `malformed_derivative_ir` where a new id is
    taken), and `ArgumentError` for a prefix that tracing or differentiation owns.
    """
    e = Emitter(checked_program(program, "expand_mean_program"), checked_prefix(reserved_id_prefix))
    means = [(node, op) for node in program.nodes if type(op := node.op) is Mean]
    for node, op in means:
        refusal = _refusal(node, op.axes, e, strict)
        if refusal is not None:
            code, reason = refusal
            raise ProgramError(f"node {node.id!r} (mean) cannot be expanded: {reason}", code=code)
    if not means:
        return ExpansionResult(program, ())
    known: dict[str, Sums] = {}
    regions: list[MeanExpansionRegion] = []
    for node in program.nodes:
        op = node.op
        if type(op) is Mean:
            sums: Sums = {} if strict else known.setdefault(node.operands[0], {})
            regions.append(_expand(node, op.axes, e, sums))
        else:
            e.nodes.append(node)
    return ExpansionResult(e.result(), tuple(regions))


def _refusal(node: Node, axes: tuple[int, ...], e: Emitter, strict: bool) -> tuple[str, str] | None:
    """Code and reason of the first clause that fails."""
    x = e.type(node.operands[0])
    unsupported = "unsupported_reduction"
    if strict and x.rank != 2:
        return unsupported, f"its operand needs rank 2, got {x}; strict=False takes any rank"
    if 0 in x.shape:
        return unsupported, f"its operand needs positive sizes, got {x}"
    if not is_number(x.size):
        return unsupported, f"its operand needs a number of elements that fits a float, got {x}"
    if strict and len(axes) != x.rank:
        return unsupported, f"it needs all axes of {x}, got {axes}; strict=False takes some"
    if not x.is_float:
        return "dtype_not_differentiable", f"its operand needs a floating dtype, got {x}; cast it first"
    for name in (node.id, node.value):
        if e.reserves(name):
            return unsupported, f"{name!r} stands among the reserved ids; give another reserved_id_prefix"
    return None


def _expand(node: Node, axes: tuple[int, ...], e: Emitter, sums: Sums) -> MeanExpansionRegion:
    """Emit the region of one mean from the largest of the `sums` that are known, and add its own to them."""
    first = len(e.nodes)
    x = node.operands[0]
    shape = e.type(x).shape
    done = max(
        (known for known in sums if known <= set(axes)),
        key=lambda known: prod(shape[a] for a in known),
        default=frozenset[int](),
    )
    total = sums.get(done, x)
    rest = tuple(1 if k in done else n for k, n in enumerate(shape))
    for block in reversed(ones.blocks(rest, tuple(a for a in axes if a not in done))):
        total = ones.add_up(e, total, block)
        done |= frozenset(block.axes)
        sums[done] = total
    ones.scale(e, total, prod(shape[a] for a in axes), node.type.shape, node.value, node.label)
    tier = RANK_PRESERVING if node.type.rank == len(shape) else RANK_REDUCING
    emitted = tuple(n.id for n in e.nodes[first:])
    return MeanExpansionRegion(MEAN_EXPANSION_FORWARD, (node.id,), emitted, node.value, tier)
