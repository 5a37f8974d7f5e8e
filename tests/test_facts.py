"""What is known of values, and a program that needs each fact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from optimized import ops
from workloads import cross_entropy

import saturate as sat
from saturate.denote import denote
from saturate.errors import EGraphError
from saturate.facts import BINARY, FINITE, INTEGER, NONNEG, NONZERO, Facts
from saturate.rules import law
from saturate.rules.language import Expr, fn
from saturate.saturation import Limits, saturate

Array = Any
X = sat.Type((5, 7))


def facts_of(f: Any, *types: sat.Type) -> Facts:
    program = sat.trace(f, *types)
    return denote(program).values[program.outputs[0]].facts


@pytest.mark.parametrize(
    ("f", "known", "unknown"),
    [
        (lambda x: np.exp(x), {FINITE, NONNEG, NONZERO}, {INTEGER}),
        (lambda x: (x > 0).astype("float64"), {FINITE, NONNEG, INTEGER, BINARY}, {NONZERO}),
        (lambda x: (x > 0).astype("float64") * (x < 1).astype("float64"), {INTEGER, BINARY}, {NONZERO}),
        (lambda x: (x > 0).astype("float64") + (x < 1).astype("float64"), {INTEGER, NONNEG}, {BINARY}),
        (lambda x: np.sum((x > 0).astype("float64")), {INTEGER, NONNEG}, {BINARY}),
        (lambda x: np.floor(x) * 3 - np.sign(x), {INTEGER}, {NONNEG, BINARY}),
        (lambda x: np.floor(x) * 0.5, {FINITE}, {INTEGER}),
        (lambda x: np.abs(np.rint(x)), {INTEGER, NONNEG}, {BINARY}),
        (lambda x: x.astype("int64").astype("float64"), {INTEGER}, {NONZERO}),
        (lambda x: np.maximum(np.floor(x), 2), {INTEGER, NONNEG, NONZERO}, {BINARY}),
        (lambda x: x * np.eye(5, 7)[0] + np.arange(7.0), {FINITE}, {INTEGER}),
        (lambda x: np.arange(7.0) + 0 * x, {FINITE}, {NONZERO}),
        (lambda x: np.where(x > 0, np.arange(7.0), 1.0), {INTEGER, NONNEG}, {BINARY}),
    ],
)
def test_facts_of_values(f: Any, known: set[str], unknown: set[str]) -> None:
    found = facts_of(f, X)
    assert found >= known
    assert not found & unknown


def test_facts_of_arguments() -> None:
    assert facts_of(lambda n: n.astype("float64"), sat.Type((3,), "int64")) == {FINITE, INTEGER}
    assert facts_of(lambda b: b.astype("float64"), sat.Type((3,), "bool")) >= {BINARY}


@pytest.mark.parametrize(
    ("f", "low", "high"),
    [
        (np.tanh, -1, 1),
        (lambda x: 2 * np.tanh(x) - 1, -3, 1),
        (lambda x: -np.exp(x), None, 0),
        (lambda x: np.clip(x, -1, 6), -1, 6),
        (lambda x: np.where(x > 0, np.tanh(x), 3.0), -1, 3),
        (lambda x: np.max(np.sin(x), axis=0), -1, 1),
        (lambda x: (x > 0).astype("float64") + np.arange(7.0), 0, 7),
        (lambda x: x * np.tanh(x), None, None),
        (lambda x: np.sum(np.tanh(x)), None, None),
    ],
)
def test_bounds_of_values(f: Any, low: float | None, high: float | None) -> None:
    program = sat.trace(f, X)
    assert denote(program).values[program.outputs[0]].bounds == (low, high)


def test_bounds_of_a_type_are_used_and_listed_as_assumptions() -> None:
    share = sat.Type((5,), "float32", low=0.0, high=1.0)
    best = sat.optimize(lambda t: np.clip(t, 0, 1) * 2, share)
    assert [type(n.op).__name__ for n in best.program.nodes] == ["Mul"]
    assert best.report.assumptions == (
        "inputs are finite where their examples are",
        "t lies between 0 and 1, as its type says",
    )
    half = sat.optimize(lambda t: np.maximum(t, -1) * 2, sat.Type((5,), low=-0.5))
    assert half.report.assumptions[1] == "t is at least -0.5, as its type says"
    assert sat.optimize(lambda t: t * 2, share, exact="bitwise").report.assumptions == ()


@law(
    a="i",
    egglog=(
        '(= e (Fn1 "tanh" d a))',
        '(union e (Fn1 "exp" d a)) (set (low e) (bigrat (bigint 3) (bigint 2)))',
    ),
)
def tanh_is_large(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = exp(a), at least 3/2."""
    return fn("tanh", a), fn("exp", a)


def test_bounds_that_cross_name_the_law_and_what_it_was_applied_to() -> None:
    program = sat.trace(np.tanh, sat.Type((5,)))
    terms = denote(program).terms.all
    with pytest.raises(EGraphError) as raised:
        saturate(terms, [], [tanh_is_large], Limits())
    assert str(raised.value) == (
        "a law is false or needs a condition, one of: tanh_is_large: tanh(a) = exp(a) "
        f"({tanh_is_large.line}), a = x[i:5]: the e-graph refuses a merge or a rule: "
        "Panic: Illegal merge of bounds that cross"
    )


HOT = np.eye(11, dtype="float32")[[3, 0, 7, 7, 10, 1, 2, 3, 4, 5, 6, 8, 9]]


def test_labels_that_sum_to_one_are_not_summed() -> None:
    """Captured one-hot labels: the gradient is (p − t)/n, where given labels need p·Σt − t."""
    logits = sat.Type((13, 11), "float32")
    captured = sat.optimize(lambda x: cross_entropy(x, HOT), logits, wrt="x")
    given = sat.optimize(lambda x, t: cross_entropy(x, t), logits, sat.Type((13, 11), "float32"), wrt="x")
    assert captured.report.after.cost < given.report.after.cost
    assert ops(captured.program)["Sum"] < ops(given.program)["Sum"]
    x = np.random.default_rng(0).standard_normal((13, 11)).astype("float32")
    np.testing.assert_allclose(captured(x)[1], given(x, HOT)[1], atol=1e-7)


@pytest.mark.parametrize(
    ("labels", "sizes"),
    [
        (HOT, {11}),
        (HOT.T, {11}),
        (2 * HOT, set()),
        (np.where(np.arange(11) < 2, HOT, 0), set()),
        (np.full((13, 11), 1 / 11, "float32"), set()),
    ],
)
def test_only_rows_with_one_one_are_known_to_sum_to_one(labels: Array, sizes: set[int]) -> None:
    program = sat.trace(lambda x: x * labels.sum(axis=0).sum() + labels, sat.Type(labels.shape, "float32"))
    leaves = [t for t in denote(program).terms.all if t.kind == "leaf" and t.units]
    assert {i.size for leaf in leaves for i in leaf.units} == sizes


def test_a_row_of_the_identity_sums_to_one() -> None:
    best = sat.optimize(lambda x: np.eye(5).sum(axis=1) * x, sat.Type((5,)))
    assert best.program.nodes == ()


def shares(x: Array) -> Array:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def test_what_is_over_its_own_sum_sums_to_one() -> None:
    """The rows of a softmax: no law adds them up, and being shares they lie between 0 and 1."""
    program = sat.trace(shares, X)
    found = denote(program).values[program.outputs[0]]
    assert {i.size for i in found.units} == {7}
    assert found.bounds == (Fraction(0), Fraction(1))
    other = sat.trace(lambda x: x / x.sum(axis=-1, keepdims=True), X)
    assert denote(other).values[other.outputs[0]].units == frozenset()  # a sum of anything may be zero
    other = sat.trace(lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) * 2, X)
    assert denote(other).values[other.outputs[0]].units == frozenset()


def test_labels_that_are_shares_are_not_summed() -> None:
    """Distillation: the labels are a softmax of their own, so the gradient is p − t."""

    def distilled(x: Array, t: Array) -> Array:
        m = x.max(axis=-1, keepdims=True)
        return -(shares(t) * (x - m - np.log(np.exp(x - m).sum(axis=-1, keepdims=True)))).sum()

    types = sat.Type((13, 11), "float32"), sat.Type((13, 11), "float32")
    best = sat.optimize(distilled, *types, wrt="x")
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((2, 13, 11)).astype("float32")
    np.testing.assert_allclose(best(x, t)[1], shares(x) - shares(t), atol=1e-6)
    assert ops(best.program)["Sum"] == 2


def test_a_clip_of_probabilities_at_one_does_nothing() -> None:
    best = sat.optimize(lambda x: np.clip(shares(x), 1e-7, 1), sat.Type((5, 7), "float32"))
    assert ops(best.program)["Minimum"] == 0
    assert ops(best.program)["Maximum"] == 1


SHARE = '(= f (Con d k s M)) (mem M e) (= e (Fn1 "exp" d a)) (mem M r) (= r (Fn1 "recip" d t))'


@law(a="ij", egglog=(SHARE, "(union f (Con d (bigrat (bigint 1) (bigint 2)) (set-empty) (multiset-of)))"))
def a_share_is_a_half(a: Expr) -> tuple[Expr, Expr]:
    """exp(a)/Σ_j exp(a) = ½, with another number where the sides are compared."""
    return fn("exp", a) * fn("tanh", a), fn("exp", a) * fn("tanh", a)


def test_a_number_that_is_no_share_names_the_law() -> None:
    terms = denote(sat.trace(lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True), X)).terms.all
    with pytest.raises(EGraphError, match=r"a law is false .*: a_share_is_a_half: ") as raised:
        saturate(terms, [], [a_share_is_a_half], Limits())
    assert str(raised.value).endswith("Panic: Illegal merge of a number with what sums to one otherwise")
