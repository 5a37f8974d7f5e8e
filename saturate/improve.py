"""The search repeated until the price stands still, each result measured before it is believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from saturate.accuracy import Verdict
from saturate.cse import share
from saturate.errors import ExtractionError, TargetError
from saturate.extract import Extraction
from saturate.extract.costs import Profile
from saturate.facts import Facts
from saturate.lower import Lowered
from saturate.measure import Run
from saturate.price import price_program
from saturate.program import Program
from saturate.progress import Say, silent
from saturate.rules.law import Law
from saturate.saturation import INTERRUPTED, SATURATED, Limits
from saturate.search import Search, emit, extract, search
from saturate.target import Target
from saturate.targeted import targeted
from saturate.windows import Window

PASSES = 4
"""A result is searched again at most this often."""
ATTEMPTS = 24
"""Steps barred for accuracy before a pass gives up."""
BETTER = 1e-6
"""A pass counts where it lowers the price by more than this part."""
LITTLE = 0.02
"""After a repeated search that lowers the price by less than this part there is none."""
STOPPED = "interrupted: the best program found until then is returned"
"""The note of a search that Ctrl-C ended."""

Judge = Callable[[Search, Lowered, frozenset[tuple[int, int]]], Verdict | None]
"""None where a lowered program is accurate enough, else the step to bar; given the steps barred before."""


FactsOf = Callable[[Program], Mapping[str, Facts]]
"""Facts of the values of a program, by value id."""


@dataclass(frozen=True)
class Pass:
    """One search: what it found, what it chose, the price before and after; `taken` where that is less."""

    search: Search
    extraction: Extraction
    lowered: Lowered
    before: float
    after: float
    taken: bool


@dataclass(frozen=True)
class Improved:
    """The cheapest program found, the law behind each of its values, and how it was found."""

    program: Program
    laws: Mapping[str, str]
    passes: tuple[Pass, ...]
    barred: tuple[str, ...]
    notes: tuple[str, ...]
    last: tuple[Pass, ...] = ()
    """The last pass of each window of the program, which is one where the program is not long."""
    parts: tuple[Part, ...] = ()
    """The windows of a long program; one that is not long has none."""


@dataclass(frozen=True)
class Part:
    """A window of a long program, what it is called, what was found for it, and what is known of it.

    `improved` is the window as it was where what its search found, `searched`, made the whole inaccurate.
    `made` says which value of the whole result a value of the window's result is; `plain` is the window
    without its zeros, `facts` and `examples` are those it was searched and measured with, `runs` those of the
    window as it was.
    """

    title: str
    window: Window
    improved: Improved
    searched: Improved
    plain: Program
    facts: FactsOf
    examples: Sequence[Any]
    made: Mapping[str, str]
    runs: Sequence[Run] = ()


@dataclass
class _Improver:
    laws: Sequence[Law]
    limits: Limits
    extractor: str
    facts: FactsOf
    profile: Profile
    judge: Judge
    say: Say
    target: Target
    found: list[Pass] = field(default_factory=list)
    barred: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    end: float = 0.0

    def run(self, baseline: Program) -> Improved:
        current, origins = share(baseline), dict[str, str]()
        self.end = perf_counter() + self.limits.seconds
        try:
            for _ in range(PASSES):
                left = replace(self.limits, seconds=max(0.0, self.end - perf_counter()))
                better = self._once(current, origins, left)
                if better is None:
                    break
                current, origins = better
                if STOPPED in self.notes or self._spent:
                    break
            else:
                self._note(
                    f"the search was repeated {PASSES} times, its limit, and the last one still helped"
                )
        except KeyboardInterrupt:
            self._note(STOPPED)
        found = tuple(self.found)
        return Improved(current, origins, found, tuple(self.barred), tuple(self.notes), found[-1:])

    def _once(
        self, current: Program, origins: Mapping[str, str], limits: Limits
    ) -> tuple[Program, dict[str, str]] | None:
        before = price_program(current, self.profile).cost
        most = float("inf") if self.target.missing(current) else before * (1 - BETTER)
        self.say(f"search {len(self.found) + 1}")
        found = search(current, self.laws, limits, self.facts(current), self.profile)
        if self.target.ops is not None:
            try:
                found = targeted(found, self.target)
            except TargetError as error:
                if self.target.missing(current):
                    raise
                self._note(f"nothing but the program itself was found: {error}")
                return None
        if found.saturation.stopped == INTERRUPTED:
            self._note(STOPPED)
        elif found.saturation.stopped != SATURATED:
            self._note(f"a search ended at its {found.saturation.stopped}")
        chosen = self._accurate(found, most)
        if chosen is None:
            return None
        lowered, extraction = chosen
        program = share(lowered.program)
        after = price_program(program, self.profile).cost
        if not extraction.proven and self.extractor in ("auto", "exact"):
            self._note("an extraction ended at its work limit")
        worse = after >= most
        self.found.append(Pass(found, extraction, lowered, before, before if worse else after, not worse))
        if worse:
            return None
        return program, _origins(found, lowered, program, origins)

    def _accurate(self, found: Search, most: float) -> tuple[Lowered, Extraction] | None:
        """The cheapest choice that the judge accepts; one that costs `most` or more is not measured, since
        it is not taken.
        """
        barred: set[tuple[int, int]] = set()
        for _ in range(ATTEMPTS):
            self.say(f"search {len(self.found) + 1}, {len(barred)} steps left out for accuracy")
            try:
                left = max(0.0, self.end - perf_counter())
                extraction = extract(found, self.extractor, frozenset(barred), left)
            except ExtractionError:  # every way to compute something is barred
                break
            if "interrupted" in extraction.method:
                self._note(STOPPED)
            if perf_counter() > self.end:
                self._note("a search ended at its time limit")
            lowered = emit(found, extraction)
            dear = price_program(share(lowered.program), self.profile).cost >= most
            verdict = None if dear else self.judge(found, lowered, frozenset(barred))
            if verdict is None:
                return lowered, extraction
            self.barred.append(verdict.reason)
            if STOPPED in self.notes:
                return None
            if perf_counter() > self.end:
                break
            if verdict.step[0] < 0:
                break
            barred.add(verdict.step)
        why = f" (the last: {self.barred[-1]})" if self.barred else ""
        self._note(f"no program found was as accurate as the baseline: the one before is kept{why}")
        return None

    @property
    def _spent(self) -> bool:
        """Whether searching again has begun to gain little."""
        last = self.found[-1]
        return len(self.found) > 1 and last.after > last.before * (1 - LITTLE)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _origins(found: Search, lowered: Lowered, program: Program, before: Mapping[str, str]) -> dict[str, str]:
    """The law behind each value; where this search kept a value, the law of an earlier one."""
    earlier = {found.lattice_value(value): law for value, law in before.items()}
    origins = {}
    for value, (step, _) in lowered.steps.items():
        law = lowered.laws.get(value) or earlier.get(found.value_of(step))
        if law and value in program.types:  # equal values were joined after lowering
            origins[value] = law
    return origins


def improve(
    baseline: Program,
    laws: Sequence[Law],
    limits: Limits,
    extractor: str,
    facts: FactsOf,
    judge: Judge,
    profile: Profile | None = None,
    say: Say = silent,
    target: Target | None = None,
) -> Improved:
    """The cheapest program that the laws reach and the judge accepts, never dearer than the baseline where
    the target can run that.
    """
    target = target or Target(profile=profile)
    profile = target.profile or Profile()
    return _Improver(laws, limits, extractor, facts, profile, judge, say, target).run(baseline)
