"""Reads e-graphs in the `egraph-serialize` JSON form, which egg and egglog write."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from saturate.errors import ExtractionError, shown
from saturate.extract.classes import Classes, ENode


def read(path: str | Path) -> Classes:
    """The e-graph of a `.json` or `.json.gz` file.

    A child names a node; what is meant is that node's class. A missing cost is 1. Subsumed nodes are left
    out: egglog keeps them for matching and never extracts them. Raises ExtractionError (code `format`) saying
    what is wrong.
    """
    path = Path(path)
    data = path.read_bytes()
    try:
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        graph = json.loads(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ExtractionError(f"{path.name} is a damaged gzip file: {error}", code="format") from error
    except (ValueError, RecursionError) as error:
        raise ExtractionError(f"{path.name} is not JSON: {error}", code="format") from error
    return from_serialized(graph, path.name)


def from_serialized(graph: Any, source: str = "the graph") -> Classes:
    """The same from the decoded JSON value; `source` is named in messages."""
    try:
        nodes, roots = dict(graph["nodes"]), list(graph["root_eclasses"])
        owner = {name: str(node["eclass"]) for name, node in nodes.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise ExtractionError(
            f"{source} is no egraph-serialize graph ({type(error).__name__}: {error}): it needs "
            "`nodes`, each with `op`, `children`, `eclass` and `cost`, and `root_eclasses`",
            code="format",
        ) from error
    for what, kind, said in (("root_eclasses", list, "a list"), ("class_data", Mapping, "an object")):
        value = graph.get(what)
        if value is not None and not isinstance(value, kind):
            raise ExtractionError(f"{source}: `{what}` is {shown(value)}, and not {said}", code="format")
    extra = [*map(str, roots), *map(str, graph.get("class_data") or ())]
    number = {name: c for c, name in enumerate(dict.fromkeys([*owner.values(), *extra]))}
    groups: list[list[ENode]] = [[] for _ in number]
    for name, node in nodes.items():
        if not node.get("subsumed", False):
            groups[number[owner[name]]].append(_node(name, node, owner, number, source))
    return Classes(tuple(map(tuple, groups)), tuple(number[str(root)] for root in roots), tuple(number))


def _node(name: str, node: Any, owner: dict[str, str], number: dict[str, int], source: str) -> ENode:
    def wrong(what: str, value: object, why: str) -> ExtractionError:
        return ExtractionError(
            f"{source}: node {name!r} has {what} {shown(value)}, which {why}", code="format"
        )

    given = node.get("children", [])
    if not isinstance(given, list):
        raise wrong("children", given, "is no list")
    children: list[int] = []
    for child in given:
        if not isinstance(child, str) or child not in owner:
            raise wrong("child", child, "is no node")
        children.append(number[owner[child]])
    cost = node.get("cost", 1.0)
    if not isinstance(cost, int | float):
        raise wrong("cost", cost, "is no number")
    try:
        return ENode(name, str(node.get("op", "")), tuple(children), float(cost))
    except OverflowError as error:
        raise wrong("cost", cost, "is too large for float64") from error
