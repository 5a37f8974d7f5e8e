"""Programs as JSON: exact round trips first, the documented form, then text that is no program."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from op_cases import STRUCTURE_CASES
from op_cases_elementwise import ELEMENTWISE_CASES
from op_checks import Case, single
from pass_cases import derivative, matrix_mean

from saturate.errors import ProgramError
from saturate.json_form import from_json, to_json
from saturate.op import Array, Type
from saturate.ops import OPS
from saturate.ops.arithmetic import Mul
from saturate.ops.constants import Constant, Full
from saturate.ops.reduction import Mean
from saturate.program import Input, Node, Program
from saturate.text import format_program

CASES = [*STRUCTURE_CASES, *ELEMENTWISE_CASES]
INF, NAN = float("inf"), float("nan")


def assert_round_trip(program: Program) -> None:
    for indent in (None, 2):
        again = from_json(to_json(program, indent=indent))
        assert again == program
        assert format_program(again) == format_program(program)
        assert to_json(again) == to_json(program)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_op_comes_back(case: Case) -> None:
    assert_round_trip(single(case.op, case.operands))


def test_the_cases_hold_every_op() -> None:
    assert {case.op.name for case in CASES} == OPS.keys()


@pytest.mark.parametrize(
    "literal", [2, 2.0, True, -0.0, 0.0, INF, -INF, NAN, 1e-323, 0.1, 2**53 + 1], ids=repr
)
def test_literals_come_back_with_type_and_sign(literal: float) -> None:
    program = single(Mul(right_literal=literal), [Type((3,), "float64")])
    assert_round_trip(program)
    (node,) = from_json(to_json(program)).nodes
    assert isinstance(node.op, Mul)
    back = node.op.right_literal
    assert type(back) is type(literal)
    assert repr(back) == repr(literal)


ARRAYS: list[Any] = [
    np.array([[1.5, -0.0, INF], [NAN, 1e-45, 2.0]], "float32"),
    np.float64(3.0),
    np.zeros((0, 7)),
    np.array([[True], [False]]),
    np.array([2**63 - 1, -(2**63)]),
    np.arange(91, dtype="uint8").reshape(7, 13),
    np.arange(15, dtype=">f4").reshape(3, 5).T,
    np.array([0.1], np.longdouble),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda a: f"{a.dtype}{a.shape}")
def test_arrays_come_back_bit_by_bit(array: Any) -> None:
    op = Constant(Array(array))
    program = Program("f", (), (Node("n0", "v0", op, (), op.type()),), ("v0",))
    assert_round_trip(program)


def test_ids_labels_bounds_and_gradients_come_back() -> None:
    program = derivative(matrix_mean((3, 5), False, "float32"))
    odd = replace(program.inputs[0], type=Type((3, 5), "float32", low=-1.0, high=INF))
    program = replace(
        program,
        name='naïve "f"\n',
        inputs=(odd, *program.inputs[1:]),
        nodes=tuple(replace(n, label=f"label {n.id} 'é'") for n in program.nodes),
    )
    assert_round_trip(program)
    assert from_json(to_json(program)).inputs[0].type == odd.type
    assert program.gradients != ()


def test_the_documented_form() -> None:
    text = """
    {"schema": "saturate.program.v1", "name": "f",
     "inputs":  [{"name": "x", "value": "v0", "type": {"shape": [3, 5], "dtype": "float32"}}],
     "nodes":   [{"id": "n0", "value": "v1", "op": "mean", "attributes": {"axes": [0, 1], "keepdims": true},
                  "operands": ["v0"], "type": {"shape": [1, 1], "dtype": "float32"}, "label": "m"}],
     "outputs": ["v1"], "gradients": [["x", "v0"]]}
    """
    x = Input("x", "v0", Type((3, 5), "float32"))
    node = Node("n0", "v1", Mean((0, 1), True), ("v0",), Type((1, 1), "float32"), "m")
    program = Program("f", (x,), (node,), ("v1",), (("x", "v0"),))
    assert from_json(text) == program
    assert from_json(text.encode()) == program
    assert json.loads(to_json(program)) == json.loads(text)


def test_parts_that_may_be_absent() -> None:
    form = json.loads(to_json(single(Mul(right_literal=2.0), [Type((3,))])))
    assert form["nodes"][0]["attributes"] == {"right_literal": 2.0}
    del form["gradients"]
    assert "label" not in form["nodes"][0]
    assert from_json(json.dumps(form)) == single(Mul(right_literal=2.0), [Type((3,))])


def constant_form(**changes: Any) -> str:
    op = Constant(Array(np.arange(3, dtype="float32")))
    form = json.loads(to_json(Program("f", (), (Node("n0", "v0", op, (), op.type()),), ("v0",))))
    form["nodes"][0]["attributes"]["array"].update(changes)
    return json.dumps(form)


@pytest.mark.parametrize(
    ("changes", "code", "words"),
    [
        ({"base64": "%%%"}, "malformed_derivative_ir", "needs base64 text"),
        ({"base64": 3}, "malformed_derivative_ir", "needs base64 text"),
        ({"base64": "é"}, "malformed_derivative_ir", "needs base64 text"),
        ({"base64": ""}, "malformed_derivative_ir", "needs the bytes of float32[3], got 0 bytes"),
        ({"base64": base64.b64encode(bytes(8)).decode()}, "malformed_derivative_ir", "got 8 bytes"),
        ({"shape": [5]}, "malformed_derivative_ir", "needs the bytes of float32[5], got 12 bytes"),
        ({"shape": [0, 10**60], "base64": ""}, "malformed_derivative_ir", "needs the bytes"),
        ({"shape": 3}, "missing_shape_metadata", "non-negative ints"),
        ({"shape": None}, "missing_shape_metadata", "non-negative ints"),
        ({"dtype": "complex64"}, "missing_dtype_metadata", "'complex64'"),
        ({"dtype": None}, "missing_dtype_metadata", "None"),
        ({"bytes": ""}, "malformed_derivative_ir", "a number, a string, a list or an array"),
    ],
)
def test_arrays_that_are_none_are_refused(changes: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        from_json(constant_form(**changes))
    assert caught.value.code == code
    assert words in str(caught.value)


VALID = to_json(single(Mul(right_literal=2.0), [Type((3,))]))


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("", "malformed_program", "needs JSON text"),
        (b"\xff\xfe\xfd", "malformed_program", "needs JSON text"),
        (None, "malformed_program", "needs JSON text"),
        (3, "malformed_program", "needs JSON text"),
        ("[" * 100_000, "malformed_program", "needs JSON text"),
        (VALID[:-1], "malformed_program", "needs JSON text"),
        ("[]", "malformed_derivative_ir", "a program needs a JSON object, got []"),
        ("{}", "malformed_derivative_ir", "needs the key 'schema', got none"),
        (VALID.replace("2.0", "NaN"), "malformed_derivative_ir", "JSON has no NaN"),
        (VALID.replace("2.0", "-Infinity"), "malformed_derivative_ir", "JSON has no -Infinity"),
        (VALID.replace("2.0", "1e999"), "malformed_derivative_ir", "JSON has no 1e999"),
        (VALID.replace("2.0", "1" + "0" * 400), "malformed_derivative_ir", "as right_literal, got 1000"),
        (VALID.replace("2.0", "1" + "0" * 5000), "malformed_program", "needs JSON text"),
        (VALID.replace("2.0", "[" * 90 + "]" * 90), "malformed_derivative_ir", "nested too deeply"),
        (VALID.replace('"op":', '"op": "mul", "op":'), "malformed_derivative_ir", "distinct keys"),
    ],
    ids=lambda x: str(x)[:30],
)
def test_what_is_no_program_is_refused(text: Any, code: str, words: str) -> None:
    with pytest.raises(ProgramError) as caught:
        from_json(text)
    assert caught.value.code == code
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_full_of_every_float_comes_back() -> None:
    rng = np.random.default_rng(0)
    for bits in rng.integers(0, 2**63, 200, dtype="uint64"):
        fill = float(bits.view("float64"))
        op = Full(fill, (3,), "float64")
        assert_round_trip(Program("f", (), (Node("n0", "v0", op, (), op.type()),), ("v0",)))
