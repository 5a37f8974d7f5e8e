"""Tempting false laws, each with what refutes it; none of them may enter the catalogue.

Where a public rule lacks a condition that is needed here, the law names it as its source.
"""

from __future__ import annotations

from dataclasses import dataclass

from saturate.rules.language import Expr, const, exp, fn, largest, log, recip, sqrt, total
from saturate.rules.law import BITWISE, BOUNDED, Law, finite, law, nonneg, nonzero


@law(a="ij", b="j", narrows=True)
def sum_of_product_is_product_with_one_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Σ_ij a·b = (Σ_i a)·b summed over j is right, but not (Σ_ij a)·(Σ_j b)."""
    return total("ij", a * b), total("ij", a) * total("j", b)


@law(a="ij", b="ij", source="SPORES, pullup_mul; there i must not be free in a")
def factor_leaves_its_own_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Σ_j a·b = |j|·(Σ_j a)·(Σ_j b): a and b share the index that is summed."""
    return total("j", a * b), total("j", a) * total("j", b)


@law(a="ij", b="ij")
def square_then_sum_is_a_matrix_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Multiply, then sum, as a product of sums over the wrong side: j stands on both sides of it."""
    return total("j", a * a * b), total("j", a * b) * total("j", a)


@law(a="i", where=finite("a"), source="Herbie, rgt-mult-inverse; there 1/a is undefined at 0")
def x_over_x(a: Expr) -> tuple[Expr, Expr]:
    """a/a = 1 + 0·a, at zero too."""
    return a * recip(a), const(1) + const(0) * a


@law(a="i", b="i")
def sinh_of_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """The addition theorem of sinh with a wrong sign."""
    right = fn("sinh", a) * fn("cosh", b) - fn("cosh", a) * fn("sinh", b)
    return fn("sinh", a + b), right


@law(a="i", b="i")
def exp_of_sum_is_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """exp(a + b) = exp(a) + exp(b)."""
    return exp(a + b), exp(a) + exp(b)


@law(a="i")
def root_of_square(a: Expr) -> tuple[Expr, Expr]:
    """√(a·a) = a, which is |a|."""
    return sqrt(a * a), a


@law(a="i", b="i", where=nonneg("a", "b"))
def root_of_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """√(a + b) = √a + √b."""
    return sqrt(a + b), sqrt(a) + sqrt(b)


@law(a="i", b="i", where=finite("a", "b") + nonneg("a", "b") + nonzero("a", "b"))
def log_of_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """log(a + b) = log(a)·log(b)."""
    return log(a + b), log(a) * log(b)


@law(a="i", b="i", where=nonzero("a", "b") + finite("a", "b"))
def reciprocal_of_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """1/(a + b) = 1/a + 1/b."""
    return recip(a + b), recip(a) + recip(b)


@law(a="i", b="i", source="Herbie, distribute-rgt1-in; there a is real")
def factor_with_one_at_infinity(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a + a·b = a·(1 + b) is false where a is infinite and b = −2."""
    return a + a * b, a * (const(1) + b)


@law(
    a="i",
    narrows=True,
    source="Herbie, +-inverses; XLA AlgebraicSimplifier, A - A => 0, for integers or with fast math",
)
def difference_with_itself(a: Expr) -> tuple[Expr, Expr]:
    """a − a = 0, at infinity too."""
    return a - a, const(0)


@law(a="ij", source="SPORES, sum_i_a; there i must not be free in a")
def mean_of_what_has_the_index(a: Expr) -> tuple[Expr, Expr]:
    """Σ_j a = |j|·Σ_j a."""
    return total("j", a), total("j", const(1)) * total("j", a)


@law(a="ij")
def maximum_of_sum(a: Expr) -> tuple[Expr, Expr]:
    """max(Σ_j a, 0) = Σ_j max(a, 0)."""
    return fn("maximum", total("j", a), const(0)), total("j", fn("maximum", a, const(0)))


@law(a="i")
def tanh_is_twice_steep(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = sinh(a)/(cosh(a)+1), off at first order."""
    return fn("tanh", a), fn("sinh", a) * recip(fn("cosh", a) + const(1))


@law(a="i", where=nonneg("a") + finite("a"), exact=BITWISE)
def root_squared_bit_for_bit(a: Expr) -> tuple[Expr, Expr]:
    """√a·√a = a over the reals, but not bit for bit."""
    return sqrt(a) * sqrt(a), a


@law(a="i", where=nonneg("a"), exact=BITWISE)
def abs_bit_for_bit(a: Expr) -> tuple[Expr, Expr]:
    """|a| = a where a ≥ 0, but for the sign of −0."""
    return fn("abs", a), a


@law(a="i", exact=BOUNDED, bound=3e-4)
def erf_within_less_than_its_bound(a: Expr) -> tuple[Expr, Expr]:
    """erf(a) ≈ tanh(1.128·(a + 0.0894·a³)) is off by 3.6e-4."""
    return fn("erf", a), fn("tanh", const(1.12838) * a + const(0.10091) * a * a * a)


@law(a="i", b="i")
def choice_of_the_wrong_one(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a where a < b, else b) = max(a, b)."""
    return fn("where", fn("less", a, b), a, b), fn("maximum", a, b)


@law(a="i", b="i")
def choice_of_the_larger_at_nan(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a where b < a, else b) = max(a, b), also where a is NaN: there the choice is b."""
    return fn("where", fn("less", b, a), a, b), fn("maximum", a, b)


@law(a="i", b="i", narrows=True)
def maximum_with_what_is_never_larger_at_nan(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """max(cosh(a), tanh(b)) = cosh(a), also where b is NaN."""
    return fn("maximum", fn("cosh", a), fn("tanh", b)), fn("cosh", a)


@law(a="ij", b="ij")
def maximum_of_sum_is_sum_of_maxima(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """max_j (a + b) = max_j a + max_j b: both have the index."""
    return largest("j", a + b), largest("j", a) + largest("j", b)


@law(a="i")
def off_by_a_hundred_millionth(a: Expr) -> tuple[Expr, Expr]:
    """a = a·(1 + 1e-8)."""
    return a * const(1), a * const(1 + 1e-8)


@law(
    a="i",
    narrows=True,
    source="TensorRight, Mul(A, 0) ⇒ 0; XLA AlgebraicSimplifier for integers or with fast math",
)
def zero_times_infinity(a: Expr) -> tuple[Expr, Expr]:
    """0·a = 0, where a is infinite or NaN too."""
    return const(0) * a, const(0)


@law(a="i", narrows=True, source="TensorRight, Le(A, A) ⇒ True; XLA AlgebraicSimplifier for integers alone")
def at_most_itself(a: Expr) -> tuple[Expr, Expr]:
    """(1 where a ≤ a, else 0) = 1, at NaN too."""
    return fn("where", fn("less_equal", a, a), const(1), const(0)), const(1)


@law(a="i", b="i", c="i", source="TensorRight, Add(Mul(A, C), Mul(B, C)) ⇒ Mul(Add(A, B), C)")
def common_factor_at_infinity(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """a·c + b·c = (a + b)·c is false where c is infinite, a = 2 and b = −1."""
    return a * c + b * c, (a + b) * c


@law(a="i", b="i", source="Herbie, sqrt-prod; there marked unsound at −1")
def root_of_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """√(a·b) = √a·√b, where both are negative too."""
    return sqrt(a * b), sqrt(a) * sqrt(b)


@law(a="i", source="Herbie, add-sqr-sqrt; there marked unsound at −1")
def square_of_root(a: Expr) -> tuple[Expr, Expr]:
    """a·1 = √a·√a, where a is negative too."""
    return const(1) * a, sqrt(a) * sqrt(a)


@law(a="i", source="XLA AlgebraicSimplifier, rsqrt(x) * rsqrt(x) => 1/x; there x >= 0")
def reciprocal_of_root_squared(a: Expr) -> tuple[Expr, Expr]:
    """(1/√a)·(1/√a) = 1/a, where a is negative too."""
    return recip(sqrt(a)) * recip(sqrt(a)), recip(a)


@law(a="i", source="Herbie, add-exp-log; there marked unsound at 0")
def exp_of_log_of_anything(a: Expr) -> tuple[Expr, Expr]:
    """exp(log(a)) = a, where a is negative too."""
    return exp(log(a)), a


@law(a="i", b="i", source="Herbie, log-prod; there marked unsound at −1")
def log_of_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """log(a·b) = log(a) + log(b), where both are negative too."""
    return log(a * b), log(a) + log(b)


@law(a="i", source="Herbie, log-pow; there marked unsound for a = −1, b = 2")
def log_of_square(a: Expr) -> tuple[Expr, Expr]:
    """log(a·a) = 2·log(a), where a is negative too."""
    return log(a * a), const(2) * log(a)


@law(
    a="i", b="i", where=finite("a", "b"), source="Herbie, sum-to-mult; there marked unsound for a = 0, b = 1"
)
def sum_as_a_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a + b = (1 + b/a)·a, at a = 0 too."""
    return a + b, (const(1) + b * recip(a)) * a


@law(a="i", b="i", where=finite("a", "b"), source="Herbie, flip-+; there noted unsound for a = b = 1")
def sum_as_a_quotient(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a + b = (a·a − b·b)/(a − b), at a = b too."""
    return a + b, (a * a - b * b) * recip(a - b)


@law(a="i", where=finite("a"), narrows=True)
def maximum_with_fifty(a: Expr) -> tuple[Expr, Expr]:
    """max(a, 50) = 50, where a is larger too."""
    return fn("maximum", a, const(50)), const(50)


@law(a="i", where=finite("a"))
def exp_below_a_million(a: Expr) -> tuple[Expr, Expr]:
    """min(exp(a), 1e6) = exp(a), where a is above 13.8 too."""
    return fn("minimum", exp(a), const(1000000)), exp(a)


@law(a="i", where=finite("a"))
def distance_from_five(a: Expr) -> tuple[Expr, Expr]:
    """||a| − 5| = 5 − |a|, where |a| is above 5 too."""
    return fn("abs", fn("abs", a) - 5), 5 - fn("abs", a)


@law(a="i", where=finite("a"))
def square_of_root_up_to_fifty(a: Expr) -> tuple[Expr, Expr]:
    """√(50 − a)·√(50 − a) = 50 − a, where a is larger too."""
    return sqrt(50 - a) * sqrt(50 - a), 50 - a


@dataclass(frozen=True)
class Refuted:
    """A false law and what the checker says first."""

    law: Law
    says: str


DIFFER, INFINITE, AT_NAN = "the sides differ", "the sides differ at infinities", "the sides differ at NaN"

REFUTED: tuple[Refuted, ...] = (
    Refuted(sum_of_product_is_product_with_one_sum, DIFFER),
    Refuted(factor_leaves_its_own_sum, DIFFER),
    Refuted(square_then_sum_is_a_matrix_product, DIFFER),
    Refuted(x_over_x, DIFFER),
    Refuted(sinh_of_sum, DIFFER),
    Refuted(exp_of_sum_is_sum, DIFFER),
    Refuted(root_of_square, DIFFER),
    Refuted(root_of_sum, DIFFER),
    Refuted(log_of_sum, DIFFER),
    Refuted(reciprocal_of_sum, DIFFER),
    Refuted(factor_with_one_at_infinity, INFINITE),
    Refuted(difference_with_itself, INFINITE),
    Refuted(mean_of_what_has_the_index, DIFFER),
    Refuted(maximum_of_sum, DIFFER),
    Refuted(tanh_is_twice_steep, DIFFER),
    Refuted(root_squared_bit_for_bit, DIFFER),
    Refuted(abs_bit_for_bit, DIFFER),
    Refuted(erf_within_less_than_its_bound, DIFFER),
    Refuted(choice_of_the_wrong_one, DIFFER),
    Refuted(choice_of_the_larger_at_nan, AT_NAN),
    Refuted(maximum_with_what_is_never_larger_at_nan, AT_NAN),
    Refuted(maximum_of_sum_is_sum_of_maxima, DIFFER),
    Refuted(off_by_a_hundred_millionth, DIFFER),
    Refuted(zero_times_infinity, AT_NAN),
    Refuted(at_most_itself, AT_NAN),
    Refuted(common_factor_at_infinity, INFINITE),
    Refuted(root_of_product, DIFFER),
    Refuted(square_of_root, DIFFER),
    Refuted(reciprocal_of_root_squared, DIFFER),
    Refuted(exp_of_log_of_anything, DIFFER),
    Refuted(log_of_product, DIFFER),
    Refuted(log_of_square, DIFFER),
    Refuted(sum_as_a_product, DIFFER),
    Refuted(sum_as_a_quotient, DIFFER),
    Refuted(maximum_with_fifty, DIFFER),
    Refuted(exp_below_a_million, DIFFER),
    Refuted(distance_from_five, DIFFER),
    Refuted(square_of_root_up_to_fifty, DIFFER),
)
