"""E-graphs as plain frozen values: classes of alternatives, and roots.

It knows nothing of how one is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx

from saturate.errors import ExtractionError


@dataclass(frozen=True, slots=True)
class ENode:
    """One way to compute a class: an op over other classes, at a cost paid once.

    `name` is unique and used in messages; `children` are class numbers, in operand order, repeats allowed.
    Raises ExtractionError (code `cost`) where the cost is negative, infinite or not a number.
    """

    name: str
    op: str
    children: tuple[int, ...]
    cost: float

    def __post_init__(self) -> None:
        if not (self.cost >= 0 and math.isfinite(self.cost)):
            raise ExtractionError(
                f"node {self.name!r} ({self.op}) has cost {self.cost!r}: costs are finite and not negative; "
                "leave out a node that must never be chosen",
                code="cost",
            )


@dataclass(frozen=True, slots=True)
class Classes:
    """An e-graph: `nodes[c]` are the alternatives of class c, `names[c]` what messages call it.

    Raises ExtractionError (code `classes`) where a root or a child is no class, or a name is missing.
    """

    nodes: tuple[tuple[ENode, ...], ...]
    roots: tuple[int, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        count = len(self.nodes)
        if len(self.names) != count:
            raise ExtractionError(
                f"{count} classes came with {len(self.names)} names: give one name a class", code="classes"
            )
        for root in self.roots:
            if not 0 <= root < count:
                raise ExtractionError(f"root {root} is none of the {count} classes", code="classes")
        for alternatives in self.nodes:
            for node in alternatives:
                if node.children and not (0 <= min(node.children) and max(node.children) < count):
                    raise ExtractionError(
                        f"node {node.name!r} ({node.op}) has children {node.children}, "
                        f"which are not all among the {count} classes",
                        code="classes",
                    )

    def __len__(self) -> int:
        """How many classes there are."""
        return len(self.nodes)

    def to_networkx(self) -> nx.DiGraph[Any]:
        """A directed graph: class → its nodes → their child classes.

        Class vertices are `("class", c)` with `name` and `root`; node vertices are `("node", c, i)` with
        `name`, `op`, `cost` and `children` (the operands in order). The roots, in order, are the graph's
        attribute `roots`.
        """
        graph: nx.DiGraph[Any] = nx.DiGraph(roots=self.roots)
        for c, name in enumerate(self.names):
            graph.add_node(("class", c), name=name, root=c in self.roots)
        for c, alternatives in enumerate(self.nodes):
            for i, node in enumerate(alternatives):
                vertex = ("node", c, i)
                graph.add_node(vertex, name=node.name, op=node.op, cost=node.cost, children=node.children)
                graph.add_edge(("class", c), vertex)
                graph.add_edges_from((vertex, ("class", d)) for d in node.children)
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[Any]) -> Classes:
        """The inverse of `to_networkx`; vertices may stand in any order."""
        count = sum(1 for vertex in graph.nodes if vertex[0] == "class")
        nodes: list[list[ENode]] = [[] for _ in range(count)]
        names = [str(graph.nodes["class", c]["name"]) for c in range(count)]
        for vertex in sorted(vertex for vertex in graph.nodes if vertex[0] == "node"):
            data = graph.nodes[vertex]
            nodes[vertex[1]].append(ENode(data["name"], data["op"], tuple(data["children"]), data["cost"]))
        return cls(tuple(map(tuple, nodes)), tuple(graph.graph["roots"]), tuple(names))


def build(
    alternatives: Sequence[Sequence[tuple[str, Sequence[int], float]]], roots: Sequence[int]
) -> Classes:
    """Classes by hand: for each class its nodes as (op, children, cost); names are made from the
    positions.
    """
    nodes = tuple(
        tuple(ENode(f"{c}.{i}", op, tuple(kids), float(cost)) for i, (op, kids, cost) in enumerate(group))
        for c, group in enumerate(alternatives)
    )
    return Classes(nodes, tuple(roots), tuple(str(c) for c in range(len(nodes))))
