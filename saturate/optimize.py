"""`optimize`: the whole road from a NumPy function to a checked callable, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from saturate.accuracy import Judge
from saturate.answers import Why, WhyNot
from saturate.arguments import Signature, signature
from saturate.autodiff import gradient_program
from saturate.certificate import Certificate
from saturate.check import check as check_program
from saturate.cse import share
from saturate.denote import input_facts
from saturate.errors import ArgumentError
from saturate.extract import EXTRACTORS
from saturate.extract.report import Report
from saturate.facts import FINITE, NONNEG, NONZERO, Facts
from saturate.forms import LOWERINGS
from saturate.improve import STOPPED, Improved, improve
from saturate.observe import assumptions, observed
from saturate.op import AnyArray, Type
from saturate.passes.records import ExpansionResult
from saturate.program import Program
from saturate.progress import progress
from saturate.provenance import RewriteRegion, provenance
from saturate.replay import road
from saturate.reporting import report_of
from saturate.rules import EXACTNESS, Law
from saturate.rules.admission import admitted, insisted
from saturate.runners import RUNNERS, Runner
from saturate.samples import Sample
from saturate.samples import samples as draw
from saturate.saturation import Limits
from saturate.search import without_zeros
from saturate.source import source as source_text
from saturate.split import COTANGENT, Split, split
from saturate.target import Target
from saturate.targeted import require
from saturate.why import Questions

MEASURED_ELEMENTS = 20_000_000
"""Samples for the accuracy price are drawn until arguments of about this many elements were measured."""


@dataclass(frozen=True)
class Optimized:
    """The cheapest program found: a callable, readable source, a report and a check.

    `rewritten` holds the `program` that runs and the records of what was rewritten, its `provenance`;
    `baseline` is the program as traced and differentiated, and `same` names values of it by values of
    `program`. Called with the function's own arguments it returns the value; with gradients asked for,
    `(value, gradients)`, where a value that is not a scalar needs its `cotangent`. Arguments are never
    written to, and no result shares memory with an argument.
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
    _plain: tuple[Program, ...]
    _questions: Questions

    @property
    def program(self) -> Program:
        """What runs."""
        return self.rewritten.program

    @property
    def provenance(self) -> tuple[RewriteRegion, ...]:
        """Regions rewritten, in program order: nodes of `baseline`, nodes of `program`, and laws."""
        return self.rewritten.regions

    @cached_property
    def _runner(self) -> Runner:
        return RUNNERS[self.target.runner](self.program)

    @cached_property
    def _halves(self) -> tuple[Split, Runner, Runner]:
        halves = split(self.program, broadcasts=not self.target.lacks("broadcast"))
        make = RUNNERS[self.target.runner]
        return halves, make(halves.forward), make(halves.backward)

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
        is 1 unless given.
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
        return self._signature.gradients(backward(*residuals, cotangent))

    def _needs_gradients(self, who: str) -> None:
        if not self.program.gradients:
            raise ArgumentError(f"{who} needs gradients, and none were asked for: pass wrt= to optimize")

    def source(self, style: Literal["numpy", "cupy"] = "numpy") -> str:
        """Python text that runs alone with NumPy (or CuPy), equal to the runner bit for bit on one thread."""
        statements = {law.name: law.doc.splitlines()[0] for law in self._rules} | LOWERINGS
        comments = {v: f"{name}: {statements.get(name, '')}".rstrip(": ") for v, name in self.laws.items()}
        return source_text(self.program, style=style, comments=comments)

    def why(self, name: str) -> Why:
        """The laws from the baseline's form of a value to the chosen one; `Questions.why` has the names."""
        return self._questions.why(name)

    def why_not(self, rule: str | Law, name: str) -> WhyNot:
        """The best partial match of a law at a value, and the first of its conditions that fails."""
        return self._questions.why_not(rule, name)

    def check(
        self,
        runner: str = "numpy",
        trials: int = 8,
        seed: int = 0,
        samples: Sequence[Sequence[Any]] | None = None,
    ) -> Certificate:
        """Value and gradients against the baseline, both against a wider reference, and slopes.

        On the examples and `trials` hostile samples around them; with `samples`, argument tuples, on those.
        """
        examples: list[Sequence[Any]] = [self._examples] if self._examples else []
        if samples is not None:
            trials = 0
            known, numbered = self._signature, enumerate(samples, seed)
            examples = [known.with_cotangent(self.baseline, args, k) for k, args in numbered]
        return check_program(
            self.program, self.baseline, runner=runner, trials=trials, seed=seed, examples=examples or None,
            assumptions=self.report.assumptions, also=self._plain,
            bound=_bound(law for law in self._rules if law.name in self.laws.values()),
        )  # fmt: skip


def optimize(
    f: Callable[..., Any] | Program,
    *examples: Any,
    wrt: Any = None,
    target: str | Target = "numpy",
    exact: str = "rounding",
    accuracy: float | None = 4.0,
    samples: Sequence[Sequence[Any]] | None = None,
    rules: Sequence[Law] | None = None,
    extractor: str = "auto",
    limits: Limits = Limits(),  # noqa: B008  # frozen
    memory: None = None,
    check: bool = True,
    seed: int = 0,
) -> Optimized:
    """The cheapest program with the same value and gradients as `f`, found by equality saturation.

    `f` is a NumPy function or a `Program`; `examples` are arrays, `Type`s or nested dicts, lists and tuples
    of them. `wrt` names the arguments to differentiate by (names, positions, or a tuple or list of them;
    gradients come in its structure); None optimizes the value alone. `target` is a runner by name, or a
    `Target` that says which ops the result may be made of. `exact` admits laws up to a class of
    exactness. A program is taken only if its error against a wider reference is at most `accuracy` times
    what the baseline's can be (`saturate.check.check` says what counts) on hostile samples, or on
    `samples`, argument tuples that stand for the user's data; None
    turns this off, and the report says so. `rules` are the laws to use, the catalogue by default; one that
    is not of the catalogue is tested first, and refused with a counter-example where it is false, unless it
    is declared `unchecked=True`, which the report says. Limits are counts with seconds as a backstop, so
    that equal input gives equal text. With `check` the answer is checked before it is returned. Raises
    errors of `saturate.errors`, each saying what came and what to do.
    """
    goal = target if isinstance(target, Target) else Target(target)
    _refuse(goal.runner, exact, extractor, memory)
    _refuse_figures(accuracy, limits, seed)
    known = signature(f, examples, wrt)
    baseline = _baseline(known)
    laws = admitted(rules, exact)
    plain: tuple[Program, ...] = ()
    assumed: tuple[str, ...] = ()
    facts = partial(_facts, known=known, samples=())
    try:
        few = _drawn(baseline, known, seed, 3)
        given = _facts(baseline, known, few)
        assumed = tuple(assumptions(baseline, given))
        plain = (without_zeros(baseline, given),)
        judge = _judge(baseline, plain, known, accuracy, samples, seed, _bound(laws))
        if exact == "bitwise":
            improved = _shared(baseline)
        else:
            with progress(f"optimizing {baseline.name}") as say:
                facts = partial(_facts, known=known, samples=few)
                improved = improve(baseline, laws, limits, extractor, facts, judge, say=say, target=goal)
    except KeyboardInterrupt:
        judge, improved = Judge(baseline, (), 4.0), _shared(baseline, STOPPED)
    require(improved.program, goal, f"exact={exact}" if exact == "bitwise" else "; ".join(improved.notes))
    arrays = known.arrays(baseline)

    def assembled() -> Optimized:
        notes = [*insisted(laws), *_notes(known, accuracy)]
        report = report_of(baseline, improved, judge, exact, laws, notes, assumed, goal)
        found = provenance(baseline, improved)
        return Optimized(
            ExpansionResult(improved.program, found.regions), baseline, goal, report, dict(improved.laws),
            dict(found.same), laws, known, arrays, plain,
            Questions(road(baseline, improved, laws, facts, limits), arrays, exact),
        )  # fmt: skip

    try:
        best = assembled()
    except KeyboardInterrupt:  # the search is over, and what it found is not lost
        best = assembled()
    return _checked(best, seed, samples) if check else best


def _shared(baseline: Program, *notes: str) -> Improved:
    """The baseline with shared work, where no law is admitted or no time was given."""
    return Improved(share(baseline), {}, (), (), notes)


def _checked(best: Optimized, seed: int, samples: Sequence[Sequence[Any]] | None) -> Optimized:
    """The program with its certificate in the report; the shared baseline where the check fails.

    Where the user gave samples, they are what is checked.
    """
    try:
        certificate = best.check(trials=4, seed=seed, samples=samples)
    except KeyboardInterrupt:
        notes = (*best.report.notes, "interrupted: the result was not checked")
        return replace(best, report=replace(best.report, notes=notes))
    if certificate.passed:
        return replace(best, report=replace(best.report, check=certificate))
    shared = share(best.baseline)
    same = {value: value for value in shared.types}
    asked = best._questions.at_the_start(shared)
    plain = replace(best, rewritten=ExpansionResult(shared, ()), laws={}, same=same, _questions=asked)
    note = "the check refused the optimized program; the baseline with shared work is returned"
    require(plain.program, best.target, note)
    again = plain.check(trials=4, seed=seed, samples=samples)
    report = replace(best.report, check=again, notes=(*best.report.notes, note))
    return replace(plain, report=report)


def _notes(known: Signature, accuracy: float | None) -> list[str]:
    """What the user may not expect: lines that promote to a wider dtype, accuracy that nothing measured."""
    promotions = known.traced.promotions if known.traced else ()
    held = [
        f"the example of {i.name} holds NaN: every other sample is drawn without"
        for i in known.program.inputs
        if i.type.is_float and np.isnan(_array(known.example(i.name))).any()
    ]
    return [*promotions, *held, *(["accuracy was not measured: accuracy=None"] if accuracy is None else [])]


def _array(example: Any) -> AnyArray:
    return np.zeros(0) if example is None or isinstance(example, Type) else np.asarray(example)


def _refuse(target: str, exact: str, extractor: str, memory: None) -> None:
    for what, given, known in (
        ("target", target, tuple(RUNNERS)),
        ("exact", exact, EXACTNESS),
        ("extractor", extractor, tuple(EXTRACTORS)),
    ):
        if given not in known:
            raise ArgumentError(f"optimize needs {what} to be one of {', '.join(known)}; got {given!r}")
    if memory is not None:
        raise ArgumentError(f"optimize takes only memory=None for now, got {memory!r}: leave it out")


def _refuse_figures(accuracy: Any, limits: Any, seed: Any) -> None:
    if accuracy is not None and not (isinstance(accuracy, int | float) and accuracy >= 1):
        raise ArgumentError(
            f"optimize needs accuracy of at least 1, or None to turn it off; got {accuracy!r}"
        )
    if not isinstance(limits, Limits):
        raise ArgumentError(f"optimize needs limits as Limits(seconds, nodes, rounds), got {limits!r}")
    if not (limits.seconds >= 0 and limits.nodes >= 0 and limits.rounds >= 0):
        raise ArgumentError(f"optimize needs limits from 0 on, got {limits!r}")
    if not isinstance(seed, int) or seed < 0:
        raise ArgumentError(f"optimize needs seed as a whole number from 0 on, got {seed!r}")


def _baseline(known: Signature) -> Program:
    program = known.program
    if not known.wrt or program.gradients:
        return program
    if len(program.outputs) != 1:
        raise ArgumentError(
            f"gradients need a function with one result, and {program.name} returns {len(program.outputs)}: "
            "return the one to differentiate"
        )
    kind = program.types[program.outputs[0]]
    return gradient_program(program, known.wrt, seed="input" if kind.shape else "ones")


def _facts(program: Program, known: Signature, samples: Sequence[Sample]) -> dict[str, Facts]:
    """Inputs are finite by contract unless the example is not, with signs from bounds; what the samples
    show besides.
    """
    found: dict[str, Facts] = {}
    for given in program.inputs:
        facts = input_facts(given.type)
        example = known.example(given.name)
        if isinstance(example, np.ndarray) and example.dtype.kind == "f" and not np.isfinite(example).all():
            facts -= {FINITE, NONNEG, NONZERO}
        found[given.value] = facts
    return found | observed(program, found, samples)


def _judge(
    baseline: Program,
    plain: Sequence[Program],
    known: Signature,
    accuracy: float | None,
    given: Any,
    seed: int,
    bound: float,
) -> Judge:
    """The measure of accuracy: on the user's samples, else on drawn ones; without samples it accepts
    everything.
    """
    if accuracy is None:
        return Judge(baseline, (), 4.0, plain)
    if given is not None:
        if (
            not isinstance(given, Sequence)
            or not given
            or not all(isinstance(g, tuple | list) for g in given)
        ):
            raise ArgumentError(f"samples needs a list of at least one tuple of arguments, got {given!r}")
        drawn = tuple(
            Sample("given", k, tuple(known.with_cotangent(baseline, args, seed + k)))
            for k, args in enumerate(given)
        )
        return Judge(baseline, drawn, accuracy, plain, bound=bound)
    size = max(1, sum(i.type.size for i in baseline.inputs))
    trials = max(3, min(10, MEASURED_ELEMENTS // size))
    return Judge(baseline, _drawn(baseline, known, seed, trials), accuracy, plain, bound=bound)


def _bound(laws: Iterable[Law]) -> float:
    """How far the laws may move a result, in parts of its scale."""
    return max((law.bound for law in laws), default=0.0)


def _drawn(baseline: Program, known: Signature, seed: int, trials: int) -> tuple[Sample, ...]:
    examples = known.arrays(baseline)
    return draw(baseline.inputs, seed, trials, [examples] if examples else None)


__all__ = ["Limits", "Optimized", "Type", "optimize"]
