"""Which assumptions a result rests on: those without which it is not proved equal to the program.

An assumption is a fact of a value that nothing proves, or a law that needs more than its conditions, such as
that nothing overflows. Every search that lowered the price is proved again, with fewer and fewer of them: the
program that was searched and the one that was chosen must multiply out to the same, or, where laws of other
functions took part, meet in an e-graph that both are loaded into. An assumption that a proof does without is
not listed. Where no proof is found, or the work for it is over, all that was not left out is listed: the list
may be too long, and never too short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from saturate.algebra import Term, show
from saturate.denote import Denotation, denote
from saturate.extract.units import plural
from saturate.facts import FINITE, NONNEG, NONZERO, NOTHING, Facts
from saturate.improve import Improved, Pass
from saturate.leaf_facts import input_facts
from saturate.normal import NormalForms, needed, simplify
from saturate.program import Input, Program
from saturate.replay import chosen_terms, leg_of
from saturate.rules.law import BOUNDED, DOMAIN, Law
from saturate.saturation import Limits, saturate
from saturate.search import loaded

BOUNDS = "bounds"
"""Assumed of an argument whose type states them; the signs that follow go with them."""
LAW = "law"
"""A law of the class `domain` or `bounded`, its name in the place of the value."""
NAMED, UNNAMED = 8, 3
"""So many values are named, and so many of those without a name."""
WORDS: dict[Facts, str] = {
    frozenset((FINITE,)): "finite",
    frozenset((FINITE, NONZERO)): "finite and nowhere zero",
    frozenset((NONZERO,)): "nowhere zero",
}
"""What examples may show."""
FORMS, SEARCHES = 400, 250
"""So often a proof of one kind is tried, times the size of the program and of the e-graph; what is not tried
until then is listed.
"""
OF_WINDOWS = 0.3
"""Of those, for each window of a long program."""


@dataclass(frozen=True, order=True)
class Assumption:
    """A fact that is assumed of every element of a value, by its id; or `BOUNDS`, or `LAW`."""

    value: str
    fact: str


def made(program: Program, facts: Mapping[str, Facts]) -> list[Assumption]:
    """What is assumed of the values of a program, given all facts; what its dtypes prove is not."""
    found: list[Assumption] = []
    for given in program.inputs:
        contract = input_facts(given.type)
        known = facts.get(given.value, contract)
        found += [Assumption(given.value, fact) for fact in sorted(known - contract)]
        if (given.type.low, given.type.high) != (None, None) and FINITE in known:
            found.append(Assumption(given.value, BOUNDS))
    found += [Assumption(n.value, fact) for n in program.nodes for fact in sorted(facts.get(n.value, ()))]
    return found + [
        Assumption(i.value, FINITE)
        for i in program.inputs
        if i.type.is_float and FINITE in facts.get(i.value, input_facts(i.type)) & input_facts(i.type)
    ]


def without(
    program: Program, facts: Mapping[str, Facts], dropped: Iterable[Assumption]
) -> tuple[Program, dict[str, Facts]]:
    """The program and its facts where some of the assumptions are not made."""
    inputs = {i.value: i for i in program.inputs}
    found = {i.value: facts.get(i.value, input_facts(i.type)) for i in program.inputs} | dict(facts)
    for value, fact in ((a.value, a.fact) for a in dropped):
        if fact == BOUNDS:
            unbounded = replace(inputs[value].type, low=None, high=None)
            found[value] -= input_facts(inputs[value].type) - input_facts(unbounded)
            inputs[value] = replace(inputs[value], type=unbounded)
        else:
            found[value] -= {fact}
    return replace(program, inputs=tuple(inputs.values())), found


def rests_on(
    baseline: Program,
    facts: Mapping[str, Facts],
    improved: Improved,
    laws: Sequence[Law],
    limits: Limits,
) -> frozenset[Assumption]:
    """The assumptions that the result rests on; a value that the baseline lacks is named by its formula."""
    if not improved.parts:
        return frozenset(_named(improved, laws, limits, {v: v for v in baseline.types}))
    whole, found = _Whole(baseline, facts), set[Assumption]()
    known: dict[str, list[Assumption]] = {}
    for part in improved.parts:
        own, window = part.window.program, part.window
        if part.title not in known:  # equal windows have one search
            known[part.title] = _named(part.improved, laws, limits, {v: v for v in own.types}, OF_WINDOWS)
        read = {i.value: value for i, value in zip(own.inputs, window.inputs, strict=True)}
        for a in known[part.title]:
            given = a.value in read and a.fact in (FINITE, BOUNDS)
            named = Assumption({**window.values, **read}.get(a.value, a.value), a.fact)
            found |= whole.behind(named) if given else {named}
    return frozenset(found)


class _Whole:
    """What stands behind what a window takes for granted of the values that it reads."""

    def __init__(self, program: Program, facts: Mapping[str, Facts]) -> None:
        self.program, self.every = program, made(program, facts)
        self._bare = without(program, facts, self.every)

    @cached_property
    def _proved(self) -> Mapping[str, Term]:
        return denote(*self._bare).values

    def behind(self, assumption: Assumption) -> set[Assumption]:
        """The assumptions on what the value is computed from, none where it has the fact without them."""
        if assumption in self.every:
            return {assumption}
        fact = NONNEG if assumption.fact == BOUNDS else assumption.fact
        if fact in self._proved[assumption.value].facts:
            return set()
        below = _below(self.program, [assumption.value])
        return {a for a in self.every if a.value in below}


def _named(
    improved: Improved, laws: Sequence[Law], limits: Limits, names: Mapping[str, str], share: float = 1.0
) -> list[Assumption]:
    """What the searches rest on; `names` says what the values of the first one's program are called."""
    found: list[Assumption] = []
    for one in (one for one in improved.passes if one.taken):
        meaning = one.search.denotation.values
        for a in _Needed(one, laws, limits, share).all():
            known = a.value if a.fact == LAW else names.get(a.value)
            found.append(Assumption(known or show(meaning[a.value], 4), a.fact))
        names = _names_after(one, names)
    return found


def _names_after(found: Pass, names: Mapping[str, str]) -> dict[str, str]:
    """What the values of the chosen program are called, where the searched one has them too."""
    before, after = found.search.baseline, found.lowered.program
    inputs = {i.name: names[i.value] for i in before.inputs}
    known = {found.search.lattice_value(v): names[v] for v in reversed([*before.types]) if v in names}
    made_by = {v: found.search.value_of(number) for v, (number, _) in found.lowered.steps.items()}
    same = {v: known[number] for v, number in made_by.items() if number in known}
    return same | {i.value: inputs[i.name] for i in after.inputs}


Proof = Callable[[Sequence[Assumption]], list[bool]]
"""Which of some results are proved with these assumptions alone."""


class _Needed:
    """What one search needs."""

    def __init__(self, found: Pass, laws: Sequence[Law], limits: Limits, share: float) -> None:
        self.search, self.leg, self.laws = found.search, leg_of(found), laws
        self.limits, self.share = limits, share
        self.values = made(self.search.baseline, self.search.facts)
        matched = {name for name, run in self.search.saturation.laws.items() if run.matches}
        loose = [law.name for law in laws if law.exact in (DOMAIN, BOUNDED) and law.name in matched]
        self.loose = [Assumption(name, LAW) for name in loose]

    def all(self) -> list[Assumption]:
        """What cannot be left out, tried in turn: first what samples show, last what is finite."""
        count = range(len(self.leg.results))
        if self.search.cells is not None:  # what a target's ways compute is no term of the search
            return [*self._of(count), *self.loose]
        alike = self._by_forms(count, self.values)
        proved, rest = [r for r in count if alike[r]], [r for r in count if not alike[r]]
        size = len(self.search.baseline.nodes)
        rounds = self.search.saturation.rounds
        by_forms = partial(self._by_forms, proved)
        kept = self._fewest(by_forms, self._of(proved), self._tries(FORMS, size))
        if rest:
            by_laws, every = partial(self._by_laws, rest), self._of(rest)
            loose = self.loose if self.loose and not all(by_laws(every)) else []
            tries = self._tries(SEARCHES, rounds[-1].nodes if rounds else 1)
            kept = [*kept, *self._fewest(by_laws, [*loose, *every], tries)]
        return kept

    def _tries(self, work: int, size: int) -> int:
        return int(work * self.share) // max(1, size)

    def _of(self, results: Sequence[int]) -> list[Assumption]:
        """What is assumed of what some results are computed from."""
        values = _below(self.search.baseline, [self.search.baseline.results[r] for r in results])
        return [a for a in self.values if a.value in values]

    def _fewest(self, prove: Proof, every: list[Assumption], tries: int) -> list[Assumption]:
        """What is left when as much as possible is left out, many at once where that goes."""
        kept = every
        given = {i.value for i in self.search.baseline.inputs}
        finite = [a for a in kept if a.fact == FINITE and a.value in given]
        others = [a for a in kept if a not in finite]
        waiting = [*_halves(finite), *([others] if finite else _halves(others)), every]
        while tries and (waiting := [some for some in waiting if some]):
            some, tries = waiting.pop(), tries - 1
            fewer = [a for a in kept if a not in some]
            if all(prove(fewer)):
                waiting, kept = [left for left in waiting if not {*left} & {*some}], fewer
            elif len(some) > 1 and some is not every:
                waiting += _halves(some)
        return kept

    def _by_forms(self, results: Sequence[int], kept: Sequence[Assumption]) -> list[bool]:
        """Which results multiply out to the same before and after, with these assumptions alone."""
        meaning = self._meaning(kept)
        chosen = chosen_terms(meaning.terms, self.leg.steps)
        pairs = [
            (meaning.values[self.search.baseline.results[r]], chosen[self.leg.results[r]]) for r in results
        ]
        forms = NormalForms()
        for term in needed([t for pair in pairs for t in pair]):
            forms.of(term)
        return [forms.of(a) == forms.of(b) for a, b in pairs]

    def _by_laws(self, results: Sequence[int], kept: Sequence[Assumption]) -> list[bool]:
        """Which results the laws make the same before and after, with these assumptions alone."""
        meaning = self._meaning(kept)
        values = [meaning.values[self.search.baseline.results[r]] for r in results]
        simplified = simplify(values)
        before = [simplified.image[t.id] for t in values]
        terms, equal = loaded(before, simplified)
        chosen = chosen_terms(simplified.terms, self.leg.steps)
        after = [chosen[self.leg.results[r]] for r in results]
        left_out = {a.value for a in self.loose if a not in kept}
        laws = [law for law in self.laws if law.name not in left_out]
        found = saturate(needed([*terms, *after]), equal, laws, self.limits).classes.of_term
        return [found[a.id] == found[b.id] for a, b in zip(before, after, strict=True)]

    def _meaning(self, kept: Sequence[Assumption]) -> Denotation:
        dropped = [a for a in self.values if a not in kept]
        return denote(*without(self.search.baseline, self.search.facts, dropped))


def _halves(some: Sequence[Assumption]) -> list[Sequence[Assumption]]:
    """Its two halves, the first one last."""
    return [some[len(some) // 2 :], some[: len(some) // 2]]


def _below(program: Program, values: Iterable[str]) -> set[str]:
    """The values, and all that they are computed from."""
    found, stack = set[str](), list(values)
    while stack:
        value = stack.pop()
        if value not in found:
            found.add(value)
            stack += program.producer[value].operands if value in program.producer else ()
    return found


def told(program: Program, found: Iterable[Assumption], laws: Iterable[Law]) -> tuple[str, ...]:
    """Assumptions in words: by the user's names for values, or by ids or formulas where none has a name."""
    found = set(found)
    floats = [i for i in program.inputs if i.type.is_float]
    finite = [i.name for i in floats if Assumption(i.value, FINITE) in found]
    lines = [f"{_listed(finite)} are finite where their examples are"] if finite else []
    if len(finite) == 1:
        lines = [f"{finite[0]} is finite where its example is"]
    if len(finite) == len(floats) > 0:
        lines = ["inputs are finite where their examples are"]
    lines += [_bounds(i) for i in program.inputs if Assumption(i.value, BOUNDS) in found]
    arguments = {i.value for i in program.inputs}
    facts: dict[str, Facts] = {}
    for a in found:
        if a.fact not in (BOUNDS, LAW) and not (a.value in arguments and a.fact == FINITE):
            facts[a.value] = facts.get(a.value, NOTHING) | {a.fact}
    used = [law for law in laws if Assumption(law.name, LAW) in found]
    stated = (f"{law.name}: {law.doc.splitlines()[0]}" for law in used)
    return (*lines, *_shown(program, facts), *stated)


def _shown(program: Program, facts: Mapping[str, Facts]) -> Iterator[str]:
    """What examples show, values of one kind together, in the order of the program."""
    labels = {i.value: i.name for i in program.inputs} | {n.value: n.label for n in program.nodes}
    order = [*(v for v in labels if v in facts), *sorted(v for v in facts if v not in labels)]
    for wanted, words in WORDS.items():
        alike = [v for v in order if facts[v] == wanted]
        names = list(dict.fromkeys(labels[v] for v in alike if labels.get(v))) or alike[:UNNAMED]
        if alike:
            others = len([v for v in alike if v not in names and labels.get(v, "") not in names])
            yield f"{_listed(names, others)}: {words}, as the examples show"


def _listed(names: Sequence[str], others: int = 0) -> str:
    """The first of some names, and how many there are besides."""
    others += len(names[NAMED:])
    more = f" and {plural(others, 'other')}" if others else ""
    return f"{', '.join(names[:NAMED])}{more}"


def _bounds(given: Input) -> str:
    """What the type of an argument says of its values."""
    low, high = given.type.low, given.type.high
    if low is not None and high is not None:
        return f"{given.name} lies between {low:g} and {high:g}, as its type says"
    side, end = ("most", high) if low is None else ("least", low)
    return f"{given.name} is at {side} {end:g}, as its type says"
