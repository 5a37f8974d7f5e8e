"""Why: chains of laws from the program's form of a value to the chosen one, all checked; and why not."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from notebook_display import shown
from optimized import NAMES as WORKLOAD_NAMES
from optimized import optimized
from workloads import layer_norm, softmax, t

import saturate as sat
from saturate.errors import ArgumentError
from saturate.proof import CONGRUENCE, CONSTANT, NORMAL_FORM
from saturate.rules import CATALOGUE, law
from saturate.rules.language import Expr, fn
from saturate.rules.law import finite
from saturate.why import LOWERED, UNTOLD

NAMES = {law.name for law in CATALOGUE} | {CONGRUENCE, CONSTANT, LOWERED}


@pytest.mark.parametrize("name", WORKLOAD_NAMES)
def test_every_result_has_a_chain_of_true_equations(name: str) -> None:
    best = optimized(name, "float64")
    for result in ("value", *(gradient for gradient, _ in best.baseline.gradients)):
        found = best.why(result)
        assert found.holds
        assert found.error < 1e-9
        assert any(s.shown for s in found.steps) != found.said.startswith("computed as the program has it")
        for step, after in pairwise(found.steps):
            assert step.right == after.left
        for step in (inner for outer in found.steps for inner in outer.every()):
            assert step.law in NAMES or step.law.startswith(NORMAL_FORM), step
            assert step.law != UNTOLD


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "logistic_regression"])
def test_every_name_has_an_answer(name: str) -> None:
    best = optimized(name, "float64")
    labels = [n.label for n in (*best.baseline.nodes, *best.program.nodes) if n.label]
    ids = [n.value for n in best.program.nodes] + [f"baseline:{n.value}" for n in best.baseline.nodes]
    for asked in (*labels, *ids):
        found = best.why(asked)
        assert found.holds
        assert found.said
        assert UNTOLD not in {inner.law for step in found.steps for inner in step.every()}


def test_the_backward_of_a_softmax_is_told() -> None:
    found = optimized("softmax", "float64").why("x")
    assert found.steps[0].left.startswith("e·de + dm·")
    assert found.steps[0].law == f"{NORMAL_FORM}: dm = 0"
    assert found.steps[-1].right == "value·(cotangent − (Σ_j cotangent·value))"
    assert set(found.laws) & {"common_factor", "common_factor_beside_a_sum"}
    text = str(found)
    assert text.startswith("x: from the program's form to the chosen one in ")
    assert "\n    = e·de    [equal normal form: dm = 0]\n" in text
    assert " equations hold on samples, to " in text
    assert f"<pre>{text.splitlines()[0].replace(chr(39), '&#x27;')}" in shown(found)["text/html"]
    assert json.loads(json.dumps(found.to_dict()))["name"] == "x"


def test_names_of_results_labels_and_ids_lead_to_the_same_value() -> None:
    best = optimized("softmax", "float64")
    (_, gradient) = best.program.gradients[0]
    chains = [best.why(name).steps for name in ("x", "dx", gradient)]
    assert chains[0] == chains[1] == chains[2]


def test_what_was_proved_a_number_says_so() -> None:
    found = optimized("softmax", "float64").why("dm")
    assert found.said == "it is the number 0, and no step is left of it"
    assert [(step.right, step.law) for step in found.steps] == [("0", f"{NORMAL_FORM}: dm = 0")]
    assert found.holds


def test_what_did_not_change_says_so() -> None:
    best = optimized("softmax", "float64")
    for name in ("m", "e", "value"):
        assert best.why(name).said == "computed as the program has it"
        assert best.why(name).steps == ()


def test_what_is_gone_says_so() -> None:
    best = optimized("softmax", "float64")
    assert best.why("de").said == "computed no longer: what read it is computed in another form"
    mask = next(n.value for n in best.baseline.nodes if type(n.op).__name__ == "Cast")
    assert best.why(mask).said == "no longer needed: what read it is a number, or computed in another form"


def test_what_is_new_says_what_it_is_and_whom_it_serves() -> None:
    best = optimized("softmax", "float64")
    (new,) = [n.value for n in best.program.nodes if type(n.op).__name__ == "VecDot"]
    (reader,) = [n.value for n in best.program.nodes if type(n.op).__name__ == "Sub" and n.id != "n3"]
    assert best.why(new).said == (
        f"{new} is Σ_j cotangent·value, which the program does not compute; it serves {reader}: ask there"
    )
    assert best.why(reader).said.endswith("which the program does not compute; it serves dx: ask there")


def test_an_unknown_name_lists_those_that_there_are() -> None:
    with pytest.raises(ArgumentError) as refused:
        optimized("trace_of_product", "float64").why("nope")
    assert str(refused.value).startswith("trace_of_product has no value 'nope'. There are a, b, value, ")
    with pytest.raises(ArgumentError, match="has no value 'valeu': is it value"):
        optimized("trace_of_product", "float64").why("valeu")


def test_an_id_of_the_baseline_can_be_asked_for_beside_one_of_the_result() -> None:
    best = optimized("softmax", "float64")
    ids = {n.value for n in best.baseline.nodes} & {n.value for n in best.program.nodes}
    assert ids
    for value in ids:
        assert best.why(value).holds
        assert best.why(f"baseline:{value}").holds


def test_without_a_search_nothing_was_changed() -> None:
    best = sat.optimize(softmax, t(5, 7), wrt="x", exact="bitwise")
    assert best.why("x").said == "computed as the program has it: no search found anything cheaper"
    found = best.why_not("common_factor", "x")
    assert found.notes == ("it was not tried: its class is rounding, and exact='bitwise'",)


def test_a_fact_that_a_type_brings_lets_a_law_match() -> None:
    def f(x: Any) -> Any:
        return np.sqrt(x) * np.sqrt(x)

    found = sat.optimize(f, t(7), check=False).why_not("root_squared", "value")
    assert found.said == "a = x is not known to be nowhere negative"
    best = sat.optimize(f, t(7, low=0.0), check=False)
    assert best.why_not("root_squared", "value").matches
    assert [step.law for step in best.why("value").steps] == ["root_squared", "product_of_one"]


def test_a_chain_is_told_for_a_target_of_few_ops() -> None:
    ops = "max sub exp sum div mul broadcast reshape".split()
    best = sat.optimize(softmax, t(5, 7), wrt="x", target=sat.Target(ops=ops), check=False)
    found = best.why("x")
    assert found.steps
    assert found.holds
    assert UNTOLD not in {step.law for step in found.steps}


@law(a="i", unchecked=True)
def sine_is_its_angle(a: Expr) -> tuple[Expr, Expr]:
    """sin(a) = a, nearly, at small angles."""
    return fn("sin", a), a


def test_an_equation_that_is_false_is_shown_to_be() -> None:
    def f(x: Any) -> Any:
        return np.exp(np.sin(x))

    best = sat.optimize(f, t(5), rules=[sine_is_its_angle], accuracy=None, check=False)
    found = best.why("value")
    assert not found.holds
    assert found.error > 1e-3
    assert "DO NOT ALL HOLD" in str(found)


# why not


def test_a_law_that_matches_says_with_what() -> None:
    found = optimized("softmax", "float64").why_not("common_factor_beside_a_sum", "de")
    assert found.matches
    assert (found.guard, found.said) == ("", "")
    assert found.held == found.conditions
    assert found.terms["a"] == "1/(Σ_j e)"
    assert str(found).startswith("common_factor_beside_a_sum matches at de\n    Σ_j (a[i]·b[i,j])")


def test_a_law_that_does_not_match_says_what_fails_first() -> None:
    found = optimized("softmax", "float64").why_not("log_of_exp", "e")
    assert not found.matches
    assert found.guard.startswith('(= e (Fn1 "log"')
    assert found.said == "e is log(…) in none of its known forms"
    assert "1 of 3 conditions hold at best" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["matches"] is False


def test_a_condition_that_is_not_known_is_named_with_its_operand() -> None:
    def f(x: Any) -> Any:
        return x / np.sqrt(x) + np.tanh(x)

    best = sat.optimize(f, np.where(np.arange(7.0) > 4, np.inf, 0.5), check=False)
    value = next(n.value for n in best.baseline.nodes if type(n.op).__name__ == "Div")
    found = best.why_not("over_its_root", f"baseline:{value}")
    assert found.guard == "(nonzero a)"
    assert found.said == "a = x is not known to be nowhere zero"


def test_a_law_that_was_not_tried_says_why() -> None:
    best = optimized("softmax", "float64")
    note = "it was not tried: its class is domain, and exact='rounding'"
    assert best.why_not("exp_of_sum", "e").notes == (note,)

    @law(a="i", where=finite("a"))
    def sine_of_nothing(a: Expr) -> tuple[Expr, Expr]:
        """sin(a) = sin(1·a)."""
        return fn("sin", a), fn("sin", 1 * a)

    found = best.why_not(sine_of_nothing, "e")
    assert found.notes == ("it was not tried: it was not among the rules",)
    assert "it was not tried: it was not among the rules" in str(found)


def test_an_identity_is_told_from_a_law() -> None:
    with pytest.raises(ArgumentError, match="trace_is_cyclic is an identity that needs no law: both sides"):
        optimized("softmax", "float64").why_not("trace_is_cyclic", "value")


def test_an_unknown_law_is_refused_with_the_nearest() -> None:
    with pytest.raises(ArgumentError) as refused:
        optimized("softmax", "float64").why_not("comon_factor", "x")
    assert str(refused.value).startswith(
        "why_not needs a law, or the name of one; there is no law 'comon_factor': is it common_factor"
    )


def test_asking_does_not_change_answers() -> None:
    best = sat.optimize(layer_norm, t(5, 7), t(7), t(7), wrt="x", check=False)
    first = str(best.why("x"))
    best.why_not("common_factor", "x")
    assert str(best.why("x")) == first
    again = sat.optimize(layer_norm, t(5, 7), t(7), t(7), wrt="x", check=False)
    again.why_not("common_factor", "x")
    assert str(again.why("x")) == first
