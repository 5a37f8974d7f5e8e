"""One way to compute a value over named indices, and the ways to split a sum; it chooses nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

ALL_ORDERS = 6
"""Sums of more members than this are added one after another, narrow ones first."""


@dataclass(frozen=True)
class Step:
    """One way to compute a value: `kind` with its attributes, over values by number.

    leaf · number(k), which may be infinite · mul · div · square · scale(k) · over(k): k / a · add · sub ·
    plus(k): a + k · minus(k): k − a · sum(S) · dot(S) · diagonal(j, i, summed) · fn(name, slots) ·
    red(kind, S) · ren(pairs) · delta · opaque. In a `fn`, `slots` holds a number where the operand is a
    literal and None where it is a value.
    """

    kind: str
    head: tuple[Any, ...]
    args: tuple[int, ...]
    law: str


def splits(members: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Ways to split a multiset in two, each once; many members only one after another."""
    n = len(members)
    if n > ALL_ORDERS:
        yield tuple(sorted(members[:-1])), members[-1:]
        return
    for mask in range(1, 1 << (n - 1)):
        left = tuple(sorted(members[k] for k in range(n) if not mask >> k & 1))
        right = tuple(sorted(members[k] for k in range(n) if mask >> k & 1))
        yield left, right
