"""A small program for each law that no workload and no pair of forms needs: with the law it is cheaper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from saturate import Type

Array = Any
Program = tuple[Callable[..., Any], tuple[Type, ...]]


def t(*shape: int, low: float | None = None, high: float | None = None) -> Type:
    return Type(shape, "float32", low, high)


V, P, S, M = t(7747), t(7747, low=0.5, high=2), t(7747, low=-1, high=1), t(31, 37, low=-1, high=1)


def nought(x: Array) -> Array:
    """Zero, which no normal form sees."""
    return np.log2(np.exp2(x)) - x


PROGRAMS: dict[str, Program] = {
    "numbers_multiply": (lambda x, y: np.tanh(y) * np.exp(nought(x)), (S, S)),
    "zero_absorbs": (lambda x, y: np.tanh(y) * nought(x), (V, V)),
    "zero_coefficient": (nought, (V,)),
    "zero_adds_nothing": (lambda x, y: np.tanh(y) + np.tanh(x) * nought(x), (V, V)),
    "numbers_add": (lambda x, y: np.tanh(y) + np.exp(nought(x)) + 2, (S, S)),
    "like_term_without_number": (nought, (V,)),
    "like_terms_add": (lambda p: 3 * np.exp(np.log(p)) + 2 * p, (P,)),
    "equal_members_count": (lambda p: np.exp(np.log(p)) + p, (P,)),
    "sum_of_what_lacks_the_index": (lambda x, y: np.sum(np.exp(nought(x)) * y[:, None], axis=1), (M, t(31))),
    "factor_with_one": (lambda x, y: y[:, None] * x + y[:, None], (M, t(31))),
    "reciprocal_of_number": (lambda x, y: y / (np.exp(nought(x)) + 1), (S, S)),
    "root_squared": (lambda p: np.sqrt(p) * np.sqrt(p), (P,)),
    "over_its_root": (lambda p: p / np.sqrt(p), (P,)),
    "root_of_square_is_abs": (lambda x: np.sqrt(x * x), (V,)),
    "log_of_exp": (lambda x: np.log(np.exp(x)), (V,)),
    "exp_of_log": (lambda p: np.exp(np.log(p)), (P,)),
    "log2_of_exp2": (lambda x: np.log2(np.exp2(x)), (V,)),
    "cosh_of_exp": (lambda p: (np.exp(p), np.cosh(p)), (P,)),
    "erf_is_nearly_a_tanh": (lambda x: 0.5 * x * (1 + special.erf(x * 0.5**0.5)), (V,)),
    "maximum_of_equals": (lambda p: np.maximum(np.exp(np.log(p)), p), (P,)),
    "minimum_of_equals": (lambda p: np.minimum(np.exp(np.log(p)), p), (P,)),
    "maximum_with_zero": (lambda x: np.maximum(x * x, 0), (V,)),
    "abs_of_nonneg": (lambda x: np.abs(np.exp(x)), (V,)),
    "abs_squared": (lambda x: np.abs(x) ** 2, (V,)),
    "sign_times_abs": (lambda x: np.sign(x) * np.abs(x), (V,)),
    "maximum_with_minus": (lambda x: np.maximum(x, -x), (V,)),
    "greater_is_less": (lambda x, y: np.where(x > y, 1, 0) + np.where(y < x, 1, 0), (V, V)),
    "greater_equal_is_less_equal": (lambda x, y: np.where(x >= y, x, y), (V, V)),
    "choice_of_the_larger": (lambda x: np.where(x > 0, x, 0), (V,)),
    "choice_of_the_smaller": (lambda x, y: np.where(x < y, x, y), (V, V)),
    "choice_of_the_larger_or_equal": (lambda x, y: np.where(x >= y, x, y), (V, V)),
    "choice_of_the_smaller_or_equal": (lambda x, y: np.where(x <= y, x, y), (V, V)),
    "maximum_with_a_lower_bound": (lambda x: np.clip(np.tanh(x), -1, 2), (V,)),
    "minimum_with_an_upper_bound": (lambda x: np.clip(np.clip(x, 0, 6), -1, 6), (V,)),
    "floor_of_integer": (lambda x: np.floor(np.rint(x)), (V,)),
    "ceil_of_integer": (lambda x, n: np.ceil(n.astype("float32")) * x, (V, Type((7747,), "int32"))),
    "rint_of_integer": (lambda x: np.rint(np.sign(x) * 3) * x, (V,)),
    "mask_squared": (lambda x, y: x * (y > 0).astype("float32") * (y > 0).astype("float32"), (V, V)),
    "maximum_of_exps": (lambda x, y: np.maximum(np.exp(x), np.exp(y)), (V, V)),
    "maximum_of_shifted": (lambda x, y: np.max(x[:, None] + y, axis=1), (t(31), t(37))),
    "largest_exp": (lambda x: np.max(np.exp(x), axis=1), (M,)),
}
