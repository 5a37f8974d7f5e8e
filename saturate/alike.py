"""Which sums are one but for the names of the indices that they are over; it knows no term's meaning."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, permutations, product
from math import factorial, prod

from saturate.algebra import Indices, Ix, Term
from saturate.facts import Facts

Monomial = tuple[tuple[int, int], ...]
"""Pairs of an atom and its exponent, ordered by atom."""
Form = tuple[tuple[Monomial, Fraction], ...]
"""Monomials with coefficients, ordered."""
Place = tuple[int, str, int]
"""What stands for a bound index: its size, a mark that no index has, and a number."""
Names = Mapping[Ix, Place | Ix]
ORDERS = 24
"""Sums over more indices of equal size, in more orders than this, keep their names."""


@dataclass(frozen=True)
class Atom:
    """What normal forms do not look into: a term, or a sum over indices of a monomial."""

    free: Indices
    facts: Facts
    summed: Indices
    body: Monomial
    term: Term | None

    @property
    def units(self) -> Indices:
        """Indices over each of which the atom sums to one."""
        return self.term.units if self.term else frozenset()


class Alike:
    """Numbers for sums of atoms: two sums have one number only if they are equal up to bound names."""

    def __init__(self, atoms: Sequence[Atom], form: Callable[[Term], Form]) -> None:
        self._atoms, self._form = atoms, form
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[tuple[int, frozenset[tuple[Ix, Place | Ix]]], int] = {}

    def sum(self, indices: Indices, part: Monomial, names: Names | None = None) -> int:
        """The number of Σ_indices of a monomial; `names` stand for indices that are bound outside."""
        names = names or {}
        keys = [
            (sorted(mine.values()), self._monomial(part, {**names, **mine}))
            for mine in _namings(indices, names)
        ]
        bound, written = min(keys)
        return self._number(("sum", tuple(bound), written))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _monomial(self, monomial: Monomial, names: Names) -> tuple[tuple[int, int], ...]:
        return tuple(sorted((self._atom(a, names), e) for a, e in monomial))

    def _atom(self, number: int, names: Names) -> int:
        atom = self._atoms[number]
        names = {i: place for i, place in names.items() if i in atom.free}
        if not names:
            return self._number(("atom", number))
        key = (number, frozenset(names.items()))
        if key not in self._known:
            if atom.term is None:
                self._known[key] = self.sum(atom.summed, atom.body, names)
            else:
                self._known[key] = self._term(atom.term, names)
        return self._known[key]

    def _term(self, term: Term, names: Names) -> int:
        match term.kind:
            case "ren":
                moved = dict(term.head)
                kept = {i: place for i, place in names.items() if i not in moved}
                inside = {i: names.get(j, j) for i, j in moved.items()}
                return self.written(self._form(term.args[0]), {**kept, **inside})
            case "con" | "red":
                return self.reduced(term, names)
            case _:
                head, inner = _renamed(term, names)
                forms = tuple(self.written(self._form(a), inner) for a in term.args)
                return self._number((term.kind, head, forms, term.dtype))

    def reduced(self, term: Term, names: Names | None = None) -> int:
        """The number of a reduction, or of a product that no form looks into."""
        kind, reduced = term.head
        names = names or {}
        keys = [
            (sorted(mine.values()), [self.written(self._form(a), {**names, **mine}) for a in term.args])
            for mine in _namings(reduced, names)
        ]
        bound, written = min(keys)
        return self._number((term.kind, kind, tuple(bound), tuple(written), term.dtype))

    def written(self, form: Form, names: Names) -> int:
        """The number of a form; that of an atom is the atom's own."""
        written = sorted((self._monomial(m, names), k) for m, k in form)
        if len(written) == 1 and written[0][1] == 1 and len(written[0][0]) == 1 and written[0][0][0][1] == 1:
            return written[0][0][0][0]
        return self._number(("form", tuple(written)))


def _renamed(term: Term, names: Names) -> tuple[Hashable, Names]:
    """The head of a term that binds nothing under other names, and the names inside of its operands."""

    def called(index: Ix | None) -> Ix | Place | None:
        return names.get(index, index) if index is not None else None

    match term.kind:
        case "leaf":
            return (term.head[0], tuple(map(called, term.head[1]))), {}
        case "delta":
            return frozenset(map(called, term.head)), {}
        case "fn" | "plus":
            return term.head, names
        case _:
            key, results, indices = term.head
            return (key, tuple(map(called, results)), indices), {}


def _namings(indices: Indices, names: Names) -> Iterator[dict[Ix, Place]]:
    """The ways to put places for indices: all orders among those of one size, while they are few."""
    taken = set(names.values())
    groups = [list(group) for _, group in groupby(sorted(indices), key=lambda i: i.size)]
    if prod(factorial(len(group)) for group in groups) > ORDERS:
        yield {i: (i.size, "as it is", i.ordinal) for i in indices}
        return
    for orders in product(*(permutations(group) for group in groups)):
        mine: dict[Ix, Place] = {}
        for order in orders:
            free = [k for k in range(len(taken) + len(order)) if (order[0].size, "bound", k) not in taken]
            mine |= {i: (i.size, "bound", k) for i, k in zip(order, free, strict=False)}
        yield mine
