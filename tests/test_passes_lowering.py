"""One table lowers what both passes emit, and refuses what they were given, before any handler runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from op_checks import run
from pass_cases import BOUND, DTYPES, SHAPES, derivative, matrix_mean, samples

from saturate.errors import ArgumentError, RunnerError
from saturate.op import Op
from saturate.ops.arithmetic import Mul
from saturate.ops.constants import Full
from saturate.ops.contraction import Matmul
from saturate.ops.spreading import Reshape
from saturate.passes import expand_mean_derivative_program, expand_mean_program
from saturate.passes.lowering import (
    CONSTANT_AND_MATMUL,
    Backend,
    Handler,
    Invocation,
    RecordingBackend,
    evaluated,
)
from saturate.program import Node, Program


def backend(handlers: Mapping[type[Op], Handler] = CONSTANT_AND_MATMUL) -> RecordingBackend:
    return RecordingBackend("recording", handlers)


def expanded(program: Program) -> Program:
    return expand_mean_derivative_program(expand_mean_program(program), reserved_id_prefix="eg")


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_table_runs_forward_and_derivative(shape: tuple[int, int], dtype: str, keepdims: bool) -> None:
    forward = matrix_mean(shape, keepdims, dtype)
    joint = derivative(forward)
    for program in (forward, joint):
        arrays = samples(program)
        for expected, got in zip(
            run(program, arrays), backend().run(expanded(program), *arrays), strict=True
        ):
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
            scale = np.abs(arrays[0]).mean() if expected.size == 1 else np.abs(expected).mean()
            assert np.abs(got - expected).max() <= BOUND[dtype] * scale


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(509, 1021), (2, 4096), (1, 100_003), (100_003, 1)], ids=str)
def test_long_rows_of_one_sign_agree_too(shape: tuple[int, int], dtype: str) -> None:
    """A BLAS that adds 0.1 one after another in float32 is off by 3e-5 in a row of 100,003."""
    forward = matrix_mean(shape, False, dtype)
    joint = derivative(forward)
    for fill in (0.1, 1e3):
        for program in (forward, joint):
            arrays = [np.full(i.type.shape, fill, dtype) for i in program.inputs]
            pairs = zip(run(program, arrays), backend().run(expanded(program), *arrays), strict=True)
            for expected, got in pairs:
                assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
                assert np.abs(got - expected).max() <= BOUND[dtype] * np.abs(expected).mean()


def test_calls_are_recorded_in_order() -> None:
    program = expand_mean_program(matrix_mean((3, 5), False))
    recording = backend()
    recording.run(program, *samples(program))
    assert recording.invocations == [
        Invocation("exn0", "full", 0),
        Invocation("exn1", "matmul", 2),
        Invocation("exn2", "full", 0),
        Invocation("exn3", "matmul", 2),
        Invocation("exn4", "mul", 1),
        Invocation("exn5", "reshape", 1),
    ]


def test_matmul_gets_two_operands() -> None:
    counts: list[int] = []

    def counting(node: Node, *operands: Any) -> Any:
        counts.append(len(operands))
        assert len(operands) == 2
        return evaluated(node, *operands)

    program = expanded(derivative(matrix_mean((3, 5), True)))
    backend({**CONSTANT_AND_MATMUL, Matmul: counting}).run(program, *samples(program))
    assert counts == [2, 2, 2, 2]


@pytest.mark.parametrize(
    ("program", "op", "node"),
    [
        (matrix_mean((3, 5), True), "mean", "n0"),
        (derivative(matrix_mean((3, 5), True)), "mean", "n0"),
        (expand_mean_program(derivative(matrix_mean((3, 5), True))), "broadcast", "dn0"),
    ],
    ids=["forward", "joint", "forward expanded"],
)
def test_what_is_not_expanded_is_refused_before_any_handler_runs(
    program: Program, op: str, node: str
) -> None:
    recording = backend()
    with pytest.raises(RunnerError) as caught:
        recording.run(program, *samples(program))
    assert caught.value.code == "unsupported_operator"
    assert str(caught.value) == (
        f"backend 'recording' has no handler for {op}, which node {node!r} needs; "
        "it has full, matmul, mul, reshape"
    )
    assert recording.invocations == []


@pytest.mark.parametrize("missing", [Full, Matmul, Mul, Reshape])
def test_a_backend_that_lacks_one_of_the_ops_says_which(missing: type[Op]) -> None:
    recording = backend({op: h for op, h in CONSTANT_AND_MATMUL.items() if op is not missing})
    program = expand_mean_program(matrix_mean((3, 5), False))
    with pytest.raises(RunnerError) as caught:
        recording.run(program, *samples(program))
    first = next(n for n in program.nodes if type(n.op) is missing)
    assert caught.value.code == "unsupported_operator"
    assert f"no handler for {missing.name}, which node {first.id!r} needs" in str(caught.value)
    assert recording.invocations == []


def test_ops_are_looked_up_by_their_concrete_class() -> None:
    class Other(Matmul):
        name = "other"

    program = expand_mean_program(matrix_mean((3, 5), True))
    with pytest.raises(RunnerError, match="no handler for matmul"):
        backend(
            {**{op: h for op, h in CONSTANT_AND_MATMUL.items() if op is not Matmul}, Other: evaluated}
        ).run(program, *samples(program))


def test_values_are_what_the_backend_makes_of_them() -> None:
    """Handlers that print instead of computing: the same registry emits code."""

    def printed(node: Node, *operands: Any) -> str:
        return node.op.text(*(f"({x})" for x in operands))

    printer = Backend("printer", dict.fromkeys(CONSTANT_AND_MATMUL, printed))
    (text,) = printer.run(expand_mean_program(matrix_mean((3, 5), True)), "x")
    assert text.endswith("* 0.06666666666666667")
    assert text.count("@") == 2


def test_a_wrong_number_of_arguments_is_refused_by_name() -> None:
    program = expand_mean_program(matrix_mean((3, 5), True))
    with pytest.raises(ArgumentError, match=r"needs 1 argument\(s\) \(x0\), got 2"):
        backend().run(program, 1, 2)
