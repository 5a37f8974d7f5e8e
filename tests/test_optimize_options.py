"""What options promise: the same bits, limits by name, an interrupt that loses nothing, text that no hash
moves.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optimized import DTYPES, NAMES, TOLERANCE, arguments, called, cotangent, fresh, off, optimized, workload
from running import assert_same_bits
from workloads import layer_norm, softmax

import saturate as sat
from saturate import egraph, improve, recall
from saturate.accuracy import Judge
from saturate.assumed import rests_on
from saturate.check import check as check_program
from saturate.price import price_program
from saturate.progress import Say, silent
from saturate.provenance import provenance
from saturate.request import Request
from saturate.rules import CATALOGUE
from saturate.runners.evaluate import evaluate
from saturate.search import search

INTERRUPTED = "interrupted: the best program found until then is returned"

# exact="bitwise"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_bitwise_keeps_every_bit_of_the_baseline(name: str, dtype: str) -> None:
    load = workload(name, dtype)
    best = sat.optimize(load.function, *load.types, wrt=load.wrt, exact="bitwise", check=False)
    assert price_program(best.program).cost <= price_program(best.baseline).cost
    assert best.report.assumptions == ()
    for seed in range(6):
        arrays = fresh(best.baseline, seed)
        if seed >= 2:
            arrays = [strange(a, seed) if a.dtype.kind == "f" else a for a in arrays]
        with np.errstate(all="ignore"):
            assert_same_bits(called(best, arrays), evaluate(best.baseline, *arrays))


def strange(array: Any, seed: int) -> Any:
    """Infinities, zeros of either sign, largest and smallest numbers, what overflows; NaN in every other."""
    rng, edge = np.random.default_rng(seed), np.finfo(array.dtype)
    odd = [np.inf, -np.inf, 0.0, -0.0, edge.max, edge.min, edge.smallest_normal, edge.smallest_subnormal]
    odd += [-edge.smallest_subnormal, 1e30, -1e30, 1e-30, 88.0, 126.0, np.nan if seed % 2 else 1.0]
    share = 0.3 if seed < 4 else 1.0
    mixed = np.where(rng.random(array.shape) < share, rng.choice(np.array(odd), array.shape), array)
    return np.asarray(mixed, dtype=array.dtype)


def plain_steps(x: Any, y: Any) -> Any:
    """Steps that change no bit, on values of an elementwise step and on arguments, before a sum."""
    e = np.exp(x.T) * y
    n = np.floor(np.rint(e)) * 1 - np.negative(-e) / 1 + np.maximum(e, e) + np.abs(np.abs(y * 3))
    return (n + (e - 0.0) + e**1 + (0 + e) + (e - -0.0) + 1 * x.T).sum(axis=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_bitwise_leaves_out_what_changes_no_bit(dtype: str) -> None:
    types = sat.Type((37, 41), dtype), sat.Type((41, 37), dtype)
    best = sat.optimize(plain_steps, *types, exact="bitwise")
    assert best.report.check is not None
    ops = [n.op.name for n in best.program.nodes]
    assert (ops.count("mul"), ops.count("div"), ops.count("neg"), ops.count("power")) == (3, 0, 0, 0)
    assert (ops.count("floor"), ops.count("abs"), ops.count("maximum"), ops.count("sub")) == (0, 1, 0, 2)
    for seed in range(8):
        arrays = [strange(a, seed) for a in fresh(best.baseline, seed)]
        with np.errstate(all="ignore"):
            assert_same_bits([best(*arrays)], evaluate(best.baseline, *arrays))
    twice = [n.value for n in best.baseline.nodes if n.op.name == "neg"][1]
    assert best.why(twice).said == "left out: it is v4, bit for bit"


def test_bitwise_shares_work_and_drops_what_nobody_reads() -> None:
    def f(x: Any) -> Any:
        unread = np.exp(x) @ np.ones((7, 3))
        assert unread.shape
        return np.tanh(x * 2.0) + np.tanh(x * 2.0)

    best = sat.optimize(f, sat.Type((5, 7)), exact="bitwise")
    assert [type(n.op).__name__ for n in best.program.nodes] == ["Mul", "Tanh", "Add"]


# accuracy, samples, rules, extractor


def test_accuracy_that_was_not_measured_is_noted() -> None:
    load = workload("layer_norm", "float32")
    best = sat.optimize(load.function, *load.types, wrt=load.wrt, accuracy=None)
    assert "accuracy was not measured: accuracy=None" in best.report.notes
    assert "accuracy was not measured: accuracy=None" in str(best.report)
    assert best.report.accuracy is None or best.report.accuracy.factor is None
    assert "accuracy was not measured" not in str(optimized("layer_norm", "float32").report)


def test_accuracy_is_measured_on_the_samples_of_the_user() -> None:
    samples = [tuple(fresh(sat.trace(softmax, sat.Type((5, 7))), k)) for k in range(2)]
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x", samples=samples)
    assert best.report.accuracy is not None
    assert best.report.accuracy.results
    assert str(best.program) == str(optimized("softmax", "float64").program)


def test_without_laws_computation_alone_takes_the_maximum_away() -> None:
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x", rules=[])
    assert best.report.laws == ()
    assert {type(n.op).__name__ for n in best.program.nodes}.isdisjoint({"Equal", "Cast"})
    assert best.report.after.cost >= optimized("softmax", "float64").report.after.cost


@pytest.mark.parametrize("extractor", ["tree", "greedy", "exact", "auto"])
def test_every_extractor_gives_a_checked_program_that_is_no_dearer(extractor: str) -> None:
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x", extractor=extractor, rules=CATALOGUE)
    assert best.report.after.cost <= best.report.before.cost
    assert best.report.after.cost >= optimized("softmax", "float64").report.after.cost
    assert best.report.extraction is not None
    assert best.check().passed


def test_a_line_that_widens_float32_is_noted() -> None:
    best = sat.optimize(lambda x: x / np.sqrt(64), sat.Type((3,), "float32"))
    assert best.program.types[best.program.outputs[0]].dtype == "float64"
    assert any("test_optimize_options.py" in note for note in best.report.notes)


# Limits


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (sat.Limits(rounds=1), "round limit"),
        (sat.Limits(rounds=0), "round limit"),
        (sat.Limits(nodes=1), "node limit"),
        (sat.Limits(seconds=0.0), "time limit"),
    ],
    ids=str,
)
def test_a_limit_that_ends_the_search_is_named(limits: sat.Limits, name: str) -> None:
    load = workload("layer_norm", "float32")
    best = sat.optimize(load.function, *load.types, wrt=load.wrt, limits=limits)
    assert f"a search ended at its {name}" in best.report.notes
    assert f"a search ended at its {name}" in str(best.report)
    assert best.report.after.cost <= best.report.before.cost
    assert_right(best)


def test_no_limit_is_named_where_none_ended_anything() -> None:
    assert optimized("softmax", "float32").report.notes == ()


def test_an_extraction_that_its_work_limit_ended_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saturate.search.EXTRACTION_WORK", 50)
    load = workload("attention", "float32")
    best = sat.optimize(load.function, *load.types, wrt=load.wrt, check=False)
    assert "an extraction ended at its work limit" in best.report.notes
    assert best.report.after.cost <= best.report.before.cost
    assert_right(best)


def test_passes_that_end_before_the_price_stands_still_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saturate.improve.PASSES", 1)
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x", check=False)
    assert "the search was repeated 1 times, its limit, and the last one still helped" in best.report.notes
    assert_right(best)


def assert_right(best: sat.Optimized) -> None:
    arrays = fresh(best.baseline, 11)
    for found, true in zip(flat(best, arrays), evaluate(best.baseline, *arrays), strict=True):
        assert off(found, true) <= TOLERANCE[best.baseline.inputs[0].type.dtype]


def flat(best: sat.Optimized, arrays: list[Any]) -> list[Any]:
    value, gradients = best(*arguments(best, arrays), **cotangent(best, arrays))
    return [value, *(gradients if isinstance(gradients, tuple) else [gradients])]


# Ctrl-C


def interrupted_at(count: int, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, but its call of this number is interrupted."""
    calls = [0]

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        calls[0] += 1
        if calls[0] == count:
            raise KeyboardInterrupt
        return function(*args, **kwargs)

    return wrapped


@pytest.mark.parametrize("count", [1, 4, 7, 12, 25])
def test_an_interrupted_round_gives_the_best_so_far(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egraph.EGraph, "run", interrupted_at(count, egraph.EGraph.run))
    load = workload("layer_norm", "float32")
    best = sat.optimize(load.function, *load.types, wrt=load.wrt)
    assert best.report.notes.count(INTERRUPTED) == 1
    assert INTERRUPTED in str(best.report)
    assert best.report.after.cost <= best.report.before.cost
    assert best.report.check is not None
    assert best.check().passed


def test_an_interrupted_measurement_gives_the_program_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Judge, "__call__", interrupted_at(1, Judge.__call__))
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == (INTERRUPTED,)
    assert best.report.after.passes == best.report.before.passes
    assert_right(best)


def test_an_interrupted_second_search_gives_what_the_first_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saturate.improve.search", interrupted_at(2, search))
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == (INTERRUPTED,)
    assert best.report.after.passes < best.report.before.passes
    assert_right(best)


def test_an_interrupt_before_the_search_gives_the_baseline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Request, "judge", interrupted_at(1, Request.judge))
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == (INTERRUPTED,)
    arrays = fresh(best.baseline, 0)
    assert_same_bits(flat(best, arrays), evaluate(best.baseline, *arrays))


def test_an_interrupted_check_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saturate.optimized.check_program", interrupted_at(1, check_program))
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == ("interrupted: the result was not checked",)
    assert best.report.check is None
    assert str(best.program) == str(optimized("softmax", "float64").program)


@contextmanager
def interrupted_at_its_end(title: str) -> Generator[Say]:
    yield silent
    raise KeyboardInterrupt


AFTER: dict[str, tuple[str, Any]] = {
    "the line of progress ends": ("progress", interrupted_at_its_end),
    "assumptions are proved": ("rests_on", interrupted_at(1, rests_on)),
    "provenance is read off": ("provenance", interrupted_at(1, provenance)),
}


@pytest.mark.parametrize("when", AFTER)
def test_an_interrupt_after_the_search_is_told_and_loses_nothing(
    when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, function = AFTER[when]
    monkeypatch.setattr(f"saturate.searched.{name}", function)
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == (INTERRUPTED,)
    assert best.report.check is not None
    assert str(best.program) == str(optimized("softmax", "float64").program)


def test_an_interrupt_while_laws_are_named_gives_a_result_that_agrees_with_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The pass was counted and its program was not taken: two halves of one result."""
    named = "saturate.improve._origins"
    monkeypatch.setattr(named, interrupted_at(1, vars(improve)["_origins"]))
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == (INTERRUPTED,)
    assert best.report.after.passes == best.report.before.passes
    assert best.provenance == ()
    assert best.report.windows == ()
    assert_right(best)


def test_an_interrupt_while_a_result_is_kept_gives_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saturate.recall.remembered", interrupted_at(1, recall.remembered))
    best = sat.optimize(softmax, sat.Type((5, 7)), wrt="x")
    assert best.report.notes == ("interrupted: the result was not put into the cache",)
    assert str(best.program) == str(optimized("softmax", "float64").program)


LONG = """
import sys
import numpy as np
import saturate as sat
from workloads import attention, layer_norm

def block(x, w, b, q, k, v):
    for _ in range(3):
        h = layer_norm(x, w, b)
        h = x + attention(h @ q, h @ k, h @ v)
        h = layer_norm(h, w, b)
        x = x + attention(h @ q, h @ k, h @ v)
    return x

T = lambda *s: sat.Type(s, "float32")
print("ready", flush=True)
d = 7
types = (T(11, d), T(d), T(d), T(d, d), T(d, d), T(d, d))
limits = sat.Limits(rounds=50, nodes=10**8)
best = sat.optimize(block, *types, wrt=tuple("xwbqkv"), check=False, limits=limits)
print(*best.report.notes, sep="|")
x = [np.ones(t.shape, "float32") for t in types]
value, gradients = best(*x, cotangent=np.ones((11, d), "float32"))
print(best.report.after.cost <= best.report.before.cost, len(gradients), bool(np.isfinite(value).all()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for another process")
def test_a_real_interrupt_of_a_long_search_gives_the_best_so_far() -> None:
    command = [sys.executable, "-c", LONG]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment(), **pipes) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(timeout=1.5)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    notes, result = out.splitlines()
    assert INTERRUPTED in notes.split("|")
    assert result == "True 6 True"


# Determinism

TEXTS = """
import sys
from workloads import WORKLOADS
import saturate as sat
for load in WORKLOADS:
    if load.name in sys.argv[1:]:
        best = sat.optimize(load.function, *load.types, wrt=load.wrt, check=False)
        print(best.program)
        print(best.source())
        print(best.report.notes, [(u.name, u.where) for u in best.report.laws])
"""
SAMPLED = ("softmax", "cross_entropy", "attention", "mlp_relu", "chain6")


def environment(**more: str) -> dict[str, str]:
    here = str(Path(__file__).parent)
    return {**os.environ, "PYTHONPATH": here, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **more}


def test_the_text_is_the_same_under_any_hash_seed() -> None:
    command = [sys.executable, "-c", TEXTS, *SAMPLED]
    texts = [
        subprocess.run(
            command, env=environment(PYTHONHASHSEED=seed), capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "4242")
    ]
    assert texts[0].count("program ") >= len(SAMPLED)
    assert texts[0] == texts[1]
    for name in SAMPLED:
        assert str(optimized(name, "float64").program) in texts[0]


def test_the_same_call_gives_the_same_text_again() -> None:
    again = sat.optimize(layer_norm, *map(sat.Type, ((5, 7), (7,), (7,))), wrt=("x", "w", "b"), check=False)
    assert str(again.program) == str(optimized("layer_norm", "float64").program)
    assert again.source() == optimized("layer_norm", "float64").source()
