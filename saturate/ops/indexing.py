"""Gathering by integer arrays, with its transpose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from saturate.build import Value, apply
from saturate.errors import ShapeError
from saturate.op import Op, Type, Work
from saturate.ops.spreading import check_axis


def _check_indices(who: str, indices: Type) -> None:
    if np.dtype(indices.dtype).kind not in "iu":
        raise ShapeError(f"{who} needs integer indices as its second operand, got {indices}")


@dataclass(frozen=True)
class Take(Op):
    """out[…, j…, …] = x[…, indices[j…], …]: the axis of x is replaced by the axes of indices.

    Operands (x, indices): x of any dtype, indices of any integer dtype; negative ones count from the end.
    NumPy raises IndexError for others out of range when the program runs. Raises `ShapeError` for an axis
    that x lacks.
    """

    operands: ClassVar[int | None] = 2
    axis: int

    def type(self, *operands: Type) -> Type:
        """x's shape with the indices' shape in place of the axis; x's dtype."""
        x, indices = operands
        axis = check_axis(self.name, self.axis, x)
        _check_indices(self.name, indices)
        if x.shape[axis] == 0 and indices.size:
            raise ShapeError(f"take needs a non-empty axis {axis} to take from, got {x}")
        return Type(x.shape[:axis] + indices.shape + x.shape[axis + 1 :], x.dtype)

    def text(self, *operands: str) -> str:
        """`np.take(x, indices, axis=1)`."""
        return f"np.take({operands[0]}, {operands[1]}, axis={self.axis})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent added up at the indices; none for the indices."""
        x, indices = operands
        return scatter_add(g, indices, self.axis, x.shape[self.axis]), None

    def work(self, out: Type, *operands: Type) -> Work:
        """What is taken is read and written; the rest of x is not touched."""
        return Work(0.0, float(2 * out.nbytes + operands[1].nbytes))


def take(x: Value, indices: Value, axis: int) -> Value:
    """`Take`."""
    return apply(Take(axis), x, indices)


@dataclass(frozen=True)
class ScatterAdd(Op):
    """out[…, k, …] = Σ g[…, j…, …] over the j with indices[j…] = k: the transpose of Take.

    Operands (g, indices): g holds the axes of indices from `axis` on, out holds one axis of `size` in their
    place. Indices that come twice add up. Raises `ShapeError` where g lacks those axes.
    """

    operands: ClassVar[int | None] = 2
    helper: ClassVar[str] = """\
def scatter_add(g, indices, axis, size):
    out = np.zeros(g.shape[:axis] + (size,) + g.shape[axis + indices.ndim :], g.dtype)
    np.add.at(out, (slice(None),) * axis + (indices,), g)
    return out
"""
    axis: int
    size: int

    def type(self, *operands: Type) -> Type:
        """g's shape with `size` in place of the indices' axes; g's dtype."""
        g, indices = operands
        _check_indices(self.name, indices)
        end = self.axis + indices.rank
        if self.axis < 0 or self.size < 0 or g.shape[self.axis : end] != indices.shape or end > g.rank:
            raise ShapeError(
                f"scatter_add needs a first operand with the axes {indices.shape} of the indices from axis "
                f"{self.axis} on and a size >= 0; got {g} and size {self.size}"
            )
        return Type((*g.shape[: self.axis], self.size, *g.shape[end:]), g.dtype)

    def text(self, *operands: str) -> str:
        """`scatter_add(g, indices, 1, 5)`; `helper` defines `scatter_add`."""
        return f"scatter_add({operands[0]}, {operands[1]}, {self.axis}, {self.size})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent taken at the indices; none for the indices."""
        return take(g, operands[1], self.axis), None

    def work(self, out: Type, *operands: Type) -> Work:
        """One addition an element of g, which reads and writes its place again."""
        g, indices = operands
        return Work(float(g.size), float(out.nbytes + 3 * g.nbytes + indices.nbytes))


def scatter_add(g: Value, indices: Value, axis: int, size: int) -> Value:
    """`ScatterAdd`."""
    return apply(ScatterAdd(axis, size), g, indices)
