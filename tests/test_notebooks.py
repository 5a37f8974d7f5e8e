"""The notebooks run from top to bottom, and print what they show."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from documents import same
from layers import ROOT

NBCLIENT: Any = import_module("nbclient")
NBFORMAT: Any = import_module("nbformat")
"""Both come with nbmake, and have no types."""
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def printed(cell: Any) -> str:
    """What a cell prints, and the text of its last value."""
    found = ""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        found += output.get("text", "") or ("" if len(data) > 1 else data.get("text/plain", "") + "\n")
    return found


def executed(path: Path) -> Any:
    """The notebook run anew; raises where a cell does."""
    notebook = NBFORMAT.read(path, as_version=4)
    NBCLIENT.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.execution_count = None
            for output in cell.outputs:
                if "execution_count" in output:
                    output.execution_count = None
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[p.stem for p in NOTEBOOKS])
def test_a_notebook_prints_what_it_shows(path: Path, request: pytest.FixtureRequest) -> None:
    """Cells tagged `measured` may print other figures."""
    shown, run = NBFORMAT.read(path, as_version=4), executed(path)
    if request.config.getoption("--regen"):
        NBFORMAT.write(run, path)
        return
    for old, new in zip(shown.cells, run.cells, strict=True):
        if "measured" not in old.metadata.get("tags", ()):
            assert same(printed(new), printed(old)), new.source
