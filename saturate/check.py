"""The check of a program against its baseline: value, gradients, and the gradients of the baseline itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from saturate.certificate import Certificate
from saturate.differences import differences
from saturate.errors import ArgumentError, SaturateError
from saturate.lift import LONG, lift, lifted_array
from saturate.measure import Rule, Run, distance, judged
from saturate.op import AnyArray, Array
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.perturb import nearby, perturbed
from saturate.program import Program
from saturate.runners import RUNNERS
from saturate.runners.evaluate import evaluate
from saturate.runners.runner import Runner
from saturate.samples import KINDS, Sample, samples

FACTOR = 4.0
"""The optimized program may be so many times farther from the reference than the baseline."""
ULPS = 16.0
"""And by so many units in the last place of the largest magnitude in the result."""
UNREFERENCED = 2.0**16
"""The same number where the reference has no more digits than the program, and so an error of its own."""
PERTURBED = 2
"""So many times the baseline is measured with moved roundings too: at one point it can be right by luck."""
MANY = 4096
"""Results of so many elements show in one time what others show in several."""
HOSTILE = ("offset 1e4", "offset -1e4", "scale 1e3", "scale 1e-3", "zeros", "mixed")
"""Kinds of samples on which the errors of another form of the baseline count: there it is right by luck."""
LONG_FLOPS = 1e8
"""`longdouble` has no BLAS; programs with more flops in contractions than this are referred to float64."""


def check(
    program: Program,
    baseline: Program,
    runner: str | Callable[[Program], Runner] = "numpy",
    trials: int = 8,
    seed: int = 0,
    examples: Sequence[Sequence[Any]] | None = None,
    assumptions: Sequence[str] = (),
    factor: float = FACTOR,
    also: Sequence[Program] = (),
    bound: float = 0.0,
    kinds: Sequence[str] = KINDS,
    measured: Sequence[Run] = (),
) -> Certificate:
    """Run `program` and `baseline` on the examples and on `trials` drawn samples, and compare.

    The reference is the baseline with everything in float64, for float64 programs in `longdouble` where
    NumPy and SciPy can. A result fails where its error is more than `factor` times the baseline's plus
    `ULPS` units in the last place of the result's scale, where it is NaN or infinite and the baseline is
    not, where it lacks an infinity that baseline and reference agree on and that is no overflow, or where no
    element could be compared. Gradients are also held against central differences of the reference in random
    directions. The baseline's error stands for what it can be: the largest of its own and of those
    with arguments and roundings moved, on hostile samples those of `also` too, other forms of the baseline
    that are right on mild ones. `bound`, a share
    of the scale, counts as an error of the baseline, where laws may change results. `measured` holds runs
    of the baseline on some of the samples, which need not be made again. Raises `ArgumentError` for programs
    of different inputs or results, and what the runner raises.
    """
    _matching(program, baseline)
    if trials < 0:
        raise ArgumentError(f"check needs trials from 0 on, got {trials}")
    made = _runner(runner)(program)
    dtype = reference_dtype(baseline)
    reference = lift(baseline, dtype)
    rule = Rule(factor, ulps(baseline, dtype), holds_infinities(baseline), bound)
    drawn = samples(baseline.inputs, seed, trials, examples, kinds)
    with np.errstate(all="ignore"):
        names = [i.name for i in baseline.inputs]
        runs = [
            _run(made, names, run) for run in baseline_runs(baseline, reference, drawn, also, rule, measured)
        ]
        results = tuple(judged(name, k, runs, rule) for k, name in enumerate(_names(baseline)))
        quotients = differences(reference, runs, rule)
    return Certificate(
        passed=all(r.passed for r in results) and all(q.passed for q in quotients),
        program=program.name,
        runner=runner if isinstance(runner, str) else type(made).__name__,
        reference=dtype,
        factor=factor,
        ulps=rule.ulps,
        seed=seed,
        trials=trials,
        samples=tuple(map(str, drawn)),
        results=results,
        differences=quotients,
        assumptions=tuple(assumptions),
        bound=bound,
    )


def _runner(runner: str | Callable[[Program], Runner]) -> Callable[[Program], Runner]:
    if not isinstance(runner, str):
        return runner
    if runner not in RUNNERS:
        raise ArgumentError(f"check needs a runner among {', '.join(RUNNERS)}, got {runner!r}")
    return RUNNERS[runner]


def reference_dtype(program: Program) -> str:
    """float64, or `longdouble` for float64 programs where that exists and is quick."""
    if not _wide(program) or np.finfo(LONG).eps >= np.finfo("float64").eps:
        return "float64"
    flops = 0.0
    for node in program.nodes:
        if isinstance(node.op, Matmul | Einsum | VecDot):
            flops += node.op.work(node.type, *(program.types[v] for v in node.operands)).flops
    if flops > LONG_FLOPS:
        return "float64"
    try:
        lift(program, LONG)
    except SaturateError:  # SciPy has no longdouble loop for one of the ops
        return "float64"
    return LONG


def _wide(program: Program) -> bool:
    """Whether arguments or results are in float64 or wider."""
    types = [*(i.type for i in program.inputs), *(program.types[v] for v in program.results)]
    return any(t.is_float and np.dtype(t.dtype).itemsize >= 8 for t in types)


def ulps(program: Program, reference: str) -> float:
    """Units in the last place that are always allowed."""
    return UNREFERENCED if reference == "float64" and _wide(program) else ULPS


def baseline_runs(
    baseline: Program,
    reference: Program,
    drawn: Sequence[Sample],
    also: Sequence[Program],
    rule: Rule,
    measured: Sequence[Run] = (),
) -> list[Run]:
    """The baseline on each sample, with the errors that count as its own; `measured` were run before.

    The errors of another form count only where that form is right on the samples that are not hostile:
    otherwise a mistake that it shares with the optimized program would excuse itself.
    """
    found = {id(s): run for s in drawn if (run := _measured(s, measured)) is not None}
    missing = [s for s in drawn if id(s) not in found]
    for sample in missing:
        if sample.kind not in HOSTILE:
            found[id(sample)] = _baseline_run(baseline, reference, sample)
    mild = [run for run in found.values() if run.sample.kind not in HOSTILE]
    hostile = [s for s in missing if s.kind in HOSTILE]
    others = [program for program in also if trusted(program, mild, rule)] if hostile else []
    for sample in hostile:
        found[id(sample)] = _baseline_run(baseline, reference, sample, others)
    return [found[id(s)] for s in drawn]


def trusted(program: Program, mild: Sequence[Run], rule: Rule) -> bool:
    """Whether a program passes on runs of the baseline, of which there is at least one."""
    runs = [
        replace(run, optimized=tuple(map(np.asarray, evaluate(program, *run.sample.arrays)))) for run in mild
    ]
    return bool(runs) and all(judged("", k, runs, rule).passed for k in range(len(program.results)))


def holds_infinities(program: Program) -> bool:
    """Whether a literal or a captured array of the program is infinite."""
    held = (v.value if isinstance(v, Array) else v for n in program.nodes for v in vars(n.op).values())
    return any(bool(np.isinf(v).any()) for v in held if isinstance(v, float | np.ndarray))


def _run(made: Runner, names: Sequence[str], run: Run) -> Run:
    named = dict(zip(names, run.sample.arrays, strict=True))
    optimized = tuple(made.host(r) for r in made(*(named[i.name] for i in made.program.inputs)))
    return replace(run, optimized=optimized)


def _measured(sample: Sample, measured: Sequence[Run]) -> Run | None:
    """The run on a sample of the same arrays for which the same errors count."""
    hostile = sample.kind in HOSTILE
    for run in measured:
        if (run.sample.kind in HOSTILE) == hostile and _equal(run.sample.arrays, sample.arrays):
            return replace(run, sample=sample)
    return None


def _baseline_run(baseline: Program, reference: Program, sample: Sample, also: Sequence[Program] = ()) -> Run:
    """The baseline on one sample, in the program's place too.

    Its errors are the largest of its own and of those with arguments and roundings moved; `also` are other
    forms of it, whose errors with both moved count as well.
    """

    wide = [lifted_array(a, i.type.dtype) for i, a in zip(reference.inputs, sample.arrays, strict=True)]
    true = tuple(map(np.asarray, evaluate(reference, *wide)))
    plain = tuple(map(np.asarray, evaluate(baseline, *sample.arrays)))
    found = [plain]
    many = all(t.size >= MANY for t in true)
    for seed in range(1 if many else PERTURBED):
        close = nearby(sample.arrays, seed)
        found += [perturbed(p, close, seed) for p in (baseline, *also)]
    errors = tuple(max(distance(t, np.asarray(f[k])) for f in found) for k, t in enumerate(true))
    return Run(sample, true, plain, plain, errors)


def _equal(these: Sequence[AnyArray], those: Sequence[AnyArray]) -> bool:
    """Whether arrays are equal one by one, NaN to NaN."""
    return len(these) == len(those) and all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(these, those, strict=True)
    )


def _matching(program: Program, baseline: Program) -> None:
    """Raise unless both programs take the same arguments and have the same results."""
    inputs = [{i.name: (i.type.shape, i.type.dtype) for i in p.inputs} for p in (program, baseline)]
    if not inputs[0].items() <= inputs[1].items():
        raise ArgumentError(
            f"check needs a program with the inputs of its baseline, {_listed(baseline)}; "
            f"got {_listed(program)}"
        )
    if _names(program) != _names(baseline):
        raise ArgumentError(
            f"check needs a program with the results of its baseline, {', '.join(_names(baseline))}; "
            f"got {', '.join(_names(program))}"
        )


def _listed(program: Program) -> str:
    return ", ".join(f"{i.name}: {i.type}" for i in program.inputs) or "none"


def _names(program: Program) -> list[str]:
    outputs = len(program.outputs)
    values = ["value"] if outputs == 1 else [f"value {k}" for k in range(outputs)]
    return [*values, *(f"gradient {name}" for name, _ in program.gradients)]
