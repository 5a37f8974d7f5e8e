"""The ops: one frozen dataclass each, all facts of it in named methods."""

from __future__ import annotations

from saturate.op import Op
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
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.indexing import ScatterAdd, Take
from saturate.ops.reduction import Argmax, Argmin, Cumsum, Max, Mean, Min, Prod, Sum
from saturate.ops.select import Where
from saturate.ops.structure import Broadcast, Concatenate, Flip, Pad, Reshape, Slice, Transpose
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

CONSTANTS: tuple[type[Op], ...] = (Constant, Full, Eye, Iota)
ELEMENTWISE: tuple[type[Op], ...] = (
    *(Neg, Add, Sub, Mul, Div),
    *(Exp, Expm1, Exp2, Log, Log1p, Log2, Log10, Sqrt, Cbrt, Square, Reciprocal, Rsqrt),
    *(Tanh, Sinh, Cosh, Sin, Cos, Tan, Arctan, Expit, Erf, Erfcx, LogNdtr, Gammaln, Polygamma),
    *(Abs, Sign, Floor, Ceil, Rint, Trunc, IsFinite, IsNan, LogicalNot, Cast),
    *(Power, Maximum, Minimum, Fmax, Fmin, Arctan2, Hypot, Logaddexp, Xlogy),
    *(Heaviside, FloorDivide, Remainder),
    *(Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, LogicalAnd, LogicalOr, LogicalXor),
    Where,
)
STRUCTURE: tuple[type[Op], ...] = (Reshape, Transpose, Broadcast, Slice, Flip, Pad, Concatenate)
INDEXING: tuple[type[Op], ...] = (Take, ScatterAdd)
REDUCTION: tuple[type[Op], ...] = (Sum, Mean, Max, Min, Prod, Argmax, Argmin, Cumsum)
CONTRACTION: tuple[type[Op], ...] = (Matmul, Einsum, VecDot)

OPS: dict[str, type[Op]] = {
    op.name: op for op in (*CONSTANTS, *ELEMENTWISE, *STRUCTURE, *INDEXING, *REDUCTION, *CONTRACTION)
}
"""Every op by its name, in reading order."""
