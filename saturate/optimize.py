"""`optimize`: the whole road from a NumPy function to a checked callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from saturate.accuracy import Judge
from saturate.admission import admitted, insisted
from saturate.arguments import Signature, signature
from saturate.asked import asked
from saturate.autodiff import gradient_program
from saturate.cse import share
from saturate.errors import ArgumentError
from saturate.extract import EXTRACTORS
from saturate.facts import FINITE, NONNEG, NONZERO, Facts
from saturate.improve import STOPPED, Improved, improve
from saturate.leaf_facts import input_facts
from saturate.observe import assumptions, divisors, observed
from saturate.op import AnyArray, Type
from saturate.optimized import Optimized, bound_of
from saturate.passes.records import ExpansionResult
from saturate.piecewise import Piecewise, Whole
from saturate.program import Program
from saturate.progress import progress
from saturate.provenance import provenance
from saturate.reporting import report_of
from saturate.rules import DOMAIN, EXACTNESS, Law
from saturate.runners import RUNNERS
from saturate.samples import KINDS, MILD, Sample
from saturate.samples import samples as draw
from saturate.saturation import Limits
from saturate.target import Target
from saturate.targeted import require
from saturate.windows import windows
from saturate.zeroless import without_zeros

MEASURED_ELEMENTS = 4_000_000
"""Samples for the accuracy price are drawn until arguments of about this many elements were measured."""


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
    that equal input gives equal text; seconds bound searching, not one extraction, measuring or the check.
    With `check` the answer is checked before it is returned. Raises errors of `saturate.errors`, each saying
    what came and what to do.
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
    stood = _given(baseline, known, samples, seed)
    try:
        few = _drawn(baseline, known, seed, 3)
        assume = EXACTNESS.index(exact) >= EXACTNESS.index(DOMAIN)
        given = _facts(baseline, known, few, assume)
        assumed = tuple(assumptions(baseline, given))
        bound = bound_of(laws)
        measure = partial(_judge, known=known, accuracy=accuracy, given=stood, seed=seed, bound=bound)
        pieces = windows(baseline) if goal.ops is None and exact != "bitwise" else ()
        with progress(f"optimizing {baseline.name}") as say:
            if len(pieces) > 1:
                whole = Whole(baseline, given, known.arrays(baseline), few[0].arrays, stood, bound)
                judged = partial(measure, baseline, kinds=MILD)
                parts = Piecewise(laws, limits, extractor, accuracy, seed, goal, judged, say, assume)
                found = parts.run(whole, pieces)
                plain, judge, improved = (found.plain,), found.judge, found.improved
            else:
                plain = (without_zeros(baseline, given),)
                judge = measure(baseline, plain, kinds=KINDS)
                facts = partial(_facts, known=known, samples=few, assume=assume)
                improved = (
                    _shared(baseline)
                    if exact == "bitwise"
                    else improve(baseline, laws, limits, extractor, facts, judge, say=say, target=goal)
                )
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
            asked(baseline, improved, laws, facts, limits, arrays, exact), improved.parts,
        )  # fmt: skip

    try:
        best = assembled()
    except KeyboardInterrupt:  # the search is over, and what it found is not lost
        best = assembled()
    return _checked(best, judge, seed, samples) if check else best


def _shared(baseline: Program, *notes: str) -> Improved:
    """The baseline with shared work, where no law is admitted or no time was given."""
    return Improved(share(baseline), {}, (), (), notes)


def _checked(best: Optimized, judge: Judge, seed: int, samples: Sequence[Sequence[Any]] | None) -> Optimized:
    """The program with its certificate in the report; the shared baseline where the check fails.

    Where the user gave samples, they are what is checked.
    """
    try:
        certificate = best.certified("numpy", 4, seed, samples, judge.runs)
    except KeyboardInterrupt:
        notes = (*best.report.notes, "interrupted: the result was not checked")
        return replace(best, report=replace(best.report, notes=notes))
    if certificate.passed:
        return replace(best, report=replace(best.report, check=certificate))
    shared = share(best.baseline)
    same = {value: value for value in shared.types}
    asked = best.questions.at_the_start(shared)
    plain = replace(best, rewritten=ExpansionResult(shared, ()), laws={}, same=same, questions=asked)
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


def _facts(
    program: Program, known: Signature, samples: Sequence[Sample], assume: bool = False
) -> dict[str, Facts]:
    """Inputs are finite by contract unless the example is not, with signs from bounds; what the samples
    show besides, and with `assume` what they show of divisors.
    """
    found: dict[str, Facts] = {}
    for given in program.inputs:
        facts = input_facts(given.type)
        example = known.example(given.name)
        if isinstance(example, np.ndarray) and example.dtype.kind == "f" and not np.isfinite(example).all():
            facts -= {FINITE, NONNEG, NONZERO}
        found[given.value] = facts
    found |= observed(program, found, samples)
    return found | divisors(program, found, samples if assume else ())


def _judge(
    baseline: Program,
    plain: Sequence[Program],
    known: Signature,
    accuracy: float | None,
    given: Sequence[Sample],
    seed: int,
    bound: float,
    kinds: Sequence[str],
) -> Judge:
    """The measure of accuracy: on the user's samples, else on drawn ones; without samples it accepts
    everything.
    """
    if accuracy is None:
        return Judge(baseline, (), 4.0, plain)
    size = max(1, sum(i.type.size for i in baseline.inputs))
    trials = max(3, min(len(kinds) + 2, MEASURED_ELEMENTS // size))
    drawn = given or _drawn(baseline, known, seed, trials, kinds)
    return Judge(baseline, drawn, accuracy, plain, bound=bound)


def _given(baseline: Program, known: Signature, samples: Any, seed: int) -> tuple[Sample, ...]:
    """The samples of the user as arguments of the baseline."""
    if samples is None:
        return ()
    if (
        not isinstance(samples, Sequence)
        or not samples
        or not all(isinstance(g, tuple | list) for g in samples)
    ):
        raise ArgumentError(f"samples needs a list of at least one tuple of arguments, got {samples!r}")
    return tuple(
        Sample("given", k, tuple(known.with_cotangent(baseline, args, seed + k)))
        for k, args in enumerate(samples)
    )


def _drawn(
    baseline: Program, known: Signature, seed: int, trials: int, kinds: Sequence[str] = KINDS
) -> tuple[Sample, ...]:
    examples = known.arrays(baseline)
    return draw(baseline.inputs, seed, trials, [examples] if examples else None, kinds)


__all__ = ["Limits", "Optimized", "Type", "optimize"]
