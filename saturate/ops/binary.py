"""Elementwise functions of two operands, each with its derivatives; `out` is the function's own result."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from saturate.build import Value
from saturate.errors import ShapeError
from saturate.op import Scalar, Type
from saturate.ops.arithmetic import Add as Add
from saturate.ops.arithmetic import Div as Div
from saturate.ops.arithmetic import Mul as Mul
from saturate.ops.arithmetic import Sub as Sub
from saturate.ops.arithmetic import add as add
from saturate.ops.arithmetic import div as div
from saturate.ops.arithmetic import mul as mul
from saturate.ops.arithmetic import neg
from saturate.ops.arithmetic import sub as sub
from saturate.ops.elementwise import Binary, Operand, binary, is_float
from saturate.ops.select import where
from saturate.ops.unary import cast, exp, log

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed


HALVES = frozenset(k / 2 for k in range(-6, 7) if k)
"""Exponents whose powers are products of the base and its root, or their reciprocals."""


class Power(Binary):
    """a to the b; derivatives b·a^(b−1), 0 for b = 0, and out·ln a, 0 for a = 0."""

    function = "np.power"
    flops = 20.0

    def type(self, *operands: Type) -> Type:
        """As for every binary op; integers have no negative literal power."""
        result = super().type(*operands)
        literal = self.right_literal
        if np.dtype(result.dtype).kind in "iu" and literal is not None and literal < 0:
            raise ShapeError(
                f"power needs a float operand for the exponent {literal}, got {operands[0]}; cast it"
            )
        return result

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value | None:
        if not isinstance(b, Value):
            if b == 0:
                return None
            return mul(g, b) if b == 1 else mul(mul(g, a if b == 2 else power(a, b - 1)), b)
        both_zero = logical_and(equal(a, 0.0), equal(b, 0.0))
        return mul(g, mul(b, power(a, where(both_zero, 1.0, sub(b, 1.0)))))

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value | None:
        if isinstance(a, Value):
            return mul(g, mul(out, log(where(equal(a, 0.0), 1.0, a))))
        return None if a == 0 else mul(mul(g, out), float(np.log(a)) if a > 0 else np.nan)

    def _meaning(self, t: Denoter, a: Indexed | Scalar, b: Indexed | Scalar) -> Indexed | None:
        if isinstance(a, bool | int | float) or not isinstance(b, int | float) or b not in HALVES:
            return t.fn("power", a, b)
        whole, rest = divmod(abs(b), 1)
        made = reduce(t.mul, [a] * int(whole) + [t.fn("sqrt", a)] * (rest > 0))
        return made if b > 0 else t.recip(made)


class Extremum(Binary):
    """One of the two operands; the gradient goes to it, and half to each where they are equal."""

    def _share(self, g: Value, out: Value, x: Operand, y: Operand) -> Value:
        return where(equal(x, out), where(equal(x, y), mul(g, 0.5), g), 0.0)

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return self._share(g, out, a, b)

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return self._share(g, out, b, a)


class Maximum(Extremum):
    """The larger operand, NaN if one is NaN; at ties each operand gets half of the gradient."""

    function = "np.maximum"

    def _share(self, g: Value, out: Value, x: Operand, y: Operand) -> Value:
        return where(greater(x, y), g, where(equal(x, y), mul(g, 0.5), 0.0))


class Minimum(Extremum):
    """The smaller operand, NaN if one is NaN; at ties each operand gets half of the gradient."""

    function = "np.minimum"

    def _share(self, g: Value, out: Value, x: Operand, y: Operand) -> Value:
        return where(less(x, y), g, where(equal(x, y), mul(g, 0.5), 0.0))


class Fmax(Extremum):
    """The larger operand, the other one if one is NaN; at ties each operand gets half of the gradient."""

    function = "np.fmax"


class Fmin(Extremum):
    """The smaller operand, the other one if one is NaN; at ties each operand gets half of the gradient."""

    function = "np.fmin"


class Arctan2(Binary):
    """The angle of the point (b, a); derivatives b/(a² + b²) and −a/(a² + b²)."""

    function, flops = "np.arctan2", 20.0

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        radius = hypot(a, b)
        return mul(g, div(div(b, radius), radius))

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        radius = hypot(a, b)
        return neg(mul(g, div(div(a, radius), radius)))


class Hypot(Binary):
    """√(a² + b²) without overflow; derivatives a/out and b/out, 0 where out is 0."""

    function, flops = "np.hypot", 30.0

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return mul(g, div(a, where(equal(out, 0.0), 1.0, out)))

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return mul(g, div(b, where(equal(out, 0.0), 1.0, out)))


class Logaddexp(Binary):
    """ln(exp a + exp b) without overflow; derivatives exp(a − out) and exp(b − out)."""

    function, flops = "np.logaddexp", 75.0

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return mul(g, exp(sub(a, out)))

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return mul(g, exp(sub(b, out)))


class Heaviside(Binary):
    """0 where a < 0, b where a = 0, 1 where a > 0; derivatives 0, and 1 where a = 0."""

    function = "np.heaviside"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> None:
        return None

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value | None:
        if isinstance(a, Value):
            return where(equal(a, 0.0), g, 0.0)
        return g if a == 0 else None


class Xlogy(Binary):
    """a·ln b, 0 where a = 0; derivatives ln b and a/b, the latter 0 where a = 0.

    With a literal the installed SciPy chooses the dtype: float64 up to 1.17, the operand's from 1.18 on.
    """

    function, flops = "special.xlogy", 12.0

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent times each partial derivative, in the operand's dtype."""
        found = super().vjp(g, out, *(cast(x, g.dtype) for x in operands))
        return tuple(d and cast(d, x.dtype) for d, x in zip(found, operands, strict=True))

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return xlogy(g, b)

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        if not isinstance(a, Value):
            return div(mul(g, a), b)
        return mul(g, div(a, where(equal(a, 0.0), 1.0, b)))

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The function by name, of operands cast to the dtype in which SciPy computes."""
        dtype = self.type(*(Type(x.shape, x.dtype) for x in operands)).dtype
        return super().denote(t, *(t.cast(dtype, x) for x in operands))


class FloorDivide(Binary):
    """The largest integer ≤ a/b; derivatives 0."""

    function, symbol = "np.floor_divide", "//"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> None:
        return None

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> None:
        return None


class Remainder(Binary):
    """a − b·⌊a/b⌋, with the sign of b; derivatives 1 and −⌊a/b⌋."""

    function, symbol = "np.remainder", "%"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return g

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return neg(mul(g, floor_divide(a, b)))


class Relation(Binary):
    """A relation between two operands, answered in booleans, so that no gradient flows."""

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> None:
        return None

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> None:
        return None

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The function by name; opaque where integers meet a literal that they may not hold."""
        if len(operands) == 1 and not is_float(operands[0]):
            return None
        return t.fn(self.name, *self.arguments(*operands))


class Less(Relation):
    """a < b."""

    function, symbol = "np.less", "<"


class LessEqual(Relation):
    """a ≤ b."""

    function, symbol = "np.less_equal", "<="


class Greater(Relation):
    """a > b."""

    function, symbol = "np.greater", ">"


class GreaterEqual(Relation):
    """a ≥ b."""

    function, symbol = "np.greater_equal", ">="


class Equal(Relation):
    """a = b."""

    function, symbol = "np.equal", "=="


class NotEqual(Relation):
    """a ≠ b."""

    function, symbol = "np.not_equal", "!="


class LogicalAnd(Relation):
    """Whether a and b are both true or nonzero."""

    function = "np.logical_and"


class LogicalOr(Relation):
    """Whether a or b is true or nonzero."""

    function = "np.logical_or"


class LogicalXor(Relation):
    """Whether one of a and b is true or nonzero and the other is not."""

    function = "np.logical_xor"


power = binary(Power)
maximum, minimum, fmax, fmin = binary(Maximum), binary(Minimum), binary(Fmax), binary(Fmin)
arctan2, hypot, logaddexp = binary(Arctan2), binary(Hypot), binary(Logaddexp)
heaviside, xlogy = binary(Heaviside), binary(Xlogy)
floor_divide, remainder = binary(FloorDivide), binary(Remainder)
less, less_equal, greater, greater_equal = (
    binary(Less),
    binary(LessEqual),
    binary(Greater),
    binary(GreaterEqual),
)
equal, not_equal = binary(Equal), binary(NotEqual)
logical_and, logical_or, logical_xor = binary(LogicalAnd), binary(LogicalOr), binary(LogicalXor)
