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
def _ortools() -> Any:
    """CP-SAT's compiled module, imported when it is first needed. It is what `cp_model` wraps; that imports
    pandas too, which takes longer than most extractions.

    A thread of its own imports it, since an import that Ctrl-C breaks cannot be made again.
    """
    loaded: list[Any] = []

    def load() -> None:
        from ortools.sat.python import cp_model_helper

        loaded.append(cp_model_helper)

    solver.run(load, lambda: None, math.inf)
    return loaded[0]


LARGEST_SUM = 1 << 46
STEPS_PER_UNIT = 1_000_000
STEPS_PER_NODE = 6


def cpsat(
    model: Model,
    clock: Clock,
    seed: int = 0,
    hint: Mapping[int, int] | None = None,
    workers: int = 1,
    units: float | None = None,
    presolve: int | None = None,
    cores: bool = False,
    near: Mapping[int, int] | None = None,
) -> solver.Answer:
    """Solve one part within the clock, starting from `hint` (class → position).

    Costs become integers: exactly where they have a common unit, otherwise rounded, and the bound gives away
    what rounding may have added; a node that `near`, the hint where it is None, does not choose costs one
    step of rounding more, so that of choices of equal cost one near that is found. `units` is a limit in
    CP-SAT's own measure of work, a second or two each, counted as STEPS_PER_UNIT; with one worker and no time
    limit the answer repeats exactly. `presolve` is how often the program is simplified first, as often as
    that pays where it is None. One worker bounds by linear relaxations or, with `cores`, by unsatisfiable
    cores (maximum satisfiability after Fu and Malik 2006): sets of costs that cannot all be spared.
    """
    program, loss = _build(model, hint, hint if near is None else near)
    parameters = _ortools().SatParameters()
    parameters.num_workers = workers
    parameters.random_seed = seed
    parameters.catch_sigint_signal = False
    parameters.symmetry_level = 2
    limit = min(clock.left(), 1e6)
    parameters.max_time_in_seconds = max(limit, 1e-3)
    if units is not None:
        parameters.max_deterministic_time = units
    if presolve is not None:
        parameters.cp_model_presolve = presolve > 0
        parameters.max_presolve_iterations = presolve
        parameters.cp_model_probing_level = 0
    if cores:
        parameters.optimize_with_core = True
        parameters.core_minimization_level = 1
        parameters.linearization_level = 0
    elif workers == 1:
        parameters.linearization_level = 2
    if model.unit == 0 and not cores:
        parameters.absolute_gap_limit = float(len(model.variables))
    response = _solved(program, parameters, limit)
    clock.spend(int(response.deterministic_time * STEPS_PER_UNIT) + STEPS_PER_NODE * len(model.owner))
    return _answer(model, response, loss)


def _solved(program: Any, parameters: Any, limit: float) -> Any:
    engine = _ortools().SolveWrapper()
    engine.set_parameters(parameters)
    responses: list[Any] = []

    def solve() -> None:
        responses.append(engine.solve(program))

    solver.run(solve, engine.stop_search, limit)
    return responses[0]


def _build(
    model: Model, hint: Mapping[int, int] | None, near: Mapping[int, int] | None
) -> tuple[Any, tuple[float, float]]:
    """The program, and (cost of one unit, cost lost to rounding). A node's variable has its number; the
    literal -v - 1 says that variable v is off.

    Every row is "at most one": the nodes of c that need d, and "d is not needed". A hint names the value of
    every variable: one that leaves some open is only where the solver looks first, and mostly lost.
    """
    program = _ortools().CpModelProto()
    absent: dict[int, int] = {}
    count = len(model.owner)
    for c, own in model.variables.items():
        if c in model.roots:
            program.constraints.add().exactly_one.literals.extend(own)
        elif len(own) == 1:
            absent[c] = -own[0] - 1
        else:
            absent[c] = count
            count += 1
            program.constraints.add().exactly_one.literals.extend([*own, absent[c]])
    for left, d in model.pairs():
        missing = [absent[d]] if d in absent else []
        program.constraints.add().at_most_one.literals.extend([*left, *missing])
    variables = program.variables
    for _ in range(count):
        variables.add().domain.extend([0, 1])
    level = _add_levels(program, model, count)
    if hint is not None:
        values = {v: int(hint.get(c, -1) == i) for v, (c, i) in enumerate(model.owner)}
        values |= {v: int(c not in hint) for c, v in absent.items() if v >= 0}
        height = _heights(model, hint) if level else {}
        values |= {v: height.get(c, 0) for c, v in level.items()}
        program.solution_hint.vars.extend(list(values))
        program.solution_hint.values.extend(list(values.values()))
    costs, step, loss = _whole(model, near or {})
    program.objective.vars.extend(list(range(len(costs))))
    program.objective.coeffs.extend(costs)
    return program, (step, loss)


def _whole(model: Model, near: Mapping[int, int]) -> tuple[list[int], float, float]:
    """The costs as integers, what one of them is worth, and what a choice may lose by that."""
    step = model.unit
    if step:
        return [round(cost / step) for cost in model.costs], step, 0.0
    step = sum(model.costs) / LARGEST_SUM
    if not step:
        return [0] * len(model.costs), step, 0.0
    away = [near.get(c) != i for c, i in model.owner]
    costs = [round(cost / step) + far for cost, far in zip(model.costs, away, strict=True)]
    return costs, step, 2 * step * len(model.variables)


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


def _add_levels(program: Any, model: Model, count: int) -> dict[int, int]:
    """Inside a strongly connected part a node stands one level above its children there; the variables of
    the levels, after `count` others.
    """
    size: dict[int, int] = {}
    for c in model.variables:
        size[model.problem.part[c]] = size.get(model.problem.part[c], 0) + 1
    level: dict[int, int] = {}
    for c in model.variables:
        if size[model.problem.part[c]] > 1:
            level[c] = count + len(level)
            program.variables.add().domain.extend([0, size[model.problem.part[c]] - 1])
    for v, (c, i) in enumerate(model.owner):
        for d in model.problem.nodes[c][i].kids if c in level else ():
            if model.problem.part[c] == model.problem.part[d]:
                row = program.constraints.add()
                row.enforcement_literal.append(v)
                row.linear.vars.extend([level[c], level[d]])
                row.linear.coeffs.extend([1, -1])
                row.linear.domain.extend([1, size[model.problem.part[c]]])
    return level


def _answer(model: Model, response: Any, loss: tuple[float, float]) -> solver.Answer:
    """The answer, with its cost recomputed; the solver's claim "optimal" counts only where the two costs
    agree.
    """
    step, lost = loss
    bound = max(0.0, response.best_objective_bound * step - lost)
    values = list(response.solution)
    if not values:
        return solver.Answer(None, float("inf"), bound)
    choice = model.chosen(values)
    cost = model.cost(choice)
    claimed = response.objective_value * step
    if unfounded(model.problem.nodes, choice) or cost > claimed + lost + solver.TOLERANCE * claimed:
        return solver.Answer(None, float("inf"), 0.0)
    return solver.Answer(choice, cost, min(bound, cost))
