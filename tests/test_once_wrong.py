"""Programs that once came out wrong or not at all, each with what went wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import special
from workloads import logsumexp, softmax

import saturate as sat
from saturate.op import Type
from saturate.ops.arithmetic import Mul
from saturate.samples import samples
from saturate.text import parse
from saturate.yardstick import Yardstick

CASES: dict[str, tuple[Callable[..., Any], tuple[Type, ...]]] = {
    "a coefficient of zero beside what may be infinite": (lambda x: x.std(), (Type((4,), "float32"),)),
    "a softmax over one element": (softmax, (Type((3, 1), "float32"),)),
    "a log-sum-exp over one element": (logsumexp, (Type((4, 1)),)),
    "one matrix on both sides of a product": (lambda x: x @ x @ x, (Type((5, 5)),)),
    "a product with its own transpose": (lambda x: np.exp(x) @ np.exp(x).T + x, (Type((5, 5)),)),
    "a choice between two literals": (lambda x: np.logaddexp.reduce(x, axis=1), (Type((5, 7), "float32"),)),
    "a cotangent of one in xlogy": (
        lambda x: np.sum(special.xlogy(x, x)),
        (Type((5, 7), "float32", 0.1, 9.0),),
    ),
    "a quotient of differences of what is large": (
        lambda x, y: np.where(x > 0, x, y * y * 1e8),
        (Type((4,)), Type((4,))),
    ),
    "a matrix and its transpose in one sum": (lambda x: np.sum(x * x.T) + np.trace(x @ x), (Type((5, 5)),)),
}


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient_are_right_now(name: str) -> None:
    function, types = CASES[name]
    best = sat.optimize(function, *types, wrt=0)
    assert best.report.check is not None
    assert best.check(trials=8, seed=1).passed
    assert not [note for note in best.report.notes if "refused" in note]


def test_another_form_that_is_wrong_excuses_nothing() -> None:
    baseline = sat.grad(lambda x: np.sum(x * 3.0), Type((5, 7)), wrt="x")
    doubled = tuple(
        replace(n, op=Mul(right_literal=6.0)) if isinstance(n.op, Mul) else n for n in baseline.nodes
    )
    wrong = replace(baseline, nodes=doubled)
    yardstick = Yardstick(baseline, samples(baseline.inputs), 4.0)
    assert not yardstick.trusts(wrong)
    assert yardstick.trusts(baseline)
    assert not Yardstick(baseline, [], 4.0).trusts(baseline)


def test_given_data_decide_where_a_cheaper_form_is_worse_on_them() -> None:
    def divergence(x: Any, y: Any) -> Any:
        def log_softmax(z: Any) -> Any:
            z = z - z.max(1, keepdims=True)
            return z - np.log(np.exp(z).sum(1, keepdims=True))

        a, b = log_softmax(x), log_softmax(y)
        return np.sum(np.exp(a) * (a - b))

    rng = np.random.default_rng(0)
    data = [(rng.normal(size=(6, 8)) * 30).astype("float32") for _ in range(2)]
    best = sat.optimize(divergence, *data, wrt=("x", "y"))
    true = sat.optimize(divergence, *(a.astype("float64") for a in data), wrt=("x", "y"), exact="bitwise")
    found, exact = best(*data)[1][0], true(*(a.astype("float64") for a in data))[1][0]
    assert np.abs(found - exact).max() <= 1e-5 * np.abs(exact).max()


@pytest.mark.parametrize(
    "limits", [sat.Limits(seconds=0), sat.Limits(nodes=5), sat.Limits(rounds=0)], ids=str
)
def test_a_search_that_ends_before_numbers_are_added_up_gives_an_answer(limits: sat.Limits) -> None:
    best = sat.optimize(lambda x: np.exp(x - x) + 1 + x, Type((3, 4), "float32"), limits=limits)
    x = np.arange(12, dtype="float32").reshape(3, 4)
    np.testing.assert_allclose(best(x), 2 + x, rtol=1e-6)


def test_the_report_shows_products_of_transposes_as_such() -> None:
    best = sat.optimize(lambda a, b: a.T @ b, Type((3, 5)), Type((3, 4)))
    assert [step.op for step in best.report.before.steps] == ["a.T @ b"]
    assert [step.op for step in best.report.after.steps] == ["a.T @ b"]


def test_what_is_near_zero_where_all_arguments_are_small_keeps_its_exact_form() -> None:
    """Under `domain` it became exp(…) − 1, 3e-5 off at a tenth of the example where expm1 is 7e-8 off: each
    sample left some of the arguments as large as in the example.
    """

    def near_zero(a: Any, b: Any, c: Any, d: Any) -> Any:
        return np.expm1((a * b) ** 2 + (c * d) ** 2)

    data = np.random.default_rng(0).standard_normal((4, 31, 37)).astype("float32")
    best = sat.optimize(near_zero, *data, exact="domain")
    small = data * np.float32(0.1)
    true = near_zero(*small.astype("float64"))
    assert np.abs(best(*small) - true).max() <= 1e-6 * np.abs(true).max()


def test_what_may_be_infinite_stays_inside_a_sum() -> None:
    """−∞·(1 − 2) is ∞ where −∞·1 − −∞·2 is NaN: the scale leaves the product only where it is finite."""
    rng = np.random.default_rng(0)
    s, x, w = (rng.standard_normal(shape).astype("float32") for shape in ((6, 1), (6, 8), (8, 3)))
    finite = sat.optimize(lambda s, x, w: (s * x) @ w, s, x, w)
    assert "s * (x @ w)" in finite.source()
    assert finite.report.assumptions == ("s is finite where its example is",)
    s[2] = -np.inf
    best = sat.optimize(lambda s, x, w: (s * x) @ w, s, x, w)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(best(s, x, w), (s * x) @ w)
    assert best.report.assumptions == ()


def test_what_stays_inside_a_sum_leaves_the_rest_to_be_improved() -> None:
    """A sum whose scale may not leave it had no way to be computed, and the whole program was kept."""

    def loss(a: Any, b: Any) -> Any:
        e = np.exp(b - b.max(1, keepdims=True))
        return (a[:, None] * b).sum(1) + np.log(e.sum(1)) + (b * 2).sum(1) / 2

    a, b = np.array([np.inf, 1.0, -np.inf]), np.random.default_rng(0).standard_normal((3, 4))
    best = sat.optimize(loss, a, b, limits=sat.Limits(rounds=5))
    assert best.report.ratio > 1.2
    assert best.report.notes == ()
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(best(a, b), loss(a, b))


MASKED = """program masked
  input x: v0 : float64[3, 3]
  n0: v1 = eye[n=3, dtype='float64']() : float64[3, 3]
  n1: v2 = mul(v1, v0) : float64[3, 3]
  n2: v3 = sum[axes=(1,), keepdims=False](v2) : float64[3]
  return v3
"""


def test_what_may_be_infinite_is_masked_and_not_picked() -> None:
    """Beside the diagonal 0·∞ is NaN: its elements are picked only where all of the matrix is finite."""
    masked, x = parse(MASKED), np.arange(9.0).reshape(3, 3)
    finite = sat.optimize(masked, x)
    assert [str(node.op) for node in finite.program.nodes] == ["Einsum(spec='aa->a')"]
    assert finite.report.assumptions == ("inputs are finite where their examples are",)
    x[0, 1] = np.inf
    best = sat.optimize(masked, x)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(best(x), [np.nan, 4.0, 8.0])
    assert best.report.assumptions == ()


def test_elements_of_a_diagonal_are_picked_whatever_stands_beside_it() -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 3, 3))
    x[0, 1] = np.inf
    best = sat.optimize(lambda x, y: np.einsum("ii,ij->j", x, y) + np.trace(x), x, y)
    np.testing.assert_allclose(best(x, y), np.diagonal(x) @ y + np.trace(x))
    assert best.report.ratio >= 1
    assert best.report.notes == best.report.assumptions == ()


def test_many_factors_in_any_order_have_a_way_to_be_computed() -> None:
    """Whichever of these nine came first, what they make was wide: none was taken, and all was kept."""
    spec = "ef,bc,hi,cd,de,ab,fg,ij,gh->aj"

    def chained(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any, i: Any) -> Any:
        return np.exp(np.einsum(spec, a, b, c, d, e, f, g, h, i))

    matrices = np.random.default_rng(0).standard_normal((9, 3, 3)) / 2
    best = sat.optimize(chained, *matrices)
    assert [node.op.name for node in best.program.nodes if not node.op.view] == ["matmul"] * 8 + ["exp"]
    np.testing.assert_allclose(best(*matrices), chained(*matrices))


def test_centred_inputs_that_are_all_offset_stay_centred() -> None:
    """Σ (x − x̄)(y − ȳ) became Σ x·(y − ȳ), which no sample refused that had an offset in one input alone."""

    def slope(x: Any, y: Any) -> Any:
        a, b = x - x.mean(), y - y.mean()
        return (a * b).sum() / (a * a).sum()

    x, y = np.random.default_rng(0).normal(size=(2, 20)).astype("float32")
    best = sat.optimize(slope, x, y)
    x, y = x + np.float32(1e4), y + np.float32(1e4)
    np.testing.assert_allclose(best(x, y), slope(x, y), rtol=1e-4)


def test_a_share_that_is_subnormal_is_not_divided_by_alone() -> None:
    """(d·p)/p became p·(d/p), infinite where p is subnormal: at differences of logits from 88 to 103."""

    def entropy(x: Any) -> Any:
        e = np.exp(x - x.max(-1, keepdims=True))
        p = e / e.sum(-1, keepdims=True)
        return -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0))

    x = np.random.default_rng(0).normal(size=(8, 8)).astype("float32")
    best = sat.optimize(entropy, x, wrt="x")
    assert all(np.isfinite(best(x * np.float32(scale))[1]).all() for scale in (1, 10, 30, 50, 100))
