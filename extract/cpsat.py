"""Constraint extraction with CP-SAT: a level for each class of a cycle, so that no choice runs in a
circle.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from saturate.extract import solver
from saturate.extract.clock import Clock
from saturate.extract.cycles import unfounded
from saturate.extract.model import Model


@cache
def _cp_model() -> Any:
    """CP-SAT, imported when it is first needed: importing it takes longer than most extractions."""
    from ortools.sat.python import cp_model

    return cp_model


LARGEST_SUM = 1 << 45
STEPS_PER_UNIT = 1_000_000


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
    program, on, scaled, loss = _build(model)
    program.minimize(_cp_model().LinearExpr.weighted_sum(on, scaled))
    for v, (c, i) in enumerate(model.owner):
        if hint is not None and len(model.variables[c]) > 1:
            program.add_hint(on[v], hint.get(c, -1) == i)
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
    if workers == 1:
        parameters.linearization_level = 2
    solver.run(lambda: _solve(engine, program), engine.stop_search, limit)
    clock.spend(int(engine.response_proto.deterministic_time * STEPS_PER_UNIT) + 20 * len(on))
    return _answer(model, engine, on, loss)


def _solve(engine: Any, program: Any) -> None:
    engine.solve(program)


def _build(model: Model) -> tuple[Any, list[Any], list[int], tuple[float, float]]:
    """The program, its variables, their integer costs, and (cost of one unit, cost lost to rounding).

    Every row is "at most one": the nodes of c that need d, and "d is not needed".
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
    _add_levels(program, model, on)
    step = model.unit
    loss = 0.0
    if step == 0:
        step = max(sum(model.costs), 1e-300) / LARGEST_SUM
        loss = step * len(model.variables)
    return program, on, [round(cost / step) if step else 0 for cost in model.costs], (step, loss)


def _add_levels(program: Any, model: Model, on: list[Any]) -> None:
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
