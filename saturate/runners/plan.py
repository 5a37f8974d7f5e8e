"""Buffers for the values of a program: which value is written where, from liveness; it computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saturate.op import AnyArray

SMALL = 4096
"""Values of fewer bytes are left to NumPy, whose own cache of small blocks is as fast as a buffer."""


@dataclass(frozen=True)
class Layout:
    """Shape, dtype and strides of an array."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    strides: tuple[int, ...]

    @classmethod
    def of(cls, array: AnyArray) -> Layout:
        """The layout of an array."""
        return cls(array.shape, array.dtype, array.strides)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def dense(self) -> bool:
        """Whether the elements fill `nbytes` bytes from the first one on."""
        expected = self.dtype.itemsize
        axes = (k for k, n in enumerate(self.shape) if n != 1)
        for k in sorted(axes, key=lambda k: self.strides[k]):
            if self.strides[k] != expected:
                return False
            expected *= self.shape[k]
        return True

    def over(self, memory: AnyArray) -> AnyArray:
        """An array of this layout over the first bytes of a block."""
        return np.ndarray(self.shape, self.dtype, memory.data, 0, self.strides)


@dataclass(frozen=True)
class Statement:
    """One value as the planner sees it.

    `direct` are the operands that the op reads as they are, `viewed` those that it reads through views;
    `shares` those among both whose memory the result shares (a view). `writable`: the op can write its
    result into an array of `layout`. `elementwise`: also over an operand of the same layout. `frozen`: a
    read-only view.
    """

    value: str
    layout: Layout
    direct: tuple[str, ...] = ()
    viewed: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    writable: bool = False
    elementwise: bool = False
    frozen: bool = False

    @property
    def reads(self) -> tuple[str, ...]:
        """All values that the op reads."""
        return self.direct + self.viewed

    @property
    def large(self) -> bool:
        """Whether writing the result into given memory is possible and worth it."""
        return self.writable and self.layout.dense and self.layout.nbytes >= SMALL


@dataclass(frozen=True)
class Plan:
    """Where each value is written: `slot` by value (a buffer), `over` by value (a dying operand's memory).

    `layouts` are those of the values in slots, `sizes` the bytes of each slot. A value in neither map is an
    array of its own. The results at the places in `copied` are inputs, views or repeats, so they must be
    copied.
    """

    slot: dict[str, int]
    over: dict[str, str]
    layouts: dict[str, Layout]
    sizes: tuple[int, ...]
    copied: frozenset[int]

    @property
    def nbytes(self) -> int:
        """Bytes that the buffers of one thread hold between calls."""
        return sum(self.sizes)

    def allocate(self) -> list[AnyArray]:
        """New buffers: one array for each value in `slot`, in order; those in one slot share memory."""
        memory = [np.empty(size, np.uint8) for size in self.sizes]
        return [self.layouts[value].over(memory[k]) for value, k in self.slot.items()]


def plan(
    inputs: Sequence[str], statements: Sequence[Statement], results: Sequence[str], reuse: bool = True
) -> Plan:
    """The plan for statements in order; without `reuse` each value is an array of its own.

    Inputs are never written to, and no result shares memory with a buffer, an input or another result.
    """
    planner = _Planner(frozenset(inputs), statements, results)
    if reuse:
        for k, statement in enumerate(statements):
            planner.place(k, statement)
    layouts = {v: planner.layouts[v] for v in planner.slot}
    return Plan(planner.slot, planner.over, layouts, tuple(planner.sizes), planner.copied())


@dataclass
class _Planner:
    inputs: frozenset[str]
    statements: Sequence[Statement]
    results: Sequence[str]
    slot: dict[str, int] = field(default_factory=dict[str, int])
    over: dict[str, str] = field(default_factory=dict[str, str])
    sizes: list[int] = field(default_factory=list[int])
    free: list[int] = field(default_factory=list[int])
    held: dict[str, int] = field(default_factory=dict[str, int])
    """The slot that a value which is no view lies in, until another value takes it over."""

    def __post_init__(self) -> None:
        self.layouts = {s.value: s.layout for s in self.statements}
        self.roots = {v: frozenset({v}) for v in self.inputs}
        self.last: dict[str, int] = {}
        for k, s in enumerate(self.statements):
            shared = frozenset(r for v in s.shares for r in self.roots[v])
            self.roots[s.value] = shared or frozenset({s.value})
            for value in (*s.reads, s.value):
                self.last.update(dict.fromkeys(self.roots[value], k))
        self.kept = {r for v in self.results for r in self.roots[v]}
        self.last.update(dict.fromkeys(self.kept, len(self.statements)))

    def place(self, k: int, s: Statement) -> None:
        """Choose the memory of the k-th statement's result, then free the slots that nothing reads later."""
        if s.large and not s.shares:
            operand = self._dying(k, s) if s.elementwise else None
            if operand is not None:
                self.over[s.value] = operand
                if operand in self.held:
                    self.held[s.value] = self.held.pop(operand)
            elif s.value not in self.kept:
                self.held[s.value] = self.slot[s.value] = self._take(s.layout.nbytes)
        for root in sorted({r for v in (*s.reads, s.value) for r in self.roots[v]}):
            if self.last[root] == k and root in self.held:
                self.free.append(self.held.pop(root))

    def _dying(self, k: int, s: Statement) -> str | None:
        """An operand that nothing reads later, of the same layout, and that the op reads in no other way."""
        for operand in s.direct:
            owned = self.roots[operand] == frozenset({operand}) and operand not in self.inputs
            if not owned or self.last[operand] != k or self.layouts[operand] != s.layout:
                continue
            others = {v for v in s.direct if v != operand} | set(s.viewed)
            if any(operand in self.roots[v] for v in others):
                continue
            if not (s.value in self.kept and operand in self.held):
                return operand
        return None

    def _take(self, nbytes: int) -> int:
        """The free slot that fits best, else the largest one, grown, else a new one."""
        fitting = [k for k in self.free if self.sizes[k] >= nbytes]
        if fitting:
            found = min(fitting, key=lambda k: (self.sizes[k], k))
        elif self.free:
            found = max(self.free, key=lambda k: (self.sizes[k], -k))
            self.sizes[found] = nbytes
        else:
            self.sizes.append(nbytes)
            return len(self.sizes) - 1
        self.free.remove(found)
        return found

    def copied(self) -> frozenset[int]:
        """The places of results that would share memory with something else."""
        found: set[int] = set()
        seen: set[str] = set()
        frozen = {s.value for s in self.statements if s.frozen}
        for k, value in enumerate(self.results):
            roots = self.roots[value]
            whole = len(roots) == 1 and all(
                r not in self.inputs and self.layouts[r].nbytes == self.layouts[value].nbytes for r in roots
            )
            if not whole or value in frozen or roots & seen:
                found.add(k)
            seen |= roots
        return frozenset(found)
