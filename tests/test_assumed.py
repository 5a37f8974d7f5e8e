"""Which assumptions a result rests on: each is listed where it is used, and not listed where it is not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from optimized import fresh, optimized

import saturate as sat
from saturate.assumed import BOUNDS, Assumption, made, told, without
from saturate.facts import FINITE, NONNEG, NONZERO
from saturate.leaf_facts import input_facts
from saturate.runners.evaluate import evaluate

Array = Any
X = sat.Type((5, 7))
SHARE = sat.Type((5, 7), low=0.0, high=1.0)
ALL = "inputs are finite where their examples are"


def assumptions(f: Any, *examples: Any, **options: Any) -> tuple[str, ...]:
    return sat.optimize(f, *examples, **options).report.assumptions


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x, y: x * 2 * 3 + y, ()),
        (lambda x, y: np.log(np.exp(x)) + y, ()),
        (lambda x, y: x - x + y, ("x is finite where its example is",)),
        (lambda x, y: 2 * x - x + y, ("x is finite where its example is",)),
        (lambda x, y: np.sum(x) - np.sum(x) / 2 + y, ("x is finite where its example is",)),
        (lambda x, y: x + x + y, ()),
        (lambda x, y: x * 0 + y * 2 * 3, ("x is finite where its example is",)),
        (lambda x, y: x * y + x * np.exp(y), ("x is finite where its example is",)),
        (lambda x, y: (x - x) * 2 + (y - y), (ALL,)),
        (lambda x, y: np.where(x > y, x, y) * 1, ("x is finite where its example is",)),
        (lambda x, y: np.maximum(np.maximum(x, y), x) * 1, ()),
    ],
)
def test_inputs_are_finite_where_a_law_needs_it(f: Any, said: tuple[str, ...]) -> None:
    assert assumptions(f, X, X) == said


def test_only_a_part_of_the_arguments_has_to_be_finite() -> None:
    norm = optimized("layer_norm", "float64").report
    assert norm.assumptions == ("x, w, cotangent are finite where their examples are",)
    relu = optimized("mlp_relu", "float64").report
    assert relu.assumptions == ("w1, b1, w2, x are finite where their examples are",)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda t, x: np.abs(t) + x * 2 * 3, ("t lies between 0 and 1, as its type says",)),
        (lambda t, x: t * 2 * 3 + x, ()),
        (lambda t, x: t * np.exp(x) + t * x, ("t is finite where its example is",)),
    ],
)
def test_bounds_of_a_type_are_listed_where_a_law_needs_them(f: Any, said: tuple[str, ...]) -> None:
    assert assumptions(f, SHARE, X) == said


def masked(x: Array, m: Array) -> Array:
    s = x + m
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


MASK = np.where(np.tri(7, dtype=bool), 0, -np.inf)


def test_what_examples_show_is_listed_where_a_law_needs_it() -> None:
    square = sat.Type((7, 7))
    assert assumptions(masked, square, MASK, wrt="x") == (
        "cotangent is finite where its example is",
        "e: finite, as the examples show",
        "v7: nowhere zero, as the examples show",
    )
    assert assumptions(lambda x, m: np.exp(x + m) * 2 * 3, square, MASK) == ()


def over(x: Array, y: Array) -> Array:
    return x / y.sum() * y.sum()


def test_divisors_are_listed_where_a_law_needs_them() -> None:
    x, y = np.linspace(1, 2, 5), np.array([1.0, 2.0])
    needed = ("y is finite where its example is", "v2: nowhere zero, as the examples show")
    assert assumptions(over, x, y, exact="domain") == needed
    assert assumptions(lambda x, y: over(x, y) + 2 * 3 / x, x, y, exact="domain") == needed
    assert assumptions(lambda x, y: x / y.sum() * 2 * 3, x, y, exact="domain") == ()
    assert assumptions(over, x, y) == ()


def test_a_law_that_only_joins_what_is_there_is_listed() -> None:
    """No value of the result was made by it, and yet it is what makes the result zero."""
    found = assumptions(lambda x, y: np.exp(x + y) - np.exp(x) * np.exp(y), X, X, exact="domain")
    assert found[0] == ALL
    assert [said.partition(":")[0] for said in found[1:]] == ["exp_of_sum"]
    assert assumptions(lambda x, y: np.log(np.exp(x)) * 2 + np.exp(x + y), X, X, exact="domain") == ()


def spoiled(array: Array, rng: np.random.Generator) -> Array:
    """The array with infinities and NaN in about a third of the places."""
    odd = rng.choice([np.inf, -np.inf, np.nan], array.shape)
    return np.where(rng.random(array.shape) < 0.3, odd, array).astype(array.dtype)


@pytest.mark.parametrize(
    "name",
    ["ridge", "chain3", "rms_norm", "mlp_relu", "layer_norm", "logistic_regression_stable"],
)
def test_what_is_not_listed_may_be_infinite(name: str) -> None:
    """Infinities and NaN in arguments that need not be finite come out where the baseline has them."""
    best = optimized(name, "float64")
    said = re.split(r"\W+", " ".join(a for a in best.report.assumptions if "finite where" in a))
    assert "inputs" not in said
    for seed in range(6):
        rng = np.random.default_rng(seed)
        pairs = zip(best.baseline.inputs, fresh(best.baseline, seed), strict=True)
        arrays = [a if i.name in said else spoiled(a, rng) for i, a in pairs]
        with np.errstate(all="ignore"):
            before, after = (evaluate(p, *arrays) for p in (best.baseline, best.program))
        for a, b in zip(before, after, strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9)


def long(x: Array, w: Array, b: Array) -> Array:
    for _ in range(8):
        x = np.tanh(x * 2 * 3 @ w) + x
    return (x * b).sum()


def test_a_long_program_lists_what_stands_behind_what_its_windows_read() -> None:
    types = sat.Type((13, 7), "float32"), sat.Type((7, 7), "float32"), sat.Type((13, 7), "float32")
    best = sat.optimize(long, *types, wrt="x", check=False)
    assert best.long
    assert best.report.assumptions == (ALL,)


def test_without_ways_to_compute_that_are_terms_all_is_listed() -> None:
    least = sat.Target(ops=("full", "matmul", "mul", "reshape"))
    assert assumptions(lambda x, y: x.mean(axis=1) * 2, X, X, target=least) == (
        "x is finite where its example is",
    )


@pytest.mark.parametrize("name", ["ridge", "chain3", "rms_norm"])
def test_a_result_that_is_equal_whatever_comes_assumes_nothing(name: str) -> None:
    assert optimized(name, "float64").report.assumptions == ()


def test_what_is_assumed_can_be_left_out() -> None:
    program = sat.trace(lambda t, x: np.exp(t) / x, SHARE, X)
    t, x = (i.value for i in program.inputs)
    facts = {t: input_facts(SHARE), x: input_facts(X) | {NONZERO}}
    every = made(program, facts)
    assert every == [
        Assumption(t, BOUNDS),
        Assumption(x, NONZERO),
        Assumption(t, FINITE),
        Assumption(x, FINITE),
    ]
    bare, known = without(program, facts, every)
    assert (known[t], known[x]) == (frozenset(), frozenset())
    assert bare.inputs[0].type.low is None
    _, known = without(program, facts, [Assumption(t, FINITE)])
    assert known == {t: frozenset((NONNEG,)), x: facts[x]}


def test_the_words_name_the_first_and_count_the_rest() -> None:
    program = sat.trace(lambda *xs: sum(np.exp(x) for x in xs), *(X,) * 12)
    names = [i.name for i in program.inputs]
    found = [Assumption(i.value, FINITE) for i in program.inputs[:10]]
    shown = [Assumption(n.value, NONZERO) for n in program.nodes[:5]]
    assert told(
        program, [*found, *shown, Assumption("exp(x)", FINITE), Assumption("exp(x)", NONZERO)], ()
    ) == (
        f"{', '.join(names[:8])} and 2 others are finite where their examples are",
        "exp(x): finite and nowhere zero, as the examples show",
        f"{', '.join(n.value for n in program.nodes[:3])} and 2 others: nowhere zero, as the examples show",
    )
