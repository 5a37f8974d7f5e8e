"""Any choice out of the e-graph that optimizing ends with is worth what the baseline is."""

from __future__ import annotations

import numpy as np
import pytest
from lattices import LAWS, random_extraction
from op_checks import run
from running import arguments, joint
from workloads import WORKLOADS, Workload

from saturate.facts import Facts
from saturate.improve import improve
from saturate.leaf_facts import input_facts
from saturate.program import Program
from saturate.saturation import Limits
from saturate.search import emit

CHOICES = 32


def facts(program: Program) -> dict[str, Facts]:
    return {given.value: input_facts(given.type) for given in program.inputs}


@pytest.mark.parametrize("load", WORKLOADS, ids=lambda load: load.name)
def test_random_choices_out_of_the_final_e_graph_agree_with_the_baseline(load: Workload) -> None:
    program = joint(load)
    improved = improve(program, LAWS, Limits(), "auto", facts, lambda *_: None)
    found = improved.passes[-1].search
    arrays = [arguments(program, seed) for seed in range(2)]
    expected = [run(program, given) for given in arrays]
    rng = np.random.default_rng(0)
    for _ in range(CHOICES):
        chosen = emit(found, random_extraction(found.classes, rng)).program
        named = [i.name for i in program.inputs]
        for given, true in zip(arrays, expected, strict=True):
            by_name = dict(zip(named, given, strict=True))
            results = run(chosen, [by_name[i.name] for i in chosen.inputs])
            for mine, theirs in zip(results, true, strict=True):
                assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype)
                scale = float(np.abs(theirs).max(initial=1.0))
                np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8 * scale, err_msg=str(chosen))
