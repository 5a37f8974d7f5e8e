"""The pages tell the truth: their examples run and print what stands there, their links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from documents import examples, prose, run, same
from layers import ROOT

PAGES = ("README.md", "docs/design.md", "docs/how-to-add-a-law.md")


@pytest.mark.parametrize("page", PAGES)
def test_examples_print_what_the_page_shows(page: str, request: pytest.FixtureRequest) -> None:
    path = ROOT / page
    assert any(e.shown is not None for e in examples(path.read_text("utf-8")))
    assert run(path, bool(request.config.getoption("--regen"))) == []


@pytest.mark.parametrize("page", [*PAGES, "docs/rules.md", "docs/decisions.md", "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    links = re.findall(r"\]\(([^)\s]+)\)", prose(path.read_text("utf-8")))
    missing = [
        link for link in links if "://" not in link and not (path.parent / link.partition("#")[0]).exists()
    ]
    assert missing == []


def test_readme_has_the_two_commands() -> None:
    """One command installs and shows the main job, one installs and passes the tests; CI runs both."""
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    for end in ("saturate demo softmax", "pytest -n 2"):
        (command,) = [line for line in lines if line.endswith(end)]
        words = shlex.split(command)
        assert words[:4] == ["python3", "-m", "venv", ".venv"]
        assert ".venv/bin/pip" in words


def test_a_wrong_output_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 7\n```\n\n```python\nprint(x)\n```\n\n```text\n8\n```\n")
    assert run(page, regenerate=False) == ["page.md:6 prints\n7\n"]
    assert run(page, regenerate=True) == []
    assert "```text\n7\n```" in page.read_text()
    assert run(page, regenerate=False) == []


def test_an_output_that_is_not_shown_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(7)\n```\n")
    assert run(page, regenerate=False) == run(page, regenerate=True) == ["page.md:2 prints\n7\n"]


@pytest.mark.parametrize(
    ("printed", "shown", "equal"),
    [
        ("value  1.5e-07  ties (#2)", "value 2.0e-07  normal (#0)", True),
        ("value  1.5e-07", "value  1.5e-05", False),
        ("value  1.5e-07  ties (#2)", "value 1.5e-03  normal (#0)", True),
        ("value  1.5e-07  ties (#2)", "value 1.5e-03  ties (#2)", False),
        ("chosen by  auto: tree, cost 1.65 ms", "chosen by  auto: greedy, cost 1.65 ms", True),
        ("chosen by  auto: tree, cost 1.65 ms", "chosen by  auto: tree, cost 1.75 ms", False),
        ("d_x = value * t1", "d_x = value * t2", False),
        ("value  1.5e-07", "value  1.5e-07  1.5e-07", False),
    ],
)
def test_only_what_is_measured_may_differ(printed: str, shown: str, equal: bool) -> None:
    assert same(printed, shown) is equal
