"""Solvers are right on models without any reduction, are not believed when they contradict themselves,
and stop.
"""

from __future__ import annotations

import math
import random
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from saturate.errors import ExtractionError
from saturate.extract import EXTRACTORS, Classes, milp
from saturate.extract.classes import build
from saturate.extract.clock import Clock
from saturate.extract.cpsat import cpsat
from saturate.extract.cycles import components, unfounded
from saturate.extract.highs import HIGHS
from saturate.extract.local import Solution, exchanges
from saturate.extract.milp import milp as solve_milp
from saturate.extract.model import Model, model, split
from saturate.extract.portfolio import Part, needed_only
from saturate.extract.problem import problem
from saturate.extract.reduce import contracted, reduced
from saturate.extract.solver import Answer, rounded_up, unit
from saturate.extract.tree import bottom_up


def dense_classes(seed: int, count: int = 7) -> Classes:
    """Graphs full of cycles: each class has a leaf that costs much, and cheap nodes over any other
    classes.
    """
    draw = random.Random(seed)
    groups: list[list[tuple[str, list[int], float]]] = [
        [("leaf", [], float(draw.randint(6, 20)))]
        + [
            ("op", [draw.randrange(count) for _ in range(draw.randint(1, 2))], float(draw.randint(0, 3)))
            for _ in range(draw.randint(1, 3))
        ]
        for _ in range(count)
    ]
    return build(groups, [0, draw.randrange(count)])


def tangled_classes(seed: int, count: int) -> Classes:
    """Many roots over shared classes: nothing that reductions alone could solve."""
    draw = random.Random(seed)
    low = range(count, count + count // 2)
    roots = [[("op", draw.sample(low, 4), float(draw.randint(0, 3))) for _ in range(3)] for _ in range(count)]
    shared = [
        [("leaf", [], float(draw.randint(5, 9))), ("over", [draw.choice(low)], float(draw.randint(1, 4)))]
        for _ in low
    ]
    return build([*roots, *shared], range(count))


def least_cost(instance: Model) -> float:
    """The optimum of a model by trying everything."""
    nodes = instance.problem.nodes
    best = math.inf

    def visit(choice: dict[int, int], needed: list[int]) -> None:
        nonlocal best
        open_ = [c for c in needed if c not in choice]
        if not open_:
            if not unfounded(nodes, choice):
                best = min(best, instance.cost(choice))
            return
        for i, node in enumerate(nodes[open_[0]]):
            visit({**choice, open_[0]: i}, [*open_[1:], *node.kids])

    visit({}, list(instance.problem.roots))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_both_solvers_without_reductions(seed: int) -> None:
    whole = model(problem(dense_classes(seed)))
    optimum = least_cost(whole)
    for answer in (solve_milp(whole, Clock(10)), cpsat(whole, Clock(10)), cpsat(whole, Clock(10), workers=4)):
        assert answer.choice is not None
        assert answer.optimal
        assert answer.cost == pytest.approx(optimum)
        assert not unfounded(whole.problem.nodes, answer.choice)


@pytest.mark.parametrize("seed", range(60))
def test_reductions_keep_the_optimum_and_the_incumbent(seed: int) -> None:
    classes = dense_classes(seed, 8)
    whole = problem(classes)
    start = bottom_up(whole)
    upper = Solution(whole, start).cost
    small = reduced(contracted(whole, Clock(None)), upper, Clock(None))
    parts = [model(piece) for piece, _ in split(small.problem)]
    assert sum(least_cost(part) for part in parts) == pytest.approx(least_cost(model(whole)))
    assert small.lower_bound <= least_cost(model(whole)) + 1e-9
    moved = small.restrict({c: whole.nodes[c][i].origin for c, i in start.items()})
    for root in small.problem.roots:
        assert any(node.origin == moved[root] for node in small.problem.nodes[root])


@pytest.mark.parametrize("seed", range(60))
def test_a_choice_for_the_smaller_problem_costs_the_same_in_the_whole(seed: int) -> None:
    whole = problem(dense_classes(seed, 8))
    small = reduced(contracted(whole, Clock(None)), math.inf, Clock(None))
    chosen = {
        c: small.problem.nodes[c][i] for c, i in needed_only(small.problem, bottom_up(small.problem)).items()
    }
    lifted = small.lift({c: node.origin for c, node in chosen.items()})
    positions = {
        c: i
        for c, group in enumerate(whole.nodes)
        for i, node in enumerate(group)
        if node.origin == lifted.get(c)
    }
    needed = needed_only(whole, positions)
    assert sum(node.cost for node in chosen.values()) == pytest.approx(model(whole).cost(needed))
    assert not unfounded(whole.nodes, needed)


@pytest.mark.parametrize("seed", range(40))
def test_exchanges_never_lose_and_never_close_a_circle(seed: int) -> None:
    whole = problem(dense_classes(seed, 12))
    start = bottom_up(whole)
    better = exchanges(whole, start, Clock(None))
    assert not unfounded(whole.nodes, better)
    shape = model(whole)
    assert shape.cost(better) <= Solution(whole, start).cost + 1e-9
    assert shape.cost(better) == pytest.approx(Solution(whole, {**start, **better}).cost)


def lying_reply(whole: Model, **claims: Any) -> dict[str, Any]:
    """What HiGHS would say of the first choice that comes, with some claims changed."""
    choice = bottom_up(whole.problem)
    values = np.array([float(choice[c] == i) for c, i in whole.owner])
    return {"optimal": True, "objective": 0.0, "bound": 0.0, "values": values, **claims}


@pytest.mark.parametrize("claims", [{"objective": 1.0, "bound": 1.0}, {"objective": 500.0, "bound": 500.0}])
def test_optimal_with_another_cost_is_not_believed(claims: dict[str, float]) -> None:
    whole = model(problem(dense_classes(3)))
    reply = lying_reply(whole, **claims)
    choice = whole.chosen(list(reply["values"]))
    answer = milp.believed(whole, Answer(None, math.inf, 0.0), reply, 1.0, choice)
    assert answer.cost == whole.cost(choice)
    assert answer.bound == 0.0
    assert not answer.optimal


def test_lying_solver_proves_nothing_in_the_portfolio(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = tangled_classes(4, 20)
    honest = EXTRACTORS["exact"](classes)
    assert honest.proven
    assert "HiGHS" in honest.bound_by

    def lie(request: dict[str, Any], seconds: float) -> dict[str, Any]:
        del seconds
        values = np.zeros(len(request["costs"]))
        return {"optimal": True, "objective": 1e-3, "bound": 1e-3, "values": values}

    monkeypatch.setattr(HIGHS, "solve", lie)
    found = EXTRACTORS["exact"](classes)
    assert not found.proven
    assert found.lower_bound <= honest.cost <= found.cost


def test_worker_that_overruns_is_ended_and_the_next_request_works() -> None:
    whole = model(problem(dense_classes(5, 400)))
    started = time.perf_counter()
    solve_milp(whole, Clock(0.05))
    assert time.perf_counter() - started < 5
    HIGHS.close()
    assert solve_milp(model(problem(dense_classes(5))), Clock(10)).optimal


def test_interrupted_run_returns_the_best_valid_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = tangled_classes(4, 20)

    def interrupt(part: Part, clock: Clock, seed: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(import_module("saturate.extract.auto"), "_cores", interrupt)
    found = EXTRACTORS["auto"](classes)
    assert found.method.endswith("interrupted")
    assert EXTRACTORS["auto"](classes, warm=found.choice).cost <= found.cost


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.3])
@pytest.mark.parametrize("name", sorted(EXTRACTORS))
def test_short_limits_return_a_valid_answer(name: str, seconds: float) -> None:
    found = EXTRACTORS[name](dense_classes(6, 300), seconds=seconds)
    assert found.lower_bound <= found.cost < math.inf


def test_parts_of_a_graph() -> None:
    classes = build([[("f", [1], 1.0)], [("g", [0], 1.0), ("h", [2], 1.0)], [("leaf", [], 1.0)]], [0])
    part = components(problem(classes).nodes)
    assert part[0] == part[1] > part[2]


def test_units_of_cost() -> None:
    assert unit([2.0, 4.0, 0.0]) == 2.0
    assert unit([0.001, 0.25]) == 0.001
    assert unit([0.1, math.pi]) == 0.0
    assert rounded_up(11.2, 1.0) == 12.0
    assert rounded_up(12.00001, 1.0) == 12.0
    assert rounded_up(11.2, 0.0) == 11.2


def test_broken_worker_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/bin/false")
    HIGHS.close()
    with pytest.raises(ExtractionError, match="the HiGHS process ended with status"):
        solve_milp(model(problem(dense_classes(5))), Clock(10))
    HIGHS.close()


def test_threads_share_the_solver_one_after_another() -> None:
    graphs = [dense_classes(seed, 40) for seed in range(4)]
    alone = [EXTRACTORS["exact"](g).cost for g in graphs]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda g: EXTRACTORS["exact"](g).cost, graphs))
    assert together == alone
