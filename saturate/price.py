"""What a program costs under a profile, node by node: the price that the report shows and that optimizing
lowers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from saturate.extract.costs import COSTS, Pass, Profile
from saturate.op import Op, Type
from saturate.ops import CONTRACTION, INDEXING, REDUCTION
from saturate.ops.constants import Constant, Eye, Full
from saturate.ops.contraction import Einsum, Matmul
from saturate.ops.structure import Broadcast
from saturate.program import Node, Program


@dataclass(frozen=True)
class Priced:
    """A node with its price and what it moves and computes."""

    node: Node
    step: Pass
    cost: float


@dataclass(frozen=True)
class ProgramPrice:
    """The prices of all nodes that are not views, and their totals."""

    nodes: tuple[Priced, ...]
    cost: float
    flops: float
    bytes: int

    @property
    def passes(self) -> int:
        """Number of steps that touch memory."""
        return len(self.nodes)


def price_program(program: Program, profile: Profile | None = None, model: str = "roofline") -> ProgramPrice:
    """The price of running every node once; a broadcast operand is read at its own size."""
    profile = profile or Profile()
    base: dict[str, int] = {i.value: i.type.size for i in program.inputs}
    found: list[Priced] = []
    for node in program.nodes:
        reads = [base[v] for v in node.operands]
        view = node.op.view or isinstance(node.op, Broadcast)
        base[node.value] = reads[0] if view and node.operands else node.type.size
        step = pass_of(node.op, node.type, [program.types[v] for v in node.operands], reads)
        if step.kind != "view":
            found.append(Priced(node, step, COSTS[model](step, profile)))
    return ProgramPrice(
        tuple(found),
        sum(p.cost for p in found),
        sum(p.step.flops for p in found),
        sum(p.step.bytes for p in found),
    )


def pass_of(op: Op, made: Type, operands: Sequence[Type], reads: Sequence[int]) -> Pass:
    """An op as a pass over memory; `reads` counts the elements that each operand holds in memory."""
    out = made.size
    itemsize = np.dtype(made.dtype).itemsize
    if op.view or isinstance(op, Broadcast | Constant | Full | Eye):
        return Pass("view", 0, 0, itemsize, 0.0)
    flops = op.work(made, *operands).flops
    if isinstance(op, Matmul):
        batch = prod(made.shape[:-2])
        vector = made.shape[-1] == 1 and made.shape[-2] == 1
        return Pass("dot", out, sum(reads), itemsize, flops, 0 if vector else batch)
    if isinstance(op, Einsum) and _is_dot(op):
        return Pass("dot", out, sum(reads), itemsize, flops)
    if isinstance(op, Einsum):
        return Pass("reduce", out, sum(reads), itemsize, flops)
    if type(op) in CONTRACTION:
        return Pass("dot", out, sum(reads), itemsize, flops)
    if type(op) in REDUCTION:
        return Pass("reduce", out, sum(reads), itemsize, flops)
    if type(op) in INDEXING:
        return Pass("elementwise", out, min(sum(reads), 2 * out), itemsize, flops)
    return Pass("elementwise", out, sum(reads), itemsize, flops)


def _is_dot(op: Einsum) -> bool:
    """Whether the op sums a product of two arrays that have the same labels: one pass, as `vecdot`."""
    inputs = op.spec.partition("->")[0].split(",")
    return len(inputs) == 2 and set(inputs[0]) == set(inputs[1])
