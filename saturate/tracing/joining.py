"""Putting arrays together and taking them apart, on tracers: by slices, concatenation and broadcasts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from saturate.ops.structure import Concatenate, Pad
from saturate.tracing import advice, refusals
from saturate.tracing.asking import ask_dtype
from saturate.tracing.emitting import broadcast, lift, no_out, operand, recording_of, reshape
from saturate.tracing.tracer import Recording, Tracer

_BY_INDEX = ("edge", "reflect", "symmetric", "wrap")
"""Modes of `np.pad` that repeat elements of the array, so that padding its positions tells which."""


def _axis(axis: Any, ndim: int) -> int:
    return np.lib.array_utils.normalize_axis_index(axis, ndim)


def _along(axis: int, index: Any) -> tuple[Any, ...]:
    return (*(slice(None),) * axis, index)


def _arrays(who: str, arrays: Any) -> tuple[Recording, list[Any]]:
    recording = recording_of(list(arrays))
    return recording, [x if isinstance(x, Tracer) else np.asarray(operand(x, who)) for x in arrays]


def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Tracer:
    """`np.concatenate`; arrays are raveled where the axis is None."""
    no_out("np.concatenate", out)
    recording, parts = _arrays("np.concatenate", arrays)
    expected = ask_dtype(np.concatenate, parts, axis=axis, dtype=dtype, casting=casting)
    lifted = [lift(recording, x, expected) for x in parts]
    if axis is None:
        return recording.emit(Concatenate(0), *(reshape(x, (x.size,)) for x in lifted))
    return recording.emit(Concatenate(_axis(axis, lifted[0].ndim)), *lifted)


def stack(
    arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Any:
    """`np.stack`: a new axis for each, and their concatenation along it."""
    no_out("np.stack", out)
    _, parts = _arrays("np.stack", arrays)
    if len({x.shape for x in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    where = _axis(axis, parts[0].ndim + 1)
    return np.concatenate([np.expand_dims(x, where) for x in parts], axis=where, dtype=dtype, casting=casting)


def _stacking(raised: Callable[..., Any], axis: Callable[[Any], int]) -> Callable[..., Any]:
    """The handler of `np.vstack` and its relatives: each array raised to a rank, then concatenated."""

    def handler(tup: Any, **options: Any) -> Any:
        _, parts = _arrays("stacking", tup)
        parts = [raised(x) for x in parts]
        return np.concatenate(parts, axis=axis(parts[0]), **options)

    return handler


def _column(x: Any) -> Any:
    return np.atleast_2d(x).T if x.ndim < 2 else x


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`np.array_split`."""
    return _split(np.array_split, ary, indices_or_sections, axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Any]:
    """`np.split`; raises NumPy's `ValueError` where the parts would not be equal."""
    return _split(np.split, ary, indices_or_sections, axis)


def _split(function: Callable[..., Any], x: Any, sections: Any, axis: int) -> list[Any]:
    if isinstance(sections, Tracer):
        raise refusals.refusal(
            f"np.{function.__name__} by a traced count", advice.DATA_DEPENDENT, "Use counts that are known"
        )
    axis = _axis(axis, x.ndim)
    parts = function(np.arange(x.shape[axis]), sections)
    ends = [(int(part[0]), int(part[-1]) + 1) if len(part) else (0, 0) for part in parts]
    return [x[_along(axis, slice(start, stop))] for start, stop in ends]


def _splitting(function: Callable[..., Any], axis: Callable[[Any], int]) -> Callable[..., Any]:
    """The handler of `np.hsplit` and its relatives."""

    def handler(ary: Any, indices_or_sections: Any) -> Any:
        if not isinstance(indices_or_sections, Tracer):
            function(np.empty(ary.shape, np.dtype("V0")), indices_or_sections)
        return np.split(ary, indices_or_sections, axis(ary))

    return handler


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """`np.unstack`."""
    moved = np.moveaxis(x, axis, 0)
    return tuple(moved[k] for k in range(len(moved)))


def _spread(x: Tracer, shape: Sequence[int], counts: Sequence[int], before: bool) -> Tracer:
    """Each axis of `shape` repeated `counts` times: as a whole where `before`, else element by element."""
    pairs = [(c, n) if before else (n, c) for c, n in zip(counts, shape, strict=True)]
    ones = [(1, n) if before else (n, 1) for n in shape]
    wide = broadcast(reshape(x, [n for pair in ones for n in pair]), [n for pair in pairs for n in pair])
    return reshape(wide, [prod(pair) for pair in pairs])


def tile(A: Tracer, reps: Any) -> Tracer:
    """`np.tile`: a broadcast along new axes, which are merged with the old ones."""
    counts = tuple(int(n) for n in np.atleast_1d(np.asarray(reps)))
    rank = max(A.ndim, len(counts))
    if min(counts, default=1) < 0:
        raise ValueError("negative dimensions are not allowed")
    shape = (1,) * (rank - A.ndim) + A.shape
    return _spread(A, shape, (1,) * (rank - len(counts)) + counts, before=True)


def repeat(a: Tracer, repeats: Any, axis: Any = None) -> Any:
    """`np.repeat`: a broadcast for one count, a gather for one count an element."""
    if any(True for _ in _tracers(repeats)):
        raise refusals.refusal(
            "np.repeat by a traced count", advice.DATA_DEPENDENT, "Use counts that are known"
        )
    x = a.ravel() if axis is None else a
    axis = 0 if axis is None else _axis(axis, x.ndim)
    positions = np.repeat(np.arange(x.shape[axis]), repeats)
    if np.ndim(repeats) or not x.shape[axis]:
        return np.take(x, positions, axis=axis)
    counts = [int(repeats) if k == axis else 1 for k in range(x.ndim)]
    split_shape = (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :])
    wide = broadcast(reshape(x, split_shape), (*x.shape[: axis + 1], counts[axis], *x.shape[axis + 1 :]))
    return reshape(wide, [n * c for n, c in zip(x.shape, counts, strict=True)])


def _tracers(tree: Any) -> Any:
    return (x for x in (tree if isinstance(tree, list | tuple) else [tree]) if isinstance(x, Tracer))


def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """`np.roll`: the end of each axis before its beginning."""
    if axis is None:
        return np.roll(a.ravel(), int(np.sum(shift)), 0).reshape(a.shape)
    axes = np.lib.array_utils.normalize_axis_tuple(axis, a.ndim, allow_duplicate=True)
    shifts, along = np.broadcast_arrays(shift, axes)
    for amount, k in zip(shifts.ravel().tolist(), along.ravel().tolist(), strict=True):
        size = a.shape[k]
        cut = size - amount % size if size else 0
        if cut != size:
            a = np.concatenate([a[_along(k, slice(cut, None))], a[_along(k, slice(None, cut))]], axis=k)
    return a


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    """`np.pad`: by constants, or by elements of the array in the modes edge, reflect, symmetric and wrap."""
    np.pad(np.empty(tuple(min(n, 1) for n in array.shape), array.dtype), pad_width, mode, **options)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(k, pad_width.get(k - array.ndim, 0)) for k in range(array.ndim)]
        pad_width = [(w, w) if isinstance(w, int) else w for w in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width, np.intp), (array.ndim, 2)).tolist()
    if mode == "constant":
        return _pad_constant(array, widths, options.get("constant_values", 0))
    if mode not in _BY_INDEX:
        raise refusals.unsupported("np.pad", f"mode={mode!r}", "Write np.concatenate with the borders")
    for k, (low, high) in enumerate(widths):
        if low or high:
            positions = np.pad(np.arange(array.shape[k]), (low, high), mode, **options)
            array = np.take(array, positions, axis=k)
    return array


def _pad_constant(x: Tracer, widths: list[list[int]], values: Any) -> Any:
    """One op where the borders are of one value, else one op a border: later axes write the corners."""
    if isinstance(values, Tracer):
        raise refusals.unsupported(
            "np.pad", "traced constant_values", "Write np.concatenate with the borders"
        )
    fills = np.broadcast_to(np.asarray(values), (x.ndim, 2)).astype(x.dtype)
    if not any(low or high for low, high in widths):
        return x
    if fills.size and (fills == fills.flat[0]).all():
        low, high = zip(*widths, strict=True)
        return x.recording.emit(Pad(low, high, (0,) * x.ndim, _number(fills.flat[0])), x)
    for k, pair in enumerate(widths):
        for side, width in enumerate(pair):
            ends = [[0] * x.ndim, [0] * x.ndim]
            ends[side][k] = width
            if width:
                op = Pad(tuple(ends[0]), tuple(ends[1]), (0,) * x.ndim, _number(fills[k, side]))
                x = x.recording.emit(op, x)
    return x


def _number(x: Any) -> float:
    """The value as a literal that is no bool."""
    return int(x) if x.dtype.kind in "biu" else float(x)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """`np.diff`: each element minus the one before it, n times; booleans by exclusive or."""
    if prepend is not None or append is not None or n < 0:
        raise refusals.unsupported("np.diff", "prepend= or append=", "Write np.concatenate first")
    axis = _axis(axis, a.ndim) if n else axis
    for _ in range(n):
        later, earlier = a[_along(axis, slice(1, None))], a[_along(axis, slice(None, -1))]
        a = later != earlier if a.dtype == np.bool_ else later - earlier
    return a


JOINING: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.concatenate: concatenate,
    np.stack: stack,
    np.vstack: _stacking(np.atleast_2d, lambda x: 0),
    np.hstack: _stacking(np.atleast_1d, lambda x: 0 if x.ndim == 1 else 1),
    np.dstack: _stacking(np.atleast_3d, lambda x: 2),
    np.column_stack: _stacking(_column, lambda x: 1),
    np.array_split: array_split,
    np.split: split,
    np.hsplit: _splitting(np.hsplit, lambda x: 1 if x.ndim > 1 else 0),
    np.vsplit: _splitting(np.vsplit, lambda x: 0),
    np.dsplit: _splitting(np.dsplit, lambda x: 2),
    np.tile: tile,
    np.repeat: repeat,
    np.roll: roll,
    np.pad: pad,
    np.diff: diff,
}
