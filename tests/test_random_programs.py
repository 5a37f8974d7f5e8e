"""Random programs through the whole road: as near to a wider reference as the baseline, and checked."""

from __future__ import annotations

from pathlib import Path
from random import Random

from fuzz_programs import STEPS, fuzz_program
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import saturate as sat
from saturate.samples import samples

COUNT = 100
"""Programs here; `python benchmarks/fuzz.py` runs 2,000, with the default limits."""
LIMITS = sat.Limits(rounds=2, nodes=500)
DATA = Path(__file__).parent / "data"


@settings(
    max_examples=COUNT,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.randoms(use_true_random=False), st.integers(0, 2**16))
def test_a_random_program_is_no_worse_than_its_baseline(random: Random, seed: int) -> None:
    """At most four times the baseline's error and 16 ulp of scale, as the check says; never dearer."""
    program = fuzz_program(random)
    data = [sample.arrays for sample in samples(program.inputs, seed, 3)]
    best = sat.optimize(program, limits=LIMITS, samples=data, check=False)
    assert best.report.after.cost <= best.report.before.cost
    certificate = best.check(trials=3, seed=seed + 1)
    assert certificate.passed, f"{certificate}\n{program}"


def test_the_programs_are_what_they_are_meant_to_be() -> None:
    programs = [fuzz_program(Random(seed)) for seed in range(COUNT)]
    assert all(len(p.nodes) >= STEPS for p in programs)
    assert sum(len(p.outputs) > 1 for p in programs) > COUNT // 2
    assert sum(bool(p.gradients) for p in programs) > COUNT // 2
    ranks = {len(t.shape) for p in programs for t in p.types.values()}
    assert ranks >= {0, 1, 2, 3}
    assert any(1 in t.shape for t in programs[0].types.values())
    shared = [p for p in programs if any(len(r) > 2 for r in p.readers.values())]
    assert len(shared) == COUNT
    ops = {type(n.op).__name__ for p in programs for n in p.nodes}
    assert ops >= {
        "Matmul",
        "Max",
        "Mean",
        "Where",
        "Logaddexp",
        "Hypot",
        "Concatenate",
        "Transpose",
        "Log1p",
    }


def test_a_random_program_that_once_failed() -> None:
    """log(1 + t²) for log1p(t²), which no drawn sample of the search showed to lose digits."""
    program = sat.parse((DATA / "log_of_one_and_a_square.txt").read_text("utf-8"))
    best = sat.optimize(program)
    assert best.check(trials=8, seed=1).passed
