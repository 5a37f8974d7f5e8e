"""What `optimize` returns: a callable, its source, its report, and answers to questions about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from saturate.answers import Why, WhyNot
from saturate.arguments import Signature
from saturate.certificate import Certificate, with_parts
from saturate.check import check as check_program
from saturate.errors import ArgumentError, TargetError, shown
from saturate.extract.report import Report
from saturate.forms import LOWERINGS
from saturate.improve import Part
from saturate.measure import Run
from saturate.passes.records import ExpansionResult
from saturate.program import Program
from saturate.provenance import RewriteRegion
from saturate.rules import Law
from saturate.runners import RUNNERS, Runner
from saturate.samples import KINDS, MILD
from saturate.scaled import product
from saturate.source import source as source_text
from saturate.split import COTANGENT, Split, split
from saturate.target import Target
from saturate.why import Questions


@dataclass(frozen=True)
class Behind:
    """What stands behind a result: who answers questions about it, and the windows of a long program."""

    questions: Questions
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class Optimized:
    """The cheapest program found: a callable, readable source, a report and a check.

    `rewritten` holds the `program` that runs and the records of what was rewritten, its `provenance`;
    `baseline` is the program as traced and differentiated, `same` names values of it by values of `program`,
    and `questions` answers `why`. `plain` gives other forms of the baseline that the check measures with,
    `behind` what is known beyond the result, `long` says whether it was searched in windows. Called with the
    function's own arguments it returns the value; with gradients asked for, `(value, gradients)`, where a
    value that is not a scalar needs its `cotangent`. Arguments are never written to, and no result shares
    memory with an argument.
    """

    rewritten: ExpansionResult[RewriteRegion]
    baseline: Program
    target: Target
    report: Report
    laws: dict[str, str]
    same: dict[str, str]
    _rules: tuple[Law, ...]
    _signature: Signature
    _examples: tuple[Any, ...]
    plain: Callable[[], tuple[Program, ...]]
    behind: Callable[[], Behind]
    long: bool = False

    @property
    def program(self) -> Program:
        """What runs."""
        return self.rewritten.program

    @property
    def provenance(self) -> tuple[RewriteRegion, ...]:
        """Regions rewritten, in program order: nodes of `baseline`, nodes of `program`, and laws."""
        return self.rewritten.regions

    @property
    def questions(self) -> Questions:
        """Who answers `why` and `why_not`; for a result that was recalled the search is made again first."""
        return self.behind().questions

    @cached_property
    def _runner(self) -> Runner:
        return RUNNERS[self.target.runner](self.program)

    @cached_property
    def _split(self) -> Split:
        return split(self.program, product(self.target))

    @cached_property
    def _halves(self) -> tuple[Split, Runner, Runner]:
        make = RUNNERS[self.target.runner]
        return self._split, make(self._split.forward), make(self._split.backward)

    def __call__(self, *args: Any, cotangent: Any = None, **named: Any) -> Any:
        """The value, or `(value, gradients)`; raises `ArgumentError` where arguments do not fit."""
        if cotangent is not None and COTANGENT in self._signature.arguments:
            named = {**named, COTANGENT: cotangent}
        given = self._signature.inputs(args, named)
        if self._needs_cotangent:
            given[COTANGENT] = self._cotangent(cotangent)
        elif cotangent is not None and COTANGENT not in self._signature.arguments:
            raise ArgumentError(
                f"{self.program.name} takes no cotangent: its value is a scalar, or no gradient was asked "
                "for; scale the gradients, or call backward(residuals, cotangent)"
            )
        results = self._runner(**given)
        count = len(self.program.outputs)
        value = self._signature.value(results[:count])
        return (value, self._signature.gradients(results[count:])) if self.program.gradients else value

    @property
    def _needs_cotangent(self) -> bool:
        """Whether the cotangent is an input that is no argument of the function or program that was given."""
        taken = COTANGENT in self._signature.arguments
        return not taken and any(i.name == COTANGENT for i in self.program.inputs)

    def _cotangent(self, cotangent: Any) -> Any:
        if cotangent is None:
            kind = self.program.types[self.program.outputs[0]]
            raise ArgumentError(
                f"{self.program.name} needs the cotangent of its value, an array {kind}: pass cotangent=…"
            )
        return cotangent

    def forward(self, *args: Any, **named: Any) -> tuple[Any, tuple[Any, ...]]:
        """`(value, residuals)`: the value, and what `backward` reads."""
        self._needs_gradients("forward")
        _, forward, _ = self._halves
        given = self._signature.inputs(args, named, without=COTANGENT)
        results = forward(**{i.name: given[i.name] for i in forward.program.inputs})
        count = len(self.program.outputs)
        return self._signature.value(results[:count]), tuple(results[count:])

    def backward(self, residuals: Sequence[Any], cotangent: Any = None) -> Any:
        """The gradients, given the residuals of `forward` and the cotangent of the value; that of a scalar
        is 1 unless given. Raises `TargetError` for another where the target has no ops to multiply by it.
        """
        self._needs_gradients("backward")
        halves, _, backward = self._halves
        if cotangent is None:
            scalar = not self.baseline.types[self.baseline.outputs[0]].shape
            cotangent = 1.0 if scalar else self._cotangent(None)
        if len(residuals) != len(halves.residuals):
            raise ArgumentError(
                f"backward needs the {len(halves.residuals)} residuals that forward returned, "
                f"got {len(residuals)}"
            )
        if not halves.refused:
            return self._signature.gradients(backward(*residuals, cotangent))
        if not np.array_equal(cotangent, 1):
            raise TargetError(
                f"backward of {self.program.name} gives gradients for the cotangent 1 alone, got "
                f"{shown(cotangent)}: {halves.refused}"
            )
        return self._signature.gradients(backward(*residuals))

    def _needs_gradients(self, who: str) -> None:
        if not self.program.gradients:
            raise ArgumentError(f"{who} needs gradients, and none were asked for: pass wrt= to optimize")

    def source(self, style: Literal["numpy", "cupy"] = "numpy") -> str:
        """Python text that runs alone with NumPy (or CuPy), equal to the runner bit for bit on one thread."""
        statements = {law.name: law.doc.splitlines()[0] for law in self._rules} | LOWERINGS
        comments = {v: f"{name}: {statements.get(name, '')}".rstrip(": ") for v, name in self.laws.items()}
        halves = self._split if self.program.gradients else None
        return source_text(self.program, style=style, comments=comments, halves=halves)

    def why(self, name: str) -> Why:
        """The laws from the baseline's form of a value to the chosen one; `Questions.why` has the names."""
        return self.questions.why(name)

    def why_not(self, rule: str | Law, name: str) -> WhyNot:
        """The best partial match of a law at a value, and the first of its conditions that fails."""
        return self.questions.why_not(rule, name)

    def check(
        self,
        runner: str = "numpy",
        trials: int = len(KINDS),
        seed: int = 0,
        samples: Sequence[Sequence[Any]] | None = None,
    ) -> Certificate:
        """Value and gradients against the baseline, both against a wider reference, and slopes.

        On the examples and `trials` hostile samples around them; with `samples`, argument tuples, on those.
        A long program is checked on samples near the examples, and each of its windows on hostile ones too:
        what a hundred layers make of weights near 1e4 is noise in any program.
        """
        return self.certified(runner, trials, seed, samples)

    def certified(
        self,
        runner: str,
        trials: int,
        seed: int,
        samples: Sequence[Sequence[Any]] | None,
        measured: Sequence[Run] = (),
    ) -> Certificate:
        """As `check`, with runs of the baseline that were made before."""
        examples: list[Sequence[Any]] = [self._examples] if self._examples else []
        if samples is not None:
            trials = 0
            known, numbered = self._signature, enumerate(samples, seed)
            examples = [known.with_cotangent(self.baseline, args, k) for k, args in numbered]
        named = set(self.laws.values())
        bound = bound_of(law for law in self._rules if law.name in named)
        whole = check_program(
            self.program, self.baseline, runner=runner, trials=trials, seed=seed, examples=examples or None,
            assumptions=self.report.assumptions, also=self.plain(), bound=bound,
            kinds=MILD if self.long else KINDS, measured=measured,
        )  # fmt: skip
        return with_parts(
            whole, self._checked_parts(runner, seed, bound) if self.long and samples is None else {}
        )

    def _checked_parts(self, runner: str, seed: int, bound: float) -> dict[str, Certificate]:
        """The windows of a long program on hostile samples, equal ones once, results by their names."""
        found: dict[str, Certificate] = {}
        gradients = {value: f"gradient {name}" for name, value in self.baseline.gradients}
        for part in self.behind().parts:
            if part.title not in found:
                certificate = check_program(
                    part.improved.program, part.window.program, runner=runner, trials=len(KINDS), seed=seed,
                    examples=[part.examples], also=(part.plain,), bound=bound, measured=part.runs,
                )  # fmt: skip
                labels = {v: self.baseline.producer[v].label or v for v in part.window.outputs}
                names = [gradients.get(v, label) for v, label in labels.items()]
                named = zip(certificate.results, names, strict=True)
                found[part.title] = replace(
                    certificate, results=tuple(replace(row, name=name) for row, name in named)
                )
        return found


def bound_of(laws: Iterable[Law]) -> float:
    """How far the laws may move a result, in parts of its scale."""
    return max((law.bound for law in laws), default=0.0)
