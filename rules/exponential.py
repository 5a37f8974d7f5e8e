"""Exponentials and logarithms, their forms that are exact near zero, and the hyperbolic functions."""

from __future__ import annotations

from fractions import Fraction

from saturate.rules.language import Expr, const, exp, fn, log, recip, total
from saturate.rules.law import DOMAIN, SIMPLIFY, Law, finite, law, nonneg, nonzero

HALF = Fraction(1, 2)


@law(
    a="i", direction=SIMPLIFY,
    source="Herbie, rem-log-exp; XLA AlgebraicSimplifier, ln(exp(A)) => A, with fast math",
)  # fmt: skip
def log_of_exp(a: Expr) -> tuple[Expr, Expr]:
    """log(exp(a)) = a."""
    return log(exp(a)), a


@law(
    direction=SIMPLIFY, source="Herbie, exp-0; XLA AlgebraicSimplifier, Exp(0) => 1",
    egglog=(
        '(= e (Fn1 "exp" d x)) (= (value x) (bigrat (bigint 0) (bigint 1)))',
        "(union e (Con d (bigrat (bigint 1) (bigint 1)) (set-empty) (multiset-of)))",
    ),
)  # fmt: skip
def exp_of_zero() -> tuple[Expr, Expr]:
    """exp(0) = 1."""
    return exp(const(0)), const(1)


@law(a="i", direction=SIMPLIFY, where=nonneg("a"), source="Herbie, rem-exp-log; here a is not negative")
def exp_of_log(a: Expr) -> tuple[Expr, Expr]:
    """exp(log(a)) = a where a is not negative."""
    return exp(log(a)), a


@law(
    a="i", b="ij", where=finite("a"),
    source=(
        "Blanchard, Higham, Higham, shifted log-sum-exp; Herbie, log-prod, unsound at −1; here a is finite"
    ),
    egglog=(
        '(= e (Fn1 "log" d p)) (= p (Con d k s M)) (mem M x) (= x (Fn1 "exp" d a))'
        " (= (set-length (set-intersect s (free a))) 0)"
        " (finite a) (> (multiset-length M) 1)",
        '(union e (Plus d (multiset-of a (Fn1 "log" d (Con d k s (multiset-remove M x))))))',
    ),
)  # fmt: skip
def log_of_product_with_exp(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """log(Σ_j exp(a[i])·b[i,j]) = a[i] + log(Σ_j b[i,j]) where a is finite: exp(a) cannot overflow."""
    return log(total("j", exp(a) * b)), a + log(total("j", b))


@law(a="i", b="i", exact=DOMAIN, where=nonneg("a", "b"), source="Herbie, sum-log; here neither is negative")
def logs_add(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """log(a) + log(b) = log(a·b) where neither is negative; a·b may overflow where the left does not."""
    return log(a) + log(b), log(a * b)


@law(a="i", exact=DOMAIN, source="Herbie, log1p-udef")
def log1p_is_a_log(a: Expr) -> tuple[Expr, Expr]:
    """log1p(a) = log(1 + a); near zero the digits of a are lost on the right."""
    return fn("log1p", a), log(const(1) + a)


@law(a="i", exact=DOMAIN, source="Herbie, expm1-udef")
def expm1_is_an_exp(a: Expr) -> tuple[Expr, Expr]:
    """expm1(a) = exp(a) − 1; near zero the digits of a are lost on the right."""
    return fn("expm1", a), exp(a) - const(1)


@law(a="i", direction=SIMPLIFY)
def log2_of_exp2(a: Expr) -> tuple[Expr, Expr]:
    """log2(exp2(a)) = a."""
    return fn("log2", fn("exp2", a)), a


@law(a="i", b="i", exact=DOMAIN, source="NumPy, logaddexp")
def logaddexp_is_a_log(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """logaddexp(a, b) = log(exp(a) + exp(b)); overflows where the left does not."""
    return fn("logaddexp", a, b), log(exp(a) + exp(b))


@law(a="i", exact=DOMAIN, source="Herbie, sinh-def")
def sinh_of_exp(a: Expr) -> tuple[Expr, Expr]:
    """sinh(a) = ½·exp(a) − ½·exp(−a); near zero the right side cancels."""
    return fn("sinh", a), const(HALF) * exp(a) + const(-HALF) * exp(-a)


@law(a="i", source="Herbie, cosh-def")
def cosh_of_exp(a: Expr) -> tuple[Expr, Expr]:
    """cosh(a) = ½·exp(a) + ½·exp(−a)."""
    return fn("cosh", a), const(HALF) * exp(a) + const(HALF) * exp(-a)


@law(a="i", where=nonneg("a") + nonzero("a"), source="Herbie, log-rec; here a is positive")
def log_of_reciprocal(a: Expr) -> tuple[Expr, Expr]:
    """log(1/a) = −log(a) where a is positive."""
    return log(recip(a)), const(-1) * log(a)


@law(a="i", source="Herbie, rec-exp; XLA AlgebraicSimplifier, A/exp(B) => A*exp(-B), with fast math")
def reciprocal_of_exp(a: Expr) -> tuple[Expr, Expr]:
    """1/exp(a) = exp(−a)."""
    return recip(exp(a)), exp(const(-1) * a)


@law(
    a="i", b="i", exact=DOMAIN,
    source=(
        "Herbie, exp-sum; XLA AlgebraicSimplifier, exp(LHS) * exp(RHS) => exp(LHS+RHS), with fast math and "
        "only that way"
    ),
)  # fmt: skip
def exp_of_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """exp(a + b) = exp(a)·exp(b); overflows where the left need not, so it is not used unless asked for."""
    return exp(a + b), exp(a) * exp(b)


LAWS: tuple[Law, ...] = (
    log_of_exp, exp_of_log, exp_of_zero, log2_of_exp2, log_of_product_with_exp, log_of_reciprocal,
    reciprocal_of_exp, exp_of_sum, logs_add, log1p_is_a_log, expm1_is_an_exp, logaddexp_is_a_log, sinh_of_exp,
    cosh_of_exp,
)  # fmt: skip
