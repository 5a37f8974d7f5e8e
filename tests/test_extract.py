"""Every extractor keeps its promise on small random graphs, where the optimum is found by trying
everything.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from saturate.errors import ExtractionError
from saturate.extract import EXTRACTORS, Classes, Extraction
from saturate.extract.classes import build
from saturate.extract.clock import Stopwatch
from saturate.extract.extraction import extraction, ordered, price

BATCHES = 20
BATCH = 60
PROVING = ("exact", "auto")


def random_classes(seed: int) -> Classes:
    """Up to eight classes: cycles, self-loops, shared nodes, zero costs, empty classes, several roots."""
    draw = random.Random(seed)
    count = draw.randint(1, 8)
    whole = draw.random() < 0.4
    groups = []
    for _ in range(count):
        nodes = []
        for _ in range(draw.choice([0, 1, 1, 2, 2, 3])):
            children = [draw.randrange(count) for _ in range(draw.choice([0, 0, 1, 2, 2, 3]))]
            cost = (
                float(draw.randint(0, 4)) if whole else draw.choice([0.0, draw.random(), draw.random() * 10])
            )
            nodes.append(("op", children, cost))
        groups.append(nodes)
    return build(groups, [draw.randrange(count) for _ in range(draw.randint(1, 3))])


def brute_force(classes: Classes) -> float:
    """The least cost over all choices; infinite where there is none.

    Tries every node of every needed class.
    """
    best = math.inf

    def visit(choice: dict[int, int], needed: list[int]) -> None:
        nonlocal best
        open_ = [c for c in needed if c not in choice]
        if not open_:
            if not circular(classes, choice):
                best = min(best, sum(classes.nodes[c][i].cost for c, i in choice.items()))
            return
        c = open_[0]
        for i, node in enumerate(classes.nodes[c]):
            visit({**choice, c: i}, [*open_[1:], *node.children])

    visit({}, list(classes.roots))
    return best


def circular(classes: Classes, choice: Mapping[int, int]) -> bool:
    """Whether leaves cannot be peeled off until nothing is left."""
    left = dict(choice)
    while left:
        peeled = [c for c, i in left.items() if not set(classes.nodes[c][i].children) & left.keys()]
        if not peeled:
            return True
        for c in peeled:
            del left[c]
    return False


def assert_promise(classes: Classes, found: Extraction, optimum: float) -> None:
    """The choice is valid and complete, the cost is its cost, the bound is one, and a proof is right."""
    needed = set(classes.roots)
    for c, i in reversed(list(found.choice.items())):
        assert c in needed, f"class {c} is chosen and not needed"
        needed |= set(classes.nodes[c][i].children)
    assert needed == found.choice.keys()
    assert not circular(classes, found.choice)
    seen: set[int] = set()
    for c, i in found.choice.items():
        assert set(classes.nodes[c][i].children) <= seen, "children stand before their users"
        seen.add(c)
    assert found.cost == pytest.approx(math.fsum(classes.nodes[c][i].cost for c, i in found.choice.items()))
    assert found.lower_bound <= optimum + 1e-6
    assert found.cost >= optimum - 1e-6
    assert not found.proven or found.cost == pytest.approx(optimum, abs=1e-6)


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("name", sorted(EXTRACTORS))
def test_agrees_with_brute_force(name: str, batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        classes = random_classes(seed)
        optimum = brute_force(classes)
        if optimum == math.inf:
            with pytest.raises(ExtractionError, match="nothing can be extracted for root class"):
                EXTRACTORS[name](classes)
            continue
        found = EXTRACTORS[name](classes, seconds=10, seed=seed)
        assert_promise(classes, found, optimum)
        assert found.proven or name not in PROVING, f"seed {seed}: {found}"


@pytest.mark.parametrize("name", sorted(EXTRACTORS))
def test_same_seed_same_choice(name: str) -> None:
    for seed in range(100):
        classes = random_classes(seed)
        if brute_force(classes) < math.inf:
            first, second = (EXTRACTORS[name](classes, seed=7) for _ in range(2))
            assert first.choice == second.choice


@pytest.mark.parametrize("name", sorted(EXTRACTORS))
def test_never_above_a_warm_start(name: str) -> None:
    for seed in range(100):
        classes = random_classes(seed)
        if brute_force(classes) < math.inf:
            best = EXTRACTORS["auto"](classes)
            assert EXTRACTORS[name](classes, warm=best.choice).cost == pytest.approx(best.cost, abs=1e-6)


def test_counted_work_proves_small_graphs_without_a_clock() -> None:
    for seed in range(200):
        classes = random_classes(seed)
        if (optimum := brute_force(classes)) < math.inf:
            found = EXTRACTORS["auto"](classes, seconds=None)
            assert_promise(classes, found, optimum)
            assert found.proven
            assert found.choice == EXTRACTORS["auto"](classes, seconds=None).choice


def test_shared_class_is_paid_once() -> None:
    classes = build(
        [
            [("add", [1, 2], 1.0)],
            [("f", [3], 1.0), ("cheap", [], 5.0)],
            [("g", [3], 1.0), ("cheap", [], 5.0)],
            [("costly", [], 6.0)],
        ],
        [0],
    )
    assert EXTRACTORS["tree"](classes).cost == 11.0
    assert EXTRACTORS["auto"](classes).cost == 9.0


def test_result_tells_how_it_was_made() -> None:
    found = EXTRACTORS["auto"](build([[("a", [], 2.0), ("b", [], 3.0)]], [0]))
    assert (found.choice, found.cost, found.lower_bound, found.proven) == ({0: 0}, 2.0, 2.0, True)
    assert found.method == "auto: tree"
    assert found.bound_by == "classes that every extraction contains"
    assert found.seconds > 0


def test_no_roots_need_nothing() -> None:
    for name in EXTRACTORS:
        assert EXTRACTORS[name](build([[("a", [], 2.0)]], [])).choice == {}


def wrong_tree_cost(classes: Classes) -> Extraction:
    """Counts a shared class once for each user."""
    found = EXTRACTORS["greedy"](classes)
    paid = sum(
        node.cost * max(1, len(node.children))
        for node in (classes.nodes[c][i] for c, i in found.choice.items())
    )
    return Extraction(found.choice, paid, 0.0, False, "wrong", "")


def wrong_proof(classes: Classes) -> Extraction:
    """Claims that the first nodes that come are the optimum."""
    found = EXTRACTORS["tree"](classes)
    return Extraction(found.choice, found.cost, found.cost, True, "wrong", "")


def wrong_bound(classes: Classes) -> Extraction:
    """Claims a bound above the optimum."""
    found = EXTRACTORS["auto"](classes)
    return Extraction(found.choice, found.cost, found.cost * 1.01 + 0.01, False, "wrong", "")


def wrong_rest(classes: Classes) -> Extraction:
    """Leaves in a class that nothing needs."""
    found = EXTRACTORS["tree"](classes)
    extra = {c: 0 for c, group in enumerate(classes.nodes) if group and c not in found.choice}
    choice = {**extra, **found.choice}
    return Extraction(choice, price(classes, choice), 0.0, False, "wrong", "")


@pytest.mark.parametrize("wrong", [wrong_tree_cost, wrong_proof, wrong_bound, wrong_rest])
def test_planted_wrong_extractor_is_caught(wrong: Callable[[Classes], Extraction]) -> None:
    caught = 0
    for seed in range(200):
        classes = random_classes(seed)
        if (optimum := brute_force(classes)) < math.inf:
            try:
                assert_promise(classes, wrong(classes), optimum)
            except AssertionError:
                caught += 1
    assert caught >= 3


def test_choice_that_runs_in_a_circle_is_refused() -> None:
    classes = build([[("f", [1], 1.0)], [("g", [0], 1.0), ("leaf", [], 1.0)]], [0])
    with pytest.raises(ExtractionError) as error:
        ordered(classes, {0: 0, 1: 0})
    assert str(error.value) == (
        "the choice runs in a circle: node '1.0' of class '1' needs class '0', which needs it"
    )


def test_choice_that_lacks_a_class_is_refused() -> None:
    classes = build([[("f", [1], 1.0)], [("leaf", [], 1.0)]], [0])
    with pytest.raises(ExtractionError) as error:
        extraction(classes, {0: 0}, lower_bound=0.0, method="", bound_by="", watch=Stopwatch(""))
    assert str(error.value) == "class '1' is needed and has no chosen node"
    assert error.value.code == "choice"


def test_warm_start_must_be_valid() -> None:
    classes = build([[("f", [1], 1.0)], [("leaf", [], 1.0)]], [0])
    for name in EXTRACTORS:
        with pytest.raises(ExtractionError, match="class '1' is needed and has no chosen node"):
            EXTRACTORS[name](classes, warm={0: 0})


@pytest.mark.parametrize("name", sorted(EXTRACTORS))
def test_times_are_told_by_stage_and_not_compared(name: str) -> None:
    classes = build([[("f", [1, 2], 1.0)], [("g", [2], 1.0)], [("leaf", [], 1.0)]], [0])
    found = EXTRACTORS[name](classes, seed=3)
    assert {"reading", "trees", "check"} <= found.times.keys()
    assert all(spent >= 0 for spent in found.times.values())
    assert found.seconds == sum(found.times.values())
    assert found == replace(found, times={})
