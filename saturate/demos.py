"""Five functions as people write them, in plain NumPy, each with the types of its arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from saturate.op import Type

Array = Any


@dataclass(frozen=True)
class Demo:
    """A function, types that stand for its arguments, what to differentiate by, and what to see in it."""

    name: str
    function: Callable[..., Any]
    types: tuple[Type, ...]
    wrt: tuple[str, ...]
    about: str


def softmax(x: Array) -> Array:
    """Each row as probabilities; the maximum keeps exp in range."""
    m = x.max(axis=-1, keepdims=True)
    e = np.exp(x - m)
    return e / e.sum(axis=-1, keepdims=True)


def logsumexp(x: Array) -> Array:
    """The logarithm of each row's sum of exponentials."""
    m = x.max(axis=-1, keepdims=True)
    return m[:, 0] + np.log(np.exp(x - m).sum(axis=-1))


def cross_entropy(logits: Array, labels: Array) -> Array:
    """The mean cross-entropy of one-hot or soft labels."""
    m = logits.max(axis=-1, keepdims=True)
    z = logits - m
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -np.mean(np.sum(labels * logp, axis=-1))


def logistic_regression(w: Array, b: Array, x: Array, y: Array) -> Array:
    """The mean loss of a logistic regression with labels y in [0, 1]."""
    z = x @ w + b
    return np.mean(np.logaddexp(0, z) - y * z)


def mlp(w1: Array, b1: Array, w2: Array, b2: Array, x: Array, y: Array) -> Array:
    """The mean squared error of a network with one hidden layer."""
    h = np.tanh(x @ w1 + b1)
    out = h @ w2 + b2
    return np.mean((out - y) ** 2)


def _f32(*shape: int, low: float | None = None, high: float | None = None) -> Type:
    return Type(shape, "float32", low, high)


DEMOS: dict[str, Demo] = {
    demo.name: demo
    for demo in (
        Demo(
            "softmax",
            softmax,
            (_f32(256, 1000),),
            ("x",),
            "nothing of the maximum is left in the backward: its derivative is proved zero",
        ),
        Demo(
            "logsumexp",
            logsumexp,
            (_f32(256, 1000),),
            ("x",),
            "the backward is the softmax, scaled by the cotangent",
        ),
        Demo(
            "cross-entropy",
            cross_entropy,
            (_f32(256, 1000), _f32(256, 1000, low=0.0, high=1.0)),
            ("logits",),
            "the gradient becomes (softmax · Σ labels − labels) / n",
        ),
        Demo(
            "logistic-regression",
            logistic_regression,
            (_f32(64), _f32(), _f32(2048, 64), _f32(2048, low=0.0, high=1.0)),
            ("w", "b"),
            "one residual serves both gradients",
        ),
        Demo(
            "mlp",
            mlp,
            (_f32(64, 128), _f32(128), _f32(128, 10), _f32(10), _f32(512, 64), _f32(512, 10)),
            ("w1", "b1", "w2", "b2"),
            "most of it is matrix products, so there is little to win, and the report says so",
        ),
    )
}
"""The demos by name, in the order in which they are listed."""
