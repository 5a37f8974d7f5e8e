"""What is known of values, and a program that needs each fact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from optimized import ops
from workloads import cross_entropy

import saturate as sat
from saturate.denote import denote
from saturate.facts import BINARY, FINITE, INTEGER, NONNEG, NONZERO, Facts

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
