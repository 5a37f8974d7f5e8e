"""Where laws are used: each workload searched once, with how often a law matched, its time, what it made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from saturate.grad import grad
from saturate.rules.law import Law
from saturate.saturation import Limits
from saturate.search import emit, extract, search
from saturate.workloads import WORKLOADS, Workload

LIMITS = Limits(seconds=2.0, nodes=20_000, rounds=3)
"""Two rounds of factoring and one with merged sums: every workload together in some seconds."""


@dataclass(frozen=True)
class Use:
    """What a law did in one program: matches, seconds, and the values of the cheapest choice that it made.

    Accuracy is not measured here, so a choice may be one that `optimize` would leave out.
    """

    program: str
    matches: int
    seconds: float
    values: tuple[str, ...]


def uses(laws: Sequence[Law], workloads: Sequence[Workload] = WORKLOADS) -> dict[str, tuple[Use, ...]]:
    """By name of the law, the workloads, value and gradients, in which it matched; all laws run together."""
    found: dict[str, list[Use]] = {law.name: [] for law in laws}
    for load in workloads:
        for name, use in _of(load, laws).items():
            found[name].append(use)
    return {name: tuple(listed) for name, listed in found.items()}


def _of(load: Workload, laws: Sequence[Law]) -> dict[str, Use]:
    searched = search(grad(load.function, *load.types, wrt=load.wrt), laws, LIMITS)
    lowered = emit(searched, extract(searched, "greedy"))
    values: dict[str, list[str]] = {}
    for node in lowered.program.nodes:
        if node.value in lowered.laws:
            values.setdefault(lowered.laws[node.value], []).append(node.label or node.value)
    runs = searched.saturation.laws
    return {
        law.name: Use(load.name, run.matches, run.seconds, tuple(values.get(law.name, ())))
        for law in laws
        if (run := runs.get(law.name)) is not None and run.matches
    }
