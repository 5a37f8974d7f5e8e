"""Choices, masks and generated arrays on tracers: where, clip, triangles, diagonals, the `*_like` family."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saturate.op import AnyArray
from saturate.ops.constants import Eye, Full
from saturate.ops.select import Where
from saturate.tracing import advice, refusals
from saturate.tracing.asking import ask_dtype, tiny
from saturate.tracing.emitting import broadcast, cast, lift, literal, no_out, operand, recording_of, shape_of
from saturate.tracing.tracer import Tracer

_LARGEST_LITERAL = 2**53


def where(condition: Any, *branches: Any) -> Tracer:
    """`np.where` of three arguments; scalars stay literals."""
    if not branches:
        raise refusals.refusal(
            "np.where(condition) without branches", advice.DATA_DEPENDENT, "Write np.where(condition, a, b)"
        )
    recording = recording_of(condition, branches)
    expected = ask_dtype(np.where, condition, *branches)
    branches = tuple(operand(b, "np.where") for b in branches)
    shape = np.broadcast_shapes(shape_of(operand(condition, "np.where")), *map(shape_of, branches))
    mask = broadcast(lift(recording, operand(condition, "np.where"), np.bool_), shape)
    literals = [literal(b, expected) for b in branches]
    if None not in literals:
        literals[0] = None if ask_dtype(np.where, True, *literals) != expected else literals[0]
    arrays = [
        broadcast(lift(recording, b, expected), shape)
        for b, known in zip(branches, literals, strict=True)
        if known is None
    ]
    return recording.emit(Where(*literals), mask, *arrays)


def clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **options: Any) -> Any:
    """`np.clip`: the maximum with the lower bound, then the minimum with the upper one."""
    no_out("np.clip", out)
    low, high = options.pop("min", a_min), options.pop("max", a_max)
    dtype = options.pop("dtype", None)
    if options:
        raise refusals.unsupported(
            "np.clip", f"{min(options)}=", "Write np.minimum(np.maximum(x, low), high)"
        )
    expected = ask_dtype(np.clip, a, low, high, **({} if dtype is None else {"dtype": dtype}))
    found = a.astype(expected) if isinstance(a, Tracer) else np.asarray(a, expected)
    for bound, function in ((low, np.maximum), (high, np.minimum)):
        if bound is not None and not _out_of_range(bound, expected):
            found = function(found, bound if isinstance(bound, Tracer) else _in_dtype(bound, expected))
    return found


def _in_dtype(bound: Any, dtype: np.dtype[Any]) -> Any:
    weak = isinstance(bound, int | float) and not isinstance(bound, np.generic)
    return bound if weak else np.asarray(bound).astype(dtype)


def _out_of_range(bound: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a Python integer lies beyond an integer dtype, so that as a bound it never matters."""
    if dtype.kind not in "iu" or not isinstance(bound, int) or isinstance(bound, np.generic):
        return False
    return not np.iinfo(dtype).min <= bound <= np.iinfo(dtype).max


def _below(m: Tracer, k: int) -> AnyArray:
    """Where the k-th diagonal of a matrix, or of the square of a vector, and what is below it stand."""
    return np.tri(m.shape[-2] if m.ndim > 1 else m.shape[0], m.shape[-1], k, bool)


def tril(m: Any, k: int = 0) -> Any:
    """`np.tril`: zeros above the k-th diagonal, by a constant mask."""
    return np.where(_below(m, k), m, np.zeros((), m.dtype))


def triu(m: Any, k: int = 0) -> Any:
    """`np.triu`: zeros below the k-th diagonal, by a constant mask."""
    return np.where(_below(m, k - 1), np.zeros((), m.dtype), m)


def diag(v: Any, k: int = 0) -> Any:
    """`np.diag`: the k-th diagonal of a matrix, or the matrix with the vector on it."""
    if v.ndim == 2:
        return np.diagonal(v, k)
    if v.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    size = v.shape[0]
    mask = cast(v.recording.emit(Eye(size, "bool")), np.bool_)
    placed = np.where(mask, v, np.zeros((), v.dtype))
    return np.pad(placed, ((max(-k, 0), max(k, 0)), (max(k, 0), max(-k, 0)))) if k else placed


def diagflat(v: Any, k: int = 0) -> Any:
    """`np.diagflat`: the raveled array on a diagonal."""
    return np.diag(np.ravel(v), k)


def _like(function: Callable[..., Any], fill: float) -> Callable[..., Any]:
    """The handler of `np.zeros_like` and its relatives."""

    def handler(
        a: Tracer,
        dtype: Any = None,
        order: str = "K",
        subok: bool = True,
        shape: Any = None,
        *,
        device: Any = None,
    ) -> Tracer:
        like = function(tiny(a), dtype=dtype)
        target = a.shape if shape is None else np.empty(shape, np.dtype("V0")).shape
        return cast(a.recording.emit(Full(fill, target, _held(like.dtype).name)), like.dtype)

    return handler


def _held(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype.kind not in "biuf":
        raise refusals.refusal(
            f"an array of dtype {dtype}",
            "programs hold booleans, integers and real floats",
            "Keep to these dtypes",
        )
    return dtype


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Tracer:  # fmt: skip
    """`np.full_like`: the fill value, converted to the dtype as by assignment."""
    recording = recording_of(a, fill_value)
    target = a.shape if shape is None else np.empty(shape, np.dtype("V0")).shape
    wanted = _held(np.dtype(a.dtype if dtype is None else dtype))
    if isinstance(fill_value, Tracer):
        return broadcast(
            cast(fill_value, wanted), np.broadcast_to(np.empty(fill_value.shape, "V0"), target).shape
        )
    fill = np.full_like(np.empty(np.shape(fill_value), wanted), fill_value)
    number = fill.item() if not fill.ndim else None
    if isinstance(number, float) or (isinstance(number, int) and abs(number) <= _LARGEST_LITERAL):
        return recording.emit(Full(int(number) if isinstance(number, bool) else number, target, wanted.name))
    return broadcast(lift(recording, fill), np.broadcast_to(fill, target).shape)


def round_(a: Tracer, decimals: int = 0, out: Any = None) -> Any:
    """`np.round`: by way of a power of ten where decimals are asked for."""
    no_out("np.round", out)
    if a.dtype.kind in "iu":
        if decimals < 0:
            raise refusals.unsupported(
                "np.round", "negative decimals of integers", "Write (x + 5) // 10 * 10"
            )
        return a
    if decimals == 0:
        return np.rint(a)
    scale = float(10 ** abs(decimals))
    return np.rint(a * scale) / scale if decimals > 0 else np.rint(a / scale) * scale


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`np.nan_to_num`: NaN and the infinities replaced by numbers."""
    if not copy:
        raise refusals.assignment("np.nan_to_num(copy=False)", "Leave copy=False away")
    if x.dtype.kind != "f":
        return x
    bounds = np.finfo(x.dtype)
    low = float(bounds.min) if neginf is None else neginf
    high = float(bounds.max) if posinf is None else posinf
    finite = np.where(np.isfinite(x), x, np.where(np.less(x, 0), low, high).astype(x.dtype))
    return np.where(np.isnan(x), nan, finite).astype(x.dtype)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`: nested choices, the first condition that holds wins."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    expected = np.result_type(*(x.dtype if isinstance(x, Tracer) else x for x in (*choicelist, default)))
    found: Any = default if isinstance(default, Tracer) else np.asarray(default, expected)
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        if condition.dtype != np.bool_:
            raise TypeError("invalid entry 0 in condlist: should be boolean ndarray")
        found = np.where(condition, choice, found)
    return np.astype(found, expected)


def isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Any:
    """`np.isclose`: |a − b| ≤ atol + rtol·|b| where b is finite, or a = b."""
    if not isinstance(b, Tracer):
        b = np.asarray(b)
    b = b if b.dtype.kind == "f" else np.add(b, 0.0)
    close = (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | np.equal(a, b)
    return close | (np.isnan(a) & np.isnan(b)) if equal_nan else close


SELECTION: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.where: where,
    np.clip: clip,
    np.tril: tril,
    np.triu: triu,
    np.diag: diag,
    np.diagflat: diagflat,
    np.zeros_like: _like(np.zeros_like, 0.0),
    np.empty_like: _like(np.empty_like, 0.0),
    np.ones_like: _like(np.ones_like, 1.0),
    np.full_like: full_like,
    np.round: round_,
    np.around: round_,
    np.fix: lambda x, out=None: np.trunc(x),
    np.nan_to_num: nan_to_num,
    np.select: select,
    np.isclose: isclose,
}
