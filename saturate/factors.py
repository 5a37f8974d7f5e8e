"""The last steps of one product, by the subsets of its factors; it sees no other product.

Two subsets are multiplied, or contracted over the indices that occur nowhere else; a factor alone is summed
over such indices; and the coefficient joins a narrow factor or the end. Subsets larger than all that they are
made of and made for are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from saturate.algebra import Ix
from saturate.facts import FINITE
from saturate.step import Step

if TYPE_CHECKING:
    from saturate.lattice import Lattice

MANY = 8
"""A product of more factors is split into the first few and the rest, not into any two subsets."""


class Factors:
    """The factors of k · Σ ∏ over classes of terms; a subset of them is a mask."""

    def __init__(
        self,
        lattice: Lattice,
        k: Fraction,
        summed: frozenset[Ix],
        factors: tuple[int, ...],
        dtype: str,
        law: str,
    ) -> None:
        self.lattice, self.k, self.summed, self.factors = lattice, k, summed, factors
        self.dtype, self.law = dtype, law
        self.frees = [lattice.classes.free[f] for f in factors]
        self.full = (1 << len(factors)) - 1
        self._seen: dict[int, frozenset[Ix]] = {}
        self._alone: dict[int, frozenset[Ix]] = {}
        self.result = self._out(self.full)
        self.limit = max([lattice.size(self.result), *(lattice.size(f) for f in self.frees)])

    def _indices(self, mask: int) -> frozenset[Ix]:
        if mask not in self._seen:
            self._seen[mask] = frozenset().union(*(f for k, f in enumerate(self.frees) if mask >> k & 1))
        return self._seen[mask]

    def _private(self, mask: int) -> frozenset[Ix]:
        """Summed indices that occur in the subset alone."""
        if mask not in self._alone:
            self._alone[mask] = (self._indices(mask) & self.summed) - self._indices(self.full & ~mask)
        return self._alone[mask]

    def _out(self, mask: int) -> frozenset[Ix]:
        return self._indices(mask) - self._private(mask)

    def _sub(self, mask: int, k: Fraction = Fraction(1), keep: frozenset[Ix] = frozenset()) -> int:
        """The value of a subset, summed over what occurs in it alone but for `keep`."""
        chosen = tuple(f for n, f in enumerate(self.factors) if mask >> n & 1)
        return self.lattice.product(k, self._private(mask) - keep, chosen, self.dtype, self.law)

    def steps(self) -> Iterator[Step]:
        """Every last step of the product."""
        n = len(self.factors)
        if n == 0:
            yield Step("number", (self.k,), (), self.law)
            return
        if self.k != 1:
            yield from self._scaled()
        if n == 1:
            yield from self._single()
        elif self.k == 1:
            yield from self._pairs()

    def _scaled(self) -> Iterator[Step]:
        """The coefficient at the end, or on any factor, so that results can share a scaled factor."""
        yield Step("scale", (self.k,), (self._sub(self.full),), self.law)
        if len(self.factors) > 1:
            yield from self._pairs()
        elif self._private(1):
            scaled = self.lattice.product(self.k, frozenset(), self.factors, self.dtype, self.law)
            yield Step("sum", (self._private(1),), (scaled,), self.law)

    def _single(self) -> Iterator[Step]:
        factor, private = self.factors[0], self._private(1)
        if private:
            if self.k == 1:
                yield Step("sum", (private,), (self.lattice.value(factor),), self.law)
            return
        below = self.lattice.reciprocal_of(factor)
        if below is not None:
            yield Step("over", (self.k,), (self.lattice.value(below),), self.law)

    def _pairs(self) -> Iterator[Step]:
        """Two subsets; the coefficient goes to either. Where one may not leave the sum of the other, all are
        multiplied and then summed.
        """
        k, one = self.k, Fraction(1)
        inside = False
        for left in self._lefts():
            right = self.full & ~left
            if not (self._outside(left, right) and self._outside(right, left)):
                inside = True
                continue
            shared = self._private(self.full) - self._private(left) - self._private(right)
            for ks in ((one, one),) if k == 1 else ((k, one), (one, k)):
                a, b = self._sub(left, ks[0]), self._sub(right, ks[1])
                yield from self._pair(left, right, a, b, shared, ks)
        if inside:
            summed = self._private(self.full)
            yield Step("sum", (summed,), (self._sub(self.full, k, keep=summed),), self.law)

    def _lefts(self) -> list[int]:
        """One of each two subsets that are not wide, or as narrow as there are; of many factors only the
        first few or a single one, or there would be 3ⁿ pairs.
        """
        n = len(self.factors)
        lefts: Sequence[int] = range(1, self.full // 2 + 1)
        if n > MANY:
            firsts = [(1 << k) - 1 for k in range(1, n)]
            lefts = firsts if min(map(self._width, firsts)) <= self.limit else [1 << k for k in range(n)]
        widths = [self._width(left) for left in lefts]
        most = max(self.limit, min(widths))
        return [left for left, width in zip(lefts, widths, strict=True) if width <= most]

    def _outside(self, mask: int, other: int) -> bool:
        """Whether a subset may be multiplied with the other after that is summed: only what is finite, since
        −∞·(1 − 2) is ∞ and −∞·1 − −∞·2 is NaN.
        """
        return not self._private(other) or self._finite(mask)

    def _finite(self, mask: int) -> bool:
        facts = self.lattice.classes.facts
        return all(FINITE in facts[f] for k, f in enumerate(self.factors) if mask >> k & 1)

    def _width(self, left: int) -> int:
        """Elements of the larger one of two subsets."""
        return max(self.lattice.size(self._out(mask)) for mask in (left, self.full & ~left))

    def _pair(
        self, left: int, right: int, a: int, b: int, shared: frozenset[Ix], ks: tuple[Fraction, Fraction]
    ) -> Iterator[Step]:
        if shared:
            yield from self._diagonal(left, right, b, shared, ks[0])
            yield from self._diagonal(right, left, a, shared, ks[1])
            yield Step("dot", (shared,), (a, b), self.law)
            if self.k == 1 and self._out(left) == self._out(right):
                whole = self._sub(self.full, keep=shared)
                yield Step("sum", (shared,), (whole,), self.law)
            return
        yield Step("square", (), (a,), self.law) if a == b else Step("mul", (), (a, b), self.law)
        for over, other, k in ((left, b, ks[0]), (right, a, ks[1])):
            below = self._below(over)
            if below is not None and k == 1:
                yield Step("div", (), (other, below), self.law)

    def _diagonal(
        self, mask: int, rest: int, other: int, shared: frozenset[Ix], k: Fraction
    ) -> Iterator[Step]:
        """Σ_j δ(i,j)·a where a is finite and carries both: the elements of a with i = j, summed where i is
        summed too.
        """
        chosen = [f for n, f in enumerate(self.factors) if mask >> n & 1]
        heads = [node.head for node in self.lattice.classes.nodes[chosen[0]] if node.kind == "delta"]
        if len(chosen) == 1 and heads and k == 1 and self._finite(rest):
            i, j = heads[0] if heads[0][1] in shared else heads[0][::-1]
            if {i, j} <= self.lattice.free[other] and shared <= {i, j}:
                yield Step("diagonal", (j, i, i in shared), (other,), self.law)

    def _below(self, mask: int) -> int | None:
        """The value of x where the subset is 1/x."""
        below = [self.lattice.reciprocal_of(f) for n, f in enumerate(self.factors) if mask >> n & 1]
        if any(b is None for b in below) or self._private(mask):
            return None
        chosen = tuple(sorted(b for b in below if b is not None))
        return self.lattice.product(Fraction(1), frozenset(), chosen, self.dtype, self.law)
