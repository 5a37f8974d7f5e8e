"""What examples show of values that no proof reaches: a causal mask of −inf makes scores infinite, not
their softmax.

Only values that depend on an argument with infinities are looked at. Such a value is taken to be finite
where it is on every sample, and to be nowhere zero where it is proved not negative and is not zero on any
sample. Under `exact="domain"` what is divided by is looked at too: a norm is not zero where it is on no
sample. Each is an assumption, and the report lists those that a result rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from saturate.denote import denote
from saturate.facts import FINITE, NONNEG, NONZERO, NOTHING, Facts
from saturate.leaf_facts import input_facts
from saturate.lift import lift, lifted_array
from saturate.op import AnyArray
from saturate.program import Program
from saturate.runners.evaluate import values
from saturate.samples import Sample

DIVISORS = {"div": (1,), "log": (0,), "log2": (0,), "log10": (0,), "reciprocal": (0,), "rsqrt": (0,)}
"""The operands of ops that make no number of zero."""


def observed(program: Program, facts: Mapping[str, Facts], samples: Sequence[Sample]) -> dict[str, Facts]:
    """Facts by value id for the values below arguments that are not finite, as all samples show them.

    Only what is not proved, nor follows from what was assumed of values before it.
    """
    open_ = _below(program, {v for v, known in facts.items() if FINITE not in known})
    found: dict[str, Facts] = {}
    if not open_ or not samples:
        return found
    runs = _runs(program, samples)

    def seen(value: str, proved: Facts) -> Facts:
        arrays = [run[value] for run in runs]
        looked_at = value in open_ and program.types[value].is_float
        if not looked_at or not all(np.isfinite(a).all() for a in arrays):
            return NOTHING
        positive = NONNEG in proved and all((a > 0).all() for a in arrays)
        more = frozenset((FINITE, NONZERO) if positive else (FINITE,)) - proved
        if more:
            found[value] = more
        return more

    denote(program, facts, seen)
    return found


def divisors(program: Program, facts: Mapping[str, Facts], samples: Sequence[Sample]) -> dict[str, Facts]:
    """Facts by value id of what is divided by, or under a logarithm, that are zero on no sample.

    Only what is not proved, nor follows from what was assumed of values before it.
    """
    wanted = _divisors(program) if samples else set[str]()
    found: dict[str, Facts] = {}
    if not wanted:
        return found
    runs = _runs(program, samples)

    def seen(value: str, proved: Facts) -> Facts:
        if value not in wanted or NONZERO in proved or not all((run[value] != 0).all() for run in runs):
            return NOTHING
        found[value] = facts.get(value, NOTHING) | {NONZERO}
        return found[value]

    for given in program.inputs:
        seen(given.value, facts.get(given.value, input_facts(given.type)))
    denote(program, {**facts, **found}, seen)
    return found


def _divisors(program: Program) -> set[str]:
    """What is divided by, or under a logarithm; of a view what it shows."""
    maker = {n.value: n for n in program.nodes}
    found = set[str]()
    for node in program.nodes:
        for k in DIVISORS.get(node.op.name, ()):
            value = node.operands[k] if k < len(node.operands) else ""
            while value in maker and maker[value].op.view:
                value = maker[value].operands[0]
            if value and program.types[value].is_float:
                found.add(value)
    return found


def _runs(program: Program, samples: Sequence[Sample]) -> list[dict[str, AnyArray]]:
    """Every value on every sample, in float64."""
    wide = lift(program, "float64")
    with np.errstate(all="ignore"):
        return [values(wide, *(lifted_array(a, "float64") for a in s.arrays)) for s in samples]


def _below(program: Program, values_: set[str]) -> set[str]:
    found = set(values_)
    for node in program.nodes:
        if found.intersection(node.operands):
            found.add(node.value)
    return found
