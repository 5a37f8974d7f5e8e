from __future__ import annotations

import pytest
from op_cases import f, i

from saturate.errors import ShapeError
from saturate.op import Op, Type
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.indexing import ScatterAdd, Take
from saturate.ops.reduction import Argmin, Cumsum, Max, Min, Sum
from saturate.ops.structure import Broadcast, Concatenate, Flip, Pad, Reshape, Slice, Transpose

REFUSED: list[tuple[Op, tuple[Type, ...], str, str]] = [
    (
        Reshape((2, 7)),
        (f(3, 5),),
        "shape",
        "reshape needs a shape of 15 elements for float64[3, 5], got (2, 7) of 14",
    ),
    (
        Reshape((-1, 5)),
        (f(3, 5),),
        "missing_shape_metadata",
        "reshape needs a shape of non-negative sizes, got (-1, 5)",
    ),
    (
        Broadcast((3, 5)),
        (f(3),),
        "shape",
        "broadcast needs an operand whose axes, counted from the last, have size 1 or the size in (3, 5); "
        "got float64[3]",
    ),
    (
        Broadcast((5,)),
        (f(1, 5),),
        "shape",
        "broadcast needs an operand whose axes, counted from the last, have size 1 or the size in (5,); "
        "got float64[1, 5]",
    ),
    (
        Transpose((0, 0)),
        (f(3, 5),),
        "shape",
        "transpose needs a permutation of the 2 axes of float64[3, 5], got (0, 0)",
    ),
    (
        Slice((0,), (4,), (1,)),
        (f(3),),
        "shape",
        "slice needs a start, a stop and a step for each axis of float64[3], 0 <= start <= stop <= size and "
        "step >= 1; got starts (0,), stops (4,), steps (1,)",
    ),
    (
        Slice((0,), (3,), (0,)),
        (f(3),),
        "shape",
        "slice needs a start, a stop and a step for each axis of float64[3], 0 <= start <= stop <= size and "
        "step >= 1; got starts (0,), stops (3,), steps (0,)",
    ),
    (
        Flip((1, 0)),
        (f(3, 5),),
        "reduction_shape_mismatch",
        "flip needs sorted, distinct axes of its operand, got (1, 0) and float64[3, 5]",
    ),
    (
        Pad((1,), (0, 0), (0, 0)),
        (f(3, 5),),
        "shape",
        "pad needs three tuples of 2 non-negative ints for float64[3, 5], got low (1,), high (0, 0), "
        "interior (0, 0)",
    ),
    (
        Pad((-1,), (0,), (0,)),
        (f(3),),
        "shape",
        "pad needs three tuples of 1 non-negative ints for float64[3], got low (-1,), high (0,), "
        "interior (0,)",
    ),
    (Concatenate(0), (), "shape", "concatenate needs at least one operand, got none"),
    (
        Concatenate(0),
        (f(3, 5), f(3, 7)),
        "shape",
        "concatenate needs operands of one dtype, equal in every axis but 0; "
        "got float64[3, 5], float64[3, 7]",
    ),
    (
        Concatenate(0),
        (f(3), Type((3,), "float32")),
        "shape",
        "concatenate needs operands of one dtype, equal in every axis but 0; got float64[3], float32[3]",
    ),
    (
        Take(2),
        (f(3, 5), i(7)),
        "reduction_shape_mismatch",
        "take needs an axis of its operand, got axis 2 and float64[3, 5]",
    ),
    (
        Take(0),
        (f(3, 5), f(7)),
        "shape",
        "take needs integer indices as its second operand, got float64[7]",
    ),
    (
        Take(0),
        (f(0, 5), i(7)),
        "shape",
        "take needs a non-empty axis 0 to take from, got float64[0, 5]",
    ),
    (
        ScatterAdd(1, 3),
        (f(5, 3), i(7)),
        "shape",
        "scatter_add needs a first operand with the axes (7,) of the indices from axis 1 on and a size >= 0; "
        "got float64[5, 3] and size 3",
    ),
    (
        Sum((1, 1), True),
        (f(3, 5),),
        "reduction_shape_mismatch",
        "sum needs sorted, distinct axes of its operand, got (1, 1) and float64[3, 5]",
    ),
    (
        Max((-1,), True),
        (f(3, 5),),
        "reduction_shape_mismatch",
        "max needs sorted, distinct axes of its operand, got (-1,) and float64[3, 5]",
    ),
    (
        Min((1,), True),
        (f(3, 0),),
        "shape",
        "min needs at least one element along axes (1,), got float64[3, 0]",
    ),
    (
        Argmin(1, True),
        (f(3, 0),),
        "shape",
        "argmin needs at least one element along axis 1, got float64[3, 0]",
    ),
    (
        Cumsum(0),
        (f(),),
        "reduction_shape_mismatch",
        "cumsum needs an axis of its operand, got axis 0 and float64[]",
    ),
    (
        Matmul(),
        (f(3, 5), f(7, 5)),
        "shape",
        "matmul needs operands [..., i, j] and [..., j, k] of rank 2 or more with equal leading axes, "
        "got float64[3, 5] and float64[7, 5]",
    ),
    (
        Matmul(),
        (f(3, 5), Type((5, 7), "float32")),
        "shape",
        "matmul needs operands of one dtype, got float64[3, 5], float32[5, 7]",
    ),
    (
        VecDot(),
        (f(3, 5), f(5)),
        "shape",
        "vec_dot needs operands of one shape, rank 1 or more, got float64[3, 5] and float64[5]",
    ),
    (
        Einsum("ij,jk"),
        (f(3, 5), f(5, 7)),
        "shape",
        "einsum needs a spec like 'ij,jk->ik' with an explicit output, got 'ij,jk'",
    ),
    (
        Einsum("ij,jk->ik"),
        (f(3, 5), f(5)),
        "shape",
        "einsum 'ij,jk->ik' needs 2 operand(s) with one axis a label, got float64[3, 5], float64[5]",
    ),
    (
        Einsum("ij->iij"),
        (f(3, 5),),
        "shape",
        "einsum 'ij->iij' needs output labels that stand once and in some operand",
    ),
    (
        Einsum("ij,jk->ik"),
        (f(3, 5), f(1, 7)),
        "shape",
        "einsum 'ij,jk->ik' needs one size for label 'j', got 5 and 1 in float64[3, 5], float64[1, 7]; "
        "broadcast the operands first",
    ),
]


@pytest.mark.parametrize(("op", "operands", "code", "message"), REFUSED, ids=lambda x: str(x)[:40])
def test_operands_that_do_not_fit_are_refused(
    op: Op, operands: tuple[Type, ...], code: str, message: str
) -> None:
    with pytest.raises(ShapeError) as caught:
        op.type(*operands)
    assert (str(caught.value), caught.value.code) == (message, code)
