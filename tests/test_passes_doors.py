"""What `Program` makes impossible, so that no pass checks it again: refused where it enters, by category."""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import delitem, setitem
from typing import Any

import numpy as np
import pytest
from pass_cases import chain, matrix_mean

from saturate.errors import ProgramError
from saturate.json_form import from_json, to_json
from saturate.op import Op, Type
from saturate.ops.arithmetic import Div
from saturate.ops.constants import Full
from saturate.ops.reduction import Mean
from saturate.ops.spreading import Broadcast
from saturate.passes import expand_mean_derivative_program_detailed, expand_mean_program_detailed
from saturate.program import Input, Node, Program
from saturate.text import format_program, parse

HUGE = 10**200


def one(op: Op, *operands: Any, declared: Any) -> Program:
    """One op over inputs, with the declared type of its result."""
    inputs = tuple(Input(f"x{k}", f"v{k}", x) for k, x in enumerate(operands))
    values = tuple(i.value for i in inputs)
    return Program("f", inputs, (Node("n7", "out", op, values, declared),), ("out",))


def mean(axes: Any = (0, 1), keepdims: Any = True, operands: int = 1, declared: Any = None) -> Program:
    x = Type((3, 5), "float32")
    return one(Mean(axes, keepdims), *(x,) * operands, declared=declared or Type((1, 1), "float32"))


def full(fill: Any = 1.0, shape: Any = (3, 1), dtype: Any = "float32", operands: int = 0) -> Program:
    x = Type((3, 1), "float32")
    return one(Full(fill, shape, dtype), *(x,) * operands, declared=x)


def kind(shape: Any, dtype: Any) -> Type:
    return Type(shape, dtype)


def quotient(divisor: Any) -> Program:
    return one(Div(right_literal=divisor), Type((2, 3), "float32"), declared=Type((2, 3), "float32"))


def spread(shape: Any, declared: Any = None) -> Program:
    return one(Broadcast(shape), Type((1, 1), "float32"), declared=declared or Type((3, 5), "float32"))


SHAPE, DTYPE = "missing_shape_metadata", "missing_dtype_metadata"
MALFORMED, UNSUPPORTED, MISMATCH = (
    "malformed_derivative_ir",
    "unsupported_reduction",
    "reduction_shape_mismatch",
)

CONSTRUCTOR: dict[str, tuple[Callable[[], object], str]] = {
    # a generated constant: operands, fill, shape, dtype
    "full with an operand": (lambda: full(operands=1), MALFORMED),
    "fill None": (lambda: full(fill=None), MALFORMED),
    "fill bool": (lambda: full(fill=True), MALFORMED),
    "fill str": (lambda: full(fill="1"), MALFORMED),
    "fill complex": (lambda: full(fill=1j), MALFORMED),
    "fill too large": (lambda: full(fill=HUGE**2), MALFORMED),
    "full shape None": (lambda: full(shape=None), SHAPE),
    "full shape str": (lambda: full(shape="31"), SHAPE),
    "full shape bytes": (lambda: full(shape=b"31"), SHAPE),
    "full shape float": (lambda: full(shape=(3.0, 1)), SHAPE),
    "full shape bool": (lambda: full(shape=(3, True)), SHAPE),
    "full shape negative": (lambda: full(shape=(3, -1)), SHAPE),
    "full shape symbolic": (lambda: full(shape=("n", 1)), SHAPE),
    "full dtype None": (lambda: full(dtype=None), DTYPE),
    "full dtype empty": (lambda: full(dtype=""), DTYPE),
    "full dtype int": (lambda: full(dtype=4), DTYPE),
    "full dtype unknown": (lambda: full(dtype="f33"), DTYPE),
    "full declared otherwise": (lambda: full(shape=(5, 1)), MALFORMED),
    # a mean, in the order of its clauses
    "mean of two operands": (lambda: mean(operands=2), UNSUPPORTED),
    "mean of no operand": (lambda: mean(operands=0), UNSUPPORTED),
    "operand of no type": (lambda: one(Mean((0,), True), None, declared=Type(())), SHAPE),
    "operand of no shape": (lambda: kind(None, "float32"), SHAPE),
    "operand of no dtype": (lambda: kind((3, 5), None), DTYPE),
    "operand of bounds that bound nothing": (lambda: Type((3, 5), "float32", low=float("nan")), MALFORMED),
    "operand of symbolic size": (lambda: kind(("n", 5), "float32"), "unresolved_symbolic_shape"),
    "operand of negative size": (lambda: Type((3, -5), "float32"), SHAPE),
    "axes twice": (lambda: mean(axes=(0, 0)), MISMATCH),
    "axes out of range": (lambda: mean(axes=(0, 2)), MISMATCH),
    "axes negative": (lambda: mean(axes=(-1, 0)), MISMATCH),
    "axes unsorted": (lambda: mean(axes=(1, 0)), MISMATCH),
    "axes str": (lambda: mean(axes="01"), MISMATCH),
    "axes int": (lambda: mean(axes=0), MISMATCH),
    "axes bool": (lambda: mean(axes=(False, True)), MISMATCH),
    "axes of str": (lambda: mean(axes=("0", "1")), MISMATCH),
    "axes None": (lambda: mean(axes=None), MISMATCH),
    "keepdims 1": (lambda: mean(keepdims=1), UNSUPPORTED),
    "keepdims None": (lambda: mean(keepdims=None), UNSUPPORTED),
    "keepdims np.bool": (lambda: mean(keepdims=np.True_), UNSUPPORTED),
    "result of no type": (lambda: one(Mean((0,), True), Type((3,)), declared=None), SHAPE),
    "result of another shape": (lambda: mean(declared=Type((), "float32")), MISMATCH),
    "result of another dtype": (lambda: mean(declared=Type((1, 1), "float64")), MISMATCH),
    "count that is no float": (
        lambda: one(Mean((0, 1), True), Type((HUGE, HUGE), "float32"), declared=Type((1, 1), "float32")),
        UNSUPPORTED,
    ),
    # a broadcast and its division
    "divisor str": (lambda: quotient("15"), MALFORMED),
    "divisor np.float32": (lambda: quotient(np.float32(6.0)), MALFORMED),
    "divisor np.int64": (lambda: quotient(np.int64(6)), MALFORMED),
    "divisor complex": (lambda: quotient(6j), MALFORMED),
    "divisor too large": (lambda: quotient(HUGE**2), MALFORMED),
    "target bool": (lambda: spread((3, True)), SHAPE),
    "target str": (lambda: spread("35"), SHAPE),
    "target of negative size": (lambda: spread((3, -5)), SHAPE),
    "broadcast of another shape": (lambda: spread((3, 5), Type((5, 3), "float32")), MALFORMED),
    "broadcast of another dtype": (lambda: spread((3, 5), Type((3, 5), "float64")), MALFORMED),
    "quotient of another shape": (
        lambda: one(Div(right_literal=15.0), Type((3, 5), "float32"), declared=Type((5, 3), "float32")),
        MALFORMED,
    ),
    "quotient of another dtype": (
        lambda: one(Div(right_literal=15.0), Type((3, 5), "float32"), declared=Type((3, 5), "float64")),
        MALFORMED,
    ),
}


@pytest.mark.parametrize(("build", "code"), CONSTRUCTOR.values(), ids=CONSTRUCTOR.keys())
def test_construction_refuses_by_category(build: Callable[[], object], code: str) -> None:
    with pytest.raises(ProgramError) as caught:
        build()
    assert caught.value.code == code


@pytest.mark.parametrize("axes", [(0, 0), (0, 2), (1, 0)], ids=str)
def test_axes_are_reported_before_keepdims(axes: tuple[int, ...]) -> None:
    with pytest.raises(ProgramError, match="needs sorted, distinct axes") as caught:
        mean(axes=axes, keepdims=1)
    assert caught.value.code == MISMATCH


@pytest.mark.parametrize(
    "row", ["full with an operand", "fill bool", "axes twice", "keepdims 1", "divisor str"]
)
def test_construction_names_the_node(row: str) -> None:
    with pytest.raises(ProgramError, match=r"^node 'n7' \((full|mean|div)\)"):
        CONSTRUCTOR[row][0]()


def node(
    id: Any = "n1",
    value: Any = "v2",
    op: Any = Mean((0, 1), True),  # noqa: B008, frozen
    operands: Any = ("v0",),
    label: Any = "",
) -> Node:
    return Node(id, value, op, operands, Type((1, 1), "float32"), label)


def given(name: Any, value: Any) -> Input:
    return Input(name, value, Type((3, 5), "float32"))


MEAN = matrix_mean((3, 5), True, "float32")
STRUCTURE: dict[str, Callable[[Program], object]] = {
    "a node id twice": lambda p: rebuilt(p, nodes=(*p.nodes, node(id="n0"))),
    "a value id twice": lambda p: rebuilt(p, nodes=(*p.nodes, node(value="v1"))),
    "a value that an input has": lambda p: rebuilt(p, inputs=(*p.inputs, given("y", "v1"))),
    "an input name twice": lambda p: rebuilt(p, inputs=(*p.inputs, given("x0", "v9"))),
    "an operand that nothing produces": lambda p: rebuilt(p, nodes=(*p.nodes, node(operands=("lost",)))),
    "an operand that comes later": lambda p: rebuilt(p, nodes=(node(operands=("v1",)), *p.nodes)),
    "an output that nothing produces": lambda p: rebuilt(p, outputs=("lost",)),
    "a gradient that nothing produces": lambda p: rebuilt(p, gradients=(("x0", "lost"),)),
    "a gradient of no input": lambda p: rebuilt(p, gradients=(("lost", "v1"),)),
    "no op": lambda p: rebuilt(p, nodes=(*p.nodes, node(op="mean"))),
    "an op class": lambda p: rebuilt(p, nodes=(*p.nodes, node(op=Mean))),
    "operands that are a str": lambda p: rebuilt(p, nodes=(*p.nodes, node(operands="v0"))),
    "an operand that is a list": lambda p: rebuilt(p, nodes=(*p.nodes, node(operands=(["v0"],)))),
    "a list of nodes": lambda p: rebuilt(p, nodes=list(p.nodes)),
    "nodes that are none": lambda p: rebuilt(p, nodes=(3,)),
    "a node id that is an int": lambda p: rebuilt(p, nodes=(*p.nodes, node(id=0))),
    "an empty value id": lambda p: rebuilt(p, nodes=(*p.nodes, node(value=""))),
    "a label that is None": lambda p: rebuilt(p, nodes=(*p.nodes, node(label=None))),
    "an input name that is None": lambda p: rebuilt(p, inputs=(*p.inputs, given(None, "v9"))),
    "an input value that is a list": lambda p: rebuilt(p, inputs=(*p.inputs, given("y", ["v9"]))),
    "a program name that is None": lambda p: rebuilt(p, name=None),
    "outputs that are a str": lambda p: rebuilt(p, outputs="v1"),
    "gradients that are a dict": lambda p: rebuilt(p, gradients={"x0": "v1"}),
    "a gradient of three": lambda p: rebuilt(p, gradients=(("x0", "v1", "v1"),)),
}


def rebuilt(program: Program, **changes: Any) -> Program:
    fields = {k: getattr(program, k) for k in ("name", "inputs", "nodes", "outputs", "gradients")}
    return Program(**(fields | changes))


@pytest.mark.parametrize("build", STRUCTURE.values(), ids=STRUCTURE.keys())
def test_malformed_structure_is_refused(build: Callable[[Program], object]) -> None:
    with pytest.raises(ProgramError) as caught:
        build(MEAN)
    assert caught.value.code == MALFORMED


def test_an_id_that_stands_twice_is_named() -> None:
    with pytest.raises(ProgramError, match="node id 'n0' stands twice"):
        STRUCTURE["a node id twice"](MEAN)
    with pytest.raises(ProgramError, match="node 'n1' produces 'v1', which is produced already"):
        STRUCTURE["a value id twice"](MEAN)


def edited(program: Program, edit: Callable[[dict[str, Any]], None]) -> str:
    """The JSON of the program after an edit of its form."""
    form = json.loads(to_json(program))
    edit(form)
    return json.dumps(form)


def place(form: Any, path: str) -> tuple[Any, Any]:
    """What holds the key or item of a path such as `nodes.0.type.shape`, and its key."""
    *steps, last = (int(step) if step.isdigit() else step for step in path.split("."))
    for step in steps:
        form = form[step]
    return form, last


def drop(path: str) -> Callable[[dict[str, Any]], None]:
    """Remove one key."""
    return lambda form: delitem(*place(form, path))


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Set one key or item."""
    return lambda form: setitem(*place(form, path), value)


FULL = full()
JSON: dict[str, tuple[Program, Callable[[dict[str, Any]], None], str]] = {
    "fill missing": (FULL, drop("nodes.0.attributes.fill"), MALFORMED),
    "fill bool": (FULL, put("nodes.0.attributes.fill", True), MALFORMED),
    "fill list": (FULL, put("nodes.0.attributes.fill", [1.0]), MALFORMED),
    "fill object": (FULL, put("nodes.0.attributes.fill", {"float": "large"}), MALFORMED),
    "full unknown key": (FULL, put("nodes.0.attributes.value", 1.0), MALFORMED),
    "full with an operand": (FULL, put("nodes.0.operands", ["v0"]), MALFORMED),
    "full shape missing": (FULL, drop("nodes.0.attributes.shape"), SHAPE),
    "full shape str": (FULL, put("nodes.0.attributes.shape", "31"), SHAPE),
    "full shape symbolic": (FULL, put("nodes.0.attributes.shape", ["n", 1]), SHAPE),
    "full shape negative": (FULL, put("nodes.0.attributes.shape", [3, -1]), SHAPE),
    "full dtype missing": (FULL, drop("nodes.0.attributes.dtype"), DTYPE),
    "full dtype empty": (FULL, put("nodes.0.attributes.dtype", ""), DTYPE),
    "full no type": (FULL, drop("nodes.0.type"), SHAPE),
    "mean of two operands": (MEAN, put("nodes.0.operands", ["v0", "v0"]), UNSUPPORTED),
    "operand of no type": (MEAN, drop("inputs.0.type"), SHAPE),
    "operand of null type": (MEAN, put("inputs.0.type", None), SHAPE),
    "operand of no shape": (MEAN, drop("inputs.0.type.shape"), SHAPE),
    "operand of no dtype": (MEAN, drop("inputs.0.type.dtype"), DTYPE),
    "operand of symbolic size": (MEAN, put("inputs.0.type.shape", ["n", 5]), "unresolved_symbolic_shape"),
    "axes missing": (MEAN, drop("nodes.0.attributes.axes"), MISMATCH),
    "axes twice": (MEAN, put("nodes.0.attributes.axes", [0, 0]), MISMATCH),
    "axes out of range": (MEAN, put("nodes.0.attributes.axes", [0, 7]), MISMATCH),
    "axes malformed": (MEAN, put("nodes.0.attributes.axes", [[0], 1]), MISMATCH),
    "keepdims missing": (MEAN, drop("nodes.0.attributes.keepdims"), UNSUPPORTED),
    "keepdims 1": (MEAN, put("nodes.0.attributes.keepdims", 1), UNSUPPORTED),
    "result of no type": (MEAN, drop("nodes.0.type"), SHAPE),
    "result of no shape": (MEAN, drop("nodes.0.type.shape"), SHAPE),
    "result of no dtype": (MEAN, drop("nodes.0.type.dtype"), DTYPE),
    "result of another shape": (MEAN, put("nodes.0.type.shape", [3, 5]), MISMATCH),
    "result of another dtype": (MEAN, put("nodes.0.type.dtype", "float64"), MISMATCH),
    "mean with a fill": (MEAN, put("nodes.0.attributes.fill", 1.0), UNSUPPORTED),
    "mean with a dtype": (MEAN, put("nodes.0.attributes.dtype", "float32"), UNSUPPORTED),
    "mean with a shape": (MEAN, put("nodes.0.attributes.shape", [1, 1]), UNSUPPORTED),
    "division with another key": (
        chain(Div(right_literal=6.0)),
        put("nodes.1.attributes.scale", 1),
        MALFORMED,
    ),
    "divisor str": (chain(Div(right_literal=6.0)), put("nodes.1.attributes.right_literal", "6"), MALFORMED),
    "unknown op": (MEAN, put("nodes.0.op", "avg"), "unsupported_operator"),
    "op that is a list": (MEAN, put("nodes.0.op", ["mean"]), "unsupported_operator"),
    "other schema": (MEAN, put("schema", "saturate.program.v0"), MALFORMED),
    "unknown key": (MEAN, put("metadata", {}), MALFORMED),
    "no outputs": (MEAN, drop("outputs"), MALFORMED),
    "nodes as object": (MEAN, put("nodes", {}), MALFORMED),
    "a node as list": (MEAN, put("nodes.0", []), MALFORMED),
    "operand that is a list": (MEAN, put("nodes.0.operands", [["v0"]]), MALFORMED),
    "gradient of one": (MEAN, put("gradients", [["x0"]]), MALFORMED),
    "gradient that is a str": (MEAN, put("gradients", ["x0"]), MALFORMED),
}


@pytest.mark.parametrize(("program", "edit", "code"), JSON.values(), ids=JSON.keys())
def test_json_refuses_by_category(
    program: Program, edit: Callable[[dict[str, Any]], None], code: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        from_json(edited(program, edit))
    assert caught.value.code == code


TEXT: dict[str, tuple[Program, str, str, str]] = {
    "fill missing": (FULL, "fill=1.0, ", "", MALFORMED),
    "fill bool": (FULL, "fill=1.0", "fill=True", MALFORMED),
    "full unknown key": (FULL, "fill=1.0", "fill=1.0, value=1.0", MALFORMED),
    "full with an operand": (
        MEAN,
        "mean[axes=(0, 1), keepdims=True]",
        "full[fill=1.0, shape=(1, 1), dtype='float32']",
        MALFORMED,
    ),
    "full shape missing": (FULL, "shape=(3, 1), ", "", SHAPE),
    "full shape str": (FULL, "shape=(3, 1)", "shape='31'", SHAPE),
    "full shape negative": (FULL, "shape=(3, 1)", "shape=(3, -1)", SHAPE),
    "full dtype missing": (FULL, ", dtype='float32'", "", DTYPE),
    "full dtype empty": (FULL, "dtype='float32'", "dtype=''", DTYPE),
    "mean of two operands": (MEAN, "(v0)", "(v0, v0)", UNSUPPORTED),
    "operand of no type": (MEAN, " : float32[3, 5]", "", SHAPE),
    "operand of negative size": (MEAN, "float32[3, 5]", "float32[3, -5]", SHAPE),
    "operand of no shape": (MEAN, "float32[3, 5]", "float32", SHAPE),
    "operand of no dtype": (MEAN, "float32[3, 5]", "[3, 5]", DTYPE),
    "operand of symbolic size": (MEAN, "float32[3, 5]", "float32[n, 5]", "unresolved_symbolic_shape"),
    "axes missing": (MEAN, "axes=(0, 1), ", "", MISMATCH),
    "axes twice": (MEAN, "axes=(0, 1)", "axes=(0, 0)", MISMATCH),
    "axes out of range": (MEAN, "axes=(0, 1)", "axes=(0, 7)", MISMATCH),
    "keepdims missing": (MEAN, ", keepdims=True", "", UNSUPPORTED),
    "keepdims 1": (MEAN, "keepdims=True", "keepdims=1", UNSUPPORTED),
    "mean with a fill": (MEAN, "keepdims=True", "keepdims=True, fill=1.0", UNSUPPORTED),
    "result of no type": (MEAN, " : float32[1, 1]", "", SHAPE),
    "result of no shape": (MEAN, "float32[1, 1]", "float32", SHAPE),
    "result of no dtype": (MEAN, "float32[1, 1]", "[1, 1]", DTYPE),
    "result of another shape": (MEAN, "float32[1, 1]", "float32[3, 5]", MISMATCH),
    "result of another dtype": (MEAN, "float32[1, 1]", "float64[1, 1]", MISMATCH),
    "divisor str": (chain(Div(right_literal=6.0)), "6.0", "'6.0'", MALFORMED),
    "unknown op": (MEAN, "mean[", "avg[", "unsupported_operator"),
    "an operand that nothing produces": (MEAN, "(v0)", "(v9)", MALFORMED),
    "a line that is none": (MEAN, "return", "returns", "malformed_program"),
}


@pytest.mark.parametrize(("program", "old", "new", "code"), TEXT.values(), ids=TEXT.keys())
def test_text_refuses_by_category(program: Program, old: str, new: str, code: str) -> None:
    text = format_program(program)
    assert parse(text) == program
    assert old in text
    with pytest.raises(ProgramError) as caught:
        parse(text.replace(old, new, 1))
    assert caught.value.code == code
    if code != "malformed_program":
        assert any(name in str(caught.value) for name in ("'n0'", "'n7'", "'dn1'", "'x0'")), caught.value


@pytest.mark.parametrize("program", [MEAN, chain(Div(right_literal=6.0))], ids=["mean", "derivative"])
def test_programs_by_hand_from_text_and_from_json_expand_the_same(program: Program) -> None:
    for expand in (expand_mean_program_detailed, expand_mean_derivative_program_detailed):
        result = expand(program)
        assert expand(parse(format_program(program))) == expand(from_json(to_json(program))) == result
        assert parse(format_program(result.program)) == from_json(to_json(result.program)) == result.program


def test_faults_of_a_generated_constant_are_reported_in_order() -> None:
    """Operands, unknown keys, fill, shape, dtype: with all of them wrong, mending one shows the next."""
    form = json.loads(to_json(FULL))
    node = form["nodes"][0]
    node["operands"], node["attributes"] = ["v9"], {"other": 1}
    mends: list[tuple[str, Callable[[], object]]] = [
        ("needs no operands", lambda: node.update(operands=[])),
        ("no attribute 'other'", lambda: node["attributes"].pop("other")),
        ("as fill, got nothing", lambda: node["attributes"].update(fill=1.0)),
        ("as shape, got nothing", lambda: node["attributes"].update(shape=[3, 1])),
        ("as dtype, got nothing", lambda: node["attributes"].update(dtype="float32")),
    ]
    for words, mend in mends:
        with pytest.raises(ProgramError, match=words):
            from_json(json.dumps(form))
        mend()
    assert from_json(json.dumps(form)) == FULL


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (3, 1), (0, 7), (2, 3, 5)], ids=str)
def test_generated_constant_of_any_shape(shape: tuple[int, ...], dtype: str) -> None:
    op = Full(0.5, shape, dtype)
    program = one(op, declared=Type(shape, dtype))
    (node,) = from_json(to_json(program)).nodes
    assert node.op == op
    value = node.op.evaluate(np)
    assert (value.shape, value.dtype.name, set(value.ravel().tolist())) == (
        shape,
        dtype,
        {0.5} if value.size else set(),
    )
