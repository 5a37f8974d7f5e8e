"""Reports: totals, the text, the page, the plain data."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser
from io import StringIO
from math import inf
from pathlib import Path

import pytest
from golden_files import Golden
from notebook_display import shown
from report_example import AFTER, BARE, BEFORE, FULL, LONG
from rich.console import Console

from saturate.extract import units
from saturate.extract.report import Accuracy, Barred, Chosen, Steps
from saturate.extract.report_html import fragment


def test_totals_are_sums_over_the_steps() -> None:
    assert BEFORE.passes == 3
    assert BEFORE.cost == 21_000 + 162_842 + 22_492.5
    assert BEFORE.bytes == 8 * 211 * (307 + 307 + 1)
    assert BEFORE.flops == 3 * 211 * (307 + 307 + 1)
    assert FULL.ratio == BEFORE.cost / AFTER.cost


def test_ratio_without_cost() -> None:
    assert BARE.ratio == 1.0
    assert replace(BARE, before=BEFORE).ratio == inf
    assert replace(BARE, after=AFTER).ratio == 0.0


def test_report_is_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        FULL.title = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (Chosen(method="exact", cost=7.0, lower_bound=7.0, proven=True), "proved optimal"),
        (Chosen(method="auto", cost=104.0, lower_bound=100.0, proven=False), "within 4 % of the bound"),
        (Chosen(method="auto", cost=100.35, lower_bound=100.0, proven=False), "within 0.35 % of the bound"),
        (
            Chosen(method="tree", cost=7.0, lower_bound=0.0, proven=False),
            "no lower bound above zero is known",
        ),
    ],
)
def test_verdict(chosen: Chosen, said: str) -> None:
    assert chosen.verdict == said
    assert said in str(replace(BARE, extraction=chosen))


def test_text(golden: Golden) -> None:
    golden.check(str(FULL))


def test_text_of_nothing(golden: Golden) -> None:
    golden.check(str(BARE))


def test_a_long_program_names_its_windows_and_shows_no_round() -> None:
    text = str(LONG)
    assert "windows       13, 2 different ones: window 1 (mu, c) 12 times, window 2 (v31)" in text
    assert "saturated, round limit after 5 rounds, at most 1,132 e-nodes at once" in text
    assert "106 → 1,132" not in text


def test_searches_one_after_the_other_are_told_apart() -> None:
    text = str(replace(FULL, windows=LONG.windows[:1]))
    assert "after 2 rounds of 2 searches, e-nodes 106 → 1,132; 9" in text


@pytest.mark.parametrize("which", ["FULL", "LONG", "BARE"])
def test_profile(golden: Golden, which: str) -> None:
    golden.check({"FULL": FULL, "LONG": LONG, "BARE": BARE}[which].profile())


def test_text_holds_no_seconds_unless_asked() -> None:
    assert "0.020" not in str(FULL)
    assert "1.2 ms" not in str(FULL)
    timed = FULL.text(times=True)
    assert "trace 0.003, saturate 0.020" in timed
    assert "factor_common 12 (1.2 ms), like_terms 1,204 (10.0 ms)" in timed
    other = replace(FULL, matched=tuple(replace(m, seconds=7.0) for m in FULL.matched))
    assert str(other) == str(FULL)


def test_text_has_no_colour_and_no_trailing_space() -> None:
    text = str(FULL)
    assert "\x1b" not in text
    assert all(line == line.rstrip() for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 110


def test_rich_colours_only_on_a_terminal() -> None:
    for terminal in (True, False):
        made = StringIO()
        Console(
            file=made, width=110, force_terminal=terminal, color_system="standard" if terminal else None
        ).print(FULL)
        assert ("\x1b[" in made.getvalue()) is terminal
        assert "sum[axes=(1,), keepdims=True](e)" in made.getvalue()


def test_steps_left_out_for_one_reason_stand_in_one_line() -> None:
    barred = (
        Barred(step="exp(x)", why="infinite"),
        Barred(step="a * b", why="infinite"),
        Barred(step="a * b", why="infinite"),
        Barred(step="a * b", why="7 ulp"),
    )
    text = str(replace(BARE, accuracy=Accuracy(factor=4.0, barred=barred)))
    assert "left out: exp(x), 2 × a * b: infinite\n  left out: a * b: 7 ulp" in text


def test_narrow_consoles_see_cost_alone() -> None:
    made = StringIO()
    Console(file=made, width=80, color_system=None).print(FULL)
    assert "518 kB" not in made.getvalue().partition("laws in")[0].partition("before")[2]
    assert "960 ns  factor_common" in made.getvalue()


def test_accuracy_that_was_not_measured_says_so() -> None:
    assert "not measured (accuracy=None)" in str(replace(BARE, accuracy=Accuracy(factor=None)))


class Tags(HTMLParser):
    """Tags that are open, and all that were seen."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.open == []
    return tags


def test_page_stands_alone(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    FULL.to_html(file)
    text = file.read_text(encoding="utf-8")
    tags = parsed(text)
    assert text.startswith("<!doctype html>")
    assert not tags.seen & {"script", "link", "img", "iframe"}
    assert not re.search(r"https?://|url\(|@import", text)
    for part in (
        "softmax <rows>",
        "factor_common",
        "value < 1e-7 & gradient x",
        "left out: exp(x)",
        "demo.py:12",
    ):
        assert part in tags.text


def test_bars_are_drawn_to_one_scale() -> None:
    widths = [float(w) for w in re.findall(r"width:([\d.]+)%", fragment(FULL).partition("</style>")[2])]
    assert widths == [12.9, 100.0, 13.8, 100.0, 0.6]


def test_notebook_gets_the_page_without_its_frame() -> None:
    text = fragment(FULL)
    assert shown(FULL)["text/html"] == text
    assert "<html" not in text
    assert "article" in parsed(text).seen
    assert "Before" in parsed(fragment(BARE)).text


def test_plain_data_is_strict_json() -> None:
    data = json.loads(json.dumps(FULL.to_dict(), allow_nan=False))
    assert data["check"] == {"passed": True, "quotient": "nan"}
    assert data["ratio"] == FULL.ratio
    assert data["before"]["passes"] == 3
    assert data["before"]["cost"] == BEFORE.cost
    assert data["after"]["steps"][1]["law"] == "factor_common"
    assert data["extraction"]["verdict"] == "within 2.4 % of the bound"
    assert data["saturation"] == {
        "stopped": "saturated",
        "nodes": [106, 1132],
        "seconds": {"trace": 0.003, "saturate": 0.02},
        "others": {"facts": 0.0051},
    }
    assert data["matched"][0] == {"name": "factor_common", "matches": 12, "seconds": 0.0012, "made": 7}
    assert data["windows"][0]["nodes"] == [[106, 1132]]
    bare = json.loads(json.dumps(replace(BARE, before=BEFORE).to_dict(), allow_nan=False))
    assert bare["check"] is None
    assert bare["ratio"] == "inf"


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (units.cost(0.0, "ns"), "0 ns"),
        (units.cost(17.0, "ns"), "17 ns"),
        (units.cost(999.4, "ns"), "999 ns"),
        (units.cost(999.6, "ns"), "1.00 µs"),
        (units.cost(61_234.0, "ns"), "61.2 µs"),
        (units.cost(7.5e9, "ns"), "7.50 s"),
        (units.cost(1_234_567.0, "bytes"), "1.23 MB"),
        (units.cost(1_234_567.0, "flops"), "1.23 M flops"),
        (units.cost(inf, "ns"), "inf"),
        (units.memory(17), "17 B"),
        (units.count(17), "17"),
        (units.count(1.31e13), "13.1 T"),
        (units.times(1.5), "1.50×"),
        (units.times(12_345.0), "1.23e+04×"),
        (units.error(0.0), "0"),
        (units.error(1.25e-7), "1.2e-07"),
        (units.plural(1, "step"), "1 step"),
        (units.plural(0, "step"), "0 steps"),
    ],
)
def test_numbers_as_people_read_them(made: str, said: str) -> None:
    assert made == said


def test_one_step_is_one_step() -> None:
    one = replace(BARE, before=Steps(steps=BEFORE.steps[:1]))
    assert "1 step " in str(one)
    assert "1 steps" not in str(one)
