"""The optimizer's records: its composable form keeps ids and is the detailed form and a field."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import pytest
from optimized import optimized, workload
from pass_cases import derivative, matrix_mean, mean_program, samples, with_input
from random_programs import random_program

import saturate as sat
from saturate.build import Builder
from saturate.cse import share
from saturate.errors import ArgumentError, ProgramError
from saturate.json_form import attributes_form
from saturate.ops import OPS
from saturate.passes import ExpansionResult, MeanExpansionRegion
from saturate.passes.records import Region
from saturate.program import Program
from saturate.provenance import OPTIMIZED, RewriteRegion
from saturate.rewrite import optimize_program, optimize_program_detailed
from saturate.runners.evaluate import evaluate

REWRITE = sys.modules["saturate.rewrite"]
LINEAR = sat.Target(ops=("full", "matmul", "mul", "reshape"))


def joint(name: str) -> Program:
    load = workload(name)
    return sat.grad(load.function, *load.types, wrt=load.wrt)


def two_outputs() -> Program:
    b = Builder()
    x = b.input("x", sat.Type((3, 5)))
    doubled = b.emit(OPS["add"](), x, x)
    return b.program("f", (b.emit(OPS["exp"](), doubled).id, b.emit(OPS["exp"](), doubled).id))


PROGRAMS: dict[str, tuple[Program, dict[str, Any]]] = {
    **{name: (joint(name), {}) for name in ("softmax", "cross_entropy", "layer_norm", "ridge", "mlp_tanh")},
    "mean by few ops": (derivative(matrix_mean((3, 5), True)), {"target": LINEAR}),
    "mean of a vector by few ops": (
        derivative(mean_program((5,), (0,), False, "float32")),
        {"target": LINEAR},
    ),
    "bitwise": (joint("softmax"), {"exact": "bitwise"}),
    "two outputs that are one": (two_outputs(), {}),
}
by_program = pytest.mark.parametrize("name", PROGRAMS)


@cache
def detailed(name: str) -> ExpansionResult[RewriteRegion]:
    program, options = PROGRAMS[name]
    return optimize_program_detailed(program, check=False, **options)


def assert_truthful(before: Program, result: ExpansionResult[RewriteRegion]) -> None:
    """Source ids are gone; emitted ones are new, together and in order, and end in the value replaced."""
    after = result.program
    old, new = [n.id for n in before.nodes], [n.id for n in after.nodes]
    emitted: list[str] = []
    for region in result.regions:
        assert region.pass_name == OPTIMIZED
        assert set(region.source_node_ids) <= set(old)
        assert not set(region.source_node_ids) & set(new)
        assert sorted(region.source_node_ids, key=old.index) == list(region.source_node_ids)
        first = new.index(region.emitted_node_ids[0])
        assert tuple(new[first : first + len(region.emitted_node_ids)]) == region.emitted_node_ids
        assert not set(region.emitted_node_ids) & set(old)
        assert after.nodes[first + len(region.emitted_node_ids) - 1].value == region.terminal_value_id
        assert before.types[region.terminal_value_id] == after.types[region.terminal_value_id]
        assert before.producer[region.terminal_value_id].id == region.source_node_ids[-1]
        assert region.source_value_id == region.terminal_value_id
        emitted += region.emitted_node_ids
    assert len(emitted) == len(set(emitted))
    assert emitted == [i for i in new if i not in old], "what is new stands in a region"
    kept = {n.id: n for n in share(before).nodes}
    for node in after.nodes:
        if node.id in kept:
            assert node == kept[node.id]


@by_program
def test_regions_tell_the_truth(name: str) -> None:
    program, result = PROGRAMS[name][0], detailed(name)
    assert_truthful(program, result)
    assert result.program.inputs == program.inputs
    assert [name for name, _ in result.program.gradients] == [name for name, _ in program.gradients]
    arrays = samples(program)
    for e, g in zip(evaluate(program, *arrays), evaluate(result.program, *arrays), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-5, atol=1e-7)


@by_program
def test_a_region_computes_its_terminal_value_from_values_of_both_programs(name: str) -> None:
    """What a region reads from outside has one id and one value before and after."""
    program, result = PROGRAMS[name][0], detailed(name)
    assert_common_values_agree(program, result.program, samples(program))


def assert_common_values_agree(before: Program, after: Program, arrays: list[Any]) -> None:
    """Every value whose id stands in both programs is one value."""
    common = tuple(v for v in after.types if v in before.types)
    old = evaluate(dataclasses.replace(before, outputs=common, gradients=()), *arrays)
    new = evaluate(dataclasses.replace(after, outputs=common, gradients=()), *arrays)
    for v, e, g in zip(common, old, new, strict=True):
        scale = float(np.max(np.abs(e), initial=1.0))
        np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-6 * scale, err_msg=v)


@pytest.mark.parametrize("seed", range(6))
def test_regions_of_random_programs_tell_the_truth(seed: int) -> None:
    """Square shapes too, where a value and its transpose have one type."""
    program = random_program(seed, 4, 4 + seed % 2)
    result = optimize_program_detailed(program, accuracy=None, check=False)
    assert_truthful(program, result)
    rng = np.random.default_rng(seed)
    arrays = [rng.uniform(0.5, 1.5, i.type.shape) for i in program.inputs]
    assert_common_values_agree(program, result.program, arrays)


@by_program
def test_the_callable_tells_the_same_regions(name: str) -> None:
    """`best.provenance` has the ids of `best.baseline` and of `best.program`."""
    program, options = PROGRAMS[name]
    best = sat.optimize(program, check=False, **options)
    assert best.rewritten == ExpansionResult(best.program, best.provenance)
    old, new = {n.id: n for n in best.baseline.nodes}, {n.id: n for n in best.program.nodes}
    place = [n.id for n in best.program.nodes]
    for region in best.provenance:
        assert isinstance(region, MeanExpansionRegion)
        assert region.source_node_ids
        assert set(region.source_node_ids) <= old.keys()
        assert list(region.emitted_node_ids) == [i for i in place if i in region.emitted_node_ids]
        assert new[region.emitted_node_ids[-1]].value == region.terminal_value_id
        assert old[region.source_node_ids[-1]].value == region.source_value_id
        assert best.same[region.terminal_value_id] == region.source_value_id
        made = [best.laws.get(new[i].value, "") for i in region.emitted_node_ids]
        assert region.laws == tuple(dict.fromkeys(law for law in made if law))
    told = {law for region in best.provenance for law in region.laws}
    assert told <= set(best.laws.values())
    result = detailed(name)
    assert [(r.source_node_ids, r.laws, r.tier) for r in result.regions] == [
        (r.source_node_ids, r.laws, r.tier) for r in best.provenance
    ]


def test_the_gradient_of_a_softmax_is_one_region() -> None:
    """What went through the maximum and the sum is gone, by one law."""
    program, result = PROGRAMS["softmax"][0], detailed("softmax")
    region = result.regions[-1]
    assert region.terminal_value_id == dict(program.gradients)["x"]
    assert region.laws == ("common_factor",)
    gone = {program.producer[v].op.name for v in program.types if v in program.producer} - {
        n.op.name for n in result.program.nodes
    }
    assert gone == {"neg", "add", "equal", "cast"}
    assert [n.op.name for n in result.program.nodes if n.id in region.emitted_node_ids] == [
        "vec_dot", "reshape", "broadcast", "sub", "mul",
    ]  # fmt: skip


def test_a_mean_under_a_target_is_a_region_by_its_lowering() -> None:
    program = derivative(matrix_mean((3, 5), False))
    result = optimize_program_detailed(program, target=LINEAR, check=False)
    assert [(r.source_node_ids, r.terminal_value_id, r.tier, r.laws) for r in result.regions] == [
        (("n0",), "v1", "rank_reducing", ("number_in_constant",)),
        (("dn1", "dn2"), "d3", "rank_preserving", ("number_in_constant",)),
    ]


# records


def test_the_record_is_that_of_a_pass_with_laws_and_the_value_before() -> None:
    fields = [f.name for f in dataclasses.fields(RewriteRegion)]
    assert fields[:5] == [f.name for f in dataclasses.fields(MeanExpansionRegion)]
    assert fields[5:] == ["laws", "source_value_id"]
    region: Region = optimized("softmax", "float64").provenance[-1]
    with pytest.raises(dataclasses.FrozenInstanceError):
        region.terminal_value_id = ""  # type: ignore[misc]
    assert type(optimized("softmax", "float64").provenance) is tuple


@by_program
def test_attributes_hold_the_keys_of_their_op_and_nothing_of_provenance(name: str) -> None:
    for node in detailed(name).program.nodes:
        assert set(attributes_form(node.op)) <= {f.name for f in dataclasses.fields(node.op)}


def test_nothing_rewritten_is_an_empty_tuple_beside_an_equal_program() -> None:
    b = Builder()
    x = b.input("x", sat.Type((3, 5)))
    program = b.program("f", (b.emit(OPS["exp"](), x).id,))
    assert optimize_program_detailed(program) == ExpansionResult(program, ())
    assert detailed("bitwise") == ExpansionResult(share(joint("softmax")), ())


@pytest.mark.parametrize("name", ["softmax", "mean by few ops", "bitwise"])
def test_equal_programs_give_equal_records(name: str) -> None:
    program, options = PROGRAMS[name]
    before = deepcopy(program)
    assert optimize_program_detailed(deepcopy(program), check=False, **options) == detailed(name)
    assert program == before


# delegation


def test_the_plain_form_is_the_detailed_one_and_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    sentinel = matrix_mean((7, 2), True)
    seen: list[Any] = []

    def replaced(program: Program, **keywords: Any) -> ExpansionResult[RewriteRegion]:
        seen.append((program, keywords))
        return ExpansionResult(sentinel, ())

    monkeypatch.setattr(REWRITE, "optimize_program_detailed", replaced)
    given = matrix_mean((3, 5), True)
    assert optimize_program(given) is sentinel
    assert optimize_program(given, reserved_id_prefix="big", exact="bitwise") is sentinel
    assert seen == [
        (given, {"reserved_id_prefix": None}),
        (given, {"reserved_id_prefix": "big", "exact": "bitwise"}),
    ]


def test_the_callable_is_its_records_and_a_field() -> None:
    """`program` is no field that could differ: it is read from the result with its regions."""
    best = optimized("softmax", "float64")
    assert "program" not in {f.name for f in dataclasses.fields(best)}
    sentinel = ExpansionResult(matrix_mean((7, 2), True), best.provenance)
    other = dataclasses.replace(best, rewritten=sentinel)
    assert other.program is sentinel.program
    assert other.provenance is sentinel.regions


def test_one_positional_parameter() -> None:
    for function in (optimize_program, optimize_program_detailed):
        kinds = [p.kind for p in inspect.signature(function).parameters.values()]
        assert kinds == [
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.VAR_KEYWORD,
        ]
        with pytest.raises(TypeError):
            function()  # type: ignore[call-arg]
        with pytest.raises(TypeError):
            function(matrix_mean((3, 5), True), "ex")  # type: ignore[call-arg]


# refusals


def test_a_program_is_differentiated_before() -> None:
    with pytest.raises(ArgumentError) as error:
        optimize_program(matrix_mean((3, 5), True), wrt="x0")
    assert str(error.value) == ("optimize_program takes no wrt: differentiate the program first, with grad")


@pytest.mark.parametrize("prefix", ["", " ", 0, "v", "node", "delta"], ids=repr)
def test_prefixes_that_meet_other_ids_are_refused(prefix: Any) -> None:
    with pytest.raises(ArgumentError) as error:
        optimize_program(matrix_mean((3, 5), True), reserved_id_prefix=prefix)
    assert error.value.code == "malformed_derivative_ir"


def test_a_new_id_that_is_taken_is_named() -> None:
    program = with_input(joint("softmax"), "exv0")
    with pytest.raises(ProgramError) as error:
        optimize_program(program, check=False)
    assert error.value.code == "malformed_derivative_ir"
    assert "'exv0'" in str(error.value)
