"""The steps that compute a program: runner and source are printed from them, so they agree bit for bit."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saturate.op import Op
from saturate.ops.constants import Constant, Full
from saturate.ops.contraction import Matmul
from saturate.ops.elementwise import Elementwise
from saturate.ops.spreading import Broadcast, Reshape
from saturate.ops.structure import Transpose
from saturate.program import Node, Program
from saturate.runners.expressions import (
    expression,
    indexed,
    name,
    names,
    number,
    reads,
    substitute,
)

INLINED_OPS = 3
"""So many ops may stand in one printed expression; views of size-one axes and transposes count as none."""
INLINED_READS = 5
"""So many values may be read by one printed expression."""


@dataclass(frozen=True)
class Step:
    """One value: the node's own expression, and the whole one that source prints.

    `own` is the op over the operands, where views of a few characters (`m[:, None]`, `x.T`) and broadcasts
    that NumPy does itself are already part of an operand. In `whole` also the values that only this step
    reads, and that have no name of the user's, stand as expressions; `inner` are those values. A step that
    is such a value of another one is not `printed`.
    """

    node: Node
    operands: tuple[ast.expr, ...]
    own: ast.expr
    whole: ast.expr
    inner: tuple[str, ...]
    printed: bool

    @property
    def value(self) -> str:
        """The value that the step defines."""
        return self.node.value


@dataclass(frozen=True)
class Steps:
    """The steps in order, the captured arrays that they read, and what they need from outside."""

    steps: tuple[Step, ...]
    captured: tuple[Node, ...]
    helpers: tuple[str, ...]
    special: bool

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of the helper functions."""
        lines = (line for helper in self.helpers for line in helper.splitlines())
        return tuple(line[4 : line.index("(")] for line in lines if line.startswith("def "))


def steps(program: Program) -> Steps:
    """The steps that compute the results of a program; what no result needs is left out."""
    writer = _Writer(program)
    for node in program.nodes:
        writer.write(node)
    needed = writer.needed()
    nodes = [n for n in program.nodes if n.value in needed]
    whole = writer.inline([n for n in nodes if not isinstance(n.op, Constant)])
    captured = tuple(n for n in nodes if isinstance(n.op, Constant))
    used = [s.node.op.helper for s in whole if s.node.op.helper]
    special = any("special" in names(s.own) for s in whole)
    return Steps(whole, captured, tuple(dict.fromkeys(used)), special)


@dataclass
class _Writer:
    program: Program
    own: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    operands: dict[str, tuple[ast.expr, ...]] = field(default_factory=dict[str, tuple[ast.expr, ...]])
    hidden: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.types = self.program.types
        self.results = set(self.program.results)
        self.producer = self.program.producer

    def write(self, node: Node) -> None:
        """Note the node's own expression, and whether it is a view so short that every reader repeats it."""
        operands = self._operands(node)
        self.operands[node.value] = operands
        self.own[node.value] = self._twice(node) or expression(node, self.types, operands)
        if self._short(node) and node.value not in self.results and not node.label:
            self.hidden.add(node.value)

    def needed(self) -> set[str]:
        """The values that results are made of, without inputs and without hidden views."""
        found: set[str] = set()
        stack = [v for v in self.program.results if v in self.own]
        while stack:
            value = stack.pop()
            if value not in found:
                found.add(value)
                stack.extend(v for v in reads(self.own[value]) if v in self.own)
        return found

    def inline(self, nodes: list[Node]) -> tuple[Step, ...]:
        """The steps of these nodes; a value that one step alone reads stands there if it stays short."""
        uses = Counter(v for n in nodes for v in reads(self.own[n.value]))
        single = {
            n.value for n in nodes if uses[n.value] == 1 and n.value not in self.results and not n.label
        }
        whole: dict[str, ast.expr] = {}
        inner: dict[str, tuple[str, ...]] = {}
        ops: dict[str, int] = {}
        for node in nodes:
            value = node.value
            expr, count = self.own[value], int(not self._short(node))
            within: tuple[str, ...] = ()
            for operand in dict.fromkeys(reads(expr)):
                if operand in single and self._fits(expr, operand, whole, count + ops[operand]):
                    expr = substitute(expr, {operand: whole[operand]})
                    within, count = (*within, *inner[operand], operand), count + ops[operand]
            whole[value], inner[value], ops[value] = expr, within, count
        placed = {v for found in inner.values() for v in found}
        return tuple(self._step(n, whole[n.value], inner[n.value], placed) for n in nodes)

    def _fits(self, expr: ast.expr, operand: str, whole: Mapping[str, ast.expr], ops: int) -> bool:
        read = len(list(reads(expr))) - 1 + len(list(reads(whole[operand])))
        return ops <= INLINED_OPS and read <= INLINED_READS

    def _step(self, node: Node, whole: ast.expr, inner: tuple[str, ...], placed: set[str]) -> Step:
        value = node.value
        return Step(node, self.operands[value], self.own[value], whole, inner, value not in placed)

    def _short(self, node: Node) -> bool:
        if isinstance(node.op, Reshape):
            old = self.types[node.operands[0]].shape
            return bool(old and node.op.shape) and indexed(old, node.op.shape) is not None
        return isinstance(node.op, Transpose) and ".transpose(" not in ast.unparse(self.own[node.value])

    def _read(self, value: str) -> ast.expr:
        return self.own[value] if value in self.hidden else name(value)

    def _twice(self, node: Node) -> ast.expr | None:
        """What a transpose of a transpose reads, where the two cancel."""
        inner = self.producer.get(node.operands[0]) if node.operands else None
        if inner is None or inner.value not in self.hidden:
            return None
        outer, within = node.op, inner.op
        if not isinstance(outer, Transpose) or not isinstance(within, Transpose):
            return None
        undone = all(within.permutation[k] == j for j, k in enumerate(outer.permutation))
        return self._read(inner.operands[0]) if undone else None

    def _operands(self, node: Node) -> tuple[ast.expr, ...]:
        """The operands, and in place of a broadcast or a constant fill what NumPy broadcasts itself."""
        plain = tuple(self._read(v) for v in node.operands)
        kept = 0 if isinstance(node.op, Elementwise) else 2 if isinstance(node.op, Matmul) else None
        if kept is None or len(plain) < 2:
            return plain
        shapes = [self.types[v].shape for v in node.operands]
        chosen = list(plain)
        for k in range(len(plain)):
            free = self._literal(node, k, chosen) if kept == 0 and _weak(node.op) else None
            free = free or self._unbroadcast(node.operands[k], kept)
            if free and _covers([*shapes[:k], free[1], *shapes[k + 1 :]], node.type.shape, kept):
                chosen[k], shapes[k] = free
        return tuple(chosen)

    def _literal(self, node: Node, k: int, chosen: list[ast.expr]) -> tuple[ast.expr, tuple[int, ...]] | None:
        """A fill as a weak literal, where an array of the same dtype stands beside it."""
        value = node.operands[k]
        made = self.producer.get(value)
        while made is not None and isinstance(made.op, Broadcast | Reshape):
            made = self.producer.get(made.operands[0])
        beside = any(
            self.types[v].dtype == self.types[value].dtype and next(reads(x), None) is not None
            for j, (v, x) in enumerate(zip(node.operands, chosen, strict=True))
            if j != k
        )
        if made is None or not isinstance(made.op, Full) or not beside:
            return None
        kinds: dict[str, type[Any]] = {"f": float, "b": bool}
        return number(kinds.get(np.dtype(made.type.dtype).kind, int)(made.op.fill)), ()

    def _unbroadcast(self, value: str, kept: int) -> tuple[ast.expr, tuple[int, ...]] | None:
        """The operand of a broadcast that leaves the last `kept` axes alone, without leading ones."""
        made = self.producer.get(value)
        if made is None or not isinstance(made.op, Broadcast):
            return None
        source = made.operands[0]
        shape = self.types[source].shape
        if len(shape) < kept or shape[len(shape) - kept :] != made.type.shape[made.type.rank - kept :]:
            return None
        inner = self.producer.get(source)
        if source in self.hidden and inner is not None and isinstance(inner.op, Reshape):
            bare = self.types[inner.operands[0]].shape
            if len(bare) >= kept and shape == (1,) * (len(shape) - len(bare)) + bare:
                return self._read(inner.operands[0]), bare
        return self._read(source), shape


def _weak(op: Op) -> bool:
    """Whether a literal beside an array never changes the dtype: so in NumPy, not in every SciPy."""
    return isinstance(op, Elementwise) and op.function.startswith("np.")


def _covers(shapes: list[tuple[int, ...]], result: tuple[int, ...], kept: int) -> bool:
    """Whether NumPy broadcasts all but the last `kept` axes of these shapes to those of the result."""
    heads = [s[: len(s) - kept] for s in shapes]
    return np.broadcast_shapes(*heads) == result[: len(result) - kept]
