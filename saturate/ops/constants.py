"""The ops without operands: arrays captured by a function, and arrays that are generated."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from saturate.errors import ShapeError
from saturate.op import Array, Op, Type, literal

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed

SHOWN = 64
"""Arrays of up to this many elements stand in text and source as literals, larger ones by their digest."""


@dataclass(frozen=True)
class Constant(Op):
    """An array that the user's function captured, copied when it was traced."""

    operands: ClassVar[int | None] = 0
    flops: ClassVar[float] = 0.0
    array: Array

    def type(self, *operands: Type) -> Type:
        """Shape and dtype of the array."""
        return Type(self.array.value.shape, self.array.value.dtype.name)

    def text(self, *operands: str) -> str:
        """`np.array([...], dtype="float32")`, or `constants["<digest>"]` where the array is large."""
        value = self.array.value
        if is_saved(self.array):
            return f'constants["{self.array.digest}"]'
        if value.size == 0:
            return f'np.zeros({value.shape}, dtype="{value.dtype.name}")'
        return f'np.array({nested(numbers(self.array))}, dtype="{value.dtype.name}")'

    def evaluate(self, xp: ModuleType, *arrays: Any) -> Any:
        """The array, read-only on NumPy."""
        return xp.asarray(self.array.value)


def is_saved(array: Array) -> bool:
    """Whether the array is too large to be shown, or has no exact literals, and is kept in a file."""
    value = array.value
    return value.size > SHOWN or Array(np.array(numbers(array), value.dtype).reshape(value.shape)) != array


def numbers(array: Array) -> Any:
    """The array as nested lists of Python numbers, floats as short as their dtype lets them be."""
    value = array.value
    short = [_short(x) for x in value.ravel()] if value.dtype.kind == "f" else value.ravel().tolist()
    return np.array(short, object).reshape(value.shape).tolist()


def _short(x: Any) -> float:
    printed = float(str(x))
    return printed if np.isnan(x) or type(x)(printed) == x else float(x)


def nested(value: Any) -> str:
    """Nested lists of numbers as Python text over `np`."""
    return f"[{', '.join(map(nested, value))}]" if isinstance(value, list) else literal(value)


@dataclass(frozen=True)
class Full(Op):
    """fill at every position."""

    operands: ClassVar[int | None] = 0
    flops: ClassVar[float] = 0.0
    fill: float
    shape: tuple[int, ...]
    dtype: str

    def type(self, *operands: Type) -> Type:
        """As declared."""
        return Type(self.shape, self.dtype)

    def text(self, *operands: str) -> str:
        """`np.full((3, 1), 1.0, dtype="float32")`."""
        return f'np.full({self.shape}, {literal(self.fill)}, dtype="{self.dtype}")'

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A constant of the algebra; opaque where the dtype is not floating."""
        return t.full(self.fill, self.shape, self.dtype) if self.type().is_float else None


@dataclass(frozen=True)
class Eye(Op):
    """δ(i, j): the identity matrix of n rows."""

    operands: ClassVar[int | None] = 0
    flops: ClassVar[float] = 0.0
    n: int
    dtype: str

    def type(self, *operands: Type) -> Type:
        """n by n."""
        return Type((self.n, self.n), self.dtype)

    def text(self, *operands: str) -> str:
        """`np.eye(3, dtype="float32")`."""
        return f'np.eye({self.n}, dtype="{self.dtype}")'

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The delta of the algebra, also as a mask; opaque where the dtype is an integer."""
        return t.eye(self.n, self.dtype) if self.type().is_float or self.dtype == "bool" else None


@dataclass(frozen=True)
class Iota(Op):
    """out[i] = i for i < n."""

    operands: ClassVar[int | None] = 0
    flops: ClassVar[float] = 0.0
    n: int
    dtype: str

    def type(self, *operands: Type) -> Type:
        """n elements; raises `ShapeError` for booleans, which have no range."""
        if self.dtype == "bool":
            raise ShapeError("iota needs an integer or floating dtype, got 'bool'")
        return Type((self.n,), self.dtype)

    def text(self, *operands: str) -> str:
        """`np.arange(3, dtype="int64")`."""
        return f'np.arange({self.n}, dtype="{self.dtype}")'
