"""What examples show of values that no proof reaches: a causal mask of −inf makes scores infinite, not
their softmax.

Only values that depend on an argument with infinities are looked at. Such a value is taken to be finite
where it is on every sample, and to be nowhere zero where it is proved not negative and is not zero on any
sample. Each is an assumption, and the report lists it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from saturate.denote import denote
from saturate.facts import FINITE, NONNEG, NONZERO, Facts
from saturate.lift import lift, lifted_array
from saturate.program import Program
from saturate.runners.evaluate import values
from saturate.samples import Sample


def observed(program: Program, facts: Mapping[str, Facts], samples: Sequence[Sample]) -> dict[str, Facts]:
    """Facts by value id for the values below arguments that are not finite, as all samples show them."""
    open_ = _below(program, {v for v, known in facts.items() if FINITE not in known})
    if not open_ or not samples:
        return {}
    wide = lift(program, "float64")
    with np.errstate(all="ignore"):
        runs = [values(wide, *(lifted_array(a, "float64") for a in s.arrays)) for s in samples]
    found: dict[str, Facts] = {}
    known = dict(facts)
    for node in program.nodes:
        if node.value not in open_ or not node.type.is_float:
            continue
        if all(np.isfinite(run[node.value]).all() for run in runs):
            found[node.value] = frozenset((FINITE,))
            if all((run[node.value] > 0).all() for run in runs):
                found[node.value] |= {NONZERO}
    proved = denote(program, {**known, **{v: f - {NONZERO} for v, f in found.items()}}).values
    return {v: f if NONNEG in proved[v].facts else f - {NONZERO} for v, f in found.items()}


def _below(program: Program, values_: set[str]) -> set[str]:
    found = set(values_)
    for node in program.nodes:
        if found.intersection(node.operands):
            found.add(node.value)
    return found


def assumptions(program: Program, found: Mapping[str, Facts]) -> Iterable[str]:
    """One line for each assumed value, by the user's name for it or its id."""
    for node in program.nodes:
        facts = found.get(node.value)
        if facts:
            positive = " and positive" if NONZERO in facts else ""
            yield f"{node.label or node.value} is finite{positive}, as the examples show"
