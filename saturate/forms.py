"""Elementwise steps as ops over values: the op that a step is, and those that come to the same where a target
lacks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from saturate.algebra import Ix
from saturate.lattice import Lattice
from saturate.lower import function, scaling
from saturate.op import Op, Type
from saturate.ops.arithmetic import Add, Div, Mul, Sub
from saturate.ops.binary import Power
from saturate.ops.unary import Reciprocal, Rsqrt, Square
from saturate.step import Step

LOWERINGS: dict[str, str] = {
    "sum_as_product": "Σ_j a[i,j] = a @ 1[j]: a sum is a product with a constant of ones.",
    "copies_as_product": "a[i] for all j = a[i, 1] @ 1[1, j]: copies are a product with a constant of ones.",
    "number_in_constant": "k·Σ_j a[i,j] = a @ k[j]: a constant of ones takes a number.",
    "product_as_contraction": "a[i]·b[j] = a[i, 1] @ b[1, j]: a product of depth one.",
    "contraction_as_sum": "Σ_j a[i,j]·b[j,k] = Σ_j of the product over i, j and k.",
    "quotient_as_product": "a / b = a · (1/b).",
    "product_as_quotient": "a · b = a / (1/b).",
    "product_as_sum": "a·b = Σ of the products of one pair: a contraction of depth one.",
    "sum_as_mean": "Σ_j a = n · (1/n·Σ_j a).",
    "difference_as_sum": "a − b = a + (−1)·b.",
    "sum_as_difference": "a + b = a − (−1)·b.",
    "double_as_sum": "2·a = a + a.",
    "reciprocal_root": "1 / √a is one op.",
    "root_as_reciprocal": "√a = 1 / (1/√a).",
    "root_as_power": "√a is a to the 0.5, 1/a to the −1, 1/√a to the −0.5, and a² to the 2.",
}
"""What lowering may do for a target that lacks ops, by name.

All of it is of the class `rounding`: sums run in another order, −0.0 becomes +0.0, and a product with 1/b
rounds twice.
"""

DOUBLES = frozenset(2**k for k in range(1, 7))
"""Numbers by which sums multiply, where the target has no product."""

Form = tuple[Op, tuple[int, ...], str]


class Forms:
    """Forms of elementwise steps over the values of a lattice; `lacks` says which ops the target misses."""

    def __init__(self, lattice: Lattice, lacks: Callable[[str], bool]) -> None:
        self._lattice, self._lacks = lattice, lacks

    def of(self, step: Step, dtype: str) -> Iterator[Form]:
        """The ops that make the step's value, with operands and law, whether the target has them or not."""
        law, args = step.law, step.args
        match step.kind:
            case "mul":
                yield from self._products(step, dtype)
            case "square":
                yield Square(), args, law
                yield from self._products(Step("mul", (), args * 2, law), dtype)
                yield from self._power(2.0, args[0], "square", "mul")
            case "div":
                yield Div(), args, law
                if self._lacks("div"):
                    yield Mul(), self.factors(step, dtype), "quotient_as_product"
            case "add" | "sub" | "plus" | "minus":
                yield from self._sums(step, dtype)
            case "scale":
                k: Fraction = step.head[0]
                yield scaling(k), args, law
                yield Mul(right_literal=float(k)), args, law
                if k and self._instead("div", "mul"):
                    yield Div(right_literal=float(1 / k)), args, law
                if k in DOUBLES and self._instead("add", "mul"):
                    half = args[0] if k == 2 else self._made(Step("scale", (k / 2,), args, ""), dtype)
                    yield Add(), (half, half), "double_as_sum"
                if k == -1 and self._instead("sub", "mul"):
                    yield Sub(left_literal=0.0), args, "difference_as_sum"
            case "over":
                yield from self._quotients(step, dtype)
            case _:
                yield from self._functions(step, dtype)

    def factors(self, step: Step, dtype: str) -> tuple[int, int]:
        """The factors of a product or a square, or of a quotient as a product."""
        a, b = step.args[0], step.args[-1]
        if step.kind == "div":
            b = self._made(Step("over", (Fraction(1),), (b,), ""), dtype)
        return a, b

    def _products(self, step: Step, dtype: str) -> Iterator[Form]:
        a, b = step.args
        yield Mul(), step.args, step.law
        if self._instead("div", "mul"):
            for left, right in ((a, b), (b, a))[: 1 + (a != b)]:
                over = self._made(Step("over", (Fraction(1),), (right,), ""), dtype)
                yield Div(), (left, over), "product_as_quotient"

    def _instead(self, op: str, *others: str) -> bool:
        """Whether the target has an op and none of the others, for which it stands."""
        return not self._lacks(op) and all(self._lacks(other) for other in others)

    def _made(self, step: Step, dtype: str) -> int:
        free = frozenset[Ix]().union(*(self._lattice.free[a] for a in step.args))
        return self._lattice.made(step, free, dtype)

    def _minus(self, a: int, dtype: str) -> int:
        return self._made(Step("scale", (Fraction(-1),), (a,), ""), dtype)

    def _sums(self, step: Step, dtype: str) -> Iterator[Form]:
        law, args = step.law, step.args
        if step.kind == "add":
            yield Add(), args, law
            if self._lacks("add"):
                yield Sub(), (args[0], self._minus(args[1], dtype)), "sum_as_difference"
        elif step.kind == "sub":
            yield Sub(), args, law
            if self._lacks("sub"):
                yield Add(), (args[0], self._minus(args[1], dtype)), "difference_as_sum"
        else:
            k = float(step.head[0])
            if step.kind == "minus":
                yield Sub(left_literal=k), args, law
                args, law = (self._minus(args[0], dtype),), "difference_as_sum"
                if not self._lacks("sub"):
                    return
            if k < 0:
                yield Sub(right_literal=-k), args, law
            yield Add(right_literal=k), args, law
            yield Sub(right_literal=-k), args, law

    def _quotients(self, step: Step, dtype: str) -> Iterator[Form]:
        k: Fraction = step.head[0]
        (a,) = step.args
        yield Div(left_literal=float(k)), (a,), step.law
        if k != 1:
            if self._lacks("div"):
                below = self._made(Step("over", (Fraction(1),), (a,), ""), dtype)
                yield Mul(right_literal=float(k)), (below,), "quotient_as_product"
            return
        yield Reciprocal(), (a,), step.law
        yield from self._power(-1.0, a, "div", "reciprocal")
        for root in self._lattice.steps[a]:
            if root.kind == "fn" and root.head[0] == "sqrt":
                yield Rsqrt(), root.args, "reciprocal_root"
                yield from self._power(-0.5, root.args[0], "rsqrt")

    def _power(self, exponent: float, base: int, *others: str) -> Iterator[Form]:
        """A power, where the target lacks the ops that are made for it."""
        if self._instead("power", *others):
            yield Power(right_literal=exponent), (base,), "root_as_power"

    def _functions(self, step: Step, dtype: str) -> Iterator[Form]:
        op = function(step, dtype)
        if op.type(*(Type((), self._lattice.dtype[a]) for a in step.args)).dtype == dtype:
            yield op, step.args, step.law  # a literal beside float32 may make float64 in SciPy
        if step.head[0] == "sqrt" and self._lacks("sqrt"):
            root = self._lattice.made(step, self._lattice.free[step.args[0]], dtype)
            yield (
                Reciprocal(),
                (self._made(Step("over", (Fraction(1),), (root,), ""), dtype),),
                "root_as_reciprocal",
            )
            yield from self._power(0.5, step.args[0])
