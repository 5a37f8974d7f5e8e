"""Calls of ufuncs and of their reduce, accumulate and outer on tracers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from saturate.tracing import refusals
from saturate.tracing.asking import ask_dtype
from saturate.tracing.contractions import matmul, vecdot
from saturate.tracing.dispatch import as_numpy
from saturate.tracing.emitting import NOT_GIVEN, operand, shape_of
from saturate.tracing.site import home, public_name
from saturate.tracing.tracer import LONGEST_ITERATION, Recording, Tracer
from saturate.tracing.ufuncs import elementwise, is_traced

_REDUCTIONS: Mapping[str, Callable[..., Any]] = {
    "add": np.sum, "multiply": np.prod, "maximum": np.max, "minimum": np.min,
    "logical_and": np.all, "logical_or": np.any,
}  # fmt: skip
_ASSOCIATIVE = ("fmax", "fmin", "hypot", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor")
_CORE: Mapping[str, Callable[..., Any]] = {"matmul": matmul, "vecdot": vecdot}


def call_ufunc(
    recording: Recording, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """What NumPy hands to `__array_ufunc__`, traced."""
    name = public_name(ufunc)
    options = {key: value for key, value in kwargs.items() if key not in ("order", "subok")}
    if method == "__call__":
        return _call(recording, ufunc, inputs, options)
    if method == "outer":
        return as_numpy(ufunc.outer, inputs, options, partial(_outer, ufunc))
    if method == "reduce":
        return as_numpy(ufunc.reduce, inputs, options, partial(_reduce, ufunc))
    if method == "accumulate" and ufunc is np.add:
        return as_numpy(ufunc.accumulate, inputs, options, _accumulate)
    if method == "at":
        raise refusals.assignment(
            f"{name}.at",
            "Write a sum over one-hot rows: np.sum(np.where(i[:, None] == np.arange(n), x[:, None], 0), 0)",
        )
    raise refusals.refusal(
        f"{name}.{method}", "no op of a program does it", f"Write {name}.reduce over slices of x"
    )


def _call(recording: Recording, ufunc: np.ufunc, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    name = public_name(ufunc)
    if options.pop("where", True) is not True:
        raise refusals.unsupported(name, "where=", "Write np.where(condition, x, y) around the call")
    if ufunc.__name__ in _CORE and home(ufunc) == "np":
        return as_numpy(ufunc, inputs, options, _CORE[ufunc.__name__])
    extra = options.keys() - {"dtype", "casting"}
    if extra:
        raise refusals.unsupported(name, f"{min(extra)}=", f"Write {name}(x, …), with dtype= if need be")
    return elementwise(recording, ufunc, inputs, **options)


def _outer(ufunc: np.ufunc, a: Any, b: Any, **options: Any) -> Any:
    """Every pair: a gets an axis of size one for each axis of b."""
    name = public_name(ufunc)
    x, y = (x if isinstance(x, Tracer) else np.asarray(x) for x in (operand(a, name), operand(b, name)))
    return ufunc(np.reshape(x, x.shape + (1,) * len(shape_of(y))), y, **options)


def _accumulate(x: Any, axis: int = 0, dtype: Any = None) -> Any:
    return np.cumsum(x, axis=axis, dtype=dtype)


def _reduce(
    ufunc: np.ufunc, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = NOT_GIVEN, where: Any = True,
) -> Any:  # fmt: skip
    name = ufunc.__name__
    options = {} if initial is NOT_GIVEN else {"initial": initial}
    known = _REDUCTIONS.get(name) if home(ufunc) == "np" else None
    if known is not None and known in (np.max, np.min):
        x = x if dtype is None else x.astype(dtype)
        return known(x, axis=axis, keepdims=keepdims, where=where, **options)
    if known is not None and known in (np.all, np.any) and dtype is None and not options:
        return known(x, axis=axis, keepdims=keepdims, where=where)
    if known is not None and known in (np.sum, np.prod):
        return known(x, axis=axis, dtype=dtype, keepdims=keepdims, where=where, **options)
    if where is not True:
        raise refusals.unsupported(
            f"{public_name(ufunc)}.reduce", "where=", "Write np.where(condition, x, neutral)"
        )
    return _fold(ufunc, x, axis, dtype, keepdims, options)


def _fold(
    ufunc: np.ufunc, x: Tracer, axis: Any, dtype: Any, keepdims: bool, options: Mapping[str, Any]
) -> Any:
    """The reductions without an op of their own, one axis after another, as NumPy's dtypes and errors ask."""
    expected = ask_dtype(ufunc.reduce, x, axis=axis, dtype=dtype, keepdims=keepdims, **options)
    if not is_traced(ufunc):
        raise refusals.unknown(f"{public_name(ufunc)}.reduce")
    axes = range(x.ndim) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(axes, x.ndim)
    folded: Any = x.astype(expected)
    for k in sorted(axes, reverse=True):
        folded = _fold_axis(ufunc, np.moveaxis(folded, k, 0))
    if options:
        folded = ufunc(np.asarray(options["initial"], expected), folded)
    kept = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    return np.reshape(folded, kept) if keepdims else folded


def _fold_axis(ufunc: np.ufunc, x: Any) -> Any:
    """The first axis reduced: in closed form, by halves, or element by element."""
    size, name = len(x), ufunc.__name__
    if size == 0:
        shape = np.empty(x.shape, x.dtype)
        return x.recording.constant(ufunc.reduce(shape, axis=0))
    if name == "logaddexp":
        return _log_sum_exp(x)
    if name == "subtract":
        return x[0] - np.sum(x[1:], axis=0, dtype=x.dtype)
    if name in _ASSOCIATIVE:
        while len(x) > 1:
            half = len(x) // 2
            pairs = ufunc(x[:half], x[half : 2 * half])
            x = np.concatenate([pairs, x[2 * half :]]) if len(x) % 2 else pairs
        return x[0]
    if size > LONGEST_ITERATION:
        raise refusals.refusal(
            f"{public_name(ufunc)}.reduce over an axis of {size}",
            f"it would write out {size} steps one after another (up to {LONGEST_ITERATION} are)",
            "Write it by np.sum, np.prod, np.max or np.min",
        )
    folded = x[0]
    for k in range(1, size):
        folded = ufunc(folded, x[k])
    return folded


def _log_sum_exp(x: Any) -> Any:
    """log Σ exp x over the first axis, shifted by the largest element where that is finite."""
    top = np.max(x, axis=0)
    shift = np.where(np.isfinite(top), top, 0.0)
    return shift + np.log(np.sum(np.exp(x - shift), axis=0))
