"""No law is idle: each matches in a workload, in a pair of forms or in a program of its own, and pays."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from law_programs import PROGRAMS
from running import joint
from stable_pairs import CHEAPER, PAIRS
from workloads import WORKLOADS

import saturate as sat
from saturate.program import Program
from saturate.rules import BITWISE, CATALOGUE, ROUNDING, Law
from saturate.search import search

BY_NAME = {law.name: law for law in CATALOGUE}
SURE = [law for law in CATALOGUE if law.exact in (BITWISE, ROUNDING)]


def matched(program: Program, laws: Sequence[Law]) -> set[str]:
    found = search(program, laws, sat.Limits(nodes=5000))
    return {name for name, run in found.saturation.laws.items() if run.matches}


def test_every_law_matches_somewhere() -> None:
    used = set[str]().union(*(matched(joint(load), SURE) for load in WORKLOADS))
    pairs = (form for pair in (*PAIRS, *CHEAPER) for form in (pair.stable, pair.other))
    types = (pair.types for pair in (*PAIRS, *CHEAPER) for _ in range(2))
    forms = [*zip(pairs, types, strict=True), *PROGRAMS.values()]
    used = used.union(*(matched(sat.trace(f, *given), CATALOGUE) for f, given in forms))
    assert set(BY_NAME) - used == set()


PAYING = [n for n in PROGRAMS if BY_NAME[n].theory != "ring" and n != "reciprocal_of_number"]
"""Without the ring and numbers, which tidy what other laws make: normal forms can do the same."""


@pytest.mark.parametrize("name", PAYING)
def test_a_law_pays_in_its_program(name: str) -> None:
    f, types = PROGRAMS[name]
    exact = BY_NAME[name].exact if BY_NAME[name].exact != BITWISE else ROUNDING
    best = sat.optimize(f, *types, exact=exact)
    without = sat.optimize(
        f, *types, exact=exact, rules=[w for w in CATALOGUE if w.name != name], check=False
    )
    assert best.report.after.cost < without.report.after.cost
    assert best.report.notes == ()


def test_a_bound_stands_in_the_report_and_in_the_certificate() -> None:
    f, types = PROGRAMS["erf_is_nearly_a_tanh"]
    best = sat.optimize(f, *types, wrt=0, exact="bounded")
    stated = "erf_is_nearly_a_tanh: erf(a) ≈ tanh(2/√π·(a + 0.08943·a³)), within 3.6e-4."
    assert stated in best.report.assumptions
    assert stated in str(best.report)
    assert "+ 4 × 0.00036 of scale, the bound of a law" in str(best.check())
    assert "Tanh" in {type(n.op).__name__ for n in best.program.nodes}
    plain = sat.optimize(f, *types, wrt=0)
    assert "Tanh" not in {type(n.op).__name__ for n in plain.program.nodes}
    assert "bound" not in str(plain.check())
