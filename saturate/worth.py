"""What terms are worth on given arrays, in float64, and how far two of them are apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import numpy as np

from saturate.algebra import Ix, Term
from saturate.audit import arranged, node_value
from saturate.normal import needed
from saturate.op import AnyArray

ALLOWED = 1e-7
"""Difference of equal terms in parts of the largest value that they are made of."""


@dataclass
class Worth:
    """Values of terms over their free indices in order, `leaves` holding arrays by the names of leaves."""

    leaves: Mapping[str, AnyArray]
    _values: dict[int, AnyArray] = field(default_factory=dict)
    _scales: dict[int, float] = field(default_factory=dict)

    def of(self, term: Term) -> AnyArray:
        """The value of a term; numbers of terms have to be those of one pool and what was added to it."""
        for inner in needed([term]):
            if inner.id not in self._values:
                with np.errstate(all="ignore"):
                    self._values[inner.id] = self._value(inner)
        return self._values[term.id]

    def _value(self, term: Term) -> AnyArray:
        args = [self._values[a.id] for a in term.args]
        frees = [a.free for a in term.args]
        if term.kind == "con" and len(args) > 1 and term.head[1]:
            return _contracted(term, args)
        value, _ = node_value(term.kind, term.head, args, frees, self.leaves)
        return np.asarray(value, np.float64 if np.dtype(term.dtype).kind == "f" else term.dtype)

    def difference(self, left: Term, right: Term, other: Worth | None = None) -> float:
        """The largest distance of two terms, in parts of their scale and of their operands'; 0 where all are
        NaN or infinite alike. `other` has the values of `right` where it is of another pool.
        """
        return self._apart(left, right, other or self, {})

    def difference_by_any_names(self, left: Term, right: Term, other: Worth) -> float:
        """The same where the pools may call an axis by other names: the least over those of equal sizes."""
        mine, theirs = sorted(left.free), sorted(right.free)
        if mine == theirs or sorted(i.size for i in mine) != sorted(i.size for i in theirs):
            return self.difference(left, right, other)
        orders = (
            o for o in permutations(mine) if all(i.size == j.size for i, j in zip(o, theirs, strict=True))
        )
        return min(self._apart(left, right, other, dict(zip(theirs, o, strict=True))) for o in orders)

    def _apart(self, left: Term, right: Term, there: Worth, renamed: Mapping[Ix, Ix]) -> float:
        """`renamed` gives the indices of `right` the names that `left` has for them."""
        order = [renamed.get(i, i) for i in sorted(right.free)]
        every = tuple(sorted(left.free | set(order)))
        turned = there.of(right).transpose([order.index(i) for i in sorted(order)])
        a = arranged(self.of(left), left.free, every).astype(np.float64)
        b = arranged(turned, frozenset(order), every).astype(np.float64)
        a, b = np.broadcast_arrays(a, b)
        both = np.isfinite(a) & np.isfinite(b)
        if not np.array_equal(a[~both], b[~both], equal_nan=True):
            return np.inf
        scales = [self.scale(t) for t in (left, *left.args)] + [there.scale(t) for t in (right, *right.args)]
        return float(np.max(np.abs(a[both] - b[both]), initial=0.0)) / (max(scales) or 1.0)

    def scale(self, term: Term) -> float:
        """The largest finite magnitude of a term."""
        if term.id not in self._scales:
            value = np.abs(self.of(term).astype(np.float64))
            self._scales[term.id] = float(np.max(value[np.isfinite(value)], initial=0.0))
        return self._scales[term.id]


def _contracted(term: Term, args: Iterable[AnyArray]) -> AnyArray:
    """k · Σ ∏ without the array of all indices at once."""
    k, summed = term.head
    every = sorted(frozenset[Ix]().union(*(a.free for a in term.args)))
    place = {index: n for n, index in enumerate(every)}
    given: list[Any] = []
    for operand, value in zip(term.args, args, strict=True):
        given += [value.astype(np.float64), [place[i] for i in sorted(operand.free)]]
    out = [place[i] for i in every if i not in summed]
    missing = float(np.prod([float(i.size) for i in summed - frozenset(every)]))
    return np.asarray(np.einsum(*given, out, optimize="greedy")) * float(k) * missing
