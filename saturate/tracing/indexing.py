"""Reading elements of tracers: basic slices, integer arrays, constant masks, take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from saturate.ops.indexing import Take
from saturate.ops.structure import Flip
from saturate.tracing import advice, refusals
from saturate.tracing.emitting import lift, no_out, operand, recording_of, reshape, sliced, transpose
from saturate.tracing.site import user_site
from saturate.tracing.tracer import Tracer

Item = tuple[str, Any]
"""One entry of an index, by kind: slice, int, array (of integers), new or ellipsis."""

_NO_AXIS = ("new", "ellipsis")
_DROPPED = ("int", "ellipsis")


def getitem(x: Tracer, index: Any) -> Any:
    """`x[index]` as NumPy answers, errors included; the result's shape must not depend on values."""
    entries = index if isinstance(index, tuple) else (index,)
    _refuse_data_dependent(entries)
    try:
        _check(x, entries)
    except (IndexError, TypeError, ValueError) as error:
        error.add_note(f"while tracing {user_site().where}")
        raise error.with_traceback(None) from None
    return _getitem(x, entries)


def _refuse_data_dependent(entries: tuple[Any, ...]) -> None:
    for entry in entries:
        if isinstance(entry, Tracer) and entry.dtype == np.bool_:
            raise refusals.refusal(
                "x[mask] with a traced mask", advice.DATA_DEPENDENT,
                "Write np.where(mask, x, 0), which keeps the shape (np.where(mask, x, -np.inf) before a max)",
            )  # fmt: skip
        ends = (entry.start, entry.stop, entry.step) if isinstance(entry, slice) else ()
        if any(isinstance(end, Tracer) for end in ends):
            raise refusals.refusal(
                "x[a:b] with a traced bound", advice.DATA_DEPENDENT,
                "Write np.where over np.arange for a window, or np.take with a traced start plus np.arange",
            )  # fmt: skip
        if isinstance(entry, bool | np.bool_):
            raise refusals.refusal(
                f"x[{entry}]",
                "a single boolean is a mask of no axes",
                "Write x[None] for a new axis, x[None][:0] for none",
            )


def _getitem(x: Tracer, entries: tuple[Any, ...]) -> Tracer:
    items = _items(x, entries)
    kept = _slices(x, [item for item in items if item[0] not in _NO_AXIS])
    sizes = iter(kept.shape)
    shape: list[int] = []
    for kind, _ in items:
        size = 1 if kind in _NO_AXIS else next(sizes)
        if kind not in _DROPPED:
            shape.append(size)
    return _gather(reshape(kept, shape), items)


def _check(x: Tracer, entries: tuple[Any, ...]) -> None:
    """Let NumPy refuse what it refuses; traced indices stand in as zeros."""
    hollow = np.broadcast_to(np.False_, x.shape)
    hollow[
        tuple(
            np.broadcast_to(np.zeros((), e.dtype), e.shape) if isinstance(e, Tracer) else e for e in entries
        )
    ]


def _items(x: Tracer, entries: tuple[Any, ...]) -> list[Item]:
    """The entries by kind; full slices stand after the ellipsis, or at the end."""
    found = [item for entry in entries for item in _kinds(entry)]
    axes = sum(kind not in _NO_AXIS for kind, _ in found)
    rest: list[Item] = [("slice", slice(None))] * (x.ndim - axes)
    places = [k for k, (kind, _) in enumerate(found) if kind == "ellipsis"]
    at = places[0] + 1 if places else len(found)
    return found[:at] + rest + found[at:]


def _kinds(entry: Any) -> list[Item]:
    if entry is None:
        return [("new", None)]
    if entry is Ellipsis:
        return [("ellipsis", None)]
    if isinstance(entry, slice):
        return [("slice", entry)]
    if isinstance(entry, Tracer):
        return [("array", entry)]
    array = np.asarray(entry)
    if array.size == 0 and isinstance(entry, list):
        array = array.astype(np.intp)
    if array.dtype == np.bool_:
        return [("array", where) for where in array.nonzero()]
    if array.ndim == 0:
        return [("int", int(array)) if array.dtype.kind in "iu" else ("array", array)]
    return [("array", array)]


def _slices(x: Tracer, items: list[Item]) -> Tracer:
    """The slices and single positions of an index, as one slice of positive steps and one flip."""
    spans: list[range] = []
    for (kind, value), size in zip(items, x.shape, strict=False):
        if kind == "slice":
            spans.append(range(*value.indices(size)))
        elif kind == "int":
            spans.append(range(value % max(size, 1), value % max(size, 1) + 1))
        else:
            spans.append(range(size))
    turned = tuple(k for k, span in enumerate(spans) if span.step < 0 and len(span) > 1)
    upward = [span if span.step > 0 else span[::-1] for span in spans]
    starts = [span.start if len(span) else 0 for span in upward]
    stops = [span[-1] + 1 if len(span) else 0 for span in upward]
    steps = [span.step if len(span) > 1 else 1 for span in upward]
    found = sliced(x, starts, stops, steps)
    return x.recording.emit(Flip(turned), found) if turned else found


def _gather(x: Tracer, items: list[Item]) -> Tracer:
    """The integer arrays of an index, applied to what slices left; NumPy's rule says where their axes go."""
    arrays = [value for kind, value in items if kind == "array"]
    if not arrays:
        return x
    advanced = [k for k, (kind, _) in enumerate(items) if kind in ("array", "int")]
    before = [sum(kind not in _DROPPED for kind, _ in items[:k]) for k in range(len(items))]
    axes = [before[k] for k, (kind, _) in enumerate(items) if kind == "array"]
    adjacent = advanced == list(range(advanced[0], advanced[-1] + 1))  # an ellipsis of no axes separates too
    target = before[advanced[0]] if adjacent else 0
    if len(arrays) == 1:
        taken = _take(x, arrays[0], axes[0])
        return _moved(taken, axes[0], target, np.ndim(arrays[0]))
    first = axes[0]
    others = [k for k in range(x.ndim) if k not in axes]
    order = others[:first] + axes + others[first:]
    sizes = [x.shape[k] for k in axes]
    rest = [x.shape[k] for k in others]
    merged = reshape(transpose(x, order), (*rest[:first], prod(sizes), *rest[first:]))
    flat = _flat_index(arrays, sizes)
    return _moved(_take(merged, flat, first), first, target, np.ndim(flat))


def _moved(x: Tracer, source: int, target: int, count: int) -> Tracer:
    """`count` axes moved from `source` on to `target` on."""
    block = list(range(source, source + count))
    others = [k for k in range(x.ndim) if k not in block]
    return transpose(x, others[:target] + block + others[target:])


def _flat_index(arrays: list[Any], sizes: list[int]) -> Any:
    """One row-major index for several; negative ones are counted from the end first."""
    flat: Any = 0
    for index, size in zip(arrays, sizes, strict=True):
        known = index if isinstance(index, Tracer) else np.asarray(index)
        wide = known.astype(np.intp)
        flat = flat * size + np.where(np.less(wide, 0), wide + size, wide)
    return flat


def _take(x: Tracer, indices: Any, axis: int) -> Tracer:
    return x.recording.emit(Take(axis), x, lift(x.recording, indices))


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`np.take`; the modes wrap and clip bring indices into range first."""
    no_out("np.take", out)
    x = a if axis is not None else reshape(a, (a.size,))
    axis = 0 if axis is None else np.lib.array_utils.normalize_axis_index(axis, x.ndim)
    known: Any = indices
    if not isinstance(indices, Tracer | np.ndarray | np.generic):
        known = np.asarray(indices).astype(np.intp)
    size = x.shape[axis]
    if mode in ("wrap", "clip") and size:
        known = np.remainder(known, size) if mode == "wrap" else np.clip(known, 0, size - 1)
    if not isinstance(known, Tracer):
        np.take(np.broadcast_to(np.False_, size if x.size else x.shape), known, axis if not x.size else 0)
        known = known.astype(np.intp)
    if known.dtype == np.bool_:
        known = known.astype(np.intp)
    return _take(x, known, axis)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """`np.take_along_axis`: an index for each axis, of which one is given."""
    recording = recording_of(arr, indices)
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return lift(recording, np.ravel(arr))[indices]
    axis = np.lib.array_utils.normalize_axis_index(axis, arr.ndim)
    if indices.ndim != arr.ndim or indices.dtype.kind not in "iu":
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    index: list[Any] = []
    for k, size in enumerate(arr.shape):
        shape = [1] * arr.ndim
        shape[k] = size
        index.append(indices if k == axis else np.arange(size).reshape(shape))
    return lift(recording, operand(arr, "np.take_along_axis"))[tuple(index)]


INDEXING: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.take: take,
    np.take_along_axis: take_along_axis,
}
