"""The ring operations, in which every other derivative is written, so that ops import one way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saturate.build import Value
from saturate.op import Scalar
from saturate.ops.elementwise import Binary, Operand, Unary, binary, unary

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed


class Neg(Unary):
    """−x; derivative −1."""

    function, symbol = "np.negative", "-"

    def _pull(self, g: Value, out: Value, x: Value) -> Value:
        return neg(g)

    def _meaning(self, t: Denoter, x: Indexed) -> Indexed:
        return t.neg(x)


neg = unary(Neg())


class Add(Binary):
    """a + b; derivatives 1 and 1."""

    function, symbol = "np.add", "+"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return g

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return g

    def _meaning(self, t: Denoter, a: Indexed | Scalar, b: Indexed | Scalar) -> Indexed:
        return t.add(a, b)


add = binary(Add)


class Sub(Binary):
    """a − b; derivatives 1 and −1."""

    function, symbol = "np.subtract", "-"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return g

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return neg(g)

    def _meaning(self, t: Denoter, a: Indexed | Scalar, b: Indexed | Scalar) -> Indexed:
        return t.sub(a, b)


sub = binary(Sub)


class Mul(Binary):
    """a · b; derivatives b and a."""

    function, symbol = "np.multiply", "*"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return mul(g, b)

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return mul(g, a)

    def _meaning(self, t: Denoter, a: Indexed | Scalar, b: Indexed | Scalar) -> Indexed:
        return t.mul(a, b)


mul = binary(Mul)


class Div(Binary):
    """a / b; derivatives 1/b and −out/b."""

    function, symbol = "np.divide", "/"

    def _left(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return div(g, b)

    def _right(self, g: Value, out: Value, a: Operand, b: Operand) -> Value:
        return neg(mul(g, div(out, b)))

    def _meaning(self, t: Denoter, a: Indexed | Scalar, b: Indexed | Scalar) -> Indexed:
        return t.div(a, b)


div = binary(Div)
