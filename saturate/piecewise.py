"""The search of a long program window by window: each is solved as a program of its own, equal ones once.

What a window's inputs are like is known from the whole: facts proved there, arguments as the user gave them,
and for values between windows those of one run. Each window is measured on hostile samples of its own; the
whole is measured at the end, and where it fails, windows go back to what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np

from saturate.accuracy import Judge
from saturate.cse import share, twins
from saturate.denote import denote
from saturate.facts import FINITE, NONNEG, Facts
from saturate.improve import STOPPED, FactsOf, Improved, Part, improve
from saturate.measure import Run
from saturate.observe import divisors, observed
from saturate.op import AnyArray
from saturate.program import Program
from saturate.progress import Say
from saturate.rules.law import Law
from saturate.runners.evaluate import values
from saturate.samples import KINDS, Sample
from saturate.samples import samples as draw
from saturate.saturation import Limits
from saturate.target import Target
from saturate.windows import Window, stitched, titles
from saturate.zeroless import without_zeros

ONE_KEPT = "what was found made the whole inaccurate: it is kept as it was"
ALL_KEPT = "the windows together were not as accurate as the baseline: none is changed"
"""Notes of a whole that had to do without what was found."""


@dataclass(frozen=True)
class Whole:
    """A long program and what is known of it: facts by value id, an example or a type of each input, the
    samples that the user gave, and how far laws may move a result.
    """

    program: Program
    facts: Mapping[str, Facts]
    examples: Sequence[Any]
    run: Sequence[AnyArray]
    """Arguments of the run that shows what values between windows are like."""
    given: Sequence[Sample] = ()
    bound: float = 0.0


@dataclass(frozen=True)
class Found:
    """The whole program, the baseline without its zeros, and the measure of the whole."""

    improved: Improved
    plain: Program
    judge: Judge


@dataclass(frozen=True)
class _Solved:
    improved: Improved
    plain: Program
    facts: FactsOf
    examples: Sequence[Any]
    runs: Sequence[Run] = ()


@dataclass(frozen=True)
class Piecewise:
    """How windows are solved."""

    laws: Sequence[Law]
    limits: Limits
    extractor: str
    accuracy: float | None
    seed: int
    target: Target
    judge: Callable[[Sequence[Program]], Judge]
    """The measure of the whole, given other forms of the baseline."""
    say: Say
    assume: bool = False
    """Whether divisors that are zero on no sample are taken to be nowhere zero."""

    def run(self, whole: Whole, pieces: Sequence[Window]) -> Found:
        """Solve each window, put the whole together, measure it, and undo what is not accurate enough.

        An interrupt ends the searches, or the measuring; what was found until then is kept, for the check.
        """
        inner = _Inner.of(whole)
        pieces = [inner.typed(piece) for piece in pieces]
        keys = [inner.key(piece, self._facts(piece, inner)(piece.program)) for piece in pieces]
        first = {key: k for k, key in reversed([*enumerate(keys)])}
        different = sorted(first.values())
        called = titles(whole.program, pieces, keys)
        told = [partial(self._told, f"{called[k]} of {len(different)}") for k in different]
        found = self._all([pieces[k] for k in different], inner, told)
        own = [keys[k] for k in different]
        try:
            return self._measured(whole.program, pieces, keys, dict(zip(own, found, strict=True)))
        except KeyboardInterrupt:
            return self._unmeasured(whole.program, pieces, keys, dict(zip(own, found, strict=True)))

    def _measured(
        self, whole: Program, pieces: Sequence[Window], keys: Sequence[str], known: Mapping[str, _Solved]
    ) -> Found:
        plain = _plain(whole, pieces, keys, known)
        judge = self.judge((plain,))
        return Found(_accurate(whole, pieces, keys, known, judge), plain, judge)

    def _unmeasured(
        self, whole: Program, pieces: Sequence[Window], keys: Sequence[str], known: Mapping[str, _Solved]
    ) -> Found:
        joined = _joined(whole, pieces, keys, known, set()) or _kept(whole)
        joined = replace(joined, notes=tuple(dict.fromkeys((*joined.notes, STOPPED))))
        return Found(joined, _plain(whole, pieces, keys, known), Judge(whole, (), 4.0))

    def _told(self, where: str, text: str) -> None:
        self.say(f"{where}, {text}")

    def _all(self, pieces: Sequence[Window], inner: _Inner, told: Sequence[Say]) -> list[_Solved]:
        """Every window searched, by as many threads as the limits say; once one is stopped, so are all."""
        end, stop = perf_counter() + self.limits.seconds, Event()

        def solve(piece: Window, tell: Say) -> _Solved:
            def say(text: str) -> None:
                if stop.is_set():
                    raise KeyboardInterrupt
                tell(text)

            left = replace(self.limits, seconds=max(0.0, end - perf_counter()))
            solved = self._solved(piece, inner, None if stop.is_set() else left, say)
            if STOPPED in solved.improved.notes:
                stop.set()
            return solved

        work, found = [partial(solve, *each) for each in zip(pieces, told, strict=True)], list[_Solved]()
        try:
            if self.limits.workers == 1:
                for each in work:
                    found.append(each())
            else:
                self._by_threads(work, stop, found)
        except KeyboardInterrupt:
            found += [self._unsearched(piece, inner, STOPPED) for piece in pieces[len(found) :]]
        return found

    def _by_threads(self, work: Sequence[Callable[[], _Solved]], stop: Event, found: list[_Solved]) -> None:
        futures: list[Future[_Solved]] = []
        with ThreadPoolExecutor(self.limits.workers) as pool:
            while True:
                try:
                    for each in work[len(futures) :]:
                        futures.append(pool.submit(each))
                    found[:] = [future.result() for future in futures]
                    return
                except KeyboardInterrupt:
                    stop.set()

    def _solved(self, piece: Window, inner: _Inner, limits: Limits | None, say: Say) -> _Solved:
        """A window searched; without limits to search in, as it was."""
        if limits is None:
            return self._unsearched(piece, inner)
        try:
            program, examples, facts_of = piece.program, inner.examples(piece), self._facts(piece, inner)
            plain = without_zeros(program, facts_of(program))
            judge = self._measure(piece, inner, examples, plain)
            improved = improve(
                program, self.laws, limits, self.extractor, facts_of, judge, say=say, target=self.target
            )
            return _Solved(improved, plain, facts_of, examples, judge.yardstick.runs)
        except KeyboardInterrupt:
            return self._unsearched(piece, inner, STOPPED)

    def _unsearched(self, piece: Window, inner: _Inner, *notes: str) -> _Solved:
        program = piece.program
        return _Solved(_kept(program, *notes), program, self._facts(piece, inner), inner.examples(piece))

    def _facts(self, piece: Window, inner: _Inner) -> FactsOf:
        """What is known of the values of a window: proved in the whole, or seen on samples like its run."""
        inputs = piece.program.inputs
        few = draw(inputs, self.seed, 3, [inner.examples(piece)])
        named = {i.name: f for i, f in zip(inputs, inner.facts(piece), strict=True)}

        def facts_of(current: Program) -> dict[str, Facts]:
            found = {i.value: named[i.name] for i in current.inputs}
            found |= observed(current, found, few)
            return found | divisors(current, found, few if self.assume else ())

        return facts_of

    def _measure(self, piece: Window, inner: _Inner, examples: Sequence[Any], plain: Program) -> Judge:
        if self.accuracy is None:
            return Judge(piece.program, (), 4.0, (plain,))
        drawn = inner.samples(piece) or draw(piece.program.inputs, self.seed, len(KINDS), [examples])
        return Judge(piece.program, drawn, self.accuracy, (plain,), bound=inner.whole.bound)


def _kept(program: Program, *notes: str) -> Improved:
    return Improved(share(program), {}, (), (), notes)


@dataclass(frozen=True)
class _Inner:
    """What the whole says about the values that windows read."""

    whole: Whole
    proved: Mapping[str, Facts]
    like: Mapping[str, AnyArray]
    given: Sequence[tuple[Sample, Mapping[str, AnyArray]]]

    @classmethod
    def of(cls, whole: Whole) -> _Inner:
        terms = denote(whole.program, whole.facts).values
        with np.errstate(all="ignore"):
            like = values(whole.program, *whole.run)
            given = [(s, values(whole.program, *s.arrays)) for s in whole.given]
        return cls(whole, {v: frozenset(t.facts) for v, t in terms.items()}, like, given)

    def facts(self, piece: Window) -> list[Facts]:
        own = {i.value for i in self.whole.program.inputs}
        return [self.proved[v] if v in own else self.proved[v] & {FINITE, NONNEG} for v in piece.inputs]

    def examples(self, piece: Window) -> list[Any]:
        own = {i.value: x for i, x in zip(self.whole.program.inputs, self.whole.examples, strict=True)}
        return [own.get(v, self.like[v]) for v in piece.inputs]

    def samples(self, piece: Window) -> tuple[Sample, ...]:
        """What the window reads on the samples of the user."""
        return tuple(
            Sample(s.kind, s.number, tuple(np.asarray(found[v]) for v in piece.inputs))
            for s, found in self.given
        )

    def typed(self, piece: Window) -> Window:
        """The window with what is never negative bounded below, so that samples are not either."""
        own = {i.value for i in self.whole.program.inputs}
        inputs = tuple(
            replace(i, type=replace(i.type, low=0.0))
            if v not in own and NONNEG in self.proved[v] and i.type.is_float
            else i
            for i, v in zip(piece.program.inputs, piece.inputs, strict=True)
        )
        return replace(piece, program=replace(piece.program, inputs=inputs))

    def key(self, piece: Window, seen: Mapping[str, Facts]) -> str:
        """Windows with equal keys are solved once: the program, and what else a solution depends on."""
        facts = [f"{value}: {sorted(facts)}" for value, facts in seen.items()]
        masks = ["" if _finite(x) else x.tobytes().hex() for x in self.examples(piece)]
        return "\n".join([str(piece.program), *facts, *masks])


def _finite(example: Any) -> bool:
    return (
        not isinstance(example, np.ndarray) or example.dtype.kind != "f" or bool(np.isfinite(example).all())
    )


def _plain(
    whole: Program, pieces: Sequence[Window], keys: Sequence[str], known: Mapping[str, _Solved]
) -> Program:
    """The whole without the zeros of its windows."""
    zeroless = stitched(whole, pieces, [known[key].plain for key in keys])
    return whole if zeroless is None else zeroless.program


def _accurate(
    whole: Program,
    pieces: Sequence[Window],
    keys: Sequence[str],
    known: Mapping[str, _Solved],
    judge: Judge,
) -> Improved:
    """The whole of solved windows; where it is not accurate enough, without those that make it so."""
    called = dict(zip(keys, titles(whole, pieces, keys), strict=True))
    why = ""
    for undone in (set[str](), *({key} for key in called)):
        tried = _joined(whole, pieces, keys, known, undone)
        refused = judge.refused(tried.program) if tried else None
        if tried is not None and refused is None:
            notes = [f"{called[key]}: {ONE_KEPT}{why}" for key in undone]
            return replace(tried, notes=(*tried.notes, *notes))
        why = why or (f" ({refused.missed})" if refused else "")
    kept = _joined(whole, pieces, keys, known, set(keys)) or _kept(whole)
    return replace(kept, notes=(*kept.notes, f"{ALL_KEPT}{why}"))


def _joined(
    whole: Program,
    pieces: Sequence[Window],
    keys: Sequence[str],
    known: Mapping[str, _Solved],
    undone: set[str],
) -> Improved | None:
    """One program of the windows; those whose keys are `undone` are as they were. None where windows would
    wait for each other.
    """
    chosen = [
        _kept(p.program) if k in undone else known[k].improved for p, k in zip(pieces, keys, strict=True)
    ]
    made = stitched(whole, pieces, [c.program for c in chosen])
    if made is None:
        return None
    program, first = share(made.program), twins(made.program)
    places = [{v: first.get(x, x) for v, x in found.items()} for found in made.made]
    laws = {
        found[v]: law
        for c, found in zip(chosen, places, strict=True)
        for v, law in c.laws.items()
        if v in found
    }
    called = dict(zip(keys, titles(whole, pieces, keys), strict=True))
    solved = [known[k].improved for k in called]
    return Improved(
        program,
        laws,
        tuple(p for s in solved for p in s.passes),
        tuple(b for s in solved for b in s.barred),
        notes_of({called[k]: known[k].improved for k in called}),
        tuple(c.passes[-1] for c in chosen if c.passes),
        tuple(
            Part(
                called[k], piece, c, known[k].improved, known[k].plain, known[k].facts, known[k].examples,
                found, known[k].runs,
            )
            for piece, c, k, found in zip(pieces, chosen, keys, places, strict=True)
        ),
    )  # fmt: skip


def notes_of(solved: Mapping[str, Improved]) -> tuple[str, ...]:
    """The notes of windows, each with the windows that it is about where those are not all; an interrupt is
    about the whole.
    """
    about: dict[str, list[str]] = {}
    for title, improved in solved.items():
        for note in improved.notes:
            about.setdefault(note, []).append(title)
    return tuple(
        note if note == STOPPED or len(titles) == len(solved) else f"{', '.join(titles)}: {note}"
        for note, titles in about.items()
    )
