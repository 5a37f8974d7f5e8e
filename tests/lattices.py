"""Searches over small programs and random choices out of them, for the tests of lattice and lowering."""

from __future__ import annotations

import numpy as np

from saturate.extract import Classes
from saturate.extract.clock import Stopwatch
from saturate.extract.costs import Profile
from saturate.extract.extraction import Extraction, extraction
from saturate.program import Program
from saturate.rules import CATALOGUE
from saturate.rules.law import BITWISE, ROUNDING
from saturate.saturation import Limits
from saturate.search import Search, search

LAWS = tuple(w for w in CATALOGUE if w.exact in (BITWISE, ROUNDING))


def searched(program: Program, rounds: int = 3, profile: Profile | None = None) -> Search:
    """Everything that the catalogue finds in a few rounds."""
    return search(program, LAWS, Limits(rounds=rounds, nodes=3000), profile=profile)


def random_extraction(classes: Classes, rng: np.random.Generator) -> Extraction:
    """A choice without circles: values are settled one by one, by any step whose operands are settled."""
    choice: dict[int, int] = {}
    readers: list[list[tuple[int, int]]] = [[] for _ in classes.nodes]
    waiting: dict[tuple[int, int], int] = {}
    ready: dict[int, list[int]] = {}
    for c, nodes in enumerate(classes.nodes):
        for k, node in enumerate(nodes):
            waiting[c, k] = len(set(node.children))
            for d in set(node.children):
                readers[d].append((c, k))
            if not node.children:
                ready.setdefault(c, []).append(k)
    while ready:
        c = sorted(ready)[rng.integers(len(ready))]
        ways = ready.pop(c)
        choice[c] = ways[rng.integers(len(ways))]
        for reader in readers[c]:
            waiting[reader] -= 1
            if waiting[reader] == 0 and reader[0] not in choice:
                ready.setdefault(reader[0], []).append(reader[1])
    return extraction(
        classes, choice, lower_bound=0.0, method="random", bound_by="nothing", watch=Stopwatch("")
    )
