"""Cases of the ops that move, reduce and contract, several attribute settings each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from op_checks import Case

from saturate.op import Type
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.indexing import ScatterAdd, Take
from saturate.ops.reduction import Argmax, Argmin, Cumsum, Max, Mean, Min, Prod, Sum
from saturate.ops.structure import Broadcast, Concatenate, Flip, Pad, Reshape, Slice, Transpose

Arrays = npt.NDArray[Any]


def f(*shape: int) -> Type:
    return Type(shape)


def i(*shape: int, low: int = 0, high: int = 2) -> Type:
    return Type(shape, "int64", low, high)


def strewn(x: Arrays, shape: tuple[int, ...], index: tuple[slice, ...], fill: float) -> Arrays:
    out = np.full(shape, fill, x.dtype)
    out[index] = x
    return out


def scattered(g: Arrays, indices: Arrays, axis: int, size: int) -> Arrays:
    """Σ_j g[…, j, …] · onehot(indices[j]), by a loop."""
    moved = np.moveaxis(g, range(axis, axis + indices.ndim), range(indices.ndim))
    out = np.zeros((size, *moved.shape[indices.ndim :]), g.dtype)
    for at in np.ndindex(indices.shape):
        out[int(indices[at])] += moved[at]
    return np.moveaxis(out, 0, axis)


STRUCTURE = [
    Case(Reshape((7, 3, 5)), (f(5, 21),), lambda x: np.reshape(x, (7, 3, 5))),
    Case(Reshape((15,)), (f(3, 5),), np.ravel),
    Case(Reshape(()), (f(1, 1),), lambda x: np.reshape(x, ())),
    Case(Reshape((1, 3, 1, 5)), (f(3, 5),), lambda x: x[None, :, None]),
    Case(Reshape((1,)), (f(),), lambda x: np.reshape(x, 1)),
    Case(Reshape((0, 7)), (f(3, 0),), lambda x: np.reshape(x, (0, 7))),
    Case(Transpose((1, 0)), (f(3, 5),), np.transpose),
    Case(Transpose((2, 0, 1)), (f(3, 5, 7),), lambda x: np.transpose(x, (2, 0, 1))),
    Case(Transpose((1, 2, 0)), (f(3, 1, 7),), lambda x: np.moveaxis(x, 0, -1)),
    Case(
        Transpose((0,)),
        (
            f(
                3,
            ),
        ),
        np.transpose,
    ),
    Case(Transpose(()), (f(),), np.transpose),
    Case(Broadcast((3, 5)), (f(3, 1),), lambda x: np.broadcast_to(x, (3, 5))),
    Case(Broadcast((3, 5)), (f(5),), lambda x: np.broadcast_to(x, (3, 5))),
    Case(Broadcast((3, 5)), (f(),), lambda x: np.broadcast_to(x, (3, 5))),
    Case(Broadcast((3, 5)), (f(3, 5),), lambda x: np.broadcast_to(x, (3, 5))),
    Case(Broadcast((7, 3, 5)), (f(3, 1),), lambda x: np.broadcast_to(x, (7, 3, 5))),
    Case(Broadcast((7, 1, 5)), (f(1, 1),), lambda x: np.broadcast_to(x, (7, 1, 5))),
    Case(Broadcast((0, 5)), (f(1, 5),), lambda x: np.broadcast_to(x, (0, 5))),
    Case(Slice((1, 0), (4, 5), (1, 1)), (f(5, 7),), lambda x: x[1:4, :5]),
    Case(Slice((1, 2), (5, 7), (3, 2)), (f(5, 7),), lambda x: x[1::3, 2::2]),
    Case(Slice((0, 0), (5, 1), (2, 1)), (f(5, 1),), lambda x: x[::2]),
    Case(Slice((2, 0), (2, 7), (1, 1)), (f(5, 7),), lambda x: x[2:2]),
    Case(Slice((), (), ()), (f(),), lambda x: x[...]),
    Case(Flip((0,)), (f(3, 5),), lambda x: np.flip(x, 0)),
    Case(Flip((0, 2)), (f(3, 5, 7),), lambda x: np.flip(x, (0, 2))),
    Case(Flip((1,)), (f(3, 1),), lambda x: np.flip(x, 1)),
    Case(Flip(()), (f(3, 5),), np.copy),
    Case(Pad((1, 0), (2, 3), (0, 0)), (f(3, 5),), lambda x: np.pad(x, ((1, 2), (0, 3)))),
    Case(
        Pad((1, 0), (2, 3), (0, 0), 1.0),
        (f(3, 5),),
        lambda x: np.pad(x, ((1, 2), (0, 3)), constant_values=1),
    ),
    Case(
        Pad((0, 1), (1, 0), (2, 1), 1.0),
        (f(3, 5),),
        lambda x: strewn(x, (8, 10), (slice(0, 7, 3), slice(1, 10, 2)), 1.0),
    ),
    Case(
        Pad((2,), (1,), (3,)),
        (
            f(
                1,
            ),
        ),
        lambda x: np.pad(x, (2, 1)),
    ),
    Case(
        Pad((2,), (1,), (3,)),
        (
            f(
                0,
            ),
        ),
        lambda x: np.pad(x, (2, 1)),
    ),
    Case(Pad((), (), ()), (f(),), np.copy),
    *(
        Case(
            Pad((1,), (0,), (0,), fill),
            (
                f(
                    3,
                ),
            ),
            lambda x, fill=fill: np.pad(x, (1, 0), constant_values=fill),
            ("float64", "float32"),
        )
        for fill in (np.inf, -np.inf, np.nan)
    ),
    Case(Concatenate(0), (f(3, 5), f(2, 5), f(1, 5)), lambda *x: np.concatenate(x, 0)),
    Case(Concatenate(1), (f(3, 5), f(3, 0), f(3, 2)), lambda *x: np.concatenate(x, 1)),
    Case(Concatenate(0), (f(3, 5),), np.copy),
]

INDEXING = [
    Case(Take(0), (f(3, 5), i(7)), lambda x, k: np.take(x, k, 0)),
    Case(Take(1), (f(5, 3, 2), i(7, low=-3)), lambda x, k: x[:, k]),
    Case(Take(1), (f(5, 3), i(2, 7)), lambda x, k: np.take(x, k, 1)),
    Case(Take(1), (f(5, 3, 2), i()), lambda x, k: np.take(x, k, 1)),
    Case(Take(0), (f(1, 5), i(3, high=0)), lambda x, k: np.take(x, k, 0)),
    Case(Take(0), (f(3, 5), i(0)), lambda x, k: np.take(x, k, 0)),
    Case(ScatterAdd(0, 3), (f(7, 5), i(7)), lambda g, k: scattered(g, k, 0, 3)),
    Case(ScatterAdd(1, 3), (f(5, 7, 2), i(7, low=-3)), lambda g, k: scattered(g, k, 1, 3)),
    Case(ScatterAdd(1, 3), (f(5, 2, 7), i(2, 7)), lambda g, k: scattered(g, k, 1, 3)),
    Case(ScatterAdd(1, 3), (f(5, 2), i()), lambda g, k: scattered(g, k, 1, 3)),
    Case(
        ScatterAdd(0, 1),
        (
            f(
                3,
            ),
            i(3, high=0),
        ),
        lambda g, k: scattered(g, k, 0, 1),
    ),
]

REDUCTIONS = [
    Case(op(axes, keepdims), (x,), lambda x, call=call, a=axes, k=keepdims: call(x, axis=a, keepdims=k))
    for op, call in ((Sum, np.sum), (Mean, np.mean), (Max, np.max), (Min, np.min), (Prod, np.prod))
    for axes, keepdims, x in (
        ((1,), True, f(3, 5)),
        ((0,), False, f(3, 5)),
        ((0, 1), False, f(3, 5)),
        ((0, 2), True, f(2, 5, 3)),
        ((0, 2), False, f(2, 5, 3)),
        ((1,), False, f(3, 1)),
        ((), False, f(3, 5)),
        ((), True, f()),
        ((1,), False, f(0, 5)),
    )
] + [
    Case(Sum((1,), False), (f(3, 0),), lambda x: np.sum(x, 1)),
    Case(Prod((1,), True), (f(3, 0),), lambda x: np.prod(x, 1, keepdims=True)),
    Case(
        Prod((0,), False),
        (
            f(
                8,
            ),
        ),
        lambda x: np.prod(x, 0),
    ),
    Case(Cumsum(0), (f(5, 3),), lambda x: np.cumsum(x, 0)),
    Case(Cumsum(1), (f(5, 3),), lambda x: np.cumsum(x, 1)),
    Case(Cumsum(1), (f(5, 1),), lambda x: np.cumsum(x, 1)),
    Case(Cumsum(0), (f(0, 3),), lambda x: np.cumsum(x, 0)),
    *(
        Case(
            op(axis, keepdims), (x,), lambda x, c=call, a=axis, k=keepdims: c(x, axis=a, keepdims=k), order=0
        )
        for op, call in ((Argmax, np.argmax), (Argmin, np.argmin))
        for axis, keepdims, x in (
            (0, True, f(3, 5)),
            (1, False, f(3, 5)),
            (1, True, f(3, 1)),
            (0, False, f(7)),
        )
    ),
]

CONTRACTIONS = [
    Case(Matmul(), (f(3, 5), f(5, 7)), np.matmul),
    Case(Matmul(), (f(2, 3, 5), f(2, 5, 7)), np.matmul),
    Case(Matmul(), (f(2, 1, 3, 5), f(2, 1, 5, 1)), np.matmul),
    Case(Matmul(), (f(3, 1), f(1, 7)), np.matmul),
    Case(Matmul(), (f(3, 0), f(0, 7)), np.matmul),
    Case(VecDot(), (f(3, 5), f(3, 5)), np.vecdot),
    Case(VecDot(), (f(5), f(5)), np.vecdot),
    Case(VecDot(), (f(3, 2, 1), f(3, 2, 1)), np.vecdot),
] + [
    Case(Einsum(spec), shapes, lambda *x, spec=spec: np.einsum(spec, *x))
    for spec, shapes in (
        ("ij,jk->ik", (f(3, 5), f(5, 7))),
        ("ij,kj->ki", (f(3, 5), f(7, 5))),
        ("bij,bjk->bik", (f(2, 3, 5), f(2, 5, 7))),
        ("i,j->ij", (f(3), f(5))),
        ("ij,ij->", (f(3, 5), f(3, 5))),
        ("ij->ji", (f(3, 5),)),
        ("ij->i", (f(3, 5),)),
        ("ij->", (f(3, 5),)),
        ("->", (f(),)),
        (",ij->j", (f(), f(3, 5))),
        ("ii->i", (f(5, 5),)),
        ("ii->", (f(5, 5),)),
        ("iji->j", (f(3, 5, 3),)),
        ("iii->i", (f(3, 3, 3),)),
        ("iii->", (f(3, 3, 3),)),
        ("iijj->ji", (f(3, 3, 2, 2),)),
        ("ii,ij->j", (f(3, 3), f(3, 5))),
        ("ik,jj->i", (f(3, 5), f(2, 2))),
        ("ij,k->i", (f(3, 5), f(7))),
        ("i,i,i->i", (f(5), f(5), f(5))),
        ("ij,jk,kl->il", (f(3, 5), f(5, 2), f(2, 7))),
        ("ij,jk,kl,l->i", (f(2, 3), f(3, 2), f(2, 5), f(5))),
        ("ij,j->i", (f(3, 1), f(1))),
        ("ij,jk->ik", (f(3, 0), f(0, 7))),
    )
]

STRUCTURE_CASES = STRUCTURE + INDEXING + REDUCTIONS + CONTRACTIONS
