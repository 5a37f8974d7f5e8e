"""Arguments to try a program on: drawn around the user's own, and chosen to be hard."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from saturate.errors import ArgumentError
from saturate.op import AnyArray, Type
from saturate.program import Input

KINDS = (
    "normal", "offset 1e4", "ties", "scale 1e3", "offset -1e4", "scale 1e-3", "zeros", "mixed", "scale 1e2"
)  # fmt: skip
"""What is special about a drawn sample; trials go through them in turn."""

TOGETHER = ("ties", "scale 1e-3")
"""Kinds of all arguments at once: a function of many is near zero only where all of them are small."""
FEW = 3
"""Of so many float inputs all are offset by 1e4 at once, as a mean may be left out of a product only where
the other factor has none; products of more of them overflow.
"""
MILD = ("normal", "ties", "zeros")
"""Kinds near the examples: what the whole of a long program is measured on."""
EXAMPLE = "example"
SMOOTH = frozenset({"normal", "scale 1e3", "scale 1e-3"})
"""Kinds without ties and without offsets, where finite differences of a function say something."""

FINITE = frozenset({"scale 1e2"})
"""Kinds that say only which results are finite: where shares are subnormal, gradients are differences of
numbers that are nearly equal, of which no form keeps digits.
"""

MIXED = tuple(kind for kind in KINDS if kind != "mixed" and kind not in FINITE)
"""What each input of a mixed sample may be."""

FAR = frozenset({"offset 1e4", "offset -1e4", "scale 1e3", "scale 1e2", "mixed"})
"""Kinds whose values are so large that exponentials overflow."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Arguments in the order of the inputs, what is special about them, and which draw they are."""

    kind: str
    number: int
    arrays: tuple[AnyArray, ...]

    def __str__(self) -> str:
        return f"{self.kind} (#{self.number})"


def samples(
    inputs: Sequence[Input],
    seed: int = 0,
    trials: int = len(KINDS),
    examples: Sequence[Sequence[Any]] | None = None,
    kinds: Sequence[str] = KINDS,
) -> tuple[Sample, ...]:
    """The examples that are all arrays, then `trials` drawn samples; equal for equal arguments.

    `examples` are tuples of arguments in the order of the inputs; a `Type` or None in an array's place says
    nothing. Floats are drawn with the mean and deviation of the first example, else from the standard
    normal, and then made special by the kind of the sample: exact ties, a scale of 1e-3 and an offset of
    1e4 in all inputs (the last of up to three, else as that of −1e4), zeros, an offset of −1e4 and scales
    of 1e3 and 1e2 (where exponentials of differences are subnormal) in one input by turns and in each other
    one with even odds. They stay within `low` and `high` of a type, and in every other draw above zero
    where the example is. Infinities of the example stay in place; in every other draw −inf moves to random
    places that leave a finite entry in each row, and there is no NaN, so that something can be compared.
    Integers are drawn from those of the example, else from `low` to `high`, else from 0 and 1; booleans as
    the example has them or at random.
    """
    given = [_example(inputs, e) for e in examples or ()]
    whole = (tuple(a for a in e if a is not None) for e in given)
    found = [Sample(EXAMPLE, k, e) for k, e in enumerate(whole) if len(e) == len(inputs)]
    base = given[0] if given else (None,) * len(inputs)
    floats = [k for k, i in enumerate(inputs) if i.type.is_float]
    for trial in range(trials):
        rng = np.random.default_rng([seed, trial])
        cycle, place = divmod(trial, len(kinds))
        kind, turn = kinds[place], cycle + place
        chosen = floats[turn % len(floats)] if floats else -1
        arrays: list[AnyArray] = []
        for k, (i, example) in enumerate(zip(inputs, base, strict=True)):
            together = kind in TOGETHER or (kind == "offset 1e4" and len(floats) <= FEW)
            own = kind if k == chosen or together or rng.random() < 0.5 else "normal"
            own = str(rng.choice(MIXED)) if kind == "mixed" else own
            arrays.append(_Draw(i.type, example, own, turn % 2 == 0, rng).array())
        found.append(Sample(kind, trial, tuple(arrays)))
    return tuple(found)


def _example(inputs: Sequence[Input], example: Sequence[Any]) -> tuple[AnyArray | None, ...]:
    if len(example) != len(inputs):
        names = ", ".join(i.name for i in inputs)
        raise ArgumentError(
            f"samples need examples of {len(inputs)} argument(s) ({names}), got one of {len(example)}"
        )
    return tuple(_array(i, a) for i, a in zip(inputs, example, strict=True))


def _array(given: Input, array: Any) -> AnyArray | None:
    if array is None or isinstance(array, Type):
        return None
    found: AnyArray = np.array(array, dtype=given.type.dtype)
    if found.shape != given.type.shape:
        raise ArgumentError(
            f"samples need an example of {given.name} of shape {given.type.shape}, got {found.shape}"
        )
    return found


@dataclass(frozen=True)
class _Draw:
    """One input of one sample; `same` keeps the sign and the places of masks of the example."""

    type: Type
    example: AnyArray | None
    kind: str
    same: bool
    rng: np.random.Generator

    def array(self) -> AnyArray:
        """The drawn array."""
        if self.type.is_float:
            return self._masked(self._bounded(self._floats()).astype(self.type.dtype))
        return self._booleans() if self.type.dtype == "bool" else self._integers()

    def _floats(self) -> AnyArray:
        mean, deviation, positive = _moments(self.example)
        z = self.rng.standard_normal(self.type.shape)
        x = mean + deviation * z
        match self.kind:
            case "ties":
                x = np.rint(2 * np.clip(z, -1, 1)) / 2
            case "zeros":
                x = np.zeros(self.type.shape)
            case "offset 1e4" | "offset -1e4":
                x = x + float(self.kind.split()[1])
            case "scale 1e3" | "scale 1e2" | "scale 1e-3":
                x = x * float(self.kind.split()[1])
            case _:
                pass
        return np.abs(x) if positive and self.same else x

    def _bounded(self, x: AnyArray) -> AnyArray:
        low, high = self.type.low, self.type.high
        if low is None and high is None:
            return x
        if low is None or high is None:
            inside: AnyArray = low + np.abs(x) if low is not None else (high or 0.0) - np.abs(x)
            return np.clip(inside, low, high)
        if self.kind in ("zeros", "ties"):
            return np.clip(x, low, high)
        u = self.rng.random(self.type.shape)
        near = {"offset 1e4": 1 - 1e-3 * u, "scale 1e-3": 1e-3 * u}.get(self.kind, u)
        bounded: AnyArray = np.clip(low + (high - low) * near, low, high)
        return bounded

    def _masked(self, x: AnyArray) -> AnyArray:
        if self.example is None or np.isfinite(self.example).all():
            return x
        odd = ~np.isfinite(self.example) if self.same else np.isinf(self.example)
        if self.same or not np.isneginf(self.example).any():
            return np.where(odd, self.example, x)
        hidden = _some(np.isneginf(self.example).mean(), x.shape, self.rng)
        return np.where(hidden, -np.inf, x).astype(self.type.dtype)

    def _booleans(self) -> AnyArray:
        if self.example is None or not self.example.size:
            return self.rng.random(self.type.shape) < 0.5
        return self.example if self.same else ~_some(1 - self.example.mean(), self.type.shape, self.rng)

    def _integers(self) -> AnyArray:
        if self.example is not None and self.example.size:
            return self.rng.choice(self.example.ravel(), self.type.shape).astype(self.type.dtype)
        low = 0 if self.type.low is None else int(np.ceil(self.type.low))
        high = max(low, 1 if self.type.high is None else int(np.floor(self.type.high)))
        return self.rng.integers(low, high, self.type.shape, endpoint=True).astype(self.type.dtype)


def _moments(example: AnyArray | None) -> tuple[float, float, bool]:
    """Mean, deviation and sign of the finite entries."""
    finite = np.zeros(0) if example is None else example[np.isfinite(example)].astype(np.float64)
    if not finite.size:
        return 0.0, 1.0, False
    deviation = float(finite.std())
    return float(finite.mean()), deviation or 1.0, bool(finite.min() >= 0 and finite.max() > 0)


def _some(share: float, shape: tuple[int, ...], rng: np.random.Generator) -> AnyArray:
    """A random mask with this share of True, and a False in each row."""
    mask = rng.random(shape) < share
    if mask.ndim and mask.size:
        spared = rng.integers(0, shape[-1], (*shape[:-1], 1))
        np.put_along_axis(mask, spared, False, axis=-1)
    return mask
