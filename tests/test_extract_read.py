"""E-graphs come in from JSON and networkx as they are, or with an error that says what is wrong."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from saturate.errors import ExtractionError
from saturate.extract import EXTRACTORS, Classes, ENode, read
from saturate.extract.classes import build
from saturate.extract.command import extract_command

GRAPH: dict[str, Any] = {
    "nodes": {
        "a": {"op": "+", "children": ["b", "c0"], "eclass": "top", "cost": 1.0},
        "b": {"op": "x", "children": [], "eclass": "left"},
        "c0": {"op": "y", "children": [], "eclass": "right", "cost": 0.5, "subsumed": True},
        "c1": {"op": "z", "children": ["b"], "eclass": "right", "cost": 2},
    },
    "root_eclasses": ["top"],
}


def written(folder: Path, graph: Any, name: str = "graph.json") -> Path:
    path = folder / name
    data = graph if isinstance(graph, bytes) else json.dumps(graph).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if name.endswith(".gz") else data)
    return path


@pytest.mark.parametrize("name", ["graph.json", "graph.json.gz"])
def test_children_name_classes_and_subsumed_nodes_are_left_out(tmp_path: Path, name: str) -> None:
    classes = read(written(tmp_path, GRAPH, name))
    assert classes.names == ("top", "left", "right")
    assert classes.roots == (0,)
    assert classes.nodes == (
        (ENode("a", "+", (1, 2), 1.0),),
        (ENode("b", "x", (), 1.0),),
        (ENode("c1", "z", (1,), 2.0),),
    )


def test_root_without_nodes_is_a_class_and_cannot_be_extracted(tmp_path: Path) -> None:
    classes = read(written(tmp_path, {"nodes": {}, "root_eclasses": ["void"]}))
    with pytest.raises(ExtractionError) as error:
        EXTRACTORS["auto"](classes)
    assert str(error.value) == "nothing can be extracted for root class 'void': class 'void' has no node"
    assert error.value.code == "unextractable"


def node(**given: Any) -> dict[str, Any]:
    """A graph of one node."""
    return {"nodes": {"a": {"op": "f", "eclass": "1", **given}}, "root_eclasses": ["1"]}


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (b"{", "graph.json is not JSON: "),
        ({"nodes": {}}, "graph.json is no egraph-serialize graph (KeyError: 'root_eclasses')"),
        ([], "graph.json is no egraph-serialize graph (TypeError: "),
        (
            {"nodes": {"a": {"op": "f", "children": ["z"], "eclass": "1"}}, "root_eclasses": ["1"]},
            "graph.json: node 'a' has child 'z', which is no node",
        ),
        (
            {"nodes": {"a": {"op": "f", "eclass": "1", "cost": None}}, "root_eclasses": ["1"]},
            "graph.json: node 'a' has cost None, which is no number",
        ),
        (node(cost=10**400), "graph.json: node 'a' has cost 1000000000"),
        (node(children=None), "graph.json: node 'a' has children None, which is no list"),
        (node(children="a"), "graph.json: node 'a' has children 'a', which is no list"),
        (node(children=[["a"]]), "graph.json: node 'a' has child ['a'], which is no node"),
        (node() | {"class_data": 5}, "graph.json: `class_data` is 5, and not an object"),
        (node() | {"root_eclasses": "1"}, "graph.json: `root_eclasses` is '1', and not a list"),
        (b"[" * 100_000, "graph.json is not JSON: "),
        (b"\x1f\x8bxxx", "graph.json is a damaged gzip file: "),
        (gzip.compress(b"{}" * 99, mtime=0)[:-9], "graph.json is a damaged gzip file: "),
        (gzip.compress(b"{}" * 99, mtime=0)[:10] + b"\xff" * 20, "graph.json is a damaged gzip file: "),
        (
            {"nodes": {"a": {"op": "f", "children": [], "eclass": "1", "cost": -2}}, "root_eclasses": ["1"]},
            "node 'a' (f) has cost -2.0: costs are finite and not negative; leave out a node that must "
            "never be chosen",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, graph: Any, message: str) -> None:
    with pytest.raises(ExtractionError) as error:
        read(written(tmp_path, graph))
    assert str(error.value).startswith(message)
    assert error.value.code == ("cost" if "-2" in message else "format")


@pytest.mark.parametrize("name", EXTRACTORS)
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"seconds": -1}, "seconds as a number from 0 on, or None for no limit; got -1"),
        ({"seconds": float("nan")}, "seconds as a number from 0 on, or None for no limit; got nan"),
        ({"seconds": "1"}, "seconds as a number from 0 on, or None for no limit; got '1'"),
        ({"seed": "x"}, "seed as a whole number from 0 on; got 'x'"),
        ({"seed": -1}, "seed as a whole number from 0 on; got -1"),
        ({"work": 0.5}, "work as a whole number from 0 on, or None for no limit; got 0.5"),
    ],
)
def test_wrong_limits_are_refused_by_every_extractor(name: str, given: dict[str, Any], says: str) -> None:
    classes = build([[("a", [], 1.0)]], [0])
    with pytest.raises(ExtractionError) as error:
        EXTRACTORS[name](classes, **given)
    assert str(error.value) == f"the extractor {name} needs {says}"
    assert error.value.code == "argument"


@pytest.mark.parametrize("cost", [-1.0, float("nan"), float("inf")])
def test_cost_that_is_none_is_refused_with_the_name(cost: float) -> None:
    with pytest.raises(ExtractionError, match="node 'mul7'") as error:
        ENode("mul7", "mul", (), cost)
    assert error.value.code == "cost"


def test_classes_check_their_numbers() -> None:
    node = ENode("a", "f", (3,), 1.0)
    with pytest.raises(ExtractionError, match="node 'a' \\(f\\) has children \\(3,\\)"):
        Classes(((node,),), (0,), ("0",))
    with pytest.raises(ExtractionError, match="root 1 is none of the 1 classes"):
        Classes(((),), (1,), ("0",))
    with pytest.raises(ExtractionError, match="1 classes came with 0 names"):
        Classes(((),), (0,), ())


def test_circle_that_blocks_is_named() -> None:
    classes = build([[("f", [1], 1.0)], [("g", [0], 1.0), ("h", [1], 1.0)]], [0])
    with pytest.raises(ExtractionError) as error:
        EXTRACTORS["greedy"](classes)
    assert str(error.value) == (
        "nothing can be extracted for root class '0': "
        "every node of class '0' needs the class itself or another such class"
    )


def test_networkx_and_back() -> None:
    classes = build([[("f", [1, 1], 1.0), ("g", [], 4.0)], [("h", [0], 1.0), ("leaf", [], 1.0)], []], [1, 0])
    graph = classes.to_networkx()
    assert graph.number_of_nodes() == 3 + 4
    assert Classes.from_networkx(graph) == classes
    assert Classes.from_networkx(graph.__class__(graph)) == classes


def test_command_prints_a_table_or_json(tmp_path: Path) -> None:
    path = written(tmp_path, GRAPH)
    data = json.loads(extract_command(path, 10.0, as_json=True))
    assert data["cost"] == 4.0
    assert data["proven"] is True
    assert data["choice"] == {"left": "b", "right": "c1", "top": "a"}
    text = extract_command(path, 10.0, as_json=False)
    assert "cost         4 (proved optimal)" in text
    assert "top" in text
    assert "seconds      " in text
    assert data["seconds"] == pytest.approx(sum(data["times"].values()))
    assert {"file", "reading", "trees"} <= data["times"].keys()
