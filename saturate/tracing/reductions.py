"""Sums, means, extremes and their relatives on tracers; what NumPy composes is composed here in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod as product
from typing import Any

import numpy as np

from saturate.op import Op
from saturate.ops.constants import Full
from saturate.ops.reduction import Argmax, Argmin, Cumsum, Max, Mean, Min, Prod, Sum
from saturate.tracing import refusals
from saturate.tracing.asking import ask, ask_dtype
from saturate.tracing.emitting import NOT_GIVEN, broadcast, cast, lift, no_out, operand, recording_of, reshape
from saturate.tracing.tracer import Tracer


def _axes(x: Tracer, axis: Any) -> tuple[int, ...]:
    """The axes to reduce, sorted; NumPy lets scalars pass with axis 0."""
    if axis is None or not x.ndim:
        return tuple(range(x.ndim))
    return tuple(sorted(np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)))


def _count(x: Tracer, axis: Any) -> int:
    return product(x.shape[k] for k in _axes(x, axis))


def _reduced_shape(x: Tracer, axis: Any, keepdims: bool) -> tuple[int, ...]:
    axes = _axes(x, axis)
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    return kept if keepdims else tuple(n for k, n in enumerate(kept) if k not in axes)


def _truth(x: Any) -> Any:
    return cast(x, np.bool_) if isinstance(x, Tracer) else np.asarray(x, np.bool_)


def _reduced(op: Callable[[tuple[int, ...], bool], Op], x: Tracer, axis: Any, keepdims: Any) -> Tracer:
    axes = _axes(x, axis)
    return x.recording.emit(op(axes, bool(keepdims)), x) if axes else x


def _kept(keepdims: Any) -> bool:
    return keepdims is not NOT_GIVEN and bool(keepdims)


def _options(**given: Any) -> dict[str, Any]:
    return {name: value for name, value in given.items() if value is not NOT_GIVEN}


def _masked(x: Any, where: Any, neutral: Any) -> Any:
    """`x` with the elements that do not count replaced by what changes nothing."""
    if where is NOT_GIVEN or where is True:
        return x
    return np.where(where, x, neutral)


def _accumulating(
    function: Callable[..., Any],
    op: Callable[[tuple[int, ...], bool], Op],
    combine: Callable[..., Any],
    neutral: int,
) -> Callable[..., Any]:
    """The handler of `np.sum` or `np.prod`."""

    def handler(
        a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN,
        initial: Any = NOT_GIVEN, where: Any = NOT_GIVEN,
    ) -> Any:  # fmt: skip
        no_out(f"np.{function.__name__}", out)
        x = _as_tracer(_masked(a, where, neutral), a, where)
        expected = ask_dtype(
            function, x, axis=axis, dtype=dtype, **_options(keepdims=keepdims, initial=initial)
        )
        found = cast(_reduced(op, cast(x, expected), axis, _kept(keepdims)), expected)
        return found if initial is NOT_GIVEN else combine(found, np.asarray(initial).astype(expected))

    return handler


def _as_tracer(x: Any, *context: Any) -> Tracer:
    return lift(recording_of(x, *context), operand(x, "a reduction"))


def _extreme(
    function: Callable[..., Any], op: Callable[[tuple[int, ...], bool], Op], combine: Callable[..., Any]
) -> Callable[..., Any]:
    """The handler of `np.max` or `np.min`."""

    def handler(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, initial: Any = NOT_GIVEN,
        where: Any = NOT_GIVEN,
    ) -> Any:  # fmt: skip
        no_out(f"np.{function.__name__}", out)
        options = _options(initial=initial, where=where)
        x = _as_tracer(a, where, initial)
        expected = ask(function, x, axis=axis, keepdims=_kept(keepdims), **options)
        if initial is NOT_GIVEN:
            return _reduced(op, x, axis, _kept(keepdims))
        start = lift(x.recording, operand(initial, function.__name__), expected.dtype)
        if _count(x, axis) == 0:
            return broadcast(start, _reduced_shape(x, axis, _kept(keepdims)))
        x = cast(_masked(x, where, start), expected.dtype)
        return combine(_reduced(op, x, axis, _kept(keepdims)), start)

    return handler


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: Any = NOT_GIVEN,
    *,
    where: Any = NOT_GIVEN,
) -> Any:
    """`np.mean`: one op where NumPy sums in the dtype of its answer, else the sum divided by the count."""
    no_out("np.mean", out)
    x = _as_tracer(a, where)
    kept = _kept(keepdims)
    expected = ask_dtype(np.mean, x, axis=axis, dtype=dtype, keepdims=kept)
    if where is not NOT_GIVEN and where is not True:
        counted = np.sum(np.broadcast_to(where, x.shape), axis=axis, keepdims=kept)
        return np.astype(
            np.sum(_masked(x, where, 0), axis=axis, dtype=dtype or expected, keepdims=kept) / counted,
            expected,
        )
    if dtype is not None and (expected.kind != "f" or expected == np.float16):
        return (np.sum(x, axis=axis, dtype=dtype, keepdims=kept) / _count(x, axis)).astype(expected)
    return _reduced(Mean, cast(x, expected), axis, kept)


def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = NOT_GIVEN, *,
    where: Any = NOT_GIVEN, mean: Any = NOT_GIVEN, correction: Any = NOT_GIVEN,
) -> Any:  # fmt: skip
    """`np.var`: the mean of the squares of what is left after the mean is taken off."""
    no_out("np.var", out)
    if where is not NOT_GIVEN and where is not True:
        raise refusals.unsupported(
            "np.var", "where=", "Write it with np.sum(np.where(where, x, 0)) and the count"
        )
    ddof = ddof if correction is NOT_GIVEN else correction
    x = _as_tracer(a, mean)
    kept = _kept(keepdims)
    expected = ask_dtype(np.var, x, axis=axis, dtype=dtype, ddof=ddof, keepdims=kept)
    if expected.kind != "f":
        raise refusals.unsupported("np.var", f"dtype={expected}", "Write it with a floating dtype")
    working = expected if dtype is not None or x.dtype.kind != "f" else x.dtype
    count, plain = _count(x, axis), dtype is None and working != np.float16
    if mean is NOT_GIVEN:
        total: Any = np.sum(x, axis=axis, dtype=working, keepdims=True)
        mean = np.mean(x, axis=axis, keepdims=True) if plain else total / count
    squares = np.square(x - mean)
    if plain and ddof == 0:
        return np.mean(squares, axis=axis, keepdims=kept)
    return np.sum(squares, axis=axis, dtype=working, keepdims=kept) / max(count - ddof, 0)


def std(a: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.std`: the square root of the variance."""
    if len(args) > 2 or kwargs.get("out") is not None:
        no_out("np.std", kwargs.get("out", args[2] if len(args) > 2 else None))
    return np.sqrt(np.var(a, *args, **kwargs))


def _position(function: Callable[..., Any], op: Callable[[int, bool], Op]) -> Callable[..., Any]:
    """The handler of `np.argmax` or `np.argmin`."""

    def handler(a: Tracer, axis: Any = None, out: Any = None, *, keepdims: Any = NOT_GIVEN) -> Any:
        no_out(f"np.{function.__name__}", out)
        ask(function, a, axis=axis, keepdims=_kept(keepdims))
        if axis is not None and a.ndim:
            return a.recording.emit(op(_axes(a, axis)[0], _kept(keepdims)), a)
        found = a.recording.emit(op(0, False), reshape(a, (a.size,)))
        return reshape(found, (1,) * a.ndim) if _kept(keepdims) else found

    return handler


def cumsum(a: Tracer, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.cumsum`: over the raveled array where no axis is given."""
    no_out("np.cumsum", out)
    expected = ask_dtype(np.cumsum, a, axis=axis, dtype=dtype)
    x = reshape(a, (a.size,)) if axis is None or not a.ndim else a
    along = 0 if axis is None or not a.ndim else _axes(a, axis)[0]
    return cast(a.recording.emit(Cumsum(along), cast(x, expected)), expected)


def _quantifier(
    function: Callable[..., Any], extreme: Callable[..., Any], over_none: bool
) -> Callable[..., Any]:
    """The handler of `np.any` or `np.all`: the largest or smallest of booleans."""

    def handler(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN, *, where: Any = NOT_GIVEN
    ) -> Any:
        no_out(f"np.{function.__name__}", out)
        x = _as_tracer(_masked(_truth(a), where, over_none), a, where)
        ask(function, x, axis=axis, keepdims=_kept(keepdims))
        if _count(x, axis):
            return extreme(x, axis=axis, keepdims=_kept(keepdims))
        return x.recording.emit(Full(float(over_none), _reduced_shape(x, axis, _kept(keepdims)), "bool"))

    return handler


def ptp(a: Tracer, axis: Any = None, out: Any = None, keepdims: Any = NOT_GIVEN) -> Any:
    """`np.ptp`: the largest element minus the smallest."""
    no_out("np.ptp", out)
    kept = _kept(keepdims)
    return np.max(a, axis=axis, keepdims=kept) - np.min(a, axis=axis, keepdims=kept)


def count_nonzero(a: Tracer, axis: Any = None, *, keepdims: bool = False) -> Any:
    """`np.count_nonzero`: the sum of a mask."""
    return np.sum(np.not_equal(a, 0), axis=axis, dtype=np.intp, keepdims=keepdims)


REDUCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.sum: _accumulating(np.sum, Sum, np.add, 0),
    np.prod: _accumulating(np.prod, Prod, np.multiply, 1),
    np.max: _extreme(np.max, Max, np.maximum),
    np.min: _extreme(np.min, Min, np.minimum),
    np.amax: _extreme(np.max, Max, np.maximum),
    np.amin: _extreme(np.min, Min, np.minimum),
    np.mean: mean,
    np.var: var,
    np.std: std,
    np.argmax: _position(np.argmax, Argmax),
    np.argmin: _position(np.argmin, Argmin),
    np.cumsum: cumsum,
    np.any: _quantifier(np.any, np.max, False),
    np.all: _quantifier(np.all, np.min, True),
    np.ptp: ptp,
    np.count_nonzero: count_nonzero,
}
