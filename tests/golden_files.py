"""Golden files: what a test printed when a person last looked at it; `pytest --regen` writes them anew."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def stem(module: str, test: str) -> str:
    """The path of a test's golden file below the folder, without suffix."""
    name = re.sub(r"[^\w.]+", "-", test.removeprefix("test_")).strip("-")
    return f"{module.rpartition('.')[2].removeprefix('test_')}/{name}"


def orphans(folder: Path, stems: Iterable[str]) -> list[str]:
    """The files in the folder that belong to no test."""
    known = set(stems)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return [str(path) for path in files if path.with_suffix("").as_posix() not in known]


@dataclass(frozen=True)
class Golden:
    """The golden file of one test."""

    folder: Path
    stem: str
    regenerate: bool

    def check(self, text: str, suffix: str = ".txt") -> None:
        """Fail unless `text` is what the file holds; with `--regen` write it."""
        path = self.folder / f"{self.stem}{suffix}"
        if self.regenerate:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n", encoding="utf-8", newline="\n")
        assert path.is_file(), f"{self.stem}{suffix} is missing; pytest --regen writes it"
        expected = path.read_text(encoding="utf-8")
        assert f"{text}\n" == expected, f"{self.stem}{suffix} differs; look, and accept with pytest --regen"
