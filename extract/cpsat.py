"""Constraint extraction with CP-SAT: a level for each class of a cycle, so that no choice runs in a
circle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from saturate.extract import solver
from saturate.extract.clock import Clock
from saturate.extract.cycles import strong, unfounded
from saturate.extract.model import Model


@cache
def _cp_model() -> Any:
    """CP-SAT, imported when it is first needed: importing it takes longer than most extractions.

    A thread of its own imports it, since an import that Ctrl-C breaks cannot be made again.
    """
    loaded: list[Any] = []

    def load() -> None:
        from ortools.sat.python import cp_model

        loaded.append(cp_model)

    solver.run(load, lambda: None, math.inf)
    return loaded[0]


LARGEST_SUM = 1 << 45
STEPS_PER_UNIT = 1_000_000
SHORT = 0.2
"""Units of a search for which presolving, which takes about as long, does not pay."""


def cpsat(
    model: Model,
    clock: Clock,
    seed: int = 0,
    hint: Mapping[int, int] | None = None,
    workers: int = 1,
    units: float | None = None,
) -> solver.Answer:
    """Solve one part within the clock, starting from `hint` (class → position).

    Costs become integers: exactly where they have a common unit, otherwise rounded, and the bound gives away
    what rounding may have added. `units` is a limit in CP-SAT's own measure of work, a second or two each,
    counted as STEPS_PER_UNIT; with one worker and no time limit the answer repeats exactly.
    """
    program, on, scaled, loss = _build(model, hint)
    program.minimize(_cp_model().LinearExpr.weighted_sum(on, scaled))
    engine = _cp_model().CpSolver()
    parameters = engine.parameters
    parameters.num_workers = workers
    parameters.random_seed = seed
    parameters.catch_sigint_signal = False
    parameters.symmetry_level = 2
    limit = min(clock.left(), 1e6)
    parameters.max_time_in_seconds = max(limit, 1e-3)
    if units is not None:
        parameters.max_deterministic_time = units
    parameters.cp_model_presolve = units is None or units > SHORT
    if workers == 1:
        parameters.linearization_level = 2
    solver.run(lambda: _solve(engine, program), engine.stop_search, limit)
    clock.spend(int(engine.response_proto.deterministic_time * STEPS_PER_UNIT) + 20 * len(on))
    return _answer(model, engine, on, loss)


def _solve(engine: Any, program: Any) -> None:
    engine.solve(program)


def _build(
    model: Model, hint: Mapping[int, int] | None
) -> tuple[Any, list[Any], list[int], tuple[float, float]]:
    """The program, its variables, their integer costs, and (cost of one unit, cost lost to rounding).

    Every row is "at most one": the nodes of c that need d, and "d is not needed". A hint names the value of
    every variable: one that leaves some open is only where the solver looks first, and mostly lost.
    """
    program = _cp_model().CpModel()
    on = [program.new_bool_var("") for _ in model.owner]
    absent: dict[int, Any] = {}
    for c, own in model.variables.items():
        if c in model.roots:
            program.add_exactly_one([on[v] for v in own])
        elif len(own) == 1:
            absent[c] = on[own[0]].negated()
        else:
            absent[c] = program.new_bool_var("")
            program.add_exactly_one([*(on[v] for v in own), absent[c]])
    for left, d in model.pairs():
        missing = [absent[d]] if d in absent else []
        program.add_at_most_one([*(on[v] for v in left), *missing])
    level = _add_levels(program, model, on)
    if hint is not None:
        _add_hint(program, model, hint, on, absent, level)
    step = model.unit
    loss = 0.0
    if step == 0:
        step = max(sum(model.costs), 1e-300) / LARGEST_SUM
        loss = step * len(model.variables)
    return program, on, [round(cost / step) if step else 0 for cost in model.costs], (step, loss)


def _add_hint(
    program: Any,
    model: Model,
    hint: Mapping[int, int],
    on: list[Any],
    absent: Mapping[int, Any],
    level: Mapping[int, Any],
) -> None:
    for v, (c, i) in enumerate(model.owner):
        program.add_hint(on[v], hint.get(c, -1) == i)
    for c, variable in absent.items():
        if len(model.variables[c]) > 1:
            program.add_hint(variable, c not in hint)
    if level:
        height = _heights(model, hint)
        for c, variable in level.items():
            program.add_hint(variable, height.get(c, 0))


def _heights(model: Model, choice: Mapping[int, int]) -> dict[int, int]:
    """How many chosen classes stand one below the other under each, in its strongly connected part."""
    part = model.problem.part
    number = {c: k for k, c in enumerate(choice)}
    kids = {
        c: [d for d in model.problem.nodes[c][i].kids if part[d] == part[c] and d in number]
        for c, i in choice.items()
    }
    rank = strong([[number[d] for d in below] for below in kids.values()])
    height: dict[int, int] = {}
    for c in sorted(kids, key=lambda c: rank[number[c]]):
        height[c] = max([height.get(d, 0) + 1 for d in kids[c]], default=0)
    return height


def _add_levels(program: Any, model: Model, on: list[Any]) -> dict[int, Any]:
    """Inside a strongly connected part a node stands one level above its children there."""
    size: dict[int, int] = {}
    for c in model.variables:
        size[model.problem.part[c]] = size.get(model.problem.part[c], 0) + 1
    level = {
        c: program.new_int_var(0, size[model.problem.part[c]] - 1, "")
        for c in model.variables
        if size[model.problem.part[c]] > 1
    }
    uses: dict[tuple[int, int], list[int]] = {}
    for v, (c, i) in enumerate(model.owner):
        for d in model.problem.nodes[c][i].kids:
            if model.problem.part[c] == model.problem.part[d]:
                uses.setdefault((c, d), []).append(v)
    for (c, d), users in uses.items():
        for v in users:
            program.add(level[c] >= level[d] + 1).only_enforce_if(on[v])
    return level


def _answer(model: Model, engine: Any, on: list[Any], loss: tuple[float, float]) -> solver.Answer:
    """The answer, with its cost recomputed; the solver's claim "optimal" counts only where the two costs
    agree.
    """
    step, lost = loss
    bound = max(0.0, engine.best_objective_bound * step - lost)
    if not engine.response_proto.solution:
        return solver.Answer(None, float("inf"), bound)
    choice = model.chosen([float(engine.value(variable)) for variable in on])
    cost = model.cost(choice)
    claimed = engine.objective_value * step
    if unfounded(model.problem.nodes, choice) or cost > claimed + lost + solver.TOLERANCE * max(1.0, claimed):
        return solver.Answer(None, float("inf"), 0.0)
    return solver.Answer(choice, cost, min(bound, cost))
