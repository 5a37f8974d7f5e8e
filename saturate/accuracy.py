"""Accuracy as a second price: a program is taken only if it is as near to the reference as the baseline is.

Equal over the reals is not equal in float32, and the cheap form is often the bad one. Every candidate
program is measured on hostile samples against the baseline, both against a wider reference. Where it fails,
the step with the largest error of its own (its result on exact operands rounded once) is barred, or the
nearest reader of it that can be computed another way, and extraction repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from saturate.certificate import ResultCheck
from saturate.lift import lift, lifted_array
from saturate.lower import Lowered
from saturate.measure import NOWHERE, Run, distance, scale
from saturate.op import AnyArray
from saturate.program import Node, Program
from saturate.runners.evaluate import evaluate, values
from saturate.samples import Sample
from saturate.search import Search
from saturate.yardstick import Yardstick

Step = tuple[int, int]
"""A value of the lattice and the position of one of its steps."""


@dataclass(frozen=True)
class Verdict:
    """The step to bar, and why."""

    step: Step
    reason: str


@dataclass
class Judge:
    """Measures programs against one baseline on fixed samples.

    `factor` times the baseline's error, or that of a program in `also`, and a few units in the last place
    are allowed. `rows` holds the figures of the last program that passed.
    """

    baseline: Program
    samples: Sequence[Sample]
    factor: float
    also: Sequence[Program] = ()
    bound: float = 0.0
    """How far laws may move results, in parts of their scale."""
    rows: tuple[ResultCheck, ...] = ()
    yardstick: Yardstick = field(init=False)
    """The baseline on the samples."""

    def __post_init__(self) -> None:
        with np.errstate(all="ignore"):
            self.yardstick = Yardstick(self.baseline, self.samples, self.factor, self.bound, self.also)

    def __call__(self, found: Search, lowered: Lowered, barred: frozenset[Step]) -> Verdict | None:
        """None where the program is accurate enough, else what to bar; a step (-1, -1) where nothing is
        left.
        """
        if not self.samples:
            return None
        with np.errstate(all="ignore"):
            rows, runs = self._measured(lowered.program)
            failed = [k for k, row in enumerate(rows) if not row.passed]
            if not failed:
                return None
            if rows[failed[0]].fault == NOWHERE:  # in no other program either
                return Verdict((-1, -1), rows[failed[0]].missed)
            worst = next(run for run in runs if failed[0] in self.yardstick.failed(run))
            culprit = _Culprit(found, lowered, barred, self.yardstick.dtype)
            return culprit.find(worst.sample, rows[failed[0]])

    def refused(self, program: Program) -> ResultCheck | None:
        """The first result of a program that is not accurate enough; keeps the figures where none is."""
        if not self.samples:
            return None
        with np.errstate(all="ignore"):
            rows, _ = self._measured(program)
        return next((row for row in rows if not row.passed), None)

    def _measured(self, program: Program) -> tuple[tuple[ResultCheck, ...], list[Run]]:
        """The verdict on each result; without one that fails the figures are kept."""
        found = {k: evaluate(program, *s.arrays) for k, s in enumerate(self.samples)}
        rows, runs = self.yardstick.judge(self._names(), found)
        if all(row.passed for row in rows):
            self.rows = rows
        return rows, runs

    def _names(self) -> list[str]:
        return [
            *(f"value {k}" for k in range(len(self.baseline.outputs))),
            *(f"d{name}" for name, _ in self.baseline.gradients),
        ]


@dataclass(frozen=True)
class _Culprit:
    found: Search
    lowered: Lowered
    barred: frozenset[Step]
    dtype: str

    def find(self, sample: Sample, row: ResultCheck) -> Verdict:
        """The step with the largest error of its own that can be done another way, or its nearest such
        reader.
        """
        program = self.lowered.program
        true = values(lift(program, self.dtype), *(lifted_array(a, self.dtype) for a in sample.arrays))
        errors = {node.value: self._own_error(node, true) for node in program.nodes if not node.op.view}
        for value in sorted(errors, key=lambda v: -errors[v]):
            node = self._replaceable(value)
            if node is not None:
                why = f"{node.op.name} ({node.label or node.value}): {row.missed}"
                return Verdict(self.lowered.steps[node.value], why)
        return Verdict((-1, -1), f"{row.name} on {row.worst_sample} stays inaccurate")

    def _own_error(self, node: Node, true: Mapping[str, AnyArray]) -> float:
        """Distance of the op's result on rounded exact operands from the exact result, in parts of its
        scale.
        """
        types = self.lowered.program.types
        operands = [np.asarray(true[v]).astype(types[v].dtype) for v in node.operands]
        exact = np.asarray(true[node.value])
        mine = np.asarray(node.op.evaluate(np, *operands))
        if mine.dtype.kind != "f":
            return 0.0
        if np.any(np.isfinite(exact) & ~np.isfinite(mine)):
            return np.inf
        return distance(exact, mine) / (scale(exact) or 1.0)

    def _replaceable(self, value: str) -> Node | None:
        """The node of `value`, or the first below it towards the results, that has another way to be
        computed.
        """
        program = self.lowered.program
        queue, seen = [value], {value}
        while queue:
            node = program.producer[queue.pop(0)]
            step = self.lowered.steps.get(node.value)
            if step is not None and self._others(step):
                return node
            for reader in program.readers[node.value]:
                if reader.value not in seen:
                    seen.add(reader.value)
                    queue.append(reader.value)
        return None

    def _others(self, step: Step) -> bool:
        ways = self.found.classes.nodes[step[0]]
        return any((step[0], k) not in self.barred for k in range(len(ways)) if k != step[1])
