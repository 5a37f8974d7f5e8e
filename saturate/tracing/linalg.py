"""Norms and products of matrices on tracers, composed of traced functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saturate.tracing import refusals

_SINGULAR = "Norms by singular values are not traced; write np.linalg.norm(x) for the Frobenius norm"


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`: of vectors for every order, of matrices for those without singular values."""
    np.linalg.norm(np.ones(tuple(min(n, 1) for n in x.shape)), ord, axis, keepdims)
    x = x if x.dtype.kind == "f" else x.astype(float)
    if axis is None and ord is None:
        axes: tuple[int, ...] = tuple(range(x.ndim))
    elif axis is None:
        axes = tuple(range(x.ndim))[-2:]
    else:
        axes = np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    if len(axes) == 2 and ord is not None:
        return _matrix_norm(x, ord, axes, keepdims)
    return _vector_norm(x, ord, axes, keepdims)


def _vector_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if order is None or order == 2:
        return np.sqrt(np.sum(np.square(x), axis=axes, keepdims=keepdims))
    if order in (np.inf, -np.inf):
        return (np.max if order > 0 else np.min)(np.abs(x), axis=axes, keepdims=keepdims)
    if order == 0:
        return np.sum(np.not_equal(x, 0).astype(x.dtype), axis=axes, keepdims=keepdims)
    sizes = np.abs(x)
    if order == 1:
        return np.sum(sizes, axis=axes, keepdims=keepdims)
    return np.power(np.sum(np.power(sizes, float(order)), axis=axes, keepdims=keepdims), 1.0 / float(order))


def _matrix_norm(x: Any, order: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    row, column = axes
    if order in ("fro", "f"):
        return np.sqrt(np.sum(np.square(x), axis=axes, keepdims=keepdims))
    if order not in (1, -1, np.inf, -np.inf):
        raise refusals.unsupported("np.linalg.norm", f"ord={order!r} of a matrix", _SINGULAR)
    summed, other = (row, column) if abs(order) == 1 else (column, row)
    sums = np.sum(np.abs(x), axis=summed, keepdims=True)
    found = (np.max if order > 0 else np.min)(sums, axis=other, keepdims=True)
    return found if keepdims else np.squeeze(found, axes)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`: of the raveled array where no axis is given."""
    if axis is None:
        flat = np.linalg.norm(np.ravel(x), ord)
        return np.reshape(flat, (1,) * x.ndim) if keepdims else flat
    axes = np.lib.array_utils.normalize_axis_tuple(axis, x.ndim)
    return _vector_norm(x if x.dtype.kind == "f" else x.astype(float), ord, axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`: over the last two axes."""
    return np.linalg.norm(x, ord, (-2, -1), keepdims)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    """`np.linalg.multi_dot`: from left to right; the cheapest order is the optimizer's to find."""
    if out is not None:
        raise refusals.out_argument("np.linalg.multi_dot")
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    found = arrays[0]
    for factor in arrays[1:]:
        found = np.dot(found, factor)
    return found


def matrix_power(a: Any, n: int) -> Any:
    """`np.linalg.matrix_power` for n ≥ 1, by squaring."""
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError("matrix_power of no square matrix")
    if n < 1:
        raise refusals.unsupported("np.linalg.matrix_power", f"n={n}", "Powers from 1 on are traced")
    found: Any = None
    while n:
        if n % 2:
            found = a if found is None else np.matmul(found, a)
        n //= 2
        a = np.matmul(a, a) if n else a
    return found


LINALG: Mapping[Callable[..., Any], Callable[..., Any]] = {
    np.linalg.norm: norm,
    np.linalg.vector_norm: vector_norm,
    np.linalg.matrix_norm: matrix_norm,
    np.linalg.multi_dot: multi_dot,
    np.linalg.matrix_power: matrix_power,
}
