"""Gradients against central differences of the reference in random directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from saturate.certificate import DifferenceCheck
from saturate.cse import share
from saturate.lift import lifted_array
from saturate.measure import Rule, Run
from saturate.op import AnyArray, Type
from saturate.perturb import perturbed
from saturate.program import Program
from saturate.runners.evaluate import evaluate
from saturate.samples import SMOOTH
from saturate.split import COTANGENT

ALLOWED = 1e-4
"""The share of a directional derivative by which the difference quotient may miss it."""
CONCLUSIVE = 1e-2
"""A quotient whose own error may be a larger share says nothing."""
GROUPS = 8
"""So many groups of arguments are moved, each at once: where there are no more, each argument alone."""
MOVED = 4
"""So many times the roundings of a value are moved to see how far that moves it."""
SAMPLES = 2
"""So many smooth samples are tried, in two directions each; one where arguments are moved in groups."""


def differences(reference: Program, runs: Sequence[Run], rule: Rule) -> tuple[DifferenceCheck, ...]:
    """Each gradient against the derivative of an output, times the cotangent where there is one.

    A program does not say which of several outputs its gradients are of: it is the one that they fit. One
    direction has the signs of the gradient, so that nothing cancels; the other is free.
    """
    tried = [_of_output(reference, output, runs, rule) for output in dict.fromkeys(_outputs(reference))]
    fitting = [checks for checks in tried if all(c.passed for c in checks)]
    return (fitting or tried or [()])[0]


def _outputs(reference: Program) -> tuple[str, ...]:
    """The outputs that gradients can be of: floats of the shape of the cotangent, without one scalars."""
    shape = next((i.type.shape for i in reference.inputs if i.name == COTANGENT), ())
    types = reference.types
    return tuple(v for v in reference.outputs if types[v].is_float and types[v].shape == shape)


def _of_output(
    reference: Program, output: str, runs: Sequence[Run], rule: Rule
) -> tuple[DifferenceCheck, ...]:
    names = [name for name, _ in reference.gradients]
    smooth = [run for run in runs if run.sample.kind in SMOOTH]
    smooth = smooth[: SAMPLES if len(names) <= GROUPS else 1]
    value = share(replace(reference, outputs=(output,), gradients=()))
    noises = [_noise(value, _lifted(value, run)) for run in smooth]
    slots = {given.name: slot for slot, given in enumerate(reference.inputs)}
    checks: list[DifferenceCheck] = []
    for first in range(min(GROUPS, len(names))):
        group = {slots[names[k]]: k + len(reference.outputs) for k in range(first, len(names), GROUPS)}
        found = [
            _compared(value, group, run, rule, noise, aligned)
            for run, noise in zip(smooth, noises, strict=True)
            for aligned in (True, False)
        ]
        checks.append(_verdict(f"gradient {', '.join(names[first::GROUPS])}", found))
    return tuple(checks)


@dataclass(frozen=True)
class _Compared:
    reference_error: float
    error: float
    reference_tolerance: float
    tolerance: float
    conclusive: bool
    sample: str

    @property
    def excess(self) -> float:
        """The larger of the two errors by what is allowed."""
        return max(self.error / self.tolerance, self.reference_error / self.reference_tolerance)


def _verdict(name: str, found: Sequence[_Compared]) -> DifferenceCheck:
    told = [c for c in found if c.conclusive]
    if not told:
        return DifferenceCheck(name, 0.0, 0.0, 0.0, "", 0, True)
    worst = max(told, key=lambda c: c.excess)
    passed = worst.excess <= 1.0
    return DifferenceCheck(
        name, worst.reference_error, worst.error, worst.tolerance, worst.sample, len(told), passed
    )


def _lifted(value: Program, run: Run) -> list[AnyArray]:
    dtype = value.types[value.outputs[0]].dtype
    return [lifted_array(a, dtype) for a in run.sample.arrays]


def _compared(
    value: Program, group: Mapping[int, int], run: Run, rule: Rule, noise: float, aligned: bool
) -> _Compared:
    """The gradients of some inputs in one direction, in units of their norm or of the derivative, what is
    larger; `group` names results by inputs. Each input moves in proportion to its own size.
    """
    arrays = _lifted(value, run)
    steps = {slot: _step(arrays[slot]) for slot in group}
    h = max(steps.values())
    moves: dict[int, AnyArray] = {}
    square = true_slope = found_slope = room = 0.0
    for slot, k in group.items():
        x, true = arrays[slot], run.reference[k]
        rng = np.random.default_rng([run.sample.number, slot, aligned])
        u = rng.standard_normal(x.shape).astype(x.dtype)
        u = np.abs(u) * np.sign(true) if aligned else u
        u = np.where(_free(value.inputs[slot].type, x, steps[slot]) & np.isfinite(true), u, 0)
        u = u * (steps[slot] / h)
        moves[slot] = u
        gradients = [np.where(u == 0, 0, g.astype(x.dtype)) for g in (true, run.optimized[k])]
        weight = steps[slot] / h
        square += float(np.sum(gradients[0] * gradients[0])) * weight * weight
        true_slope += float(np.sum(gradients[0] * u))
        found_slope += float(np.sum(gradients[1] * u))
        room += run.tolerance(k, rule) * float(np.sum(np.abs(u)))
    slope, off = _slope(value, arrays, moves, h, noise)
    unit = max(float(np.sqrt(square)), abs(true_slope)) or 1.0
    allowed = ALLOWED + off / unit
    errors = [abs(slope - true_slope) / unit, abs(slope - found_slope) / unit]
    sure = bool(np.isfinite([slope, off, square, *errors]).all() and off <= CONCLUSIVE * unit)
    return _Compared(errors[0], errors[1], allowed, allowed + room / unit, sure, str(run.sample))


def _step(x: AnyArray) -> float:
    """The cube root of an ulp of the input's size, where truncation and rounding are about equal."""
    finite = x[np.isfinite(x)]
    size = float(np.sqrt(np.mean(finite * finite))) if finite.size else 0.0
    return float(np.cbrt(np.finfo(x.dtype).eps)) * (size or 1.0)


def _free(type: Type, x: AnyArray, step: float) -> AnyArray:
    """Where the input is finite, and farther from its bounds than a difference is likely to reach."""
    low = -np.inf if type.low is None else type.low + 4 * step
    high = np.inf if type.high is None else type.high - 4 * step
    return np.isfinite(x) & (x >= low) & (x <= high)


def _slope(
    value: Program, arrays: Sequence[AnyArray], moves: Mapping[int, AnyArray], step: float, noise: float
) -> tuple[float, float]:
    """The derivative along the moves by two central differences, and a bound of its error."""
    quotients: list[Any] = []
    for h in (step, step / 2):
        high, low = (_value(value, _moved(arrays, moves, t), evaluate) for t in (h, -h))
        quotients.append((high - low) / (2 * h))
    wide, narrow = quotients
    return float((4 * narrow - wide) / 3), float(abs(narrow - wide)) + 4 * noise / step


def _moved(arrays: Sequence[AnyArray], moves: Mapping[int, AnyArray], h: float) -> list[AnyArray]:
    return [x + h * moves[k] if k in moves else x for k, x in enumerate(arrays)]


def _value(value: Program, arrays: Sequence[AnyArray], run: Callable[..., tuple[Any, ...]]) -> Any:
    """Σ of the output times the cotangent, in the program's own dtype."""
    (out,) = run(value, *arrays)
    factors = [a for i, a in zip(value.inputs, arrays, strict=True) if i.name == COTANGENT]
    return np.sum(out * factors[0] if factors else out)


def _noise(value: Program, arrays: Sequence[AnyArray]) -> float:
    """How far roundings move the value: what it loses by cancellation inside no look at its size can tell."""
    plain = _value(value, arrays, evaluate)
    moved = [_value(value, arrays, lambda p, *xs, k=k: perturbed(p, xs, k)) for k in range(MOVED)]
    eps = float(np.finfo(np.asarray(plain).dtype).eps)
    return max(eps * float(abs(plain)), *(float(abs(m - plain)) for m in moved))
