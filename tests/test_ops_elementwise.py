from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from op_checks import run, single

from saturate.autodiff import gradient_program
from saturate.build import Builder, Value
from saturate.errors import ProgramError, SaturateError, ShapeError
from saturate.op import AnyArray, Array, Op, Scalar, Type
from saturate.ops import ELEMENTWISE
from saturate.ops.arithmetic import Add, Div, Mul, Neg, Sub, add, mul
from saturate.ops.binary import (
    Arctan2,
    Fmax,
    Fmin,
    Heaviside,
    Hypot,
    Less,
    Logaddexp,
    Maximum,
    Minimum,
    Power,
    Xlogy,
)
from saturate.ops.constants import Constant, Full, Iota
from saturate.ops.elementwise import Binary, Unary
from saturate.ops.select import Where, where
from saturate.ops.unary import (
    Abs,
    Cast,
    Expit,
    LogNdtr,
    Polygamma,
    Sign,
    Sqrt,
    absolute,
    cast,
    exp,
    log,
    sqrt,
)

DTYPES = ("float64", "float32", "float16", "int64", "int8", "uint8", "bool")
LITERALS: tuple[Scalar, ...] = (2, -3, 300, 0.5, float("inf"), True)
NAN, INF = float("nan"), float("inf")


def gradients(op: Op, *operands: list[Any] | float) -> list[list[float]]:
    """Derivatives of Σ op by each operand."""
    arrays = [np.asarray(x, float) for x in operands]
    program = single(op, [Type(x.shape) for x in arrays])
    joint = gradient_program(program, tuple(i.name for i in program.inputs))
    with np.errstate(all="ignore"):
        return [g.tolist() for g in run(joint, arrays)[1:]]


def second(op: Op, x: list[float]) -> list[float]:
    """Second derivatives of Σ op(x)."""
    first = gradient_program(single(op, [Type((len(x),))]), ("x0",))
    twice = gradient_program(first, ("x0",), output=1)
    with np.errstate(all="ignore"):
        found: list[float] = run(twice, [np.array(x)])[-1].tolist()
    return found


def outcome(call: Callable[..., Any], *args: Any) -> str:
    """The dtype that NumPy answers with, or that it refuses."""
    try:
        with np.errstate(all="ignore"):
            return str(np.asarray(call(*args)).dtype)
    except (TypeError, OverflowError, ValueError):
        return "refused"


def answer(op: Op, *operands: Type) -> str:
    """The dtype of the op's type, or that it refuses."""
    try:
        op.check_operands(operands)
        return op.type(*operands).dtype
    except SaturateError:
        return "refused"


def ufunc(op: type[Op]) -> Callable[..., Any]:
    function: str = op.function  # type: ignore[attr-defined]
    found: Callable[..., Any] = getattr(np, function.removeprefix("np."))
    return found


NUMPY_UNARY = [op for op in ELEMENTWISE if issubclass(op, Unary) and op is not Cast and "np." in op.function]
NUMPY_BINARY = [op for op in ELEMENTWISE if issubclass(op, Binary) and "np." in op.function]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", NUMPY_UNARY)
def test_every_dtype_has_numpys_result_or_numpys_refusal(op: type[Unary], dtype: str) -> None:
    assert answer(op(), Type((3,), dtype)) == outcome(ufunc(op), np.ones(3, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", NUMPY_BINARY)
def test_literals_are_weak_exactly_as_in_numpy(op: type[Binary], dtype: str) -> None:
    x, kind = np.ones(3, dtype), Type((3,), dtype)
    assert answer(op(), kind, kind) == outcome(ufunc(op), x, x)
    for value in LITERALS:
        assert answer(op(right_literal=value), kind) == outcome(ufunc(op), x, value), value
        assert answer(op(left_literal=value), kind) == outcome(ufunc(op), value, x), value


@pytest.mark.parametrize("dtype", DTYPES)
def test_where_promotes_literals_as_numpy_does(dtype: str) -> None:
    condition, x = np.ones(3, bool), np.ones(3, dtype)
    mask, kind = Type((3,), "bool"), Type((3,), dtype)
    for a, b in itertools.product(LITERALS, LITERALS):
        assert answer(Where(left_literal=a), mask, kind) == outcome(np.where, condition, a, x)
        assert answer(Where(right_literal=b), mask, kind) == outcome(np.where, condition, x, b)
        assert answer(Where(a, b), mask) == outcome(np.where, condition, a, b)


def test_a_numpy_float64_as_a_literal_is_as_weak_as_a_python_float() -> None:
    assert Mul(right_literal=np.float64(2.0)) == Mul(right_literal=2.0)
    assert Mul(right_literal=np.float64(2.0)).type(Type((3,), "float32")).dtype == "float32"
    assert Mul(right_literal=np.float64(2.0)).text("x") == "x * 2.0"


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (Neg(), "-x"),
        (Add(right_literal=-1), "x + -1"),
        (Sub(left_literal=1.0), "1.0 - x"),
        (Div(right_literal=15.0), "x / 15.0"),
        (Less(left_literal=-INF), "-np.inf < x"),
        (Power(right_literal=2), "np.power(x, 2)"),
        (Maximum(right_literal=0.0), "np.maximum(x, 0.0)"),
        (Where(right_literal=NAN), "np.where(x, y, np.nan)"),
        (Where(1.0, 0.0), "np.where(x, 1.0, 0.0)"),
        (Cast("float32"), 'x.astype("float32")'),
        (Expit(), "special.expit(x)"),
        (Polygamma(0), "special.psi(x)"),
        (Polygamma(2), "-2.0 * special.zeta(3.0, x)"),
    ],
)
def test_text_reads_as_a_person_writes_it(op: Op, text: str) -> None:
    assert op.text(*["x", "y"][: 1 + text.count("y,")]) == text


def test_ops_are_equal_exactly_where_they_compute_the_same() -> None:
    distinct: list[Op] = [
        *(Mul(), Add(), Mul(right_literal=2), Mul(right_literal=2.0), Mul(left_literal=2.0)),
        *(Mul(right_literal=True), Mul(right_literal=1), Mul(right_literal=0.0), Mul(right_literal=-0.0)),
        *(Mul(right_literal=INF), Mul(right_literal=NAN), Full(NAN, (), "float64"), Full(NAN, (), "float32")),
    ]
    for (j, a), (k, b) in itertools.product(enumerate(distinct), enumerate(distinct)):
        assert (a == b) == (j == k), (a, b)
    assert Full(float("nan"), (), "float64") == Full(-float("nan"), (), "float64")
    assert len({*distinct, *distinct}) == len(distinct)


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        (Power(right_literal=2), [[0.0, 3.0]], [[0.0, 6.0]]),
        (Power(right_literal=1), [[0.0, 3.0]], [[1.0, 1.0]]),
        (Power(right_literal=0), [[0.0, 3.0]], [[0.0, 0.0]]),
        (Power(right_literal=0.5), [[0.0, 4.0]], [[INF, 0.25]]),
        (Power(left_literal=0.0), [[1.0, 2.0]], [[0.0, 0.0]]),
        (Power(), [[0.0] * 4, [0.0, 1.0, 2.0, 3.0]], [[0.0, 1.0, 0.0, 0.0], [0.0] * 4]),
        (Power(), [[-2.0], [3.0]], [[12.0], [NAN]]),
        (Xlogy(), [[0.0, 0.0], [2.0, 0.0]], [[np.log(2.0), -INF], [0.0, 0.0]]),
        (Xlogy(left_literal=0.0), [[0.5]], [[0.0]]),
        (Hypot(), [[0.0, 3.0, 0.0], [0.0, 4.0, -2.0]], [[0.0, 0.6, 0.0], [0.0, 0.8, -1.0]]),
        (Hypot(right_literal=0.0), [[0.0, -3.0]], [[0.0, -1.0]]),
        (Arctan2(), [[1e200], [1e200]], [[0.5e-200], [-0.5e-200]]),
        (Abs(), [[0.0, -0.0, -3.0, 3.0]], [[0.0, 0.0, -1.0, 1.0]]),
        (Sign(), [[0.0, 3.0]], [[0.0, 0.0]]),
        (Sqrt(), [[0.0, 4.0]], [[INF, 0.25]]),
        (Maximum(), [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]], [[0.5, 0.0, 1.0], [0.5, 1.0, 0.0]]),
        (Minimum(), [[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]], [[0.5, 1.0, 0.0], [0.5, 0.0, 1.0]]),
        (Maximum(right_literal=0.0), [[-1.0, 0.0, 1.0]], [[0.0, 0.5, 1.0]]),
        (Maximum(), [[-INF, INF], [-INF, 1.0]], [[0.5, 1.0], [0.5, 0.0]]),
        (Fmax(), [[1.0, NAN, 2.0], [NAN, 1.0, 2.0]], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]),
        (Fmin(), [[1.0, NAN, 2.0], [NAN, 1.0, 2.0]], [[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]),
        (Heaviside(), [[-1.0, 0.0, 1.0], [0.5, 0.5, 0.5]], [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
        (Logaddexp(), [[-INF, 800.0], [1.0, 800.0]], [[0.0, 0.5], [1.0, 0.5]]),
    ],
    ids=lambda x: str(x).replace(" ", "") if isinstance(x, Op) else "",
)
def test_derivatives_at_the_edges(op: Op, operands: list[list[float]], expected: list[list[float]]) -> None:
    np.testing.assert_allclose(gradients(op, *operands), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        (Power(right_literal=2), [0.0, 3.0], [2.0, 2.0]),
        (Power(right_literal=3), [0.0, 2.0], [0.0, 12.0]),
        (Power(right_literal=1), [0.0, 2.0], [0.0, 0.0]),
        (Abs(), [0.0, 2.0], [0.0, 0.0]),
        (Maximum(right_literal=0.0), [0.0, 2.0], [0.0, 0.0]),
    ],
    ids=str,
)
def test_second_derivatives_at_the_edges(op: Op, x: list[float], expected: list[float]) -> None:
    assert second(op, x) == expected


def test_the_mixed_derivative_of_power_holds_at_exponent_zero() -> None:
    base, exponent = np.array([2.0, 3.0]), np.zeros(2)
    first = gradient_program(single(Power(), [Type((2,)), Type((2,))]), ("x0",))
    mixed = gradient_program(first, ("x1",), output=1)
    np.testing.assert_allclose(run(mixed, [base, exponent])[-1], 1.0 / base, rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_derivative_of_log_ndtr_keeps_its_digits_far_out(dtype: str) -> None:
    x = np.array([-1e4, -100.0, -30.0, -1.0, 5.0], dtype)
    program = gradient_program(single(LogNdtr(), [Type(x.shape, dtype)]), ("x0",))
    found = run(program, [x])[1]
    mills = [1e4 + 1e-4, 100.0099980011, 30.033259667, 1.525135276, 1.486719940936e-6]
    np.testing.assert_allclose(found, mills, rtol=1e-9 if dtype == "float64" else 1e-6)


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize("taken", ["left", "right"])
def test_a_branch_that_is_not_taken_gets_exactly_zero(bad: float, taken: str) -> None:
    mask = np.array([True, False, True])
    mask = mask if taken == "left" else ~mask
    a, b = np.array([1.0, bad, 2.0]), np.array([bad, 3.0, bad])
    arrays = [mask, a, b] if taken == "left" else [mask, b, a]
    kinds = [Type((3,), "bool"), Type((3,)), Type((3,))]
    joint = gradient_program(single(Where(), kinds), ("x1", "x2"), seed="input")
    gradient = run(joint, [*arrays, np.array([7.0, 11.0, 13.0])])[1:]
    np.testing.assert_array_equal(gradient[0], np.where(mask, [7.0, 11.0, 13.0], 0.0))
    np.testing.assert_array_equal(gradient[1], np.where(mask, 0.0, [7.0, 11.0, 13.0]))


def test_where_shields_a_derivative_that_is_infinite_when_its_operand_is_shielded_too() -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    positive = b.emit(Less(left_literal=0.0), x)
    root = where(positive, sqrt(where(positive, x, 1.0)), 0.0)
    joint = gradient_program(b.program("root", (root.id,)), ("x",))
    assert run(joint, [np.array([-1.0, 0.0, 4.0])])[1].tolist() == [0.0, 0.0, 0.25]


def test_integer_operands_beside_floats_get_no_gradient() -> None:
    b = Builder()
    k, x = b.input("k", Type((3,), "int64")), b.input("x", Type((3,)))
    joint = gradient_program(b.program("f", (mul(cast(k, "float64"), x).id,)), ("x",))
    assert run(joint, [np.array([2, 3, 5]), np.ones(3)])[1].tolist() == [2.0, 3.0, 5.0]


def test_helpers_put_literals_into_attributes() -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    emitted: list[Value] = [
        mul(x, 2.0),
        mul(2.0, x),
        mul(x, x),
        where(b.emit(Less(), x, x), x, 0),
        exp(log(x)),
    ]
    assert all(isinstance(value, Value) for value in emitted)
    assert [node.op.attributes() for node in b.nodes[:3]] == [
        {"left_literal": None, "right_literal": 2.0},
        {"left_literal": 2.0, "right_literal": None},
        {"left_literal": None, "right_literal": None},
    ]
    assert cast(x, "float64") is x
    assert absolute(x).type == x.type


@pytest.mark.parametrize(
    ("op", "operands", "message"),
    [
        (
            Add(),
            [Type((3, 5)), Type((5,))],
            "add needs operands of one shape and dtype, got float64[3, 5] and float64[5]; "
            "broadcast or cast one of them first",
        ),
        (
            Add(),
            [Type((3,)), Type((3,), "float32")],
            "add needs operands of one shape and dtype, got float64[3] and float32[3]; "
            "broadcast or cast one of them first",
        ),
        (Add(), [Type((3,))], "add needs 2 operands, literals counted; got 1 and 0 literal(s)"),
        (Add(1.0, 2.0), [], "add needs 2 operands, literals counted; got 0 and 2 literal(s)"),
        (Where(1.0, 2.0), [], "where needs 3 operands, literals counted; got 0 and 2 literal(s)"),
        (Neg(), [Type((3,), "bool")], "negative has no loop in NumPy for bool; cast first"),
        (
            Expit(),
            [Type((3,), "int64")],
            "expit needs float32 or float64 or float96 or float128 operands, got int64; cast first",
        ),
        (
            Xlogy(),
            [Type((), "bool")] * 2,
            "xlogy needs float32 or float64 operands, got bool, bool; cast first",
        ),
        (Add(right_literal=300), [Type((), "uint8")], "add needs a literal that fits uint8, got 300"),
        (
            Power(right_literal=-1),
            [Type((), "int64")],
            "power needs a float operand for the exponent -1, got int64[]; cast it",
        ),
        (
            Where(),
            [Type((3,)), Type((3,)), Type((3,))],
            "where needs a bool condition, got float64[3]; compare or cast it first",
        ),
        (
            Where(),
            [Type((3,), "bool"), Type((3,)), Type((3,), "float32")],
            "where needs a condition and branches of one shape, and branches of one dtype, got bool[3], "
            "float64[3], float32[3]; broadcast or cast first",
        ),
        (Iota(3, "bool"), [], "iota needs an integer or floating dtype, got 'bool'"),
    ],
)
def test_what_is_refused(op: Op, operands: list[Type], message: str) -> None:
    with pytest.raises(ShapeError) as caught:
        Builder().emit(op, *(Value(Builder(), "v", kind) for kind in operands))
    assert str(caught.value) == message


def test_a_helper_needs_a_value() -> None:
    with pytest.raises(ProgramError) as caught:
        add(1.0, 2.0)
    assert str(caught.value) == "add needs a value among its operands, got 1.0 and 2.0"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[0.1, 1e-30]], "float32"), 'np.array([[0.1, 1e-30]], dtype="float32")'),
        (np.array(True), 'np.array(True, dtype="bool")'),
        (np.array([np.inf, -0.0]), 'np.array([np.inf, -0.0], dtype="float64")'),
        (np.zeros((3, 0), "int8"), 'np.zeros((3, 0), dtype="int8")'),
        (np.array([0.1, 65504.0], "float16"), 'np.array([0.1, 65500.0], dtype="float16")'),
    ],
)
def test_small_constants_are_written_out_and_evaluate_to_the_same_bits(value: AnyArray, text: str) -> None:
    op = Constant(Array(value))
    assert op.text() == text
    again = eval(text, {"np": np})
    assert (again.dtype, again.shape, again.tobytes()) == (value.dtype, value.shape, value.tobytes())


@pytest.mark.parametrize("value", [np.arange(65), np.array([-np.float64("nan")]), np.ones(1, np.longdouble)])
def test_constants_without_exact_literals_are_named_by_digest(value: AnyArray) -> None:
    op = Constant(Array(value))
    assert op.text() == f'constants["{op.array.digest}"]'
    assert op.evaluate(np).tobytes() == value.tobytes()


def test_a_constant_is_a_copy_that_cannot_be_written_to() -> None:
    value = np.ones(3)
    op = Constant(Array(value))
    value[0] = 7.0
    out = op.evaluate(np)
    assert out.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="read-only"):
        out[0] = 2.0
