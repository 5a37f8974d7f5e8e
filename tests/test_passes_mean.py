"""The forward pass: means of matrices as products with ones. Forms first, then values, then refusals."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from op_checks import run
from pass_cases import (
    BOUND,
    DTYPES,
    REFUSED,
    SHAPES,
    Refused,
    assert_truthful,
    calls,
    forms,
    matrix_mean,
    mean_program,
    samples,
    with_input,
    with_node,
)

from saturate.build import Builder
from saturate.errors import ArgumentError, ProgramError
from saturate.op import Type
from saturate.ops.arithmetic import Add, Neg
from saturate.ops.reduction import Mean, mean
from saturate.passes import expand_mean_program, expand_mean_program_detailed
from saturate.program import Program


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_mean_that_keeps_its_axes_becomes_five_nodes(shape: tuple[int, int], dtype: str) -> None:
    r, c = shape
    program = matrix_mean(shape, True, dtype)
    result = expand_mean_program_detailed(program)
    assert forms(program, result) == [
        ("full", {"fill": 1.0, "shape": [c, 1], "dtype": dtype}, [], (c, 1)),
        ("matmul", {}, ["in", "e0"], (r, 1)),
        ("full", {"fill": 1.0, "shape": [1, r], "dtype": dtype}, [], (1, r)),
        ("matmul", {}, ["e2", "e1"], (1, 1)),
        ("mul", {"right_literal": 1.0 / float(r * c)}, ["e3"], (1, 1)),
    ]
    assert result.program.nodes[-1].value == program.outputs[0] == "v1"
    assert {n.type.dtype for n in result.program.nodes} == {dtype}
    assert_truthful(program, result)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_mean_that_drops_its_axes_ends_in_a_reshape(shape: tuple[int, int], dtype: str) -> None:
    r, c = shape
    program = matrix_mean(shape, False, dtype)
    result = expand_mean_program_detailed(program)
    assert forms(program, result)[3:] == [
        ("matmul", {}, ["e2", "e1"], (1, 1)),
        ("mul", {"right_literal": 1.0 / float(r * c)}, ["e3"], (1, 1)),
        ("reshape", {"shape": []}, ["e4"], ()),
    ]
    assert (
        forms(program, result)[:4]
        == forms(
            matrix_mean(shape, True, dtype), expand_mean_program_detailed(matrix_mean(shape, True, dtype))
        )[:4]
    )
    assert [n.value for n in result.program.nodes] == ["exv0", "exv1", "exv2", "exv3", "exv4", "v1"]
    assert_truthful(program, result)


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_agree_with_the_mean(shape: tuple[int, int], dtype: str, keepdims: bool) -> None:
    program = matrix_mean(shape, keepdims, dtype)
    arrays = samples(program)
    (expected,), (got,) = run(program, arrays), run(expand_mean_program(program), arrays)
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
    assert np.abs(got - expected) <= BOUND[dtype] * np.abs(arrays[0]).mean()


def test_ids_labels_and_other_nodes_stay() -> None:
    b = Builder()
    x = b.input("x", Type((3, 5), "float32"))
    negative = b.emit(Neg(), x, label="negative")
    m = b.emit(Mean((0, 1), True), negative, label="m")
    out = b.emit(Neg(), m, label="out")
    program = b.program("f", (out.id, m.id))
    result = expand_mean_program_detailed(program)
    assert result.program.nodes[0] is program.nodes[0]
    assert result.program.nodes[-1] is program.nodes[-1]
    assert [n.id for n in result.program.nodes] == ["n0", "exn0", "exn1", "exn2", "exn3", "exn4", "n2"]
    assert result.program.nodes[5].label == "m"
    assert result.program.outputs == ("v3", "v2")
    assert_truthful(program, result)


def two_means() -> Program:
    """Two means of two operands, the second of the first's result repeated."""
    b = Builder()
    x = b.input("x", Type((3, 5), "float32"))
    y = b.input("y", Type((7, 2), "float32"))
    return b.program("f", (b.emit(Add(), mean(x, (0, 1), True), mean(y, (0, 1), True)).id,))


def test_two_means_are_two_regions_in_order_with_ids_counted_on() -> None:
    program = two_means()
    result = expand_mean_program_detailed(program)
    assert [r.source_node_ids for r in result.regions] == [("n0",), ("n1",)]
    assert result.regions[0].emitted_node_ids == tuple(f"exn{k}" for k in range(5))
    assert result.regions[1].emitted_node_ids == tuple(f"exn{k}" for k in range(5, 10))
    assert_truthful(program, result)


def test_a_program_without_a_mean_comes_back_itself() -> None:
    program = with_node(matrix_mean((3, 5), True), Neg(), "v0", "n1", "v2")
    program = replace(program, nodes=program.nodes[1:], outputs=("v2",))
    assert expand_mean_program(program) is program


def test_expanding_twice_changes_nothing_more() -> None:
    once = expand_mean_program(matrix_mean((3, 5), False))
    assert expand_mean_program(once) is once


def test_equal_programs_give_equal_results_and_stay_as_they_are() -> None:
    program = two_means()
    before = deepcopy(program)
    assert expand_mean_program_detailed(program) == expand_mean_program_detailed(deepcopy(program))
    assert program == before


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_supported_is_refused_by_category_and_node(case: Refused) -> None:
    with pytest.raises(ProgramError) as caught:
        expand_mean_program(case.program, strict=case.strict)
    assert caught.value.code == case.code
    assert f"node {case.program.nodes[0].id!r} (mean)" in str(caught.value)
    assert case.words in str(caught.value)


def test_the_message_says_who_needs_what_and_what_to_do() -> None:
    with pytest.raises(ProgramError) as caught:
        expand_mean_program(mean_program((3, 5), (1,), True, "float32"))
    assert str(caught.value) == (
        "node 'n0' (mean) cannot be expanded: it needs all axes of float32[3, 5], got (1,); "
        "strict=False takes some"
    )


ORDER = ["rank 3", "no rows", "rows only", "int32", "reserved node id"]


@pytest.mark.parametrize(("first", "second"), list(pairwise(ORDER)))
def test_clauses_are_checked_in_order(first: str, second: str) -> None:
    """A mean that breaks two neighbouring clauses is refused for the first."""
    shapes: dict[tuple[str, str], tuple[tuple[int, ...], tuple[int, ...], str, str]] = {
        ("rank 3", "no rows"): ((0, 3, 5), (0, 1, 2), "float32", "n0"),
        ("no rows", "rows only"): ((0, 3), (0,), "float32", "n0"),
        ("rows only", "int32"): ((3, 5), (0,), "int32", "n0"),
        ("int32", "reserved node id"): ((3, 5), (0, 1), "int32", "exn0"),
    }
    shape, axes, dtype, node = shapes[first, second]
    program = mean_program(shape, axes, True, dtype)
    program = replace(program, nodes=(replace(program.nodes[0], id=node),))
    with pytest.raises(ProgramError) as caught:
        expand_mean_program(program)
    assert caught.value.code == REFUSED[first].code
    assert REFUSED[first].words in str(caught.value)


def test_all_means_are_validated_before_anything_is_emitted() -> None:
    good = matrix_mean((3, 5), True, "float32")
    both = with_node(good, Mean((1,), True), "v0", "n1", "v2")
    before = deepcopy(both)
    taken = with_input(both, "exv0")
    for program in (both, taken):
        with pytest.raises(ProgramError) as caught:
            expand_mean_program(program)
        assert caught.value.code == "unsupported_reduction"
        assert "'n1'" in str(caught.value)
    assert both == before


@pytest.mark.parametrize("value", ["exv0", "exv3"])
def test_a_new_value_id_that_an_input_or_node_produces_is_refused(value: str) -> None:
    program = matrix_mean((3, 5), True)
    for taken in (with_input(program, value), with_node(program, Neg(), "v0", "n1", value)):
        with pytest.raises(ProgramError) as caught:
            expand_mean_program(taken)
        assert caught.value.code == "malformed_derivative_ir"
        assert str(caught.value) == (
            f"the new value id {value!r} stands in the program already; give another reserved_id_prefix"
        )


def test_a_new_node_id_that_is_taken_is_refused() -> None:
    taken = with_node(matrix_mean((3, 5), True), Neg(), "v0", "exn4", "v2")
    with pytest.raises(ProgramError, match="new node id 'exn4'") as caught:
        expand_mean_program(taken)
    assert caught.value.code == "malformed_derivative_ir"


def test_only_ids_that_are_minted_need_to_be_free() -> None:
    program = with_input(with_node(matrix_mean((3, 5), True), Neg(), "v0", "exn5", "exv4"), "exv5")
    assert len(expand_mean_program_detailed(program).regions) == 1


def test_another_prefix_mints_other_ids() -> None:
    program = with_input(matrix_mean((3, 5), True), "exv0")
    result = expand_mean_program_detailed(program, reserved_id_prefix="big")
    assert result.regions[0].emitted_node_ids == ("bign0", "bign1", "bign2", "bign3", "bign4")
    assert [n.value for n in result.program.nodes] == ["bigv0", "bigv1", "bigv2", "bigv3", "v1"]


WRONG_PREFIXES = [
    "",
    " ",
    0,
    17,
    True,
    ("ex",),
    b"ex",
    "v",
    "value",
    "n",
    "node",
    "d",
    "dn",
    "delta",
    "e x",
    "3",
]


@pytest.mark.parametrize("prefix", WRONG_PREFIXES, ids=repr)
def test_a_prefix_that_others_own_is_refused_before_anything_is_rewritten(prefix: object) -> None:
    for program in (matrix_mean((3, 5), True), REFUSED["rank 1"].program):
        with pytest.raises(ArgumentError) as caught:
            expand_mean_program(program, reserved_id_prefix=prefix)  # type: ignore[arg-type]
        assert caught.value.code == "malformed_derivative_ir"
        assert repr(prefix) in str(caught.value)


def test_no_program_is_refused() -> None:
    with pytest.raises(ArgumentError, match="needs a Program, got int") as caught:
        expand_mean_program(3)  # type: ignore[arg-type]
    assert caught.value.code == "malformed_derivative_ir"


def test_float16_is_summed_in_float16() -> None:
    """NumPy sums float16 in float32; the products do not, and overflow where a row's sum passes 65,504."""
    program = matrix_mean((3, 1021), True, "float16")
    arrays = [np.full((3, 1021), 100.0, "float16")]
    assert run(program, arrays)[0] == 100.0
    with np.errstate(over="ignore"):
        assert run(expand_mean_program(program), arrays)[0] == np.inf


@pytest.mark.parametrize("shape", [(509, 1021), (2, 4096), (1, 100_003)], ids=str)
def test_a_constant_in_float32_is_off_by_a_unit_a_summand_at_most(shape: tuple[int, int]) -> None:
    """Here all roundings point one way, and BLAS adds one after another where NumPy adds in pairs."""
    arrays = [np.full(shape, 0.1, "float32")]
    (got,) = run(expand_mean_program(matrix_mean(shape, False, "float32")), arrays)
    assert np.abs(got / np.float32(0.1) - 1) <= (sum(shape) + 1) * np.finfo("float32").eps


def many_means(k: int) -> Program:
    b = Builder()
    x = b.input("x", Type((3, 5), "float32"))
    return b.program("f", tuple(mean(x, (0, 1), True).id for _ in range(k)))


def test_time_is_linear() -> None:
    """Ten times the means take ten times the calls: no search inside the loop."""
    few, some, many = (calls(partial(expand_mean_program, many_means(k))) for k in (10, 100, 1000))
    assert many - some == pytest.approx(10 * (some - few), rel=0.05)
