"""A GPT block in plain NumPy, heads split by reshape, and a loss over several of them; for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from saturate import Type

Array = Any


def layer_norm(x: Array, g: Array, b: Array) -> Array:
    mu = x.mean(-1, keepdims=True)
    c = x - mu
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + 1e-5) * g + b


def heads(x: Array, count: int) -> Array:
    batch, length, width = x.shape
    return x.reshape(batch, length, count, width // count).transpose(0, 2, 1, 3)


def causal_attention(x: Array, p: dict[str, Array], mask: Array, count: int) -> Array:
    q, k, v = (heads(x @ p[w], count) for w in ("wq", "wk", "wv"))
    s = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5 + mask
    e = np.exp(s - s.max(-1, keepdims=True))
    a = e / e.sum(-1, keepdims=True)
    return (a @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ p["wo"]


def gelu(u: Array) -> Array:
    return 0.5 * u * (1 + np.tanh(0.7978845608 * (u + 0.044715 * u**3)))


def block(x: Array, p: dict[str, Array], mask: Array) -> Array:
    x = x + causal_attention(layer_norm(x, p["g1"], p["b1"]), p, mask, 2)
    return x + gelu(layer_norm(x, p["g2"], p["b2"]) @ p["w1"] + p["c1"]) @ p["w2"] + p["c2"]


def loss(x: Array, layers: list[dict[str, Array]], wu: Array, mask: Array, y: Array) -> Array:
    for p in layers:
        x = block(x, p, mask)
    logits = x @ wu
    m = logits.max(-1, keepdims=True)
    lse = m + np.log(np.exp(logits - m).sum(-1, keepdims=True))
    return np.mean(np.sum((lse - logits) * y, -1))


def arguments(count: int, dtype: str = "float32", length: int = 5) -> tuple[Any, ...]:
    """Types of the arguments of `loss` for so many layers; the mask is an array."""
    batch, width, inner, words = 3, 14, 17, 11

    def t(*shape: int, **kwargs: Any) -> Type:
        return Type(shape, dtype, **kwargs)

    shapes = {
        "g1": (width,), "b1": (width,), "g2": (width,), "b2": (width,), "c1": (inner,), "c2": (width,),
        "wq": (width, width), "wk": (width, width), "wv": (width, width), "wo": (width, width),
        "w1": (width, inner), "w2": (inner, width),
    }  # fmt: skip
    layers = [{name: t(*shape) for name, shape in shapes.items()} for _ in range(count)]
    mask = np.where(np.tri(length, dtype=bool), 0, -np.inf).astype(dtype)
    return t(batch, length, width), layers, t(width, words), mask, t(batch, length, words, low=0.0, high=1.0)
