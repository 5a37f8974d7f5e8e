"""Guards of rules that ask for more than the law's own variables need, each with a case that needs it.

A rule speaks of a product or a sum as a whole; a law is declared over its variables. So a guard can make
conditions of the law necessary without which its two sides would still be equal, while the rule would not be
true of other terms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from saturate.facts import Facts
from saturate.op import AnyArray
from saturate.rules import Law, exponential, reciprocal, ring
from saturate.rules.law import Condition

INF = np.inf


@dataclass(frozen=True)
class Guard:
    """A guard of a rule, the conditions that it makes a law have, and arrays of which the rule is false
    without it; `seen` is known of the first operand of the left side.
    """

    law: Law
    asks: tuple[str, ...]
    guard: str
    values: Mapping[str, AnyArray]
    seen: Facts = field(default=frozenset())

    @property
    def without(self) -> Law:
        """The law without the guard."""
        if self.law.egglog is None:
            return replace(self.law, where=tuple(c for c in self.law.where if c.guard != self.guard))
        facts, actions = self.law.egglog
        return replace(self.law, egglog=(facts.replace(self.guard, ""), actions))

    @property
    def facts(self) -> dict[str, Facts]:
        """Everything that holds of the arrays."""
        known = ("nonzero", "nonneg", "finite", "integer", "binary")
        return {
            v: frozenset(fact for fact in known if Condition(v, fact).holds(array))
            for v, array in self.values.items()
        }


def over_k(*numbers: float) -> AnyArray:
    """Numbers along the last of three letters."""
    return np.array(numbers).reshape(1, 1, -1)


def over_j(*numbers: float) -> AnyArray:
    """Numbers along the last of two letters."""
    return np.array(numbers).reshape(1, -1)


GUARDS = (
    Guard(ring.sums_of_products_merge, ("b finite",), "(finites M)", {"a": over_k(INF), "b": over_k(3, -1)}),
    Guard(
        ring.common_factor, ("b finite",), "(finites A)", {"a": over_j(INF), "b": over_j(3), "c": over_j(-1)}
    ),
    Guard(
        reciprocal.reciprocal_of_product, ("a nonneg", "a nonzero", "b nonneg", "b nonzero"), "(nonzero p)",
        {"a": over_j(-1), "b": over_j(1, -1)},
    ),
    Guard(
        reciprocal.reciprocal_of_product, ("a finite",), "(finite a)", {"a": over_j(INF), "b": over_j(3, -1)},
        seen=frozenset(("nonzero",)),
    ),
    Guard(exponential.log_of_reciprocal, ("a nonzero",), "(nonzero a)", {"a": np.array([-0.0])}),
)  # fmt: skip
"""∞·3 − ∞·1 is no number, where ∞·(3 − 1) is infinite; 1/(−1·0) is not (1/−1)·(1/0); 1/(∞·3 − ∞·1) is no
number, where (1/∞)·(1/2) is 0; log(1/−0) is no number.
"""
