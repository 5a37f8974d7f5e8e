"""Public e-graphs: never above the best cost known, never below a proved bound, and proofs where there
were.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from saturate.extract import EXTRACTORS, read

COMMITTED = Path(__file__).parent / "data" / "extraction-graphs"
PUBLIC = os.environ.get("SATURATE_GRAPHS")
MOST_BYTES = 15_000


def known(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "best-known.json").read_text()))


def graphs(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.json.gz"))


def assert_known(folder: Path, name: str, seconds: float) -> None:
    best = known(folder).get(name.removesuffix(".gz"))
    found = EXTRACTORS["auto"](read(folder / name), seconds=seconds)
    assert found.lower_bound <= found.cost
    if best is None:
        assert found.proven
        return
    assert found.cost >= best["lb"] * (1 - 1e-9)
    assert found.lower_bound <= best["ub"] * (1 + 1e-9)
    assert found.cost <= best["ub"] * (1 + 1e-9)
    assert found.proven or not best["proven"]


@pytest.mark.parametrize("name", graphs(COMMITTED))
def test_committed_graph_is_proved(name: str) -> None:
    assert_known(COMMITTED, name, 10)


@pytest.mark.parametrize("name", graphs(COMMITTED))
@pytest.mark.parametrize("method", ["tree", "greedy", "exact"])
def test_committed_graph_by_the_other_methods(method: str, name: str) -> None:
    best = known(COMMITTED).get(name.removesuffix(".gz"))
    found = EXTRACTORS[method](read(COMMITTED / name), seconds=10)
    if best is not None:
        assert found.cost >= best["lb"] * (1 - 1e-9)
        assert found.proven or method != "exact"
        if method == "greedy":
            assert found.cost <= min(best["greedy_dag"], best["greedy_tree"])


@pytest.mark.skipif(PUBLIC is None, reason="SATURATE_GRAPHS, the folder of public e-graphs, is not set")
@pytest.mark.parametrize("name", graphs(Path(PUBLIC)) if PUBLIC else [])
def test_public_graph(name: str) -> None:
    """Those that take seconds are measured by benchmarks/extraction.py."""
    folder = Path(str(PUBLIC))
    if (folder / name).stat().st_size > MOST_BYTES:
        pytest.skip("a large graph: see benchmarks/extraction.py")
    assert_known(folder, name, 10)
