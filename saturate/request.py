"""What `optimize` is asked for: arguments resolved, or refused where they are wrong; samples and facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from saturate.accuracy import Judge
from saturate.admission import admitted, insisted
from saturate.arguments import Signature, signature
from saturate.autodiff import gradient_program
from saturate.errors import ArgumentError
from saturate.extract import EXTRACTORS
from saturate.facts import FINITE, NONNEG, NONZERO, Facts
from saturate.leaf_facts import input_facts
from saturate.observe import divisors, observed
from saturate.op import AnyArray, Type
from saturate.optimized import bound_of
from saturate.program import Program
from saturate.rules import DOMAIN, EXACTNESS, Law
from saturate.runners import RUNNERS
from saturate.samples import KINDS, Sample
from saturate.samples import samples as draw
from saturate.saturation import Limits, refuse_limits
from saturate.target import Target

MEASURED_ELEMENTS = 4_000_000
"""Samples for the accuracy price are drawn until arguments of about this many elements were measured."""
CHECKED = 4
"""Samples that `optimize` checks its result on, which are among those that it is measured on."""


@dataclass(frozen=True, eq=False)
class Request:
    """One optimization as it was asked for; `optimize` says what the arguments mean."""

    known: Signature
    baseline: Program
    goal: Target
    exact: str
    accuracy: float | None
    given: Sequence[Sample]
    """The samples of the user as arguments of the baseline."""
    laws: tuple[Law, ...]
    extractor: str
    limits: Limits
    check: bool
    seed: int
    samples: Sequence[Sequence[Any]] | None = None
    """The samples of the user as they came."""

    @classmethod
    def of(
        cls,
        f: Callable[..., Any] | Program,
        examples: tuple[Any, ...],
        wrt: Any,
        target: str | Target,
        exact: str,
        accuracy: float | None,
        samples: Any,
        rules: Sequence[Law] | None,
        extractor: str,
        limits: Limits,
        memory: None,
        check: bool,
        seed: int,
    ) -> Request:
        """The arguments of `optimize`, resolved; raises `ArgumentError` and what tracing raises."""
        goal = target if isinstance(target, Target) else Target(target)
        _refuse(goal.runner, exact, extractor, memory)
        _refuse_figures(accuracy, limits, seed)
        known = signature(f, examples, wrt)
        baseline = _baseline(known)
        laws = admitted(rules, exact)
        given = _given(baseline, known, samples, seed)
        return cls(
            known, baseline, goal, exact, accuracy, given, laws, extractor, limits, check, seed, samples
        )  # fmt: skip

    @property
    def arrays(self) -> tuple[Any, ...]:
        """Examples in the order of the baseline's inputs, types where there is none."""
        return self.known.arrays(self.baseline)

    @property
    def bound(self) -> float:
        """How far the laws may move results, in parts of their scale."""
        return bound_of(self.laws)

    @property
    def assumes(self) -> bool:
        """Whether divisors that are zero on no sample are taken to be nowhere zero."""
        return EXACTNESS.index(self.exact) >= EXACTNESS.index(DOMAIN)

    @cached_property
    def few(self) -> tuple[Sample, ...]:
        """Samples that show what values are like."""
        return self._drawn(3, KINDS)

    @cached_property
    def baseline_facts(self) -> dict[str, Facts]:
        """Facts of the baseline's values."""
        return self.facts(self.baseline)

    def facts(self, program: Program) -> dict[str, Facts]:
        """Inputs are finite by contract unless the example is not, with signs from bounds; what the samples
        show besides, and what they show of divisors where that may be assumed.
        """
        found: dict[str, Facts] = {}
        for given in program.inputs:
            facts = input_facts(given.type)
            example = self.known.example(given.name)
            if (
                isinstance(example, np.ndarray)
                and example.dtype.kind == "f"
                and not np.isfinite(example).all()
            ):
                facts -= {FINITE, NONNEG, NONZERO}
            found[given.value] = facts
        found |= observed(program, found, self.few)
        return found | divisors(program, found, self.few if self.assumes else ())

    def judge(self, plain: Sequence[Program], kinds: Sequence[str]) -> Judge:
        """The measure of accuracy: on the user's samples, else on drawn ones; without samples it accepts
        everything.
        """
        if self.accuracy is None:
            return Judge(self.baseline, (), 4.0, plain)
        size = max(1, sum(i.type.size for i in self.baseline.inputs))
        trials = max(3, min(max(CHECKED, len(kinds)), MEASURED_ELEMENTS // size))
        drawn = self.given or self._drawn(trials, tuple(kinds))
        return Judge(self.baseline, drawn, self.accuracy, plain, bound=self.bound)

    def _drawn(self, trials: int, kinds: Sequence[str]) -> tuple[Sample, ...]:
        examples = self.arrays
        return draw(self.baseline.inputs, self.seed, trials, [examples] if examples else None, kinds)

    @property
    def notes(self) -> list[str]:
        """What the user may not expect: laws that nothing tested, lines that promote to a wider dtype,
        accuracy that nothing measured.
        """
        promotions = self.known.traced.promotions if self.known.traced else ()
        held = [
            f"the example of {i.name} holds NaN: every other sample is drawn without"
            for i in self.known.program.inputs
            if i.type.is_float and np.isnan(_array(self.known.example(i.name))).any()
        ]
        unmeasured = ["accuracy was not measured: accuracy=None"] if self.accuracy is None else []
        return [*insisted(self.laws), *promotions, *held, *unmeasured]


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
    refuse_limits(limits, "optimize")
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
