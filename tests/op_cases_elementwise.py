"""Cases of the ops that work element by element, and of the constants, several literals and domains each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from op_checks import ALL, FLOATS, NUMBERS, SCIPY, Case
from scipy import special

from saturate.op import Array, Op, Type
from saturate.ops.arithmetic import Add, Div, Mul, Neg, Sub
from saturate.ops.binary import (
    Arctan2,
    Equal,
    FloorDivide,
    Fmax,
    Fmin,
    Greater,
    GreaterEqual,
    Heaviside,
    Hypot,
    Less,
    LessEqual,
    Logaddexp,
    LogicalAnd,
    LogicalOr,
    LogicalXor,
    Maximum,
    Minimum,
    NotEqual,
    Power,
    Remainder,
    Xlogy,
)
from saturate.ops.constants import Constant, Eye, Full, Iota
from saturate.ops.elementwise import Binary
from saturate.ops.select import Where
from saturate.ops.unary import (
    Abs,
    Arctan,
    Cast,
    Cbrt,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Erfcx,
    Exp,
    Exp2,
    Expit,
    Expm1,
    Floor,
    Gammaln,
    IsFinite,
    IsNan,
    Log,
    Log1p,
    Log2,
    Log10,
    LogicalNot,
    LogNdtr,
    Polygamma,
    Reciprocal,
    Rint,
    Rsqrt,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Square,
    Tan,
    Tanh,
    Trunc,
)

SHAPES = ((3, 5), (1,), ())


def x(low: float = -2.0, high: float = 2.0, shape: tuple[int, ...] = (3, 5)) -> Type:
    return Type(shape, low=low, high=high)


def unary(op: Op, call: Any, kind: Type, dtypes: tuple[str, ...] = ALL, order: int = 2) -> Iterable[Case]:
    """The op on a matrix, on a single element and on a scalar."""
    for shape in SHAPES:
        yield Case(op, (Type(shape, low=kind.low, high=kind.high),), call, dtypes, order)


def binary(
    op: type[Binary],
    call: Callable[..., Any],
    a: Type,
    b: Type,
    *,
    dtypes: tuple[str, ...] = ALL,
    literals: tuple[float, ...] = (0.5, 2),
    order: int = 2,
) -> Iterable[Case]:
    """The op on two operands, and with each literal on either side."""
    for shape in SHAPES:
        kinds = (Type(shape, low=a.low, high=a.high), Type(shape, low=b.low, high=b.high))
        yield Case(op(), kinds, call, dtypes, order)
    for value in literals:
        yield Case(op(right_literal=value), (a,), lambda y, value=value: call(y, value), dtypes, order)
        yield Case(op(left_literal=value), (b,), lambda y, value=value: call(value, y), dtypes, order)


def constant(op: Op, call: Callable[[], Any]) -> Case:
    """The op, which has no operands and so no derivative."""
    return Case(op, (), call, ("float64",), order=0)


CONSTANTS = [
    constant(Constant(Array(np.arange(15.0).reshape(3, 5))), lambda: np.arange(15.0).reshape(3, 5)),
    constant(Constant(Array(np.arange(0, 7, dtype="int8"))), lambda: np.arange(0, 7, dtype="int8")),
    constant(Constant(Array(np.arange(101.0))), lambda: np.arange(101.0)),
    constant(Constant(Array([np.inf, -np.inf, np.nan, -0.0])), lambda: [np.inf, -np.inf, np.nan, -0.0]),
    constant(Constant(Array(True)), lambda: True),
    constant(Full(1.5, (3, 5), "float32"), lambda: np.full((3, 5), 1.5, "float32")),
    constant(Full(-np.inf, (), "float64"), lambda: np.full((), -np.inf)),
    constant(Full(0.0, (0, 5), "float64"), lambda: np.zeros((0, 5))),
    constant(Eye(3, "float64"), lambda: np.eye(3)),
    constant(Eye(1, "float32"), lambda: np.eye(1, dtype="float32")),
    constant(Iota(7, "int64"), lambda: np.arange(7)),
    constant(Iota(3, "float32"), lambda: np.arange(3, dtype="float32")),
]

UNARY = [
    *unary(Neg(), np.negative, x(), NUMBERS),
    *unary(Exp(), np.exp, x()),
    *unary(Expm1(), np.expm1, x()),
    *unary(Exp2(), np.exp2, x()),
    *unary(Log(), np.log, x(0.5, 3.0)),
    *unary(Log1p(), np.log1p, x(-0.5, 3.0)),
    *unary(Log2(), np.log2, x(0.5, 3.0)),
    *unary(Log10(), np.log10, x(0.5, 3.0)),
    *unary(Sqrt(), np.sqrt, x(0.5, 3.0)),
    *unary(Cbrt(), np.cbrt, x(0.5, 3.0)),
    *unary(Cbrt(), np.cbrt, x(-3.0, -0.5), FLOATS),
    *unary(Square(), np.square, x(), NUMBERS),
    *unary(Reciprocal(), np.reciprocal, x(0.5, 3.0), NUMBERS),
    *unary(Rsqrt(), lambda y: 1 / np.sqrt(y), x(0.5, 3.0)),
    *unary(Tanh(), np.tanh, x()),
    *unary(Sinh(), np.sinh, x()),
    *unary(Cosh(), np.cosh, x()),
    *unary(Sin(), np.sin, x()),
    *unary(Cos(), np.cos, x()),
    *unary(Tan(), np.tan, x(-1.0, 1.0)),
    *unary(Arctan(), np.arctan, x()),
    *unary(Abs(), np.abs, x()),
    *unary(Sign(), np.sign, x(), NUMBERS),
    *unary(Floor(), np.floor, x()),
    *unary(Ceil(), np.ceil, x()),
    *unary(Rint(), np.rint, x()),
    *unary(Trunc(), np.trunc, x()),
    *unary(IsFinite(), np.isfinite, x(), order=0),
    *unary(IsNan(), np.isnan, x(), order=0),
    *unary(LogicalNot(), np.logical_not, x(), order=0),
    *unary(Cast("float64"), lambda y: y.astype("float64"), x()),
    *unary(Cast("float32"), lambda y: y.astype("float32"), x(), order=0),
    *unary(Cast("int64"), lambda y: y.astype("int64"), x(), order=0),
    *unary(Cast("bool"), lambda y: y.astype("bool"), x(), order=0),
    *unary(Expit(), special.expit, x(), SCIPY),
    *unary(Erf(), special.erf, x(), SCIPY),
    *unary(Erfcx(), special.erfcx, x(), SCIPY),
    *unary(LogNdtr(), special.log_ndtr, x(), SCIPY),
    *unary(LogNdtr(), special.log_ndtr, x(-30.0, -20.0), SCIPY),
    *unary(Gammaln(), special.gammaln, x(0.5, 3.0), SCIPY),
    *unary(Polygamma(0), special.digamma, x(0.5, 3.0), SCIPY),
    *unary(Polygamma(1), lambda y: special.polygamma(1, y), x(0.5, 3.0), ("float64",)),
    *unary(Polygamma(2), lambda y: special.polygamma(2, y), x(0.5, 3.0), ("float64",)),
]

ARITHMETIC = [
    *binary(Add, np.add, x(), x()),
    *binary(Add, np.add, x(), x(), dtypes=FLOATS, literals=(-1, True)),
    *binary(Add, np.add, x(), x(), dtypes=FLOATS, literals=(np.inf, -np.inf), order=0),
    *binary(Sub, np.subtract, x(), x(), dtypes=NUMBERS),
    *binary(Mul, np.multiply, x(), x()),
    *binary(Mul, np.multiply, x(), x(), dtypes=FLOATS, literals=(-0.0, 0)),
    *binary(Div, np.divide, x(), x(1.0, 3.0)),
    *binary(Power, np.power, x(0.5, 2.0), x(-2.0, 2.0), dtypes=FLOATS, literals=(0.5, 1.5, 2)),
    *binary(Power, np.power, x(0.0, 2.0), x(0.0, 2.0), dtypes=("int64", "int8", "uint8"), literals=(2, 3)),
    *(
        Case(Power(right_literal=value), (x(0.5, 2.0),), lambda y, value=value: np.power(y, value), FLOATS)
        for value in (0, 0.0, 1, 1.0, 2.0, 3.0, -1.0, -2)
    ),
    Case(Power(right_literal=2.0), (x(),), lambda y: np.power(y, 2.0), FLOATS),
]

BINARY = [
    *binary(Maximum, np.maximum, x(), x()),
    *binary(Minimum, np.minimum, x(), x()),
    *binary(Fmax, np.fmax, x(), x()),
    *binary(Fmin, np.fmin, x(), x()),
    *binary(Arctan2, np.arctan2, x(), x()),
    *binary(Hypot, np.hypot, x(), x(), dtypes=FLOATS),
    *binary(Logaddexp, np.logaddexp, x(), x(), dtypes=FLOATS),
    *binary(Heaviside, np.heaviside, x(), x(), dtypes=FLOATS),
    *binary(Xlogy, special.xlogy, x(), x(0.5, 3.0), dtypes=SCIPY, literals=(0.5, 2.0)),
    *binary(FloorDivide, np.floor_divide, x(0.0, 5.0), x(1.0, 3.0), dtypes=NUMBERS),
    *binary(Remainder, np.remainder, x(0.0, 5.0), x(1.0, 3.0), dtypes=NUMBERS),
    *(
        case
        for op, call in (
            (Less, np.less),
            (LessEqual, np.less_equal),
            (Greater, np.greater),
            (GreaterEqual, np.greater_equal),
            (Equal, np.equal),
            (NotEqual, np.not_equal),
            (LogicalAnd, np.logical_and),
            (LogicalOr, np.logical_or),
            (LogicalXor, np.logical_xor),
        )
        for case in binary(op, call, x(), x(), order=0)
    ),
]

CONDITION = Type((3, 5), "bool", 0, 1)
SELECT = [
    Case(Where(), (CONDITION, x(), x()), np.where),
    Case(Where(), (Type((), "bool", 0, 1), x(shape=()), x(shape=())), np.where),
    Case(Where(right_literal=0.5), (CONDITION, x()), lambda c, a: np.where(c, a, 0.5)),
    Case(Where(left_literal=2), (CONDITION, x()), lambda c, b: np.where(c, 2, b)),
    Case(Where(right_literal=-np.inf), (CONDITION, x()), lambda c, a: np.where(c, a, -np.inf), FLOATS),
    Case(Where(1.0, 0.0), (CONDITION,), lambda c: np.where(c, 1.0, 0.0), order=0),
]

ELEMENTWISE_CASES = CONSTANTS + UNARY + ARITHMETIC + BINARY + SELECT
