from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from golden_files import Golden
from hypothesis import given, settings
from hypothesis import strategies as st
from op_checks import single

from saturate.autodiff import gradient_program
from saturate.build import Builder
from saturate.errors import ProgramError, SaturateError
from saturate.op import AnyArray, Array, Op, Type
from saturate.ops.arithmetic import Mul, Neg, div, mul, sub
from saturate.ops.binary import Maximum, maximum
from saturate.ops.constants import Constant, Full
from saturate.ops.contraction import einsum
from saturate.ops.reduction import max, mean, sum
from saturate.ops.select import Where
from saturate.ops.structure import broadcast
from saturate.ops.unary import exp
from saturate.program import Input, Node, Program
from saturate.text import format_program, parse, save_constants

INF, NAN = float("inf"), float("nan")


def assert_round_trip(program: Program, constants: dict[str, AnyArray] | None = None) -> None:
    text = format_program(program)
    again = parse(text, constants)
    assert again == program
    assert format_program(again) == text
    kinds = [program.types[v] for v in program.types]
    assert [
        again.types[v] for v in again.types
    ] == kinds  # bounds too, which are no part of a node's own type


def captured(program: Program) -> dict[str, AnyArray]:
    arrays = (v for n in program.nodes for v in n.op.attributes().values() if isinstance(v, Array))
    return {array.digest: array.value for array in arrays}


def cross_entropy() -> Program:
    b = Builder()
    logits, target = (
        b.input("logits", Type((3, 5), "float32", -10.0, 10.0)),
        b.input("target", Type((3, 5), "float32")),
    )
    m = max(logits, (1,), keepdims=True)
    e = exp(sub(logits, broadcast(m, (3, 5))))
    p = div(e, broadcast(sum(e, (1,), keepdims=True), (3, 5)))
    loss = mul(mean(einsum("ij,ij->i", p, target), (0,)), -0.5)
    b.relabel({m.id: "m", e.id: "e", p.id: "p", loss.id: "loss"})
    return gradient_program(b.program("cross_entropy", (loss.id, p.id)), ("logits",))


def layer() -> Program:
    b = Builder()
    x, w = b.input("x", Type((3, 5))), b.input("params['w'].kernel", Type((5, 7), low=0.0))
    bias = b.emit(Constant(Array(np.array([0.1, -0.0, np.inf, 1e-300, 3.0, 2.0, -1.5]))), label="bias")
    mask = b.emit(Constant(Array(np.tril(np.ones((11, 11), bool)))), label="mask")
    hidden = maximum(einsum("ij,jk->ik", x, w), 0.0)
    masked = b.emit(Where(right_literal=-INF), mask, b.emit(Full(NAN, (11, 11), "float32")))
    return b.program("<lambda>", (hidden.id, bias.id, masked.id))


@pytest.mark.parametrize("program", [cross_entropy(), layer()], ids=lambda p: p.name)
def test_programs_as_text(program: Program, golden: Golden) -> None:
    golden.check(format_program(program))
    assert str(program) == format_program(program)
    assert_round_trip(program, captured(program))


@pytest.mark.parametrize(
    "value", [0, 1, -3, True, False, 1.0, -0.0, 0.1, 1e-300, 1e300, INF, -INF, NAN, 2**70, 5e-324]
)
def test_literals_survive_exactly(value: float) -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    emitted = [mul(x, value), mul(value, x), b.emit(Full(1.0, (), "bool"))]
    if not isinstance(value, bool):
        emitted.append(b.emit(Full(value, (), "float64")))
    program = b.program("f", tuple(v.id for v in emitted))
    assert_round_trip(program)
    found = parse(str(program)).nodes[0].op.attributes()["right_literal"]
    assert (type(found), repr(found)) == (type(value), repr(value))


NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(
    [
        "inf",
        "nan",
        "None",
        "lambda",
        "3",
        "a b",
        "a'b",
        'a"b',
        "ﬁ",
        "x  # y",
        "(",
        "\\",
        "\n",
        "a.b[0]",
        "input x: v",
    ]
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(NAMES, st.lists(NAMES, min_size=5, max_size=5, unique=True), NAMES | st.just(""))
def test_any_name_survives(name: str, ids: list[str], label: str) -> None:
    x, y, z, first, second = ids
    kind = Type((3,))
    nodes = (Node(first, y, Neg(), (x,), kind, label), Node(second, z, Mul(), (x, y), kind))
    assert_round_trip(Program(name, (Input(name, x, kind),), nodes, (z, x, z), ((name, y),)))


@pytest.mark.parametrize(("low", "high"), [(None, 1.0), (0, None), (-INF, INF), (-1.5, 2), (0.0, -0.0)])
def test_bounds_survive(low: float | None, high: float | None) -> None:
    kind = Type((3,), "float32", low, high)
    program = Program("f", (Input("x", "v0", kind),), (Node("n0", "v1", Neg(), ("v0",), kind),), ("v1",))
    assert_round_trip(program)
    again = parse(str(program)).inputs[0].type
    assert (repr(again.low), repr(again.high)) == (repr(low), repr(high))


def test_a_program_without_inputs_nodes_or_outputs_survives() -> None:
    assert_round_trip(Program("", (), (), ()))
    assert_round_trip(Program("f", (Input("x", "v0", Type(())),), (), ()))


ARRAYS = [
    np.array(1.5),
    np.zeros((3, 0), "int8"),
    np.zeros((0,), "float32"),
    np.array([True, False]),
    np.array([2**63, 0], "uint64"),
    np.array([[0.1, 1e-8], [np.inf, np.nan]], "float32"),
    np.array([-np.float64("nan")]),
    np.array([0.1, 65504.0], "float16"),
    np.arange(64.0).reshape(4, 16),
    np.arange(65),
    np.array([1.0], ">f8"),
    np.array([[1, 2], [3, 4]], order="F"),
]


@pytest.mark.parametrize("value", ARRAYS, ids=lambda a: f"{a.dtype}{list(a.shape)}")
def test_constants_survive_bit_for_bit(value: AnyArray, tmp_path: Path) -> None:
    b = Builder()
    program = b.program("f", (b.emit(Constant(Array(value))).id,))
    save_constants(program, tmp_path / "constants.npz")
    with np.load(tmp_path / "constants.npz") as constants:
        again = parse(str(program), constants)
        named_by_digest = len(constants) == 1
    assert again == program
    assert named_by_digest == (Array(value).digest in str(program))
    assert (
        again.nodes[0].op.evaluate(np).tobytes()
        == np.ascontiguousarray(value, value.dtype.newbyteorder("=")).tobytes()
    )


def test_arrays_of_64_elements_are_shown_and_larger_ones_named() -> None:
    b = Builder()
    shown, named = (b.emit(Constant(Array(np.arange(n)))) for n in (64, 65))
    first, second = str(b.program("f", (shown.id, named.id))).splitlines()[1:3]
    assert "62, 63]" in first
    assert "sha256" not in first
    assert second == f"  n1: v1 = constant[array='sha256:{Array(np.arange(65)).digest}']() : int64[65]"


def test_a_named_constant_needs_its_array() -> None:
    b = Builder()
    array = Array(np.arange(65))
    program = b.program("f", (b.emit(Constant(array)).id,))
    with pytest.raises(ProgramError) as caught:
        parse(str(program))
    assert str(caught.value) == (
        f"line 2, node 'n0': a constant needs the array with the digest {array.digest}, and parse was "
        "given 0 others; pass what save_constants wrote: parse(text, constants=np.load(path))"
    )
    other = np.arange(66)
    with pytest.raises(ProgramError) as caught:
        parse(str(program), {array.digest: other})
    assert str(caught.value) == (
        f"line 2, node 'n0': a constant needs the array with the digest {array.digest}, got one of "
        f"{Array(other).digest}"
    )


def test_spacing_at_the_ends_of_lines_and_empty_lines_do_not_matter() -> None:
    program = cross_entropy()
    loose = "\n\n".join(f"\t{line.strip()}  " for line in str(program).splitlines())
    assert parse(f"\n{loose}\n") == program


HEAD = "program f\n  input x: v0 : float64[3, 5]\n"


@pytest.mark.parametrize(
    ("text", "message", "code"),
    [
        ("", "the text of a program needs one line 'program', got 0", "malformed_program"),
        ("program f", "the text of a program needs one line 'return', got 0", "malformed_program"),
        (
            "program f\nprogram f\nreturn",
            "the text of a program needs one line 'program', got 2",
            "malformed_program",
        ),
        (
            HEAD + "n0 v1 = neg(v0)",
            "line 3: a program needs lines of program, input, return, gradient or `n: v = op(…)`, got "
            "'n0 v1 = neg(v0)'",
            "malformed_program",
        ),
        (
            HEAD + "n0: v1 = nge(v0) : float64[3, 5]",
            "line 3, node 'n0': a node needs the name of an op, got 'nge'; perhaps neg",
            "unsupported_operator",
        ),
        (
            HEAD + "n0: v1 = qqqqq(v0) : float64[3, 5]",
            "line 3, node 'n0': a node needs the name of an op, got 'qqqqq'; perhaps one of saturate.ops.OPS",
            "unsupported_operator",
        ),
        (
            HEAD + "n0: v1 = neg(v0 : float64[3, 5]",
            "line 3, node 'n0': a bracket needs to be closed: '(v0 : float64[3, 5]'",
            "malformed_program",
        ),
        (
            HEAD + "n0: v1 = neg(v0 v0) : float64[3, 5]",
            "line 3, node 'n0': operands and attributes need Python syntax, got 'v0 v0'",
            "malformed_program",
        ),
        (
            HEAD + "n0: v1 = neg(2.0) : float64[3, 5]",
            "line 3, node 'n0': neg needs values as operands, got the literal 2.0",
            "malformed_program",
        ),
        (
            HEAD + "n0: v1 = sum[axes=(1,)](v0) : float64[3]",
            "line 3, node 'n0': sum needs the attributes (axes, keepdims), got (axes)",
            "unsupported_reduction",
        ),
        (
            HEAD + "n0: v1 = neg[axis=1](v0) : float64[3]",
            "line 3, node 'n0': neg needs the attributes (), got (axis)",
            "malformed_derivative_ir",
        ),
        (
            HEAD + "n0: v1 = sum[axes=(v0,), keepdims=True](v0) : float64[3]",
            "line 3, node 'n0': an attribute needs to be a literal, got 'v0'",
            "malformed_program",
        ),
        (
            HEAD + "n0: v1 = neg(v0)",
            "line 3, node 'n0': a type like float32[3, 5] is needed, got none",
            "missing_shape_metadata",
        ),
        (
            HEAD + "n0: v1 = neg(v0) float64[3, 5]",
            "line 3, node 'n0': neg needs ` : ` and a type after its operands, got ' float64[3, 5]'",
            "malformed_program",
        ),
        (
            HEAD + "'n 0': v1 = sum[axes=(1,), axes=(0,), keepdims=True](v0) : float64[1, 5]",
            "line 3, node 'n 0': sum needs distinct attributes, got 'axes=(1,), axes=(0,), keepdims=True'",
            "malformed_program",
        ),
        (
            "program f\n  input x: v0",
            "line 2, input 'x': a type like float32[3, 5] is needed, got none",
            "missing_shape_metadata",
        ),
        (
            "program f\n  input x: v0 : float64[3, -5]",
            "line 2, input 'x': a Type needs a shape of non-negative ints, got (3, -5)",
            "missing_shape_metadata",
        ),
        (
            HEAD + "n0: v1 = neg(v0) : [3, 5]",
            "line 3, node 'n0': a type like float32[3, 5] is needed, got '[3, 5]'",
            "missing_dtype_metadata",
        ),
        (
            HEAD + "n0: v1 = neg(v0) : float64",
            "line 3, node 'n0': a type needs its shape, as in float64[3, 5]",
            "missing_shape_metadata",
        ),
        (
            HEAD + "n0: v1 = neg(v0) : float64[3, n]",
            "line 3, node 'n0': a Type needs sizes that are known, got the symbolic shape (3, 'n')",
            "unresolved_symbolic_shape",
        ),
        (
            HEAD + "n0: v1 = constant[array=[1.0, 'a']]() : float64[2]",
            "line 3, node 'n0': a constant needs numbers that make float64[2], got [1.0, 'a']",
            "malformed_program",
        ),
        (
            HEAD + "n0: v1 = neg(v0) : float64[5, 3]\nreturn v1",
            "node 'n0' (neg) declares float64[5, 3], but its operands make float64[3, 5]",
            "malformed_derivative_ir",
        ),
        (HEAD + "return 2.0", "line 3: a value id is needed, got '2.0'", "malformed_program"),
    ],
)
def test_what_parse_refuses(text: str, message: str, code: str) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(text)
    assert (str(caught.value), caught.value.code) == (message, code)


def test_sizes_of_thousands_of_digits_are_refused() -> None:
    with pytest.raises(ProgramError, match="line 2, input 'x': a Type needs sizes"):
        parse(f"program f\n  input x: v0 : float64[{'9' * 5000}]\n  return v0")


@pytest.mark.parametrize("deep", ["a" + ".a" * 900, "1+" * 900 + "1", "(" * 5000], ids=len)
def test_what_is_nested_too_deeply_is_refused_in_few_words(deep: str) -> None:
    for line in (f"n0: v1 = mean[axes={deep}, keepdims=True](v0) : float64[1, 1]", f"return {deep}"):
        with pytest.raises(ProgramError) as caught:
            parse(HEAD + line)
        assert str(caught.value).startswith("line 3")
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("text", [3, None, b"program f\n  return", ["program f"]], ids=repr)
def test_what_is_no_text_is_refused(text: object) -> None:
    with pytest.raises(ProgramError) as caught:
        parse(text)  # type: ignore[arg-type]
    assert str(caught.value) == f"a program needs text, got {text!r}"


def test_damaged_text_is_read_or_refused_and_nothing_else() -> None:
    text, rng = str(cross_entropy()), random.Random(0)
    alphabet = "vdn0123456789:=()[]{}'\"\\., #\n-*%infeTrue\x00é"
    refused = 0
    for _ in range(500):
        at, length = rng.randrange(len(text)), rng.randrange(4)
        damaged = text[:at] + "".join(rng.choices(alphabet, k=rng.randrange(3))) + text[at + length :]
        try:
            parse(damaged)
        except SaturateError:
            refused += 1
    assert refused > 150


class Unlisted(Maximum):
    """max(a, b), not in the table of ops."""


@pytest.mark.parametrize("op", [Unlisted(right_literal=0.0)])
def test_an_op_outside_the_table_prints_and_is_refused_by_name_when_read(op: Op) -> None:
    text = str(single(op, [Type((3,))]))
    assert "unlisted(v0, 0.0)" in text
    with pytest.raises(ProgramError, match="got 'unlisted'"):
        parse(text)
