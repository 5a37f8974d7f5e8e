"""The index algebra: terms over named indices, shared and hash-consed; it knows no op and no e-graph.

A term has free indices instead of axes, so broadcasting and transposition are no operations. An index is a
size and an ordinal. The kinds of term, with `head` (attributes) and `args` (operands):

    leaf    (name, indices)      ()       an input or an array constant, its axes in order
    con     (k, summed indices)  factors  k · Σ ∏, the factors a multiset; with no factors the constant k
    plus    ()                   members  Σ of a multiset of two or more members
    fn      (name,)              operands an elementwise function
    red     (kind, indices)      (a,)     max, min or prod over indices
    delta   (i, j)               ()       1 where i = j, else 0
    ren     ((i, j), …)          (a,)     a with every i renamed to j at once
    opaque  (key, results, operand indices) operands   an op that the algebra does not look into
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from saturate import bounds as between
from saturate import facts as known
from saturate.bounds import UNBOUNDED, Bounds
from saturate.facts import FINITE, NONNEG, NONZERO, Facts


class Ix(NamedTuple):
    """A named index: the `ordinal`-th index of its size."""

    size: int
    ordinal: int

    def __str__(self) -> str:
        return f"{'ijklmnpqrs'[self.ordinal % 10]}{self.ordinal // 10 or ''}:{self.size}"


Indices = frozenset[Ix]

MERGED_FACTORS = 8
"""Products are merged up to this many factors; the orders of a contraction grow as 3ⁿ."""


@dataclass(frozen=True, eq=False, slots=True)
class Term:
    """One shared term; made by `Terms`, compared by identity."""

    id: int
    kind: str
    head: tuple[Any, ...]
    args: tuple[Term, ...]
    dtype: str
    free: Indices
    facts: Facts
    units: Indices = frozenset()
    """Indices over each of which the term sums to one, as one-hot rows do, and what is over its own sum."""
    bounds: Bounds = UNBOUNDED

    @property
    def constant(self) -> Fraction | None:
        """The value of a constant term, else None."""
        return self.head[0] if self.kind == "con" and not self.args and not self.head[1] else None

    def __str__(self) -> str:
        return show(self)


def show(term: Term, depth: int = 12) -> str:
    """The term as mathematics, cut off below `depth`."""
    if depth == 0:
        return "…"
    inner = [show(a, depth - 1) for a in term.args]
    match term.kind:
        case "leaf":
            name, indices = term.head
            return f"{name}[{','.join(str(i) for i in indices)}]"
        case "con":
            k, summed = term.head
            sign = f"Σ{{{','.join(map(str, sorted(summed)))}}} " if summed else ""
            parts = ([] if k == 1 and inner else [str(k)]) + [f"({x})" if " + " in x else x for x in inner]
            return sign + "·".join(parts)
        case "plus":
            return " + ".join(inner)
        case "red":
            kind, indices = term.head
            return f"{kind}{{{','.join(map(str, sorted(indices)))}}}({inner[0]})"
        case "ren":
            return f"({inner[0]})[{', '.join(f'{i}→{j}' for i, j in term.head)}]"
        case "delta":
            return f"δ({term.head[0]},{term.head[1]})"
        case _:
            name = term.head[0] if term.kind == "fn" else term.head[0][0]
            return f"{name}({', '.join(inner)})" if inner else str(name)


class Terms:
    """A pool of shared terms with constructors that keep the n-ary normal shape.

    Products merge factors that are plain products while they stay short, and collect coefficients; sums
    collect constants and like members; a reciprocal moves into a plain product. The rest is for laws.
    """

    def __init__(self) -> None:
        self._pool: dict[tuple[Any, ...], Term] = {}
        self.all: list[Term] = []

    def _make(
        self,
        kind: str,
        head: tuple[Any, ...],
        args: tuple[Term, ...],
        dtype: str,
        free: Indices,
        facts: Facts,
        units: Indices = frozenset(),
        bounds: Bounds = UNBOUNDED,
    ) -> Term:
        key = (kind, head, tuple(a.id for a in args), dtype)
        found = self._pool.get(key)
        if found is None:
            found = Term(len(self.all), kind, head, args, dtype, free, facts, units, bounds)
            self._pool[key] = found
            self.all.append(found)
        return found

    @staticmethod
    def learn(term: Term, facts: Facts) -> None:
        """Add facts that were assumed or proved elsewhere; terms made from it before do not know them."""
        if not term.facts >= facts:
            object.__setattr__(term, "facts", term.facts | facts)

    def leaf(
        self,
        name: str,
        indices: tuple[Ix, ...],
        dtype: str,
        facts: Facts = frozenset(),
        units: Indices = frozenset(),
        bounds: Bounds = UNBOUNDED,
    ) -> Term:
        """An input or array constant with its axes in order; it sums to one over each of `units`."""
        return self._make("leaf", (name, indices), (), dtype, frozenset(indices), facts, units, bounds)

    def number(self, value: Fraction | float, dtype: str) -> Term:
        """A scalar constant; a non-finite one is a function without operands."""
        if isinstance(value, Fraction) or isfinite(value):
            return self.con(Fraction(value), frozenset(), (), dtype)
        return self._make("fn", (f"literal:{float(value)!r}",), (), dtype, frozenset(), frozenset())

    def con(self, k: Fraction, summed: Indices, factors: Iterable[Term], dtype: str) -> Term:
        """k · Σ_summed ∏ factors."""
        members: list[Term] = []
        summed = frozenset(summed)
        pending = list(factors)
        while pending:
            factor = pending.pop(0)
            short = len(factor.args) + len(members) + len(pending) <= MERGED_FACTORS
            if factor.kind == "con" and not factor.head[1] and short:
                k *= factor.head[0]
                pending = list(factor.args) + pending
            else:
                members.append(factor)
        if k == 0:
            if all(FINITE in f.facts for f in members):
                members, summed = [], frozenset()
        members, summed = self._diagonals(members, summed)
        free: Indices = frozenset().union(*(m.free for m in members))
        for index in sorted(summed - free):
            k *= index.size
        summed &= free
        if k == 1 and not summed and len(members) == 1:
            return members[0]
        return self.plain_con(k, summed, members, dtype)

    def plain_con(self, k: Fraction, summed: Indices, members: Iterable[Term], dtype: str) -> Term:
        """The product as it is written: no member is looked into."""
        members = sorted(members, key=lambda m: m.id)
        free: Indices = frozenset().union(*(m.free for m in members))
        counts = Counter(m.id for m in members)
        facts = known.of_product(k, bool(summed), {m.id: (counts[m.id], m.facts) for m in members})
        if _is_tie_count(summed, members) and k > 0:
            facts |= {NONZERO}
        units = frozenset[Ix]() if summed else _shares(k, members)
        bounds = between.of_product(k, bool(summed), [m.bounds for m in members])
        if units and NONNEG in facts:
            bounds = between.SHARES
        return self._make("con", (k, summed), tuple(members), dtype, free - summed, facts, units, bounds)

    def _diagonals(self, members: list[Term], summed: Indices) -> tuple[list[Term], Indices]:
        """Σ_j δ(i,j)·a = a[j → i], where that can be said of every other factor; 0·∞ is no number, so all of
        them are finite.
        """
        if not all(FINITE in m.facts for m in members):
            return members, summed
        for delta in [m for m in members if m.kind == "delta"]:
            for i, j in (delta.head, delta.head[::-1]):
                others = [self._with_equal(m, j, i) for m in members if m is not delta]
                if j in summed and all(m is not None for m in others):
                    members = [m for m in others if m is not None]
                    summed -= {j}
                    break
        return members, summed

    def _with_equal(self, a: Term, j: Ix, i: Ix) -> Term | None:
        """`a` where j = i; None where one factor carries both, which is a diagonal and no renaming."""
        if j not in a.free or i not in a.free:
            return self.rename(a, {j: i})
        if a.kind != "con" or a.head[1] & {i, j}:
            return None
        factors = [self._with_equal(f, j, i) for f in a.args]
        if any(f is None for f in factors):
            return None
        k, summed = a.head
        return self.con(k, summed, [f for f in factors if f is not None], a.dtype)

    def plus(self, members: Iterable[Term], dtype: str) -> Term:
        """Sum of members; constants are added up and equal members counted, those that may be infinite by
        their signs apart: 2·∞ − ∞ is no number.
        """
        constant = Fraction(0)
        counts: dict[tuple[int, bool], tuple[Fraction, Term]] = {}
        for member in members:
            if member.constant is not None:
                constant += member.constant
                continue
            k, core = self._split(member)
            apart = (core.id, k < 0 and FINITE not in core.facts)
            counts[apart] = (counts.get(apart, (Fraction(0), core))[0] + k, core)
        kept = [
            self.con(k, frozenset(), (core,), dtype)
            for k, core in counts.values()
            if k != 0 or FINITE not in core.facts
        ]
        if constant != 0 or not kept:
            kept.append(self.number(constant, dtype))
        return kept[0] if len(kept) == 1 else self.plain_plus(kept, dtype)

    def plain_plus(self, members: Iterable[Term], dtype: str) -> Term:
        """The sum as it is written: no member is looked into."""
        members = tuple(sorted(members, key=lambda m: m.id))
        free: Indices = frozenset().union(*(m.free for m in members))
        facts = known.of_sum(tuple(m.facts for m in members))
        bounds = between.of_sum([m.bounds for m in members])
        return self._make("plus", (), members, dtype, free, facts, bounds=bounds)

    def _split(self, member: Term) -> tuple[Fraction, Term]:
        if member.kind != "con" or member.head[0] in (0, 1):
            return Fraction(1), member
        k, summed = member.head
        return k, self.con(Fraction(1), summed, member.args, member.dtype)

    def fn(self, name: str, operands: tuple[Term, ...], dtype: str) -> Term:
        """An elementwise function; a choice that is none, or by δ among finite numbers and 0, is decided."""
        chosen = self._chosen(*operands) if name == "where" else None
        if chosen is not None:
            return chosen
        free: Indices = frozenset().union(*(o.free for o in operands))
        facts = known.of_function(name, tuple(o.facts for o in operands))
        bounds = between.of_function(name, [o.bounds for o in operands])
        return self._make("fn", (name,), operands, dtype, free, facts, bounds=bounds)

    def _chosen(self, condition: Term, a: Term, b: Term) -> Term | None:
        """What a choice comes to without looking at elements: equal alternatives, a number, or δ·a."""
        if a is b or condition.constant is not None:
            return b if condition.constant == 0 else a
        if condition.kind == "delta" and b.constant == 0 and FINITE in a.facts and is_float(a.dtype):
            i, j = condition.head
            return self.con(Fraction(1), frozenset(), (self.delta(i, j, a.dtype), a), a.dtype)
        return None

    def recip(self, a: Term) -> Term:
        """1 / a."""
        if a.constant:
            return self.number(1 / a.constant, a.dtype)
        if a.kind == "con" and not a.head[1] and a.head[0] != 0:
            return self.con(1 / a.head[0], frozenset(), [self.recip(f) for f in a.args], a.dtype)
        return self.fn("recip", (a,), a.dtype)

    def red(self, kind: str, indices: Indices, a: Term) -> Term:
        """Maximum, minimum or product over indices; indices that `a` lacks are dropped for max and min."""
        if kind in ("max", "min"):
            indices &= a.free
        if not indices:
            return a
        facts, bounds = known.of_reduction(a.facts), a.bounds if kind in ("max", "min") else UNBOUNDED
        return self._make("red", (kind, indices), (a,), a.dtype, a.free - indices, facts, bounds=bounds)

    def delta(self, i: Ix, j: Ix, dtype: str) -> Term:
        """1 where i = j, else 0."""
        both = frozenset((i, j))
        facts, bounds = known.ZERO_OR_ONE, (Fraction(0), Fraction(1))
        return self._make("delta", (min(i, j), max(i, j)), (), dtype, both, facts, both, bounds)

    def opaque(
        self,
        key: Any,
        results: tuple[Ix | None, ...],
        operands: tuple[tuple[Term, tuple[Ix | None, ...]], ...],
        dtype: str,
        finite: bool,
    ) -> Term:
        """An op outside the algebra, its operands' axes with the given indices in order.

        `finite`: it makes finite values of finite operands.
        """
        head = (key, results, tuple(indices for _, indices in operands))
        free = frozenset(i for i in results if i is not None)
        proved = finite and all(FINITE in o.facts for o, _ in operands)
        facts = frozenset((FINITE,)) if proved else frozenset[str]()
        return self._make("opaque", head, tuple(o for o, _ in operands), dtype, free, facts)

    def rename(self, a: Term, mapping: Mapping[Ix, Ix]) -> Term:
        """`a` with indices renamed at once; pushed into leaves, deltas and their products, else a `ren`."""
        pairs = {i: j for i, j in mapping.items() if i in a.free and i != j}
        if not pairs:
            return a
        if a.kind == "leaf":
            name, indices = a.head
            units = frozenset(_image(i, pairs) for i in a.units)
            return self.leaf(
                name, tuple(_image(i, pairs) for i in indices), a.dtype, a.facts, units, a.bounds
            )
        if a.kind == "delta":
            return self.delta(_image(a.head[0], pairs), _image(a.head[1], pairs), a.dtype)
        if a.kind == "con" and not a.head[1] & set(pairs.values()) and _moves(a, set(pairs)):
            k, summed = a.head
            return self.con(k, summed, [self.rename(f, pairs) for f in a.args], a.dtype)
        free = frozenset(pairs.get(i, i) for i in a.free)
        return self._make("ren", tuple(sorted(pairs.items())), (a,), a.dtype, free, a.facts, bounds=a.bounds)


def _image(index: Ix, pairs: Mapping[Ix, Ix]) -> Ix:
    return pairs.get(index, index)


def _is_tie_count(summed: Indices, members: list[Term]) -> bool:
    """Whether the product counts where `a` equals its own maximum or minimum, which is at least once."""
    if len(members) != 1 or not members[0].head or not str(members[0].head[0]).startswith("cast:"):
        return False
    equal = members[0].args[0]
    if equal.kind != "fn" or equal.head != ("equal",):
        return False
    return any(
        m.kind == "red" and m.head[0] in ("max", "min") and m.head[1] == summed and m.args[0] is a
        for a, m in (equal.args, equal.args[::-1])
    )


def _shares(k: Fraction, members: Sequence[Term]) -> Indices:
    """The index over which k·∏ members sums to one: one of them is 1 / (k·Σ of the others)."""
    for member in members:
        total = member.args[0] if member.kind == "fn" and member.head == ("recip",) else member
        if total is not member and total.kind == "con" and {NONZERO, FINITE} <= total.facts:
            others = [m.id for m in members if m is not member]
            if len(total.head[1]) == 1 and total.head[0] == k and [a.id for a in total.args] == others:
                return frozenset(total.head[1])
    return frozenset()


def _moves(a: Term, renamed: set[Ix]) -> bool:
    """Whether a renaming costs nothing inside the term: what carries the indices are leaves."""
    if not a.free & renamed:
        return True
    return a.kind in ("leaf", "delta") or (a.kind == "con" and all(_moves(f, renamed) for f in a.args))


def is_float(dtype: str) -> bool:
    """Whether terms of this dtype are elements of the ring."""
    return np.dtype(dtype).kind == "f"
