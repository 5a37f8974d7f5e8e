"""Losses and layers whose backward people derive by hand: found, in both dtypes, and right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from optimized import DTYPES, TOLERANCE, called, fresh, off, ops, passes, reference

import saturate as sat
from saturate.program import Program

Array = Any


def t(*shape: int) -> sat.Type:
    return sat.Type(shape)


def batch_norm(x: Array, g: Array, b: Array) -> Array:
    c = x - x.mean(0)
    return c / np.sqrt((c**2).mean(0) + 1e-5) * g + b


def group_norm(x: Array, g: Array, b: Array) -> Array:
    return (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(axis=2, keepdims=True) + 1e-5) * g + b


def plain_norm(x: Array) -> Array:
    c = x - x.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True))


def lora(x: Array, w: Array, a: Array, b: Array) -> Array:
    return np.sum(np.tanh(x @ (w + a @ b)))


def mixture(x: Array, mu: Array, logits: Array) -> Array:
    """The log-likelihood of a mixture of Gaussians; the gradient holds the responsibilities."""
    s = logits - 0.5 * ((x[:, None, :] - mu[None]) ** 2).sum(-1)
    m = s.max(1, keepdims=True)
    return np.sum(m[:, 0] + np.log(np.exp(s - m).sum(1)))


def mahalanobis(x: Array, mu: Array, p: Array) -> Array:
    c = x - mu
    return np.sum((c @ p) * c)


def contrastive(a: Array, b: Array) -> Array:
    an = a / np.sqrt((a * a).sum(-1, keepdims=True) + 1e-8)
    bn = b / np.sqrt((b * b).sum(-1, keepdims=True) + 1e-8)
    s = an @ bn.T * 10.0
    m = s.max(1, keepdims=True)
    return np.mean(m[:, 0] + np.log(np.exp(s - m).sum(1)) - np.diag(s))


def swiglu(x: Array, w: Array, v: Array, o: Array) -> Array:
    a = x @ w
    return (a / (1 + np.exp(-a)) * (x @ v)) @ o


def gelu(x: Array, w: Array, b: Array, o: Array) -> Array:
    u = x @ w + b
    return (0.5 * u * (1 + np.tanh(0.7978845608 * (u + 0.044715 * u**3)))) @ o


@dataclass(frozen=True)
class Model:
    """A function, its arguments, and what its result may hold: passes, and how often which ops."""

    function: Callable[..., Any]
    types: tuple[sat.Type, ...]
    wrt: tuple[str, ...]
    passes: int
    most: dict[str, int]

    def optimized(self, dtype: str) -> sat.Optimized:
        types = [sat.Type(x.shape, dtype) for x in self.types]
        return sat.optimize(self.function, *types, wrt=self.wrt)


MODELS = (
    Model(batch_norm, (t(61, 37), t(37), t(37)), ("x", "g", "b"), 20, {"Sum": 2, "Einsum": 2}),
    Model(group_norm, (t(13, 7, 31), t(7, 1), t(7, 1)), ("x", "g", "b"), 22, {"Sum": 4, "VecDot": 2}),
    Model(plain_norm, (t(61, 37),), ("x",), 15, {"Sum": 2, "VecDot": 2}),
    Model(lora, (t(67, 41), t(41, 43), t(41, 3), t(3, 43)), ("a", "b"), 11, {"Matmul": 6, "Tanh": 1}),
    Model(mixture, (t(101, 5), t(7, 5), t(7)), ("mu", "logits"), 17, {"Exp": 1, "Equal": 0, "Max": 1}),
    Model(mahalanobis, (t(101, 7), t(7), t(7, 7)), ("x", "mu"), 7, {"Matmul": 2}),
    Model(contrastive, (t(31, 17), t(31, 17)), ("a", "b"), 40, {"Exp": 1, "Equal": 0, "Max": 1, "Matmul": 3}),
    Model(swiglu, (t(31, 17), t(17, 41), t(17, 41), t(41, 19)), ("w", "v", "o"), 24, {"Exp": 1, "Matmul": 7}),
    Model(gelu, (t(31, 17), t(17, 41), t(41), t(41, 19)), ("w", "b", "o"), 24, {"Tanh": 1, "Power": 0}),
)


def largest(program: Program, shape: tuple[int, ...]) -> Counter[str]:
    return Counter(type(n.op).__name__ for n in program.nodes if n.type.shape == shape and not n.op.view)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.function.__name__)
def test_a_model_is_found_and_right(model: Model, dtype: str) -> None:
    best = model.optimized(dtype)
    assert best.report.check is not None
    assert not [note for note in best.report.notes if "refused" in note]
    assert passes(best.program) <= model.passes
    found = ops(best.program)
    assert {name: found[name] for name in model.most if found[name] > model.most[name]} == {}
    assert best.report.after.cost < best.report.before.cost
    for seed in range(2):
        arrays = fresh(best.baseline, seed)
        true = reference(best.baseline, arrays)
        for one, right in zip(called(best, arrays), true, strict=True):
            assert off(one, right) <= 64 * TOLERANCE[dtype]


def test_a_frozen_weight_has_no_gradient_and_the_small_product_is_made_first() -> None:
    best = MODELS[3].optimized("float32")
    assert [name for name, _ in best.program.gradients] == ["a", "b"]
    assert largest(best.program, (41, 43))["Matmul"] == 1  # a @ b, and no gradient of w


def rank_one_error(x: Array, u: Array, v: Array) -> Array:
    return np.sum((x - np.outer(u, v)) ** 2)


def test_a_sum_of_squares_of_a_difference_is_multiplied_out_only_where_that_is_safe() -> None:
    types = (sat.Type((61, 37), "float32"), sat.Type((61,), "float32"), sat.Type((37,), "float32"))
    careful = sat.optimize(rank_one_error, *types, wrt=("u", "v"))
    assert largest(careful.program, (61, 37))["Sub"] == 1


def by_norms(a: Array, b: Array) -> Array:
    """As `contrastive`, without what keeps a row of zeros from being divided by zero."""
    an = a / np.sqrt((a * a).sum(-1, keepdims=True))
    bn = b / np.sqrt((b * b).sum(-1, keepdims=True))
    s = an @ bn.T * 10.0
    z = s - s.max(1, keepdims=True)
    return -np.mean(np.diag(z - np.log(np.exp(z).sum(1, keepdims=True))))


def test_norms_that_may_be_zero_keep_the_maximum_unless_that_is_assumed_and_listed() -> None:
    types, limits = (sat.Type((31, 17), "float32"),) * 2, sat.Limits(rounds=1)
    strict, loose = (
        sat.optimize(by_norms, *types, wrt=("a", "b"), exact=exact, limits=limits)
        for exact in ("rounding", "domain")
    )
    assert ops(strict.program)["Equal"] == 1  # where a row is zero the adjoint of the maximum is no number
    assert strict.report.assumptions == ("inputs are finite where their examples are",)
    assert ops(loose.program)["Equal"] == 0
    assert loose.report.assumptions[1:] == ("v4, v9: nowhere zero, as the examples show",)
    assert {s.value: s.op for s in loose.report.before.steps}["v4"] == "np.sqrt(v3)"
    assert loose.report.after.cost < 0.95 * strict.report.after.cost
    assert loose.report.check is not None
    assert not [note for note in loose.report.notes if "refused" in note]
    arrays = fresh(loose.baseline, 0)
    for one, right in zip(called(loose, arrays), reference(loose.baseline, arrays), strict=True):
        assert off(one, right) <= 64 * TOLERANCE["float32"]


def test_nothing_is_assumed_of_what_an_example_shows_to_be_zero_or_what_is_proved() -> None:
    def share(x: Array, y: Array) -> Array:
        return x / y.sum() * y.sum() + np.log(np.exp(x))

    x, y = np.linspace(1, 2, 5), np.array([1.0, -1.0])
    assert sat.optimize(share, x, y, exact="domain").report.assumptions[1:] == ()
    found = sat.optimize(share, x, y + 1, exact="domain").report.assumptions[1:]
    assert [said for said in found if "nowhere zero" in said] == ["v2: nowhere zero, as the examples show"]
