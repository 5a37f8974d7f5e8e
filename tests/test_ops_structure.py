from __future__ import annotations

import numpy as np
import pytest
from op_cases import f, i
from op_checks import assert_gradients, gradient_outputs, run, single

from saturate.build import Builder
from saturate.op import Op, Type
from saturate.ops.arithmetic import Div
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.indexing import ScatterAdd, Take
from saturate.ops.reduction import Argmax, Cumsum, Max, Mean, Min, Prod, Sum
from saturate.ops.structure import Broadcast, Concatenate, Flip, Pad, Reshape, Slice, Transpose


@pytest.mark.parametrize("zeros", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("size", [5, 8])
def test_prod_is_differentiable_at_zeros(zeros: int, size: int) -> None:
    x = np.array([1.5, -0.5, 2.0, 0.25, -3.0, 0.5, 1.25, -2.0])[:size]
    x[1 : 1 + zeros] = 0.0
    program = single(Prod((0,), False), (f(size),))
    assert_gradients(program, [x])
    for gradient in gradient_outputs(program):
        assert_gradients(gradient, [x, np.array(0.7)])


@pytest.mark.parametrize("op", [Max, Min])
@pytest.mark.parametrize("keepdims", [True, False])
def test_ties_share_the_derivative_evenly(op: type[Max | Min], keepdims: bool) -> None:
    x = np.array([[2.0, 2.0, 1.0], [0.0, 0.0, 0.0], [-np.inf, -np.inf, -np.inf], [1.0, 2.0, 3.0]])
    shares = {
        Max: [[0.5, 0.5, 0.0], [1 / 3] * 3, [1 / 3] * 3, [0.0, 0.0, 1.0]],
        Min: [[0.0, 0.0, 1.0], [1 / 3] * 3, [1 / 3] * 3, [1.0, 0.0, 0.0]],
    }[op]
    g = np.array([[2.0], [3.0], [5.0], [7.0]])
    gradient = gradient_outputs(single(op((1,), keepdims), (f(4, 3),)))[0]
    (found,) = run(gradient, [x, g if keepdims else g[:, 0]])
    np.testing.assert_allclose(found, g * np.array(shares), rtol=1e-15)


def test_mean_of_two_axes_is_differentiated_by_broadcast_and_a_literal_division() -> None:
    kept = gradient_outputs(single(Mean((0, 1), True), (f(3, 5),)))[0]
    assert [n.op for n in kept.nodes[1:]] == [Broadcast((3, 5)), Div(right_literal=15.0)]
    gone = gradient_outputs(single(Mean((0, 1), False), (f(3, 5),)))[0]
    assert [n.op for n in gone.nodes[1:]] == [Reshape((1, 1)), Broadcast((3, 5)), Div(right_literal=15.0)]


def test_mean_of_integers_has_no_cotangent() -> None:
    b = Builder()
    x = b.input("x", i(3))
    out = b.emit(Mean((0,), False), x)
    assert Mean((0,), False).vjp(out, out, x) == (None,)


WORK: list[tuple[Op, tuple[Type, ...], tuple[int, int]]] = [
    (Reshape((15,)), (f(3, 5),), (0, 0)),
    (Transpose((1, 0)), (f(3, 5),), (0, 0)),
    (Broadcast((3, 5)), (f(3, 1),), (0, 0)),
    (Slice((0, 0), (2, 5), (1, 1)), (f(3, 5),), (0, 0)),
    (Flip((0,)), (f(3, 5),), (0, 0)),
    (Pad((1, 0), (0, 0), (0, 0)), (f(3, 5),), (0, 8 * (15 + 20))),
    (Concatenate(0), (f(3, 5), f(2, 5)), (0, 8 * (25 + 25))),
    (Take(0), (f(101, 5), i(7)), (0, 8 * (35 + 35 + 7))),
    (ScatterAdd(0, 101), (f(7, 5), i(7)), (35, 8 * (505 + 3 * 35 + 7))),
    (Sum((1,), True), (f(3, 5),), (15, 8 * (15 + 3))),
    (Mean((1,), True), (f(3, 5),), (18, 8 * (15 + 3))),
    (Max((0, 1), False), (f(3, 5),), (15, 8 * (15 + 1))),
    (Prod((0,), False), (f(3, 5),), (15, 8 * (15 + 5))),
    (Argmax(1, False), (f(3, 5),), (15, 8 * (15 + 3))),
    (Cumsum(1), (f(3, 5),), (15, 8 * (15 + 15))),
    (Matmul(), (f(3, 5), f(5, 7)), (2 * 3 * 5 * 7, 8 * (15 + 35 + 21))),
    (Matmul(), (f(2, 3, 5), f(2, 5, 7)), (2 * 2 * 3 * 5 * 7, 8 * (30 + 70 + 42))),
    (VecDot(), (f(3, 5), f(3, 5)), (2 * 15, 8 * (15 + 15 + 3))),
    (Einsum("ij,jk->ik"), (f(3, 5), f(5, 7)), (2 * 3 * 5 * 7, 8 * (15 + 35 + 21))),
    (Einsum("i,j->ij"), (f(3), f(5)), (15, 8 * (3 + 5 + 15))),
    (Einsum("ij->i"), (f(3, 5),), (15, 8 * (15 + 3))),
    (Einsum("ij->ji"), (f(3, 5),), (0, 8 * (15 + 15))),
    (Einsum("ij,jk,kl->il"), (f(3, 5), f(5, 2), f(2, 7)), (3 * 210, 8 * (15 + 10 + 14 + 21))),
]


@pytest.mark.parametrize(
    ("op", "operands", "expected"), WORK, ids=lambda x: x.name if isinstance(x, Op) else ""
)
def test_work(op: Op, operands: tuple[Type, ...], expected: tuple[int, int]) -> None:
    assert op.work(op.type(*operands), *operands) == expected
