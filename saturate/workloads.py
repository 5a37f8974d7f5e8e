"""Array programs in plain NumPy that the tests, the audit and the uses of laws range over.

Sizes are distinct primes, so that swapped axes show.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturate.demos import attention, cross_entropy, softmax
from saturate.op import Type

Array = Any


@dataclass(frozen=True)
class Workload:
    """A function, the types of its arguments, and the arguments to differentiate by."""

    name: str
    function: Callable[..., Any]
    types: tuple[Type, ...]
    wrt: tuple[str, ...]

    def with_dtype(self, dtype: str) -> Workload:
        """The same over another floating dtype."""
        return replace(self, types=tuple(replace(t, dtype=dtype) if t.is_float else t for t in self.types))


def softmax_first_axis(x: Array) -> Array:
    """Each column as probabilities."""
    e = np.exp(x - np.max(x, axis=0))
    return e / np.sum(e, axis=0)


def logsumexp(x: Array) -> Array:
    """The logarithm of each row's sum of exponentials."""
    m = np.max(x, axis=-1, keepdims=True)
    return m[..., 0] + np.log(np.sum(np.exp(x - m), axis=-1))


def log_of_shifted_sum(x: Array) -> Array:
    """The same, its maximum added last."""
    m = x.max(axis=1)
    s = np.exp(x - m[:, None]).sum(axis=1)
    return np.log(s) + m


def cross_entropy_of_softmax(logits: Array, labels: Array) -> Array:
    """The same by way of the probabilities."""
    return -np.mean(np.sum(labels * np.log(softmax(logits)), axis=-1))


def logistic_regression(w: Array, b: Array, x: Array, y: Array) -> Array:
    """The mean loss of a logistic regression, written with two logarithms."""
    z = x @ w + b
    p = 1 / (1 + np.exp(-z))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def logistic_regression_stable(w: Array, b: Array, x: Array, y: Array) -> Array:
    """The same without overflow."""
    z = x @ w + b
    return np.mean(np.logaddexp(0, z) - y * z)


def mlp_tanh(w1: Array, b1: Array, w2: Array, b2: Array, x: Array, y: Array) -> Array:
    """The mean squared error of a network with one hidden layer of tanh."""
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def mlp_relu(w1: Array, b1: Array, w2: Array, b2: Array, x: Array, y: Array) -> Array:
    """The same with rectifiers."""
    h = np.maximum(x @ w1 + b1, 0)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def ridge(w: Array, x: Array, y: Array) -> Array:
    """Least squares with a penalty on the weights."""
    r = x @ w - y
    return np.sum(r**2) / len(y) + 0.1 * np.sum(w**2)


def loss_that_reads_the_max(x: Array) -> Array:
    """A loss to which the shift of a softmax is no stranger."""
    m = x.max(axis=-1, keepdims=True)
    e = np.exp(x - m)
    return np.sum(np.log(e.sum(axis=-1))) + np.sum(m**2)


def layer_norm(x: Array, w: Array, b: Array) -> Array:
    """Rows with mean zero and variance one, scaled and shifted."""
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    return (x - mu) / np.sqrt(var + 1e-5) * w + b


def rms_norm(x: Array, w: Array) -> Array:
    """Rows divided by their root mean square, and scaled."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * w


def sum_of_product(a: Array, b: Array) -> Array:
    """The sum over all elements of a matrix product."""
    return np.sum(a @ b)


def trace_of_product(a: Array, b: Array) -> Array:
    """The trace of a matrix product."""
    return np.trace(a @ b)


def diagonal_of_product(a: Array, b: Array) -> Array:
    """The diagonal of a matrix product."""
    return np.diag(a @ b)


def row_scale_then_narrow(x: Array, s: Array, w: Array) -> Array:
    """Rows scaled before a product that is narrower than they are."""
    return (x * s[:, None]) @ w


def chain(*matrices: Array) -> Array:
    """A product of matrices from the left."""
    out = matrices[0]
    for m in matrices[1:]:
        out = out @ m
    return out


def chain3(a: Array, b: Array, c: Array) -> Array:
    """Three matrices."""
    return a @ b @ c


def chain6(a: Array, b: Array, c: Array, d: Array, e: Array, f: Array) -> Array:
    """Six matrices."""
    return a @ b @ c @ d @ e @ f


def t(*shape: int, **kwargs: Any) -> Type:
    """A type of float64, as short as it is often written."""
    return Type(shape, **kwargs)


WORKLOADS: tuple[Workload, ...] = (
    Workload("softmax", softmax, (t(5, 7),), ("x",)),
    Workload("softmax_3d", softmax, (t(3, 5, 7),), ("x",)),
    Workload("softmax_square", softmax, (t(7, 7),), ("x",)),
    Workload("softmax_first_axis", softmax_first_axis, (t(11, 3),), ("x",)),
    Workload("logsumexp", logsumexp, (t(5, 7),), ("x",)),
    Workload("log_of_shifted_sum", log_of_shifted_sum, (t(5, 7),), ("x",)),
    Workload("cross_entropy", cross_entropy, (t(13, 11), t(13, 11, low=0.0, high=1.0)), ("logits",)),
    Workload(
        "cross_entropy_of_softmax",
        cross_entropy_of_softmax,
        (t(13, 11), t(13, 11, low=0.0, high=1.0)),
        ("logits",),
    ),
    Workload(
        "logistic_regression",
        logistic_regression,
        (t(7), t(), t(17, 7), t(17, low=0.0, high=1.0)),
        ("w", "b"),
    ),
    Workload(
        "logistic_regression_stable",
        logistic_regression_stable,
        (t(7), t(), t(17, 7), t(17, low=0.0, high=1.0)),
        ("w", "b"),
    ),
    Workload(
        "mlp_tanh",
        mlp_tanh,
        (t(5, 7), t(7), t(7, 3), t(3), t(11, 5), t(11, 3)),
        ("w1", "b1", "w2", "b2"),
    ),
    Workload(
        "mlp_relu",
        mlp_relu,
        (t(5, 7), t(7), t(7, 3), t(3), t(11, 5), t(11, 3)),
        ("w1", "b1", "w2", "b2"),
    ),
    Workload("ridge", ridge, (t(7), t(13, 7), t(13)), ("w",)),
    Workload("loss_that_reads_the_max", loss_that_reads_the_max, (t(5, 7),), ("x",)),
    Workload("layer_norm", layer_norm, (t(5, 7), t(7), t(7)), ("x", "w", "b")),
    Workload("rms_norm", rms_norm, (t(5, 7), t(7)), ("x", "w")),
    Workload("attention", attention, (t(5, 3), t(7, 3), t(7, 2)), ("q", "k", "v")),
    Workload("sum_of_product", sum_of_product, (t(5, 7), t(7, 3)), ("a", "b")),
    Workload("trace_of_product", trace_of_product, (t(5, 7), t(7, 5)), ("a", "b")),
    Workload("diagonal_of_product", diagonal_of_product, (t(5, 7), t(7, 5)), ("a", "b")),
    Workload("row_scale_then_narrow", row_scale_then_narrow, (t(31, 37), t(31), t(37, 3)), ("x", "s", "w")),
    Workload("chain3", chain3, (t(5, 7), t(7, 3), t(3, 11)), ("a", "b", "c")),
    Workload(
        "chain6",
        chain6,
        (t(5, 7), t(7, 3), t(3, 11), t(11, 2), t(2, 13), t(13, 17)),
        ("a", "b", "c", "d", "e", "f"),
    ),
)
"""The workloads, in the order in which they are listed."""
