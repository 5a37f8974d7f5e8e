"""Every traced ufunc, function and method against NumPy run directly, from tables of expressions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.special as special
from trace_cases import agree, case, check, compare, sample
from trace_tables import BINARY, EXACT, FLOATING, ROUNDED, SCIPY, UNARY

from saturate.errors import TraceError
from saturate.trace import trace
from saturate.tracing.functions import FUNCTIONS
from saturate.tracing.site import public_name
from saturate.tracing.ufuncs import BINARY as BINARY_OPS
from saturate.tracing.ufuncs import COMPOSED
from saturate.tracing.ufuncs import UNARY as UNARY_OPS

DTYPES = ("float64", "float32", "float16", "int64", "uint8", "uint64", "bool")
MAIN = ("float64", "float32", "int64", "bool")
WEAK = (2, 0.5, -1.5, 300, True, float("inf"))
STRONG = (np.float64(1.5), np.float32(0.25), np.int64(3), np.int8(2), np.True_, np.array(2.5), np.array(3))
SCALARS: tuple[Any, ...] = (*WEAK, *STRONG)
ON_INTEGERS = ("invert", "bitwise_and", "bitwise_or", "bitwise_xor")
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, 1e30])


def traceable(ufunc: np.ufunc, *inputs: Any) -> bool:
    """Whether this is no bitwise operation on integers, which programs lack."""
    return ufunc.__name__ not in ON_INTEGERS or all(np.asarray(x).dtype == bool for x in inputs)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    ufunc = getattr(np, name)
    answered = [
        agree(lambda x: ufunc(x), x)
        for dtype in DTYPES
        for x in (sample(dtype, 3, 5), sample(dtype))
        if traceable(ufunc, x)
    ]
    assert any(answered)


@pytest.mark.parametrize("name", BINARY)
def test_binary_over_pairs_of_dtypes(name: str) -> None:
    ufunc, answered = getattr(np, name), []
    for first in DTYPES:
        for second in DTYPES:
            x, y = (
                sample(first, 3, 5),
                np.abs(sample(second, 5, seed=1) if second != "bool" else sample(second, 5)),
            )
            if traceable(ufunc, x, y):
                answered.append(agree(lambda x, y: ufunc(x, y), x, y))
                answered.append(agree(lambda x, y=y: ufunc(x, y), x))
    assert any(answered)


@pytest.mark.parametrize("name", BINARY)
def test_binary_with_scalars(name: str) -> None:
    """Python scalars are weak, NumPy scalars and arrays of no axes are strong; on either side."""
    ufunc, answered = getattr(np, name), []
    for dtype in DTYPES:
        x = np.abs(sample(dtype, 3, 5)) if dtype != "bool" else sample(dtype, 3, 5)
        for scalar in SCALARS:
            if traceable(ufunc, x, scalar):
                answered.append(agree(lambda x, s=scalar: ufunc(x, s), x))
                answered.append(agree(lambda x, s=scalar: ufunc(s, x), x))
    assert any(answered)


def test_weak_and_strong_scalars() -> None:
    x = sample("float32", 3, 5)
    assert check(lambda x: x / 64**0.5, x).nodes[-1].type.dtype == "float32"
    assert check(lambda x: x / np.sqrt(64), x).nodes[-1].type.dtype == "float64"
    assert check(lambda x: x * np.float32(0.5), x).nodes[-1].type.dtype == "float32"
    assert check(lambda x: x + 1, sample("int32", 5)).nodes[-1].type.dtype == "int32"
    assert check(lambda x: x + np.int64(1), sample("int32", 5)).nodes[-1].type.dtype == "int64"
    assert check(lambda x: x / 2, sample("int32", 5)).nodes[-1].type.dtype == "float64"


@pytest.mark.parametrize("name", [name for name in BINARY if name not in ON_INTEGERS])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(name: str, dtype: str) -> None:
    ufunc = getattr(np, name)
    x, y = np.meshgrid(SPECIAL.astype(dtype), SPECIAL.astype(dtype))
    check(lambda x, y: ufunc(x, y), x, y)
    check(lambda x: ufunc(x, np.inf), x)
    check(lambda x: ufunc(-0.0, x), x)


@pytest.mark.parametrize("expression", SCIPY)
def test_scipy(expression: str) -> None:
    for dtype in ("float64", "float32", "float16", "int64", "bool"):
        f, arrays = case(expression, dtype)
        check(f, *arrays, ulps=2)


@pytest.mark.parametrize("expression", [x for table in EXACT.values() for x in table])
def test_exact(expression: str) -> None:
    for dtype in MAIN:
        f, arrays = case(expression, dtype)
        assert agree(f, *arrays) or dtype != "float64"


@pytest.mark.parametrize("expression", [x for table in ROUNDED.values() for x in table])
def test_rounded(expression: str) -> None:
    for dtype in MAIN:
        f, arrays = case(expression, dtype)
        assert agree(f, *arrays, ulps=64) or dtype != "float64"


@pytest.mark.parametrize("expression", FLOATING)
def test_floating(expression: str) -> None:
    for dtype in ("float64", "float32"):
        f, arrays = case(expression, dtype)
        check(f, *arrays, ulps=4)


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_narrow_dtypes(dtype: str) -> None:
    """The tables once more, over dtypes that NumPy widens in places of its own."""
    for family, table in {**EXACT, **ROUNDED}.items():
        answers = []
        for expression in table:
            f, arrays = case(expression, dtype)
            answers.append(agree(f, *arrays, ulps=64 if family in ROUNDED else 0))
        assert any(answers)


def test_reductions_of_special_values() -> None:
    x = np.where(np.eye(9, dtype=bool), SPECIAL, 1.0)
    masked = np.where(np.tri(9, dtype=bool)[::-1], x, -np.inf)
    for f in (
        np.logaddexp.reduce,
        np.fmax.reduce,
        np.fmin.reduce,
        np.max,
        np.min,
        np.sum,
        np.mean,
        np.argmax,
    ):
        for array in (x, masked, np.full((3, 5), -np.inf)):
            check(lambda x, f=f: f(x, axis=0), array, ulps=4)


def test_clip_beyond_the_dtype() -> None:
    for dtype in ("uint8", "int64", "float32"):
        answered = [
            agree(lambda x, low=low, high=high: np.clip(x, low, high), np.arange(12).astype(dtype))
            for low in (None, -1, 2, 2.5, -300, np.float32(2), np.int64(2))
            for high in (None, 5, 300, 7.5, np.float64(1e10), np.int8(5), 10**30)
        ]
        assert any(answered)


def test_the_tables_name_every_traced_function() -> None:
    written = " ".join(x for table in ({**EXACT, **ROUNDED, "floating": FLOATING}).values() for x in table)
    missing = [name for name in map(public_name, FUNCTIONS) if f"{name}(" not in written]
    assert missing == []
    assert {*UNARY_OPS, *BINARY_OPS, *COMPOSED} - {*UNARY, *BINARY} == {"divmod"}


def test_bitwise_operators_of_integers_are_refused() -> None:
    with pytest.raises(TraceError, match=r"np\.bitwise_and with integers cannot be traced"):
        trace(lambda x: x & 3, sample("int64", 5))


def test_a_reduction_in_steps_has_a_longest_axis() -> None:
    check(lambda x: np.arctan2.reduce(x), sample("float64", 64, 2), ulps=4)
    with pytest.raises(TraceError, match="reduce over an axis of 65 cannot be traced"):
        trace(lambda x: np.arctan2.reduce(x), sample("float64", 65, 2))


def test_scipy_by_name_only_where_it_is_scipys() -> None:
    assert public_name(special.expit) == "scipy.special.expit"
    expit = np.frompyfunc(lambda x: x, 1, 1)
    with pytest.raises(TraceError, match="cannot be traced"):
        trace(lambda x: expit(x), sample("float64", 5))


def test_the_comparison_sees_values_and_dtypes() -> None:
    with pytest.raises(AssertionError):
        compare(np.ones(3), np.ones(3) + 1e-9, ulps=64)
    state = iter([1.0, 2.0])
    with pytest.raises(AssertionError):
        check(lambda x: x * next(state), sample("float64", 3))
