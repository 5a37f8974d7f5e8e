"""How long calls take here, side by side, so that a busy machine slows all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from saturate.op import AnyArray
from saturate.program import Program
from saturate.runners import RUNNERS
from saturate.samples import samples


def seconds(
    calls: Sequence[Callable[[], object]], budget: float = 0.5, rounds: int = 200
) -> tuple[float, ...]:
    """The shortest time of each call in seconds: one of each in turn, until the budget or `rounds` is spent.

    Each call runs twice before, unmeasured: runners settle their plans at first calls.
    """
    for call in (*calls, *calls):
        call()
    best = [float("inf")] * len(calls)
    start = perf_counter()
    for _ in range(rounds):
        for k, call in enumerate(calls):
            begin = perf_counter()
            call()
            best[k] = min(best[k], perf_counter() - begin)
        if perf_counter() - start > budget:
            break
    return tuple(best)


def compared(programs: Sequence[Program], target: str = "numpy", budget: float = 0.5) -> tuple[float, ...]:
    """The shortest time of each program in seconds, on the same drawn arguments, by the same runner."""
    arguments = _drawn(programs[0])
    calls = [_call(RUNNERS[target](program), arguments) for program in programs]
    with np.errstate(all="ignore"):
        return seconds(calls, budget)


def _drawn(program: Program) -> dict[str, AnyArray]:
    first = samples(program.inputs, 0, 1, None)[0]
    return {i.name: array for i, array in zip(program.inputs, first.arrays, strict=True)}


def _call(runner: Callable[..., object], arguments: dict[str, AnyArray]) -> Callable[[], object]:
    return lambda: runner(**arguments)
