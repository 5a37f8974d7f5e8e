"""Reciprocals and roots."""

from __future__ import annotations

from saturate.rules.language import Expr, const, recip, sqrt
from saturate.rules.law import SIMPLIFY, Law, finite, law, nonneg, nonzero


@law(
    a="ij", direction=SIMPLIFY, narrows=True, where=nonzero("a") + finite("a"),
    egglog=(
        '(= e (Con d k s M)) (mem M r) (= r (Fn1 "recip" d a)) (mem M a) (nonzero a) (finite a)',
        "(union e (Con d k s (multiset-remove (multiset-remove M r) a))) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def reciprocal_cancels(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/a) = 1 where a is finite and nowhere zero."""
    return a * recip(a), const(1)


@law(a="i", direction=SIMPLIFY, where=nonzero("a") + finite("a"))
def reciprocal_of_reciprocal(a: Expr) -> tuple[Expr, Expr]:
    """1/(1/a) = a where a is finite and nowhere zero."""
    return recip(recip(a)), a


@law(a="i", direction=SIMPLIFY, where=nonneg("a") + finite("a"))
def root_squared(a: Expr) -> tuple[Expr, Expr]:
    """√a·√a = a where a is not negative."""
    return sqrt(a) * sqrt(a), a


@law(a="i", where=nonzero("a") + nonneg("a") + finite("a"))
def over_its_root(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/√a) = √a where a is positive."""
    return a * recip(sqrt(a)), sqrt(a)


LAWS: tuple[Law, ...] = (reciprocal_cancels, reciprocal_of_reciprocal, root_squared, over_its_root)
