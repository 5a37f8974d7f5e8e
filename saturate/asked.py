"""Questions about a long program, answered by the window that a value stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from saturate.answers import Why, WhyNot
from saturate.errors import ArgumentError
from saturate.improve import FactsOf, Improved, Part
from saturate.op import AnyArray
from saturate.program import Program
from saturate.replay import Road, road
from saturate.rules import Law
from saturate.saturation import Limits
from saturate.why import OF_BASELINE, Questions


@dataclass(frozen=True)
class WindowQuestions(Questions):
    """As `Questions`; a value is asked for in its window, and what that reads from others is named for it."""

    parts: tuple[Part, ...] = ()

    def at_the_start(self, program: Program) -> Questions:
        """Those of the whole, where nothing that was found in a window is used."""
        return Questions(replace(self.road, program=program), self.examples, self.exact)

    def why(self, name: str) -> Why:
        """The chain of laws in the window of the value."""
        questions, inner = self._inside(name)
        return replace(questions.why(inner), name=name)

    def why_not(self, rule: str | Law, name: str) -> WhyNot:
        """The best partial match in the window of the value."""
        questions, inner = self._inside(name)
        return replace(questions.why_not(rule, inner), name=name)

    def _inside(self, name: str) -> tuple[Questions, str]:
        before, after = self._named(name)
        for part in self.parts:
            mine = {whole: own for own, whole in part.window.values.items()}
            made = {whole: own for own, whole in part.made.items()}
            produced = part.window.program.producer
            if before in mine and mine[before] in produced:
                return self._of(part), OF_BASELINE + mine[before]
            if before is None and after in made and made[after] in part.improved.program.producer:
                return self._of(part), made[after]
        raise ArgumentError(f"{name!r} is no value that a window of {self.road.baseline.name} computes")

    def _of(self, part: Part) -> Questions:
        found = self.road
        way = road(part.window.program, part.improved, found.laws, part.facts, found.limits)
        whole = found.baseline
        names = {i.value: i.name for i in whole.inputs} | {n.value: n.label or n.value for n in whole.nodes}
        pairs = zip(part.window.program.inputs, part.window.inputs, strict=True)
        return Questions(way, tuple(part.examples), self.exact, {i.name: names[v] for i, v in pairs})


def asked(
    baseline: Program,
    improved: Improved,
    laws: tuple[Law, ...],
    facts: FactsOf,
    limits: Limits,
    examples: Sequence[AnyArray],
    exact: str,
) -> Questions:
    """Who answers questions about an optimization."""
    if not improved.parts:
        return Questions(road(baseline, improved, laws, facts, limits), examples, exact)
    whole = Road(baseline, (), improved.program, laws, facts, limits)
    return WindowQuestions(whole, examples, exact, parts=improved.parts)
