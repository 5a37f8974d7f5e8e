"""Where laws are used: each workload optimized, with how often a law matched, its time, what it made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from saturate.optimize import optimize
from saturate.workloads import WORKLOADS, Workload


@dataclass(frozen=True)
class Use:
    """What a law did in one program: matches and seconds in all searches, and the values that it made of the
    result.
    """

    program: str
    matches: int
    seconds: float
    values: tuple[str, ...]


def uses(exact: str, workloads: Sequence[Workload] = WORKLOADS) -> dict[str, tuple[Use, ...]]:
    """By name of the law, the workloads, value and gradients, in which it matched.

    Each is optimized with the laws that `exact` admits, as a user would, only that the check is left out.
    """
    found: dict[str, list[Use]] = {}
    for load in workloads:
        report = optimize(load.function, *load.types, wrt=load.wrt, exact=exact, check=False).report
        made = {use.name: use.where for use in report.laws}
        for law in report.matched:
            use = Use(load.name, law.matches, law.seconds, made.get(law.name, ()))
            found.setdefault(law.name, []).append(use)
    return {name: tuple(listed) for name, listed in found.items()}
