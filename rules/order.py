"""Larger and smaller: maximum, minimum, absolute value, sign, comparison and choice."""

from __future__ import annotations

from saturate.rules.language import Expr, const, exp, fn, largest
from saturate.rules.law import BITWISE, SIMPLIFY, Law, binary, finite, integer, law, nonneg

_SUNK = "XLA AlgebraicSimplifier, max(tanh(x), tanh(y)) to tanh(max(x, y)); here "


@law(a="i", direction=SIMPLIFY, exact=BITWISE, source="XLA AlgebraicSimplifier, max(x, x) -> x")
def maximum_of_equals(a: Expr) -> tuple[Expr, Expr]:
    """max(a, a) = a."""
    return fn("maximum", a, a), a


@law(a="i", direction=SIMPLIFY, exact=BITWISE, source="XLA AlgebraicSimplifier, min(x, x) -> x")
def minimum_of_equals(a: Expr) -> tuple[Expr, Expr]:
    """min(a, a) = a."""
    return fn("minimum", a, a), a


@law(a="i", direction=SIMPLIFY, where=nonneg("a"))
def maximum_with_zero(a: Expr) -> tuple[Expr, Expr]:
    """max(a, 0) = a where a is not negative."""
    return fn("maximum", a, const(0)), a


@law(
    a="i", direction=SIMPLIFY, where=nonneg("a"),
    source="XLA AlgebraicSimplifier, Abs(A) => A, where A is not negative",
)  # fmt: skip
def abs_of_nonneg(a: Expr) -> tuple[Expr, Expr]:
    """|a| = a where a is not negative."""
    return fn("abs", a), a


@law(a="i", direction=SIMPLIFY, source="Herbie, sqr-abs; TensorRight, Mul(Abs(A), Abs(A)) ⇒ Mul(A, A)")
def abs_squared(a: Expr) -> tuple[Expr, Expr]:
    """|a|·|a| = a·a."""
    return fn("abs", a) * fn("abs", a), a * a


@law(a="i", direction=SIMPLIFY)
def sign_times_abs(a: Expr) -> tuple[Expr, Expr]:
    """sign(a)·|a| = a."""
    return fn("sign", a) * fn("abs", a), a


@law(a="i")
def maximum_with_minus(a: Expr) -> tuple[Expr, Expr]:
    """max(a, −a) = |a|."""
    return fn("maximum", a, -a), fn("abs", a)


@law(a="i", b="i", direction=SIMPLIFY, exact=BITWISE)
def greater_is_less(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a > b is b < a."""
    return fn("greater", a, b), fn("less", b, a)


@law(a="i", b="i", direction=SIMPLIFY, exact=BITWISE)
def greater_equal_is_less_equal(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a ≥ b is b ≤ a."""
    return fn("greater_equal", a, b), fn("less_equal", b, a)


@law(a="i", b="i", where=finite("a"))
def choice_of_the_larger(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a where b < a, else b) = max(a, b) where a is finite: of NaN the choice is b."""
    return fn("where", fn("less", b, a), a, b), fn("maximum", a, b)


@law(a="i", b="i", where=finite("a"))
def choice_of_the_smaller(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a where a < b, else b) = min(a, b) where a is finite: of NaN the choice is b."""
    return fn("where", fn("less", a, b), a, b), fn("minimum", a, b)


@law(a="i", b="i", where=finite("a"))
def choice_of_the_larger_or_equal(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a where b ≤ a, else b) = max(a, b) where a is finite: of NaN the choice is b."""
    return fn("where", fn("less_equal", b, a), a, b), fn("maximum", a, b)


@law(a="i", b="i", where=finite("a"))
def choice_of_the_smaller_or_equal(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a where a ≤ b, else b) = min(a, b) where a is finite: of NaN the choice is b."""
    return fn("where", fn("less_equal", a, b), a, b), fn("minimum", a, b)


@law(a="i", b="i", source=_SUNK + "exp")
def maximum_of_exps(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """max(exp(a), exp(b)) = exp(max(a, b))."""
    return fn("maximum", exp(a), exp(b)), exp(fn("maximum", a, b))


@law(
    a="i", b="ij", where=finite("a"),
    egglog=(
        '(= e (Red "max" s p)) (= p (Plus d M)) (mem M a) (finite a)'
        " (= (set-length (set-intersect s (free a))) 0)",
        '(union e (Plus d (multiset-of a (Red "max" s (Plus d (multiset-remove M a))))))',
    ),
)  # fmt: skip
def maximum_of_shifted(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """max_j (a[i] + b[i,j]) = a[i] + max_j b[i,j] where a is finite."""
    return largest("j", a + b), a + largest("j", b)


@law(
    a="ij", source=_SUNK + "exp over an axis",
    egglog=('(= e (Red "max" s x)) (= x (Fn1 "exp" d a))', '(union e (Fn1 "exp" d (Red "max" s a)))'),
)  # fmt: skip
def largest_exp(a: Expr) -> tuple[Expr, Expr]:
    """max_j exp(a) = exp(max_j a)."""
    return largest("j", exp(a)), exp(largest("j", a))


@law(
    a="i", b="i", direction=SIMPLIFY, narrows=True, where=finite("b"),
    source=(
        "XLA AlgebraicSimplifier, max(x, -inf) -> x, where NaN is kept; here any b that is never "
        "larger, and finite"
    ),
    egglog=('(= e (Fn2 "maximum" d a b)) (= k (low a)) (= l (high b)) (>= k l) (finite b)', "(union e a)"),
)  # fmt: skip
def maximum_with_a_lower_bound(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """max(cosh(a), tanh(b)) = cosh(a) where b is finite: a maximum with what is never larger."""
    return fn("maximum", fn("cosh", a), fn("tanh", b)), fn("cosh", a)


@law(
    a="i", b="i", direction=SIMPLIFY, narrows=True, where=finite("b"),
    source=(
        "XLA AlgebraicSimplifier, min(x, inf) -> x, where NaN is kept; here any b that is never "
        "smaller, and finite"
    ),
    egglog=('(= e (Fn2 "minimum" d a b)) (= k (high a)) (= l (low b)) (<= k l) (finite b)', "(union e a)"),
)  # fmt: skip
def minimum_with_an_upper_bound(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """min(tanh(a), cosh(b)) = tanh(a) where b is finite: a minimum with what is never smaller."""
    return fn("minimum", fn("tanh", a), fn("cosh", b)), fn("tanh", a)


@law(a="i", direction=SIMPLIFY, exact=BITWISE, where=integer("a"))
def floor_of_integer(a: Expr) -> tuple[Expr, Expr]:
    """⌊a⌋ = a where a is whole."""
    return fn("floor", a), a


@law(a="i", direction=SIMPLIFY, exact=BITWISE, where=integer("a"))
def ceil_of_integer(a: Expr) -> tuple[Expr, Expr]:
    """⌈a⌉ = a where a is whole."""
    return fn("ceil", a), a


@law(a="i", direction=SIMPLIFY, exact=BITWISE, where=integer("a"))
def rint_of_integer(a: Expr) -> tuple[Expr, Expr]:
    """a rounded to the nearest whole number is a where a is whole."""
    return fn("rint", a), a


@law(a="i", direction=SIMPLIFY, where=binary("a"))
def mask_squared(a: Expr) -> tuple[Expr, Expr]:
    """a·a = a where a is 0 or 1."""
    return a * a, a


LAWS: tuple[Law, ...] = (
    maximum_of_equals, minimum_of_equals, maximum_with_zero, abs_of_nonneg, abs_squared, sign_times_abs,
    maximum_with_minus, greater_is_less, greater_equal_is_less_equal, choice_of_the_larger,
    choice_of_the_smaller, choice_of_the_larger_or_equal, choice_of_the_smaller_or_equal, maximum_of_exps,
    maximum_of_shifted, largest_exp, maximum_with_a_lower_bound,
    minimum_with_an_upper_bound, floor_of_integer, ceil_of_integer, rint_of_integer, mask_squared,
)  # fmt: skip
