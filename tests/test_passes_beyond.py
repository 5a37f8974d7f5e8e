"""`strict=False`: means over some axes and of any rank, their derivatives, sums that several share."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from op_checks import run
from pass_cases import (
    BOUND,
    LOOSE_ONLY,
    NEAR_MISSES,
    REFUSED,
    SHAPES,
    assert_truthful,
    chain,
    derivative,
    forms,
    matrix_mean,
    mean_program,
    samples,
)

from saturate.build import Builder
from saturate.errors import ProgramError
from saturate.op import Type
from saturate.ops.arithmetic import Div
from saturate.ops.reduction import mean
from saturate.passes import (
    expand_mean_derivative_program,
    expand_mean_derivative_program_detailed,
    expand_mean_program,
    expand_mean_program_detailed,
)
from saturate.passes.lowering import CONSTANT_AND_MATMUL, RecordingBackend
from saturate.program import Program

RANKS: list[tuple[int, ...]] = [
    (),
    (3,),
    (1,),
    (3, 5),
    (1, 5),
    (3, 1),
    (2, 3, 5),
    (3, 1, 5),
    (1, 3, 1),
    (2, 3, 5, 7),
    (3, 5, 1, 7, 11),
]
CASES = [
    (shape, axes, keepdims)
    for shape in RANKS
    for k in range(len(shape) + 1)
    for axes in combinations(range(len(shape)), k)
    for keepdims in (True, False)
]


def loose(program: Program) -> Program:
    expanded = expand_mean_program(program, strict=False)
    return expand_mean_derivative_program(expanded, strict=False, reserved_id_prefix="eg")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "axes", "keepdims"), CASES, ids=str)
def test_any_axes_of_any_rank_lower_with_value_and_derivative(
    shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool, dtype: str
) -> None:
    program = derivative(mean_program(shape, axes, keepdims, dtype))
    forward = expand_mean_program_detailed(program, strict=False)
    assert_truthful(program, forward)
    assert len(forward.regions) == 1
    backward = expand_mean_derivative_program_detailed(program, strict=False)
    assert_truthful(program, backward)
    assert len(backward.regions) == 1
    arrays = samples(program)
    got = RecordingBackend("ones", CONSTANT_AND_MATMUL).run(loose(program), *arrays)
    for e, g, scale in zip(run(program, arrays), got, (np.abs(arrays[0]).mean(), None), strict=True):
        assert (g.shape, g.dtype) == (e.shape, e.dtype)
        assert np.abs(g - e).max() <= BOUND[dtype] * (np.abs(e).mean() if scale is None else scale)


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_is_strict_gets_the_strict_form(shape: tuple[int, int], keepdims: bool) -> None:
    program = derivative(matrix_mean(shape, keepdims))
    assert expand_mean_program_detailed(program, strict=False) == expand_mean_program_detailed(program)
    assert expand_mean_derivative_program_detailed(
        program, strict=False
    ) == expand_mean_derivative_program_detailed(program)


def test_rows_columns_and_middle_axes_take_one_product_each() -> None:
    f = {"fill": 1.0, "dtype": "float64"}
    program = mean_program((3, 5), (1,), True, "float64")
    assert forms(program, expand_mean_program_detailed(program, strict=False)) == [
        ("full", {**f, "shape": [5, 1]}, [], (5, 1)),
        ("matmul", {}, ["in", "e0"], (3, 1)),
        ("mul", {"right_literal": 1 / 5}, ["e1"], (3, 1)),
    ]
    program = mean_program((3, 5), (0,), True, "float64")
    assert forms(program, expand_mean_program_detailed(program, strict=False)) == [
        ("full", {**f, "shape": [1, 3]}, [], (1, 3)),
        ("matmul", {}, ["e0", "in"], (1, 5)),
        ("mul", {"right_literal": 1 / 3}, ["e1"], (1, 5)),
    ]
    program = mean_program((2, 3, 5), (1,), True, "float64")
    assert forms(program, expand_mean_program_detailed(program, strict=False)) == [
        ("full", {**f, "shape": [2, 1, 3]}, [], (2, 1, 3)),
        ("matmul", {}, ["e0", "in"], (2, 1, 5)),
        ("mul", {"right_literal": 1 / 3}, ["e1"], (2, 1, 5)),
    ]


def test_derivatives_along_rows_columns_and_middle_axes_take_one_product_each() -> None:
    f = {"fill": 1.0, "dtype": "float32"}
    for source, target, constant, order in (
        ((3, 1), (3, 5), [1, 5], ["in", "e0"]),
        ((1, 5), (3, 5), [3, 1], ["e0", "in"]),
        ((2, 1, 5), (2, 3, 5), [2, 3, 1], ["e0", "in"]),
    ):
        count = prod(target) // prod(source)
        program = chain(Div(right_literal=float(count)), source=Type(source, "float32"), target=target)
        assert forms(program, expand_mean_derivative_program_detailed(program, strict=False)) == [
            ("full", {**f, "shape": constant}, [], tuple(constant)),
            ("matmul", {}, order, target),
            ("mul", {"right_literal": 1.0 / count}, ["e1"], target),
        ]


def test_constants_stay_small_where_everything_is_reduced() -> None:
    program = mean_program((7, 11, 13), (0, 1, 2), False, "float64")
    expanded = expand_mean_program(program, strict=False)
    assert [n.type.size for n in expanded.nodes if n.op.name == "full"] == [13, 77]


def several(*axes: tuple[int, ...], keepdims: bool = False) -> Program:
    b = Builder()
    x = b.input("x", Type((3, 5, 7)))
    return b.program("f", tuple(mean(x, a, keepdims).id for a in axes))


@pytest.mark.parametrize(
    "axes",
    [
        [(2,), (0, 1, 2)],
        [(0, 1, 2), (2,)],
        [(2,), (1, 2), (0, 1, 2)],
        [(0,), (0, 1), (0, 1, 2), (2,), (1, 2), (0, 2), (2,)],
    ],
    ids=str,
)
def test_means_of_one_operand_share_their_sums(axes: list[tuple[int, ...]]) -> None:
    program = several(*axes)
    result = expand_mean_program_detailed(program, strict=False)
    assert_truthful(program, result)
    assert [r.source_node_ids for r in result.regions] == [(f"n{k}",) for k in range(len(axes))]
    first = {min(a) for a in axes if len(a) == 1}
    assert len(result.program.readers["v0"]) == max(1, len(first)), (
        "x is read once for each end it is summed from"
    )
    arrays = samples(program)
    for e, g in zip(run(program, arrays), run(result.program, arrays), strict=True):
        np.testing.assert_allclose(g, e, rtol=0, atol=1e-12 * np.abs(arrays[0]).mean())


def test_the_same_mean_twice_costs_one_multiplication_more() -> None:
    program = several((1, 2), (1, 2), keepdims=True)
    second = expand_mean_program_detailed(program, strict=False).regions[1]
    assert len(second.emitted_node_ids) == 2, "the product with 1/count, and the reshape"


def test_strict_means_share_nothing() -> None:
    b = Builder()
    x = b.input("x", Type((3, 5)))
    program = b.program("f", (mean(x, (0, 1), True).id, mean(x, (0, 1), False).id))
    assert len(expand_mean_program(program).nodes) == 11
    assert len(expand_mean_program(program, strict=False).nodes) == 7


def test_means_of_different_operands_share_nothing() -> None:
    b = Builder()
    x, y = b.input("x", Type((3, 5))), b.input("y", Type((3, 5)))
    program = b.program("f", (mean(x, (1,), True).id, mean(y, (1,), True).id))
    assert [len(r.emitted_node_ids) for r in expand_mean_program_detailed(program, strict=False).regions] == [
        3,
        3,
    ]


@pytest.mark.parametrize(
    "name", ["no rows", "no columns", "int32", "bool", "reserved node id", "reserved value id"]
)
def test_the_other_clauses_still_refuse(name: str) -> None:
    case = REFUSED[name]
    with pytest.raises(ProgramError) as caught:
        expand_mean_program(case.program, strict=False)
    assert caught.value.code == case.code


@pytest.mark.parametrize("name", sorted(NEAR_MISSES.keys() - LOOSE_ONLY))
def test_the_other_near_misses_are_still_returned_equal(name: str) -> None:
    program = NEAR_MISSES[name]
    assert expand_mean_derivative_program(program, strict=False) is program


@pytest.mark.parametrize("name", sorted(LOOSE_ONLY))
def test_what_only_the_strict_clauses_forbid_is_expanded(name: str) -> None:
    program = NEAR_MISSES[name]
    result = expand_mean_derivative_program_detailed(program, strict=False)
    assert_truthful(program, result)
    assert len(result.regions) == 1
    arrays = samples(program)
    for e, g in zip(run(program, arrays), run(result.program, arrays), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-6)
