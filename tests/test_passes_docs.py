"""The examples of docs/passes.md run, and print what the page shows."""

from __future__ import annotations

import doctest
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "passes.md"


def test_examples_print_what_the_page_shows() -> None:
    failed, attempted = doctest.testfile(str(PAGE), module_relative=False, verbose=False)
    assert attempted > 12
    assert failed == 0
