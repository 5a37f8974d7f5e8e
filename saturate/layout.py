"""Where boxes go in a drawing of a graph: in rows from operands to users, near what they are joined to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

GAP = 34.0
"""Least distance between two boxes of a row."""


def ranks(alternatives: Sequence[Sequence[Sequence[int]]]) -> list[int]:
    """The row of each class: 0 without operands, else one below the lowest class that its first way needs.

    `alternatives[c]` are the ways to make class c, each the classes that it needs. Where first ways run in a
    circle, the circle is cut at the class where it was entered.
    """
    found: dict[int, int] = {}
    for start in range(len(alternatives)):
        stack, open_ = [start], set[int]()
        while stack:
            c = stack[-1]
            first = alternatives[c][0] if alternatives[c] else ()
            waiting = [d for d in first if d not in found and d not in open_ and d != c]
            if waiting and c not in found:
                open_.add(c)
                stack += waiting
                continue
            found.setdefault(c, 1 + max((found[d] for d in first if d in found), default=-1))
            stack.pop()
    return [found[c] for c in range(len(alternatives))]


def rows(rank: Sequence[int], joined: Mapping[int, Sequence[int]], sweeps: int = 8) -> list[list[int]]:
    """Classes by row, so that edges cross little: each sweep sorts a row by the mean place of neighbours."""
    lines: list[list[int]] = [[] for _ in range(1 + max(rank, default=-1))]
    for c, r in enumerate(rank):
        lines[r].append(c)
    place = {c: k / len(line) for line in lines for k, c in enumerate(line)}
    for sweep in range(sweeps):
        for line in lines if sweep % 2 == 0 else reversed(lines):
            mean = {c: _mean([place[d] for d in joined[c]], place[c]) for c in line}
            line.sort(key=lambda c: (mean[c], c))
            place |= {c: (k + 0.5) / len(line) for k, c in enumerate(line)}
    return lines


def wrapped(lines: Sequence[Sequence[int]], width: Sequence[float], limit: float) -> list[list[int]]:
    """Rows wider than `limit` as several; boxes are dealt out in turn, in their order from the left."""
    found: list[list[int]] = []
    for line in lines:
        total = sum(width[c] + GAP for c in line)
        parts = min(len(line), max(1, ceil(total / limit)))
        found += [list(line[k::parts]) for k in range(parts)]
    return found


def centres(
    lines: Sequence[Sequence[int]],
    joined: Mapping[int, Sequence[int]],
    width: Sequence[float],
    sweeps: int = 12,
) -> list[float]:
    """The middle of each box: near that of its neighbours, never closer than `GAP` to the box beside it."""
    x = [0.0] * len(width)
    for line in lines:
        _spread(line, x, {c: 0.0 for c in line}, width)
    for sweep in range(sweeps):
        for line in lines if sweep % 2 == 0 else reversed(lines):
            _spread(line, x, {c: _mean([x[d] for d in joined[c]], x[c]) for c in line}, width)
    left = min((x[c] - width[c] / 2 for c in range(len(width))), default=0.0)
    return [c - left for c in x]


def _spread(line: Sequence[int], x: list[float], wanted: Mapping[int, float], width: Sequence[float]) -> None:
    """Put the boxes of a row where they want to be; those that would touch share the mean of their wishes."""
    blocks: list[tuple[list[int], float]] = []
    for c in line:
        members, start = [c], wanted[c] - width[c] / 2
        while blocks and _end(blocks[-1], width) + GAP > start:
            members = blocks.pop()[0] + members
            start = _mean([wanted[m] - _offset(members, m, width) for m in members], 0.0)
        blocks.append((members, start))
    for members, start in blocks:
        for m in members:
            x[m] = start + _offset(members, m, width)


def _end(block: tuple[list[int], float], width: Sequence[float]) -> float:
    members, start = block
    return start + sum(width[m] for m in members) + GAP * (len(members) - 1)


def _offset(members: Sequence[int], member: int, width: Sequence[float]) -> float:
    """From the left end of a block to the middle of one of its boxes."""
    before = members[: members.index(member)]
    return sum(width[m] + GAP for m in before) + width[member] / 2


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
