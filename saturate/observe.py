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

NAMED = 8
"""So many assumed values are named."""


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
    if not any(NONZERO in f for f in found.values()):
        return found
    proved = denote(program, {**known, **{v: f - {NONZERO} for v, f in found.items()}}).values
    return {v: f if NONNEG in proved[v].facts else f - {NONZERO} for v, f in found.items()}


def _below(program: Program, values_: set[str]) -> set[str]:
    found = set(values_)
    for node in program.nodes:
        if found.intersection(node.operands):
            found.add(node.value)
    return found


def assumptions(program: Program, found: Mapping[str, Facts]) -> Iterable[str]:
    """What is assumed of which values, by the user's names for them, or by an id where none has a name."""
    for wanted, said in ((False, "finite"), (True, "finite and positive")):
        assumed = [n for n in program.nodes if n.value in found and (NONZERO in found[n.value]) == wanted]
        names = list(dict.fromkeys(n.label for n in assumed if n.label)) or [n.value for n in assumed[:1]]
        shown = names[:NAMED]
        others = len([n for n in assumed if n.label not in shown and n.value not in shown])
        if assumed:
            more = f" and {others} other values" if others else ""
            yield f"{', '.join(shown)}{more}: {said}, as the examples show"
