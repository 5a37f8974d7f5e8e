from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from op_checks import assert_gradients, run

from saturate.autodiff import gradient_program
from saturate.build import Builder, Value, apply
from saturate.errors import ArgumentError, DifferentiationError
from saturate.op import AnyArray, Op, Type
from saturate.ops.arithmetic import add, div, mul, neg, sub
from saturate.ops.binary import greater, logaddexp, maximum, minimum
from saturate.ops.constants import Full
from saturate.ops.contraction import matmul
from saturate.ops.reduction import argmax, max, mean, sum
from saturate.ops.select import where
from saturate.ops.structure import broadcast
from saturate.ops.unary import Exp, absolute, cast, exp, log, sin, tanh
from saturate.program import Program

Function = Callable[..., Value]


def program(f: Function, *types: Type, names: str = "xyzw") -> Program:
    """The program of `f` over inputs named x, y, …"""
    b = Builder()
    values = [b.input(name, kind) for name, kind in zip(names, types, strict=False)]
    return b.program("f", (f(*values).id,))


def square_sum(x: Value) -> Value:
    return sum(mul(x, x), (0, 1))


def softmax(x: Value) -> Value:
    e = exp(sub(x, broadcast(max(x, (1,), keepdims=True), x.shape)))
    return div(e, broadcast(sum(e, (1,), keepdims=True), x.shape))


def arrays_of(p: Program, seed: int = 0) -> list[AnyArray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2.0, 2.0, given.type.shape).astype(given.type.dtype) for given in p.inputs]


def assert_directional(p: Program, seed: int = 0, tolerance: float = 1e-6) -> None:
    """Gradients of the scalar output agree with its slope along a random direction."""
    names = tuple(given.name for given in p.inputs)
    arrays, direction = arrays_of(p, seed), arrays_of(p, seed + 1)
    found = run(gradient_program(p, names), arrays)[1:]
    analytic = np.sum([np.sum(g * d) for g, d in zip(found, direction, strict=True)])
    ends = [run(p, [a + s * d for a, d in zip(arrays, direction, strict=True)])[0] for s in (1e-5, -1e-5)]
    np.testing.assert_allclose(analytic, (ends[0] - ends[1]) / 2e-5, rtol=tolerance, atol=tolerance)


# what the joint program is


def test_forward_nodes_stay_and_derivative_nodes_follow() -> None:
    p = program(square_sum, Type((3, 5)))
    joint = gradient_program(p, ("x",))
    assert (joint.name, joint.inputs, joint.outputs) == (p.name, p.inputs, p.outputs)
    assert joint.nodes[: len(p.nodes)] == p.nodes
    assert str(joint).splitlines() == [
        "program f",
        "  input x: v0 : float64[3, 5]",
        "  n0: v1 = mul(v0, v0) : float64[3, 5]",
        "  n1: v2 = sum[axes=(0, 1), keepdims=False](v1) : float64[]",
        "  dn0: d0 = full[fill=1.0, shape=(), dtype='float64']() : float64[]",
        "  dn1: d1 = reshape[shape=(1, 1)](d0) : float64[1, 1]",
        "  dn2: d2 = broadcast[shape=(3, 5)](d1) : float64[3, 5]",
        "  dn3: d3 = mul(d2, v0) : float64[3, 5]",
        "  dn4: d4 = mul(d2, v0) : float64[3, 5]",
        "  dn5: d5 = add(d3, d4) : float64[3, 5]  # dx",
        "  return v2",
        "  gradient x = d5",
    ]


def test_a_seed_from_outside_is_the_last_input() -> None:
    joint = gradient_program(program(softmax, Type((3, 5))), ("x",), seed="input")
    assert [(i.name, i.type) for i in joint.inputs] == [("x", Type((3, 5))), ("cotangent", Type((3, 5)))]
    assert joint.inputs[-1].value == "d0"
    assert all(not isinstance(node.op, Full) for node in joint.nodes)
    assert_gradients(program(softmax, Type((3, 5))), arrays_of(program(softmax, Type((3, 5)))))


def test_the_seed_has_a_name_of_its_own() -> None:
    b = Builder()
    x, y = b.input("cotangent", Type((3,))), b.input("cotangent2", Type((3,)))
    joint = gradient_program(b.program("f", (mul(x, y).id,)), ("cotangent",), seed="input")
    assert [given.name for given in joint.inputs] == ["cotangent", "cotangent2", "cotangent3"]


def test_gradients_come_in_the_order_of_wrt_and_only_those_asked_for() -> None:
    p = program(lambda x, y: matmul(x, y), Type((3, 5)), Type((5, 7)))
    assert [name for name, _ in gradient_program(p, ("y", "x")).gradients] == ["y", "x"]
    only = gradient_program(p, ("x",))
    assert [name for name, _ in only.gradients] == ["x"]
    needed = set(only.results)
    for node in reversed(only.nodes[len(p.nodes) :]):
        assert node.value in needed, "a derivative node that nothing needs"
        needed.update(node.operands)


def test_derivative_ids_are_numbered_without_gaps() -> None:
    joint = gradient_program(program(lambda x, y: sum(mul(x, exp(y)), (0,)), Type((3,)), Type((3,))), ("y",))
    fresh = [node for node in joint.nodes if node.value.startswith("d")]
    assert [(n.id, n.value) for n in fresh] == [(f"dn{k}", f"d{k}") for k in range(len(fresh))]


def test_cotangents_of_labelled_values_are_labelled() -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    e = b.emit(Exp(), x, label="e")
    joint = gradient_program(b.program("f", (sum(mul(e, sin(x)), (0,)).id,)), ("x",))
    labels = {node.label for node in joint.nodes}
    assert {"e", "de", "dx"} <= labels
    assert joint.producer[dict(joint.gradients)["x"]].label == "dx"


def test_equal_programs_have_equal_derivatives() -> None:
    first, second = (gradient_program(program(softmax, Type((3, 5))), ("x",)) for _ in range(2))
    assert first == second


# which values


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gradients_have_the_type_of_their_input(dtype: str) -> None:
    p = program(lambda x: sum(cast(softmax(cast(x, "float64")), "float32"), (0, 1)), Type((3, 5), dtype))
    joint = gradient_program(p, ("x",))
    assert joint.types[joint.gradients[0][1]] == Type((3, 5), dtype)


def test_a_value_that_is_read_several_times_gets_the_sum() -> None:
    p = program(lambda x: sum(add(mul(x, x), mul(x, 3.0)), (0,)), Type((5,)))
    (x,) = arrays_of(p)
    np.testing.assert_allclose(run(gradient_program(p, ("x",)), [x])[1], 2.0 * x + 3.0)


def test_an_output_that_is_the_input_has_the_seed_as_its_gradient() -> None:
    p = program(lambda x: x, Type((3,)))
    assert run(gradient_program(p, ("x",)), [np.zeros(3)])[1].tolist() == [1.0, 1.0, 1.0]
    joint = gradient_program(p, ("x",), seed="input")
    assert joint.gradients == (("x", joint.inputs[-1].value),)


def test_an_unused_input_gets_zeros_of_its_type() -> None:
    p = program(lambda x, y: exp(x), Type((3,)), Type((5, 7), "float32"))
    joint = gradient_program(p, ("x", "y"))
    gradient = run(joint, arrays_of(p))[2]
    assert (gradient.shape, gradient.dtype.name, gradient.tolist()) == ((5, 7), "float32", [[0.0] * 7] * 5)


@pytest.mark.parametrize("seed", ["ones", "input"])
def test_an_output_that_depends_on_no_input_has_zero_gradients(seed: str) -> None:
    b = Builder()
    b.input("x", Type((3,)))
    p = b.program("f", (b.emit(Full(2.0, (), "float64")).id,))
    joint = gradient_program(p, ("x",), seed="input" if seed == "input" else "ones")
    assert run(joint, [np.ones(3), np.ones(())][: len(joint.inputs)])[1].tolist() == [0.0, 0.0, 0.0]


def test_no_gradient_flows_through_integers_and_comparisons() -> None:
    p = program(
        lambda x: sum(mul(cast(cast(x, "int64"), "float64"), where(greater(x, 0.0), x, 0.0)), (0,)),
        Type((3,)),
    )
    assert run(gradient_program(p, ("x",)), [np.array([-1.5, 2.5, 3.5])])[1].tolist() == [0.0, 2.0, 3.0]


@pytest.mark.parametrize("f", [maximum, minimum])
def test_ties_of_two_operands_split_the_gradient_evenly(f: Function) -> None:
    p = program(f, Type((3,)), Type((3,)))
    left, right = run(gradient_program(p, ("x", "y")), [np.array([1.0, 2.0, 3.0]), np.full(3, 2.0)])[1:]
    assert (left + right).tolist() == [1.0, 1.0, 1.0]
    assert left[1] == right[1] == 0.5


def test_ties_of_a_maximum_split_the_gradient_evenly() -> None:
    p = program(lambda x: max(x, (1,)), Type((3, 5)))
    x = np.array([[1.0, 1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0, 7.0], [2.0] * 5])
    expected = [[1 / 3, 1 / 3, 0.0, 1 / 3, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0], [0.2] * 5]
    np.testing.assert_allclose(run(gradient_program(p, ("x",)), [x])[1], expected, rtol=1e-15)


def test_a_long_chain_is_differentiated_without_recursion() -> None:
    def chain(x: Value) -> Value:
        for _ in range(2000):
            x = mul(x, 0.999)
        return x

    p = program(chain, Type(()))
    np.testing.assert_allclose(run(gradient_program(p, ("x",)), [np.ones(())])[1], 0.999**2000, rtol=1e-12)


# second order


def test_a_gradient_is_differentiated_again() -> None:
    p = program(lambda x, y: sum(mul(tanh(matmul(x, y)), 0.5), (0, 1)), Type((3, 5)), Type((5, 7)))
    first = gradient_program(p, ("x", "y"))
    twice = gradient_program(first, ("x", "y"), output=1, seed="input")
    assert twice.outputs == first.results
    assert [name for name, _ in twice.gradients] == ["x", "y"]
    assert {node.id.rstrip("0123456789") for node in twice.nodes} == {"n", "dn", "ddn"}
    alone = Program("dx", first.inputs, first.nodes, (first.results[1],))
    assert_gradients(alone, arrays_of(p))


def test_a_third_derivative_is_right() -> None:
    third = program(lambda x: sum(sin(x), (0,)), Type((3,)))
    for _ in range(3):
        third = gradient_program(third, ("x",), output=len(third.results) - 1)
    (x,) = arrays_of(third)
    np.testing.assert_allclose(run(third, [x])[-1], -np.cos(x), rtol=1e-15)


def test_the_hessian_of_a_softmax_loss_is_symmetric() -> None:
    p = program(lambda x: neg(mean(log(softmax(x)), (0, 1))), Type((3, 5)))
    first = gradient_program(p, ("x",))
    product = gradient_program(first, ("x",), output=1, seed="input")
    (x,) = arrays_of(p)
    u, v = np.random.default_rng(1).normal(size=(2, 3, 5))
    one, other = np.sum(u * run(product, [x, v])[-1]), np.sum(v * run(product, [x, u])[-1])
    np.testing.assert_allclose(one, other, rtol=1e-12)


# any program

UNARY: Sequence[Function] = (neg, tanh, sin, absolute, lambda x: exp(tanh(x)), lambda x: mul(x, 0.7))
BINARY: Sequence[Function] = (add, sub, mul, maximum, logaddexp, lambda x, y: where(greater(x, y), x, y))


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Random scalar programs of elementwise ops, sums that are broadcast again, and shared values."""
    b = Builder()
    values = [b.input("x", Type((3, 5))), b.input("y", Type((3, 5)))]
    for _ in range(draw(st.integers(1, 9))):
        a, c = draw(st.sampled_from(values)), draw(st.sampled_from(values))
        kind = draw(st.integers(0, 2))
        if kind == 0:
            values.append(draw(st.sampled_from(UNARY))(a))
        elif kind == 1:
            values.append(draw(st.sampled_from(BINARY))(a, c))
        else:
            axis = draw(st.integers(0, 1))
            values.append(broadcast(mean(a, (axis,), keepdims=True), a.shape))
    return b.program("drawn", (mean(tanh(values[-1]), (0, 1)).id,))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(programs())
def test_gradients_of_drawn_programs_are_their_slopes(p: Program) -> None:
    assert_directional(p)


def test_a_planted_error_of_a_thousandth_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    p = program(lambda x: sum(mul(exp(x), x), (0, 1)), Type((3, 5)))
    assert_directional(p)
    monkeypatch.setattr(Exp, "_pull", lambda self, g, out, x: mul(mul(g, out), 1.001))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_directional(p)


# what is refused


@dataclass(frozen=True)
class Opaque(Op):
    """x, and no derivative."""

    def type(self, *operands: Type) -> Type:
        return operands[0]

    def text(self, *operands: str) -> str:
        return f"{operands[0]}.copy()"


class Misshapen(Opaque):
    """x, with a derivative of the wrong shape."""

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        return (sum(g, (0,)),)


def test_an_op_without_a_derivative_is_refused_by_name_where_it_stands_on_the_way() -> None:
    b = Builder()
    x, y = b.input("x", Type((3,))), b.input("y", Type((3,)))
    p = b.program("f", (mul(b.emit(Opaque(), x, label="hidden"), y).id,))
    np.testing.assert_array_equal(
        run(gradient_program(p, ("y",)), [np.arange(3.0), np.ones(3)])[1], np.arange(3)
    )
    with pytest.raises(DifferentiationError) as caught:
        gradient_program(p, ("x", "y"))
    assert str(caught.value) == (
        "a gradient needs the derivative of opaque (node 'n0', 'hidden' in the function), which has none; "
        "leave the inputs that lead to it out of wrt"
    )


def test_a_derivative_of_the_wrong_type_is_refused() -> None:
    p = program(lambda x: apply(Misshapen(), x), Type((3,)))
    with pytest.raises(DifferentiationError) as caught:
        gradient_program(p, ("x",))
    assert str(caught.value) == (
        "the derivative of misshapen (node 'n0') needs to have the operand's type float64[3], got float64[]; "
        "correct its vjp"
    )


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_inputs_that_are_no_floats_are_refused_by_name(dtype: str) -> None:
    p = program(lambda x, y: mul(x, cast(y, "float64")), Type((3,)), Type((3,), dtype))
    assert len(gradient_program(p, ("x",)).gradients) == 1
    with pytest.raises(DifferentiationError) as caught:
        gradient_program(p, ("x", "y"))
    assert caught.value.code == "dtype_not_differentiable"
    assert str(caught.value) == (
        f"a gradient needs a floating input, got 'y' of type {dtype}[3]; make it float64 or "
        "leave it out of wrt"
    )


def test_an_output_of_integers_is_refused() -> None:
    p = program(lambda x: argmax(x, 1), Type((3, 5)))
    with pytest.raises(DifferentiationError) as caught:
        gradient_program(p, ("x",))
    assert caught.value.code == "dtype_not_differentiable"
    assert str(caught.value) == (
        "a gradient needs a floating output, got output 0 of type int64[3]; cast it in the function"
    )


@pytest.mark.parametrize(
    ("wrt", "output", "seed", "message"),
    [
        (("z",), 0, "ones", "wrt needs names of inputs (x, y), got 'z'"),
        (("x", "x"), 0, "ones", "wrt needs distinct names, got ('x', 'x')"),
        (("x",), 1, "ones", "output needs to be from 0 to 0, got 1"),
        (("x",), -1, "ones", "output needs to be from 0 to 0, got -1"),
        (("x",), 0, "zeros", "seed needs to be 'ones' or 'input', got 'zeros'"),
    ],
)
def test_wrong_arguments_are_refused(wrt: tuple[str, ...], output: int, seed: str, message: str) -> None:
    p = program(mul, Type((3,)), Type((3,)))
    with pytest.raises(ArgumentError) as caught:
        gradient_program(p, wrt, output, seed)  # type: ignore[arg-type]
    assert str(caught.value) == message
