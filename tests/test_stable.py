"""Accuracy as a second price: in float32 the optimized program is as near to the truth as the baseline is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from optimized import NAMES, called, fresh, ops, optimized, reference
from workloads import layer_norm, logistic_regression, rms_norm, softmax

import saturate as sat
from saturate.op import AnyArray
from saturate.perturb import perturbed
from saturate.program import Program
from saturate.rules import CATALOGUE, EXACTNESS, Law, law
from saturate.rules.language import Expr
from saturate.rules.law import finite
from saturate.runners.evaluate import evaluate
from saturate.split import COTANGENT
from saturate.zeroless import without_zeros

FACTOR, ULPS = 4.0, 16.0
"""The stated bound: so many times the baseline's error, and so many units in the last place of the scale.

The baseline's error is that of moved roundings too, and that of the baseline without what is zero by
computation. A saturated softmax shows why: the adjoint of its maximum is zero, but adding it takes the
error of one element back, an accident of the detour that the published backward does not have.
"""

Array = Any
regimes = pytest.mark.parametrize(
    ("offset", "scale"), [(o, s) for o in (0.0, 1e4, -1e4) for s in (1e-3, 1.0, 1e3)], ids=str
)


def hostile(program: Program, offset: float, scale: float, seed: int) -> list[AnyArray]:
    """Normal arguments, one of them (by turns) scaled and moved; those with bounds stay inside."""
    arrays = fresh(program, seed)
    movable = [
        k
        for k, i in enumerate(program.inputs)
        if i.type.is_float and i.name != COTANGENT and i.type.low is None and i.type.high is None
    ]
    k = movable[seed % len(movable)]
    arrays[k] = (arrays[k].astype("float64") * scale + offset).astype(arrays[k].dtype)
    return arrays


def errors(found: Sequence[Any], true: Sequence[AnyArray], where: Sequence[AnyArray]) -> list[float]:
    """The largest distance of each result from the truth, at finite elements."""
    return [
        float(np.max(np.abs(np.asarray(f).astype("float64") - t)[w], initial=0.0))
        for f, t, w in zip(found, true, where, strict=True)
    ]


def plainly(arrays: list[AnyArray]) -> Callable[[Program], Sequence[Any]]:
    return lambda program: evaluate(program, *arrays)


def moved(arrays: list[AnyArray], seed: int) -> Callable[[Program], Sequence[Any]]:
    """With every rounding moved at random."""
    return lambda program: perturbed(program, tuple(arrays), seed)


@regimes
@pytest.mark.parametrize("name", NAMES)
def test_errors_stay_within_the_bound_of_the_baselines(name: str, offset: float, scale: float) -> None:
    best = optimized(name, "float32")
    yardsticks = (best.baseline, without_zeros(best.baseline))
    mine, plain, size = [np.zeros(len(best.baseline.results)) for _ in range(3)]
    with np.errstate(all="ignore"):
        for seed in range(4):
            arrays = hostile(best.baseline, offset, scale, seed)
            true = reference(best.baseline, arrays)
            runs = [run(p) for p in yardsticks for run in (plainly(arrays), moved(arrays, seed))]
            before = [np.asarray(x) for x in runs[0]]
            after = [np.asarray(x) for x in called(best, arrays)]
            finite = [np.isfinite(b) & np.isfinite(t) for b, t in zip(before, true, strict=True)]
            assert all(np.isfinite(a[f]).all() for a, f in zip(after, finite, strict=True))
            mine = np.maximum(mine, errors(after, true, finite))
            for found in runs:
                plain = np.maximum(plain, errors(found, true, finite))
            size = np.maximum(size, errors(true, [np.zeros_like(t) for t in true], finite))
    allowed = FACTOR * plain + ULPS * np.finfo("float32").eps * size
    assert (mine <= allowed).all()


@regimes
def test_a_softmax_is_right_to_the_last_places_of_what_it_multiplies(offset: float, scale: float) -> None:
    best = optimized("softmax", "float32")
    for seed in range(4):
        arrays = hostile(best.baseline, offset, scale, seed)
        y, dx = reference(best.baseline, arrays)
        found = called(best, arrays)
        eps = np.finfo("float32").eps
        assert np.max(np.abs(found[0] - y)) <= 4 * eps
        assert np.max(np.abs(found[1] - dx)) <= 8 * eps * np.max(np.abs(arrays[1]))


def published(q: Array, k: Array, v: Array, g: Array) -> tuple[Array, ...]:
    """Attention and its backward as FlashAttention derives them by hand: D from dO and O."""
    c = np.float32(q.shape[-1] ** -0.5)
    s = q @ k.T * c
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    o = p @ v
    ds = p * (g @ v.T - np.sum(g * o, axis=-1, keepdims=True)) * c
    return o, ds @ k, ds.T @ q, p.T @ g


@regimes
def test_attention_is_as_accurate_as_the_backward_that_people_publish(offset: float, scale: float) -> None:
    best = optimized("attention", "float32")
    mine, theirs, size = [np.zeros(4) for _ in range(3)]
    for seed in range(8):
        arrays = hostile(best.baseline, offset, scale, seed)
        true = reference(best.baseline, arrays)
        every = [np.isfinite(t) for t in true]
        mine = np.maximum(mine, errors(called(best, arrays), true, every))
        theirs = np.maximum(theirs, errors(published(*arrays), true, every))
        size = np.maximum(size, errors(true, [np.zeros_like(t) for t in true], every))
    assert (mine <= FACTOR * theirs + ULPS * np.finfo("float32").eps * size).all()


# What is cheap and wrong is not returned, and would be without the second price.


@law(a="ij", b="i", where=finite("a", "b"), exact="rounding")
def square_of_difference(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """(a − b)·(a − b) = a·a − 2·a·b + b·b."""
    return (a - b) * (a - b), a * a - 2 * (a * b) + b * b


DISTRIBUTED: list[Law] = [*CATALOGUE, square_of_difference]


def variance(x: Array) -> Array:
    mu = x.mean(axis=-1, keepdims=True)
    return ((x - mu) ** 2).mean(axis=-1)


def far(shape: tuple[int, ...], seed: int = 0) -> AnyArray:
    return (np.random.default_rng(seed).standard_normal(shape) + 1e4).astype("float32")


def worst(best: sat.Optimized, *arrays: AnyArray) -> float:
    """The largest error of the value in parts of its scale; infinite where it is not finite."""
    with np.errstate(all="ignore"):
        (true,) = reference(best.baseline, arrays)
        found = np.asarray(best(*arrays))
    if not np.isfinite(found).all():
        return np.inf
    return float(np.max(np.abs(found - true)) / np.max(np.abs(true)))


def careful(f: Callable[..., Any], **options: Any) -> sat.Optimized:
    return sat.optimize(f, sat.Type((509, 251), "float32"), check=False, **options)


def careless(f: Callable[..., Any], **options: Any) -> sat.Optimized:
    return careful(f, accuracy=None, **options)


def test_a_variance_keeps_its_centre_though_a_law_distributes_the_square() -> None:
    cheap, safe = careless(variance, rules=DISTRIBUTED), careful(variance, rules=DISTRIBUTED)
    assert cheap.report.after.cost < safe.report.after.cost < safe.report.before.cost
    assert worst(cheap, far((509, 251))) > 1.0
    assert worst(safe, far((509, 251))) < 1e-5
    assert safe.report.accuracy is not None
    assert any("offset" in barred.why for barred in safe.report.accuracy.barred)
    assert cheap.report.notes == ("accuracy was not measured: accuracy=None",)


def test_a_softmax_keeps_its_maximum_though_a_law_splits_the_exponential() -> None:
    cheap, safe = careless(softmax, exact="domain"), careful(softmax, exact="domain")
    assert (ops(cheap.program)["Max"], ops(safe.program)["Max"]) == (0, 1)
    assert (worst(cheap, far((509, 251))), worst(safe, far((509, 251))) < 1e-6) == (np.inf, True)
    assert safe.report.accuracy is not None
    assert any("infinite" in barred.why for barred in safe.report.accuracy.barred)
    assert any(a.startswith("exp_of_sum") for a in cheap.report.assumptions)
    assert not any(a.startswith("exp_of_sum") for a in safe.report.assumptions)


def test_what_accuracy_did_not_refuse_the_check_refuses() -> None:
    best = sat.optimize(softmax, sat.Type((509, 251), "float32"), exact="domain", accuracy=None)
    assert ops(best.program)["Max"] == 1
    assert best.report.check is not None
    assert (
        "the check refused the optimized program; the baseline with shared work is returned"
        in best.report.notes
    )
    assert best.report.assumptions == ()
    assert best.check().passed


def test_a_law_that_may_overflow_is_not_used_unless_asked_for() -> None:
    for exact in EXACTNESS[:2]:
        best = careless(softmax, exact=exact)
        assert ops(best.program)["Max"] == 1
        assert worst(best, far((509, 251))) < 1e-6


def test_samples_of_the_user_decide_what_is_accurate_enough() -> None:
    near = [(np.random.default_rng(k).standard_normal((509, 251)).astype("float32"),) for k in range(2)]
    assert ops(careful(softmax, exact="domain", samples=near).program)["Max"] == 0
    assert ops(careful(softmax, exact="domain", samples=[*near, (far((509, 251)),)]).program)["Max"] == 1


@pytest.mark.parametrize("f", [layer_norm, rms_norm])
def test_normalisations_are_right_far_from_zero_with_the_law_planted(f: Callable[..., Any]) -> None:
    x = sat.Type((61, 127), "float32")
    weights = [sat.Type((127,), "float32")] * (f.__code__.co_argcount - 1)
    best = sat.optimize(f, x, *weights, rules=DISTRIBUTED)
    arrays = [far((61, 127)), *(fresh(best.baseline, 1)[1:])]
    plain = sat.optimize(f, x, *weights, exact="bitwise", check=False)
    assert worst(best, *arrays) <= 4 * worst(plain, *arrays) + 1e-6


def test_a_naive_logistic_regression_gets_no_worse_and_is_finite_where_it_was() -> None:
    types = (sat.Type((7,), "float32"), sat.Type((), "float32"), sat.Type((17, 7), "float32"))
    best = sat.optimize(logistic_regression, *types, sat.Type((17,), "float32", 0.0, 1.0), wrt=("w", "b"))
    w, b, x, y = fresh(best.baseline, 2)
    for size in (1.0, 3.0, 30.0):
        with np.errstate(all="ignore"):
            before = evaluate(best.baseline, size * w, b, x, y)
            value, gradients = best(size * w, b, x, y)
        for plain, found in zip(before, [value, *gradients], strict=True):
            assert np.isfinite(found).all() or not np.isfinite(plain).all()
