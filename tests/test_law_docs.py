"""docs/rules.md is what the catalogue says today; --regen writes it anew."""

from __future__ import annotations

import re

import pytest
from golden_files import Golden
from law_pages import mentions, page, row
from layers import ROOT

from saturate.rules import CATALOGUE, law
from saturate.rules.language import Expr, recip
from saturate.rules.law import nonzero


def test_the_page_of_laws_is_current(request: pytest.FixtureRequest) -> None:
    Golden(ROOT / "docs", "rules", bool(request.config.getoption("--regen"))).check(page(), ".md")


def test_every_law_has_one_row() -> None:
    names = re.findall(r"^\| `(\w+)` \|", page(), re.MULTILINE)
    assert names == [law.name for law in CATALOGUE]
    assert len({line.count("|") - line.count("\\|") for line in page().splitlines() if line[:1] == "|"}) == 1


def test_a_row_holds_what_is_declared() -> None:
    @law(a="i", where=nonzero("a"), narrows=True, source="a book | its page")
    def once_over(a: Expr) -> tuple[Expr, Expr]:
        """a·(1/a) = 1."""
        return a * recip(a), 1 + 0 * a * 0

    assert row(once_over) == (
        "| `once_over` | `a·recip(a) = 1 + 0·a·0` | rounding | a is nowhere zero; fewer indices on the right "
        "are meant | explore | a book \\| its page |  |"
    )


def test_tests_that_name_a_law_are_found() -> None:
    assert "test_draw" in mentions("common_factor")
    assert mentions("no_such_law") == ()


def test_the_page_on_adding_a_law_is_short() -> None:
    """Ten numbered or plain sentences are enough; what is longer is code that runs (test_readme)."""
    text = (ROOT / "docs" / "how-to-add-a-law.md").read_text("utf-8")
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert len([line for line in prose.splitlines() if line.strip()]) <= 15
