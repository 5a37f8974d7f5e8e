"""Functions that convert, change or cut a traced array by its values; the message of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from refused_common import (
    ARGUMENT,
    CONST,
    CONVERTS,
    DTYPES,
    FIXED,
    KEEP,
    LONG,
    OBJECTS,
    PART,
    PLAIN,
    SHAPES,
    STACK,
)


def in_place(x: Any) -> Any:
    y = x * 2
    y += 1  # here
    return y


def in_place_slice(x: Any) -> Any:
    x[1:] *= 2  # here
    return x


def in_place_matmul(x: Any) -> Any:
    x @= np.eye(3)  # here
    return x


def in_place_captured(x: Any) -> Any:
    total = np.zeros(3)
    total += x  # here
    return total


def assignment(x: Any) -> Any:
    x[0] = 1.0  # here
    return x


def deletion(x: Any) -> Any:
    del x[0]  # here
    return x


def shape_assignment(x: Any) -> Any:
    x.shape = (1, 3)  # here
    return x


def store(x: Any) -> Any:
    out = np.zeros(3)
    out[0] = x[0]  # here
    return out


def store_slice(x: Any) -> Any:
    out = np.zeros(3)
    out[:] = x  # here
    return out


def store_in_objects(x: Any) -> Any:
    out = np.empty(2, dtype=object)
    out[0] = out[1] = x[0]
    return np.exp(out)  # here


def array_of_a_list(x: Any) -> Any:
    parts = [x[0], x[1]]
    return np.array(parts)  # here


def text(x: Any) -> Any:  # here
    return {"value": x, "name": "x"}


ARRAYS_REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    # arrays
    "iteration": (
        lambda x: sum(np.concatenate([x, LONG[3:]])),
        "iteration over an axis of 65 cannot be traced: it would write out the body 65 times (up to 64 "
        "are). Write "
        "it with whole arrays: np.sum, broadcasting, np.einsum.",
    ),
    "asarray": (
        lambda x: np.asarray(x),
        f"np.asarray(t) cannot be traced: {CONVERTS}. Use t as it is: it is an array already.",
    ),
    "array": (
        lambda x: np.array(x),
        f"np.array(t) cannot be traced: {CONVERTS}. Use t as it is: it is an array already.",
    ),
    "array of tracers": (
        lambda x: np.array([x[0], 1.0]),
        f"np.array([t, …]) cannot be traced: {CONVERTS}. {STACK}",
    ),
    "array of a list": (array_of_a_list, f"np.array([t, …]) cannot be traced: {CONVERTS}. {STACK}"),
    "reduce of a list": (
        lambda x: np.maximum.reduce([x, x + 1]),
        f"np.maximum.reduce([t, …]) cannot be traced: {CONVERTS}. {STACK}",
    ),
    "const index": (
        lambda x: CONST[x.astype(int)],
        "`CONST[x.astype(int)]` cannot be traced: a NumPy array cannot be indexed by a traced one. "
        f"{ARGUMENT}",
    ),
    "take": (
        lambda x: np.take(CONST, x.astype(int)),
        f"np.take(array, t) cannot be traced: NumPy does not hand it over to the index. {ARGUMENT}",
    ),
    "take method": (
        lambda x: CONST.take(x.astype(int)),
        f"np.ndarray.take(array, t) cannot be traced: NumPy does not hand it over to the index. {ARGUMENT}",
    ),
    "scalar type": (
        lambda x: np.float32(x),
        f"np.float32 cannot be traced: {CONVERTS}. Write t.astype(np.float32).",
    ),
    "full": (
        lambda x: np.full(3, x[0]),
        "np.full cannot be traced: it fills an array with values. Write np.broadcast_to(t, shape).",
    ),
    "random": (
        lambda x: np.random.normal(x),
        f"np.random.normal cannot be traced: {CONVERTS}. {PLAIN}",
    ),
    "strides": (
        lambda x: x.strides,
        "x.strides cannot be traced: a traced array has no memory. Use x.shape, x.dtype and x.reshape.",
    ),
    # dtypes
    "object array": (
        lambda x: OBJECTS + x,
        f"np.add with an object array (dtype object) cannot be traced: {DTYPES}. Convert it to one of "
        "these dtypes.",
    ),
    "object dtype": (
        lambda x: x.astype(object),
        f"conversion to object cannot be traced: {DTYPES}. Keep to these dtypes.",
    ),
    "object list": (
        lambda x: np.array([x, x], dtype=object),
        f"np.array([t, …]) cannot be traced: {CONVERTS}. {STACK}",
    ),
    "objects stored": (
        store_in_objects,
        "np.exp cannot be traced: on a traced array it fails (loop of ufunc does not support argument 0 "
        "of type "
        f"Tracer which has no callable exp method). {PLAIN}",
    ),
    "none": (
        lambda x: x == None,  # noqa: E711
        "np.equal with None cannot be traced: None is no array. Write `x is None` to ask for it.",
    ),
    "complex array": (
        lambda x: x * 1j,
        f"np.multiply with a complex array cannot be traced: {DTYPES}. Convert it to one of these dtypes.",
    ),
    "masked array": (
        lambda x: np.ma.masked_greater(CONST[:3], 1.0) * x,
        "a masked array cannot be traced: programs hold plain arrays. Write np.where(mask, a, b).",
    ),
    "matrix": (
        lambda x: np.multiply(x, np.matrix([1.0, 2.0, 3.0])),
        "np.multiply of a matrix cannot be traced: programs hold plain arrays. Write np.asarray(x), and "
        "np.where for "
        "a mask.",
    ),
    "text": (
        text,
        "text with a str in its result cannot be traced: programs return arrays. Return arrays, or dicts, "
        "lists and "
        "tuples of them.",
    ),
    # assignment
    "in place": (in_place, f"`x += y` in place cannot be traced: {FIXED}. Write x = x + y {PART}"),
    "in place, a slice": (
        in_place_slice,
        f"`x *= y` in place cannot be traced: {FIXED}. Write x = x * y {PART}",
    ),
    "in place, matmul": (
        in_place_matmul,
        f"`x @= y` in place cannot be traced: {FIXED}. Write x = x @ y {PART}",
    ),
    "in place, captured": (
        in_place_captured,
        f"`x += y` in place cannot be traced: {FIXED}. Write x = x + y {PART}",
    ),
    "assignment": (
        assignment,
        f"x[…] = value cannot be traced: {FIXED}. Write y = np.where(condition, value, x), or "
        "np.concatenate over "
        "parts.",
    ),
    "deletion": (
        deletion,
        f"del x[…] cannot be traced: {FIXED}. Write np.concatenate over the parts that stay.",
    ),
    "shape": (
        shape_assignment,
        f"x.shape = value cannot be traced: {FIXED}. Write x.reshape(…) for a shape, x.astype(…) for a "
        "dtype.",
    ),
    "fill": (
        lambda x: x.fill(3),
        f"x.fill cannot be traced: {FIXED}. Write np.full_like, np.where or np.reshape.",
    ),
    "store": (
        store,
        "assignment of a traced value to `out[0]` cannot be traced: a NumPy array holds values, and a "
        "traced array "
        f"has none yet. {STACK}",
    ),
    "store slice": (
        store_slice,
        "assignment of a traced value to `out[:]` cannot be traced: a NumPy array holds values, and a "
        "traced array "
        f"has none yet. {STACK}",
    ),
    "out": (
        lambda x: np.exp(x, out=np.empty(3)),
        f"np.exp with out= cannot be traced: {FIXED}. Write y = np.exp(…).",
    ),
    "out of a sum": (
        lambda x: np.sum(x, out=np.empty(())),
        f"np.sum with out= cannot be traced: {FIXED}. Write y = np.sum(…).",
    ),
    "out is the input": (
        lambda x: np.add(x, 1, out=x),
        f"np.add with out= cannot be traced: {FIXED}. Write y = np.add(…).",
    ),
    "at": (
        lambda x: np.add.at(CONST, [0, 1, 2], x),
        f"np.add.at cannot be traced: {FIXED}. Write a sum over one-hot rows: np.sum(np.where(i[:, None] "
        "== "
        "np.arange(n), x[:, None], 0), 0).",
    ),
    "copyto": (
        lambda x: np.copyto(x, 1.0),
        "np.copyto cannot be traced: it assigns in place, and values of a program never change. Write y = "
        "np.where(condition, new, x).",
    ),
    # shapes that depend on values
    "mask": (
        lambda x: x[x > 0],
        f"x[mask] with a traced mask cannot be traced: {SHAPES}. Write np.where(mask, x, 0), which keeps "
        "the shape "
        "(np.where(mask, x, -np.inf) before a max).",
    ),
    "len of a mask": (
        lambda x: x / len(x[x > 0]),
        f"x[mask] with a traced mask cannot be traced: {SHAPES}. Write np.where(mask, x, 0), which keeps "
        "the shape "
        "(np.where(mask, x, -np.inf) before a max).",
    ),
    "slice": (
        lambda x: x[: x[0].astype(int)],
        f"x[a:b] with a traced bound cannot be traced: {SHAPES}. Write np.where over np.arange for a "
        "window, or "
        "np.take with a traced start plus np.arange.",
    ),
    "nonzero": (lambda x: np.nonzero(x), f"np.nonzero cannot be traced: {SHAPES}. {KEEP}"),
    "len of nonzero": (
        lambda x: len(np.flatnonzero(x > 0)),
        f"np.flatnonzero cannot be traced: {SHAPES}. {KEEP}",
    ),
    "unique": (lambda x: np.unique(x), f"np.unique cannot be traced: {SHAPES}. {KEEP}"),
    "where": (
        lambda x: np.where(x > 0),
        f"np.where(condition) without branches cannot be traced: {SHAPES}. Write np.where(condition, a, b).",
    ),
    "repeat": (
        lambda x: np.repeat(x, x.astype(int)),
        f"np.repeat by a traced count cannot be traced: {SHAPES}. Use counts that are known.",
    ),
    "boolean": (
        lambda x: x[True],
        "x[True] cannot be traced: a single boolean is a mask of no axes. Write x[None] for a new axis, "
        "x[None][:0] "
        "for none.",
    ),
    # functions without an op
    "sort": (
        lambda x: np.sort(x),
        "np.sort cannot be traced: no op of a program sorts. Sort before the traced function and pass the "
        "result, or "
        "the order for np.take, as an argument.",
    ),
    "sort method": (
        lambda x: x.sort(),
        "x.sort cannot be traced: no op of a program sorts. Sort before the traced function and pass the "
        "result, or "
        "the order for np.take, as an argument.",
    ),
    "inv": (
        lambda x: np.linalg.inv(np.outer(x, x)),
        "np.linalg.inv cannot be traced: no op of a program factorises or solves. Compute it before the "
        "traced "
        "function and pass the result as an argument.",
    ),
    "norm": (
        lambda x: np.linalg.norm(np.outer(x, x), 2),
        "np.linalg.norm with ord=2 of a matrix cannot be traced: no op of a program has it. Norms by "
        "singular values "
        "are not traced; write np.linalg.norm(x) for the Frobenius norm.",
    ),
    "fft": (
        lambda x: np.fft.fft(x),
        f"np.fft.fft cannot be traced: it is not among the traced functions. {PLAIN}",
    ),
    "accumulate": (
        lambda x: np.maximum.accumulate(x),
        "np.maximum.accumulate cannot be traced: no op of a program does it. Write np.maximum.reduce over "
        "slices of "
        "x.",
    ),
    "where=": (
        lambda x: np.exp(x, where=x > 0),
        "np.exp with where= cannot be traced: no op of a program has it. Write np.where(condition, x, y) "
        "around the "
        "call.",
    ),
    "order": (
        lambda x: np.ravel(x, order="K"),
        "np.ravel with order='K' cannot be traced: no op of a program has it. A traced array has no "
        "memory order; "
        "write order='C'.",
    ),
    "pad": (
        lambda x: np.pad(x, 1, mode="mean"),
        "np.pad with mode='mean' cannot be traced: no op of a program has it. Write np.concatenate with "
        "the borders.",
    ),
}
