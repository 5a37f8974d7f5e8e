"""Why a value is computed as it is, and why a law did nothing to it: the searches walked again, and asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial

from saturate.admission import law_of
from saturate.algebra import Term
from saturate.answers import Step, Why, WhyNot, statements_of, steps_of, why_not_of
from saturate.cse import share, twins
from saturate.errors import ArgumentError
from saturate.exact import fate
from saturate.extract.units import plural
from saturate.nearest import nearest
from saturate.normal import needed
from saturate.notation import Writer, indices_of, letters, number
from saturate.op import AnyArray
from saturate.ops.constants import Constant
from saturate.program import Program
from saturate.proof import NORMAL_FORM, Equation
from saturate.replay import Leg, Replay, Road
from saturate.rules import EXACTNESS, Law
from saturate.samples import samples
from saturate.worth import Worth

OF_BASELINE = "baseline:"
"""What stands before the id of a value of the baseline where the result has a value of that id too."""
LOWERED = "the same, lowered"
"""Between two searches: coefficients are rounded, and axes have an order again."""
UNTOLD = "not told: no chain was found"


@dataclass(frozen=True)
class Questions:
    """Answers `why` and `why_not` for one optimization; a search is walked again when first asked about.

    `examples` are arrays that stand for the arguments, where there are some.
    """

    road: Road
    examples: Sequence[AnyArray]
    exact: str
    called: Mapping[str, str] = field(default_factory=dict)
    """What arguments are called, where that is not their name."""
    _replays: dict[tuple[int, bool], Replay] = field(default_factory=dict)

    def at_the_start(self, program: Program) -> Questions:
        """The same where nothing that was found is used."""
        return replace(self, road=replace(self.road, legs=(), program=program), _replays={})

    # names

    def names(self) -> dict[str, tuple[str | None, str | None]]:
        """Every name that can be asked for, with the value of the baseline and that of the result."""
        before, after = self.road.baseline, self.road.program
        found: dict[str, tuple[str | None, str | None]] = dict(_pairs(before, after))
        old = {n.label: n.value for n in before.nodes if n.label}
        new = {n.label: n.value for n in after.nodes if n.label}
        for label in (*old, *new):
            found.setdefault(label, (old.get(label), new.get(label)))
        for node in after.nodes:
            found.setdefault(node.value, (None, node.value))
        for node in before.nodes:
            found.setdefault(node.value, (node.value, None))
            found.setdefault(OF_BASELINE + node.value, (node.value, None))
        return found

    def _named(self, name: str) -> tuple[str | None, str | None]:
        known = self.names()
        if name in known:
            return known[name]
        for argument, _ in self.road.baseline.gradients:
            if name == f"d{argument}":  # as reports call its gradient
                return known[argument]
        plain = [n for n in known if not n.startswith(OF_BASELINE)]
        near = get_close_matches(str(name), plain, 3)
        raise ArgumentError(
            f"{self.road.baseline.name} has no value {name!r}"
            + (f": is it {' or '.join(near)}?" if near else ".")
            + f" There are {', '.join(plain)}"
        )

    # why

    def why(self, name: str) -> Why:
        """The chain of laws from the baseline's form of a value to the chosen one, each equation checked.

        `name` is an argument (for its gradient), a name of the user's function, `value` for a result without
        one, or the id of a value of the result, else of the baseline (`baseline:v3` asks for the latter).
        Raises `ArgumentError` with the names that there are.
        """
        before, after = self._named(name)
        if not self.road.legs:
            return Why(name, fate(self.road.baseline, self.road.program, before), ())
        if before is None and after is not None:
            before = self._traced_back(after)
            if before is None:
                return self._new(name, after)
        assert before is not None
        walk = _Walk(self, name, before, after)
        laws = {law.name: law for law in self.road.laws}
        steps = walk.run()
        return Why(name, walk.said, steps, statements_of(steps, laws))

    def _traced_back(self, after: str) -> str | None:
        """The value of the baseline that is equal to a value of the result, None where there is none."""
        value: str | None = after
        for k in range(len(self.road.legs) - 1, -1, -1):
            replay, program = self.replay(k), self.road.legs[k].program
            value = _seen(self.program_after(k), value) if value is not None else None
            chosen = self.road.legs[k].values.get(value or "")
            if chosen is None:
                return None
            value = _equal_value(replay, program, replay.chosen[chosen])
        return value

    def _new(self, name: str, after: str) -> Why:
        """A value that the program does not compute: what it is, and what needs it."""
        last = len(self.road.legs) - 1
        program, replay = self.road.program, self.replay(last)
        serves = ", ".join(dict.fromkeys(_readers(program, after))) or "the results"
        chosen = self.road.legs[last].values.get(_seen(program, after))
        text = "" if chosen is None else f" is {self.writer(replay).text(replay.chosen[chosen])}"
        said = f"{name}{text}, which the program does not compute; it serves {serves}: ask there"
        return Why(name, said, ())

    def replay(self, k: int, whole: bool = False) -> Replay:
        """The k-th search walked again; once for all questions."""
        if (k, whole) not in self._replays:
            nowhere = Leg(share(self.road.baseline), (), (), {})  # a search that found nothing cheaper
            legs = self.road.legs or (nowhere,)
            self._replays[k, whole] = Replay(self.road, legs[k], whole)
        return self._replays[k, whole]

    def _number(self, replay: Replay) -> int:
        return next((k for k, leg in enumerate(self.road.legs) if leg is replay.leg), 0)

    def program_after(self, k: int) -> Program:
        """The program that the k-th search led to."""
        later = self.road.legs[k + 1 :]
        return later[0].program if later else self.road.program

    def writer(self, replay: Replay, raw: bool = False) -> Writer:
        """Writes terms of a search with the names that its programs have for them."""
        named: dict[int, str] = {}
        for label, value in _labels(replay.leg.program):
            term = replay.meaning.values[value] if raw else replay.term(value)
            if term is not None and term.constant is None and term.kind != "leaf":
                named.setdefault(term.id, label)
        every = replay.meaning.terms.all if raw else list(replay.history.proof.terms.values())
        leaves = {t.head[0] for t in every if t.kind == "leaf"}
        indices = letters(indices_of(every), {self.called.get(name, name) for name in leaves})
        if raw:
            return Writer(indices, named, {}, self.called)
        after = self.program_after(self._number(replay))
        for label, value in _labels(after):
            chosen = replay.leg.values.get(_seen(after, value))
            if chosen is not None:
                named.setdefault(replay.chosen[chosen].id, label)
        ids = (
            {replay.chosen[n].id: v for v, n in replay.leg.values.items()}
            if after is self.road.program
            else {}
        )
        return Writer(indices, named, ids, self.called)

    def worths(self, replay: Replay) -> list[tuple[Worth, Worth]]:
        """Values on samples: of the terms as they are denoted, and of those in the e-graph."""
        inputs = self.road.baseline.inputs
        given = [self.examples] if self.examples else None
        drawn = [s for seed in range(2) for s in samples(inputs, seed, 1, given if seed == 0 else None)]
        constants = {
            f"const:{n.op.array.digest}": n.op.array.value
            for n in replay.leg.program.nodes
            if isinstance(n.op, Constant)
        }
        found: list[tuple[Worth, Worth]] = []
        for sample in drawn:
            leaves = constants | {i.name: a for i, a in zip(inputs, sample.arrays, strict=True)}
            found.append((Worth(leaves), Worth(leaves)))
        return found

    # why not

    def why_not(self, rule: str | Law, name: str) -> WhyNot:
        """The best partial match of a law at a value of the baseline, and the first condition that fails."""
        law = law_of(rule, self.road.laws, "why_not")
        before, after = self._named(name)
        notes = self._notes(law)
        if before is None and after is not None:
            replay = self.replay(len(self.road.legs) - 1, whole=True)
            chosen = replay.leg.values.get(_seen(self.road.program, after))
            term = None if chosen is None else replay.chosen[chosen]
        else:
            replay = self.replay(0, whole=True)
            term = replay.term(_shared(self.road.baseline, before or ""))
        if term is None:
            raise ArgumentError(f"nothing in the result needs {name}, so no law was tried on it")
        writer = self.writer(replay)
        found = nearest(replay.history, law, term, writer)
        return why_not_of(found, name, writer, notes)

    def _notes(self, law: Law) -> tuple[str, ...]:
        if any(law is known for known in self.road.laws):
            return ()
        if EXACTNESS.index(law.exact) > EXACTNESS.index(self.exact):
            return (f"it was not tried: its class is {law.exact}, and exact={self.exact!r}",)
        return ("it was not tried: it was not among the rules",)


def _pairs(before: Program, after: Program) -> Iterator[tuple[str, tuple[str, str]]]:
    """Results by the name of their argument, and the value where there is one."""
    new = dict(after.gradients)
    for name, value in before.gradients:
        yield name, (value, new[name])
    for k, (old, chosen) in enumerate(zip(before.outputs, after.outputs, strict=True)):
        yield "value" if len(before.outputs) == 1 else f"value {k}", (old, chosen)


def _labels(program: Program) -> list[tuple[str, str]]:
    """The user's names for values, and `value` for one that is a result without a name."""
    named = [(n.label, n.value) for n in program.nodes if n.label]
    known = {value for _, value in named}
    outputs = [("value", v) for v in program.outputs if v not in known and len(program.outputs) == 1]
    return named + outputs


def _seen(program: Program, value: str) -> str:
    """The value that a view shows."""
    while value in program.producer and program.producer[value].op.view:
        value = program.producer[value].operands[0]
    return value


def _readers(program: Program, value: str) -> Iterator[str]:
    """What the readers of a value are called; a view is read through."""
    for node in program.readers[value]:
        if node.op.view:
            yield from _readers(program, node.value)
        else:
            yield node.label or node.value


def _shared(baseline: Program, value: str) -> str:
    """The value that stands for it where equal ones are computed once."""
    return twins(baseline).get(value, value)


def _equal_value(replay: Replay, program: Program, term: Term, label: str = "") -> str | None:
    """The value of the searched program in the class of a term, one with the label first."""
    found = [
        node
        for node in program.nodes
        if (image := replay.term(node.value)) is not None and replay.history.proof.same(image.id, term.id)
    ]
    named = [n for n in found if n.label == label and label] + [n for n in found if n.label] + found
    return named[0].value if named else None


@dataclass
class _Walk:
    """From a value of the baseline through the searches to a value of the result."""

    questions: Questions
    name: str
    before: str
    after: str | None
    said: str = ""
    _end: tuple[Term, Writer, Sequence[tuple[Worth, Worth]]] | None = None

    def run(self) -> tuple[Step, ...]:
        road, steps = self.questions.road, list[Step]()
        value = _shared(road.baseline, self.before)
        result = next((r for r, v in enumerate(road.baseline.results) if v == self.before), None)
        for k in range(len(road.legs)):
            leg = road.legs[k]
            if value not in leg.program.types:
                self.said = "nothing reads it"
                break
            found, chosen = self._leg(k, value, result)
            steps += found
            if chosen is None:
                break
            after = self.questions.program_after(k)
            value = after.results[result] if result is not None else _with(leg, chosen, after)
        else:
            seen = sum(step.shown for step in steps)
            how = f"from the program's form to the chosen one in {plural(seen, 'step')}"
            self.said = how if seen else "computed as the program has it"
        return tuple(steps)

    def _leg(self, k: int, value: str, result: int | None) -> tuple[list[Step], int | None]:
        """The steps of one search, and the value of the lattice that was chosen; None where there is none."""
        replay = self.questions.replay(k)
        raw = replay.meaning.values[value]
        image = replay.simplified.image.get(raw.id)
        writers = self.questions.writer(replay, raw=True), self.questions.writer(replay)
        worths = self.questions.worths(replay)
        if image is None:
            self.said = "no result needs it"
            return [], None
        steps = [*self._lowered(raw, writers[0], worths), *self._computed(k, raw, image, writers, worths)]
        chosen = self._chosen(k, replay, image, result)
        if chosen is None:
            return steps, None
        target = replay.chosen[chosen]
        self._end = (target, writers[1], worths)
        chain = replay.history.proof.chain(image.id, target.id)
        if chain is None:
            reason = NORMAL_FORM if replay.alike(image, target) else UNTOLD
            chain = (Equation(image, target, reason),)
        return steps + list(steps_of(chain, writers[1], partial(_error, worths))), chosen

    def _lowered(self, raw: Term, writer: Writer, worths: Sequence[tuple[Worth, Worth]]) -> list[Step]:
        """The step from what one search chose to what the next one began with."""
        if self._end is None:
            return []
        chosen, before, there = self._end
        left, right = before.text(chosen), writer.text(raw)
        pairs = zip(there, worths, strict=True)
        error = max(a.difference_by_any_names(chosen, raw, b) for (_, a), (b, _) in pairs)
        return [Step(left, right, LOWERED, error)] if left != right else []

    def _computed(
        self,
        k: int,
        raw: Term,
        image: Term,
        writers: tuple[Writer, Writer],
        worths: Sequence[tuple[Worth, Worth]],
    ) -> list[Step]:
        """The step from the term as it is denoted to the one with numbers for what is constant."""
        left, right = writers[0].text(raw), writers[1].text(image)
        if left == right:
            return []
        error = max(a.difference(raw, image, b) for a, b in worths)
        zeros = self._constants(k, raw, writers[0])
        law = f"{NORMAL_FORM}{': ' * bool(zeros)}{', '.join(zeros)}"
        return [Step(left, right, law, error)]

    def _constants(self, k: int, raw: Term, writer: Writer) -> list[str]:
        """The parts of a term that are numbers by computation, those with a name where there are some."""
        image = self.questions.replay(k).simplified.image

        def is_number(term: Term) -> bool:
            known = image.get(term.id)
            return known is not None and known.constant is not None and term.constant is None

        parts = [t for t in needed([raw]) if is_number(t)]
        named = [t for t in parts if t.id in writer.names]
        outer = [t for t in parts if not any(t in other.args for other in parts)]
        values = ((t, image[t.id].constant) for t in named or outer)
        return [f"{writer.called(t)} = {number(c)}" for t, c in values if c is not None]

    def _chosen(self, k: int, replay: Replay, image: Term, result: int | None) -> int | None:
        """The value of the lattice that was chosen for a term; says why where there is none."""
        if result is not None:
            return replay.leg.results[result]
        after = self.questions.program_after(k)
        last = k == len(self.questions.road.legs) - 1
        wanted = replay.leg.values.get(_seen(after, self.after)) if last and self.after else None
        proof = replay.history.proof
        if image.id in proof.terms:
            if wanted is not None and proof.same(image.id, replay.chosen[wanted].id):
                return wanted
            found = [v for v in replay.leg.values.values() if proof.same(image.id, replay.chosen[v].id)]
            if found:
                return found[0]
        if image.constant is not None:
            self.said = f"it is the number {number(image.constant)}, and no step is left of it"
        elif image.id not in proof.terms:
            self.said = "no longer needed: what read it is a number, or computed in another form"
        else:
            self.said = "computed no longer: what read it is computed in another form"
        return None


def _with(leg: Leg, chosen: int, after: Program) -> str:
    """A value of the next program that is this value of the lattice."""
    return next(v for v, number in leg.values.items() if number == chosen and v in after.types)


def _error(worths: Sequence[tuple[Worth, Worth]], equation: Equation) -> float:
    return max(there.difference(equation.left, equation.right) for _, there in worths)
