"""The lattice of ways to compute: chains of matrices at their optimum, prices, and what is left out."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from lattices import random_extraction, searched
from op_checks import run
from running import arguments, joint
from workloads import WORKLOADS, chain

from saturate import Type
from saturate.extract import EXTRACTORS
from saturate.extract.costs import Pass, Profile, roofline
from saturate.search import emit
from saturate.trace import trace

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61)


def sizes_of(length: int, seed: int) -> list[int]:
    """Distinct primes, one more than matrices."""
    rng = np.random.default_rng([length, seed])
    return [int(p) for p in rng.choice(PRIMES, length + 1, replace=False)]


def optimum(sizes: list[int], profile: Profile) -> float:
    """The cheapest order of a chain by dynamic programming over its intervals."""

    def product(i: int, k: int, j: int) -> float:
        out, reads = sizes[i] * sizes[j], sizes[i] * sizes[k] + sizes[k] * sizes[j]
        return roofline(Pass("dot", out, reads, 8, 2.0 * out * sizes[k], 1), profile)

    @cache
    def best(i: int, j: int) -> float:
        return min((best(i, k) + best(k, j) + product(i, k, j) for k in range(i + 1, j)), default=0.0)

    return best(0, len(sizes) - 1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("length", [3, 4, 5, 6])
def test_a_chain_of_matrices_is_multiplied_in_the_cheapest_order(length: int, seed: int) -> None:
    sizes = sizes_of(length, seed)
    program = trace(chain, *(Type(shape) for shape in pairwise(sizes)))
    for profile in (Profile(), Profile(call=0.0, product=0.0, bandwidth=1e9, cached=1e9)):
        found = searched(program, profile=profile)
        extraction = EXTRACTORS["auto"](found.classes)
        assert extraction.cost == pytest.approx(optimum(sizes, profile), rel=1e-9)
        arrays = arguments(program)
        (value,) = run(emit(found, extraction).program, arrays)
        np.testing.assert_allclose(value, run(program, arrays)[0], rtol=1e-9, atol=1e-8)


def test_every_value_can_be_computed_and_every_price_is_a_number() -> None:
    for load in WORKLOADS[:8]:
        found = searched(joint(load))
        lattice = found.lattice
        assert all(lattice.steps)
        for value, steps in enumerate(lattice.steps):
            for step in steps:
                assert 0 <= lattice.price(value, step) < 1e9
                assert value not in step.args
            assert len({(s.kind, s.head, s.args) for s in steps}) == len(steps)


def test_no_random_choice_is_cheaper_than_the_extracted_one() -> None:
    found = searched(joint(WORKLOADS[0]))
    best = EXTRACTORS["auto"](found.classes)
    rng = np.random.default_rng(0)
    costs = [random_extraction(found.classes, rng).cost for _ in range(64)]
    assert min(costs) >= best.cost
    assert best.lower_bound <= best.cost
    assert max(costs) > best.cost


def test_nothing_wider_than_what_it_is_made_of_and_made_for_is_formed() -> None:
    """A product over five matrices has no outer products among its ways."""
    sizes = sizes_of(5, 0)
    program = trace(chain, *(Type(shape) for shape in pairwise(sizes)))
    lattice = searched(program).lattice
    widest = max([sizes[0] * sizes[-1], *(a * b for a, b in pairwise(sizes))])
    assert max(lattice.size(free) for free in lattice.free) <= widest
