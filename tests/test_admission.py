"""A user's laws in `optimize`: true ones work, false ones are refused with a witness, unless insisted on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from refuted import REFUTED, Refuted

import saturate as sat
from saturate.admission import admitted, strangers
from saturate.errors import ArgumentError, LawError
from saturate.rules import BITWISE, CATALOGUE, DOMAIN, Law, law
from saturate.rules.checker import same
from saturate.rules.language import Expr, fn
from saturate.rules.law import nonneg
from saturate.rules.witness import example, refutation, simplest
from saturate.trial import IDLE, trial

WAVE = sat.Type((5, 7))


def sin(a: Expr) -> Expr:
    return fn("sin", a)


def cos(a: Expr) -> Expr:
    return fn("cos", a)


@law(a="i")
def squares_of_sine_and_cosine(a: Expr) -> tuple[Expr, Expr]:
    """sin(a)·sin(a) = 1 − cos(a)·cos(a)."""
    return sin(a) * sin(a), 1 - cos(a) * cos(a)


@law(a="i")
def sine_is_odd_twice(a: Expr) -> tuple[Expr, Expr]:
    """sin(a) = sin(2·a)/2, which is false."""
    return sin(a), sin(2 * a) / 2


@law(a="i", unchecked=True)
def sine_is_its_angle(a: Expr) -> tuple[Expr, Expr]:
    """sin(a) = a, nearly, at small angles."""
    return sin(a), a


def wave(x: Any) -> Any:
    return np.sin(x) * np.sin(x) + np.cos(x) * np.cos(x)


def test_a_law_of_a_user_is_used() -> None:
    best = sat.optimize(wave, WAVE, rules=[*CATALOGUE, squares_of_sine_and_cosine])
    assert [m.name for m in best.report.matched].count("squares_of_sine_and_cosine") == 1
    assert best.report.notes == ()
    assert best.report.after.cost < best.report.before.cost / 3
    np.testing.assert_array_equal(best(np.ones((5, 7))), np.ones((5, 7)))


def test_the_source_states_the_law_of_a_user() -> None:
    def f(x: Any) -> Any:
        return np.sin(x) * np.cos(x)

    @law(a="i")
    def sine_of_twice_the_angle(a: Expr) -> tuple[Expr, Expr]:
        """sin(a)·cos(a) = sin(2·a)/2."""
        return sin(a) * cos(a), sin(2 * a) / 2

    best = sat.optimize(f, WAVE, rules=[sine_of_twice_the_angle])
    assert "# sine_of_twice_the_angle: sin(a)·cos(a) = sin(2·a)/2." in best.source()


def test_a_false_law_is_refused_with_its_witness() -> None:
    with pytest.raises(LawError) as refused:
        sat.optimize(wave, WAVE, rules=[*CATALOGUE, sine_is_odd_twice])
    assert str(refused.value) == (
        f"law sine_is_odd_twice ({sine_is_odd_twice.line}) is false and enters no e-graph: the sides differ "
        "at a = 1.: 0.8415, 0.4546; correct it, give it a condition (where=), or insist with unchecked=True"
    )
    assert refused.value.code == "law"


@pytest.mark.parametrize("case", REFUTED, ids=lambda case: case.law.name)
def test_no_refuted_law_is_admitted(case: Refuted) -> None:
    with pytest.raises(LawError, match=f"law {case.law.name} .* is false and enters no e-graph: the sides"):
        admitted([case.law], "bounded")


def test_an_unchecked_law_enters_and_the_report_says_so() -> None:
    best = sat.optimize(np.sin, WAVE, rules=[sine_is_its_angle], accuracy=None, check=False)
    assert best.program.nodes == ()
    said = (
        f"law sine_is_its_angle was not checked, as its declaration says (unchecked=True, "
        f"{sine_is_its_angle.line}): sin(a) = a, nearly, at small angles."
    )
    assert best.report.notes == (said, "accuracy was not measured: accuracy=None")
    assert "law sine_is_its_angle was not checked" in " ".join(str(best.report).split())
    assert said in best.report.to_dict()["notes"]


def test_the_check_of_the_result_still_refuses_what_an_unchecked_law_broke() -> None:
    best = sat.optimize(np.sin, WAVE, rules=[sine_is_its_angle], accuracy=None)
    assert best.report.check is not None
    assert any("the check refused the optimized program" in note for note in best.report.notes)
    assert any("was not checked, as its declaration says" in note for note in best.report.notes)
    np.testing.assert_array_equal(best(np.ones((5, 7))), np.sin(np.ones((5, 7))))


def test_a_law_that_exact_does_not_admit_is_not_asked() -> None:
    false = replace(sine_is_odd_twice, exact=DOMAIN)
    assert admitted([false], "rounding") == ()
    with pytest.raises(LawError):
        admitted([false], "domain")
    assert {w.exact for w in admitted(None, "bitwise")} <= {BITWISE}


def test_a_law_of_the_catalogue_with_other_egglog_text_is_a_stranger() -> None:
    """Its text may say something else than its sides; what went through a pickle is no stranger."""
    known = CATALOGUE[0]
    other = replace(known, egglog=('(= e (Fn1 "sin" d a))', "(union e a)"))
    assert other != known
    assert strangers([known, replace(known), other]) == (other,)


@pytest.mark.parametrize(
    ("rules", "says"),
    [
        (7, "rules needs a list of laws, such as [*CATALOGUE, mine], got 7"),
        ([7], "rules needs laws declared with @law, got 7"),
    ],
)
def test_what_is_no_list_of_laws_is_refused(rules: Any, says: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        sat.optimize(np.sin, WAVE, rules=rules)
    assert str(refused.value) == says


def test_a_witness_is_as_simple_as_can_be() -> None:
    found = {r.law.name: str(refutation(r.law)) for r in REFUTED}
    assert found["x_over_x"] == "x_over_x: the sides differ at a = 0.: nan, 1."
    assert found["exp_of_sum_is_sum"] == (
        "exp_of_sum_is_sum: the sides differ at a = 1., b = 1.: 7.3891, 5.4366"
    )
    assert found["maximum_of_sum"] == "maximum_of_sum: the sides differ at a = [-2., 2.]: 0., 2."
    assert found["difference_with_itself"].endswith("the sides differ at infinities at a = inf: nan, 0.")
    assert found["choice_of_the_larger_at_nan"].endswith(
        "the sides differ at NaN at a = nan, b = 1.: 1., nan"
    )
    assert found["off_by_a_hundred_millionth"].endswith("at a = 1.: 1., 1.00000001")


def test_true_laws_have_no_witness_and_an_example() -> None:
    for true in CATALOGUE:
        assert simplest(true) is None
        shown = example(true)
        assert shown.left is not None
        assert shown.right is not None
        assert same(true, shown.left, shown.right)


def test_a_law_over_an_unknown_function_is_refused_where_it_is_declared() -> None:
    def misspelt(a: Expr) -> tuple[Expr, Expr]:
        """expp(a) = exp(a)."""
        return fn("expp", a), fn("exp", a)

    with pytest.raises(LawError) as refused:
        law(a="i")(misspelt)
    assert str(refused.value) == (
        "law misspelt needs elementwise functions by the names of their ops, got 'expp': "
        "is it exp or exp2 or expm1?"
    )


@law(a="i", egglog=('(= e (Fn1 "tanh" d a))', '(union e (Fn1 "sin" d a))'))
def says_one_thing(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = 1·tanh(a), and its text makes a sine of it."""
    return fn("tanh", a), 1 * fn("tanh", a)


@law(a="i", egglog=('(= e (Fn1 "tanh" d a)) (= a (Exponential e))', "(union e e)"))
def cannot_run(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = 1·tanh(a), in words that the engine has not."""
    return fn("tanh", a), 1 * fn("tanh", a)


@law(a="i", egglog=('(= e (Fn1 "sinh" d a))', '(union e (Fn1 "sinh" d a))'))
def never_matches(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = 1·tanh(a), where its text looks for sinh."""
    return fn("tanh", a), 1 * fn("tanh", a)


def test_a_rule_that_makes_what_is_not_equal_is_refused() -> None:
    with pytest.raises(LawError) as refused:
        sat.optimize(np.tanh, WAVE, rules=[says_one_thing])
    said = str(refused.value)
    assert said.startswith(
        f"law says_one_thing ({says_one_thing.line}) enters no e-graph: its two sides are equal, but its "
        "rule makes what is not equal to tanh(a[i:2]): says_one_thing: "
    )
    assert said.endswith("; correct its egglog text, or insist with unchecked=True")


@law(a="i", egglog=('(= e (Fn1 "tanh" d a))', "(union e a)"))
def makes_nothing_new(a: Expr) -> tuple[Expr, Expr]:
    """tanh(a) = 1·tanh(a), and its text joins it with a."""
    return fn("tanh", a), 1 * fn("tanh", a)


@law(a="i", where=nonneg("a"), egglog=('(= e (Fn1 "abs" d a))', "(union e a)"))
def asks_for_nothing(a: Expr) -> tuple[Expr, Expr]:
    """|a| = a where a is not negative, which its text does not ask."""
    return fn("abs", a), a


def test_a_rule_that_joins_what_is_not_equal_is_refused() -> None:
    assert "its rule makes what is not equal to tanh(a[i:2]): makes_nothing_new: " in trial(makes_nothing_new)


def test_a_rule_without_a_condition_of_its_law_is_refused() -> None:
    said = "its egglog text does not ask for its condition: write (nonneg a) among its facts"
    assert trial(asks_for_nothing) == said
    with pytest.raises(LawError, match="does not ask for its condition"):
        sat.optimize(np.abs, WAVE, rules=[*CATALOGUE, asks_for_nothing])


def test_a_rule_that_cannot_run_is_refused_by_name() -> None:
    with pytest.raises(LawError, match=r"law cannot_run .* enters no e-graph: true on every sample, "):
        sat.optimize(np.tanh, WAVE, rules=[cannot_run])


def test_a_rule_that_matches_nothing_harms_nothing() -> None:
    assert trial(never_matches) == IDLE
    assert admitted([never_matches], "rounding") == (never_matches,)


@pytest.mark.parametrize("true", CATALOGUE, ids=lambda true: true.name)
def test_every_rule_of_the_catalogue_passes_the_trial(true: Law) -> None:
    assert trial(true) == ""
