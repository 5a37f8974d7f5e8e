"""How far results are from the reference, and how far they may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from saturate.certificate import ResultCheck
from saturate.op import AnyArray
from saturate.program import Program
from saturate.samples import FAR, FINITE, Sample

NOWHERE = "nothing finite to compare"
"""The fault of a result of which no element is finite on any sample, in the baseline or its reference."""


@dataclass(frozen=True)
class Rule:
    """`factor` times the baseline's error plus `ulps` units in the last place of the scale are allowed.

    `bound`, a share of the scale by which laws may change results, counts as an error of the baseline.
    """

    factor: float
    ulps: float
    infinite: bool = False
    """The program holds infinities of its own, such as a captured mask, so those of its results are meant."""
    bound: float = 0.0


@dataclass(frozen=True)
class Run:
    """All results on one sample, of the reference, the baseline and the program.

    `errors` are the largest that the baseline's can be, its own among them, as far as so many `moves` show;
    after the last of them those of `also`, other forms of the baseline, may be among them too.
    """

    sample: Sample
    reference: tuple[AnyArray, ...]
    baseline: tuple[AnyArray, ...]
    optimized: tuple[AnyArray, ...]
    errors: tuple[float, ...]
    moves: int = 0
    also: tuple[Program, ...] = ()

    def tolerance(self, k: int, rule: Rule) -> float:
        """The largest distance to the reference that the k-th result may have."""
        dtype = self.baseline[k].dtype
        if dtype.kind != "f":
            return 0.0
        if self.sample.kind in FINITE:
            return np.inf
        size = scale(self.reference[k])
        ulp = float(np.finfo(dtype).eps) * size + float(np.finfo(dtype).smallest_subnormal)
        return rule.factor * (self.errors[k] + rule.bound * size) + rule.ulps * ulp


def distance(true: AnyArray, found: AnyArray) -> float:
    """The largest distance to the reference where both are finite; for integers and booleans 0.0 or 1.0."""
    if found.dtype.kind != "f":
        return float(np.any(true != found))
    largest = np.max(np.abs(true - found), initial=0.0)
    if np.isfinite(largest):
        return float(largest)
    both = np.isfinite(true) & np.isfinite(found)
    return float(np.max(np.abs(true[both] - found[both].astype(true.dtype)), initial=0.0))


def scale(true: AnyArray) -> float:
    """The largest finite magnitude of a floating result, else 0.0."""
    if true.dtype.kind != "f":
        return 0.0
    largest = np.max(np.abs(true), initial=0.0)
    return float(largest if np.isfinite(largest) else np.max(np.abs(true[np.isfinite(true)]), initial=0.0))


@dataclass(frozen=True)
class Judgement:
    """One result on one sample, with figures in units of its scale; `excess` above 1 fails."""

    error: float
    baseline_error: float
    reach: float
    tolerance: float
    compared: int
    size: int
    sample: str
    fault: str
    telling: bool = True

    @property
    def excess(self) -> float:
        """Error by tolerance; infinite for what no tolerance allows."""
        if self.fault:
            return np.inf
        return self.error / self.tolerance if self.tolerance else np.inf if self.error else 0.0


def together(name: str, judgements: Sequence[Judgement]) -> ResultCheck:
    """The verdict on a result over all samples, with the figures of the worst one; one that passes where the
    result is next to nothing tells less than any other.
    """
    size = sum(j.size for j in judgements)
    compared = sum(j.compared for j in judgements)
    none = Judgement(0.0, 0.0, 0.0, 0.0, 0, 0, "", "no samples")
    worst = max(judgements, key=lambda j: (j.excess > 1, j.telling, j.excess), default=none)
    fault = worst.fault or ("" if compared or not size else NOWHERE)
    share = compared / size if size else 1.0
    passed = worst.excess <= 1.0 and not fault
    return ResultCheck(
        name=name,
        error=worst.error,
        baseline_error=worst.baseline_error,
        reach=worst.reach,
        tolerance=worst.tolerance,
        worst_sample=worst.sample,
        compared=share,
        passed=passed,
        fault=fault,
    )


def judge(k: int, run: Run, rule: Rule) -> Judgement:
    """The k-th result on one sample, by `rule`."""
    true, plain, found = run.reference[k], run.baseline[k], run.optimized[k]
    sample = str(run.sample)
    if (found.shape, found.dtype) != (plain.shape, plain.dtype):
        fault = f"{_kind(found)} where the baseline has {_kind(plain)}"
        return Judgement(np.inf, 0.0, 0.0, 0.0, 0, plain.size, sample, fault)
    sure = np.isfinite(plain) & np.isfinite(true) if plain.dtype.kind == "f" else plain == true
    count, size = int(np.count_nonzero(sure)), scale(true)
    telling = plain.dtype.kind != "f" or size >= np.finfo(plain.dtype).tiny
    unit = size if telling and size else 1.0
    fault = _fault(run.sample, rule, true, plain, found)
    if count < plain.size:
        true, plain, found = true[sure], plain[sure], found[sure]
    return Judgement(
        distance(true, found) / unit,
        distance(true, plain) / unit,
        run.errors[k] / unit,
        run.tolerance(k, rule) / unit,
        count,
        sure.size,
        sample,
        fault,
        telling,
    )


def _kind(array: AnyArray) -> str:
    return f"{array.dtype.name}{list(array.shape)}"


def _meant(sample: Sample, rule: Rule) -> bool:
    """Whether infinite results are meant: arguments or program hold infinities; else they overflowed."""
    held = any(np.isinf(a).any() for a in sample.arrays if a.dtype.kind == "f")
    return held or (rule.infinite and sample.kind not in FAR)


def _fault(sample: Sample, rule: Rule, true: AnyArray, plain: AnyArray, found: AnyArray) -> str:
    """What is wrong beyond rounding: a NaN or infinity of its own, or, where it is meant, a missing one."""
    if plain.dtype.kind != "f":
        return "other integers or truth values" if np.any((plain == true) & (found != plain)) else ""
    if np.any(np.isfinite(plain) & ~np.isfinite(found)):
        return "NaN or infinite where the baseline is not"
    agreed = np.isinf(plain) & (plain == true)
    missing = np.any(agreed & (found != plain)) and _meant(sample, rule)
    return "an infinity of the baseline is missing" if missing else ""
