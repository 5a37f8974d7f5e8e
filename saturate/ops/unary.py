"""Elementwise functions of one operand, each with its derivative; `out` is the function's own result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from saturate.build import Value, apply
from saturate.op import Type
from saturate.ops.arithmetic import Neg as Neg
from saturate.ops.arithmetic import add, div, mul, sub
from saturate.ops.arithmetic import neg as neg
from saturate.ops.elementwise import Unary, unary

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed

LN2, LN10 = math.log(2.0), math.log(10.0)


class Exp(Unary):
    """exp x; derivative out."""

    function, flops = "np.exp", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, out)


class Expm1(Unary):
    """exp x − 1, exact near 0; derivative out + 1."""

    function, flops = "np.expm1", 50.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, add(out, 1.0))


class Exp2(Unary):
    """2 to the x; derivative out · ln 2."""

    function, flops = "np.exp2", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(mul(g, out), LN2)


class Log(Unary):
    """ln x; derivative 1/x."""

    function, flops = "np.log", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(g, x)


class Log1p(Unary):
    """ln(1 + x), exact near 0; derivative 1/(1 + x)."""

    function, flops = "np.log1p", 50.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(g, add(x, 1.0))


class Log2(Unary):
    """Logarithm to base 2; derivative 1/(x · ln 2)."""

    function, flops = "np.log2", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(g, mul(x, LN2))


class Log10(Unary):
    """Logarithm to base 10; derivative 1/(x · ln 10)."""

    function, flops = "np.log10", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(g, mul(x, LN10))


class Sqrt(Unary):
    """√x; derivative 1/(2·out), infinite at 0."""

    function, flops = "np.sqrt", 4.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(mul(g, 0.5), out)


class Cbrt(Unary):
    """∛x; derivative 1/(3·out²), infinite at 0."""

    function, flops = "np.cbrt", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(g, mul(square(out), 3.0))


class Square(Unary):
    """x²; derivative 2x."""

    function = "np.square"

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, mul(x, 2.0))

    def _meaning(self, t: Denoter, x: Indexed) -> Indexed:
        return t.mul(x, x)


class Reciprocal(Unary):
    """1/x; derivative −out²."""

    function = "np.reciprocal"

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return neg(mul(g, square(out)))

    def _meaning(self, t: Denoter, x: Indexed) -> Indexed:
        return t.recip(x)


class Rsqrt(Unary):
    """1/√x; derivative −out³/2. NumPy has no call for it, other systems have; only lowering makes it."""

    function, flops, ufunc = "np.sqrt", 5.0, False

    def text(self, *operands: str) -> str:
        """`1 / np.sqrt(x)`."""
        return f"1 / np.sqrt({operands[0]})"

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(mul(g, mul(square(out), out)), -0.5)

    def _meaning(self, t: Denoter, x: Indexed) -> Indexed:
        root = t.fn("sqrt", x)
        return t.recip(root)


class Tanh(Unary):
    """tanh x; derivative 1 − out²."""

    function, flops = "np.tanh", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, sub(1.0, square(out)))


class Sinh(Unary):
    """sinh x; derivative cosh x."""

    function, flops = "np.sinh", 60.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, cosh(x))


class Cosh(Unary):
    """cosh x; derivative sinh x."""

    function, flops = "np.cosh", 35.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, sinh(x))


class Sin(Unary):
    """sin x; derivative cos x."""

    function, flops = "np.sin", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, cos(x))


class Cos(Unary):
    """cos x; derivative −sin x."""

    function, flops = "np.cos", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return neg(mul(g, sin(x)))


class Tan(Unary):
    """tan x; derivative 1 + out²."""

    function, flops = "np.tan", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, add(square(out), 1.0))


class Arctan(Unary):
    """arctan x; derivative 1/(1 + x²)."""

    function, flops = "np.arctan", 10.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(g, add(square(x), 1.0))


class Abs(Unary):
    """|x|; derivative sign x, 0 at 0."""

    function = "np.abs"

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, sign(x))


class Step(Unary):
    """A function that is constant between its steps, so that no gradient flows."""

    def _pull(self, g: Value, out: Value, x: Value) -> None:
        return None


class Sign(Step):
    """−1, 0 or 1 by the sign of x; derivative 0."""

    function = "np.sign"


class Floor(Step):
    """The largest integer ≤ x; derivative 0."""

    function = "np.floor"


class Ceil(Step):
    """The smallest integer ≥ x; derivative 0."""

    function = "np.ceil"


class Rint(Step):
    """The nearest integer, the even one at ties; derivative 0."""

    function = "np.rint"


class Trunc(Step):
    """x without its fraction; derivative 0."""

    function = "np.trunc"


class Predicate(Step):
    """A question about each element, answered in booleans."""

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The function by name, for any dtype."""
        return t.fn(self.name, *operands)


class IsFinite(Predicate):
    """Whether x is neither infinite nor NaN."""

    function = "np.isfinite"


class IsNan(Predicate):
    """Whether x is NaN."""

    function = "np.isnan"


class LogicalNot(Predicate):
    """Whether x is zero or false."""

    function = "np.logical_not"


@dataclass(frozen=True)
class Cast(Unary):
    """x in another dtype; the cotangent is cast back."""

    function = "np.astype"
    ufunc = False
    dtype: str

    def type(self, *operands: Type) -> Type:
        """The same shape in `dtype`."""
        return Type(operands[0].shape, self.dtype)

    def text(self, *operands: str) -> str:
        """`x.astype("float32")`."""
        return f'{operands[0]}.astype("{self.dtype}")'

    def _pull(self, g: Value, out: Value, x: Value) -> Value | None:
        return cast(g, x.dtype) if x.type.is_float else None

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The cast of the algebra."""
        return t.cast(self.dtype, operands[0])


class Expit(Unary):
    """1/(1 + exp(−x)), the logistic function; derivative out·(1 − out)."""

    function, flops = "special.expit", 17.0
    loops = ("float32", "float64", "float96", "float128")

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, mul(out, sub(1.0, out)))


class Erf(Unary):
    """2/√π ∫₀ˣ exp(−t²) dt; derivative 2/√π · exp(−x²)."""

    function, flops = "special.erf", 50.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(mul(g, exp(neg(square(x)))), 2 / math.pi**0.5)


class Erfcx(Unary):
    """exp(x²)·(1 − erf x); derivative 2x·out − 2/√π."""

    function, flops = "special.erfcx", 20.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, sub(mul(mul(x, 2.0), out), 2 / math.pi**0.5))


class LogNdtr(Unary):
    """ln of the normal distribution function; derivative √(2/π)/erfcx(−x/√2), exact far out too."""

    function, flops = "special.log_ndtr", 30.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return div(mul(g, (2 / math.pi) ** 0.5), erfcx(mul(x, -(0.5**0.5))))


class Gammaln(Unary):
    """ln |Γ(x)|; derivative the digamma function."""

    function, flops = "special.gammaln", 30.0

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, polygamma(0, x))


@dataclass(frozen=True)
class Polygamma(Unary):
    """The derivative of ln Γ of order `order` + 1, by Hurwitz' zeta (x > 0 unless `order` is 0)."""

    function, flops = "special.psi", 40.0
    ufunc: ClassVar[bool] = False
    order: int

    def text(self, *operands: str) -> str:
        """`special.psi(x)`, or a multiple of `special.zeta(order + 1, x)`."""
        if self.order == 0:
            return super().text(*operands)
        scale = float((-1) ** (self.order + 1) * math.factorial(self.order))
        return f"{scale} * special.zeta({float(self.order + 1)}, {operands[0]})"

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return mul(g, polygamma(self.order + 1, x))

    def _meaning(self, t: Denoter, x: Indexed) -> None:
        return None


exp, expm1, exp2 = unary(Exp()), unary(Expm1()), unary(Exp2())
log, log1p, log2, log10 = unary(Log()), unary(Log1p()), unary(Log2()), unary(Log10())
sqrt, cbrt, square, reciprocal = unary(Sqrt()), unary(Cbrt()), unary(Square()), unary(Reciprocal())
tanh, sinh, cosh = unary(Tanh()), unary(Sinh()), unary(Cosh())
sin, cos, tan, arctan = unary(Sin()), unary(Cos()), unary(Tan()), unary(Arctan())
absolute, sign = unary(Abs()), unary(Sign())
floor, ceil, rint, trunc = unary(Floor()), unary(Ceil()), unary(Rint()), unary(Trunc())
is_finite, is_nan, logical_not = unary(IsFinite()), unary(IsNan()), unary(LogicalNot())
expit, erf, erfcx, log_ndtr, gammaln = (
    unary(Expit()),
    unary(Erf()),
    unary(Erfcx()),
    unary(LogNdtr()),
    unary(Gammaln()),
)


def cast(x: Value, dtype: str) -> Value:
    """`Cast`; `x` itself where it has the dtype already."""
    return x if x.dtype == dtype else apply(Cast(dtype), x)


def polygamma(order: int, x: Value) -> Value:
    """`Polygamma`."""
    return apply(Polygamma(order), x)
