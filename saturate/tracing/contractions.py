"""Products of arrays on tracers: matmul and its relatives as one matmul, dot or einsum each."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from string import ascii_letters
from typing import Any

import numpy as np

from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.tracing import refusals
from saturate.tracing.asking import ask_dtype
from saturate.tracing.emitting import broadcast, lift, no_out, operand, recording_of, reshape, transpose
from saturate.tracing.site import public_name
from saturate.tracing.tracer import Tracer


def _pair(function: Callable[..., Any], a: Any, b: Any, *args: Any, **options: Any) -> tuple[Tracer, Tracer]:
    """Both operands as traced arrays of the dtype that `function(a, b, *args, **options)` has in NumPy."""
    recording, who = recording_of(a, b), public_name(function)
    x, y = operand(a, who), operand(b, who)
    common = ask_dtype(function, x, y, *args, **options)
    return lift(recording, x, common), lift(recording, y, common)


def _fail(what: str, *args: Any) -> ValueError:
    """What makes the dispatcher ask NumPy for its own error."""
    return ValueError(f"{what} of shapes {', '.join(str(x.shape) for x in args)}")


def matmul(a: Any, b: Any, **options: Any) -> Tracer:
    """`np.matmul`: vectors get an axis of size one, leading axes are broadcast."""
    if options.keys() - {"dtype", "casting"}:
        raise refusals.unsupported("np.matmul", f"{min(options)}=", "Write np.moveaxis(x, …) around it")
    x, y = _pair(np.matmul, a, b, **options)
    if not x.ndim or not y.ndim:
        raise _fail("matmul", x, y)
    wide_x = reshape(x, (1, *x.shape)) if x.ndim == 1 else x
    wide_y = reshape(y, (*y.shape, 1)) if y.ndim == 1 else y
    batch = np.broadcast_shapes(wide_x.shape[:-2], wide_y.shape[:-2])
    found = x.recording.emit(
        Matmul(), broadcast(wide_x, batch + wide_x.shape[-2:]), broadcast(wide_y, batch + wide_y.shape[-2:])
    )
    rows = () if x.ndim == 1 else wide_x.shape[-2:-1]
    return reshape(found, batch + rows + (() if y.ndim == 1 else wide_y.shape[-1:]))


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1, **options: Any) -> Any:
    """`np.vecdot` and `np.linalg.vecdot`: a dot over one axis, the others broadcast."""
    if options.keys() - {"dtype", "casting"}:
        raise refusals.unsupported("np.vecdot", f"{min(options)}=", "Write np.sum(x * y, axis=…)")
    pair: Any = _pair(np.vecdot, x1, x2, axis=axis, **options)
    x, y = (np.moveaxis(z, axis, -1) for z in pair)
    if x.shape[-1] != y.shape[-1]:
        raise _fail("vecdot", x, y)
    shape = np.broadcast_shapes(x.shape, y.shape)
    return x.recording.emit(VecDot(), broadcast(x, shape), broadcast(y, shape))


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """`np.dot`: the last axis of a with the second to last of b."""
    no_out("np.dot", out)
    x, y = _pair(np.dot, a, b)
    if not x.ndim or not y.ndim:
        return x * y
    if x.ndim == y.ndim == 1:
        return _vectors("dot", x, y)
    if y.ndim <= 2:
        return np.matmul(x, y)
    return _contract(x, y, (x.ndim - 1,), (y.ndim - 2,))


def _vectors(what: str, x: Tracer, y: Tracer) -> Tracer:
    if x.shape != y.shape:
        raise _fail(what, x, y)
    return x.recording.emit(VecDot(), x, y)


def vdot(a: Any, b: Any, /) -> Tracer:
    """`np.vdot`: the dot of the raveled arrays."""
    x, y = _pair(np.vdot, a, b)
    return _vectors("vdot", reshape(x, (x.size,)), reshape(y, (y.size,)))


def inner(a: Any, b: Any, /) -> Any:
    """`np.inner`: the last axis of a with the last of b."""
    x, y = _pair(np.inner, a, b)
    if not x.ndim or not y.ndim:
        return x * y
    if x.ndim == y.ndim == 1:
        return _vectors("inner", x, y)
    if y.ndim <= 2:
        return np.matmul(x, y.T)
    return _contract(x, y, (x.ndim - 1,), (y.ndim - 1,))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """`np.outer`: every product of an element of a with one of b."""
    no_out("np.outer", out)
    x, y = _pair(np.outer, a, b)
    return reshape(x, (x.size, 1)) * reshape(y, (1, y.size))


def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """`np.linalg.outer`: as `np.outer`, for vectors only."""
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise ValueError("outer of no vectors")
    return np.outer(x1, x2)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """`np.tensordot`: a contraction over pairs of axes."""
    x, y = _pair(np.tensordot, a, b, axes)
    if np.ndim(axes) == 0 and not isinstance(axes, tuple | list):
        count = operator.index(axes)
        first, second = tuple(range(-count, 0)), tuple(range(count))
    else:
        first, second = (tuple(np.atleast_1d(part).tolist()) for part in axes)
    pairs = zip(first, second, strict=True)
    if any(x.shape[i] != y.shape[j] for i, j in pairs):
        raise _fail("tensordot", x, y)
    return _contract(x, y, tuple(i % x.ndim for i in first), tuple(j % y.ndim for j in second))


def _contract(x: Tracer, y: Tracer, first: tuple[int, ...], second: tuple[int, ...]) -> Tracer:
    """Σ over axes `first` of x, in pairs with axes `second` of y; the axes that stay follow in order."""
    if any(x.shape[i] != y.shape[j] for i, j in zip(first, second, strict=True)):
        raise _fail("contraction", x, y)
    if x.ndim == y.ndim == 2 and len(first) == 1:
        rows = x if first == (1,) else transpose(x, (1, 0))
        return x.recording.emit(Matmul(), rows, y if second == (0,) else transpose(y, (1, 0)))
    letters = ascii_letters[: x.ndim + y.ndim]
    left, right = list(letters[: x.ndim]), list(letters[x.ndim :])
    for i, j in zip(first, second, strict=True):
        right[j] = left[i]
    kept = [k for n, k in enumerate(left) if n not in first] + [
        k for n, k in enumerate(right) if n not in second
    ]
    return x.recording.emit(Einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}"), x, y)


def diagonal(a: Tracer, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """`np.diagonal`: the square part by a slice, then one label for both axes."""
    return _diagonal(a, offset, axis1, axis2, keep=True)


def _diagonal(a: Any, offset: int, axis1: int, axis2: int, keep: bool) -> Any:
    if a.ndim < 2:
        raise _fail("diagonal", a)
    first, second = np.lib.array_utils.normalize_axis_tuple((axis1, axis2), a.ndim)
    row, column = max(-offset, 0), max(offset, 0)
    size = max(min(a.shape[first] - row, a.shape[second] - column), 0)
    index: list[Any] = [slice(None)] * a.ndim
    index[first], index[second] = slice(row, row + size), slice(column, column + size)
    if not size:
        index[first] = index[second] = slice(0, 0)
    labels = list(ascii_letters[: a.ndim])
    labels[second] = labels[first]
    kept = [k for n, k in enumerate(labels) if n not in (first, second)] + [labels[first]] * keep
    return a.recording.emit(Einsum(f"{''.join(labels)}->{''.join(kept)}"), a[tuple(index)])


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """`np.trace`: the sum of a diagonal, in the dtype of `np.sum`."""
    no_out("np.trace", out)
    expected = ask_dtype(np.trace, a, offset, axis1, axis2, dtype=dtype)
    return _diagonal(a.astype(expected), offset, axis1, axis2, keep=False)


CONTRACTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.dot: dot,
    np.vdot: vdot,
    np.inner: inner,
    np.outer: outer,
    np.tensordot: tensordot,
    np.diagonal: diagonal,
    np.trace: trace,
    np.linalg.matmul: lambda x1, x2, /: np.matmul(x1, x2),
    np.linalg.vecdot: vecdot,
    np.linalg.outer: linalg_outer,
    np.linalg.tensordot: lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes),
    np.linalg.diagonal: lambda x, /, *, offset=0: np.diagonal(x, offset, -2, -1),
    np.linalg.trace: lambda x, /, *, offset=0, dtype=None: np.trace(x, offset, -2, -1, dtype),
}
