"""Reciprocals and roots."""

from __future__ import annotations

from fractions import Fraction

from saturate.rules.language import Expr, const, fn, recip, sqrt, total
from saturate.rules.law import DOMAIN, SIMPLIFY, Law, finite, law, nonneg, nonzero


@law(
    a="ij", direction=SIMPLIFY, narrows=True, where=nonzero("a") + finite("a"),
    source="Herbie, rgt-mult-inverse; here a is finite and nowhere zero",
    egglog=(
        '(= e (Con d k s M)) (mem M r) (= r (Fn1 "recip" d a)) (mem M a) (nonzero a) (finite a)',
        "(union e (Con d k s (multiset-remove (multiset-remove M r) a))) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def reciprocal_cancels(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/a) = 1 where a is finite and nowhere zero."""
    return a * recip(a), const(1)


@law(
    direction=SIMPLIFY, source="XLA AlgebraicSimplifier, A / Const => A * (1 / Const); here A is 1",
    egglog=(
        '(= e (Fn1 "recip" d x)) (= v (value x)) (!= v (bigrat (bigint 0) (bigint 1)))',
        "(union e (Con d (/ (bigrat (bigint 1) (bigint 1)) v) (set-empty) (multiset-of)))",
    ),
)  # fmt: skip
def reciprocal_of_number() -> tuple[Expr, Expr]:
    """1/2 is a number."""
    return recip(const(2)), const(Fraction(1, 2))


@law(a="i", direction=SIMPLIFY, source="Herbie, remove-double-div")
def reciprocal_of_reciprocal(a: Expr) -> tuple[Expr, Expr]:
    """1/(1/a) = a."""
    return recip(recip(a)), a


@law(
    a="i", direction=SIMPLIFY, where=nonneg("a"),
    source="Herbie, rem-square-sqrt; XLA AlgebraicSimplifier, sqrt(x) * sqrt(x) => x, for x >= 0",
)  # fmt: skip
def root_squared(a: Expr) -> tuple[Expr, Expr]:
    """√a·√a = a where a is not negative."""
    return sqrt(a) * sqrt(a), a


@law(a="i", where=nonzero("a") + finite("a"))
def over_its_root(a: Expr) -> tuple[Expr, Expr]:
    """a·(1/√a) = √a where a is finite and nowhere zero."""
    return a * recip(sqrt(a)), sqrt(a)


@law(a="i", source="Herbie, rem-sqrt-square; XLA AlgebraicSimplifier, sqrt(A*A) => |A|, with fast math")
def root_of_square_is_abs(a: Expr) -> tuple[Expr, Expr]:
    """√(a·a) = |a|: a·a may overflow or vanish, |a| does not."""
    return sqrt(a * a), fn("abs", a)


@law(
    a="i", b="i", exact=DOMAIN, where=nonneg("a", "b"),
    source="Herbie, sqrt-unprod; here neither is negative",
)  # fmt: skip
def roots_multiply(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """√a·√b = √(a·b) where neither is negative; a·b may overflow where the left does not."""
    return sqrt(a) * sqrt(b), sqrt(a * b)


@law(a="i", b="i", source="Herbie, hypot-udef")
def hypot_is_a_root(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """hypot(a, b) = √(a·a + b·b); the squares may overflow or vanish."""
    return fn("hypot", a, b), sqrt(a * a + b * b)


@law(a="i", where=finite("a"), source="Herbie, 2sqrt (Hamming, example 3.1); here a is finite")
def difference_of_roots(a: Expr) -> tuple[Expr, Expr]:
    """1/(√(1 + a) + √a) = √(1 + a) − √a where a is finite; far out the right side cancels."""
    return recip(sqrt(const(1) + a) + sqrt(a)), sqrt(const(1) + a) - sqrt(a)


@law(
    a="i", b="ij", where=nonzero("a", "b") + finite("a") + nonneg("a", "b"),
    source="Herbie, associate-/r*; here under a sum, where both are positive and a is finite",
    egglog=(
        '(= e (Fn1 "recip" d p)) (= p (Con d k s M)) (mem M a)'
        " (finite a) (nonzero p) (= (set-length (set-intersect s (free a))) 0)"
        " (= r (multiset-remove M a))",
        '(union e (Con d (bigrat (bigint 1) (bigint 1)) (set-empty) (multiset-of (Fn1 "recip" d a)'
        ' (Fn1 "recip" d (Con d k s r)))))',
    ),
)  # fmt: skip
def reciprocal_of_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """1/Σ_j a[i]·b[i,j] = (1/a[i])·(1/Σ_j b[i,j]) where both are positive and a is finite.

    What it takes is that the sum is nowhere zero; without a sum it is enough that neither factor is.
    """
    return recip(total("j", a * b)), recip(a) * recip(total("j", b))


_INTO_SUM = (
    "(= e (Con d k s M)) (mem M a) (mem M p) (= p (Plus d N)) (mem N x) (= x (Con d l t B)) (mem B r)"
    " {reciprocal} (nonzero a) (finite a) (= (set-length (set-intersect t (free a))) 0)",
    "(union e (Con d k s (multiset-insert (multiset-remove (multiset-remove M a) p) (Plus d (multiset-of"
    " (Con d l t (multiset-remove B r)) (Con d (bigrat (bigint 1) (bigint 1)) (set-empty)"
    " (multiset-of a (Plus d (multiset-remove N x)))))))))",
)


@law(
    a="i", b="i", c="i", where=nonzero("a") + finite("a"),
    source="Herbie, distribute-lft-in and rgt-mult-inverse; here a is finite and nowhere zero",
    egglog=(_INTO_SUM[0].format(reciprocal='(= r (Fn1 "recip" d a))'), _INTO_SUM[1]),
)  # fmt: skip
def factor_cancels_in_sum(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """a·(b·(1/a) + c) = b + a·c where a is finite and nowhere zero."""
    return a * (b * recip(a) + c), b + a * c


@law(
    a="i", b="i", c="i", where=nonzero("a") + finite("a"),
    source="Herbie, add-to-fraction-rev; here a is finite and nowhere zero",
    egglog=(_INTO_SUM[0].format(reciprocal='(= a (Fn1 "recip" d r)) (nonzero r) (finite r)'), _INTO_SUM[1]),
)  # fmt: skip
def reciprocal_cancels_in_sum(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """(1/a)·(b·a + c) = b + (1/a)·c where a is finite and nowhere zero."""
    return recip(a) * (b * a + c), b + recip(a) * c


LAWS: tuple[Law, ...] = (
    reciprocal_cancels, reciprocal_of_number, reciprocal_of_reciprocal, root_squared, over_its_root,
    root_of_square_is_abs, roots_multiply, hypot_is_a_root, difference_of_roots, reciprocal_of_product,
    factor_cancels_in_sum, reciprocal_cancels_in_sum,
)  # fmt: skip
