from __future__ import annotations

from pathlib import Path

import pytest
from golden_files import FOLDER, Golden, orphans, stem


def test_every_golden_file_belongs_to_a_test(golden_stems: set[str]) -> None:
    assert not orphans(FOLDER, golden_stems), "delete these files, or restore the tests that read them"


def test_a_planted_orphan_is_found(tmp_path: Path) -> None:
    Golden(tmp_path, stem("test_text", "test_softmax[float32-2.0]"), True).check("a")
    Golden(tmp_path, stem("test_text", "test_softmax[float32-2.0]"), True).check("a", ".py")
    assert orphans(tmp_path, ["text/softmax-float32-2.0"]) == []
    Golden(tmp_path, "text/gone", True).check("b")
    assert orphans(tmp_path, ["text/softmax-float32-2.0"]) == ["text/gone.txt"]


def test_a_changed_text_and_a_missing_file_fail(tmp_path: Path) -> None:
    Golden(tmp_path, "text/one", True).check("the text")
    Golden(tmp_path, "text/one", False).check("the text")
    with pytest.raises(AssertionError, match="differs; look, and accept"):
        Golden(tmp_path, "text/one", False).check("another text")
    with pytest.raises(AssertionError, match="is missing"):
        Golden(tmp_path, "text/two", False).check("the text")
    assert (tmp_path / "text" / "one.txt").read_text() == "the text\n"
