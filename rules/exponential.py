"""Exponentials and logarithms."""

from __future__ import annotations

from saturate.rules.language import Expr, const, exp, log, recip
from saturate.rules.law import DOMAIN, SIMPLIFY, Law, finite, law, nonneg, nonzero


@law(a="i", direction=SIMPLIFY, where=finite("a"))
def log_of_exp(a: Expr) -> tuple[Expr, Expr]:
    """log(exp(a)) = a where a is finite."""
    return log(exp(a)), a


@law(a="i", direction=SIMPLIFY, where=finite("a") + nonneg("a") + nonzero("a"))
def exp_of_log(a: Expr) -> tuple[Expr, Expr]:
    """exp(log(a)) = a where a is positive."""
    return exp(log(a)), a


@law(
    a="i", b="i", where=finite("a", "b") + nonneg("b") + nonzero("b"),
    egglog=(
        '(= e (Fn1 "log" d p)) (= p (Con d k (set-empty) M)) (mem M x) (= x (Fn1 "exp" d a))'
        " (> k (bigrat (bigint 0) (bigint 1))) (finite a) (finite p) (nonneg p) (nonzero p)"
        " (> (multiset-length M) 1)",
        '(union e (Plus d (multiset-of a (Fn1 "log" d (Con d k (set-empty) (multiset-remove M x))))))',
    ),
)  # fmt: skip
def log_of_product_with_exp(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """log(exp(a)·b) = a + log(b) where b is positive: nothing underflows on the right."""
    return log(exp(a) * b), a + log(b)


@law(a="i", where=finite("a") + nonneg("a") + nonzero("a"))
def log_of_reciprocal(a: Expr) -> tuple[Expr, Expr]:
    """log(1/a) = −log(a) where a is positive."""
    return log(recip(a)), const(-1) * log(a)


@law(a="i", where=finite("a"))
def reciprocal_of_exp(a: Expr) -> tuple[Expr, Expr]:
    """1/exp(a) = exp(−a) where a is finite."""
    return recip(exp(a)), exp(const(-1) * a)


@law(a="i", b="i", exact=DOMAIN)
def exp_of_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """exp(a + b) = exp(a)·exp(b); overflows where the left need not, so it is not used unless asked for."""
    return exp(a + b), exp(a) * exp(b)


@law(a="i", where=finite("a") + nonneg("a"))
def share_of_one(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/(1 + a)) = 1 − 1/(1 + a) where a is not negative."""
    return a * recip(const(1) + a), const(1) + const(-1) * recip(const(1) + a)


@law(a="i", where=finite("a") + nonneg("a"))
def complement_of_share(a: Expr) -> tuple[Expr, Expr]:
    """1 − 1/(1 + a) = a·(1/(1 + a)) where a is not negative: nothing cancels on the right."""
    return const(1) + const(-1) * recip(const(1) + a), a * recip(const(1) + a)


LAWS: tuple[Law, ...] = (
    log_of_exp, exp_of_log, log_of_product_with_exp, log_of_reciprocal, reciprocal_of_exp, exp_of_sum,
    share_of_one, complement_of_share,
)  # fmt: skip
