"""Shares of one, a/(1 + a), which sigmoids are made of, and functions that go from one bound to another."""

from __future__ import annotations

from math import pi

from saturate.rules.language import Expr, const, exp, fn, recip
from saturate.rules.law import BOUNDED, Law, finite, law

_SLOPE = "JAX, derivative of logistic as σ·(1 − σ); here any finite a stands for exp"


@law(a="i", where=finite("a"), source=_SLOPE)
def share_of_one(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/(1 + a)) = 1 − 1/(1 + a) where a is finite."""
    return a * recip(const(1) + a), const(1) + const(-1) * recip(const(1) + a)


@law(a="i", where=finite("a"), source=_SLOPE)
def complement_of_share(a: Expr) -> tuple[Expr, Expr]:
    """1 − 1/(1 + a) = a·(1/(1 + a)) where a is finite: nothing cancels on the right."""
    return const(1) + const(-1) * recip(const(1) + a), a * recip(const(1) + a)


@law(a="i", source="SciPy, expit; JAX, logistic")
def expit_is_a_share(a: Expr) -> tuple[Expr, Expr]:
    """expit(a) = 1/(1 + exp(−a))."""
    return fn("expit", a), recip(const(1) + exp(-a))


@law(a="i")
def expit_of_minus(a: Expr) -> tuple[Expr, Expr]:
    """expit(−a) = 1 − expit(a); where expit(a) is nearly one the right side cancels."""
    return fn("expit", -a), const(1) - fn("expit", a)


@law(
    a="i", exact=BOUNDED, bound=3.6e-4,
    source="Hendrycks, Gimpel, tanh form of GELU; here a is x/√2",
)  # fmt: skip
def erf_is_nearly_a_tanh(a: Expr) -> tuple[Expr, Expr]:
    """erf(a) ≈ tanh(2/√π·(a + 0.08943·a³)), within 3.6e-4."""
    slope = 2 / pi**0.5
    return fn("erf", a), fn("tanh", const(slope) * a + const(0.08943 * slope) * a * a * a)


LAWS: tuple[Law, ...] = (
    share_of_one, complement_of_share, expit_is_a_share, expit_of_minus, erf_is_nearly_a_tanh,
)  # fmt: skip
