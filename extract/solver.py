"""What every solver call shares: the answer's form, stopping on time or on the keyboard, and exact units
of cost.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

GRACE = 0.02
TOLERANCE = 1e-6
CLOSED = 1e-8
PLACES = 1_000_000


@dataclass(frozen=True)
class Answer:
    """What a solver knows of one part: the best valid choice (class → position), and a bound below every
    choice.
    """

    choice: Mapping[int, int] | None
    cost: float
    bound: float

    @property
    def optimal(self) -> bool:
        """Whether the bound meets the cost, up to the solvers' tolerance."""
        return self.choice is not None and closed(self.cost, self.bound)


def closed(cost: float, bound: float) -> bool:
    """Whether the bound meets the cost, up to a part of it that is the solvers' tolerance."""
    return bound >= cost * (1 - CLOSED)


def run(work: Callable[[], None], stop: Callable[[], None], seconds: float) -> None:
    """Run a solver in a thread; on Ctrl-C, or where it overruns its own limit, stop it and wait for it."""
    errors: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=guarded, daemon=True)
    deadline = time.perf_counter() + seconds * (1 + GRACE)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)
            if time.perf_counter() > deadline:
                stop()
    except KeyboardInterrupt:
        stop()
        thread.join()
        raise
    if errors:
        raise errors[0]


def unit(costs: Iterable[float]) -> float:
    """The largest u of which all costs are multiples, where decimals of up to six places show one; else 0."""
    common = 0
    for cost in sorted(set(costs)):
        scaled = round(cost * PLACES)
        if not math.isclose(scaled / PLACES, cost, rel_tol=1e-12):
            return 0.0
        common = math.gcd(common, scaled)
    return common / PLACES


def rounded_up(bound: float, step: float) -> float:
    """The least multiple of `step` that is not below the bound by more than the tolerance."""
    if step <= 0 or not math.isfinite(bound):
        return bound
    return math.ceil(bound / step - 1e-4) * step
