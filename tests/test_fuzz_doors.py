"""The doors of `Program` under junk: constructor, JSON, text and passes answer, or refuse with a category."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from op_cases import STRUCTURE_CASES
from op_cases_elementwise import ELEMENTWISE_CASES
from op_checks import run, single
from pass_cases import NEAR_MISSES, derivative, matrix_mean, samples

from saturate.build import Builder
from saturate.errors import SaturateError
from saturate.json_form import from_json, to_json
from saturate.op import Array, Type
from saturate.ops import OPS
from saturate.ops.arithmetic import Div
from saturate.ops.reduction import mean
from saturate.ops.spreading import broadcast, reshape
from saturate.passes import (
    expand_mean_derivative_program,
    expand_mean_derivative_program_detailed,
    expand_mean_program,
    expand_mean_program_detailed,
)
from saturate.program import Input, Node, Program
from saturate.text import format_program, parse

CATEGORIES = {
    "argument",
    "dtype_not_differentiable",
    "malformed_derivative_ir",
    "malformed_program",
    "missing_dtype_metadata",
    "missing_shape_metadata",
    "reduction_shape_mismatch",
    "unresolved_symbolic_shape",
    "unsupported_operator",
    "unsupported_reduction",
}
SEEDS = [
    *(single(case.op, case.operands) for case in (*STRUCTURE_CASES, *ELEMENTWISE_CASES)),
    *(derivative(matrix_mean((3, 5), k, "float32")) for k in (True, False)),
    *NEAR_MISSES.values(),
]
programs = st.sampled_from(SEEDS)
few = settings(max_examples=100, deadline=None)

numbers = st.one_of(
    st.integers(-3, 9),
    st.sampled_from([10**200, 10**400, -(10**400), 2**63, True, False]),
    st.floats(),
    st.builds(pow, st.just(10), st.just(5000)),  # an int that has no repr
    st.sampled_from([1j, np.float32(2.0), np.float64(2.0), np.int64(2), np.True_]),
)
texts = st.one_of(
    st.sampled_from(["", "v0", "n0", "float32", "f4,f4", "a", "ij,jk->ik", "...", "(", "\ud800"]),
    st.text(max_size=5),
)
junk: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        numbers,
        texts,
        st.binary(max_size=3),
        st.builds(object),
        st.just(np.ones(3)),
        st.just(Array(np.ones(3))),
        st.just(Type((3, 5))),
        st.just(Type),
        st.just({}),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, max_size=2),
    ),
    max_leaves=6,
)
plain: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 9),
        st.just(10**400),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)


def outcome(run: Callable[[], Program], *more: str) -> Program | str:
    """The program, or the category of the refusal; anything else passes through and fails the test."""
    refusal: SaturateError
    try:
        return run()
    except SaturateError as error:
        refusal = error
    assert refusal.code in CATEGORIES.union(more), (refusal.code, str(refusal))
    assert 0 < len(str(refusal)) < 2000
    return refusal.code


@few
@given(programs, st.data())
def test_constructor_of_programs_nodes_inputs_and_types(program: Program, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(["program", "node", "input", "type"]))

    def build() -> Program:
        part: Any = program
        if target == "node" and program.nodes:
            part = data.draw(st.sampled_from(program.nodes))
        if target in ("input", "type") and program.inputs:
            part = data.draw(st.sampled_from(program.inputs))
        name = data.draw(st.sampled_from([f.name for f in fields(part) if f.init]))
        if target == "type" and part is not program:
            broken = replace(
                part.type, **{data.draw(st.sampled_from([f.name for f in fields(Type)])): data.draw(junk)}
            )
            return replace(
                program, inputs=tuple(replace(i, type=broken) if i is part else i for i in program.inputs)
            )
        changed = replace(part, **{name: data.draw(junk)})
        return replace(
            changed if part is program else program,
            **{}
            if part is program
            else {
                "nodes": tuple(changed if n is part else n for n in program.nodes),
                "inputs": tuple(changed if i is part else i for i in program.inputs),
            },
        )

    result = outcome(build)
    if isinstance(result, Program):
        assert from_json(to_json(result)) == result


@few
@given(st.sampled_from(list(OPS.values())), st.data())
def test_constructor_of_ops(cls: Any, data: st.DataObject) -> None:
    sizes = st.sampled_from([0, 1, 2, 3, 5, 10**200])
    kinds = st.builds(
        Type,
        st.lists(sizes, max_size=3).map(tuple),
        st.sampled_from(["float32", "float64", "int32", "uint8", "bool"]),
    )
    operands = data.draw(st.lists(kinds, max_size=3))
    given_fields = {f.name: data.draw(junk) for f in fields(cls) if data.draw(st.booleans())}
    valid = next(c.op for c in (*STRUCTURE_CASES, *ELEMENTWISE_CASES) if type(c.op) is cls)
    attributes = valid.attributes() | given_fields
    inputs = tuple(Input(f"x{k}", f"v{k}", x) for k, x in enumerate(operands))
    values = tuple(i.value for i in inputs)
    declared = data.draw(kinds)
    whole = outcome(
        lambda: Program("f", inputs, (Node("n0", "out", cls(**attributes), values, declared),), ("out",))
    )
    built = outcome(lambda: single(cls(**attributes), operands), "shape")  # a builder knows no node to name
    if isinstance(whole, Program):  # what a builder makes of the same op has the type that was declared
        assert isinstance(built, Program)
        assert built.nodes[0].type == declared


def places(form: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in a JSON form."""
    items = form.items() if isinstance(form, dict) else enumerate(form) if isinstance(form, list) else ()
    return [path, *(p for key, value in items for p in places(value, (*path, key)))]


@few
@given(programs, st.data())
def test_json_with_other_values(program: Program, data: st.DataObject) -> None:
    form = json.loads(to_json(program))
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(places(form)[1:]))
        at = form
        for step in path:
            at = at[step]
        match data.draw(st.sampled_from(["put", "drop", "add"])):
            case "drop":
                del at[last]
            case "add" if isinstance(at, dict):
                at[data.draw(texts)] = data.draw(plain)
            case _:
                at[last] = data.draw(plain)
    result = outcome(lambda: from_json(json.dumps(form)))
    if isinstance(result, Program):
        assert from_json(to_json(result)) == result


@st.composite
def damaged(draw: st.DrawFn, text: str) -> str:
    for _ in range(draw(st.integers(1, 3))):
        at, length = draw(st.integers(0, len(text))), draw(st.integers(0, 4))
        text = (
            text[:at]
            + draw(st.text("vdn01:=()[]{}'\",. #\n-*%infeTrue\x00é", max_size=3))
            + text[at + length :]
        )
    return text


@few
@given(programs, st.data())
def test_damaged_json_and_text(program: Program, data: st.DataObject) -> None:
    outcome(lambda: from_json(data.draw(damaged(to_json(program)))))
    result = outcome(lambda: parse(data.draw(damaged(format_program(program)))))
    if isinstance(result, Program):
        assert parse(format_program(result)) == result


@few
@given(st.one_of(programs, junk), junk, st.booleans())
def test_passes_of_anything_under_any_prefix(program: Any, prefix: Any, strict: bool) -> None:
    for expand in (expand_mean_program, expand_mean_derivative_program):
        result = outcome(partial(expand, program, reserved_id_prefix=prefix, strict=strict))
        if isinstance(result, Program):
            assert result.inputs == program.inputs
            assert [result.types[v] for v in result.results] == [program.types[v] for v in program.results]


@st.composite
def mean_programs(draw: st.DrawFn) -> Program:
    """Programs of means, broadcasts, reshapes and divisions, many of them near a mean's derivative."""
    b = Builder()
    sizes = st.integers(1, 4)
    values = [
        b.input(
            "x", Type(tuple(draw(st.lists(sizes, max_size=3))), draw(st.sampled_from(["float32", "float64"])))
        )
    ]
    for _ in range(draw(st.integers(1, 8))):
        x = draw(st.sampled_from(values))
        rank = len(x.shape)
        match draw(st.sampled_from(["mean", "spread", "spread", "reshape", "div", "chain"])):
            case "mean":
                axes = draw(st.lists(st.integers(0, max(rank - 1, 0)), max_size=rank, unique=True))
                values.append(mean(x, tuple(sorted(axes)), draw(st.booleans())))
            case "spread":
                shape = tuple(draw(sizes) if n == 1 else n for n in x.shape)
                lead = tuple(draw(st.lists(sizes, max_size=1)))
                values.append(broadcast(x, lead + shape))
            case "reshape":
                values.append(reshape(x, (1,) * draw(st.integers(0, 1)) + x.shape))
            case "div":
                values.append(b.emit(Div(right_literal=float(draw(st.integers(1, 16)))), x))
            case _:
                wide = broadcast(x, tuple(draw(sizes) if n == 1 else n for n in x.shape))
                values.append(b.emit(Div(right_literal=wide.type.size / x.type.size), wide))
    results = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    return b.program("f", tuple(v.id for v in results))


@few
@given(mean_programs(), st.booleans())
def test_whatever_a_pass_rewrites_computes_the_same(program: Program, strict: bool) -> None:
    arrays = samples(program)
    expected = run(program, arrays)
    expanded = expand_mean_derivative_program_detailed(program, strict=strict)
    results = [expanded.program]
    forward = outcome(lambda: expand_mean_program_detailed(program, strict=strict).program)
    if isinstance(forward, Program):
        results.append(forward)
        assert not any(n.op.name == "mean" for n in forward.nodes)
    else:
        assert strict
        assert forward == "unsupported_reduction"
    for result in results:
        for e, g in zip(expected, run(result, arrays), strict=True):
            tolerance = 1e-5 if e.dtype == "float32" else 1e-12
            np.testing.assert_allclose(g, e, rtol=tolerance, atol=tolerance)
