"""The table of traced NumPy functions, and what runs when NumPy hands one to a tracer."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from saturate.tracing import refusals
from saturate.tracing.asking import ask_dtype
from saturate.tracing.contractions import CONTRACTIONS
from saturate.tracing.dispatch import as_numpy
from saturate.tracing.einsums import einsum
from saturate.tracing.emitting import cast, tracers
from saturate.tracing.indexing import INDEXING, getitem
from saturate.tracing.joining import JOINING, unstack
from saturate.tracing.linalg import LINALG
from saturate.tracing.reductions import REDUCTIONS
from saturate.tracing.selection import SELECTION
from saturate.tracing.site import public_name
from saturate.tracing.structure import STRUCTURE, astype
from saturate.tracing.tracer import Tracer

FUNCTIONS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    **REDUCTIONS,
    **STRUCTURE,
    **JOINING,
    **SELECTION,
    **INDEXING,
    **CONTRACTIONS,
    **LINALG,
    np.einsum: einsum,
}
_SINCE_2_1: Mapping[str, Callable[..., Any]] = {"astype": astype, "unstack": unstack}
_BY_UFUNC: Mapping[float, Callable[..., Any]] = {2: np.square, 0.5: np.sqrt, -1: np.reciprocal}


def call_function(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What NumPy hands to `__array_function__`, traced."""
    handler: Callable[..., Any] | None = FUNCTIONS.get(function)
    if handler is None and function is getattr(np, function.__name__, None):
        handler = _SINCE_2_1.get(function.__name__)
    if handler is None or not any(True for _ in tracers([list(args), dict(kwargs)])):
        raise refusals.unknown(public_name(function))
    return as_numpy(function, args, kwargs, handler)


def power(x: Tracer, exponent: Any) -> Any:
    """`x ** exponent` as arrays compute it: squares, roots and reciprocals by their own functions."""
    if isinstance(exponent, int | float) and not isinstance(exponent, bool) and exponent in _BY_UFUNC:
        expected = ask_dtype(operator.pow, x, exponent)
        by_root = exponent == 2 or expected.kind == "f"
        return _BY_UFUNC[exponent](cast(x, expected)) if by_root else np.power(x, exponent)
    return np.power(x, exponent)


def _raised(x: Tracer, exponent: Any) -> Any:
    return as_numpy(operator.pow, (x, exponent), {}, power)


def _converted(x: Tracer, *args: Any, **kwargs: Any) -> Any:
    return as_numpy(np.ndarray.astype, (x, *args), kwargs, astype)


METHODS: Mapping[str, Callable[..., Any]] = {"getitem": getitem, "pow": _raised, "astype": _converted}
