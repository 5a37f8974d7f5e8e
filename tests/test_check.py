from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from golden_files import Golden
from running import JOINT, JOINT_IDS
from workloads import WORKLOADS

from saturate import yardstick
from saturate.autodiff import gradient_program
from saturate.build import Builder
from saturate.certificate import Certificate
from saturate.check import check
from saturate.errors import ArgumentError
from saturate.op import Array, Op, Type
from saturate.ops.arithmetic import Mul, add, div, mul, sub
from saturate.ops.binary import equal, maximum
from saturate.ops.constants import Constant
from saturate.ops.contraction import matmul
from saturate.ops.reduction import argmax, max, sum
from saturate.ops.spreading import Reshape, broadcast, reshape
from saturate.ops.structure import transpose
from saturate.ops.unary import Cast, cast, erf, exp, log, square, tanh
from saturate.program import Node, Program
from saturate.runners import NumpyRunner
from saturate.trace import trace
from saturate.yardstick import reference_dtype

SIZES = (31, 37)


def joint(f: Callable[..., Any], *types: Type, wrt: tuple[str, ...]) -> Program:
    program = trace(f, *types)
    scalar = not program.types[program.outputs[0]].shape
    return gradient_program(program, wrt, seed="ones" if scalar else "input")


def workload(name: str, dtype: str, *shapes: tuple[int, ...]) -> Program:
    load = next(w for w in WORKLOADS if w.name == name).with_dtype(dtype)
    types = [
        replace(t, shape=s) for t, s in zip(load.types, shapes or [t.shape for t in load.types], strict=True)
    ]
    return joint(load.function, *types, wrt=load.wrt)


def followed(program: Program, value: str, op: Op) -> Program:
    """The program with `op` applied to one of its results."""
    node = Node("planted", "planted", op, (value,), op.type(program.types[value]))
    swap = {value: "planted"}
    return Program(
        program.name,
        program.inputs,
        (*program.nodes, node),
        tuple(swap.get(v, v) for v in program.outputs),
        tuple((n, swap.get(v, v)) for n, v in program.gradients),
    )


def failed(certificate: Certificate) -> list[str]:
    """The names of what did not pass."""
    found = [r.name for r in certificate.results if not r.passed]
    found += [f"{d.name} by differences" for d in certificate.differences if not d.passed]
    assert certificate.passed == (not found)
    return found


# What is right passes.


@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
def test_a_baseline_passes_against_itself_and_the_quotients_agree(program: Program) -> None:
    certificate = check(program, program)
    assert failed(certificate) == []
    assert certificate
    assert all(r.compared >= 0.25 for r in certificate.results)
    assert all(d.conclusive >= 2 for d in certificate.differences)
    assert all(d.reference_error < 1e-2 for d in certificate.differences)


def by_hand(dtype: str) -> Program:
    """Softmax with its published backward: dx = y·(g − Σ g·y)."""
    b = Builder()
    x = b.input("x", Type(SIZES, dtype))
    g = b.input("cotangent", Type(SIZES, dtype))
    e = exp(sub(x, broadcast(max(x, (1,), True), SIZES)))
    y = div(e, broadcast(sum(e, (1,), True), SIZES))
    d = mul(y, sub(g, broadcast(sum(mul(g, y), (1,), True), SIZES)))
    return b.program("softmax", (y.id,), (("x", d.id),))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_another_program_for_the_same_function_passes(dtype: str) -> None:
    certificate = check(by_hand(dtype), workload("softmax", dtype, SIZES))
    assert failed(certificate) == []
    assert [(r.name, r.compared) for r in certificate.results] == [("value", 1.0), ("gradient x", 1.0)]
    assert certificate.reference == {"float32": "float64", "float64": np.dtype(np.longdouble).name}[dtype]


# What is wrong is caught, and by name.


@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
def test_a_gradient_that_is_off_by_a_thousandth_is_caught(program: Program) -> None:
    for name, value in program.gradients:
        wrong = followed(program, value, Mul(right_literal=1.001))
        assert f"gradient {name}" in failed(check(wrong, program, trials=4))


@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
def test_a_baseline_whose_gradient_is_off_is_caught_by_differences(program: Program) -> None:
    for name, value in program.gradients:
        wrong = followed(program, value, Mul(right_literal=1.001))
        assert f"gradient {name} by differences" in failed(check(wrong, wrong))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_swapped_axes_of_a_square_are_caught(dtype: str) -> None:
    def program(swapped: bool) -> Program:
        b = Builder()
        x, w = b.input("x", Type((7, 7), dtype)), b.input("w", Type((7, 7), dtype))
        h = tanh(matmul(x, w))
        g = sub(1.0, square(h))
        d = matmul(g, w if swapped else transpose(w, (1, 0)))
        return b.program("f", (sum(h, (0, 1)).id,), (("x", d.id),))

    right, wrong = program(False), program(True)
    assert failed(check(right, right)) == []
    assert failed(check(wrong, right)) == ["gradient x", "gradient x by differences"]
    assert failed(check(wrong, wrong)) == ["gradient x by differences"]


def variance(dtype: str, stable: bool) -> Program:
    b = Builder()
    x = b.input("x", Type(SIZES, dtype))
    mean = div(sum(x, (1,), True), 37.0)
    if stable:
        out = div(sum(square(sub(x, broadcast(mean, SIZES))), (1,), True), 37.0)
    else:
        out = sub(div(sum(square(x), (1,), True), 37.0), square(mean))
    return b.program("variance", (out.id,))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_an_unstable_variance_is_caught_at_an_offset(dtype: str) -> None:
    certificate = check(variance(dtype, stable=False), variance(dtype, stable=True))
    assert failed(certificate) == ["value"]
    (value,) = certificate.results
    assert value.worst_sample.startswith("offset")
    assert value.error > 10 * value.tolerance
    assert failed(check(variance(dtype, stable=True), variance(dtype, stable=False))) == []


def test_a_softmax_without_its_shift_is_caught() -> None:
    b = Builder()
    x = b.input("x", Type(SIZES, "float32"))
    e = exp(x)
    wrong = b.program("softmax", (div(e, broadcast(sum(e, (1,), True), SIZES)).id,))
    right = by_hand("float32")
    certificate = check(wrong, Program("softmax", right.inputs[:1], _value_nodes(right), right.outputs))
    assert [r.fault for r in certificate.results] == ["NaN or infinite where the baseline is not"]


def _value_nodes(program: Program) -> tuple[Node, ...]:
    stop = [n.value for n in program.nodes].index(program.outputs[0])
    return program.nodes[: stop + 1]


def largest(even: bool) -> Program:
    """Σ max x over rows, its gradient split over ties or given to each of them."""
    b = Builder()
    x = b.input("x", Type(SIZES))
    m = max(x, (1,), True)
    mask = cast(equal(x, broadcast(m, SIZES)), "float64")
    d = div(mask, broadcast(sum(mask, (1,), True), SIZES)) if even else mask
    return b.program("largest", (sum(m, (0, 1)).id,), (("x", d.id),))


def test_a_gradient_that_counts_ties_twice_is_caught() -> None:
    certificate = check(largest(even=False), largest(even=True))
    assert failed(certificate) == ["gradient x"]
    assert certificate.results[1].worst_sample in ("ties (#2)", "zeros (#6)", "offset -1e4 (#4)")
    assert failed(check(largest(even=True), largest(even=True))) == []


CAUSAL = np.where(np.tri(*SIZES, dtype=bool), 0.0, -np.inf)


def test_masks_are_tried_where_the_examples_hold_them() -> None:
    def program(wrong: bool) -> Program:
        b = Builder()
        x, mask = b.input("x", Type(SIZES)), b.input("mask", Type(SIZES))
        s = add(x, mask)
        e = exp(sub(s, broadcast(max(s, (1,), True), SIZES)))
        y = div(e, broadcast(sum(e, (1,), True), SIZES))
        return b.program("f", ((add(y, mul(mask, 0.0)) if wrong else y).id,))

    examples = [(np.ones(SIZES), CAUSAL)]
    assert failed(check(program(False), program(False), examples=examples)) == []
    found = check(program(True), program(False), examples=examples)
    assert [r.fault for r in found.results] == ["NaN or infinite where the baseline is not"]
    assert found.samples[0] == "example (#0)"
    assert check(program(True), program(False)).passed


def test_an_infinity_that_is_missing_is_caught() -> None:
    def program(finite: bool) -> Program:
        b = Builder()
        x = b.input("x", Type(SIZES))
        mask = b.emit(Constant(Array(np.maximum(CAUSAL, -1e30) if finite else CAUSAL)))
        return b.program("f", (add(x, mask).id,))

    found = check(program(True), program(False))
    assert [r.fault for r in found.results] == ["an infinity of the baseline is missing"]
    assert failed(check(program(False), program(False))) == []


def test_a_finite_value_where_the_baseline_overflows_is_no_fault() -> None:
    def program(shifted: bool) -> Program:
        b = Builder()
        x = b.input("x", Type(SIZES))
        m = max(x, (1,))
        s = sub(x, broadcast(reshape(m, (31, 1)), SIZES)) if shifted else x
        out = log(sum(exp(s), (1,)))
        return b.program("f", (add(out, m).id if shifted else out.id,))

    assert failed(check(program(True), program(False))) == []
    assert failed(check(program(False), program(True))) == ["value"]


def test_other_integers_are_caught() -> None:
    def program(flipped: bool) -> Program:
        b = Builder()
        x = b.input("x", Type(SIZES))
        return b.program("f", (argmax(mul(x, -1.0) if flipped else x, 1).id,))

    found = check(program(True), program(False))
    assert [r.fault for r in found.results] == ["other integers or truth values"]
    assert failed(check(program(False), program(False))) == []


def test_another_dtype_or_shape_is_caught() -> None:
    baseline = variance("float32", stable=True)
    (out,) = baseline.outputs
    for op, came in ((Cast("float64"), "float64[31, 1]"), (Reshape((31,)), "float32[31]")):
        found = check(followed(baseline, out, op), baseline)
        assert [r.fault for r in found.results] == [f"{came} where the baseline has float32[31, 1]"]


def test_a_check_that_could_compare_nothing_does_not_pass() -> None:
    b = Builder()
    x = b.input("x", Type((3, 5), high=-1.0))
    program = b.program("f", (log(x).id,))
    found = check(program, program)
    assert [(r.fault, r.compared) for r in found.results] == [("nothing finite to compare", 0.0)]
    assert failed(check(program, program, trials=0)) == ["value"]


# The reference.


def test_the_reference_is_one_precision_wider_where_numpy_can(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = np.dtype(np.longdouble).name
    assert reference_dtype(workload("attention", "float32")) == "float64"
    assert reference_dtype(workload("attention", "float64")) == wide
    b = Builder()
    x = b.input("x", Type((3,)))
    assert reference_dtype(b.program("f", (erf(x).id,))) == "float64"
    monkeypatch.setattr(yardstick, "LONG_FLOPS", 1.0)
    assert reference_dtype(workload("attention", "float64")) == "float64"


def test_without_a_wider_reference_more_ulps_are_allowed_and_faults_still_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(yardstick, "LONG_FLOPS", 1.0)
    program = workload("attention", "float64")
    certificate = check(program, program)
    assert failed(certificate) == []
    assert (certificate.reference, certificate.ulps) == ("float64", 2.0**16)
    wrong = followed(program, dict(program.gradients)["k"], Mul(right_literal=1.001))
    assert "gradient k" in failed(check(wrong, program))


# The certificate.


def test_the_certificate_reads_as_it_is_kept(golden: Golden) -> None:
    passed = check(variance("float32", True), variance("float32", True), assumptions=("x is finite",))
    found = check(largest(even=False), largest(even=True))
    (value,), (quotient,) = passed.results, found.differences
    value = replace(value, error=1e-7, baseline_error=1e-7, tolerance=4e-7, worst_sample="offset 1e4 (#1)")
    quotient = replace(quotient, error=1e-9, reference_error=1e-9, tolerance=1e-4, conclusive=6)
    wrong = replace(
        found.results[1], tolerance=3.6e-15, worst_sample="zeros (#6)", error=36.0, baseline_error=0.0
    )
    thin = replace(value, name="gradient x", compared=0.25, passed=False, fault="nothing finite to compare")
    texts = [
        replace(passed, results=(value,)),
        replace(found, reference="float64", results=(value, wrong, thin), differences=(quotient,)),
        replace(found, reference="float64", results=(value,), differences=(replace(quotient, conclusive=0),)),
    ]
    golden.check("\n\n".join(map(str, texts)))


def test_the_certificate_is_frozen_and_becomes_plain_values() -> None:
    certificate = check(largest(even=True), largest(even=True), trials=3, seed=7, assumptions=("x > 0",))
    plain = json.loads(json.dumps(certificate.to_dict()))
    assert plain["passed"] is True
    assert plain["seed"] == 7
    assert plain["samples"] == ["normal (#0)", "offset 1e4 (#1)", "ties (#2)"]
    assert plain["assumptions"] == ["x > 0"]
    assert [r["name"] for r in plain["results"]] == ["value", "gradient x"]
    assert [d["name"] for d in plain["differences"]] == ["gradient x"]
    with pytest.raises(FrozenInstanceError):
        certificate.passed = False  # type: ignore[misc]


def test_the_same_check_finds_the_same_figures() -> None:
    program = workload("layer_norm", "float32")
    assert check(program, program) == check(program, program)
    assert check(program, program) != check(program, program, seed=1)


# Arguments.


def test_a_runner_is_a_name_or_a_callable() -> None:
    program = largest(even=True)
    assert check(program, program, lambda p: NumpyRunner(p, buffers=False)).runner == "NumpyRunner"
    with pytest.raises(ArgumentError) as caught:
        check(program, program, "torch")
    assert str(caught.value) == "check needs a runner among numpy, cupy, got 'torch'"


def test_programs_of_other_inputs_or_results_are_refused() -> None:
    one, other = largest(even=True), variance("float32", stable=True)
    with pytest.raises(ArgumentError) as caught:
        check(one, other)
    assert str(caught.value) == (
        "check needs a program with the inputs of its baseline, x: float32[31, 37]; got x: float64[31, 37]"
    )
    with pytest.raises(ArgumentError) as caught:
        check(one, replace(one, gradients=()))
    assert str(caught.value) == (
        "check needs a program with the results of its baseline, value; got value, gradient x"
    )


def test_values_of_maximum_at_kinks_agree() -> None:
    b = Builder()
    x = b.input("x", Type(SIZES, "float32"))
    program = gradient_program(b.program("f", (sum(maximum(x, 0.0), (0, 1)).id,)), ("x",))
    assert failed(check(program, program)) == []
