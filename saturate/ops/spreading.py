"""Reshape, Broadcast and Sum: the ops whose derivatives are made of one another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from saturate.build import Value, apply
from saturate.errors import ShapeError
from saturate.op import Op, Type, Work
from saturate.ops.elementwise import is_float

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed


def check_shape(who: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` where its sizes are non-negative; raises `ShapeError` (`missing_shape_metadata`)."""
    if any(n < 0 for n in shape):
        raise ShapeError(
            f"{who} needs a shape of non-negative sizes, got {shape}", code="missing_shape_metadata"
        )
    return shape


def check_axes(who: str, axes: tuple[int, ...], x: Type) -> tuple[int, ...]:
    """`axes` where they are sorted, distinct axes of `x`; raises `ShapeError`."""
    if list(axes) != sorted(set(axes)) or not all(0 <= a < x.rank for a in axes):
        raise ShapeError(
            f"{who} needs sorted, distinct axes of its operand, got {axes} and {x}",
            code="reduction_shape_mismatch",
        )
    return axes


def check_axis(who: str, axis: int, x: Type) -> int:
    """`axis` where it is an axis of `x`; raises `ShapeError`."""
    if not 0 <= axis < x.rank:
        raise ShapeError(
            f"{who} needs an axis of its operand, got axis {axis} and {x}", code="reduction_shape_mismatch"
        )
    return axis


def kept_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """`shape` with size 1 on each of `axes`."""
    return tuple(1 if k in axes else n for k, n in enumerate(shape))


@dataclass(frozen=True)
class Reshape(Op):
    """out = the elements of x, in row-major order, under another shape.

    Any dtype. Raises `ShapeError` where the number of elements would change.
    """

    view: ClassVar[bool] = True
    shape: tuple[int, ...]

    def type(self, *operands: Type) -> Type:
        """The new shape, the same dtype."""
        (x,) = operands
        if prod(check_shape(self.name, self.shape)) != x.size:
            raise ShapeError(
                f"reshape needs a shape of {x.size} elements for {x}, got {self.shape} of {prod(self.shape)}"
            )
        return Type(self.shape, x.dtype)

    def text(self, *operands: str) -> str:
        """`x.reshape(3, 5)`."""
        (x,) = operands
        return f"{x}.reshape({', '.join(map(str, self.shape)) or '()'})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent in the operand's shape."""
        return (reshape(g, operands[0].shape),)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A view where only axes of size one come or go, else opaque."""
        (x,) = operands
        old = [k for k, n in enumerate(x.shape) if n != 1]
        new = [k for k, n in enumerate(self.shape) if n != 1]
        if [x.shape[k] for k in old] != [self.shape[k] for k in new]:
            return None
        source = dict(zip(new, old, strict=True))
        return t.view(x, tuple(source.get(k) for k in range(len(self.shape))), self.shape)


def reshape(x: Value, shape: tuple[int, ...]) -> Value:
    """`Reshape`; `x` itself where it has the shape already."""
    return x if x.shape == shape else apply(Reshape(shape), x)


@dataclass(frozen=True)
class Broadcast(Op):
    """out[…, i, j] = x[i, 0]: axes of size one repeat, and new leading axes appear.

    Any dtype. Raises `ShapeError` where NumPy's rule does not allow it.
    """

    view: ClassVar[bool] = True
    shape: tuple[int, ...]

    def type(self, *operands: Type) -> Type:
        """The new shape, the same dtype."""
        (x,) = operands
        shape = check_shape(self.name, self.shape)
        lead = len(shape) - x.rank
        if lead < 0 or any(n not in (1, m) for n, m in zip(x.shape, shape[lead:], strict=True)):
            raise ShapeError(
                f"broadcast needs an operand whose axes, counted from the last, have size 1 or the size in "
                f"{shape}; got {x}"
            )
        return Type(shape, x.dtype)

    def text(self, *operands: str) -> str:
        """`np.broadcast_to(x, (3, 5))`."""
        (x,) = operands
        return f"np.broadcast_to({x}, {self.shape})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """Σ of the cotangent over the axes that repeat."""
        shape = operands[0].shape
        lead = len(self.shape) - len(shape)
        stretched = tuple(lead + k for k, n in enumerate(shape) if n != self.shape[lead + k])
        axes = (*range(lead), *stretched)
        return (reshape(sum(g, axes, keepdims=lead == 0), shape) if axes else g,)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A view with new axes."""
        (x,) = operands
        lead = len(self.shape) - len(x.shape)
        kept = tuple(k if n == self.shape[lead + k] else None for k, n in enumerate(x.shape))
        return t.view(x, (None,) * lead + kept, self.shape)


def broadcast(x: Value, shape: tuple[int, ...]) -> Value:
    """`Broadcast`, emitted even where the shape is the operand's already."""
    return apply(Broadcast(shape), x)


@dataclass(frozen=True)
class Reduction(Op):
    """out = one number for each position on the axes that are not in `axes`; the base of the reductions.

    `axes` are sorted and distinct; with `keepdims` they stay with size 1, else they go.
    """

    codes: ClassVar[Mapping[str, str]] = {
        "operands": "unsupported_reduction",
        "attribute": "unsupported_reduction",
        "type": "reduction_shape_mismatch",
    }
    axes: tuple[int, ...]
    keepdims: bool

    def check_operands(self, operands: tuple[Type, ...]) -> None:
        """Raise `ShapeError` unless there is one operand that has the axes; `keepdims` is checked later."""
        super().check_operands(operands)
        axes: Any = self.axes
        if isinstance(axes, tuple) and all(type(a) is int for a in axes):
            check_axes(self.name, axes, operands[0])

    def type(self, *operands: Type) -> Type:
        """The reduced shape; the dtype is `result_dtype`."""
        (x,) = operands
        axes = check_axes(self.name, self.axes, x)
        if self.keepdims:
            return Type(kept_shape(x.shape, axes), self.result_dtype(x))
        return Type(tuple(n for k, n in enumerate(x.shape) if k not in axes), self.result_dtype(x))

    def result_dtype(self, x: Type) -> str:
        """Dtype of the result for an operand of type `x`."""
        return x.dtype

    def text(self, *operands: str) -> str:
        """`x.max(axis=(1,), keepdims=True)`; methods, since CuPy has no `maximum.reduce`."""
        return f"{operands[0]}.{self.name}(axis={self.axes}, keepdims={self.keepdims})"

    def into(self, out: str, *operands: str) -> str:
        """`text` as a call that writes its result into the array `out`; for reductions that are a `ufunc`."""
        return f"{self.text(*operands)[:-1]}, out={out})"

    def work(self, out: Type, *operands: Type) -> Work:
        """One operation an element of the operand."""
        (x,) = operands
        return Work(float(x.size), float(x.nbytes + out.nbytes))

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A reduction of the algebra for floats; opaque for integers, which are no ring here."""
        (x,) = operands
        return t.reduce(self.name, x, self.axes, self.keepdims) if is_float(x) else None

    def spread(self, y: Value, x: Value) -> Value:
        """`y`, shaped as the result, repeated to the shape of `x`."""
        return broadcast(reshape(y, kept_shape(x.shape, self.axes)), x.shape)


@lru_cache
def accumulated_dtype(ufunc: str, dtype: str) -> str:
    """Dtype of `ufunc.reduce`: NumPy widens booleans and narrow integers to the platform's."""
    return str(getattr(np, ufunc).reduce(np.ones(1, dtype)).dtype)


@dataclass(frozen=True)
class Sum(Reduction):
    """out = Σ x over axes.

    Any dtype; booleans and narrow integers are summed in the platform's integer, as in NumPy.
    """

    ufunc: ClassVar[bool] = True

    def result_dtype(self, x: Type) -> str:
        """NumPy's accumulator."""
        return accumulated_dtype("add", x.dtype)

    def text(self, *operands: str) -> str:
        """`np.add.reduce(x, axis=(1,), keepdims=True)`."""
        return f"np.add.reduce({operands[0]}, axis={self.axes}, keepdims={self.keepdims})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent, repeated along the axes."""
        return (self.spread(g, operands[0]),)


def sum(x: Value, axes: tuple[int, ...], keepdims: bool = False) -> Value:
    """`Sum`."""
    return apply(Sum(axes, keepdims), x)
