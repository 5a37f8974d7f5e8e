"""Many programs by executors of every kind, with the results of calls one by one."""

from __future__ import annotations

import multiprocessing
from collections.abc import Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import distributed
import numpy as np
import pytest
from workloads import layer_norm, softmax

import saturate as sat
from saturate.demos import gpt_arguments, gpt_loss
from saturate.errors import ArgumentError, TraceError
from saturate.improve import STOPPED
from saturate.op import Type
from saturate.rules import CATALOGUE

dask: Any = distributed
X = sat.Type((5, 7), "float32")
WEIGHTS = np.random.default_rng(0).normal(size=(7, 40)).astype("float32")


def weighted(x: Any) -> Any:
    return np.sum(softmax(x) @ WEIGHTS)


PROGRAMS: tuple[Any, ...] = (
    (softmax, X),
    (weighted, np.random.default_rng(1).normal(size=(5, 7)).astype("float32")),
    sat.trace(softmax, Type((3, 11), "float64")),
)


@contextmanager
def in_threads() -> Generator[Executor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@contextmanager
def in_processes() -> Generator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as pool:
        yield pool


@contextmanager
def in_a_cluster() -> Generator[Executor]:
    with (
        dask.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        dask.Client(cluster) as client,
    ):
        yield client.get_executor()


@pytest.mark.parametrize("kind", [in_threads, in_processes, in_a_cluster])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_every_executor_gives_what_calls_one_by_one_give(kind: Any) -> None:
    alone = sat.optimize_many(PROGRAMS, wrt="x")
    with kind() as executor:
        found = sat.optimize_many(PROGRAMS, executor, wrt="x")
    for one, other in zip(alone, found, strict=True):
        assert other.program == one.program
        assert other.report.check == one.report.check
        assert other.report.notes == one.report.notes
    x, g = np.random.default_rng(0).normal(size=(2, 5, 7)).astype("float32")
    np.testing.assert_array_equal(found[0](x, cotangent=g)[1], alone[0](x, cotangent=g)[1])


def test_one_by_one_is_what_optimize_gives() -> None:
    (many,) = sat.optimize_many([(softmax, X)], wrt="x")
    assert many.program == sat.optimize(softmax, X, wrt="x").program


def test_options_reach_the_workers() -> None:
    data = [(np.full((5, 7), 3, "float32"),)]
    options: dict[str, Any] = {
        "wrt": ("x",), "rules": CATALOGUE[:-1], "samples": data, "accuracy": 8.0, "exact": "domain",
        "target": sat.Target(), "limits": sat.Limits(rounds=3), "seed": 3,
    }  # fmt: skip
    with ThreadPoolExecutor(2) as pool:
        (found,) = sat.optimize_many([(softmax, X)], pool, **options)
    alone = sat.optimize(softmax, X, **options)
    assert found.program == alone.program
    assert found.report.accuracy == alone.report.accuracy
    assert found.report.context == alone.report.context


def test_one_that_fails_is_named() -> None:
    def untraceable(x: Any) -> Any:
        return x.tolist()

    with pytest.raises(TraceError):
        sat.optimize_many([(softmax, X), (untraceable, X)])
    narrow = sat.Target(ops=["add"])
    with ThreadPoolExecutor(1) as pool, pytest.raises(sat.errors.TargetError) as caught:
        sat.optimize_many([(softmax, X)], pool, target=narrow)
    assert caught.value.__notes__ == ["program 1 of 1: softmax"]


@pytest.mark.parametrize(
    ("programs", "options", "words"),
    [
        ([softmax], {}, "tuple"),
        (["softmax"], {}, "'softmax'"),
        ([()], {}, "tuple"),
        ([(softmax, X)], {"exactness": "domain"}, "exactness"),
        ([(softmax, X)], {"limits": sat.Limits(workers=0)}, "worker"),
    ],
)
def test_what_is_no_program_or_option_is_refused(programs: Any, options: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        sat.optimize_many(programs, **options)


def test_what_is_no_executor_is_refused() -> None:
    executor: Any = "x"
    with pytest.raises(ArgumentError, match="needs an executor as of"):
        sat.optimize_many([(softmax, X)], executor, wrt="x")


def test_a_pool_that_forks_is_refused() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool,
        pytest.raises(ArgumentError, match="forkserver"),
    ):
        sat.optimize_many([(softmax, X)], pool)


def test_threads_over_windows_change_nothing() -> None:
    given = gpt_arguments(2, batch=1, length=4, width=6, inner=8, words=5, heads=2)
    one, other = (
        sat.optimize(
            gpt_loss, *given, wrt=("blocks", "wu"), limits=sat.Limits(rounds=1, workers=w), accuracy=None,
            check=False,
        )
        for w in (1, 3)
    )  # fmt: skip
    assert other.program == one.program
    assert other.laws == one.laws
    assert other.report.notes == one.report.notes


def test_an_interrupt_stops_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    given = gpt_arguments(2, batch=1, length=4, width=6, inner=8, words=5, heads=2)
    result = Future.result
    pressed = list[bool]()

    def pressing(self: Future[Any], timeout: float | None = None) -> Any:
        if not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        return result(self, timeout)

    monkeypatch.setattr(Future, "result", pressing)
    best = sat.optimize(gpt_loss, *given, wrt=("blocks", "wu"), limits=sat.Limits(workers=2))
    assert pressed
    assert STOPPED in best.report.notes
    assert best.report.check is not None


def test_layer_norm_among_them() -> None:
    (found,) = sat.optimize_many([(layer_norm, X, sat.Type((7,), "float32"), sat.Type((7,), "float32"))])
    assert found.report.check is not None
