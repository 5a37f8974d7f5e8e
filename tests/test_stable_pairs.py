"""Each pair of forms stands in one class; samples decide which of them is returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from stable_pairs import CHEAPER, PAIRS, Pair

import saturate as sat
from saturate.certificate import Certificate
from saturate.rules import CATALOGUE, EXACTNESS
from saturate.search import search

every_pair = pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)


def mild(pair: Pair, seed: int) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(seed)
    return [tuple(rng.uniform(*pair.mild, x.shape).astype("float32") for x in pair.types) for _ in range(2)]


def of(form: Callable[..., Any], pair: Pair, **options: Any) -> sat.Optimized:
    return sat.optimize(form, *pair.types, exact=pair.exact, **options)


@pytest.mark.parametrize("pair", [*PAIRS, *CHEAPER], ids=lambda pair: pair.name)
def test_both_forms_stand_in_one_class(pair: Pair) -> None:
    def both(*arrays: Any) -> tuple[Any, ...]:
        forms = [form(*arrays) for form in (pair.stable, pair.other)]
        return tuple(value for form in forms for value in (form if isinstance(form, tuple) else (form,)))

    admitted = EXACTNESS[: EXACTNESS.index(pair.exact) + 1]
    program = sat.trace(both, *pair.types)
    found = search(program, [law for law in CATALOGUE if law.exact in admitted], sat.Limits())
    stable, other = np.split(np.array([root.value for root in found.roots]), 2)
    assert stable.tolist() == other.tolist()


@every_pair
def test_the_stable_form_is_returned_and_right_where_the_other_is_wrong(pair: Pair) -> None:
    best = of(pair.stable, pair)
    careless = of(pair.stable, pair, accuracy=None, check=False)
    assert careless.report.after.cost < best.report.after.cost
    assert best.check(trials=10, seed=1).passed
    assert not careless.check(trials=10, seed=1).passed
    assert best.report.accuracy is not None
    assert best.report.accuracy.barred


@every_pair
def test_the_fast_form_is_returned_where_samples_show_that_it_is_safe(pair: Pair) -> None:
    best = of(pair.stable, pair, samples=mild(pair, 0))
    assert best.report.after.cost == of(pair.other, pair, accuracy=None, check=False).report.after.cost
    assert best.report.after.cost < of(pair.stable, pair, check=False).report.after.cost
    assert isinstance(best.report.check, Certificate)
    assert best.report.check.passed
    assert best.check(samples=mild(pair, 1)).passed


@pytest.mark.parametrize("pair", CHEAPER, ids=lambda pair: pair.name)
def test_a_stable_form_that_is_cheaper_is_found_from_the_other(pair: Pair) -> None:
    best, stable = of(pair.other, pair), of(pair.stable, pair, check=False)
    assert best.report.after.cost == stable.report.after.cost < best.report.before.cost
    assert isinstance(best.report.check, Certificate)
    assert best.report.check.passed
    rng = np.random.default_rng(2)
    arrays = [((x.high or 4e3) * rng.uniform(-1, 1, x.shape)).astype("float32") for x in pair.types]
    with np.errstate(all="ignore"):
        assert not np.isfinite(pair.other(*arrays)).all()
    assert np.isfinite(best(*arrays)).all()
