"""Normal forms: what they prove of maxima, that they are worth what the term is, and where they hold back."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from random_terms import POLYNOMIAL, random_terms, values
from term_values import evaluate

from saturate import Type, normal
from saturate.algebra import Ix, Term, Terms
from saturate.audit import arranged
from saturate.autodiff import gradient_program
from saturate.denote import denote
from saturate.facts import FINITE, NONZERO
from saturate.normal import NormalForms, needed, simplify
from saturate.op import AnyArray
from saturate.rules import CATALOGUE, law
from saturate.rules.checker import check
from saturate.rules.language import Expr, total
from saturate.rules.law import EXPLORE, ROUNDING, finite
from saturate.saturation import Limits, saturate
from saturate.trace import trace

Array = Any
ROW, COLUMN = Ix(5, 0), Ix(3, 0)


# the adjoint of a maximum


def softmax(x: Array, axis: int, keepdims: bool) -> Array:
    m = x.max(axis=axis, keepdims=True) if keepdims else np.expand_dims(x.max(axis=axis), axis)
    e = np.exp(x - m)
    s = e.sum(axis=axis, keepdims=True) if keepdims else np.expand_dims(e.sum(axis=axis), axis)
    return e / s


def logsumexp(x: Array, axis: int, keepdims: bool) -> Array:
    m = x.max(axis=axis, keepdims=True)
    s = np.log(np.exp(x - m).sum(axis=axis, keepdims=keepdims))
    return s + (m if keepdims else m.sum(axis=axis))


def log_of_sum(x: Array, axis: int, keepdims: bool) -> Array:
    m = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - m).sum(axis=axis, keepdims=keepdims)) + m.sum(axis=axis, keepdims=keepdims)


def cross_entropy(x: Array, axis: int, keepdims: bool) -> Array:
    z = x - x.max(axis=axis, keepdims=True)
    return -np.mean(
        (z - np.log(np.exp(z).sum(axis=axis, keepdims=True))) * np.cos(x), axis=axis, keepdims=keepdims
    )


SHIFTED = (softmax, logsumexp, log_of_sum, cross_entropy)
PLACES = [((5, 7), 0), ((5, 7), 1), ((7, 7), 0), ((7, 7), 1), ((3, 5, 7), 1), ((3, 5, 7), -1), ((5, 5, 5), 0)]


def results(
    f: Callable[..., Array], shape: tuple[int, ...], dtype: str, *rest: Any
) -> tuple[Terms, list[Term]]:
    program = gradient_program(trace(lambda x: f(x, *rest), Type(shape, dtype)), ("x",), seed="input")
    meaning = denote(program)
    return meaning.terms, [meaning.values[v] for v in program.results]


def compares(terms: list[Term]) -> list[Term]:
    """The comparisons with a maximum and what counts its ties."""
    return [t for t in terms if t.kind == "fn" and t.head[0] == "equal"]


def adjoints(terms: list[Term]) -> list[Term]:
    """The products in which a mask of ties shares out the cotangent of a maximum."""
    masks = {
        t.id for t in terms if t.kind == "fn" and t.head[0].startswith("cast:") and compares([t.args[0]])
    }
    return [t for t in terms if t.kind == "con" and not t.head[1] and any(a.id in masks for a in t.args)]


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize(("shape", "axis"), PLACES)
@pytest.mark.parametrize("f", SHIFTED, ids=lambda f: f.__name__)
def test_the_adjoint_of_a_shifting_maximum_is_zero(
    f: Callable[..., Array], shape: tuple[int, ...], axis: int, keepdims: bool
) -> None:
    for dtype in ("float32", "float64"):
        _, roots = results(f, shape, dtype, axis, keepdims)
        before = needed(roots)
        assert compares(before)
        assert adjoints(before)
        simplified = simplify(roots)
        assert all(simplified.image[t.id].constant == 0 for t in adjoints(before))
        assert compares(needed(simplified.image[r.id] for r in roots)) == []


def reads_the_maximum(x: Array, axis: int, keepdims: bool) -> Array:
    return np.sum(logsumexp(x, axis, keepdims)) + np.sum(x.max(axis=axis) ** 2)


@pytest.mark.parametrize(("shape", "axis"), PLACES[:4])
def test_a_maximum_that_is_read_keeps_its_gradient(shape: tuple[int, ...], axis: int) -> None:
    _, roots = results(reads_the_maximum, shape, "float64", axis, True)
    simplified = simplify(roots)
    assert compares(needed(simplified.image[r.id] for r in roots))


@law(
    a="ij", b="ij", c="ij", direction=EXPLORE, where=finite("a", "b", "c"),
    egglog=(
        "(= e (Con d k s M)) (finites M) (mem M p) (= p (Plus d N)) (mem N x) (= R (multiset-remove M p))",
        "(union e (Plus d (multiset-of (Con d k s (multiset-insert R x))"
        " (Con d k s (multiset-insert R (Plus d (multiset-remove N x)))))))",
    ),
)  # fmt: skip
def distribution(a: Expr, b: Expr, c: Expr) -> tuple[Expr, Expr]:
    """Σ_j a·(b + c) = Σ_j a·b + Σ_j a·c where all are finite."""
    return total("j", a * (b + c)), total("j", a * b) + total("j", a * c)


@law(
    a="i", b="ij", direction=EXPLORE, where=finite("a"),
    egglog=(
        "(= e (Con d k s M)) (mem M x) (finite x) (= (set-length (set-intersect s (free x))) 0)"
        " (> (set-length s) 0) (= R (multiset-remove M x))",
        "(union e (Con d k (set-empty) (multiset-of x (Con d (bigrat (bigint 1) (bigint 1)) s R))))",
    ),
)  # fmt: skip
def factor_leaves_a_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Σ_j a[i]·b[i,j] = a[i]·Σ_j b[i,j] where a is finite."""
    return total("j", a * b), a * total("j", b)


def test_what_search_needs_besides_the_catalogue_is_true() -> None:
    assert check(distribution) == []
    assert check(factor_leaves_a_sum) == []


@pytest.mark.parametrize("f", [softmax, logsumexp, log_of_sum], ids=lambda f: f.__name__)
@pytest.mark.parametrize(("shape", "axis"), [((5, 7), 1), ((7, 7), 0)])
def test_search_proves_what_normal_forms_prove(
    f: Callable[..., Array], shape: tuple[int, ...], axis: int
) -> None:
    _, roots = results(f, shape, "float64", axis, True)
    before = needed(roots)
    forms = NormalForms()
    by_form = {t.id for t in before if forms.of(t) == ()}
    laws = [w for w in CATALOGUE if w.exact == ROUNDING]
    classes = saturate(
        before, [], [*laws, distribution, factor_leaves_a_sum], Limits(rounds=6, nodes=20_000)
    ).classes
    by_search = {t.id for t in before if classes.constant[classes.of_term[t.id]] == 0}
    assert {t.id for t in adjoints(before)} <= by_search
    assert by_search == by_form


# forms are worth what terms are


@pytest.mark.parametrize("infinite", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_a_form_is_worth_what_its_term_is(seed: int, infinite: bool) -> None:
    """The substituted terms, and both of every pair that is called equal."""
    rng = np.random.default_rng(seed)
    kinds = POLYNOMIAL if seed % 2 else (*POLYNOMIAL, "con", "plus", "unary")
    _, made = random_terms(rng, count=16, kinds=kinds)
    leaves = values(rng, infinite)
    simplified = simplify(made)
    with np.errstate(all="ignore"):
        for term in made:
            assert_same(term, simplified.image[term.id], leaves)
        for a, b in simplified.equal:
            assert_same(a, b, leaves)


def assert_same(a: Term, b: Term, leaves: dict[str, AnyArray]) -> None:
    every = tuple(sorted(a.free | b.free))
    one, other = (arranged(evaluate(t, leaves), t.free, every) for t in (a, b))
    scale = max(float(np.abs(x[np.isfinite(x)]).max(initial=1.0)) for x in (one, other))
    one, other = np.broadcast_arrays(one, other)
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * scale, err_msg=f"{a}\nis not\n{b}")


def test_equal_polynomials_have_equal_forms() -> None:
    terms = Terms()
    a, b = (terms.leaf(n, (ROW,), "float64", frozenset((FINITE,))) for n in "ab")
    square = terms.con(Fraction(1), frozenset(), [terms.plus([a, b], "float64")] * 2, "float64")
    written = terms.plus([times(terms, 1, a, a), times(terms, 2, a, b), times(terms, 1, b, b)], "float64")
    forms = NormalForms()
    assert forms.of(square) == forms.of(written)
    assert forms.of(square) != forms.of(times(terms, 1, a, b))


def times(terms: Terms, k: int, *factors: Term, over: frozenset[Ix] = frozenset()) -> Term:
    return terms.plain_con(Fraction(k), over, factors, "float64")


def pool(facts: frozenset[str]) -> tuple[Terms, Term, Term]:
    terms = Terms()
    return (
        terms,
        terms.leaf("x", (ROW, COLUMN), "float64", facts),
        terms.leaf("y", (ROW,), "float64", frozenset((FINITE,))),
    )


# where they hold back


def test_what_may_be_infinite_does_not_cancel() -> None:
    for facts, cancels in ((frozenset[str](), False), (frozenset((FINITE,)), True)):
        terms, x, y = pool(facts)
        forms = NormalForms()
        difference = terms.plain_plus([x, times(terms, -1, x)], "float64")
        assert (forms.of(difference) == ()) is cancels
        product = times(terms, 1, difference, y)
        assert (forms.of(product) == ()) is cancels
        nothing = times(terms, 0, x)
        assert (forms.of(nothing) == ()) is cancels
        quotient = times(terms, 1, x, terms.recip(x))
        assert forms.constant(forms.of(quotient)) is None


def test_a_reciprocal_cancels_only_what_is_nowhere_zero() -> None:
    terms, x, _ = pool(frozenset((FINITE, NONZERO)))
    forms = NormalForms()
    assert forms.constant(forms.of(times(terms, 1, x, terms.recip(x)))) == 1
    assert forms.constant(forms.of(times(terms, 6, x, terms.recip(times(terms, 3, x))))) == 2


def test_an_infinite_factor_is_not_distributed() -> None:
    """∞·(3 − 1) is infinite, and ∞·3 − ∞·1 is no number."""
    terms, x, y = pool(frozenset())
    z = terms.leaf("z", (ROW,), "float64", frozenset((FINITE,)))
    forms = NormalForms()
    together = times(terms, 1, x, terms.plain_plus([y, z], "float64"))
    apart = terms.plain_plus([times(terms, 1, x, y), times(terms, 1, x, z)], "float64")
    assert forms.of(together) != forms.of(apart)


def test_an_infinite_factor_stays_in_its_sum() -> None:
    """Σ_j ∞·(3, −1) is no number, and ∞·Σ_j (3, −1) is infinite."""
    terms, x, _ = pool(frozenset((FINITE,)))
    u = terms.leaf("u", (ROW,), "float64")
    forms = NormalForms()
    inside = times(terms, 1, u, x, over=frozenset((COLUMN,)))
    outside = times(terms, 1, u, times(terms, 1, x, over=frozenset((COLUMN,))))
    assert forms.of(inside) != forms.of(outside)


def test_growth_freezes_and_never_makes_a_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    """(Σ x_k)⁴ − (Σ x_k)⁴ in two groupings: past the limit they are atoms, which are never wrongly zero."""
    terms = Terms()
    leaves = [terms.leaf(f"x{k}", (), "float64", frozenset((FINITE,))) for k in range(4)]
    total = terms.plain_plus(leaves, "float64")
    square = times(terms, 1, total, total)
    fourth = times(terms, 1, square, square)
    other = times(terms, 1, total, total, total, total)
    off = terms.plain_plus([fourth, times(terms, -1, other), leaves[0]], "float64")
    difference = terms.plain_plus([fourth, times(terms, -1, other)], "float64")
    exact = NormalForms()
    assert exact.of(difference) == ()
    assert exact.of(off) == exact.of(leaves[0])
    for limit in range(1, 40):
        monkeypatch.setattr(normal, "LIMIT", limit)
        forms = NormalForms()
        assert forms.of(off) != ()
        assert all(len(forms.of(t)) <= max(limit, 1) for t in terms.all)
    monkeypatch.setattr(normal, "LIMIT", 8)
    assert NormalForms().of(difference) != ()


def test_constants_are_substituted() -> None:
    terms, x, y = pool(frozenset((FINITE,)))
    zero = terms.plain_plus([x, times(terms, -1, x)], "float64")
    root = terms.fn("exp", (terms.plain_plus([y, zero], "float64"),), "float64")
    image = simplify([root]).image
    assert image[zero.id].constant == 0
    assert image[root.id].args[0].kind == "leaf"


def test_a_value_has_one_name_whatever_its_axes_are_called() -> None:
    """Σ_k a[i,k]·a[k,j] is Σ_j a[i,j]·a[j,k], and not its transpose; a broadcast axis does not count."""
    terms, forms = Terms(), NormalForms()
    i, j, k = (Ix(5, n) for n in range(3))

    def square(row: Ix, inner: Ix, column: Ix) -> Term:
        factors = [
            terms.leaf("a", axes, "float64", frozenset((FINITE,))) for axes in ((row, inner), (inner, column))
        ]
        return terms.con(Fraction(1), frozenset((inner,)), factors, "float64")

    one, other = square(i, k, j), square(i, j, k)
    assert forms.of(one) != forms.of(other)
    assert forms.called(one, (i, j)) == forms.called(other, (i, k))
    assert forms.called(one, (COLUMN, i, j)) != forms.called(one, (i, j))
    assert forms.called(one, (i, j)) != forms.called(one, (j, i))
    assert forms.called(one, (i, None, j)) != forms.called(one, (i, j))
