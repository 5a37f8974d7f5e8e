"""NumPy's own answer about dtypes, axes and errors, from stand-ins that hold no data; it knows no op."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saturate.op import AnyArray
from saturate.tracing.site import user_site
from saturate.tracing.tracer import Tracer


def standin(x: Any) -> Any:
    """An array of the type of `x` that takes no memory; what is no array as it is."""
    return np.broadcast_to(np.ones((), x.dtype), x.shape) if isinstance(x, Tracer) else x


def tiny(x: Any) -> Any:
    """An array of the dtype and rank of `x` with at most one element; what is no array as it is."""
    if isinstance(x, Tracer) or (isinstance(x, np.ndarray) and x.ndim):
        return np.ones(tuple(min(n, 1) for n in x.shape), x.dtype)
    return x


def _each(change: Callable[[Any], Any], tree: Any) -> Any:
    if isinstance(tree, tuple | list):
        return type(tree)([_each(change, item) for item in tree])
    if isinstance(tree, dict):
        return {key: _each(change, item) for key, item in tree.items()}
    return change(tree)


def _quiet(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        return function(*args, **kwargs)


def ask(function: Callable[..., Any], *args: Any, **kwargs: Any) -> AnyArray:
    """What NumPy answers on tiny stand-ins: right in dtype and rank, and in errors about dtypes and axes."""
    return np.asarray(_quiet(function, _each(tiny, args), _each(tiny, kwargs)))


def ask_dtype(function: Callable[..., Any], *args: Any, **kwargs: Any) -> np.dtype[Any]:
    """The dtype that NumPy answers with."""
    return ask(function, *args, **kwargs).dtype


def numpy_error(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Exception | None:
    """The error that NumPy raises for these types, with a note that names the user's line; else None."""
    try:
        _quiet(function, _each(standin, args), _each(standin, dict(kwargs)))
    except Exception as error:  # whatever NumPy raises is the answer
        error.add_note(f"while tracing {user_site().where}")
        return error.with_traceback(None)
    return None
