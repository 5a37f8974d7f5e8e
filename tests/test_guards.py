"""Each guard that asks for more than equality needs: without it, its rule merges what is not equal."""

from __future__ import annotations

import numpy as np
import pytest
from guards import GUARDS, Guard
from law_terms import Sides, run_alone

from saturate.rules import Law
from saturate.rules.checker import Sampler, same


def merges(law: Law, guard: Guard) -> bool:
    """Whether the rule joins the two sides where all is known that holds of the arrays."""
    sides = Sides(law, guard.facts)
    lefts = sides.lefts()
    for left in lefts if guard.seen else ():
        sides.terms.learn(left.args[0], guard.seen)
    right = sides.right(law.right)
    classes = run_alone(law, sides.terms.all).classes()
    return classes.of_term[right.id] in {classes.of_term[left.id] for left in lefts}


@pytest.mark.parametrize("guard", GUARDS, ids=lambda g: f"{g.law.name}-{g.guard}")
def test_without_the_guard_what_is_not_equal_is_merged(guard: Guard) -> None:
    sample = Sampler(guard.law, 0)
    sizes = [a.shape for a in guard.values.values()]
    sample.sizes = {c: max(shape[k] for shape in sizes) for c, k in sample.axes.items()}
    left, right = (sample.side(side, guard.values) for side in (guard.law.left, guard.law.right))
    assert not same(guard.law, left, right)
    assert guard.without != guard.law
    assert merges(guard.without, guard)
    assert not merges(guard.law, guard)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda g: f"{g.law.name}-{g.guard}")
def test_a_guard_asks_for_conditions_of_its_law(guard: Guard) -> None:
    declared = {f"{c.variable} {c.fact}" for c in guard.law.where}
    assert set(guard.asks) <= declared
    assert all(np.ndim(a) == len(Sampler(guard.law, 0).axes) for a in guard.values.values())
