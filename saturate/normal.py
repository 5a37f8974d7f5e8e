"""Equality by computation: sum-of-products normal forms of terms; it searches nothing.

A form maps monomials to exact coefficients; a monomial is a product of atoms with integer exponents. A sum
over indices splits off the finite factors that lack them, splits into connected parts, and what is left
becomes an atom, or one where it is known to sum to one. The reciprocal of a monomial that is nowhere zero
negates exponents. Everything else is an atom over the forms of its operands. A form that would pass `LIMIT`
monomials is frozen as an atom, so the cost stays linear in the program.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

from saturate import facts as known
from saturate.algebra import Indices, Ix, Term, Terms
from saturate.alike import Alike, Atom, Form, Monomial, Place
from saturate.facts import FINITE, NONZERO, Facts

LIMIT = 200
SHORT = 4
"""A form of at most so many monomials is written out beside a longer term; longer ones multiply in the
e-graph.
"""


class NormalForms:
    """Normal forms of the terms of one pool; equal forms mean equal values."""

    def __init__(self) -> None:
        self._atoms: list[Atom] = []
        self._by_key: dict[Any, int] = {}
        self._forms: dict[int, Form] = {}
        self._sizes: dict[int, int] = {}
        self._alike = Alike(self._atoms, self.of)

    def of(self, term: Term) -> Form:
        """The form of a term whose operands are not deeper than the terms asked for before."""
        found = self._forms.get(term.id)
        if found is None:
            for operand in term.args:
                self.of(operand)
            found = self._forms[term.id] = self._compute(term)
            self._learn(found, term.facts)
        return found

    def called(self, term: Term, axes: Sequence[Ix | None]) -> Hashable:
        """A name of the value with these axes in order, whatever they and bound indices are called: values
        of one name are equal. An axis that the term lacks does not count.
        """
        places: dict[Ix, Place] = {
            i: (i.size, "axis", k) for k, i in enumerate(axes) if i is not None and i in term.free
        }
        return self._alike.written(self.of(term), places), tuple(sorted(places.values()))

    def _learn(self, form: Form, facts: Facts) -> None:
        """What is known of a term is known of the atom that it is."""
        if len(form) == 1 and form[0][1] == 1 and len(form[0][0]) == 1 and form[0][0][0][1] == 1:
            atom = self._atoms[form[0][0][0][0]]
            if not atom.facts >= facts:
                self._atoms[form[0][0][0][0]] = replace(atom, facts=atom.facts | facts)

    def constant(self, form: Form) -> Fraction | None:
        """The number that the form is, if it is one."""
        if not form:
            return Fraction(0)
        return form[0][1] if len(form) == 1 and form[0][0] == () else None

    def _compute(self, term: Term) -> Form:
        match term.kind:
            case "con":
                return self._product(term)
            case "plus":
                found = self._sum([self.of(a) for a in term.args])
                return self._frozen(term) if found is None else found
            case "fn" if term.head == ("recip",):
                return self._recip(term)
            case _:
                return self._frozen(term)

    def _frozen(self, term: Term) -> Form:
        """The term as an atom over the forms of its operands."""
        key: Any = (term.kind, term.head, tuple(self.of(a) for a in term.args), term.dtype)
        if term.kind == "red":
            key = ("red", self._alike.reduced(term))
        return self._single(self._atom(key, Atom(term.free, term.facts, frozenset(), (), term)))

    def _atom(self, key: Any, atom: Atom) -> int:
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = len(self._atoms)
            self._atoms.append(atom)
        return found

    @staticmethod
    def _single(atom: int) -> Form:
        return ((((atom, 1),), Fraction(1)),)

    def _finite(self, monomial: Monomial) -> bool:
        return all(FINITE in self._atoms[a].facts for a, _ in monomial)

    def _sum(self, forms: Iterable[Form]) -> Form | None:
        """The sum of forms; None where terms of opposite signs meet that may be infinite, as 2·∞ − ∞ is no
        number, or where it passes the limit.
        """
        total: dict[Monomial, Fraction] = {}
        for form in forms:
            for monomial, k in form:
                before = total.get(monomial, Fraction(0))
                if before * k < 0 and not self._finite(monomial):
                    return None
                total[monomial] = before + k
        found = tuple(sorted((m, k) for m, k in total.items() if k != 0))
        return found if len(found) <= LIMIT else None

    def _product(self, term: Term) -> Form:
        k, summed = term.head
        product: Form | None = (((), k),) if k != 0 else ()
        for factor in term.args:
            form = self.of(factor)
            if product is None or len(product) * len(form) > LIMIT or not self._distributes(product, form):
                return self._frozen(term)
            product = self._sum(((self._merge(m, n), a * b),) for m, a in product for n, b in form)
        if product is not None and summed:
            product = self._sum(self._summed(m, c, summed) for m, c in product)
        if product is None or (not product and not all(FINITE in a.facts for a in term.args)):
            return self._frozen(term)
        return product

    def _distributes(self, a: Form, b: Form) -> bool:
        """Whether a·b may be multiplied out: ∞·(3 − 1) is infinite, and ∞·3 − ∞·1 is no number."""
        return (len(b) <= 1 or all(self._finite(m) for m, _ in a)) and (
            len(a) <= 1 or all(self._finite(m) for m, _ in b)
        )

    def _merge(self, left: Monomial, right: Monomial) -> Monomial:
        exponents = dict(left)
        for atom, e in right:
            exponents[atom] = exponents.get(atom, 0) + e
        return tuple(sorted((a, e) for a, e in exponents.items() if e != 0))

    def _summed(self, monomial: Monomial, k: Fraction, summed: Indices) -> Form:
        """k · Σ_summed of a monomial, split into what lacks the indices and connected parts.

        What may be infinite stays in the sum, as Σ_j ∞·(3, −1) is no number, and ∞·Σ_j (3, −1) is infinite.
        """
        inside = [(a, e) for a, e in monomial if self._atoms[a].free & summed]
        missing = summed.difference(*(self._atoms[a].free for a, _ in inside))
        for index in missing:
            k *= index.size
        if inside and not self._finite(monomial):
            stays = tuple((a, e) for a, e in monomial if (a, e) in inside or not self._finite(((a, e),)))
            outside = tuple(p for p in monomial if p not in stays)
            return ((self._merge(outside, ((self._sum_atom(stays, summed - missing), 1),)), k),)
        found: Monomial = tuple((a, e) for a, e in monomial if not self._atoms[a].free & summed)
        while inside:
            part = [inside.pop(0)]
            indices = self._atoms[part[0][0]].free & summed
            grown = True
            while grown:
                touching = [p for p in inside if self._atoms[p[0]].free & indices]
                grown = bool(touching)
                part += touching
                inside = [p for p in inside if p not in touching]
                indices |= frozenset().union(*(self._atoms[a].free for a, _ in touching)) & summed
            shares = self._atoms[part[0][0]].units & indices if part[0][1] == len(part) == 1 else None
            if shares:
                for index in indices - {min(shares)}:
                    k *= index.size
                continue
            found = self._merge(found, ((self._sum_atom(tuple(sorted(part)), indices), 1),))
        return ((found, k),)

    def _sum_atom(self, part: Monomial, indices: Indices) -> int:
        """Σ_indices of a connected product; a sum among its factors is merged where no index clashes."""
        for atom, e in part:
            inner = self._atoms[atom]
            others = [self._atoms[a].free for a, _ in part if a != atom]
            clash = bool(inner.summed & indices) or any(inner.summed & free for free in others)
            if inner.summed and e == 1 and not clash and self._finite(part):
                rest = tuple(p for p in part if p[0] != atom)
                return self._sum_atom(self._merge(rest, inner.body), indices | inner.summed)
        atoms = {a: (abs(e), self._atoms[a].facts) for a, e in part}
        facts = known.of_product(Fraction(1), True, atoms)
        free = frozenset().union(*(self._atoms[a].free for a, _ in part)) - indices
        key = ("sum", self._alike.sum(indices, part))
        return self._atom(key, Atom(free, facts, indices, part, None))

    def _recip(self, term: Term) -> Form:
        form = self.of(term.args[0])
        if len(form) == 1:
            monomial, k = form[0]
            if all({NONZERO, FINITE} <= self._atoms[a].facts for a, _ in monomial):
                return ((tuple((a, -e) for a, e in monomial), 1 / k),)
        return self._single(self._atom(("recip", form), Atom(term.free, term.facts, frozenset(), (), term)))

    # forms as terms again

    def size(self, term: Term) -> int:
        """Number of factors, members and numbers of the term down to atoms."""
        if term.id not in self._sizes:
            inner = sum(self.size(a) for a in term.args) if term.kind in ("con", "plus") else 0
            self._sizes[term.id] = inner + 1
        return self._sizes[term.id]

    def form_size(self, form: Form) -> int:
        """The size of the form written out as a term."""
        return sum(1 + self._monomial_size(m) for m, _ in form) + (len(form) > 1)

    def _monomial_size(self, monomial: Monomial) -> int:
        sizes = {
            a: 1 + self._monomial_size(self._atoms[a].body) if self._atoms[a].body else 1 for a, _ in monomial
        }
        return sum(abs(e) * sizes[a] for a, e in monomial)

    def rebuilt(self, form: Form, terms: Terms, image: dict[int, Term], dtype: str) -> Term:
        """The form written out as a term of another pool, `image` giving the terms of atoms."""
        members = [terms.con(k, frozenset(), self._factors(m, terms, image, dtype), dtype) for m, k in form]
        return terms.plus(members, dtype)

    def _factors(self, monomial: Monomial, terms: Terms, image: dict[int, Term], dtype: str) -> list[Term]:
        found: list[Term] = []
        for number, exponent in monomial:
            atom = self._atoms[number]
            if atom.term is None:
                inner = self._factors(atom.body, terms, image, dtype)
                factor = terms.con(Fraction(1), atom.summed, inner, dtype)
            else:
                factor = image[atom.term.id]
            found += [factor if exponent > 0 else terms.recip(factor)] * abs(exponent)
        return found


@dataclass(frozen=True)
class Simplified:
    """A pool in which constants stand for what is constant, and the groups of terms with equal forms."""

    terms: Terms
    image: dict[int, Term]
    """The new term for each old one, by id."""
    equal: tuple[tuple[Term, Term], ...]


def simplify(roots: Iterable[Term]) -> Simplified:
    """Substitute numbers for the terms below `roots` that are constant by computation; pair equal ones."""
    forms = NormalForms()
    fresh = Terms()
    image: dict[int, Term] = {}
    first: dict[tuple[Form, str], Term] = {}
    equal: list[tuple[Term, Term]] = []
    for term in needed(roots):
        form = forms.of(term)
        constant = forms.constant(form)
        if constant is not None:
            image[term.id] = fresh.number(constant, term.dtype)
            continue
        new = image[term.id] = rebuild(fresh, term, tuple(image[a.id] for a in term.args))
        fresh.learn(new, term.facts)
        other = first.setdefault((form, term.dtype), new)
        if other is not new:
            equal.append((other, new))
        elif len(form) <= SHORT and (
            _is_shorter(forms, form, term) or _cancels(form, term) or _sums_what_spreads(term)
        ):
            short = forms.rebuilt(form, fresh, image, term.dtype)
            if short is not new:
                equal.append((new, short))
    return Simplified(fresh, image, tuple(equal))


def _is_shorter(forms: NormalForms, form: Form, term: Term) -> bool:
    return term.kind in ("con", "plus") and forms.form_size(form) < forms.size(term)


def _cancels(form: Form, term: Term) -> bool:
    """Whether half of the monomials go when different sums are multiplied out, as in (a + b)·(a − b)."""
    sums = {f.id: f for f in term.args if term.kind == "con" and f.kind == "plus"}
    return len(sums) > 1 and 2 * len(form) <= prod(len(f.args) for f in sums.values())


def _sums_what_spreads(term: Term) -> bool:
    """Whether it sums a product with a factor that is wider than each of its members, as a[i,k] − b[j,k] is.

    Multiplied out, nothing of that width need be formed: Σ_k (a − b)² is one contraction and two sums.
    """
    return (
        term.kind == "con"
        and bool(term.head[1])
        and any(f.kind == "plus" and all(m.free < f.free for m in f.args) for f in term.args)
    )


def needed(roots: Iterable[Term]) -> list[Term]:
    """All terms below the roots, operands first."""
    seen: dict[int, Term] = {}
    stack = list(roots)
    while stack:
        term = stack.pop()
        if term.id not in seen:
            seen[term.id] = term
            stack.extend(term.args)
    return [seen[k] for k in sorted(seen)]


def rebuild(terms: Terms, term: Term, args: tuple[Term, ...]) -> Term:
    """The same term over other operands."""
    match term.kind:
        case "leaf":
            name, axes = term.head
            return terms.leaf(name, axes, term.dtype, term.facts, term.units, term.bounds)
        case "con":
            k, summed = term.head
            return terms.con(k, summed, args, term.dtype)
        case "plus":
            return terms.plus(args, term.dtype)
        case "fn" if term.head == ("recip",):
            return terms.recip(args[0])
        case "fn" if not args:
            return terms.number(float(term.head[0].partition(":")[2]), term.dtype)
        case "fn":
            return terms.fn(term.head[0], args, term.dtype)
        case "red":
            kind, reduced = term.head
            return terms.red(kind, reduced, args[0])
        case "delta":
            i, j = term.head
            return terms.delta(i, j, term.dtype)
        case "ren":
            return terms.rename(args[0], dict(term.head))
        case _:
            key, results, indices = term.head
            operands = tuple(zip(args, indices, strict=True))
            return terms.opaque(key, results, operands, term.dtype, FINITE in term.facts)
