"""The log of a search: its figures are those of the searches, law by law and window by window."""

from __future__ import annotations

from collections import Counter

import pytest
from workloads import attention

import saturate as sat
from saturate.accuracy import Judge
from saturate.demos import gpt_arguments, gpt_loss
from saturate.extract.report import Report
from saturate.facts import Facts
from saturate.improve import Improved, improve
from saturate.log import growth, matched, searched, windows
from saturate.program import Program
from saturate.rules import CATALOGUE

LAWS = [law for law in CATALOGUE if law.exact == "rounding"]
TYPES = [sat.Type(shape, "float32") for shape in ((11, 3), (13, 3), (13, 2))]


def no_facts(program: Program) -> dict[str, Facts]:
    return {i.value: frozenset({"finite"}) for i in program.inputs}


@pytest.fixture(scope="module")
def baseline() -> Program:
    return sat.grad(attention, *TYPES, wrt=("q", "k", "v"))


@pytest.fixture(scope="module")
def improved(baseline: Program) -> Improved:
    return improve(baseline, LAWS, sat.Limits(), "greedy", no_facts, Judge(baseline, (), 4.0))


def test_a_law_has_its_matches_and_the_e_nodes_that_it_made(improved: Improved) -> None:
    logged = {m.name: m for m in matched(improved)}
    assert set(logged) <= {law.name for law in LAWS}
    for name, law in logged.items():
        runs = [found.search.saturation.laws[name] for found in improved.passes]
        assert law.matches == sum(run.matches for run in runs) > 0
        seconds = 0.0
        for run in runs:  # `sum` adds floats another way from Python 3.12 on
            seconds += run.seconds
        assert law.seconds == seconds
    counts = [m.matches for m in logged.values()]
    assert counts == sorted(counts, reverse=True)


def test_growth_is_all_of_the_final_graphs(improved: Improved) -> None:
    made = growth(improved)
    final = [found.search.saturation.classes for found in improved.passes]
    assert sum(made.values()) == sum(len(nodes) for classes in final for nodes in classes.nodes)
    assert made.pop("program") > 0
    logged = {m.name: m.made for m in matched(improved) if m.made}
    assert logged == dict(made)


def test_seconds_of_laws_and_facts_are_part_of_saturating(improved: Improved) -> None:
    log = searched(improved)
    assert log is not None
    assert log.seconds is not None
    assert log.others is not None
    assert list(log.seconds) == ["denote", "saturate", "span", "extract"]
    assert list(log.others) == ["laws that matched nothing", "facts"]
    inside = sum(m.seconds for m in matched(improved)) + sum(log.others.values())
    assert 0 < inside < log.seconds["saturate"] * 1.05  # the engine counts in its own ticks
    assert log.nodes == tuple(r.nodes for f in improved.passes for r in f.search.saturation.rounds)


def test_a_short_program_is_one_window(baseline: Program, improved: Improved) -> None:
    (whole,) = windows(baseline, improved, None)
    assert (whole.title, whole.times, whole.size) == ("the whole", 1, len(baseline.nodes))
    assert len(whole.nodes) == len(improved.passes)
    assert whole.rounds == sum(len(found.search.saturation.rounds) for found in improved.passes)
    assert whole.before >= improved.passes[0].before
    assert whole.after == pytest.approx(improved.passes[-1].after)


def test_nothing_searched_is_nothing_logged(baseline: Program) -> None:
    nothing = Improved(baseline, {}, (), (), ())
    assert (matched(nothing), searched(nothing), windows(baseline, nothing, None)) == ((), None, ())
    report = sat.optimize(baseline, exact="bitwise").report
    assert report.profile() == "nothing was searched"


@pytest.fixture(scope="module")
def blocks() -> Report:
    given = gpt_arguments(3, batch=3, length=5, width=14, inner=17, words=11, heads=2)
    return sat.optimize(gpt_loss, *given, wrt=("blocks", "wu"), check=False).report


def test_windows_of_three_blocks_add_up_to_the_program(blocks: Report) -> None:
    found = blocks.windows
    assert sum(w.times for w in found) == 6
    assert len({w.title for w in found}) == len(found) < 6
    assert found[0].title == "window 1 (mu, c, h, y, …)"
    before, after = sum(w.times * w.before for w in found), sum(w.times * w.after for w in found)
    assert before == pytest.approx(blocks.before.cost)
    assert after >= blocks.after.cost * (1 - 1e-9)  # what two windows compute is shared once more
    assert after <= blocks.after.cost * 1.05
    assert blocks.saturation is not None
    assert sum(w.rounds for w in found) == len(blocks.saturation.nodes)
    assert Counter(n for w in found for s in w.nodes for n in s) == Counter(blocks.saturation.nodes)
    assert all(w.after < w.before and w.size and w.seconds > 0 for w in found)


def test_the_profile_of_three_blocks_has_a_line_a_window(blocks: Report) -> None:
    text = blocks.profile()
    for w in blocks.windows:
        (line,) = [line for line in text.splitlines() if w.title in line]
        rest = line.partition(w.title)[2].split()
        assert rest[:5] == [str(n) for n in (w.times, w.size, len(w.nodes), w.rounds, w.largest)]
    assert max(map(len, text.splitlines())) <= 110
    assert "window by window" not in str(blocks)
