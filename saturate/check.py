"""The check of a program against its baseline: value, gradients, and the gradients of the baseline itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from saturate.certificate import Certificate
from saturate.differences import differences
from saturate.errors import ArgumentError
from saturate.measure import Run
from saturate.op import AnyArray
from saturate.program import Program
from saturate.runners import RUNNERS
from saturate.runners.runner import Runner
from saturate.samples import KINDS, samples
from saturate.yardstick import Yardstick

FACTOR = 4.0
"""The optimized program may be so many times farther from the reference than the baseline."""


def check(
    program: Program,
    baseline: Program,
    runner: str | Callable[[Program], Runner] = "numpy",
    trials: int = len(KINDS),
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
    directions. The baseline's error is the largest that it can be (`Yardstick`), on hostile samples that of
    `also` too, other forms of the baseline that are right on mild ones. `bound`, a share of the scale, counts
    as an error of the baseline, where laws may change results. `measured` holds runs of the baseline on some
    of the samples, which need not be made again. Raises `ArgumentError` for programs
    of different inputs or results, and what the runner raises.
    """
    _matching(program, baseline)
    if trials < 0:
        raise ArgumentError(f"check needs trials from 0 on, got {trials}")
    made = _runner(runner)(program)
    drawn = samples(baseline.inputs, seed, trials, examples, kinds)
    with np.errstate(all="ignore"):
        yardstick = Yardstick(baseline, drawn, factor, bound, also, measured)
        names = [i.name for i in baseline.inputs]
        found = {k: _results(made, names, run) for k, run in enumerate(yardstick.runs)}
        results, runs = yardstick.judge(_names(baseline), found)
        quotients = differences(yardstick.reference, runs, yardstick.rule)
    return Certificate(
        passed=all(r.passed for r in results) and all(q.passed for q in quotients),
        program=program.name,
        runner=runner if isinstance(runner, str) else type(made).__name__,
        reference=yardstick.dtype,
        factor=factor,
        ulps=yardstick.rule.ulps,
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


def _results(made: Runner, names: Sequence[str], run: Run) -> tuple[AnyArray, ...]:
    named = dict(zip(names, run.sample.arrays, strict=True))
    return tuple(made.host(r) for r in made(*(named[i.name] for i in made.program.inputs)))


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
