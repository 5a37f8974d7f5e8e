"""What an extractor returns, and the one place where a choice is checked and priced."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from saturate.errors import ExtractionError
from saturate.extract.classes import Classes
from saturate.extract.clock import Stopwatch


@dataclass(frozen=True)
class Extraction:
    """A valid choice of one node for every needed class.

    `choice` maps class → index in `classes.nodes[class]`, children before their users. `cost` is recomputed
    from the choice, each class paid once. No choice costs less than `lower_bound`, up to rounding; `bound_by`
    says how that is known. `proven`: the cost is the optimum. `times` are seconds by stage, which equality
    does not compare.
    """

    choice: Mapping[int, int]
    cost: float
    lower_bound: float
    proven: bool
    method: str
    bound_by: str
    times: Mapping[str, float] = field(default_factory=dict[str, float], compare=False)

    @property
    def seconds(self) -> float:
        """Σ of the times of the stages: how long the call took."""
        return sum(self.times.values())


def ordered(classes: Classes, choice: Mapping[int, int]) -> dict[int, int]:
    """The part of `choice` that the roots need, children first.

    Raises ExtractionError (code `choice`) where a needed class has no node, or the choice runs in a circle.
    """
    done: dict[int, int] = {}
    open_: set[int] = set()
    for root in classes.roots:
        stack = [root]
        while stack:
            c = stack[-1]
            if c in done:
                stack.pop()
                continue
            if c in open_:
                stack.pop()
                open_.discard(c)
                done[c] = choice[c]
                continue
            open_.add(c)
            stack.extend(_unfinished(classes, choice, c, done, open_))
    return done


def _unfinished(
    classes: Classes, choice: Mapping[int, int], c: int, done: Mapping[int, int], open_: set[int]
) -> list[int]:
    index = choice.get(c, -1)
    if not 0 <= index < len(classes.nodes[c]):
        raise ExtractionError(f"class {classes.names[c]!r} is needed and has no chosen node", code="choice")
    node = classes.nodes[c][index]
    for d in node.children:
        if d in open_:
            raise ExtractionError(
                f"the choice runs in a circle: node {node.name!r} of class {classes.names[c]!r} "
                f"needs class {classes.names[d]!r}, which needs it",
                code="choice",
            )
    return [d for d in reversed(node.children) if d not in done]


def price(classes: Classes, choice: Mapping[int, int]) -> float:
    """Σ of the costs of the chosen nodes, rounded once; the order of the classes does not matter."""
    return math.fsum(classes.nodes[c][i].cost for c, i in choice.items())


def cheapest(classes: Classes, choices: Sequence[Mapping[int, int]]) -> Mapping[int, int]:
    """The first of the cheapest choices, cut down to what the roots need."""
    return min([ordered(classes, choice) for choice in choices], key=lambda choice: price(classes, choice))


def extraction(
    classes: Classes,
    choice: Mapping[int, int],
    *,
    lower_bound: float,
    method: str,
    bound_by: str,
    watch: Stopwatch,
) -> Extraction:
    """Check, order and price a choice; `proven` where the bound meets the cost up to rounding (1e-9 of
    it).
    """
    watch.begin("check")
    needed = ordered(classes, choice)
    cost = price(classes, needed)
    bound = min(lower_bound, cost)
    proven = cost - bound <= 1e-9 * cost
    return Extraction(needed, cost, cost if proven else bound, proven, method, bound_by, watch.seconds())
