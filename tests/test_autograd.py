"""Gradients against the package autograd, which knows neither our derivatives nor our algebra."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import autograd
import autograd.numpy
import numpy as np
import pytest
from optimized import NAMES, arguments, called, cotangent, fresh, off, optimized, workload

import saturate as sat
from saturate import demos, workloads
from saturate.runners.evaluate import evaluate


def with_autograd(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, its module and those of what it calls over autograd's NumPy."""

    def over_autograd(*arrays: Any) -> Any:
        with ExitStack() as stack:
            for module in (demos, workloads):
                stack.enter_context(patch.object(module, "np", autograd.numpy))
            return f(*arrays)

    return over_autograd


def by_autograd(name: str, arrays: list[Any], seed: Any) -> list[Any]:
    """Value and gradients; `seed` is the cotangent."""
    load = workload(name)
    f = with_autograd(load.function)
    places = [
        i for i, given in enumerate(optimized(name, "float64").baseline.inputs) if given.name in load.wrt
    ]
    chosen = [arrays[k] for k in places]
    gradients = [
        autograd.make_vjp(lambda *xs: f(*_placed(arrays, places, xs)), argnum=k)(*chosen)[0](seed)
        for k in range(len(places))
    ]
    return [f(*arrays), *gradients]


def _placed(arrays: list[Any], places: list[int], chosen: tuple[Any, ...]) -> list[Any]:
    found = list(arrays)
    for place, array in zip(places, chosen, strict=True):
        found[place] = array
    return found


@pytest.mark.parametrize("name", NAMES)
def test_grad_and_optimize_agree_with_autograd(name: str) -> None:
    best = optimized(name, "float64")
    load = workload(name)
    baseline = sat.grad(load.function, *load.types, wrt=load.wrt)
    assert str(baseline) == str(best.baseline)
    for seed in range(2):
        arrays = fresh(baseline, seed)
        g = cotangent(best, arrays).get("cotangent", np.float64(1.0))
        expected = by_autograd(name, arguments(best, arrays), g)
        for ours in (evaluate(baseline, *arrays), called(best, arrays)):
            for found, true in zip(ours, expected, strict=True):
                assert off(found, np.asarray(true)) <= 1e-9


@pytest.mark.parametrize("name", ["softmax", "loss_that_reads_the_max", "mlp_relu"])
def test_the_comparison_would_see_a_wrong_gradient(name: str) -> None:
    best = optimized(name, "float64")
    arrays = fresh(best.baseline, 0)
    g = cotangent(best, arrays).get("cotangent", np.float64(1.0))
    expected = by_autograd(name, arguments(best, arrays), g)
    assert off(1.001 * called(best, arrays)[1], expected[1]) > 1e-4


def test_ties_of_a_maximum_as_autograd_splits_them() -> None:
    over: Any = autograd.numpy

    def f(x: Any) -> Any:
        return over.sum(over.max(x, axis=1) ** 2)

    x = np.array([[2.0, 2.0, 1.0], [3.0, 3.0, 3.0]])
    best = sat.optimize(lambda x: np.sum(np.max(x, axis=1) ** 2), x, wrt="x")
    gradient: Any = autograd.grad
    np.testing.assert_allclose(best(x)[1], gradient(f)(x), rtol=1e-15)
