"""Dominance: nodes of a class that another node of it makes useless.

A node dominates another where it costs no more and needs only what the other has anyway. Each node that is
kept is filed under one class that it needs, so that a node meets only those whose class it has: near-linear
where nodes need different things.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from saturate.extract.problem import Alternative

Dominated = list[tuple[int, int]]
"""(position of a node that is useless, position of one that dominates it and is kept)."""


def _by_cost(group: Sequence[Alternative]) -> list[int]:
    """Positions, cheap and small nodes first: only earlier ones dominate later ones."""
    return sorted(range(len(group)), key=lambda k: (group[k].cost, len(group[k].kids), group[k].origin))


def larger(group: Sequence[Alternative]) -> Dominated:
    """Nodes beside one that costs no more and needs a subset of what they need."""
    common = Counter([d for node in group for d in node.kids])
    filed: dict[int, list[tuple[frozenset[int], int]]] = {}
    found: Dominated = []
    for k in _by_cost(group):
        kids = group[k].kids
        wants = frozenset(kids)
        by = next((j for d in (-1, *kids) for needs, j in filed.get(d, ()) if needs <= wants), -1)
        if by >= 0:
            found.append((k, by))
        else:
            rarest = min(kids, key=common.__getitem__, default=-1)
            filed.setdefault(rarest, []).append((wants, k))
    return found


def useless(group: Sequence[Alternative], wants: Sequence[int], has: Sequence[int]) -> Dominated:
    """Nodes beside one that costs no more and wants a subset of what they have, both as bits."""
    filed: dict[int, list[int]] = {}
    watched = 0
    found: Dominated = []
    free = -1
    for k in _by_cost(group):
        by = free if free >= 0 else _dominator(filed, watched & has[k], wants, ~has[k])
        if by >= 0:
            found.append((k, by))
            continue
        top = wants[k].bit_length() - 1
        if top < 0:
            free = k
        else:
            filed.setdefault(top, []).append(k)
            watched |= 1 << top
    return found


def _dominator(filed: dict[int, list[int]], hits: int, wants: Sequence[int], lacks: int) -> int:
    """A node filed under one of the hits that wants nothing that is lacking; -1 where there is none."""
    while hits:
        top = hits.bit_length() - 1
        for k in filed[top]:
            if not wants[k] & lacks:
                return k
        hits ^= 1 << top
    return -1
