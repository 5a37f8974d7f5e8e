"""The baseline as a yardstick: its results on samples, and how large its errors can be there.

How large is found by running it with arguments and roundings moved: once at first, and more often where a
program seems too far off, since more runs only allow more. So what passes costs one such run a sample, and
what fails was held against all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from saturate.certificate import ResultCheck
from saturate.errors import SaturateError
from saturate.lift import LONG, lift, lifted_array
from saturate.measure import Judgement, Rule, Run, distance, judge, together
from saturate.op import AnyArray
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.perturb import nearby, perturbed
from saturate.program import Program
from saturate.runners.evaluate import evaluate
from saturate.samples import Sample

ULPS = 16.0
"""So many units in the last place of the largest magnitude in a result are always allowed."""
UNREFERENCED = 2.0**16
"""The same number where the reference has no more digits than the program, and so an error of its own."""
MOVES = 8
"""So many times the baseline is run with moved roundings on a sample on which a program fails."""
HOSTILE = ("offset 1e4", "offset -1e4", "scale 1e3", "scale 1e-3", "zeros", "mixed")
"""Kinds of samples on which the errors of another form of the baseline count: there it is right by luck."""
LONG_FLOPS = 1e8
"""`longdouble` has no BLAS; programs with more flops in contractions than this are referred to float64."""


class Yardstick:
    """`runs` of the baseline on samples, in the program's place too.

    The reference is the baseline with everything in `dtype`. The baseline's error stands for what it can be:
    the largest of its own and of those with arguments and roundings moved, on hostile samples those of
    `also` too, other forms of the baseline that are right on mild ones. `measured` holds runs of the baseline
    on some of the samples, which need not be made again.
    """

    def __init__(
        self,
        baseline: Program,
        drawn: Sequence[Sample],
        factor: float,
        bound: float = 0.0,
        also: Sequence[Program] = (),
        measured: Sequence[Run] = (),
    ) -> None:
        self.baseline, self.also = baseline, tuple(also)
        self.dtype = reference_dtype(baseline)
        self.rule = Rule(factor, ulps(baseline, self.dtype), holds_infinities(baseline), bound)
        self.reference = lift(baseline, self.dtype)
        self.runs = [self._measured(s, measured) or self._first(s) for s in drawn]

    def judge(
        self, names: Sequence[str], found: Mapping[int, Sequence[Any]]
    ) -> tuple[tuple[ResultCheck, ...], list[Run]]:
        """The verdict on each named result of a program, and its runs; `found` has its results by the
        position of a run of the baseline.
        """
        runs: list[Run] = []
        judgements: list[list[Judgement]] = []
        for k, results in found.items():
            mine = tuple(map(np.asarray, results))
            runs.append(replace(self.runs[k], optimized=mine))
            judgements.append(self._judgements(runs[-1]))
            far = any(j.excess > 1 and not j.fault for j in judgements[-1])
            if far and self.runs[k].moves < MOVES:
                self.runs[k] = self._widened(self.runs[k])
                runs[-1] = replace(self.runs[k], optimized=mine)
                judgements[-1] = self._judgements(runs[-1])
        rows = [together(name, [own[k] for own in judgements]) for k, name in enumerate(names)]
        return tuple(rows), runs

    def failed(self, run: Run) -> list[int]:
        """The results that fail on a run, or of which nothing is finite there."""
        return [k for k, j in enumerate(self._judgements(run)) if j.excess > 1 or (j.size and not j.compared)]

    def _judgements(self, run: Run) -> list[Judgement]:
        return [judge(k, run, self.rule) for k in range(len(run.optimized))]

    def trusts(self, program: Program) -> bool:
        """Whether a program passes on the samples that are not hostile, of which there is at least one.

        Otherwise a mistake that it shares with the optimized program would excuse itself.
        """
        mild = [k for k, run in enumerate(self.runs) if run.sample.kind not in HOSTILE]
        found = {k: evaluate(program, *self.runs[k].sample.arrays) for k in mild}
        rows, _ = self.judge([""] * len(program.results), found)
        return bool(mild) and all(row.passed for row in rows)

    def _first(self, sample: Sample) -> Run:
        wide = [
            lifted_array(a, i.type.dtype) for i, a in zip(self.reference.inputs, sample.arrays, strict=True)
        ]
        true = tuple(map(np.asarray, evaluate(self.reference, *wide)))
        plain = tuple(map(np.asarray, evaluate(self.baseline, *sample.arrays)))
        errors = tuple(map(distance, true, plain))
        return _moved(Run(sample, true, plain, plain, errors), [self.baseline], 0)

    def _widened(self, run: Run) -> Run:
        """The run with all moves made."""
        others = self._trusted if run.sample.kind in HOSTILE else []
        for seed in range(MOVES):
            run = _moved(run, [self.baseline, *others] if seed else others, seed)
        return replace(run, also=self.also)

    def _measured(self, sample: Sample, measured: Sequence[Run]) -> Run | None:
        """The run on a sample of the same arrays for which the same errors count."""
        hostile = sample.kind in HOSTILE
        for run in measured:
            alike = (run.sample.kind in HOSTILE) == hostile and (run.moves < MOVES or run.also == self.also)
            if alike and _equal(run.sample.arrays, sample.arrays):
                return replace(run, sample=sample)
        return None

    @cached_property
    def _trusted(self) -> list[Program]:
        return [program for program in self.also if self.trusts(program)]


def _moved(run: Run, programs: Sequence[Program], seed: int) -> Run:
    """The run with the errors of programs whose arguments and roundings move in one more way."""
    close = nearby(run.sample.arrays, seed)
    found = [perturbed(program, close, seed) for program in programs]
    errors = [
        max([own, *(distance(true, np.asarray(results[k])) for results in found)])
        for k, (own, true) in enumerate(zip(run.errors, run.reference, strict=True))
    ]
    return replace(run, errors=tuple(errors), moves=seed + 1)


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


def holds_infinities(program: Program) -> bool:
    """Whether a literal or a captured array of the program is infinite."""
    held = (v for node in program.nodes for v in node.op.held if isinstance(v, float | np.ndarray))
    return any(bool(np.isinf(v).any()) for v in held)


def _equal(these: Sequence[AnyArray], those: Sequence[AnyArray]) -> bool:
    """Whether arrays are equal one by one, NaN to NaN."""
    return len(these) == len(those) and all(
        a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        for a, b in zip(these, those, strict=True)
    )
