from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies
from op_cases import STRUCTURE_CASES
from op_cases_elementwise import ELEMENTWISE_CASES
from op_checks import Case, single
from random_programs import random_program
from running import JOINT, JOINT_IDS, arguments, assert_same_bits, between, by_source, of_shape

from saturate.build import Builder
from saturate.errors import ArgumentError, RunnerError, SaturateError
from saturate.op import AnyArray, Array, Type
from saturate.ops import OPS
from saturate.ops.arithmetic import add, mul, sub
from saturate.ops.constants import Constant, Full
from saturate.ops.contraction import matmul
from saturate.ops.elementwise import Elementwise
from saturate.ops.reduction import sum
from saturate.ops.spreading import broadcast, reshape
from saturate.ops.structure import slice, transpose
from saturate.ops.unary import Erf, exp, tanh
from saturate.program import Program
from saturate.runners import RUNNERS, CupyRunner, NumpyRunner
from saturate.runners import plan as planning
from saturate.runners.cupy_runner import device
from saturate.runners.evaluate import evaluate
from saturate.runners.plan import Plan

CASES = STRUCTURE_CASES + ELEMENTWISE_CASES


@pytest.fixture
def everything_buffered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of any size are written into buffers."""
    monkeypatch.setattr(planning, "SMALL", 1)


def net() -> Program:
    """tanh(softmax(x) @ w) doubled, its square summed; and softmax(x) transposed."""
    b = Builder()
    x, w = b.input("x", Type((97, 31))), b.input("params.w", Type((31, 53)))
    e = exp(sub(x, broadcast(reshape(sum(x, (1,)), (97, 1)), x.shape)))
    h = mul(tanh(matmul(e, w)), 2.0)
    return b.program("net", (sum(mul(h, h), (0, 1)).id, transpose(e, (1, 0)).id))


def only(runner: NumpyRunner) -> Plan:
    (compiled,) = runner.compiled.values()
    return compiled.plan


# The runner is its source, bit for bit.


@pytest.mark.usefixtures("everything_buffered")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_op_writes_into_buffers_what_source_computes(case: Case, dtype: str, tmp_path: Path) -> None:
    program = between(case.over(dtype))
    arrays = arguments(program)
    runner = NumpyRunner(program)
    expected = by_source(program, tmp_path, *arrays)
    assert_same_bits(runner(*arrays), expected)
    assert_same_bits(runner(*arrays), expected)
    assert_same_bits(NumpyRunner(program, buffers=False)(*arrays), expected)
    for found, meant in zip(expected, evaluate(program, *arrays), strict=True):
        np.testing.assert_allclose(found, meant, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "case",
    [c for c in ELEMENTWISE_CASES if isinstance(c.op, Elementwise) and c.operands[0].rank == 2],
    ids=str,
)
def test_an_op_over_its_own_operand_keeps_every_bit(case: Case, dtype: str) -> None:
    program = between(of_shape(case.over(dtype), (61, 67)))
    arrays = arguments(program)
    runner = NumpyRunner(program)
    runner(*arrays)
    assert_same_bits(runner(*arrays), evaluate(program, *arrays))


@pytest.mark.parametrize("large", [False, True], ids=["buffered", "reusing"])
@given(seed=strategies.integers(0, 2**32 - 1))
@settings(max_examples=31, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_programs_run_as_their_source_does(seed: int, large: bool, tmp_path: Path) -> None:
    """Small ones with every value in a buffer; and large ones, whose unnamed operands NumPy writes over."""
    program = random_program(seed, *((193, 191) if large else (5, 7)))
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(a, order=rng.choice(["C", "F"])) for a in arguments(program, seed)]
    kept = [a.copy() for a in arrays]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "SMALL", planning.SMALL if large else 1)
        runner = NumpyRunner(program)
        expected = by_source(program, tmp_path, *arrays)
        for _ in range(2):
            found = runner(*arrays)
            assert_same_bits(found, expected)
            for k, result in enumerate(found):
                assert not any(np.shares_memory(result, other) for other in [*arrays, *found[:k]])
    assert_same_bits(arrays, kept)


@pytest.mark.usefixtures("everything_buffered")
@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_workloads_run_as_their_source_does(program: Program, order: Any, tmp_path: Path) -> None:
    runner = NumpyRunner(program)
    for seed in range(3):
        arrays = [np.asarray(a, order=order) for a in arguments(program, seed)]
        expected = by_source(program, tmp_path, *arrays)
        assert_same_bits(runner(*arrays), expected)
        for found, meant in zip(expected, evaluate(program, *arrays), strict=True):
            np.testing.assert_allclose(found, meant, rtol=1e-4, atol=1e-5)


def test_an_operand_whose_memory_numpy_reuses_decides_the_layout(tmp_path: Path) -> None:
    b = Builder()
    x, y = b.input("x", Type((307, 311))), b.input("y", Type((307, 311)))
    a = add(sub(x, 1.0), y)
    program = b.program("f", (sum(mul(a, a), (0,)).id, sum(add(mul(x, 3.0), y), (0,)).id))
    arrays = [np.asfortranarray(arguments(program)[0]), arguments(program)[1]]
    runner = NumpyRunner(program)
    expected = by_source(program, tmp_path, *arrays)
    for _ in range(2):
        assert_same_bits(runner(*arrays), expected)
    arrays = [np.ascontiguousarray(a) for a in arrays]
    assert_same_bits(runner(*arrays), by_source(program, tmp_path, *arrays))


def test_a_call_with_other_strides_gets_a_plan_of_its_own_and_the_oldest_goes() -> None:
    program = single(Erf(), [Type((3, 5))])
    runner = NumpyRunner(program)
    for step in range(1, 12):
        big = np.arange(3.0 * 5 * step).reshape(3, 5 * step)
        assert_same_bits(runner(big[:, ::step]), evaluate(program, big[:, ::step]))
    assert len(runner.compiled) == 8


# Memory: nothing of the caller's is written to, nothing of the runner's is given away.


@pytest.mark.usefixtures("everything_buffered")
@pytest.mark.parametrize("runner", [NumpyRunner, lambda p: CupyRunner(p, xp=np)], ids=["numpy", "cupy"])
def test_results_share_memory_with_nothing(runner: Any) -> None:
    b = Builder()
    x = b.input("x", Type((3, 5)))
    captured = b.emit(Constant(Array(np.arange(7.0))))
    filled = b.emit(Full(2.0, (3, 5), "float64"))
    y = mul(x, 2.0)
    views = [transpose(y, (1, 0)), slice(y, (0, 1), (2, 4)), y, broadcast(reshape(y, (1, 3, 5)), (2, 3, 5))]
    results = [x, transpose(x, (1, 0)), y, *views, captured, filled, add(y, filled)]
    call = runner(b.program("f", tuple(v.id for v in results)))
    (array,) = arguments(call.program)
    array.setflags(write=False)
    kept = array.copy()
    first = [*call(array), *call(array), *call(array)]
    copies = [r.copy() for r in first]
    for k, result in enumerate(first):
        assert result.flags.writeable
        assert not np.shares_memory(result, array)
        assert not any(np.shares_memory(result, other) for other in first[:k])
        result[...] = -1.0
    assert_same_bits([array], [kept])
    assert_same_bits(call(array), copies[: len(results)])


def test_threads_have_buffers_of_their_own() -> None:
    runner = NumpyRunner(net())
    arrays = [arguments(runner.program, seed) for seed in range(5)]
    expected = [evaluate(runner.program, *a) for a in arrays]
    failed: list[BaseException] = []

    def call(k: int) -> None:
        try:
            for _ in range(7):
                for found, meant in zip(runner(*arrays[k]), expected[k], strict=True):
                    np.testing.assert_allclose(found, meant, rtol=1e-12)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=call, args=(k,)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_large_values_are_written_into_one_buffer_and_over_dying_operands() -> None:
    runner = NumpyRunner(net())
    runner(*arguments(runner.program))
    found = only(runner)
    assert len(found.sizes) == 1
    assert found.nbytes == 97 * 53 * 8
    assert len(found.over) == 3
    # not exp: its value lives on in a result, and a result is no buffer


# Arguments.


def refused(*args: Any, **named: Any) -> str:
    b = Builder()
    x, s = b.input("x", Type((3, 5), "float32")), b.input("s", Type((), "float32"))
    runner = NumpyRunner(b.program("f", (mul(x, 2.0).id, s.id)))
    with pytest.raises(ArgumentError) as caught:
        runner(*args, **named)
    assert caught.value.code == "argument"
    return str(caught.value)


X = np.ones((3, 5), "float32")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ((X,), "f needs the arguments x, s; s did not come"),
        ((X, 1.0, 2.0), "f needs 2 argument(s) (x, s), got 3"),
        ((X.T, 1.0), "f needs x of shape (3, 5), got (5, 3); optimize again for other shapes"),
        ((X.astype("float64"), 1.0), "f needs x of dtype float32, got float64; pass x.astype('float32')"),
        (
            (X.astype(">f4"), 1.0),
            "f needs x of dtype float32, got float32 in foreign byte order; pass x.astype('float32')",
        ),
        (
            (X.tolist(), 1.0),
            "f needs x as an array of float32[3, 5], got list; pass np.asarray(x, dtype='float32')",
        ),
        ((np.ma.masked_equal(X, 2), 1.0), "f needs x as a plain array, got a masked one; fill it first"),
        ((X, np.float64(1)), "f needs s of dtype float32, got float64; pass s.astype('float32')"),
        ((X, "1"), "f needs s as an array of float32[], got str; pass np.asarray(s, dtype='float32')"),
        ((X, 10**400), None),
    ],
)
def test_wrong_arguments_are_refused_by_name(args: tuple[Any, ...], message: str | None) -> None:
    found = refused(*args)
    assert found == message or (
        message is None and found.startswith("f needs s as a number of dtype float32, got 1")
    )


def test_names_that_do_not_fit_are_refused() -> None:
    assert refused(X, x=X) == "f needs the arguments x, s; got 'x' twice"
    assert refused(X, y=X) == "f needs the arguments x, s; got 'y' which it does not have"


def test_arguments_come_by_name_and_numbers_for_scalars() -> None:
    b = Builder()
    x, s = b.input("params.x", Type((3,))), b.input("s", Type((), "float32"))
    runner = NumpyRunner(b.program("f", (mul(x, 2.0).id, s.id)))
    assert_same_bits(runner(s=7, **{"params.x": np.ones(3)}), [np.full(3, 2.0), np.float32(7)])


# What a runner lacks.


def test_scipy_is_asked_for_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    with pytest.raises(RunnerError) as caught:
        NumpyRunner(single(Erf(), [Type((3,))]))
    assert str(caught.value) == "erf needs scipy.special for erf, which is not installed; pip install scipy"


def test_without_cupy_the_runner_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(RunnerError) as caught:
        RUNNERS["cupy"](net())
    assert str(caught.value) == (
        "the cupy runner needs the package cupy, which is not installed; pip install 'saturate-grad[gpu]', "
        "or use the numpy runner"
    )


class FakeRuntime:
    """As much of `cupy.cuda.runtime` as the runner asks, on a machine without a device."""

    class CUDARuntimeError(RuntimeError):
        pass

    def __init__(self, count: int | None) -> None:
        self.count = count

    @property
    def cuda(self) -> Any:
        return type("cuda", (), {"runtime": self})

    def getDeviceCount(self) -> int:
        if self.count is None:
            raise self.CUDARuntimeError("cudaErrorNoDevice")
        return self.count


@pytest.mark.parametrize(("count", "why"), [(0, "none found"), (None, "cudaErrorNoDevice")])
def test_without_a_device_the_runner_says_so_in_one_line(
    count: int | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cupy", FakeRuntime(count))
    with pytest.raises(RunnerError) as caught:
        device()
    assert str(caught.value) == f"the cupy runner needs a CUDA device ({why}); use the numpy runner"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_text_for_cupy_means_the_same_over_any_namespace(case: Case) -> None:
    program = between(case)
    arrays = arguments(program)
    for found, meant in zip(CupyRunner(program, xp=np)(*arrays), evaluate(program, *arrays), strict=True):
        np.testing.assert_allclose(found, meant, rtol=1e-12)


@pytest.fixture(scope="module")
def cupy() -> Any:
    """CuPy with a device."""
    try:
        return device()
    except SaturateError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("op", OPS)
def test_every_op_runs_on_a_device(op: str, cupy: Any) -> None:
    for case in (c for c in CASES if c.op.name == op):
        program = between(case)
        arrays: list[AnyArray] = arguments(program)
        runner = RUNNERS["cupy"](program)
        for copies in (arrays, [cupy.asarray(a) for a in arrays]):
            for found, meant in zip(runner(*copies), evaluate(program, *arrays), strict=True):
                np.testing.assert_allclose(
                    runner.host(found), meant, rtol=1e-6, atol=1e-12, err_msg=str(case)
                )


@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
def test_workloads_run_on_a_device(program: Program, cupy: Any) -> None:
    assert cupy is not None
    arrays = arguments(program)
    runner = RUNNERS["cupy"](program)
    for found, meant in zip(runner(*arrays), evaluate(program, *arrays), strict=True):
        np.testing.assert_allclose(runner.host(found), meant, rtol=1e-3, atol=1e-4)
