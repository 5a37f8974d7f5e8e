"""Why two terms are equal: a record of what was joined, closed under congruence, and chains through it.

It knows neither laws nor the engine; a reason is a word. An equation of a chain is justified by what was
joined before it, so that no chain runs in a circle.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from saturate.algebra import Term

NORMAL_FORM = "equal normal form"
"""Both multiply out to the same sum of products."""
CONGRUENCE = "the same of equal operands"
CONSTANT = "its value is a known number"
UNKNOWN = "a law of this round"
"""A union that no rule wrote down."""

WEIGHT = {NORMAL_FORM: 5, CONGRUENCE: 3, UNKNOWN: 50}
"""Chains of least weight are told; a law weighs 2."""


@dataclass(frozen=True, eq=False)
class Equation:
    """Two terms that are equal, and why; `inside` has the chains of what had to be equal first.

    That is operands, or what a law matched in another form than the one that stands in `left`.
    """

    left: Term
    right: Term
    reason: str
    inside: tuple[tuple[Equation, ...], ...] = ()


@dataclass(frozen=True)
class _Edge:
    ends: tuple[int, int]
    reason: str
    number: int
    pairs: tuple[tuple[int, int], ...] = ()

    def other(self, end: int) -> int:
        return self.ends[1] if self.ends[0] == end else self.ends[0]


class Proof:
    """Terms, what was joined and why, and the congruences that follow."""

    def __init__(self) -> None:
        self.terms: dict[int, Term] = {}
        self._parent: dict[int, int] = {}
        self._users: dict[int, list[int]] = {}
        self._signed: dict[Hashable, int] = {}
        self._edges: dict[int, list[_Edge]] = {}
        self._count = 0

    def add(self, terms: Iterable[Term]) -> None:
        """Terms, operands before readers; one whose operands are equal to another's is equal to it."""
        for term in terms:
            if term.id in self.terms:
                continue
            self.terms[term.id] = term
            self._parent[term.id] = term.id
            self._edges[term.id] = []
            self._users[term.id] = []
            for root in {self.root(a.id) for a in term.args}:
                self._users[root].append(term.id)
            twin = self._signed.setdefault(self._sign(term), term.id)
            if twin != term.id:
                self._join_all([(twin, term.id, CONGRUENCE)])

    def root(self, number: int) -> int:
        """What stands for all terms that are known to equal this one, by their numbers."""
        while self._parent[number] != number:
            self._parent[number] = self._parent[self._parent[number]]
            number = self._parent[number]
        return number

    def same(self, a: int, b: int) -> bool:
        """Whether two terms are known to be equal."""
        return self.root(a) == self.root(b)

    def join(self, a: int, b: int, reason: str, used: tuple[tuple[int, int], ...] = ()) -> None:
        """State that two terms are equal, and what follows for all terms over them; `used` are pairs of terms
        that were equal before and had to be.
        """
        if a != b:
            self._join_all([(a, b, reason)], tuple(p for p in used if self.same(*p)))

    def _join_all(self, waiting: list[tuple[int, int, str]], used: tuple[tuple[int, int], ...] = ()) -> None:
        while waiting:
            a, b, reason = waiting.pop(0)
            x, y = self.root(a), self.root(b)
            if reason == CONGRUENCE and x == y:
                continue
            pairs = self._pairs(self.terms[a], self.terms[b]) if reason == CONGRUENCE else used
            edge = _Edge((a, b), reason, self._count, pairs)
            self._count += 1
            self._edges[a].append(edge)
            self._edges[b].append(edge)
            if x != y:
                kept, lost = (x, y) if len(self._users[x]) >= len(self._users[y]) else (y, x)
                self._parent[lost] = kept
                moved = self._users.pop(lost)
                self._users[kept] += moved
                waiting += self._resigned(moved)

    def _resigned(self, users: Sequence[int]) -> list[tuple[int, int, str]]:
        found: list[tuple[int, int, str]] = []
        for user in users:
            twin = self._signed.setdefault(self._sign(self.terms[user]), user)
            if not self.same(twin, user):
                found.append((twin, user, CONGRUENCE))
        return found

    def _sign(self, term: Term) -> Hashable:
        roots = [self.root(a.id) for a in term.args]
        if term.kind in ("con", "plus"):
            roots.sort()
        return (term.kind, term.head, term.dtype, tuple(roots))

    def _pairs(self, a: Term, b: Term) -> tuple[tuple[int, int], ...]:
        """Operands that are equal, in pairs; of a product or sum those that both have stand first."""
        left, right = [t.id for t in a.args], [t.id for t in b.args]
        if a.kind in ("con", "plus"):
            for number in list(left):
                if number in right:
                    left.remove(number)
                    right.remove(number)
            left.sort(key=self.root)
            right.sort(key=self.root)
        return tuple(dict.fromkeys((x, y) for x, y in zip(left, right, strict=True) if x != y))

    def least(self) -> dict[int, int]:
        """For every term the least number of its class."""
        found: dict[int, int] = {}
        for number in sorted(self.terms):
            found.setdefault(self.root(number), number)
        return {number: found[self.root(number)] for number in self.terms}

    # chains

    def chain(self, a: int, b: int) -> tuple[Equation, ...] | None:
        """Equations from term a to term b, none where they are one; None where they are not known equal."""
        if not self.same(a, b):
            return None
        return self._chain(a, b, self._count, set())

    def _chain(self, a: int, b: int, before: int, told: set[tuple[int, int]]) -> tuple[Equation, ...]:
        """`told` holds the operands whose chains stand further up already."""
        found: list[Equation] = []
        for start, edge in self._path(a, b, before):
            inside: list[tuple[Equation, ...]] = []
            for x, y in edge.pairs:
                pair = (y, x) if edge.reason == CONGRUENCE and start != edge.ends[0] else (x, y)
                if (min(pair), max(pair)) not in told:
                    told.add((min(pair), max(pair)))
                    inside.append(self._chain(*pair, edge.number, told))
            left, right = self.terms[start], self.terms[edge.other(start)]
            found.append(Equation(left, right, edge.reason, tuple(inside)))
        return tuple(found)

    def _path(self, a: int, b: int, before: int) -> list[tuple[int, _Edge]]:
        """The edges of least weight from a to b among those that were there before, each with its start."""
        best: dict[int, tuple[int, _Edge] | None] = {}
        queue: list[tuple[int, int, int, tuple[int, _Edge] | None]] = [(0, 0, a, None)]
        pushed = 0
        while queue:
            weight, _, at, came = heapq.heappop(queue)
            if at in best:
                continue
            best[at] = came
            if at == b:
                break
            for edge in self._edges[at]:
                if edge.number < before and edge.other(at) not in best:
                    pushed += 1
                    more = WEIGHT.get(edge.reason, 2) + len(edge.pairs)
                    heapq.heappush(queue, (weight + more, pushed, edge.other(at), (at, edge)))
        steps: list[tuple[int, _Edge]] = []
        here = best[b]
        while here is not None:
            steps.append(here)
            here = best[here[0]]
        return steps[::-1]
