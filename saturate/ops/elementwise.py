"""What elementwise ops share: NumPy's promotion, literals as operands, the printed call; it knows no op."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from saturate.build import Value, apply
from saturate.errors import ProgramError, ShapeError
from saturate.op import Op, Scalar, Type, literal

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed

Operand = Value | Scalar
"""An argument of a helper function: a value, or a literal, which is weak in NumPy's sense."""

T = TypeVar("T")


class Elementwise(Op):
    """An op that maps each element alone: one NumPy or SciPy ufunc, its operands of one shape and dtype."""

    function: ClassVar[str]
    """The ufunc as it is written in text: `np.exp`."""
    symbol: ClassVar[str] = ""
    """The Python operator that stands for the ufunc, if there is one."""
    loops: ClassVar[tuple[str, ...]] = ("float32", "float64")
    """The dtypes of a SciPy function; NumPy's functions say themselves what they take."""
    ufunc = True

    def arguments(self, *operands: T) -> tuple[T | Scalar, ...]:
        """The arguments of the function: operands, with literals in their places."""
        return operands

    def type(self, *operands: Type) -> Type:
        """The operands' shape, in the dtype of the loop that NumPy chooses.

        Raises `ShapeError` where operands differ in shape or dtype, or where no loop takes them.
        """
        self.check_operands(operands)
        first = operands[0]
        for other in operands[1:]:
            if (other.shape, other.dtype) != (first.shape, first.dtype):
                raise ShapeError(
                    f"{self.name} needs operands of one shape and dtype, got {first} and {other}; "
                    "broadcast or cast one of them first"
                )
        kinds = (x.dtype if isinstance(x, Type) else _weak(x) for x in self.arguments(*operands))
        return Type(first.shape, result_dtype(self.function, self.loops, *kinds))

    def text(self, *operands: str) -> str:
        """The operator, or the call of the ufunc."""
        args = self.written(*operands)
        if not self.symbol:
            return f"{self.function}({', '.join(args)})"
        return f"{args[0]} {self.symbol} {args[1]}" if len(args) == 2 else f"{self.symbol}{args[0]}"

    def into(self, out: str, *operands: str) -> str:
        """`text` as a call that writes its result into the array `out`; for ops that are a `ufunc`."""
        return f"{self.function}({', '.join(self.written(*operands))}, out={out})"

    def written(self, *operands: str) -> tuple[str, ...]:
        """The arguments as text, literals included."""
        return tuple(x if isinstance(x, str) else literal(x) for x in self.arguments(*operands))


@lru_cache(maxsize=4096)
def result_dtype(function: str, loops: tuple[str, ...], *operands: str) -> str:
    """Dtype of a ufunc's result for operands given as dtype names; "int" and "float" are weak literals.

    The installed SciPy is asked as NumPy is: up to 1.17 a literal beside float32 gives float64, from 1.18 on
    float32.
    """
    module, _, name = function.partition(".")
    if module == "special":
        if not {operands[0], operands[-1]} & set(loops) or not set(operands) <= {*loops, *_WEAK}:
            raise ShapeError(
                f"{name} needs {' or '.join(loops)} operands, got {', '.join(operands)}; cast first"
            )
    try:
        ufunc: Any = getattr(import_module("scipy.special") if module == "special" else np, name)
    except ImportError:  # a program may be read where nothing can run it
        return next(x for x in operands if x not in _WEAK)
    given = (_WEAK.get(x) or np.dtype(x) for x in operands)
    try:
        return str(ufunc.resolve_dtypes((*given, None))[-1].name)
    except TypeError:
        raise ShapeError(f"{name} has no loop in NumPy for {', '.join(operands)}; cast first") from None


_WEAK: dict[str, type] = {"int": int, "float": float}


def _weak(value: Scalar) -> str:
    return "float" if isinstance(value, float) else type(value).__name__


@dataclass(frozen=True)
class Unary(Elementwise):
    """An elementwise function of one operand."""

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent times the derivative."""
        return (self._pull(g, out, operands[0]),)

    def _pull(self, g: Value, out: Value, x: Value) -> Value | None:
        raise NotImplementedError(f"{type(self).__name__} must define _pull, its derivative")

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The function by name for floats; opaque for integers and booleans."""
        (x,) = operands
        return self._meaning(t, x) if is_float(x) else None

    def _meaning(self, t: Denoter, x: Indexed) -> Indexed | None:
        return t.fn(self.name, x)


@dataclass(frozen=True)
class WithLiterals(Elementwise):
    """An elementwise op whose last two arguments may be literals, which are attributes and not operands."""

    operands: ClassVar[int | None] = None
    places: ClassVar[int] = 2
    """Number of arguments, literals counted."""
    left_literal: Scalar | None = None
    right_literal: Scalar | None = None

    def arguments(self, *operands: T) -> tuple[T | Scalar, ...]:
        """Operands in order, and the literals in the last two places."""
        rest = iter(operands)
        literals = (*(None,) * (self.places - 2), self.left_literal, self.right_literal)
        return tuple(next(rest) if x is None else x for x in literals)

    def check_operands(self, operands: tuple[Type, ...]) -> None:
        """Raise unless operands and literals together fill the places, and each literal is a number."""
        super().check_operands(operands)
        literals = (self.left_literal is not None) + (self.right_literal is not None)
        if len(operands) + literals != self.places or not operands:
            raise ShapeError(
                f"{self.name} needs {self.places} operands, literals counted; "
                f"got {len(operands)} and {literals} literal(s)",
                code=self.code("operands"),
            )


@dataclass(frozen=True)
class Binary(WithLiterals):
    """An elementwise function of two operands, at most one of them a literal."""

    def type(self, *operands: Type) -> Type:
        """The operands' shape, in the dtype of the loop that NumPy chooses.

        Raises `ShapeError` where operands differ in shape or dtype, where no loop takes them, or where an
        integer literal does not fit the operand's dtype.
        """
        result = super().type(*operands)
        for value in (self.left_literal, self.right_literal):
            if result.dtype != "bool" and type(value) is int and np.dtype(result.dtype).kind in "iu":
                bounds = np.iinfo(result.dtype)
                if not bounds.min <= value <= bounds.max:
                    raise ShapeError(f"{self.name} needs a literal that fits {result.dtype}, got {value}")
        return result

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent times each partial derivative."""
        a, b = self.arguments(*operands)
        left = self._left(g, out, a, b) if isinstance(a, Value) else None
        right = self._right(g, out, a, b) if isinstance(b, Value) else None
        return tuple(d for d, x in ((left, a), (right, b)) if isinstance(x, Value))

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value | None:
        raise NotImplementedError(
            f"{type(self).__name__} must define _left, its derivative by the first operand"
        )

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value | None:
        raise NotImplementedError(
            f"{type(self).__name__} must define _right, its derivative by the second operand"
        )

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The function by name for floats; opaque for integers and booleans."""
        return self._meaning(t, *self.arguments(*operands)) if all(map(is_float, operands)) else None

    def _meaning(self, t: Denoter, a: Indexed | Scalar, b: Indexed | Scalar) -> Indexed | None:
        return t.fn(self.name, a, b)


def is_float(x: Indexed) -> bool:
    """Whether ring laws hold for the term."""
    return np.dtype(x.dtype).kind == "f"


def unary(op: Unary) -> Callable[[Value], Value]:
    """The helper function of an op: `exp(x)` emits `Exp` into the builder of `x`."""
    return lambda x: apply(op, x)


def binary(op: type[Binary]) -> Callable[[Operand, Operand], Value]:
    """The helper function of an op: `mul(a, b)` emits `Mul`; one of `a` and `b` may be a literal."""

    def helper(a: Operand, b: Operand) -> Value:
        if isinstance(a, Value):
            return apply(op(), a, b) if isinstance(b, Value) else apply(op(right_literal=b), a)
        if isinstance(b, Value):
            return apply(op(left_literal=a), b)
        raise ProgramError(f"{op.name} needs a value among its operands, got {a!r} and {b!r}")

    return helper
