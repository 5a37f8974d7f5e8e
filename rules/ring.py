"""Sums and products: the laws of the ring over n-ary nodes, where order and grouping are not laws at all."""

from __future__ import annotations

from saturate.rules.language import Expr, Sum, const, total
from saturate.rules.law import EXPLORE, MERGE_SUMS, SIMPLIFY, Law, finite, law

_ZERO = "(bigrat (bigint 0) (bigint 1))"
_ONE = "(bigrat (bigint 1) (bigint 1))"
_MINUS = "(bigrat (bigint -1) (bigint 1))"


@law(
    a="ij", b="ij", c="ij", direction=SIMPLIFY, source="SPORES, associate-*r*; TASO, ewmul is associative",
    egglog=(
        "(= e (Con d k s M)) (mem M x) (= x (Con d l t N)) (= t (set-empty)) (!= e x)"
        " (= (multiset-count M x) 1) (<= (+ (multiset-length M) (multiset-length N)) 9)",
        "(union e (Con d (* k l) s (multiset-sum (multiset-remove M x) N))) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def products_merge(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """Σ_j a·(b·c) = Σ_j a·b·c."""
    return total("j", a * (b * c)), total("j", a * b * c)


@law(
    a="ij", b="ik", direction=SIMPLIFY, where=finite("a", "b"),
    source="SPORES, pushdown_mul; TensorRight, Mul(Reduce(X), Reduce(Y)); here both are finite",
    egglog=(
        "(= e (Con d k s M)) (mem M x) (= x (Con d l t N)) (> (set-length t) 0) (!= e x)"
        " (= (multiset-count M x) 1) (<= (+ (multiset-length M) (multiset-length N)) 9) (finites M)"
        " (= f (frees M)) (= (set-length (set-intersect t f)) 0) (= (set-length (set-intersect t s)) 0)",
        "(union e (Con d (* k l) (set-union s t) (multiset-sum (multiset-remove M x) N)))"
        " (subsume (Con d k s M))",
    ),
)  # fmt: skip
def sums_of_products_merge(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Σ_j a[i,j]·(Σ_k b[i,k]) = Σ_jk a[i,j]·b[i,k] where both are finite."""
    return total("j", a * total("k", b)), total("jk", a * b)


@law(
    a="i", direction=SIMPLIFY, source="Herbie, *-lft-identity; XLA AlgebraicSimplifier, 1*RHS => RHS",
    egglog=(
        "(= e (Con d k s M)) (= s (set-empty)) (= (multiset-length M) 1) (= k " + _ONE + ")"
        " (= x (multiset-pick M))",
        "(union e x) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def product_of_one(a: Expr) -> tuple[Expr, Expr]:
    """1·a = a."""
    return const(1) * a, a


@law(
    a="i", direction=SIMPLIFY, source="XLA AlgebraicSimplifier, (A * C1) * C2 => A * (C1 * C2)",
    egglog=(
        "(= e (Con d k s M)) (mem M c) (= v (value c)) (!= v " + _ZERO + ")",
        "(union e (Con d (* k v) s (multiset-remove M c))) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def numbers_multiply(a: Expr) -> tuple[Expr, Expr]:
    """a·2·3 = 6·a."""
    return a * const(2) * const(3), const(6) * a


@law(
    a="i", direction=SIMPLIFY, narrows=True, where=finite("a"),
    source=(
        "Herbie, mul0-lft; XLA AlgebraicSimplifier, 0*RHS => 0, for integers or with fast math; "
        "here a is finite"
    ),
    egglog=(
        "(= e (Con d k s M)) (mem M c) (= (value c) " + _ZERO + ") (finites M)",
        "(union e (Con d " + _ZERO + " (set-empty) (multiset-of))) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def zero_absorbs(a: Expr) -> tuple[Expr, Expr]:
    """0·a = 0 where a is finite."""
    return const(0) * a, const(0)


@law(
    a="i", direction=SIMPLIFY, narrows=True, where=finite("a"),
    source=(
        "Herbie, mul0-rgt; XLA AlgebraicSimplifier, LHS*0 => 0, for integers or with fast math; "
        "here a is finite"
    ),
    egglog=(
        "(= e (Con d k s M)) (= k " + _ZERO + ") (finites M) (> (multiset-length M) 0)",
        "(union e (Con d k (set-empty) (multiset-of))) (subsume (Con d k s M))",
    ),
)  # fmt: skip
def zero_coefficient(a: Expr) -> tuple[Expr, Expr]:
    """a·0 = 0 where a is finite."""
    return a * const(0), const(0)


@law(
    a="i", direction=SIMPLIFY, source="SPORES, sum_i_a; XLA AlgebraicSimplifier, Reduce(Broadcast(x), +)",
    egglog=(
        "(= e (Con d k s M)) (= f (frees M)) (= rest (set-diff s f)) (> (set-length rest) 0)"
        " (= i (set-get rest 0))",
        "(union e (Con d (* k (bigrat (bigint (/ i 4096)) (bigint 1))) (set-remove s i) M))"
        " (subsume (Con d k s M))",
    ),
)  # fmt: skip
def sum_of_what_lacks_the_index(a: Expr) -> tuple[Expr, Expr]:
    """Σ_j a[i] = |j|·a[i]."""
    return total("j", a), total("j", const(1)) * a


@law(
    a="i", direction=SIMPLIFY,
    egglog=(
        "(= e (Plus d M)) (= (multiset-length M) 1) (= x (multiset-pick M))",
        "(union e x) (subsume (Plus d M))",
    ),
)  # fmt: skip
def sum_of_one(a: Expr) -> tuple[Expr, Expr]:
    """A sum of one member is that member."""
    return Sum((a,)), a


@law(
    a="i", direction=SIMPLIFY, source="Herbie, +-lft-identity; XLA AlgebraicSimplifier, 0 + A => A",
    egglog=(
        "(= e (Plus d M)) (mem M x) (= (value x) " + _ZERO + ") (> (multiset-length M) 1)",
        "(union e (Plus d (multiset-remove M x))) (subsume (Plus d M))",
    ),
)  # fmt: skip
def zero_adds_nothing(a: Expr) -> tuple[Expr, Expr]:
    """0 + a = a."""
    return const(0) + a, a


@law(
    a="i", direction=SIMPLIFY, source="XLA AlgebraicSimplifier, (A + C1) + C2 => A + (C1 + C2)",
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (!= x y) (= v (value x)) (= w (value y))",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y)"
        " (Con d (+ v w) (set-empty) (multiset-of))))) (subsume (Plus d M))",
    ),
)  # fmt: skip
def numbers_add(a: Expr) -> tuple[Expr, Expr]:
    """a + 2 + 3 = a + 5."""
    return a + const(2) + const(3), a + const(5)


@law(
    a="i", direction=SIMPLIFY, source="Herbie, count-2",
    egglog=(
        "(= e (Plus d M)) (mem M x) (> (multiset-count M x) 1)",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) x)"
        " (Con d (bigrat (bigint 2) (bigint 1)) (set-empty) (multiset-of x))))) (subsume (Plus d M))",
    ),
)  # fmt: skip
def equal_members_count(a: Expr) -> tuple[Expr, Expr]:
    """a + a = 2·a."""
    return a + a, const(2) * a


@law(
    a="ij", direction=SIMPLIFY, where=finite("a"),
    source="Herbie, distribute-rgt-out; here numbers are factored out and a is finite",
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (= x (Con d k s N)) (= y (Con d l s N)) (< k l) (!= x y)"
        " (finites N)",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y) (Con d (+ k l) s N))))"
        " (subsume (Plus d M))",
    ),
)  # fmt: skip
def like_terms_add(a: Expr) -> tuple[Expr, Expr]:
    """3·a − 2·a = a where a is finite."""
    return const(-2) * a + const(3) * a, a


@law(
    a="i", direction=SIMPLIFY, where=finite("a"),
    source="Herbie, distribute-rgt1-in; here c is a number and a is finite",
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (= y (Con d k (set-empty) N)) (= N (multiset-of x)) (!= x y)"
        " (finite x)",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y)"
        " (Con d (+ k " + _ONE + ") (set-empty) N)))) (subsume (Plus d M))",
    ),
)  # fmt: skip
def like_term_without_number(a: Expr) -> tuple[Expr, Expr]:
    """a − 2·a = −a where a is finite."""
    return a + const(-2) * a, const(-1) * a


@law(
    a="i", b="i", c="i", direction=MERGE_SUMS, source="SPORES, associate-+r+; TASO, ewadd is associative",
    egglog=(
        "(= e (Plus d M)) (mem M x) (= x (Plus d N)) (!= e x)"
        " (<= (+ (multiset-length M) (multiset-length N)) 5)",
        "(union e (Plus d (multiset-sum (multiset-remove M x) N)))",
    ),
)  # fmt: skip
def sums_merge(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """a + (b + c) = a + b + c."""
    return a + (b + c), a + b + c


@law(
    a="ij", b="ij", c="ij", direction=EXPLORE, where=finite("a", "b"),
    source=(
        "SPORES, distribute-lft-out and pushdown-add; XLA AlgebraicSimplifier, A*C + B*C => (A+B)*C, "
        "for integers or powers of two; here a and b are finite"
    ),
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (= x (Con d k s A)) (= y (Con d l s B)) (!= x y)"
        " (= I (multiset-intersection A B)) (> (multiset-length I) 0) (finites A)",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y)"
        " (Con d " + _ONE + " s (multiset-insert I (Plus d (multiset-of"
        " (Con d k (set-empty) (multiset-subtract A I)) (Con d l (set-empty) (multiset-subtract B I)))))))))",
    ),
)  # fmt: skip
def common_factor(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """Σ_j a·b + Σ_j a·c = Σ_j a·(b + c) where a and b are finite: what two members share stands outside."""
    return total("j", a * b) + total("j", a * c), total("j", a * (b + c))


@law(
    a="i", b="ij", c="i", direction=EXPLORE, where=finite("a"),
    source="SPORES, pullup_mul and distribute-lft-out; here a is finite",
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (= x (Con d k s A)) (= y (Con d l t B)) (!= s t)"
        " (mem A a) (> (multiset-count B a) 0) (finite a) (= u (set-union (set-diff s t) (set-diff t s)))"
        " (= (set-length (set-intersect u (free a))) 0)",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y)"
        " (Con d " + _ONE + " (set-intersect s t) (multiset-of a (Plus d (multiset-of"
        " (Con d k (set-diff s t) (multiset-remove A a))"
        " (Con d l (set-diff t s) (multiset-remove B a)))))))))",
    ),
)  # fmt: skip
def common_factor_beside_a_sum(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """Σ_j a[i]·b[i,j] + a[i]·c[i] = a[i]·(Σ_j b[i,j] + c[i]) where a is finite: it stands outside."""
    return total("j", a * b) + a * c, a * (total("j", b) + c)


@law(
    a="i", b="i", direction=EXPLORE, source="Herbie, distribute-lft-out--; here a is a number",
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (= x (Con d k s A)) (= y (Con d l t B)) (> k l) (= k (neg l))"
        " (!= k " + _ONE + ")",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y)"
        " (Con d k (set-empty) (multiset-of (Plus d (multiset-of (Con d " + _ONE + " s A)"
        " (Con d " + _MINUS + " t B))))))))",
    ),
)  # fmt: skip
def opposite_numbers(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """2·a − 2·b = 2·(a − b)."""
    return const(2) * a + const(-2) * b, const(2) * (a + const(-1) * b)


@law(
    a="i", b="i", direction=EXPLORE, where=finite("a"), source="Herbie, distribute-rgt1-in; here a is finite",
    egglog=(
        "(= e (Plus d M)) (mem M x) (mem M y) (= y (Con d k s B)) (> (multiset-count B x) 0) (!= x y)"
        " (finite x) (= (set-length (set-intersect (free x) s)) 0)",
        "(union e (Plus d (multiset-insert (multiset-remove (multiset-remove M x) y)"
        " (Con d " + _ONE + " (set-empty) (multiset-of x"
        " (Plus d (multiset-of (Con d " + _ONE + " (set-empty) (multiset-of))"
        " (Con d k s (multiset-remove B x)))))))))",
    ),
)  # fmt: skip
def factor_with_one(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a + a·b = a·(1 + b) where a is finite."""
    return a + a * b, a * (const(1) + b)


@law(a="i", direction=EXPLORE, source="Herbie, difference-of-squares; here a is 1")
def difference_of_squares(a: Expr) -> tuple[Expr, Expr]:
    """1 − a·a = (1 + a)·(1 − a)."""
    return const(1) + const(-1) * a * a, (const(1) + a) * (const(1) + const(-1) * a)


LAWS: tuple[Law, ...] = (
    products_merge, sums_of_products_merge, product_of_one, numbers_multiply, zero_absorbs,
    zero_coefficient, sum_of_what_lacks_the_index, sum_of_one, zero_adds_nothing, numbers_add,
    equal_members_count, like_terms_add, like_term_without_number, sums_merge, common_factor,
    common_factor_beside_a_sum, opposite_numbers, factor_with_one, difference_of_squares,
)  # fmt: skip
