"""Long programs in pieces: what a window holds, that they fit together again, and what is found in them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from running import assert_same_bits

import saturate as sat
from saturate import piecewise
from saturate.accuracy import Judge
from saturate.certificate import ResultCheck
from saturate.demos import gpt_arguments, gpt_loss
from saturate.improve import STOPPED, Improved, improve
from saturate.op import AnyArray
from saturate.ops.structure import Reshape
from saturate.piecewise import ALL_KEPT, ONE_KEPT, notes_of
from saturate.program import Program
from saturate.runners.evaluate import evaluate
from saturate.windows import MOST, Window, stitched, titles, windows

WRT = ("blocks", "wu")


def arguments(count: int, dtype: str = "float32", length: int = 5) -> tuple[Any, ...]:
    return gpt_arguments(count, batch=3, length=length, width=14, inner=17, words=11, heads=2, dtype=dtype)


def gradients(count: int) -> Program:
    return sat.grad(gpt_loss, *arguments(count), wrt=WRT)


def drawn(program: Program, seed: int = 0) -> list[AnyArray]:
    """Mild arguments; the mask is causal."""
    rng = np.random.default_rng(seed)
    mask: Any = arguments(1)[3]
    return [
        mask if i.name == "mask" else np.asarray(rng.standard_normal(i.type.shape) * 0.3, i.type.dtype)
        for i in program.inputs
    ]


@pytest.mark.parametrize("count", [1, 3])
def test_windows_fit_together_bit_for_bit(count: int) -> None:
    program = gradients(count)
    pieces = windows(program)
    assert len(pieces) == 2 * count
    made = stitched(program, pieces, [p.program for p in pieces])
    assert made is not None
    again = made.program
    arrays = drawn(program)
    assert_same_bits(evaluate(again, *arrays), evaluate(program, *arrays))
    assert again.inputs[0].name == program.inputs[0].name
    assert [name for name, _ in again.gradients] == [name for name, _ in program.gradients]


def test_equal_layers_are_equal_windows() -> None:
    texts = Counter(str(piece.program) for piece in windows(gradients(6)))
    assert sum(texts.values()) == 12
    assert len(texts) <= 5


def test_windows_are_called_by_their_number_and_the_names_of_their_values() -> None:
    program = gradients(3)
    pieces = windows(program)
    called = titles(program, pieces, [str(piece.program) for piece in pieces])
    assert called[:2] == ("window 1 (mu, c, h, y, …)", "window 2 (mu, c, u, x)")
    assert called[5] == "window 4 (mu, c, u, x, …)"
    assert [c.split()[1] for c in called] == ["1", "2", "3", "2", "3", "4"]


def test_a_check_names_the_window_and_its_worst_result(three: sat.Optimized) -> None:
    names = [r.name for r in three.check(trials=2).results if r.name.startswith("window")]
    assert len(names) == 4
    for name in names:
        title, _, result = name.partition("): ")
        assert title in " ".join(w.title for w in three.report.windows)
        assert result.removeprefix("gradient ") in {
            *(n.label or n.value for n in three.baseline.nodes), *(g for g, _ in three.baseline.gradients),
        }  # fmt: skip


def test_notes_name_the_windows_that_they_are_about() -> None:
    kept = Improved(gradients(1), {}, (), (), ())
    limit, work = "a search ended at its round limit", "an extraction ended at its work limit"
    windows = {
        "window 1 (mu, c)": replace(kept, notes=(limit, work)),
        "window 2 (v31)": replace(kept, notes=(limit,)),
        "window 3 (u)": replace(kept, notes=(work, limit, STOPPED)),
    }
    assert notes_of(windows) == (limit, f"window 1 (mu, c), window 3 (u): {work}", STOPPED)


def test_a_short_program_is_one_window() -> None:
    program = sat.grad(lambda x: np.sum(np.tanh(x) ** 2), sat.Type((5, 7)), wrt="x")
    (piece,) = windows(program)
    assert len(piece.program.nodes) == len(program.nodes)
    assert piece.outputs == program.results


def test_a_cut_lets_one_value_pass_and_windows_stay_small() -> None:
    program = gradients(4)
    for piece in windows(program):
        work = [n for n in piece.program.nodes if not n.op.view and n.operands]
        assert len(work) <= 4 * MOST
        made = {v for v in piece.inputs if v in program.producer}
        assert len(made) <= 4


def test_windows_that_would_wait_for_each_other_do_not_fit() -> None:
    def f(x: Any) -> Any:
        e = np.exp(x)
        return e * np.tanh(e)

    program = sat.trace(f, sat.Type((3,)))
    (x,), (e, h, out) = [i.value for i in program.inputs], [n.value for n in program.nodes]
    reads = sat.trace(lambda x, h: (np.exp(x), np.exp(x) * h), sat.Type((3,)), sat.Type((3,)))
    waits = sat.trace(lambda x, h: (np.exp(x) + h * 0, np.exp(x) * h), sat.Type((3,)), sat.Type((3,)))
    tanh = sat.trace(np.tanh, sat.Type((3,)))
    pieces = [Window(reads, (x, h), (e, out), {}), Window(tanh, (e,), (h,), {})]
    fits = stitched(program, pieces, [reads, tanh])
    assert fits is not None
    (found,), (plain,) = evaluate(fits.program, np.ones(3)), evaluate(program, np.ones(3))
    np.testing.assert_array_equal(found, plain)
    assert stitched(program, pieces, [waits, tanh]) is None


def residual(x: Any, w: Any) -> Any:
    for _ in range(20):
        x = x + np.tanh(x @ w)
    return np.sum(x)


@pytest.mark.parametrize(("refused", "note"), [(1, ONE_KEPT), (99, ALL_KEPT)])
def test_windows_that_spoil_the_whole_go_back_to_what_they_were(
    refused: int, note: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = iter(range(1000))
    plain = Judge.refused
    wrong = ResultCheck("dx", 3e-5, 1e-5, 1e-5, 2e-5, "ties", 1.0, passed=False)

    def sometimes(self: Judge, program: Program) -> ResultCheck | None:
        return wrong if next(calls) < refused else plain(self, program)

    monkeypatch.setattr(Judge, "refused", sometimes)
    best = sat.optimize(residual, sat.Type((5, 7), "float32"), sat.Type((7, 7), "float32"), wrt=("x", "w"))
    kept = [n for n in best.report.notes if note in n]
    title = "window 1 (v2, v3, v4, v5, …): " if note == ONE_KEPT else ""
    assert kept == [f"{title}{note} (dx on ties: 3.0e-05 of scale, 2.0e-05 allowed)"]
    assert best.check().passed
    assert best.report.after.cost <= best.report.before.cost * (1 + 1e-9)


@pytest.mark.parametrize(("where", "workers"), [("draw", 1), ("stitched", 2)])
def test_an_interrupt_between_windows_keeps_what_was_found(
    where: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, found, pressed = getattr(piecewise, where), list[Improved](), list[bool]()

    def searching(*args: Any, **named: Any) -> Improved:
        found.append(improve(*args, **named))
        return found[-1]

    def pressing(*args: Any, **named: Any) -> Any:
        if found and not pressed:
            pressed.append(True)
            raise KeyboardInterrupt
        return plain(*args, **named)

    monkeypatch.setattr(piecewise, "improve", searching)
    monkeypatch.setattr(piecewise, where, pressing)
    limits, w = sat.Limits(rounds=1, workers=workers), sat.Type((7, 7), "float32")
    best = sat.optimize(residual, sat.Type((5, 7), "float32"), w, wrt=("x", "w"), limits=limits)
    assert pressed
    assert STOPPED in best.report.notes
    assert best.report.check is not None
    assert len(best.behind().parts) > 1
    kept = {p.after for part in best.behind().parts for p in part.improved.passes}
    assert kept == {p.after for improved in found for p in improved.passes}


@pytest.fixture(scope="module")
def one() -> sat.Optimized:
    return sat.optimize(gpt_loss, *arguments(1), wrt=WRT)


@pytest.fixture(scope="module")
def three() -> sat.Optimized:
    return sat.optimize(gpt_loss, *arguments(3), wrt=WRT)


def ops(program: Program) -> Counter[str]:
    return Counter(n.op.name for n in program.nodes)


@pytest.mark.parametrize("which", ["one", "three"])
def test_the_block_has_the_backward_that_people_publish(which: str, request: pytest.FixtureRequest) -> None:
    best: sat.Optimized = request.getfixturevalue(which)
    layers = {"one": 1, "three": 3}[which]
    found = ops(best.program)
    assert found["equal"] == 0  # no adjoint of a maximum
    assert found["max"] == layers + 1
    assert found["exp"] == layers + 1
    assert found["tanh"] == layers
    assert best.check().passed
    assert best.report.accuracy is not None
    assert not [note for note in best.report.notes if "accurate" in note]


def test_every_layer_costs_the_same(one: sat.Optimized, three: sat.Optimized) -> None:
    before = [b.report.before.cost for b in (one, three)]
    after = [b.report.after.cost for b in (one, three)]
    assert before[1] / after[1] >= 0.97 * before[0] / after[0]


def test_the_score_tables_of_a_block_are_few() -> None:
    best = sat.optimize(gpt_loss, *arguments(1, length=31), wrt=WRT, check=False)
    tables = [n for n in best.program.nodes if n.type.shape == (3, 2, 31, 31) and not n.op.view]
    made = Counter(n.op.name for n in tables)
    assert made["matmul"] == 2  # scores, and dP; D comes from dO and O
    assert made["divide"] + made["multiply"] <= 2
    assert not any(isinstance(n.op, Reshape) for n in tables)


def test_the_whole_gives_the_values_and_gradients_of_the_program(three: sat.Optimized) -> None:
    wide = sat.grad(gpt_loss, *arguments(3, "float64"), wrt=WRT)
    arrays = drawn(three.baseline, 5)
    true = evaluate(wide, *[np.asarray(a, "float64") for a in arrays])
    found = evaluate(three.program, *arrays)
    plain = evaluate(three.baseline, *arrays)
    for t, f, p in zip(true, found, plain, strict=True):
        scale = np.max(np.abs(t))
        assert np.max(np.abs(f - t)) <= 4 * np.max(np.abs(p - t)) + 32 * np.finfo("float32").eps * scale


def test_a_value_is_explained_in_its_window(three: sat.Optimized) -> None:
    said = three.why("dblocks[2].w2")
    assert said.name == "dblocks[2].w2"
    assert said.steps or said.said
    assert re.search(r"\ba\d+\b", str(said)) is None  # inputs of the window bear the names of the whole
    assert three.why_not("common_factor", "wu").name == "wu"
    kept = three.questions.at_the_start(three.baseline).why("wu")
    assert kept.said == "computed as the program has it: no search found anything cheaper"
    with pytest.raises(sat.errors.ArgumentError, match="has no value 'nothing'"):
        three.why("nothing")


def test_provenance_names_nodes_of_both_programs(three: sat.Optimized) -> None:
    before = {n.id for n in three.baseline.nodes}
    after = {n.id for n in three.program.nodes}
    assert three.provenance
    for region in three.provenance:
        assert set(region.source_node_ids) <= before
        assert set(region.emitted_node_ids) <= after


def test_a_gradient_that_is_zero_by_luck_bars_nothing() -> None:
    """Where the block reads zeros all scores are equal, and the traced gradient of `wk` is an exact zero."""
    given = gpt_arguments(1, batch=3, length=13, width=12, inner=20, words=17, heads=3)
    best = sat.optimize(gpt_loss, *given, wrt=("blocks", "wu"), check=False)
    assert not [n for n in best.program.nodes if n.op.name == "equal"]
    assert not [note for note in best.report.notes if "accurate" in note]
