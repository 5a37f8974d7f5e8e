"""What a check found: figures for each result, on which sample, against which tolerance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any


@dataclass(frozen=True)
class ResultCheck:
    """One result on all samples; figures are those of the sample where error / tolerance was largest.

    Errors are the largest distance to the reference, in units of the largest magnitude in the reference's
    result (of one, where the dtype holds no number so small): of the program, of the baseline, and `reach`,
    the largest that the baseline's can be (its roundings and the arguments moved by one unit in the last
    place), which `tolerance` is made of.
    `compared` is the share of elements, over all samples, where reference and baseline are finite.
    `fault` says what is wrong where that is no matter of size.
    """

    name: str
    error: float
    baseline_error: float
    reach: float
    tolerance: float
    worst_sample: str
    compared: float
    passed: bool
    fault: str = ""

    @property
    def missed(self) -> str:
        """Of a result that fails: which, on which sample, and by how much."""
        why = self.fault or f"{self.error:.1e} of scale, {self.tolerance:.1e} allowed"
        return f"{self.name} on {self.worst_sample}: {why}"


@dataclass(frozen=True)
class DifferenceCheck:
    """One gradient against central finite differences in random directions, on all smooth samples.

    Figures are those of the worst direction u, in units of the gradient's norm: how far the difference
    quotient is from ⟨gradient, u⟩, for the reference's gradient and for the optimized one, and what is
    allowed. `conclusive` counts the directions where the quotient was exact enough to tell.
    """

    name: str
    reference_error: float
    error: float
    tolerance: float
    worst_sample: str
    conclusive: int
    passed: bool


@dataclass(frozen=True)
class Certificate:
    """Value and gradients of a program against its baseline, both against a reference of higher precision."""

    passed: bool
    program: str
    runner: str
    reference: str
    factor: float
    ulps: float
    seed: int
    trials: int
    samples: tuple[str, ...]
    results: tuple[ResultCheck, ...]
    differences: tuple[DifferenceCheck, ...]
    assumptions: tuple[str, ...] = ()
    bound: float = 0.0

    def __bool__(self) -> bool:
        return self.passed

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain Python values."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join([self.figures, *(f"assumes: {a}" for a in self.assumptions)])

    @property
    def figures(self) -> str:
        """All of it but for what is assumed, which a report says for itself."""
        drawn = f"{len(self.samples)} samples, seed {self.seed}, reference {self.reference}"
        head = f"check of {self.program} on {self.runner}: {_verdict(self.passed)} ({drawn})"
        rule = (
            f"allowed: {self.factor:g} × the largest error the baseline can have (arguments moved 1 ulp, "
            f"roundings up to 2) + {self.ulps:g} ulp of scale"
        )
        if self.bound:
            rule += f" + {self.factor:g} × {self.bound:g} of scale, the bound of a law"
        rows = [("result", "error", "baseline", "allowed", "worst sample", "")]
        rows += [
            (
                r.name,
                _figure(r.error),
                _figure(r.baseline_error),
                _figure(r.tolerance),
                r.worst_sample,
                _fault(r),
            )
            for r in self.results
        ]
        lines = [head, rule, *_table(rows)]
        if self.differences:
            rows = [("finite differences", "error", "reference", "allowed", "worst sample", "")]
            rows += [
                (
                    d.name,
                    _figure(d.error),
                    _figure(d.reference_error),
                    _figure(d.tolerance),
                    d.worst_sample,
                    _told(d),
                )
                for d in self.differences
            ]
            lines += _table(rows)
        return "\n".join(lines)


def with_parts(whole: Certificate, parts: Mapping[str, Certificate]) -> Certificate:
    """The certificate of a long program with the worst result of each of its windows."""
    rows = [
        replace(worst, name=f"{name}: {worst.name}")
        for name, part in parts.items()
        for worst in [max(part.results, key=_strain)]
    ]
    passed = whole.passed and all(part.passed for part in parts.values())
    return replace(whole, passed=passed, results=(*whole.results, *rows))


def _strain(row: ResultCheck) -> tuple[bool, float]:
    return not row.passed, row.error / row.tolerance if row.tolerance else row.error


def _verdict(passed: bool) -> str:
    return "passed" if passed else "FAILED"


def _fault(r: ResultCheck) -> str:
    share = f", {r.compared:.0%} of elements compared" if r.compared < 0.995 else ""
    return f"{_verdict(r.passed)}{': ' * bool(r.fault)}{r.fault}{share}"


def _told(d: DifferenceCheck) -> str:
    return _verdict(d.passed) if d.conclusive else "not conclusive"


def _figure(x: float) -> str:
    return f"{x:.1e}"


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
