"""Ufuncs on tracers: NumPy's promotion and broadcasting written out as casts and broadcasts, then one op."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saturate.op import Op
from saturate.ops import binary as b
from saturate.ops import unary as u
from saturate.ops.arithmetic import Neg
from saturate.ops.elementwise import Binary
from saturate.tracing import refusals
from saturate.tracing.asking import ask_dtype, numpy_error
from saturate.tracing.emitting import Operand, broadcast, cast, dtype_of, lift, literal, operand, shape_of
from saturate.tracing.site import home, public_name, user_site
from saturate.tracing.tracer import Recording, Tracer

UNARY: Mapping[str, Op] = {
    "negative": Neg(), "absolute": u.Abs(), "fabs": u.Abs(), "sign": u.Sign(), "square": u.Square(),
    "reciprocal": u.Reciprocal(), "sqrt": u.Sqrt(), "cbrt": u.Cbrt(), "exp": u.Exp(), "expm1": u.Expm1(),
    "exp2": u.Exp2(), "log": u.Log(), "log1p": u.Log1p(), "log2": u.Log2(), "log10": u.Log10(),
    "tanh": u.Tanh(), "sinh": u.Sinh(), "cosh": u.Cosh(), "sin": u.Sin(), "cos": u.Cos(), "tan": u.Tan(),
    "arctan": u.Arctan(), "floor": u.Floor(), "ceil": u.Ceil(), "rint": u.Rint(), "trunc": u.Trunc(),
    "isfinite": u.IsFinite(), "isnan": u.IsNan(), "logical_not": u.LogicalNot(),
}  # fmt: skip
BINARY: Mapping[str, type[Binary]] = {
    "add": b.Add, "subtract": b.Sub, "multiply": b.Mul, "divide": b.Div, "floor_divide": b.FloorDivide,
    "remainder": b.Remainder, "power": b.Power, "float_power": b.Power, "maximum": b.Maximum,
    "minimum": b.Minimum, "fmax": b.Fmax, "fmin": b.Fmin, "arctan2": b.Arctan2, "hypot": b.Hypot,
    "logaddexp": b.Logaddexp, "heaviside": b.Heaviside, "less": b.Less, "less_equal": b.LessEqual,
    "greater": b.Greater, "greater_equal": b.GreaterEqual, "equal": b.Equal, "not_equal": b.NotEqual,
    "logical_and": b.LogicalAnd, "logical_or": b.LogicalOr, "logical_xor": b.LogicalXor,
}  # fmt: skip
SCIPY: Mapping[str, Op | type[Binary]] = {
    "expit": u.Expit(), "erf": u.Erf(), "erfcx": u.Erfcx(), "log_ndtr": u.LogNdtr(), "gammaln": u.Gammaln(),
    "psi": u.Polygamma(0), "xlogy": b.Xlogy,
}  # fmt: skip
_COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_ON_BOOLS = {
    "invert": "logical_not",
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "logical_xor",
}
_WHOLE = ("floor", "ceil", "trunc")


def _infinite(x: Any) -> Any:
    return np.logical_not(np.isfinite(x) | np.isnan(x))


def _fmod(x: Any, y: Any) -> Any:
    size = np.remainder(abs(x), abs(y))
    return np.where(np.less(x, 0), -size, size)


def _scaled(numerator: float, denominator: float) -> Callable[[Tracer], Any]:
    """x · numerator / denominator, the quotient rounded to the dtype first, as NumPy's loops have it."""

    def scale(x: Tracer) -> Any:
        wide: Any = cast(x, np.float32) if x.dtype == np.float16 else x
        kind = wide.dtype.type
        return cast(wide * (kind(numerator) / kind(denominator)), x.dtype)

    return scale


_DEGREES, _RADIANS = _scaled(180.0, np.pi), _scaled(np.pi, 180.0)

COMPOSED: Mapping[str, Callable[..., Any]] = {
    "positive": lambda x: x, "conjugate": lambda x: x, "isinf": _infinite, "fmod": _fmod,
    "divmod": lambda x, y: (np.floor_divide(x, y), np.remainder(x, y)),
    "degrees": _DEGREES, "rad2deg": _DEGREES, "radians": _RADIANS, "deg2rad": _RADIANS,
}  # fmt: skip
"""Ufuncs made of others; their operands arrive in the dtype of the loop that NumPy chooses."""


def is_traced(ufunc: np.ufunc) -> bool:
    """Whether an elementwise call of the ufunc can be traced."""
    return _definition(ufunc) is not None


def _definition(ufunc: np.ufunc) -> Op | type[Binary] | Callable[..., Any] | None:
    """What the ufunc is made of: by name, after making sure that the name means NumPy's or SciPy's ufunc."""
    module, name = home(ufunc), ufunc.__name__
    if module == "np":
        name = _ON_BOOLS.get(name, name)
        return UNARY.get(name) or BINARY.get(name) or COMPOSED.get(name)
    return SCIPY.get(name) if module else None


def elementwise(
    recording: Recording,
    ufunc: np.ufunc,
    inputs: tuple[Any, ...],
    dtype: Any = None,
    casting: str = "same_kind",
) -> Any:
    """`ufunc(*inputs, dtype=dtype)` as NumPy computes it; raises NumPy's errors, and `TraceError`."""
    name = public_name(ufunc)
    definition = _definition(ufunc)
    if definition is None:
        raise refusals.unknown(name)
    operands = tuple(operand(x, name) for x in inputs)
    kwargs = {} if dtype is None else {"dtype": dtype, "casting": casting}
    try:
        expected = _answer(ufunc, operands, kwargs)
        shape = np.broadcast_shapes(*map(shape_of, operands))
        loop = _loop(ufunc, operands, dtype, casting)
    except (TypeError, ValueError, OverflowError) as error:
        raise numpy_error(ufunc, operands, kwargs) or error from None
    if ufunc.__name__ in _ON_BOOLS and expected != np.bool_:
        raise refusals.unsupported(name, "integers", "Bitwise operators are traced for booleans")
    if ufunc.__name__ in _COMPARISONS and loop[0] != loop[1]:
        return _compare_signed_unsigned(ufunc, operands)
    if ufunc.__name__ in _WHOLE and loop[0].kind in "iub":
        return broadcast(lift(recording, operands[0], loop[0]), shape)
    _note_promotion(recording, operands, loop)
    if isinstance(definition, Op):
        return _unary(recording, definition, operands[0], loop[0])
    if isinstance(definition, type):
        return _binary(recording, definition, operands, loop, shape)
    return definition(*(_converted(recording, x, d) for x, d in zip(operands, loop, strict=False)))


def _answer(ufunc: np.ufunc, operands: tuple[Operand, ...], kwargs: Mapping[str, Any]) -> np.dtype[Any]:
    def first(*args: Any, **options: Any) -> Any:
        found = ufunc(*args, **options)
        return found[0] if isinstance(found, tuple) else found

    return ask_dtype(first, *operands, **kwargs)


def _loop(
    ufunc: np.ufunc, operands: tuple[Operand, ...], dtype: Any, casting: str
) -> tuple[np.dtype[Any], ...]:
    """The dtypes to which NumPy converts the operands."""
    given = (*map(dtype_of, operands), *(None,) * ufunc.nout)
    options: dict[str, Any] = {"casting": casting}
    if dtype is not None:
        options["signature"] = (*(None,) * ufunc.nin, *(np.dtype(dtype),) * ufunc.nout)
    resolve: Any = ufunc.resolve_dtypes
    loop = resolve(given, **options)[: ufunc.nin]
    return (np.dtype(bool),) * ufunc.nin if ufunc.__name__.startswith("logical_") else loop


def _converted(recording: Recording, x: Operand, dtype: np.dtype[Any]) -> Any:
    if isinstance(x, Tracer):
        return cast(x, dtype)
    scalar = literal(x, dtype)
    return scalar if scalar is not None else np.asarray(x).astype(dtype)


def _unary(recording: Recording, op: Op, x: Operand, dtype: np.dtype[Any]) -> Tracer:
    if isinstance(op, u.Expit | u.Erf | u.LogNdtr | u.Gammaln) and dtype == np.float16:
        return cast(_unary(recording, op, x, np.dtype(np.float32)), dtype)
    return recording.emit(op, lift(recording, x, dtype))


def _binary(
    recording: Recording, op: type[Binary], operands: tuple[Operand, ...], loop: tuple[np.dtype[Any], ...],
    shape: tuple[int, ...],
) -> Tracer:  # fmt: skip
    x, y = operands
    left, right = literal(x, loop[0]), literal(y, loop[1])
    if left is not None and isinstance(y, Tracer):
        return recording.emit(op(left_literal=left), cast(y, loop[1]))
    if right is not None and isinstance(x, Tracer):
        return recording.emit(op(right_literal=right), cast(x, loop[0]))
    pair = (broadcast(lift(recording, z, d), shape) for z, d in zip(operands, loop, strict=True))
    return recording.emit(op(), *pair)


def _compare_signed_unsigned(ufunc: np.ufunc, operands: tuple[Operand, ...]) -> Any:
    """A comparison of int64 with uint64, which NumPy makes without a common dtype."""
    x, y = operands
    if dtype_of(x) is int or np.dtype(dtype_of(x)).kind != "u":
        negative: Any = np.less(x, 0)
        otherwise = ufunc(_unsigned(x), y)
        answer = ufunc.__name__ in ("less", "less_equal", "not_equal")
    else:
        negative = np.less(y, 0)
        otherwise = ufunc(x, _unsigned(y))
        answer = ufunc.__name__ in ("greater", "greater_equal", "not_equal")
    return negative | otherwise if answer else ~negative & otherwise


def _unsigned(x: Operand) -> Any:
    return cast(x, np.uint64) if isinstance(x, Tracer) else np.asarray(x).astype(np.uint64)


def _note_promotion(
    recording: Recording, operands: tuple[Operand, ...], loop: tuple[np.dtype[Any], ...]
) -> None:
    """Remember where a NumPy scalar, which is strong, widens a float array."""
    narrow = [x for x in operands if isinstance(x, Tracer) and x.dtype.kind == "f" and x.dtype != loop[0]]
    scalars = [x for x in operands if isinstance(x, np.ndarray) and not x.ndim and x.dtype == loop[0]]
    if narrow and scalars:
        site = user_site()
        recording.promotions.append(
            f"{site.where}: {narrow[0].dtype} became {loop[0]} by a NumPy scalar of that dtype; "
            "a Python scalar keeps it: float(x)"
        )
