"""E-graphs to look at: load a program or a term, run chosen laws, look, ask why, take out alternatives.

A `Graph` never changes: running laws gives another one, so that the cells of a notebook can be run again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, partial
from typing import Any

import numpy as np

from saturate.admission import admitted, law_of
from saturate.algebra import Ix, Term
from saturate.alternatives import Alternative, alternatives
from saturate.answers import Why, WhyNot, statements_of, steps_of, why_not_of
from saturate.assumed import LAW, Assumption, made, without
from saturate.bounds import UNBOUNDED
from saturate.denote import denote
from saturate.draw import Box, Drawing, boxes, letters_of, picture, window
from saturate.egraph import TermClasses
from saturate.errors import ArgumentError, EGraphError, shown
from saturate.extract.units import cost as shown_cost
from saturate.extract.units import plural, times
from saturate.facts import BINARY, NONNEG, Facts
from saturate.grad import grad
from saturate.grounds import Claim, between, claims, fewest, kept_laws, loose, of_terms, terms_without, told
from saturate.history import History
from saturate.lawbook import WORDS
from saturate.nearest import nearest
from saturate.normal import needed, simplify
from saturate.notation import Letters, Writer, indices_of, letters
from saturate.op import AnyArray, Op, Type
from saturate.ops.constants import Constant
from saturate.program import Input, Program
from saturate.rules import ROUNDING, Law
from saturate.samples import samples
from saturate.saturation import Limits, blamed, drive, refuse_limits
from saturate.table import Table
from saturate.trace import trace
from saturate.worth import Worth

_ID = re.compile(r"[vd]\d+")
"""Ids of values, which are names only where a text would be long."""


@dataclass(frozen=True)
class _Play:
    """Laws that were run: some rounds of them side by side, or by the schedule of `optimize`."""

    laws: tuple[Law, ...]
    rounds: int
    limits: Limits | None = None


@dataclass(frozen=True)
class Graph:
    """An e-graph: what was loaded under which names, and which laws were run. Made by `load`.

    `names` are those of the user for terms; every method that takes a name takes one of them.
    """

    title: str
    names: Mapping[str, Term]
    inputs: tuple[tuple[Input, tuple[Ix | None, ...]], ...]
    axes: Mapping[int, tuple[Ix | None, ...]]
    constants: Mapping[str, Op]
    _terms: tuple[Term, ...]
    _equal: tuple[tuple[Term, Term], ...]
    _assumptions: tuple[Assumption, ...]
    _again: Callable[[Iterable[Assumption]], Graph] = field(compare=False)
    """The same loaded again without some of the assumptions, no law run."""
    _plays: tuple[_Play, ...] = ()

    # running laws

    def run(self, laws: Law | str | Iterable[Law | str], rounds: int = 1) -> Graph:
        """The graph after so many more rounds; in a round each law is applied wherever it matches, once.

        A name is that of a law of the catalogue, or of one that was run. Raises `ArgumentError` for what is
        no law, and for rounds that are no whole number from 0 on.
        """
        _refuse_rounds(rounds)
        return replace(self, _plays=(*self._plays, _Play(self._chosen(laws, "run"), rounds)))

    def saturate(
        self, laws: Law | str | Iterable[Law | str] | None = None, limits: Limits | None = None
    ) -> Graph:
        """The graph after the schedule of `optimize`, with the laws that it admits by default.

        Raises `ArgumentError` for what is no law, and for limits that are no `Limits`.
        """
        refuse_limits(Limits() if limits is None else limits, "saturate")
        chosen = admitted(None, ROUNDING) if laws is None else self._chosen(laws, "saturate")
        return replace(self, _plays=(*self._plays, _Play(chosen, 0, limits or Limits())))

    def _chosen(self, laws: object, who: str) -> tuple[Law, ...]:
        given = laws if isinstance(laws, Iterable) and not isinstance(laws, str) else (laws,)
        return tuple(law_of(law, self._laws.values(), who) for law in given)

    @cached_property
    def _laws(self) -> dict[str, Law]:
        return {law.name: law for play in self._plays for law in play.laws}

    @cached_property
    def _history(self) -> History:
        try:
            return self._played(tuple(self._laws.values()))
        except EGraphError as error:
            laws = tuple(self._laws.values())
            raise blamed(laws, error, lambda some: self._played(some).classes()) from error

    def _played(self, laws: tuple[Law, ...]) -> History:
        """What was run, with these of its laws."""
        history = History(laws, strict=True)
        history.load(self._terms)
        for a, b in self._equal:
            history.union(a, b)
        history.run("facts", saturate=True)
        for play in self._plays:
            if play.limits is not None:
                drive(history, play.limits)
            for _ in range(play.rounds):
                history.run_round([law for law in play.laws if law in laws])
        return history

    # looking

    @cached_property
    def classes(self) -> TermClasses:
        """The classes as plain data."""
        return self._history.classes()

    def __repr__(self) -> str:
        nodes = sum(map(len, self.classes.nodes))
        laws = sum(row[1] != "0" for row in self.counts)
        return (
            f"{self.title}: {plural(nodes, 'e-node')} in {len(self.classes.nodes)} classes, "
            f"{plural(laws, 'law')} matched"
        )

    @property
    def counts(self) -> Table:
        """The laws that matched: how often, the e-nodes that they made, milliseconds; the rest in one row."""
        made: dict[str, int] = {}
        for nodes in self.classes.nodes:
            for node in nodes:
                made[node.law] = made.get(node.law, 0) + 1
        runs = self._history.runs
        laws = self._laws
        matched = sorted((n for n in laws if n in runs and runs[n].matches), key=lambda n: -runs[n].matches)
        rows = [
            (n, str(runs[n].matches), str(made.get(n, 0)), f"{runs[n].seconds * 1e3:.0f}") for n in matched
        ]
        if len(rows) < len(laws):
            rows.append((f"{plural(len(laws) - len(rows), 'other')}", "0", "0", ""))
        return Table(("law", "matches", "e-nodes", "ms"), tuple(rows), ("matches", "e-nodes", "ms"))

    @property
    def table(self) -> Table:
        """The classes: name, indices, what is known of each element, and every way with its law."""
        rows: list[tuple[str, ...]] = []
        called = letters_of(self.classes)
        for c, box in enumerate(self._boxes):
            known = ", ".join(_known(self.classes, c, called))
            ways = "\n".join(line.formula + f"   {line.law}" * bool(line.law) for line in box.lines)
            rows.append((box.name, box.indices, known, ways))
        return Table(("class", "indices", "every element is", "ways"), tuple(rows))

    @cached_property
    def _boxes(self) -> list[Box]:
        return boxes(self.classes, self._called, ())

    @property
    def _called(self) -> dict[int, str]:
        """The first name of each class."""
        called: dict[int, str] = {}
        for name, term in self.names.items():
            called.setdefault(self.classes.of_term[term.id], name)
        return called

    def draw(self, around: str | Sequence[str] = (), hops: int = 1) -> Drawing:
        """The graph as a picture, or the classes at most so many steps from some values."""
        names = (around,) if isinstance(around, str) else tuple(around)
        if not names:
            return picture(self._boxes)
        return picture(window(self._boxes, [self._class(name) for name in names], hops), every=True)

    # asking

    def why(self, a: str, b: str) -> Why:
        """The chain of laws from one value to another, each equation checked on samples."""
        left, right = self._term(a), self._term(b)
        chain = self._history.proof.chain(left.id, right.id)
        title = f"{a} = {b}"
        if chain is None:
            return Why(title, "not known: they are in two classes", ())
        writer = self._writer
        steps = steps_of(chain, writer, lambda e: max(w.difference(e.left, e.right) for w in self._worths))
        said = f"by {plural(len(steps), 'step')}" if steps else "one term"
        return Why(title, said, steps, statements_of(steps, self._laws))

    def why_not(self, law: Law | str, name: str) -> WhyNot:
        """The best partial match of a law at a value, and the first condition that fails."""
        asked = law_of(law, self._laws.values(), "why_not")
        found = nearest(self._history, asked, self._term(name), self._writer)
        return why_not_of(found, name, self._writer, ())

    def facts(self, name: str) -> Table:
        """What is known of a value: each fact is proved, or assumed with what it rests on.

        A fact is proved where the laws that were run find it with no assumption; what another rests on is
        enough for it, and nothing of that can be left out alone. The search is run again for each try.
        """
        inputs = {given.value: given.name for given, _ in self.inputs}
        every = [*loose(self._laws.values()), *self._assumptions]
        below = {t.head[0] for t in needed([self._term(name)]) if t.kind == "leaf"}
        near = [a for a in every if a.fact == LAW or inputs.get(a.value, a.value) in below]
        rows: list[tuple[str, ...]] = []
        for claim in claims(self.classes, self._class(name), letters_of(self.classes)):
            rests_on = fewest(every, near, partial(self._holds, name, claim))
            said = "; ".join(told(a, inputs.get(a.value, a.value), self.names) for a in rests_on)
            rows.append((claim.kind, claim.said, "assumed" if rests_on else "proved", said))
        return Table(("kind", "fact", "known", "rests on"), tuple(rows))

    def _holds(self, name: str, claim: Claim, kept: frozenset[Assumption]) -> bool:
        """Whether the laws find a fact of a value where only these of the assumptions are made."""
        if kept not in self._fewer:
            plays = [replace(play, laws=kept_laws(play.laws, kept)) for play in self._plays]
            bare = self._again([a for a in self._assumptions if a not in kept])
            self._fewer[kept] = replace(bare, _plays=tuple(plays))
        fewer = self._fewer[kept]
        return name in fewer.names and claim.holds(fewer.classes, fewer._class(name))

    @cached_property
    def _fewer(self) -> dict[frozenset[Assumption], Graph]:
        """The graphs with fewer assumptions that were asked for."""
        return {}

    def alternatives(self, name: str, count: int = 5) -> tuple[Alternative, ...]:
        """The cheapest ways to compute a value, each by another last step; they print as programs."""
        term = self._term(name)
        axes = self.axes.get(term.id, tuple(sorted(term.free)))
        found = alternatives(self.classes, self._class(name), axes, self.inputs, self.constants, name)
        return tuple(found[:count])

    def costs(self, name: str, count: int = 5) -> Table:
        """The same as a table: cost, also in parts of the cheapest, law of the last step, term."""
        called = {c: name for c, name in self._called.items() if not _ID.fullmatch(name)}
        rows: list[tuple[str, ...]] = []
        found = self.alternatives(name, count)
        for way in found:
            named = {t: called[c] for t, c in way.classes.items() if c in called}
            writer = Writer(letters(indices_of(needed([way.term])), self._leaves), named)
            part = times(way.cost / (found[0].cost or 1.0))
            rows.append((shown_cost(way.cost, "ns"), part, way.law, writer.text(way.term)))
        return Table(("cost", "of the cheapest", "law", name), tuple(rows), ("cost", "of the cheapest"))

    # names

    def _term(self, name: str) -> Term:
        if name not in self.names:
            raise ArgumentError(
                f"{self.title} has no value {name!r}{_near(name, self.names)}; it has {', '.join(self.names)}"
            )
        return self.names[name]

    def _class(self, name: str) -> int:
        return self.classes.of_term[self._term(name).id]

    @property
    def _leaves(self) -> set[str]:
        return {given.name for given, _ in self.inputs}

    @cached_property
    def _writer(self) -> Writer:
        every = list(self._history.proof.terms.values())
        named: dict[int, str] = {}
        ids: dict[int, str] = {}
        for name, term in self.names.items():
            if term.kind != "leaf" and term.constant is None:
                (ids if _ID.fullmatch(name) else named).setdefault(term.id, name)
        return Writer(letters(indices_of(every), self._leaves), named, ids)

    @cached_property
    def _worths(self) -> list[Worth]:
        held = {n: op.array.value for n, op in self.constants.items() if isinstance(op, Constant)}
        given = [i for i, _ in self.inputs]
        drawn = [s for seed in range(2) for s in samples(given, seed, 1)]
        return [Worth(held | self._leaf_values(s.arrays)) for s in drawn]

    def _leaf_values(self, arrays: Sequence[AnyArray]) -> dict[str, AnyArray]:
        """Arrays by name, with the facts of their leaves."""
        found: dict[str, AnyArray] = {}
        for (given, _), array in zip(self.inputs, arrays, strict=True):
            facts = self.names[given.name].facts if given.name in self.names else frozenset[str]()
            value = np.abs(array) if "nonneg" in facts else array
            found[given.name] = value + 0.5 * (value >= 0) if "nonzero" in facts else value
        return found


def _known(classes: TermClasses, c: int, called: Letters) -> Iterator[str]:
    """What is known of every element of a class, in words."""
    facts, (low, high) = classes.facts[c], classes.bounds[c]
    yield from (WORDS.get(fact, fact) for fact in sorted(facts))
    if classes.constant[c] is None and BINARY not in facts:
        told_by_sign = high is None and low == 0 and NONNEG in facts
        if (low, high) != UNBOUNDED and not told_by_sign:
            yield between((low, high))
    yield from (f"summing to one over {called[i]}" for i in sorted(classes.units[c]))


def _refuse_rounds(rounds: object) -> None:
    if not isinstance(rounds, int) or rounds < 0:
        raise ArgumentError(f"run needs rounds as a whole number from 0 on, got {shown(rounds)}")


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 3)
    return f": is it {' or '.join(near)}?" if near else ""


def load(
    what: Program | Callable[..., Any] | Term | Mapping[str, Term],
    *types: Type,
    wrt: Any = None,
    computed: bool = True,
) -> Graph:
    """An e-graph of a program, of a NumPy function over types (with `wrt`, and its gradients), or of terms.

    Terms come with names, or as one term called `term`, and are all of one pool (`saturate.algebra.Terms`).
    With `computed`, what is constant by computation is a number and terms with equal normal forms are joined
    before any law runs, as `optimize` does; without, a program stands there as it was traced.
    """
    if isinstance(what, Term | Mapping):
        return _of_terms({"term": what} if isinstance(what, Term) else what)
    if isinstance(what, Program):
        return _of_program(what, computed)
    return _of_program(grad(what, *types, wrt=wrt) if wrt is not None else trace(what, *types), computed)


def _of_terms(named: Mapping[str, Term]) -> Graph:
    terms = needed(named.values())
    leaves = {t.head[0]: t for t in terms if t.kind == "leaf"}
    inputs = tuple(
        (Input(name, f"v{k}", Type(tuple(i.size for i in t.head[1]), t.dtype)), t.head[1])
        for k, (name, t) in enumerate(leaves.items())
    )

    def again(dropped: Iterable[Assumption]) -> Graph:
        return _of_terms(terms_without(named, dropped))

    names = {**leaves, **named}
    return Graph(", ".join(named), names, inputs, {}, {}, tuple(terms), (), tuple(of_terms(named)), again)


def _of_program(program: Program, computed: bool, facts: Mapping[str, Facts] | None = None) -> Graph:
    meaning = denote(program, facts)
    results = [meaning.values[v] for v in program.results]
    image = {t.id: t for t in meaning.terms.all}
    equal: tuple[tuple[Term, Term], ...] = ()
    if computed:
        simplified = simplify(results)
        image, equal = simplified.image, simplified.equal
    terms = needed([*(image[t.id] for t in results), *(t for pair in equal for t in pair)])
    loaded = {t.id for t in terms}
    names: dict[str, Term] = {}
    axes: dict[int, tuple[Ix | None, ...]] = {}
    named = [(i.name, i.value) for i in program.inputs] + [
        (n.label, n.value) for n in program.nodes if n.label
    ]
    named += [("value", v) for v in program.outputs] if len(program.outputs) == 1 else []
    named += [(f"d{name}", v) for name, v in program.gradients] + [(n.value, n.value) for n in program.nodes]
    for name, value in named:
        term = image.get(meaning.values[value].id)
        if term is not None and term.id in loaded:
            names.setdefault(name, term)
            axes.setdefault(term.id, meaning.axes[value])
    inputs = tuple((i, meaning.axes[i.value]) for i in program.inputs)
    constants: dict[str, Op] = {
        f"const:{n.op.array.digest}": n.op for n in program.nodes if isinstance(n.op, Constant)
    }

    def again(dropped: Iterable[Assumption]) -> Graph:
        fewer, known = without(program, {}, dropped)
        return _of_program(fewer, computed, known)

    assumptions = tuple(made(program, {}))
    return Graph(program.name, names, inputs, axes, constants, tuple(terms), equal, assumptions, again)


__all__ = ["Alternative", "Graph", "Table", "load"]
