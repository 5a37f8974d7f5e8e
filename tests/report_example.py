"""A report with something in every field, for the tests of reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import Any

from saturate.extract.report import (
    Accuracy,
    Barred,
    Chosen,
    LawMatches,
    LawUse,
    Report,
    ResultError,
    Searched,
    Step,
    Steps,
    WindowSearch,
)


@dataclass(frozen=True)
class Check:
    passed: bool

    @property
    def figures(self) -> str:
        return "check of softmax on numpy: passed\nvalue < 1e-7 & gradient x < 1e-7"

    def to_dict(self) -> dict[str, Any]:
        return {"passed": self.passed, "quotient": nan}


def step(value: str, op: str, columns: int, cost: float, law: str = "") -> Step:
    size = 211 * columns
    return Step(
        value=value,
        op=op,
        shape=(211, columns),
        dtype="float32",
        flops=3 * size,
        bytes=8 * size,
        cost=cost,
        law=law,
    )


BEFORE = Steps(
    steps=(
        step("s", "sub(x, m)", 307, 21_000.0),
        step("e", "exp(s)", 307, 162_842.0),
        step("total", "sum[axes=(1,), keepdims=True](e)", 1, 22_492.5),
    )
)
AFTER = Steps(
    steps=(step("e", "exp(s)", 307, 162_842.0), step("dx", "mul(y, t3)", 307, 960.0, "factor_common"))
)

FULL = Report(
    title="softmax <rows>",
    context="x: float32[211, 307]; gradients of x; target numpy",
    before=BEFORE,
    after=AFTER,
    laws=(
        LawUse(
            name="factor_common",
            statement="k·a·b + l·a·c = a·(k·b + l·c).",
            where=("dx", "t2"),
            exact="rounding",
        ),
    ),
    matched=(
        LawMatches(name="factor_common", matches=12, seconds=0.0012, made=7),
        LawMatches(name="like_terms", matches=1204, seconds=0.01),
    ),
    saturation=Searched(
        stopped="saturated",
        nodes=(106, 1132),
        seconds={"trace": 0.003, "saturate": 0.02},
        others={"facts": 0.0051},
    ),
    windows=(
        WindowSearch(
            title="the whole",
            times=1,
            size=17,
            nodes=((106, 1132),),
            before=206_334.5,
            after=163_802.0,
            seconds=0.023,
        ),
    ),
    extraction=Chosen(
        method="exact", cost=163_802.0, lower_bound=160_000.0, proven=False, bound_by="linear relaxation"
    ),
    accuracy=Accuracy(
        factor=4.0,
        reference="float64",
        results=(
            ResultError(name="value", baseline=1.2e-7, chosen=0.0),
            ResultError(name="gradient x", baseline=2.2e-7, chosen=2.3e-7),
        ),
        barred=(Barred(step="exp(x)", why="infinite where the baseline is finite"),),
    ),
    assumptions=("scale is positive",),
    notes=("float32 became float64 at demo.py:12: s = x / np.sqrt(64)",),
    check=Check(True),
)

BARE = Report(title="nothing", before=Steps(steps=()), after=Steps(steps=()))

LONG = replace(
    FULL,
    saturation=Searched(stopped="saturated, round limit", nodes=(106, 1132, 9, 87, 88)),
    windows=(
        WindowSearch(
            title="window 1 (mu, c)", times=12, size=17, nodes=((106, 1132), (9,)), before=7.0, after=3.5
        ),
        WindowSearch(title="window 2 (v31)", times=1, size=5, nodes=((87, 88),), before=2.0, after=2.0),
    ),
)
"""The same of a program that was searched in windows."""
