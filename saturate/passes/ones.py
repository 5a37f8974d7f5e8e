"""Sums and repetitions along axes as products with constants of ones; it knows no pass.

Reduced axes that stand next to each other are one block. With the axes before it and those behind it
flattened, one product sums a block, and one repeats it:

    side      sum                                             repetition
    right     x[before, size] @ 1[size, 1]                    g[before, 1] @ 1[1, size]
    left      1[1, size] @ x[size, after]                     1[size, 1] @ g[1, after]
    middle    1[before, 1, size] @ x[before, size, after]     1[before, size, 1] @ g[before, 1, after]
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Literal

from saturate.ops.arithmetic import Mul
from saturate.ops.constants import Full
from saturate.ops.contraction import Matmul
from saturate.ops.spreading import Reshape
from saturate.passes.emitter import Emitter

Side = Literal["left", "middle", "right"]


@dataclass(frozen=True)
class Block:
    """Neighbouring axes: the size of all axes before them, their own, and that of the kept axes behind."""

    axes: tuple[int, ...]
    before: int
    size: int
    after: int
    side: Side


def blocks(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Block, ...]:
    """The blocks of `axes` in order; axes of size one need no product.

    Where every axis is reduced and there are two or more, the last is a block of its own: two small
    constants, one for the rows and one for the columns, instead of one as large as the operand.
    """
    last = len(shape) - 1
    if len(axes) == len(shape) >= 2:
        rows = prod(shape[:-1])
        return (
            Block(tuple(range(last)), 1, rows, 1, "left"),
            Block((last,), rows, shape[last], 1, "right"),
        )
    reduced = [k in axes for k in range(len(shape))]
    wide = [k for k, n in enumerate(shape) if n != 1]
    runs = [tuple(run) for is_reduced, run in groupby(wide, key=reduced.__getitem__) if is_reduced]
    return tuple(_block(shape, reduced, run) for run in runs)


def _block(shape: tuple[int, ...], reduced: list[bool], run: tuple[int, ...]) -> Block:
    before = prod(shape[: run[0]])
    after = prod(n for k, n in enumerate(shape) if k > run[-1] and not reduced[k])
    ends = run[-1] == len(shape) - 1
    side: Side = "right" if after == 1 and (ends or before != 1) else "left" if before == 1 else "middle"
    return Block(run, before, prod(shape[k] for k in run), after, side)


def add_up(e: Emitter, x: str, block: Block) -> str:
    """Σ of `x` over one block, all axes before the block still whole and those behind it done."""
    if block.side == "right":
        return e.emit(Matmul(), view(e, x, (block.before, block.size)), ones(e, x, (block.size, 1)))
    if block.side == "left":
        flat = view(e, x, (block.size, block.after))
        return e.emit(Matmul(), ones(e, x, (1, block.size)), flat)
    flat = view(e, x, (block.before, block.size, block.after))
    return e.emit(Matmul(), ones(e, x, (block.before, 1, block.size)), flat)


def repeat(e: Emitter, g: str, block: Block) -> str:
    """`g` repeated along one block, all axes before the block repeated already, those behind it not yet."""
    if block.side == "right":
        flat = view(e, g, (block.before, 1))
        return e.emit(Matmul(), flat, ones(e, g, (1, block.size)))
    if block.side == "left":
        column = ones(e, g, (block.size, 1))
        return e.emit(Matmul(), column, view(e, g, (1, block.after)))
    column = ones(e, g, (block.before, block.size, 1))
    return e.emit(Matmul(), column, view(e, g, (block.before, 1, block.after)))


def ones(e: Emitter, like: str, shape: tuple[int, ...]) -> str:
    """A constant of ones in the dtype of `like`."""
    return e.emit(Full(1.0, shape, e.type(like).dtype))


def view(e: Emitter, x: str, shape: tuple[int, ...]) -> str:
    """`x` under another shape; nothing is emitted where it has the shape already."""
    return x if e.type(x).shape == shape else e.emit(Reshape(shape), x)


def scale(e: Emitter, x: str, count: int, shape: tuple[int, ...], value: str, label: str) -> None:
    """Emit `x` times 1/count under `shape` as the last nodes of a region, and call the result `value`."""
    factor = Mul(right_literal=1.0 / float(count))
    if e.type(x).shape == shape:
        e.emit(factor, x, value=value, label=label)
        return
    e.emit(Reshape(shape), e.emit(factor, x), value=value, label=label)
