"""The records beside the program: their fields and their truth; the plain passes are the detailed ones."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from pass_cases import (
    ATTRIBUTES,
    DTYPES,
    NEAR_MISSES,
    Regions,
    assert_truthful,
    chain,
    derivative,
    matrix_mean,
    mean_program,
)

from saturate.build import Builder
from saturate.errors import ProgramError
from saturate.json_form import attributes_form
from saturate.op import Type
from saturate.ops.arithmetic import Div
from saturate.ops.reduction import mean
from saturate.passes import (
    BROADCAST_SCALE_EXPANSION,
    MEAN_EXPANSION_FORWARD,
    ExpansionResult,
    MeanExpansionRegion,
    expand_mean_derivative_program,
    expand_mean_derivative_program_detailed,
    expand_mean_program,
    expand_mean_program_detailed,
    mean_gradient,
)
from saturate.passes import mean as mean_pass
from saturate.program import Program

Plain = Callable[..., Program]
Detailed = Callable[..., Regions]
PAIRS: list[tuple[Plain, Detailed, Any, str]] = [
    (expand_mean_program, expand_mean_program_detailed, mean_pass, "expand_mean_program_detailed"),
    (
        expand_mean_derivative_program,
        expand_mean_derivative_program_detailed,
        mean_gradient,
        "expand_mean_derivative_program_detailed",
    ),
]
by_pass = pytest.mark.parametrize(("plain", "detailed", "module", "name"), PAIRS, ids=[p[3] for p in PAIRS])


def two_means_of_one_operand() -> Program:
    b = Builder()
    x = b.input("x", Type((3, 5), "float32"))
    return b.program("f", (mean(x, (0, 1), True).id, mean(x, (0, 1), False).id))


PROGRAMS: dict[str, Program] = {
    **{f"mean {d} {k}": matrix_mean((3, 5), k, d) for d in DTYPES for k in (True, False)},
    **{f"derivative {d} {k}": derivative(matrix_mean((3, 5), k, d)) for d in DTYPES for k in (True, False)},
    "two means": two_means_of_one_operand(),
    "by hand": chain(Div(right_literal=6.0)),
    **NEAR_MISSES,
}


def test_pass_names_are_these_strings() -> None:
    assert MEAN_EXPANSION_FORWARD == "mean_expansion_forward"
    assert BROADCAST_SCALE_EXPANSION == "broadcast_scale_expansion"


def test_records_have_these_fields_in_this_order() -> None:
    assert [f.name for f in dataclasses.fields(MeanExpansionRegion)] == [
        "pass_name",
        "source_node_ids",
        "emitted_node_ids",
        "terminal_value_id",
        "tier",
    ]
    assert [f.name for f in dataclasses.fields(ExpansionResult)] == ["program", "regions"]


def test_records_are_frozen_and_hold_tuples() -> None:
    result = expand_mean_program_detailed(matrix_mean((3, 5), True))
    (region,) = result.regions
    for record, field in ((result, "program"), (result, "regions"), (region, "tier"), (region, "pass_name")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, ())
    assert type(result.regions) is tuple
    assert type(region.source_node_ids) is type(region.emitted_node_ids) is tuple
    assert hash(region) == hash(deepcopy(region))


@by_pass
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_plain_pass_gives_the_detailed_program(
    program: Program, plain: Plain, detailed: Detailed, module: Any, name: str
) -> None:
    assert plain(program) == detailed(program).program


@by_pass
def test_plain_pass_is_the_detailed_one_and_a_field(
    plain: Plain, detailed: Detailed, module: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the detailed form returns comes back, what is given is passed on: delegation, not agreement."""
    sentinel = matrix_mean((7, 2), True)
    seen: list[Any] = []

    def replaced(program: Program, **keywords: Any) -> Regions:
        seen.append((program, keywords))
        return ExpansionResult(sentinel, ())

    monkeypatch.setattr(module, name, replaced)
    given = matrix_mean((3, 5), True)
    assert plain(given) is sentinel
    assert plain(given, reserved_id_prefix="big", strict=False) is sentinel
    assert seen[0] == (given, {"reserved_id_prefix": None, "strict": True})
    assert seen[1] == (given, {"reserved_id_prefix": "big", "strict": False})


@by_pass
def test_one_positional_parameter_and_keywords(
    plain: Plain, detailed: Detailed, module: Any, name: str
) -> None:
    for function in (plain, detailed):
        parameters = inspect.signature(function).parameters
        assert list(parameters) == ["program", "reserved_id_prefix", "strict"]
        assert [p.default for p in parameters.values()][1:] == [None, True]
        assert {p.kind for p in list(parameters.values())[1:]} == {inspect.Parameter.KEYWORD_ONLY}
        function(matrix_mean((3, 5), True))
        for wrong in ((), (matrix_mean((3, 5), True), "ex")):
            with pytest.raises(TypeError):
                function(*wrong)


def test_regions_stand_in_program_order_and_tell_the_truth() -> None:
    program = two_means_of_one_operand()
    result = expand_mean_program_detailed(program)
    assert [r.source_node_ids for r in result.regions] == [("n0",), ("n1",)]
    assert [len(r.emitted_node_ids) for r in result.regions] == [5, 6]
    assert_truthful(program, result)
    gradient = derivative(program)
    assert_truthful(gradient, expand_mean_program_detailed(gradient))
    assert_truthful(gradient, expand_mean_derivative_program_detailed(gradient))


@pytest.mark.parametrize(
    ("keepdims", "tier", "count"), [(True, "rank_preserving", 5), (False, "rank_reducing", 6)]
)
def test_tiers(keepdims: bool, tier: str, count: int) -> None:
    program = derivative(matrix_mean((3, 5), keepdims))
    (forward,) = expand_mean_program_detailed(program).regions
    assert (forward.pass_name, forward.tier, len(forward.emitted_node_ids)) == (
        MEAN_EXPANSION_FORWARD,
        tier,
        count,
    )
    (backward,) = expand_mean_derivative_program_detailed(program).regions
    assert (backward.pass_name, backward.tier, len(backward.emitted_node_ids)) == (
        BROADCAST_SCALE_EXPANSION,
        "rank_preserving",
        5,
    )
    assert len(backward.source_node_ids) == 2


@pytest.mark.parametrize("keepdims", [True, False])
def test_attributes_hold_the_keys_of_their_op_and_nothing_of_provenance(keepdims: bool) -> None:
    program = derivative(matrix_mean((3, 5), keepdims))
    for result in (expand_mean_program_detailed(program), expand_mean_derivative_program_detailed(program)):
        emitted = [n for n in result.program.nodes if n.id in result.regions[0].emitted_node_ids]
        for node in emitted:
            assert set(attributes_form(node.op)) == ATTRIBUTES[node.op.name]


def test_nothing_rewritten_is_an_empty_tuple_beside_the_same_program() -> None:
    for program in (NEAR_MISSES["an input divided"], NEAR_MISSES["no literal at all"]):
        result = expand_mean_program_detailed(program)
        assert result == ExpansionResult(program, ())
    partial = derivative(mean_program((3, 5), (1,), True, "float32"))
    assert expand_mean_derivative_program_detailed(partial) == ExpansionResult(partial, ())
    with pytest.raises(ProgramError) as caught:
        expand_mean_program_detailed(partial)
    assert caught.value.code == "unsupported_reduction"


@by_pass
def test_equal_programs_give_equal_records(plain: Plain, detailed: Detailed, module: Any, name: str) -> None:
    program = derivative(two_means_of_one_operand())
    assert detailed(program) == detailed(deepcopy(program))
    assert detailed(program).regions == detailed(deepcopy(program)).regions != ()
