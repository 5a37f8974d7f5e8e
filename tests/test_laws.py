"""Every law of the catalogue, from its declaration alone: true, differentiable, at work in the e-graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from guards import GUARDS
from law_terms import Sides, facts_of, origins, run_alone

from saturate.rules import CATALOGUE, EXACTNESS, THEORIES, Law
from saturate.rules.checker import KINDS, Sampler, check
from saturate.rules.law import DIRECTIONS, Condition

CONDITIONS = [(law, c) for law in CATALOGUE for c in law.where]


def kept(law: Law) -> list[str]:
    """The conditions of a law that a guard of `GUARDS` asks for more than equality of its variables needs."""
    return [said for guard in GUARDS if guard.law is law for said in guard.asks]


def fired(law: Law, dropped: Condition | None = None) -> tuple[bool, set[str]]:
    """Whether the law matched where only its left side was loaded, and who made what its right side added.

    The right side is loaded after the laws have run, so that it only names what is there; the set is empty
    where it is not in the class of the left side. A right side inside the left one adds nothing.
    """
    sides = Sides(law, facts_of(law, dropped))
    lefts = sides.lefts()
    before = list(sides.terms.all)
    graph = run_alone(law, before)
    right = sides.right(law.right)
    added = sides.terms.all[len(before) :]
    graph.load(added)
    graph.run("facts", saturate=True)
    classes = graph.classes()
    matched = law.name in graph.runs and graph.runs[law.name].matches > 0
    if classes.of_term[right.id] not in {classes.of_term[left.id] for left in lefts if left is not right}:
        return matched, set()
    if right in before:
        return matched, {law.name}
    return matched, set[str]().union(*(origins(classes, t) for t in added))


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_a_law_is_true(law: Law) -> None:
    """Values on samples, at infinities and NaN where allowed, in a prime field where rational, and slopes."""
    assert [str(finding) for finding in check(law, trials=8 * len(KINDS))] == []


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_a_law_fires_from_its_left_side_alone(law: Law) -> None:
    matched, made = fired(law)
    assert matched
    assert law.name in made


@pytest.mark.parametrize(
    ("law", "condition"), CONDITIONS, ids=[f"{w.name}-{c.fact}-{c.variable}" for w, c in CONDITIONS]
)
def test_a_law_does_not_fire_without_a_condition(law: Law, condition: Condition) -> None:
    assert fired(law, condition) == (False, set())


@pytest.mark.parametrize(
    ("law", "condition"), CONDITIONS, ids=[f"{w.name}-{c.fact}-{c.variable}" for w, c in CONDITIONS]
)
def test_a_condition_is_needed(law: Law, condition: Condition) -> None:
    """Without it the law is false, or its rule would be, of other terms (test_guards)."""
    without = replace(law, where=tuple(c for c in law.where if c != condition))
    found = any(check(without, seed, 8 * len(KINDS)) for seed in range(3))
    assert found != (f"{condition.variable} {condition.fact}" in kept(law))


@pytest.mark.parametrize("law", [w for w in CATALOGUE if w.exact == "bounded"], ids=lambda law: law.name)
def test_a_bound_is_not_much_larger_than_it_has_to_be(law: Law) -> None:
    """`check` holds the sides to the bound; here something comes near it."""
    sample = Sampler(law, 0)
    draws = [sample.draw("normal") for _ in range(200)]
    largest = max(np.abs(sample.side(law.left, x) - sample.side(law.right, x)).max() for x in draws)
    assert 0.9 * law.bound < largest <= law.bound


def test_names_are_unique_and_every_law_says_what_it_is() -> None:
    assert len({law.name for law in CATALOGUE}) == len(CATALOGUE)
    for theory, laws in THEORIES.items():
        for law in laws:
            assert law.theory == theory
            assert law.doc
            assert law.exact in EXACTNESS
            assert law.direction in DIRECTIONS
            file, _, line = law.line.rpartition(":")
            assert file.endswith(f"{theory}.py")
            assert int(line) > 0


def test_no_law_names_a_workload() -> None:
    named = ("softmax", "attention", "norm", "entropy", "logsumexp", "gelu", "mlp")
    assert [law.name for law in CATALOGUE if any(n in law.name for n in named)] == []
