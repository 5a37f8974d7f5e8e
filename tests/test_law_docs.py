"""docs/rules.md is what the catalogue says today; --regen writes it anew."""

from __future__ import annotations

import re

import pytest
from law_pages import SOURCES, mentions, page, row
from layers import ROOT
from refuted import REFUTED

from saturate.rules import CATALOGUE, IDENTITIES, Identity, Law, law
from saturate.rules.language import Expr, recip
from saturate.rules.law import nonzero

FENCE = re.compile(r"^```(\w+)$.*?^```$", re.MULTILINE | re.DOTALL)
IDENTITY = [identity for theory in IDENTITIES.values() for identity in theory]


def test_the_page_of_laws_is_current(request: pytest.FixtureRequest) -> None:
    """All but the tests that speak of a law, which change with any test: those that are listed have to."""
    path = ROOT / "docs" / "rules.md"
    if request.config.getoption("--regen"):
        path.write_text(f"{page()}\n", encoding="utf-8", newline="\n")
    shown = path.read_text("utf-8")
    assert without_tests(shown) == without_tests(f"{page()}\n"), "rules.md differs; pytest --regen writes it"
    for text in filter(is_of_a_law, shown.splitlines()):
        listed = text.removesuffix(" |").rpartition("| ")[2].split(", ")
        assert set(listed) - {""} <= set(mentions(text.split("`")[1]))


def without_tests(text: str) -> list[str]:
    """The lines of the page, those of a law without their last column."""
    return [line.rpartition(" | ")[0] if is_of_a_law(line) else line for line in text.splitlines()]


def is_of_a_law(line: str) -> bool:
    return line.startswith(tuple(f"| `{law.name}` |" for law in CATALOGUE))


def test_a_page_that_is_not_current_is_found() -> None:
    text = page()
    assert without_tests(text) == without_tests(text.replace("| test_draw |", "| test_draw, test_more |"))
    assert without_tests(text) != without_tests(text.replace("rounding", "bitwise", 1))


def test_every_law_and_identity_has_one_row() -> None:
    names = re.findall(r"^\| `(\w+)` \|", page(), re.MULTILINE)
    assert names == [*(law.name for law in CATALOGUE), *(identity.name for identity in IDENTITY)]
    for table in re.findall(r"^\|.*?(?=\n\n)", page(), re.MULTILINE | re.DOTALL):
        assert len({line.count("|") - line.count("\\|") for line in table.splitlines()}) == 1


def test_a_row_holds_what_is_declared() -> None:
    @law(a="i", where=nonzero("a"), narrows=True, source="a book | its page")
    def once_over(a: Expr) -> tuple[Expr, Expr]:
        """a·(1/a) = 1."""
        return a * recip(a), 1 + 0 * a * 0

    assert row(once_over) == (
        "| `once_over` | `a·recip(a) = 1 + 0·a·0` | rounding | a is nowhere zero; fewer indices on the right "
        "are meant | explore | a book \\| its page |  |"
    )


def test_every_source_is_one_that_the_page_lists() -> None:
    """So that no law names what nobody can look up; what differs here comes last."""
    used: set[str] = set()
    declared: list[Law | Identity] = [*CATALOGUE, *IDENTITY, *(case.law for case in REFUTED)]
    for one in declared:
        rules = one.source.partition("; here ")[0].partition("; there ")[0]
        for rule in rules.split("; ") if rules else ():
            known = {name for name in SOURCES if re.match(rf"{name}(, | for )", rule)}
            assert known, f"{one.name}: {rule!r} names no source of tests/law_pages.py"
            used |= known
    assert used == {*SOURCES}


def test_tests_that_name_a_law_are_found() -> None:
    assert "test_draw" in mentions("common_factor")
    assert mentions("no_such_law") == ()


def test_the_page_on_adding_a_law_is_ten_lines_and_one_example() -> None:
    """The title and the code, which runs (test_readme), aside."""
    text = (ROOT / "docs" / "how-to-add-a-law.md").read_text("utf-8")
    title, *prose = [line for line in re.sub(FENCE, "", text).splitlines() if line.strip()]
    assert title == "# How to add a law"
    assert len(prose) <= 10
    assert re.findall(FENCE, text) == ["python", "text"]
