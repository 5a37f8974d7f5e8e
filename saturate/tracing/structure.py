"""Shapes and axes on tracers: NumPy is asked on an array without contents, and its answer becomes one op."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saturate.op import AnyArray
from saturate.ops.structure import Flip
from saturate.tracing import refusals
from saturate.tracing.asking import standin
from saturate.tracing.emitting import broadcast, cast, lift, operand, recording_of, reshape, transpose
from saturate.tracing.tracer import Tracer

_NO_BYTES = np.dtype("V0")
"""A dtype without bytes, so that arrays of any shape are free."""


def _hollow(x: Any) -> AnyArray:
    """An array of the shape of `x` that takes no memory."""
    return np.empty(x.shape, _NO_BYTES)


def _row_major(who: str, order: str) -> bool:
    """Whether the order is C, not F; raises `TraceError` for orders that depend on the layout of memory."""
    if order not in ("C", "F"):
        raise refusals.unsupported(
            who, f"order={order!r}", "A traced array has no memory order; write order='C'"
        )
    return order == "C"


def reshape_(
    a: Tracer, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None
) -> Tracer:
    """`np.reshape`; order F is the reshape of the reversed axes."""
    shape = newshape if shape is None else shape
    target = np.reshape(_hollow(a), shape, order="C").shape
    if _row_major("np.reshape", order):
        return reshape(a, target)
    return _reversed(reshape(_reversed(a), target[::-1]))


def _reversed(x: Tracer) -> Tracer:
    return transpose(x, range(x.ndim)[::-1])


def ravel(a: Tracer, order: str = "C") -> Tracer:
    """`np.ravel`."""
    return reshape(a if _row_major("np.ravel", order) else _reversed(a), (a.size,))


def _permuting(function: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a function that permutes axes: NumPy moves those of an array of sizes 2, 3, 4, …."""

    def handler(a: Tracer, *args: Any, **kwargs: Any) -> Tracer:
        moved = function(np.empty(tuple(range(2, a.ndim + 2)), _NO_BYTES), *args, **kwargs)
        return transpose(a, (n - 2 for n in moved.shape))

    return handler


def _resizing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a function that adds or drops axes of size one."""

    def handler(a: Tracer, *args: Any, **kwargs: Any) -> Tracer:
        return reshape(a, function(_hollow(a), *args, **kwargs).shape)

    return handler


def _resizing_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of `np.atleast_1d` and its relatives, which take any number of arrays."""

    def handler(*arrays: Any) -> Any:
        recording = recording_of(arrays)
        found = tuple(
            reshape(lift(recording, operand(x, function.__name__)), function(standin(x)).shape)
            for x in arrays
        )
        return found[0] if len(found) == 1 else found

    return handler


def broadcast_to(array: Tracer, shape: Any, subok: bool = False) -> Tracer:
    """`np.broadcast_to`."""
    return broadcast(array, np.broadcast_to(standin(array), shape).shape)


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Tracer, ...]:
    """`np.broadcast_arrays`."""
    recording = recording_of(args)
    arrays = [lift(recording, operand(x, "np.broadcast_arrays")) for x in args]
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    return tuple(broadcast(x, shape) for x in arrays)


def flip(m: Tracer, axis: Any = None) -> Tracer:
    """`np.flip`."""
    axes = range(m.ndim) if axis is None else np.lib.array_utils.normalize_axis_tuple(axis, m.ndim)
    return m.recording.emit(Flip(tuple(sorted(axes))), m) if axes else m


def fliplr(m: Tracer) -> Any:
    """`np.fliplr`."""
    return m[:, ::-1]


def flipud(m: Tracer) -> Any:
    """`np.flipud`."""
    return m[::-1, ...]


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    """`np.rot90`: flips and an exchange of the two axes."""
    np.rot90(_hollow(m), k, axes)
    first, second = axes
    if k % 4 == 0:
        return m
    if k % 4 == 2:
        return np.flip(np.flip(m, first), second)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    return np.flip(np.swapaxes(m, first, second), second)


def astype(
    x: Tracer, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True,
    *, device: Any = None,
) -> Tracer:  # fmt: skip
    """`x.astype` and `np.astype`; raises NumPy's `TypeError` where `casting` forbids it."""
    np.ones((), x.dtype).astype(dtype, casting=casting)  # type: ignore[call-overload]
    return cast(x, dtype)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """`np.result_type`."""
    return np.result_type(*(x.dtype if isinstance(x, Tracer) else x for x in arrays_and_dtypes))


def size(a: Tracer, axis: Any = None) -> int:
    """`np.size`."""
    return a.size if axis is None else int(np.size(_hollow(a), axis))


def _same(a: Tracer, *args: Any, **kwargs: Any) -> Tracer:
    return a


STRUCTURE: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.reshape: reshape_,
    np.ravel: ravel,
    **{
        f: _permuting(f)
        for f in (
            np.transpose,
            np.matrix_transpose,
            np.linalg.matrix_transpose,
            np.swapaxes,
            np.moveaxis,
            np.rollaxis,
        )
    },
    **{f: _resizing(f) for f in (np.expand_dims, np.squeeze)},
    **{f: _resizing_each(f) for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)},
    np.broadcast_to: broadcast_to,
    np.broadcast_arrays: broadcast_arrays,
    np.flip: flip,
    np.fliplr: fliplr,
    np.flipud: flipud,
    np.rot90: rot90,
    np.copy: _same,
    np.real: _same,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: size,
    np.result_type: result_type,
    np.iscomplexobj: lambda x: False,
    np.isrealobj: lambda x: True,
}
