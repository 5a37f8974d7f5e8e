"""What refutes an identity: samples of several shapes, gradients, and that its forms are not known equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from saturate.grad import grad
from saturate.op import AnyArray, Type
from saturate.rules import BITWISE, Identity
from saturate.rules.decision import decision
from saturate.rules.identity import Array
from saturate.runners.evaluate import evaluate

PRIMES = (5, 7, 3, 2)
HOSTILE = (np.nan, np.inf, -np.inf, 0.0, -0.0, 5e-324, -1e-310, 1.7e308, 1.0)
ODD = (np.nan, np.inf, -np.inf, 0.0, -2.0)
DTYPES = {"float32": 1e-4, "float64": 1e-11}


def sizes(identity: Identity) -> Iterator[dict[str, int]]:
    """Different sizes, equal ones, one for each letter in turn, and for all of them."""
    different: dict[str, int] = dict(zip(identity.letters, PRIMES, strict=False))
    yield different
    yield dict.fromkeys(identity.letters, 3)
    yield from ({**different, letter: 1} for letter in identity.letters)
    yield dict.fromkeys(identity.letters, 1)


def faults(identity: Identity) -> Iterator[str]:
    """What is wrong with the identity."""
    for given in sizes(identity):
        for dtype in DTYPES:
            rng = np.random.default_rng(0)
            where = f"in {dtype} with {given}"
            for _ in range(4):
                yield from different(identity, identity.arrays(given, rng, dtype), where)
                yield from different(
                    identity, beyond(identity, given, rng, dtype), f"{where}, beyond numbers"
                )
            yield from slopes(identity, given, rng, dtype)
            if not decision(identity, given, dtype):
                yield f"the forms are not known to be equal {where}"


def different(identity: Identity, arrays: Mapping[str, AnyArray], where: str) -> Iterator[str]:
    """How the forms differ on these arrays."""
    with np.errstate(all="ignore"):
        one, other = map(np.asarray, identity.forms(*arrays.values()))
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        yield f"the forms have the types {one.dtype}{one.shape} and {other.dtype}{other.shape} {where}"
    elif not same(one, other, 0.0 if identity.exact == BITWISE else DTYPES[one.dtype.name]):
        yield f"the forms differ {where}"


def same(one: AnyArray, other: AnyArray, tolerance: float) -> bool:
    """Whether arrays agree; bit for bit up to NaN where the tolerance is zero."""
    if tolerance:
        return bool(np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True))
    signs, others = (np.signbit(x) & ~np.isnan(x) for x in (one, other))
    return np.array_equal(one, other, equal_nan=True) and np.array_equal(signs, others)


def beyond(
    identity: Identity, given: Mapping[str, int], rng: np.random.Generator, dtype: str
) -> dict[str, AnyArray]:
    """Samples with infinities, NaN and, where every bit is promised, hostile numbers; finite where asked."""
    finite = {c.variable for c in identity.where}
    found: dict[str, AnyArray] = {}
    for name, array in identity.arrays(given, rng, dtype).items():
        odd = np.array(HOSTILE if identity.exact == BITWISE else ODD)
        if name in finite:
            odd = odd[np.isfinite(odd) & (np.abs(odd) < np.finfo(dtype).max)]
        there = (rng.random(array.shape) < 0.4) & (array.dtype.kind == "f")
        with np.errstate(all="ignore"):
            found[name] = np.where(there, rng.choice(odd, array.shape), array).astype(array.dtype)
    return found


def slopes(
    identity: Identity, given: Mapping[str, int], rng: np.random.Generator, dtype: str
) -> Iterator[str]:
    """The gradients of both forms by every argument of numbers, for one cotangent."""
    types = identity.types(given, dtype)
    wrt = tuple(k for k, t in enumerate(types.values()) if t.is_float)
    arrays = list(identity.arrays(given, rng, dtype).values())
    shape, other = map(np.shape, identity.forms(*arrays))
    if shape != other:
        return
    cotangent = [rng.standard_normal(shape).astype(dtype)] if shape else []
    found = [evaluate(gradient(identity, k, types, wrt), *arrays, *cotangent)[1:] for k in (0, 1)]
    for k, one, other in zip(wrt, *found, strict=True):
        if not same(one, other, DTYPES[dtype]):
            yield f"the gradients by {list(types)[k]} differ in {dtype} with {given}"


def gradient(identity: Identity, k: int, types: Mapping[str, Type], wrt: tuple[int, ...]) -> Any:
    """The k-th form with its gradients."""
    return grad(form(identity, k), *types.values(), wrt=wrt)


def form(identity: Identity, k: int) -> Any:
    """One of the forms as a function of its own."""

    def alone(*arguments: Array) -> Array:
        return identity.forms(*arguments)[k]

    return alone
