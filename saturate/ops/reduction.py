"""Reductions over axes, scans along one, and the positions of extremes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod as product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from saturate.attributes import is_number
from saturate.build import Value, apply
from saturate.errors import ShapeError
from saturate.op import Op, Type, Work
from saturate.ops.arithmetic import div, mul
from saturate.ops.binary import equal
from saturate.ops.spreading import (
    Reduction,
    Sum,
    accumulated_dtype,
    check_axis,
    kept_shape,
    reshape,
    sum,
)
from saturate.ops.structure import concatenate, flip, pad, slice, transpose
from saturate.ops.unary import cast

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed

__all__ = [
    "Argmax",
    "Argmin",
    "Cumsum",
    "Max",
    "Mean",
    "Min",
    "Prod",
    "Sum",
    "argmax",
    "argmin",
    "cumsum",
    "max",
    "mean",
    "min",
    "prod",
    "sum",
]


@dataclass(frozen=True)
class Mean(Reduction):
    """out = Σ x over axes / number of summed elements.

    Integers and booleans are averaged in float64, float16 is summed in float32, as in NumPy. Raises
    `ShapeError` where the number does not fit a float.
    """

    def type(self, *operands: Type) -> Type:
        """The reduced shape, in a floating dtype."""
        result = super().type(*operands)
        if not is_number(product(operands[0].shape[a] for a in self.axes)):
            raise ShapeError(
                f"mean needs a number of elements that fits a float, got {operands[0]}",
                code="unsupported_reduction",
            )
        return result

    def result_dtype(self, x: Type) -> str:
        """float64 unless x is floating."""
        return x.dtype if x.is_float else "float64"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """A reshape where the axes are gone, a broadcast, a division by the literal count: exactly these."""
        (x,) = operands
        return (div(self.spread(g, x), self._count(x.shape)) if x.type.is_float else None,)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """Σ x · (1 / count)."""
        (x,) = operands
        dtype = self.result_dtype(Type(x.shape, x.dtype))
        return t.div(t.reduce("sum", t.cast(dtype, x), self.axes, self.keepdims), self._count(x.shape))

    def work(self, out: Type, *operands: Type) -> Work:
        """The sum's, and one division an element of the result."""
        flops, moved = super().work(out, *operands)
        return Work(flops + out.size, moved)

    def _count(self, shape: tuple[int, ...]) -> float:
        return float(product(shape[a] for a in self.axes))


def mean(x: Value, axes: tuple[int, ...], keepdims: bool = False) -> Value:
    """`Mean`."""
    return apply(Mean(axes, keepdims), x)


@dataclass(frozen=True)
class Extreme(Reduction):
    """The base of Max and Min: no result over no elements; ties share the derivative evenly."""

    ufunc: ClassVar[bool] = True

    def type(self, *operands: Type) -> Type:
        """The reduced shape, the same dtype."""
        kind = super().type(*operands)
        (x,) = operands
        if any(x.shape[a] == 0 for a in self.axes):
            raise ShapeError(f"{self.name} needs at least one element along axes {self.axes}, got {x}")
        return kind

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """g / (number of elements equal to the extreme) at each of them, 0 elsewhere."""
        (x,) = operands
        mask = cast(equal(x, self.spread(out, x)), x.dtype)
        count = sum(mask, self.axes, self.keepdims)
        return (mul(mask, self.spread(div(g, count), x)),)


@dataclass(frozen=True)
class Max(Extreme):
    """out = max x over axes; at ties the derivative is split evenly over the largest.

    Any dtype; NaN wins, as in NumPy. Raises `ShapeError` over no elements.
    """


def max(x: Value, axes: tuple[int, ...], keepdims: bool = False) -> Value:
    """`Max`."""
    return apply(Max(axes, keepdims), x)


@dataclass(frozen=True)
class Min(Extreme):
    """out = min x over axes; at ties the derivative is split evenly over the smallest.

    Any dtype; NaN wins, as in NumPy. Raises `ShapeError` over no elements.
    """


def min(x: Value, axes: tuple[int, ...], keepdims: bool = False) -> Value:
    """`Min`."""
    return apply(Min(axes, keepdims), x)


@dataclass(frozen=True)
class Prod(Reduction):
    """out = Π x over axes.

    Any dtype; booleans and narrow integers are multiplied in the platform's integer, as in NumPy. The
    derivative is a polynomial of the operand, so it is right to every order with any number of zeros.
    """

    ufunc: ClassVar[bool] = True

    def result_dtype(self, x: Type) -> str:
        """NumPy's accumulator."""
        return accumulated_dtype("multiply", x.dtype)

    def text(self, *operands: str) -> str:
        """`np.multiply.reduce(x, axis=(1,), keepdims=True)`."""
        return f"np.multiply.reduce({operands[0]}, axis={self.axes}, keepdims={self.keepdims})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """g times the product of the other elements, from a tree of products, without division.

        The reduced axes become one last axis, padded with ones to a power of two; `_products_of_others`
        does the rest in 2·log₂ n levels and O(n) multiplications.
        """
        (x,) = operands
        spread = self.spread(g, x)
        count = product(x.shape[a] for a in self.axes)
        if count < 2:
            return (spread,)
        kept = tuple(k for k in range(len(x.shape)) if k not in self.axes)
        moved = transpose(x, kept + self.axes)
        flat = reshape(moved, (*(x.shape[k] for k in kept), count))
        none = (0,) * len(kept)
        size = 1 << (count - 1).bit_length()
        full = pad(flat, (*none, 0), (*none, size - count), fill=1.0) if size > count else flat
        others = _products_of_others(full)
        if size > count:
            others = slice(others, (*none, 0), flat.shape)
        order = sorted(range(len(x.shape)), key=(kept + self.axes).__getitem__)
        return (mul(spread, transpose(reshape(others, moved.shape), tuple(order))),)


def _products_of_others(x: Value) -> Value:
    """For each element along the last axis, whose size is a power of two ≥ 2, the product of all others.

    With halves a and b, and e the same for a·b: the others of an element of a are its partner in b and what
    e has there.
    """
    *lead, size = x.shape
    half, none = size // 2, (0,) * len(lead)
    a = slice(x, (*none, 0), (*lead, half))
    b = slice(x, (*none, half), (*lead, size))
    if half == 1:
        return concatenate((b, a), len(lead))
    e = _products_of_others(mul(a, b))
    return concatenate((mul(e, b), mul(e, a)), len(lead))


def prod(x: Value, axes: tuple[int, ...], keepdims: bool = False) -> Value:
    """`Prod`."""
    return apply(Prod(axes, keepdims), x)


@dataclass(frozen=True)
class Position(Op):
    """The base of Argmax and Argmin: an index along one axis, the first at ties; nothing flows through it."""

    axis: int
    keepdims: bool

    def type(self, *operands: Type) -> Type:
        """The shape without the axis, or with size 1 there; NumPy's index dtype."""
        (x,) = operands
        axis = check_axis(self.name, self.axis, x)
        if x.shape[axis] == 0:
            raise ShapeError(f"{self.name} needs at least one element along axis {axis}, got {x}")
        kept = kept_shape(x.shape, (axis,))
        return Type(kept if self.keepdims else kept[:axis] + kept[axis + 1 :], np.dtype(np.intp).name)

    def text(self, *operands: str) -> str:
        """`x.argmax(axis=1, keepdims=True)`."""
        return f"{operands[0]}.{self.name}(axis={self.axis}, keepdims={self.keepdims})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """No cotangent: the result is an integer."""
        return (None,)

    def work(self, out: Type, *operands: Type) -> Work:
        """One comparison an element of the operand."""
        (x,) = operands
        return Work(float(x.size), float(x.nbytes + out.nbytes))


@dataclass(frozen=True)
class Argmax(Position):
    """out = the first index along axis at which x is largest.

    Any dtype; the result is NumPy's index dtype. Raises `ShapeError` over no elements.
    """


def argmax(x: Value, axis: int, keepdims: bool = False) -> Value:
    """`Argmax`."""
    return apply(Argmax(axis, keepdims), x)


@dataclass(frozen=True)
class Argmin(Position):
    """out = the first index along axis at which x is smallest.

    Any dtype; the result is NumPy's index dtype. Raises `ShapeError` over no elements.
    """


def argmin(x: Value, axis: int, keepdims: bool = False) -> Value:
    """`Argmin`."""
    return apply(Argmin(axis, keepdims), x)


@dataclass(frozen=True)
class Cumsum(Op):
    """out[i] = Σ over k ≤ i of x[k], along axis.

    Any dtype; booleans and narrow integers are summed in the platform's integer, as in NumPy.
    """

    axis: int

    def type(self, *operands: Type) -> Type:
        """The operand's shape; the dtype of NumPy's accumulator."""
        (x,) = operands
        check_axis(self.name, self.axis, x)
        return Type(x.shape, accumulated_dtype("add", x.dtype))

    def text(self, *operands: str) -> str:
        """`np.add.accumulate(x, axis=1)`."""
        return f"np.add.accumulate({operands[0]}, axis={self.axis})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent summed up from the other end."""
        axes = (self.axis,)
        return (flip(cumsum(flip(g, axes), self.axis), axes),)


def cumsum(x: Value, axis: int) -> Value:
    """`Cumsum`."""
    return apply(Cumsum(axis), x)
