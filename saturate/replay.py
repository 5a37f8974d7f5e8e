"""One search walked again on an e-graph that remembers, the chosen program loaded beside the searched one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from saturate.algebra import Ix, Term, Terms
from saturate.denote import Denotation, denote, diagonal
from saturate.facts import FINITE
from saturate.history import History
from saturate.improve import FactsOf, Improved, Pass
from saturate.normal import NormalForms, Simplified, needed, rebuild, simplify
from saturate.program import Program
from saturate.rules.law import Law
from saturate.saturation import Limits, drive, relevant
from saturate.search import loaded
from saturate.step import Step

ONE = Fraction(1)


@dataclass(frozen=True)
class Leg:
    """A search that found something: the program that was searched, and the steps of the one that was chosen.

    `steps` are those of the lattice, operands first, each with its value and dtype; `results` are the values
    of the results; `values` says which value of the lattice a value of the chosen program is.
    """

    program: Program
    steps: tuple[tuple[int, Step, str], ...]
    results: tuple[int, ...]
    values: Mapping[str, int]


@dataclass(frozen=True)
class Road:
    """What an optimization went through, to be walked again: its searches in order, and with what."""

    baseline: Program
    legs: tuple[Leg, ...]
    program: Program
    laws: tuple[Law, ...]
    facts: FactsOf
    limits: Limits


def road(
    baseline: Program, improved: Improved, laws: tuple[Law, ...], facts: FactsOf, limits: Limits
) -> Road:
    """The searches of an optimization that lowered the price."""
    legs = tuple(leg_of(found) for found in improved.passes if found.taken)
    return Road(baseline, legs, improved.program, laws, facts, limits)


def leg_of(found: Pass) -> Leg:
    """The plain data of a search."""
    return _Legwork(found).leg()


class _Legwork:
    """Takes the plain data out of a search."""

    def __init__(self, found: Pass) -> None:
        self.found, self.lattice = found, found.search.lattice
        self.steps: dict[int, Step] = {}

    def leg(self) -> Leg:
        search = self.found.search
        for number, k in self.found.extraction.choice.items():
            value = search.value_of(number)
            chosen = self.lattice.steps[value][k] if search.cells is None else None
            self._make(value, [chosen] if chosen is not None else self.lattice.steps[value], frozenset())
        values = {v: search.value_of(number) for v, (number, _) in self.found.lowered.steps.items()}
        steps = tuple((v, step, self.lattice.dtype[v]) for v, step in self.steps.items())
        return Leg(search.baseline, steps, tuple(r.value for r in search.roots), values)

    def _make(self, value: int, ways: Sequence[Step], open_: frozenset[int]) -> bool:
        """Make a value of what is there; a target's ways are no steps, and hold constants that are none."""
        if value in self.steps:
            return True
        if value in open_:
            return False
        for step in sorted(ways, key=lambda s: sum(a not in self.steps for a in s.args)):
            if all(self._make(a, self.lattice.steps[a], open_ | {value}) for a in step.args):
                self.steps[value] = step
                return True
        return False


@dataclass
class Replay:
    """The e-graph of a leg; `terms` has the term of every value of the lattice that was chosen."""

    road: Road
    leg: Leg
    whole: bool = False
    """Whether the laws run to the end, and not only until the results have met."""
    meaning: Denotation = field(init=False)
    simplified: Simplified = field(init=False)
    history: History = field(init=False)
    chosen: dict[int, Term] = field(init=False)
    stopped: str = field(init=False)

    def __post_init__(self) -> None:
        program = self.leg.program
        self.meaning = denote(program, self.road.facts(program))
        self.simplified = simplify([self.meaning.values[v] for v in program.results])
        results = [self.simplified.image[self.meaning.values[v].id] for v in program.results]
        terms, pairs = loaded(results, self.simplified)
        self.chosen = chosen_terms(self.simplified.terms, self.leg.steps)
        terms = needed([*terms, *self.chosen.values()])
        self.history = History(relevant(self.road.laws, {t.head[0] for t in terms if t.kind == "fn"}))
        self.history.load(terms)
        for a, b in pairs:
            self.history.union(a, b)
        ends = list(zip(results, (self.chosen[v] for v in self.leg.results), strict=bool(self.leg.results)))

        def met() -> bool:
            return not self.whole and bool(ends) and all(self.history.proof.same(a.id, b.id) for a, b in ends)

        self.stopped = drive(self.history, self.road.limits, enough=met)

    def term(self, value: str) -> Term | None:
        """The term of a value of the searched program, with numbers for what is constant; None where nothing
        needs it.
        """
        image = self.simplified.image.get(self.meaning.values[value].id)
        return image if image is not None and image.id in self.history.proof.terms else None

    def alike(self, a: Term, b: Term) -> bool:
        """Whether two terms multiply out to the same once all that laws made equal is written in one way."""
        fresh = Terms()
        left, right = self._rewritten(fresh, [a, b])
        forms = NormalForms()
        for term in needed([left, right]):
            forms.of(term)
        return forms.of(left) == forms.of(right)

    def _rewritten(self, fresh: Terms, wanted: Sequence[Term]) -> list[Term]:
        """The terms in another pool, each class by its least term."""
        terms, least, facts = self.history.proof.terms, self.history.proof.least(), self.history.facts()
        done: dict[int, Term] = {}
        stack = [least[t.id] for t in wanted]
        while stack:
            term = terms[stack[-1]]
            operands = [least[x.id] for x in term.args]
            waiting = [n for n in operands if n not in done]
            stack += waiting
            if not waiting:
                done[term.id] = rebuild(fresh, term, tuple(done[n] for n in operands))
                fresh.learn(done[term.id], facts[term.id])
                stack.pop()
        return [done[least[t.id]] for t in wanted]


def chosen_terms(terms: Terms, steps: Iterable[tuple[int, Step, str]]) -> dict[int, Term]:
    """Chosen steps, operands first, as terms of a pool."""
    found: dict[int, Term] = {}
    for value, step, dtype in steps:
        found[value] = _term(terms, step, [found[a] for a in step.args], dtype)
    return found


def _term(terms: Terms, step: Step, args: Sequence[Term], dtype: str) -> Term:
    """One node over its operands: nothing is merged here, that is for laws to tell."""
    match step.kind:
        case "mul" | "square":
            return _product(terms, ONE, (), (*args, *args)[:2], dtype)
        case "div":
            return _product(terms, ONE, (), (args[0], terms.recip(args[1])), dtype)
        case "scale":
            return _product(terms, step.head[0], (), args, dtype)
        case "over":
            below = terms.recip(args[0])
            return below if step.head[0] == 1 else _product(terms, step.head[0], (), (below,), dtype)
        case "sum" | "dot":
            return _product(terms, ONE, step.head[0], args, dtype)
        case "diagonal":
            j, i, summed = step.head
            if summed and FINITE in args[0].facts:
                return _product(terms, ONE, (i, j), (terms.delta(i, j, dtype), args[0]), dtype)
            found = diagonal(terms, args[0], i, j)
            return _product(terms, ONE, (i,), (found,), dtype) if summed else found
        case "add" | "sub" | "plus" | "minus":
            minus = step.kind in ("sub", "minus")
            last = _product(terms, Fraction(-1), (), args[-1:], dtype) if minus else args[-1]
            numbers = [terms.number(k, dtype) for k in step.head]
            return terms.plain_plus((*args[:-1], last, *numbers), dtype)
        case _:
            return _other_term(terms, step, args, dtype)


def _product(terms: Terms, k: Fraction, summed: Iterable[Ix], factors: Sequence[Term], dtype: str) -> Term:
    return terms.plain_con(k, frozenset(summed), factors, dtype)


def _other_term(terms: Terms, step: Step, args: Sequence[Term], dtype: str) -> Term:
    match step.kind:
        case "leaf":
            leaf, axes = step.head
            return terms.leaf(leaf, axes, dtype)
        case "number":
            return terms.number(step.head[0], dtype)
        case "fn":
            name, slots = step.head
            rest = iter(args)
            operands = [next(rest) if s is None else terms.number(s, args[-1].dtype) for s in slots]
            return terms.fn(name, tuple(operands or args), dtype)
        case "red":
            kind, reduced = step.head
            return terms.red(kind, reduced, args[0])
        case "ren":
            return terms.rename(args[0], dict(step.head))
        case "delta":
            i, j = step.head
            return terms.delta(i, j, dtype)
        case _:
            key, results, indices = step.head
            return terms.opaque(key, results, tuple(zip(args, indices, strict=True)), dtype, finite=False)
