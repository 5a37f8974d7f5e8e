"""Every workload through the whole road: the same results, never dearer, found again, and as source."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest
from optimized import (
    DTYPES,
    NAMES,
    TOLERANCE,
    arguments,
    called,
    cotangent,
    fresh,
    off,
    optimized,
    passes,
    workload,
)
from running import assert_same_bits

import saturate as sat
from saturate.certificate import Certificate
from saturate.price import price_program
from saturate.runners.evaluate import evaluate

every_workload = pytest.mark.parametrize("name", NAMES)
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_dtype
@every_workload
def test_the_check_passes_and_nothing_falls_back(name: str, dtype: str) -> None:
    report = optimized(name, dtype).report
    assert isinstance(report.check, Certificate)
    assert report.check.passed
    assert {r.name for r in report.check.results} >= {"value"}
    assert not any("refused" in note for note in report.notes)


@every_dtype
@every_workload
def test_the_program_is_never_dearer_and_the_report_adds_up(name: str, dtype: str) -> None:
    best = optimized(name, dtype)
    before, after = price_program(best.baseline), price_program(best.program)
    assert after.cost <= before.cost
    assert (best.report.before.cost, best.report.after.cost) == (before.cost, after.cost)
    assert passes(best.program) == best.report.after.passes <= best.report.before.passes


@every_dtype
@every_workload
def test_optimizing_twice_changes_nothing(name: str, dtype: str) -> None:
    best = optimized(name, dtype)
    again = sat.optimize(best.program, check=False)
    assert str(again.program) == str(best.program)
    assert again.baseline == best.program
    assert sat.parse(str(best.program)) == best.program


@every_dtype
@every_workload
def test_value_and_gradients_are_those_of_the_baseline_on_fresh_data(name: str, dtype: str) -> None:
    best = optimized(name, dtype)
    for seed in range(3):
        arrays = fresh(best.baseline, seed)
        expected = evaluate(best.baseline, *arrays)
        for found, true in zip(called(best, arrays), expected, strict=True):
            assert np.asarray(found).dtype == np.asarray(true).dtype
            assert off(found, true) <= TOLERANCE[dtype]


@every_dtype
@every_workload
def test_the_source_runs_alone_and_equals_the_runner_bit_for_bit(name: str, dtype: str) -> None:
    best = optimized(name, dtype)
    text = best.source()
    imports = [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Import | ast.ImportFrom)]
    assert [ast.unparse(n) for n in imports] == ["import numpy as np"]
    scope: dict[str, Any] = {}
    exec(compile(text, "<source>", "exec"), scope)
    for seed in range(2):
        arrays = fresh(best.baseline, seed)
        value, gradients = scope["value_and_gradients"](*arrays)
        assert_same_bits([value, *gradients], called(best, arrays))
        value, residuals = scope["forward"](*arguments(best, arrays))
        gradients = scope["backward"](residuals, **cotangent(best, arrays))
        by_runner, kept = best.forward(*arguments(best, arrays))
        assert_same_bits([value, *residuals], [by_runner, *kept])
        assert_same_bits(gradients, best.backward(kept, **cotangent(best, arrays)))


@every_dtype
@every_workload
def test_forward_and_backward_agree_with_the_call(name: str, dtype: str) -> None:
    best = optimized(name, dtype)
    arrays = fresh(best.baseline, 3)
    value, residuals = best.forward(*arguments(best, arrays))
    gradients = best.backward(residuals, **cotangent(best, arrays))
    assert_same_bits([value, *gradients], called(best, arrays))
    if not cotangent(best, arrays):
        doubled = best.backward(residuals, np.asarray(2.0, dtype))
        assert_same_bits(doubled, [np.asarray(2.0, dtype) * g for g in gradients])


@every_dtype
@every_workload
def test_arguments_are_never_written_and_no_result_shares_memory(name: str, dtype: str) -> None:
    best = optimized(name, dtype)
    arrays = fresh(best.baseline, 5)
    kept = [a.copy() for a in arrays]
    for a in arrays:
        a.setflags(write=False)
    first = called(best, arrays)
    copies = [np.array(x) for x in first]
    called(best, fresh(best.baseline, 6))
    assert_same_bits(arrays, kept)
    assert_same_bits(first, copies)
    assert not any(np.shares_memory(x, a) for x in first for a in arrays)


@pytest.mark.parametrize("name", ["softmax", "attention", "mlp_relu", "layer_norm", "chain3"])
def test_arguments_may_lie_in_any_order_in_memory(name: str) -> None:
    best = optimized(name, "float64")
    arrays = fresh(best.baseline, 8)
    turned = [np.asfortranarray(a) for a in arrays]
    spread = [np.repeat(a, 2, axis=0)[::2] if a.ndim else a for a in arrays]
    for moved in (turned, spread):
        for found, true in zip(called(best, moved), called(best, arrays), strict=True):
            assert off(found, true) <= TOLERANCE["float64"]


@every_workload
def test_the_value_alone_is_never_dearer_and_the_same(name: str) -> None:
    load = workload(name)
    best = sat.optimize(load.function, *load.types)
    assert best.report.check is not None
    assert best.program.gradients == ()
    assert best.report.after.cost <= min(
        best.report.before.cost, optimized(name, "float64").report.after.cost
    )
    arrays = fresh(best.baseline, 9)
    assert off(best(*arrays), evaluate(best.baseline, *arrays)[0]) <= TOLERANCE["float64"]
