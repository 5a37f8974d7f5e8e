"""Functions as people write them, in plain NumPy, each with the types of its arguments."""

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
    types: tuple[Any, ...]
    wrt: tuple[str, ...]
    about: str
    beside: tuple[Callable[..., Any], ...] = ()
    """Functions that it calls, shown before it."""


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


def attention(q: Array, k: Array, v: Array) -> Array:
    """Scaled dot-product attention of one head."""
    s = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def causal_attention(q: Array, k: Array, v: Array, mask: Array) -> Array:
    """Attention of several heads in which no row looks ahead; the mask holds 0 and −inf."""
    s = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5 + mask
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def layernorm(x: Array, g: Array, b: Array) -> Array:
    """Each row with mean 0 and variance 1, scaled and moved."""
    mu = x.mean(axis=-1, keepdims=True)
    c = x - mu
    return c / np.sqrt((c * c).mean(axis=-1, keepdims=True) + 1e-5) * g + b


def rmsnorm(x: Array, g: Array) -> Array:
    """Each row divided by its root mean square, scaled."""
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-5) * g


def gelu(u: Array) -> Array:
    """The tanh form of u·Φ(u)."""
    return 0.5 * u * (1 + np.tanh(0.7978845608 * (u + 0.044715 * u**3)))


def gpt_block(x: Array, p: dict[str, Array], mask: Array, heads: int) -> Array:
    """A block of a transformer: causal attention and an MLP, each after a layer norm and beside its input."""

    def split(y: Array) -> Array:
        return y.reshape(*y.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    h = layernorm(x, p["g1"], p["b1"])
    o = causal_attention(split(h @ p["wq"]), split(h @ p["wk"]), split(h @ p["wv"]), mask)
    x = x + o.transpose(0, 2, 1, 3).reshape(x.shape) @ p["wo"]
    u = layernorm(x, p["g2"], p["b2"]) @ p["w1"] + p["c1"]
    return x + gelu(u) @ p["w2"] + p["c2"]


def gpt_loss(x: Array, blocks: list[dict[str, Array]], wu: Array, mask: Array, y: Array, heads: int) -> Array:
    """The mean cross-entropy of what comes out of the blocks, with the words y one-hot."""
    for p in blocks:
        x = gpt_block(x, p, mask, heads)
    return cross_entropy((x @ wu).reshape(-1, wu.shape[1]), y.reshape(-1, wu.shape[1]))


def gpt_arguments(
    blocks: int,
    batch: int,
    length: int,
    width: int,
    inner: int,
    words: int,
    heads: int,
    dtype: str = "float32",
) -> tuple[Any, ...]:
    """What `gpt_loss` takes: types, the causal mask as an array, the number of heads."""

    def t(*shape: int, **bounds: float) -> Type:
        return Type(shape, dtype, **bounds)

    square = {name: t(width, width) for name in ("wq", "wk", "wv", "wo")}
    rows = {name: t(width) for name in ("g1", "b1", "g2", "b2", "c2")}
    one = {**square, **rows, "w1": t(width, inner), "c1": t(inner), "w2": t(inner, width)}
    mask = np.where(np.tri(length, dtype=bool), 0, -np.inf).astype(dtype)
    labels = t(batch, length, words, low=0.0, high=1.0)
    return t(batch, length, width), [one] * blocks, t(width, words), mask, labels, heads


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
        Demo(
            "attention",
            attention,
            (_f32(256, 64),) * 3,
            ("q", "k", "v"),
            "the backward that people publish: no adjoint of the maximum, row sums from dO and O",
        ),
        Demo(
            "causal-attention",
            causal_attention,
            (*(_f32(4, 128, 32),) * 3, np.where(np.tri(128, dtype=bool), 0, -np.inf).astype("float32")),
            ("q", "k", "v"),
            "the same with a mask of −inf, whose infinities the samples show to be harmless",
        ),
        Demo(
            "layernorm",
            layernorm,
            (_f32(512, 256), _f32(256), _f32(256)),
            ("x", "g", "b"),
            "two row reductions in the backward, and nothing of the mean's way through the variance",
        ),
        Demo(
            "rmsnorm",
            rmsnorm,
            (_f32(512, 256), _f32(256)),
            ("x", "g"),
            "one row reduction in the backward",
        ),
        Demo(
            "gpt-block",
            gpt_loss,
            gpt_arguments(1, batch=2, length=64, width=64, inner=256, words=101, heads=4),
            ("blocks", "wu"),
            "all of that in one program, searched in windows",
            (layernorm, causal_attention, gelu, gpt_block, cross_entropy),
        ),
    )
}
"""The demos by name, in the order in which they are listed."""
