"""Functions that ask a traced array for its values, or hand it to other libraries; the message of each."""

from __future__ import annotations

import functools
import math
import operator
import statistics
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
import scipy.special
from refused_common import BRANCH, CONVERTS, LIST, PLAIN, SCALAR, VALUES, VECTORIZED
from scipy.special import softmax

ASSERTED = " in `(x > 0).all()`" if sys.version_info >= (3, 12) else ""
"""Before Python 3.12 an assertion has no place of its own in the bytecode."""


def branch(x: Any) -> Any:
    if x.sum() > 0:  # here
        return x
    return -x


def loop(x: Any) -> Any:
    while x[0] < 3:  # here
        x = x + 1
    return x


def assertion(x: Any) -> Any:
    assert (x > 0).all()  # here
    return x


def helper(x: Any) -> Any:
    return math.sqrt(x[0])  # here


@functools.lru_cache
def cached(x: Any) -> Any:
    return x


VALUES_REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    # values
    "if": (branch, f"bool(t) in `x.sum() > 0` cannot be traced: {VALUES}. {BRANCH}"),
    "while": (loop, f"bool(t) in `x[0] < 3` cannot be traced: {VALUES}. {BRANCH}"),
    "assert": (assertion, f"bool(t){ASSERTED} cannot be traced: {VALUES}. {BRANCH}"),
    "bool": (lambda x: bool(x[0]), f"bool(t) in `bool(x[0])` cannot be traced: {VALUES}. {BRANCH}"),
    "and": (lambda x: x > 0 and x < 1, f"bool(t) in `x > 0 and x < 1` cannot be traced: {VALUES}. {BRANCH}"),
    "chain": (lambda x: 0 < x < 1, f"bool(t) in `0 < x < 1` cannot be traced: {VALUES}. {BRANCH}"),
    "not": (lambda x: not x[0], f"bool(t) in `not x[0]` cannot be traced: {VALUES}. {BRANCH}"),
    "max": (
        lambda x: max(x[0], 0.0),
        f"max(…) cannot be traced: it asks for the truth of a traced array, and {VALUES}. Write "
        "np.maximum(…).",
    ),
    "any": (
        lambda x: any(x > 0),
        f"any(…) cannot be traced: it asks for the truth of a traced array, and {VALUES}. Write np.any(…).",
    ),
    "sorted": (
        lambda x: sorted(x),
        "sorted cannot be traced: no op of a program sorts. Sort before the traced function and pass the "
        "result, "
        "or the order for np.take, as an argument.",
    ),
    "float": (lambda x: float(x[0]), f"float(t) in `float(x[0])` cannot be traced: {VALUES}. {SCALAR}"),
    "int": (lambda x: int(x[0]), f"int(t) in `int(x[0])` cannot be traced: {VALUES}. {SCALAR}"),
    "complex": (
        lambda x: complex(x[0]),
        f"complex(t) in `complex(x[0])` cannot be traced: {VALUES}. {SCALAR}",
    ),
    "round": (
        lambda x: round(x[0]),
        "round(t) cannot be traced: it answers with a Python number. Write np.round(t).",
    ),
    "item": (
        lambda x: x[0].item(),
        f"x.item cannot be traced: {VALUES}. Keep it an array: arrays of shape () take part in arithmetic.",
    ),
    "tolist": (
        lambda x: x.tolist(),
        f"x.tolist cannot be traced: {VALUES}. Keep it an array: arrays of shape () take part in arithmetic.",
    ),
    "range": (
        lambda x: list(range(x[0])),
        f"range(t) cannot be traced: it needs a Python integer, and {VALUES}. Take sizes and bounds from "
        "x.shape.",
    ),
    "zeros": (
        lambda x: np.zeros(x[0]),
        f"np.zeros(t) cannot be traced: it needs a Python integer, and {VALUES}. Take sizes and bounds "
        "from x.shape.",
    ),
    "hash": (
        lambda x: cached(x),
        f"hash(t) cannot be traced: {VALUES}. Use a string as the key, and pass no arrays to "
        "functools.lru_cache.",
    ),
    "in": (
        lambda x: 3.0 in x,
        f"`in` on a traced array cannot be traced: {VALUES}. Write np.any(x == value).",
    ),
    "format": (
        lambda x: f"{x[0]:.3f}",
        f"formatting by '.3f' cannot be traced: {VALUES}. Format without a width or precision shows the "
        "type.",
    ),
    "list index": (
        lambda x: LIST[x[0]],
        f"`LIST[x[0]]` cannot be traced: a traced index needs a traced array, and {VALUES}. Pass what is "
        "indexed to "
        "the traced function as an array argument.",
    ),
    "allclose": (
        lambda x: np.allclose(x, 1),
        f"np.allclose cannot be traced: it answers with a Python bool, and {VALUES}. Write np.all(x == y) "
        "and keep "
        "the answer an array.",
    ),
    # math and other libraries
    "math.exp": (
        lambda x: math.exp(x[0]),
        "math.exp cannot be traced: it works on Python numbers. Write np.exp(…).",
    ),
    "math.floor": (
        lambda x: math.floor(x[0]),
        "math.floor cannot be traced: it works on Python numbers. Write np.floor(…).",
    ),
    "math.pow": (
        lambda x: math.pow(x[0], 2),
        "math.pow cannot be traced: it works on Python numbers. Write np.power(…).",
    ),
    "math.fsum": (
        lambda x: math.fsum(x),
        "math.fsum cannot be traced: it works on Python numbers. Write np.sum(…).",
    ),
    "math in a helper": (helper, "math.sqrt cannot be traced: it works on Python numbers. Write np.sqrt(…)."),
    "operator.index": (
        lambda x: operator.index(x[0]),
        f"operator.index(t) cannot be traced: it needs a Python integer, and {VALUES}. Take sizes and "
        "bounds from "
        "x.shape.",
    ),
    "statistics": (
        lambda x: statistics.mean(x),
        "statistics.mean cannot be traced: on a traced array it fails (can't convert type 'Tracer' to "
        f"numerator/denominator). {PLAIN}",
    ),
    "vectorize": (
        lambda x: np.vectorize(lambda a: a)(x),
        "np.vectorize cannot be traced: it calls Python once for each element. Call the function on whole "
        "arrays, "
        "with NumPy functions in it and np.where for its branches.",
    ),
    "vectorized": (
        lambda x: VECTORIZED(x),
        "np.vectorize cannot be traced: it calls Python once for each element. Call the function on whole "
        "arrays, "
        "with NumPy functions in it and np.where for its branches.",
    ),
    "frompyfunc": (
        lambda x: np.frompyfunc(abs, 1, 1)(x),
        f"abs (vectorized) cannot be traced: it is not among the traced functions. {PLAIN}",
    ),
    "softmax": (
        lambda x: softmax(x),
        "scipy.special.softmax cannot be traced: it is a plain function that needs values. Write e = "
        "np.exp(x - "
        "np.max(x, axis=-1, keepdims=True)); e / np.sum(e, axis=-1, keepdims=True).",
    ),
    "log_softmax": (
        lambda x: scipy.special.log_softmax(x, axis=-1),
        "scipy.special.log_softmax cannot be traced: it is a plain function that needs values. Write z = "
        "x - "
        "np.max(x, axis=-1, keepdims=True); z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True)).",
    ),
    "logsumexp": (
        lambda x: scipy.special.logsumexp(x),
        "scipy.special.logsumexp cannot be traced: it is a plain function that needs values. Write m = "
        "np.max(x, "
        "axis=-1, keepdims=True); np.squeeze(m, -1) + np.log(np.sum(np.exp(x - m), axis=-1)).",
    ),
    "expm": (
        lambda x: scipy.linalg.expm(np.outer(x, x)),
        f"scipy.linalg.expm cannot be traced: {CONVERTS}. {PLAIN}",
    ),
    "scipy ufunc": (
        lambda x: scipy.special.zeta(x),
        f"scipy.special.zeta cannot be traced: it is not among the traced functions. {PLAIN}",
    ),
    "scipy ufunc with a form": (
        lambda x: scipy.special.logit(x),
        "scipy.special.logit cannot be traced: it is not among the traced functions. Write np.log(x) - "
        "np.log1p(-x).",
    ),
}
