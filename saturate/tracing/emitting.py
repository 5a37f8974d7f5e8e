"""From operands as the user gave them to tracers of one dtype and shape; nothing is emitted in vain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from saturate.op import AnyArray, Scalar
from saturate.ops.structure import Broadcast, Reshape, Slice, Transpose
from saturate.ops.unary import Cast
from saturate.tracing import refusals
from saturate.tracing.tracer import Recording, Tracer

NOT_GIVEN: Any = object()
"""The default of arguments for which NumPy tells apart whether they were given."""

Operand = Tracer | AnyArray | Scalar
"""A traced array; an array or NumPy scalar, strong; or a Python scalar, weak in promotion."""


def tracers(tree: Any) -> Iterator[Tracer]:
    """The tracers in nested lists, tuples and dicts."""
    if isinstance(tree, Tracer):
        yield tree
    elif isinstance(tree, tuple | list):
        for item in tree:
            yield from tracers(item)
    elif isinstance(tree, dict):
        yield from tracers(list(tree.values()))


def recording_of(*args: Any) -> Recording:
    """The trace that the arguments belong to."""
    return next(tracers(args)).recording


def operand(x: Any, who: str) -> Operand:
    """`x` as an operand: lists become arrays; raises `TraceError` for what programs cannot hold."""
    if isinstance(x, Tracer):
        return x
    if isinstance(x, bool | int | float) and not isinstance(x, np.generic):
        return x
    if isinstance(x, np.ma.MaskedArray | np.matrix):
        raise refusals.refusal(
            f"{who} of a {type(x).__name__}",
            "programs hold plain arrays",
            "Write np.asarray(x), and np.where for a mask",
        )
    if x is None:
        raise refusals.refusal(f"{who} with None", "None is no array", "Write `x is None` to ask for it")
    array = np.asarray(x)
    if array.dtype.kind not in "biuf":
        kind = {"O": f"an object array ({_type_name(x)})", "c": "a complex array"}.get(array.dtype.kind)
        raise refusals.refusal(
            f"{who} with {kind or f'an array of dtype {array.dtype}'}",
            "programs hold booleans, integers and real floats", "Convert it to one of these dtypes",
        )  # fmt: skip
    return array


def _type_name(x: Any) -> str:
    return "dtype object" if isinstance(x, np.ndarray) else type(x).__name__


def dtype_of(x: Operand) -> Any:
    """What NumPy's promotion sees: a dtype, or the Python type of a weak scalar."""
    if isinstance(x, Tracer | np.ndarray):
        return x.dtype
    return np.dtype(bool) if isinstance(x, bool) else type(x)


def shape_of(x: Operand) -> tuple[int, ...]:
    """Shape; () for scalars."""
    return x.shape if isinstance(x, Tracer | np.ndarray) else ()


def literal(x: Operand, dtype: Any) -> Scalar | None:
    """The scalar as an attribute of an op whose other operand has `dtype`; None where `x` is none."""
    if isinstance(x, Tracer) or shape_of(x) != ():
        return None
    if isinstance(x, np.ndarray):
        x = x.astype(dtype).item()
    elif isinstance(x, bool) and np.dtype(dtype).kind != "b":
        x = int(x)
    return x if isinstance(x, bool | int | float) and type(x) in (bool, int, float) else None


def lift(recording: Recording, x: Operand, dtype: npt.DTypeLike | None = None) -> Tracer:
    """The operand as a traced array, of `dtype` where one is given."""
    if isinstance(x, Tracer):
        return x if dtype is None else cast(x, dtype)
    array = np.asarray(x)
    return recording.constant(array if dtype is None else array.astype(dtype))


def cast(x: Tracer, dtype: npt.DTypeLike) -> Tracer:
    """`x` converted to a dtype that programs can hold."""
    target = np.dtype(dtype)
    if target == x.dtype:
        return x
    if target.kind not in "biuf":
        raise refusals.refusal(
            f"conversion to {target.name}",
            "programs hold booleans, integers and real floats",
            "Keep to these dtypes",
        )
    return x.recording.emit(Cast(target.name), x)


def broadcast(x: Tracer, shape: Iterable[int]) -> Tracer:
    """`x` repeated to `shape`."""
    target = tuple(shape)
    return x if target == x.shape else x.recording.emit(Broadcast(target), x)


def reshape(x: Tracer, shape: Iterable[int]) -> Tracer:
    """The elements of `x` in row-major order under another shape."""
    target = tuple(shape)
    return x if target == x.shape else x.recording.emit(Reshape(target), x)


def transpose(x: Tracer, permutation: Iterable[int]) -> Tracer:
    """The axes of `x` in another order."""
    order = tuple(permutation)
    return x if order == tuple(range(x.ndim)) else x.recording.emit(Transpose(order), x)


def sliced(x: Tracer, starts: Iterable[int], stops: Iterable[int], steps: Iterable[int]) -> Tracer:
    """A basic slice that keeps every axis."""
    parts = (tuple(starts), tuple(stops), tuple(steps))
    whole = parts == ((0,) * x.ndim, x.shape, (1,) * x.ndim)
    return x if whole else x.recording.emit(Slice(*parts), x)


def no_out(who: str, out: Any) -> None:
    """Raise `TraceError` where an output array is given."""
    if out is not None:
        raise refusals.out_argument(who)
