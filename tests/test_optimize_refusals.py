"""What `optimize` and a check refuse before any work, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import saturate as sat
from saturate.errors import ArgumentError, SaturateError, TraceError

T = sat.Type((3,))
HELD = "the example of x holds NaN: every other sample is drawn without"


def double(x: Any) -> Any:
    return np.sum(x * 2.0)


REFUSED: dict[str, tuple[Callable[[], Any], type[SaturateError], str]] = {
    "text": (
        lambda: sat.optimize(double, "a", wrt=0),
        ArgumentError,
        "double needs an array or a Type among its examples, got x: 'a'",
    ),
    "nothing": (
        lambda: sat.optimize(double, None),
        ArgumentError,
        "double needs an array or a Type among its examples, got x: None",
    ),
    "no result": (
        lambda: sat.optimize(lambda x: None, T),
        TraceError,
        "with no array in its result cannot be traced: programs return arrays. ",
    ),
    "negative limits": (
        lambda: sat.optimize(double, T, limits=sat.Limits(seconds=-1)),
        ArgumentError,
        "optimize needs limits from 0 on, and at least one worker; got Limits(seconds=-1",
    ),
    "samples of text": (
        lambda: sat.optimize(double, T, samples=[("a",)]),
        ArgumentError,
        "samples need x as an array of float64[3], got 'a'",
    ),
    "negative trials": (
        lambda: sat.optimize(double, T, check=False).check(trials=-1),
        ArgumentError,
        "check needs trials from 0 on, got -1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_says_what_came(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind) as error:
        call()
    assert message in str(error.value)


def test_an_example_without_a_number_says_so_and_the_result_is_still_checked() -> None:
    best = sat.optimize(double, np.full(3, np.nan), wrt="x")
    assert best.report.notes == (HELD,)
    assert best.check().passed


def test_a_value_that_is_nowhere_finite_is_told_as_that() -> None:
    best = sat.optimize(double, np.array([np.inf, 1.0, 2.0]))
    assert best.report.check is not None
    assert not best.check().passed
    assert best.report.notes[-1] == (
        "value is NaN or infinite wherever it was computed, such as on example (#0), before anything is "
        "optimized: give examples or samples= on which it is finite"
    )
    assert "value 0 on example (#0): nothing finite to compare" in best.report.notes[0]
