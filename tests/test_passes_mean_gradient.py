"""The derivative pass: broadcasts divided by their copies as products with ones. What fires first."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial

import numpy as np
import pytest
from op_checks import run
from pass_cases import (
    BOUND,
    DTYPES,
    LOOSE_ONLY,
    NEAR_MISSES,
    SHAPES,
    assert_truthful,
    calls,
    chain,
    derivative,
    forms,
    matrix_mean,
    samples,
    with_input,
    with_node,
)

from saturate.build import Builder
from saturate.errors import ArgumentError, ProgramError
from saturate.op import Type
from saturate.ops.arithmetic import Div, Neg
from saturate.ops.reduction import mean
from saturate.ops.spreading import Broadcast
from saturate.passes import (
    expand_mean_derivative_program,
    expand_mean_derivative_program_detailed,
    expand_mean_program,
)
from saturate.program import Program
from saturate.trace import trace

BY_HAND = chain(Div(right_literal=6.0))


def expected_forms(r: int, c: int, dtype: str) -> list[tuple[object, ...]]:
    return [
        ("full", {"fill": 1.0, "shape": [r, 1], "dtype": dtype}, [], (r, 1)),
        ("matmul", {}, ["e0", "in"], (r, 1)),
        ("full", {"fill": 1.0, "shape": [1, c], "dtype": dtype}, [], (1, c)),
        ("matmul", {}, ["e1", "e2"], (r, c)),
        ("mul", {"right_literal": 1.0 / float(r * c)}, ["e3"], (r, c)),
    ]


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(4, 4), (3, 5), (5, 3)], ids=str)
def test_function_in_numpy_becomes_five_nodes(shape: tuple[int, int], dtype: str, keepdims: bool) -> None:
    program = derivative(trace(lambda x: np.mean(x, keepdims=keepdims), Type(shape, dtype)))
    result = expand_mean_derivative_program_detailed(program)
    assert forms(program, result) == expected_forms(*shape, dtype)
    assert_truthful(program, result)
    arrays = samples(program)
    for expected, got in zip(run(program, arrays), run(result.program, arrays), strict=True):
        np.testing.assert_allclose(got, expected, rtol=BOUND[dtype])


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_derivative_by_autodiff_becomes_five_nodes(
    shape: tuple[int, int], dtype: str, keepdims: bool
) -> None:
    program = derivative(matrix_mean(shape, keepdims, dtype))
    result = expand_mean_derivative_program_detailed(program)
    assert forms(program, result) == expected_forms(*shape, dtype)
    assert [n.op.name for n in result.program.nodes][1:-5] == ([] if keepdims else ["reshape"])
    assert_truthful(program, result)


def test_chain_by_hand_becomes_the_same_five_nodes() -> None:
    result = expand_mean_derivative_program_detailed(BY_HAND)
    assert forms(BY_HAND, result) == expected_forms(2, 3, "float32")
    assert [n.value for n in result.program.nodes] == ["exv0", "exv1", "exv2", "exv3", "d2"]
    assert result.program.nodes[1].operands == ("exv0", "d0")
    assert_truthful(BY_HAND, result)


@pytest.mark.parametrize("divisor", [6, 6.0, np.float64(6.0)], ids=["int", "float", "float64"])
def test_divisor_of_any_real_python_type_is_accepted(divisor: float) -> None:
    result = expand_mean_derivative_program_detailed(chain(Div(right_literal=divisor)))
    assert len(result.regions) == 1


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_agree_with_the_derivative(shape: tuple[int, int], dtype: str, keepdims: bool) -> None:
    program = derivative(matrix_mean(shape, keepdims, dtype))
    arrays = samples(program)
    expected = run(program, arrays)[1]
    got = run(expand_mean_derivative_program(program), arrays)[1]
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    assert np.abs(got - expected).max() <= BOUND[dtype] * np.abs(expected).mean()


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_with_the_reciprocal_is_within_one_unit_of_the_quotient(dtype: str) -> None:
    rng = np.random.default_rng(0)
    differ = 0
    for r, c in [(1, 3), (3, 5), (7, 11), (29, 31), (4, 8), (2, 512)]:
        program = chain(Div(right_literal=float(r * c)), source=Type((1, 1), dtype), target=(r, c))
        expanded = expand_mean_derivative_program(program)
        for g in rng.standard_normal((50, 1, 1)).astype(dtype):
            (quotient,), (product,) = run(program, [g]), run(expanded, [g])
            assert np.abs(quotient - product).max() <= np.spacing(np.abs(quotient)).max()
            off = bool((quotient != product).any())
            differ += off
            assert not (off and r * c in (32, 1024)), "1/d is exact where d is a power of two"
    assert differ > 20, "the law is no identity of bits: its class is rounding"


@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_zero_becomes_positive_and_other_values_keep_their_bits(dtype: str) -> None:
    """With a power of two as the divisor only the products with ones are at work."""
    program = chain(Div(right_literal=8.0), source=Type((1, 1), dtype), target=(2, 4))
    expanded = expand_mean_derivative_program(program)
    info = np.finfo(dtype)
    for value in (0.0, 1.5, -3.0, np.inf, -np.inf, float(info.max), float(info.tiny)):
        g = np.full((1, 1), value, dtype)
        (quotient,), (product,) = run(program, [g]), run(expanded, [g])
        assert quotient.tobytes() == product.tobytes(), value
    assert np.isnan(run(expanded, [np.full((1, 1), np.nan, dtype)])[0]).all()
    g = np.full((1, 1), -0.0, dtype)
    assert np.signbit(run(program, [g])[0]).all()
    assert not np.signbit(run(expanded, [g])[0]).any()


def test_a_reshape_before_it_stays() -> None:
    program = derivative(matrix_mean((3, 5), False))
    result = expand_mean_derivative_program_detailed(program)
    kept = [n for n in program.nodes if n.op.name == "reshape"]
    assert len(kept) == 1
    assert kept[0] in result.program.nodes


def test_both_passes_under_two_prefixes_leave_no_mean_and_no_broadcast() -> None:
    program = derivative(matrix_mean((3, 5), False))
    both = expand_mean_derivative_program(expand_mean_program(program), reserved_id_prefix="eg")
    assert {n.op.name for n in both.nodes} == {"full", "matmul", "mul", "reshape"}
    with pytest.raises(ProgramError, match="new node id 'exn0'") as caught:
        expand_mean_derivative_program(expand_mean_program(program))
    assert caught.value.code == "malformed_derivative_ir"


def assert_untouched(name: str, expand: Callable[..., Program]) -> None:
    """What the near misses assert; the mutations of the pass are run through the same lines."""
    program = NEAR_MISSES[name]
    before = deepcopy(program)
    for strict in (True,) if name in LOOSE_ONLY else (True, False):
        assert expand(program, strict=strict) == before
    assert program == before


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_near_miss_is_returned_equal(name: str) -> None:
    assert_untouched(name, expand_mean_derivative_program)
    assert expand_mean_derivative_program_detailed(NEAR_MISSES[name]).regions == ()


def test_one_region_among_near_misses_is_found() -> None:
    b = Builder(values="d", nodes="dn")
    g = b.input("g", Type((1, 1), "float32"))
    wrong = b.emit(Div(right_literal=7.0), b.emit(Broadcast((2, 3)), g))
    right = b.emit(Div(right_literal=6.0), b.emit(Broadcast((2, 3)), g))
    program = b.program("f", (wrong.id, right.id))
    result = expand_mean_derivative_program_detailed(program)
    assert [r.source_node_ids for r in result.regions] == [("dn2", "dn3")]
    assert_truthful(program, result)


def test_nodes_between_broadcast_and_division_stay_in_order() -> None:
    b = Builder(values="d", nodes="dn")
    g = b.input("g", Type((1, 1), "float32"))
    spread = b.emit(Broadcast((2, 3)), g)
    other = b.emit(Neg(), g)
    program = b.program("f", (b.emit(Div(right_literal=6.0), spread, label="dx").id, other.id))
    result = expand_mean_derivative_program_detailed(program)
    assert [n.id for n in result.program.nodes] == ["dn1", "exn0", "exn1", "exn2", "exn3", "exn4"]
    assert result.program.nodes[-1].label == "dx"
    assert_truthful(program, result)


def test_a_new_id_that_is_taken_is_refused() -> None:
    for program in (
        with_input(BY_HAND, "exv3"),
        with_node(BY_HAND, Neg(), "d2", "dn9", "exv0"),
    ):
        with pytest.raises(ProgramError, match="new value id 'exv") as caught:
            expand_mean_derivative_program(program)
        assert caught.value.code == "malformed_derivative_ir"
    with pytest.raises(ProgramError, match="new node id 'exn4'"):
        expand_mean_derivative_program(with_node(BY_HAND, Neg(), "d2", "exn4", "d9"))


def test_taken_ids_matter_only_where_something_is_minted() -> None:
    free = with_input(with_node(BY_HAND, Neg(), "d2", "exn5", "exv4"), "exv5")
    assert len(expand_mean_derivative_program_detailed(free).regions) == 1
    missed = with_input(NEAR_MISSES["divisor off by one"], "exv0")
    assert expand_mean_derivative_program(missed) is missed


@pytest.mark.parametrize("prefix", ["", " ", 0, True, ("ex",), b"ex", "v", "node", "delta"], ids=repr)
def test_a_prefix_that_others_own_is_refused(prefix: object) -> None:
    for program in (BY_HAND, NEAR_MISSES["divisor off by one"]):
        with pytest.raises(ArgumentError) as caught:
            expand_mean_derivative_program(program, reserved_id_prefix=prefix)  # type: ignore[arg-type]
        assert caught.value.code == "malformed_derivative_ir"
        assert repr(prefix) in str(caught.value)


def test_no_program_is_refused() -> None:
    with pytest.raises(ArgumentError, match="needs a Program, got NoneType"):
        expand_mean_derivative_program(None)  # type: ignore[arg-type]


def test_equal_programs_give_equal_results_and_stay_as_they_are() -> None:
    program = derivative(matrix_mean((3, 5), False))
    before = deepcopy(program)
    first = expand_mean_derivative_program_detailed(program)
    assert first == expand_mean_derivative_program_detailed(deepcopy(program))
    assert program == before


def many_chains(k: int) -> Program:
    b = Builder(values="d", nodes="dn")
    g = b.input("g", Type((1, 1), "float32"))
    return b.program(
        "f", tuple(b.emit(Div(right_literal=6.0), b.emit(Broadcast((2, 3)), g)).id for _ in range(k))
    )


def test_time_is_linear() -> None:
    few, some, many = (
        calls(partial(expand_mean_derivative_program, many_chains(k))) for k in (10, 100, 1000)
    )
    assert many - some == pytest.approx(10 * (some - few), rel=0.05)


def test_derivative_of_a_mean_over_some_axes_is_left_alone() -> None:
    b = Builder()
    x = b.input("x", Type((3, 5), "float32"))
    program = derivative(b.program("f", (mean(x, (1,), True).id,)))
    assert expand_mean_derivative_program_detailed(program).regions == ()
