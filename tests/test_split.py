from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from running import JOINT, JOINT_IDS, arguments, assert_same_bits, emitted, joint, listed
from workloads import WORKLOADS

from saturate.build import Builder
from saturate.errors import ProgramError
from saturate.op import Type
from saturate.ops.arithmetic import add, mul
from saturate.ops.constants import Full
from saturate.ops.reduction import sum
from saturate.ops.spreading import broadcast
from saturate.ops.structure import transpose
from saturate.ops.unary import cast, exp
from saturate.program import Program
from saturate.runners import NumpyRunner
from saturate.split import COTANGENT, split

ONE = np.float64(1.0)


def of(name: str) -> Program:
    return joint(next(load for load in WORKLOADS if load.name == name))


@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
def test_forward_and_backward_give_what_the_joint_program_gives(program: Program, tmp_path: Path) -> None:
    halves = split(program)
    count = len(program.outputs)
    free = [i.name for i in program.inputs if i.name != COTANGENT]
    arrays = dict(zip((i.name for i in program.inputs), arguments(program), strict=True))
    cotangent = arrays.get(COTANGENT, 1.0)
    expected = NumpyRunner(program)(**arrays)
    found = NumpyRunner(halves.forward)(*(arrays[name] for name in free))
    value, residuals = found[:count], found[count:]
    gradients = NumpyRunner(halves.backward)(*residuals, cotangent)
    assert_same_bits([*value, *gradients], expected)
    names = emitted(program, tmp_path)
    value, residuals = names["forward"](*(arrays[name] for name in free))
    gradients = names["backward"](residuals, *([cotangent] if COTANGENT in arrays else []))
    assert_same_bits([*listed(value, count), *gradients], expected)


def test_backward_is_linear_in_the_cotangent_of_a_scalar() -> None:
    program = of("cross_entropy")
    halves = split(program)
    arrays = arguments(program)
    residuals = NumpyRunner(halves.forward)(*arrays)[1:]
    backward = NumpyRunner(halves.backward)
    (once,), (thrice,) = backward(*residuals, 1.0), backward(*residuals, 3.0)
    np.testing.assert_array_equal(thrice, once * 3.0)
    assert halves.backward.inputs[-1].name == COTANGENT


def test_residuals_are_what_backward_reads_and_no_more() -> None:
    b = Builder()
    x, w, g = b.input("x", Type((3, 5))), b.input("w", Type((5,))), b.input(COTANGENT, Type((3, 5)))
    e = exp(x)
    unread = exp(e)
    y = add(mul(e, broadcast(w, e.shape)), unread)
    d = mul(mul(g, broadcast(w, e.shape)), e)
    halves = split(b.program("f", (y.id,), (("x", d.id),)))
    assert halves.residuals == (w.id, e.id)
    assert [i.name for i in halves.backward.inputs] == ["w", e.id, COTANGENT]
    assert halves.forward.outputs == (y.id, w.id, e.id)
    assert {n.op.name for n in halves.backward.nodes} == {"broadcast", "mul"}


def test_views_and_generated_arrays_are_made_again_and_not_kept() -> None:
    b = Builder()
    x, g = b.input("x", Type((3, 5))), b.input(COTANGENT, Type(()))
    ones = b.emit(Full(1.0, (5, 3), "float64"))
    y = sum(mul(transpose(exp(x), (1, 0)), ones), (0, 1))
    made = transpose(transpose(exp(x), (1, 0)), (1, 0))
    d = mul(mul(made, broadcast(g, (3, 5))), transpose(ones, (1, 0)))
    halves = split(b.program("f", (y.id,), (("x", d.id),)))
    kinds = [halves.forward.producer[v].op.name for v in halves.residuals]
    assert kinds == ["exp"]


def test_what_the_cotangent_does_not_reach_is_forward_even_if_the_value_does_not_need_it() -> None:
    b = Builder()
    x, g = b.input("x", Type((3,))), b.input(COTANGENT, Type((3,)))
    d = mul(g, exp(mul(x, 2.0)))
    halves = split(b.program("f", (exp(x).id,), (("x", d.id),)))
    assert [n.op.name for n in halves.forward.nodes] == ["mul", "exp", "exp"]
    assert [n.op.name for n in halves.backward.nodes] == ["mul"]


def test_a_gradient_that_is_an_argument_or_a_value_passes_through() -> None:
    b = Builder()
    x, y = b.input("x", Type((3,))), b.input("y", Type((3,)))
    e = exp(x)
    program = b.program("f", (sum(mul(e, y), (0,)).id,), (("y", e.id), ("x", y.id)))
    halves = split(program)
    arrays = arguments(program)
    residuals = NumpyRunner(halves.forward)(*arrays)[1:]
    assert_same_bits(NumpyRunner(halves.backward)(*residuals, 1.0), NumpyRunner(program)(*arrays)[1:])


def test_gradients_of_another_dtype_than_the_value_are_scaled_in_their_own(tmp_path: Path) -> None:
    b = Builder()
    x = b.input("x", Type((3,), "float32"))
    d = exp(x)
    program = b.program("f", (sum(cast(d, "float64"), (0,)).id,), (("x", d.id),))
    assert [(i.name, i.type.dtype) for i in split(program).backward.inputs][-1] == (COTANGENT, "float64")
    names = emitted(program, tmp_path)
    (array,) = arguments(program)
    for scale in (1.0, 2.0):
        given = [] if scale == 1.0 else [ONE * scale]
        (found,) = names["backward"](names["forward"](array)[1], *given)
        np.testing.assert_array_equal(found, np.exp(array) * np.float32(scale), strict=True)


def test_an_argument_of_the_users_is_no_cotangent() -> None:
    b = Builder()
    x, g = b.input("x", Type((3,))), b.input(COTANGENT, Type((3,)))
    with pytest.raises(ProgramError) as caught:
        split(b.program("f", (mul(x, g).id,), (("x", g.id),)))
    assert str(caught.value) == (
        "a split needs outputs that do not depend on the cotangent, and those of f read its "
        "input 'cotangent'; give that argument another name"
    )


def test_a_program_without_gradients_is_not_split() -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    with pytest.raises(ProgramError) as caught:
        split(b.program("f", (exp(x).id,)))
    assert str(caught.value) == "a split needs gradients, and f has none; differentiate it first"
