"""Unsound laws as people have written them, each with a program on which the audit must name it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from workloads import rms_norm

import saturate as sat
from saturate.build import Builder
from saturate.op import AnyArray, Op, Type
from saturate.ops.arithmetic import add, mul
from saturate.ops.unary import tanh
from saturate.program import Program
from saturate.rules import Law, law
from saturate.rules.language import Expr, const, fn, recip, total

Array = Any
ONE = "(bigrat (bigint 1) (bigint 1))"


@law(
    a="i", b="ij", unchecked=True,
    egglog=(
        "(= e (Con d k s M)) (mem M x) (> (set-length s) 0) (> (multiset-length M) 1)",
        "(union e (Con d k (set-empty) (multiset-of x (Con d " + ONE + " s (multiset-remove M x)))))",
    ),
)  # fmt: skip
def multiply_then_sum_is_a_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Σ_j a[i]·b[i,j] = a[i]·Σ_j b[i,j], without a look at which side has which index."""
    return total("j", a * b), a * total("j", b)


@law(
    a="ij", b="i", unchecked=True,
    egglog=(
        "(= e (Con d k s M)) (> (set-length s) 0) (= (multiset-length M) 2) (= x (multiset-pick M))"
        " (= R (multiset-remove M x)) (= y (multiset-pick R)) (!= x y)",
        "(union e (Con d k (set-empty) (multiset-of (Con d " + ONE + " s (multiset-of x)) y)))",
    ),
)  # fmt: skip
def sum_of_product_is_sum_times_factor(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Σ_j a·b = (Σ_j a)·b, whatever b is."""
    return total("j", a * b), total("j", a) * b


@law(a="i", b="i", unchecked=True)
def sinh_of_sum_with_a_wrong_sign(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """sinh(a + b) = sinh(a)·cosh(b) − cosh(a)·sinh(b)."""
    return fn("sinh", a + b), fn("sinh", a) * fn("cosh", b) - fn("cosh", a) * fn("sinh", b)


@law(a="i", narrows=True, unchecked=True)
def x_over_x_at_zero(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/a) = 1."""
    return a * recip(a), const(1)


@law(
    a="i", unchecked=True,
    egglog=("(= e (Opaque n v)) (= x (Opaque m v)) (!= n m)", "(union e x)"),
)  # fmt: skip
def one_draw_is_as_good_as_another(a: Expr) -> tuple[Expr, Expr]:
    """A draw is a draw."""
    return const(1) * a, a


@law(
    a="i", unchecked=True,
    egglog=('(= e (Fn1 "exp" d a))', '(union e (Fn1 "exp" "float32" a))'),
)  # fmt: skip
def exp_in_single(a: Expr) -> tuple[Expr, Expr]:
    """exp(a) = exp(a), whatever its dtype."""
    return fn("exp", a), fn("exp", a)


@law(
    a="i", unchecked=True,
    egglog=('(= e (Fn1 "cast:float32" d a))', "(union e a)"),
)  # fmt: skip
def a_cast_is_nothing(a: Expr) -> tuple[Expr, Expr]:
    """A value is what it is in any dtype."""
    return const(1) * a, a


@dataclass(frozen=True)
class Draw(Op):
    """Standard normal numbers that its key determines."""

    operands = 0
    key: int
    count: int

    def type(self, *operands: Type) -> Type:
        return Type((self.count,))

    def evaluate(self, xp: Any, *operands: AnyArray) -> AnyArray:
        return np.random.default_rng(self.key).standard_normal(self.count)

    def text(self, *operands: str) -> str:
        return f"np.random.default_rng({self.key}).standard_normal({self.count})"


def two_draws(keys: tuple[int, int] = (1, 2)) -> Program:
    """Noise on both branches of a residual block: x·draw(1) + tanh(x)·draw(2)."""
    b = Builder()
    x = b.input("x", Type((5,)))
    first, second = (b.emit(Draw(key, 5)) for key in keys)
    return b.program("two_draws", (add(mul(x, first), mul(tanh(x), second)).id,))


def mixed(x: Array, w: Array) -> Array:
    return np.tanh(x.astype("float32")) @ w


def ratio(x: Array, y: Array) -> Array:
    return y * x / x


def traced(f: Callable[..., Array], *types: Type) -> Callable[[], Program]:
    return lambda: sat.trace(f, *types)


@dataclass(frozen=True)
class Planted:
    """A false law, a program, and what the audit must say."""

    law: Law
    program: Callable[[], Program]
    says: str
    zeros: bool = False


V = Type((5,))
PLANTED: tuple[Planted, ...] = (
    Planted(
        multiply_then_sum_is_a_product,
        traced(rms_norm, Type((5, 7)), Type((7,))),
        "multiply_then_sum_is_a_product makes x[i:5,i:7]·Σ{i:7} x[i:5,i:7] of Σ{i:7} x[i:5,i:7]·x[i:5,i:7], "
        "for a = x[i:5,i:7], b = x[i:5,i:7]: at x = [0, 1, …], w = 1 they are 0 and 4",
    ),
    Planted(
        sum_of_product_is_sum_times_factor,
        traced(lambda a, b: a @ b, Type((5, 7)), Type((7,))),
        "sum_of_product_is_sum_times_factor makes b[i:7]·Σ{i:7} a[i:5,i:7] of Σ{i:7} a[i:5,i:7]·b[i:7], for "
        "a = a[i:5,i:7], b = b[i:7]: at a = 1, b = [0, 1, …] they are 7 and 3",
    ),
    Planted(
        sinh_of_sum_with_a_wrong_sign,
        traced(lambda x, y: np.sinh(x + y), V, V),
        "sinh_of_sum_with_a_wrong_sign makes sinh(x[i:5])·cosh(y[i:5]) + -1·sinh(y[i:5])·cosh(x[i:5]) of "
        "sinh(x[i:5] + y[i:5]), for a = x[i:5], b = y[i:5]: at x = 1, y = 1 they are 0 and 3.627",
    ),
    Planted(
        x_over_x_at_zero,
        traced(ratio, V, V),
        "x_over_x_at_zero makes x[i:5]·y[i:5]·recip(x[i:5]) of y[i:5], for a = x[i:5]: at x = 0, y = 1 they "
        "are nan and 1",
        zeros=True,
    ),
    Planted(
        exp_in_single,
        traced(np.exp, V),
        "exp_in_single makes exp(x[i:5]) of exp(x[i:5]), for a = x[i:5]: at x = 1 they are 2.718 in float32 "
        "and 2.718 in float64",
    ),
    Planted(
        a_cast_is_nothing,
        traced(mixed, V, Type((5,), "float32")),
        "a_cast_is_nothing makes x[i:5] of cast:float32(x[i:5]), for a = x[i:5]: at x = 1, w = 1 they are 1 "
        "in float64 and 1 in float32",
    ),
    Planted(
        one_draw_is_as_good_as_another,
        two_draws,
        "one_draw_is_as_good_as_another makes Draw(key=2, count=5) of Draw(key=1, count=5), for x = "
        "Draw(key=2, count=5): at x = 1 they are -0.5227 and 0.8216",
    ),
)
