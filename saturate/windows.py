"""Long programs in pieces: each window is a program of its own, with the backward of what it holds.

A transformer is one block many times over, and laws meet within a block. So the forward part is cut where
few values pass from what stands before to what stands after, and every backward node goes with the forward
nodes that it differentiates: with those of the earliest window among its operands, since cotangents run from
late to early. Constants and views are made again in each window that reads them. What a window reads from
others is its inputs, what others read is its outputs. Ids and input names are canonical, so that equal
windows are equal programs, and are solved once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from saturate.build import Builder, Value
from saturate.program import Node, Program

LEAST, MOST = 14, 34
"""Forward nodes of a window, views not counted; no cut where it would leave fewer."""
WIDTH = 2
"""So many values may pass a cut; where more have to, a window is twice as long."""

NAMED = 4
"""So many of its values name a window."""


@dataclass(frozen=True)
class Window:
    """A piece of a program; `inputs`, `outputs` and `values` name values of the whole for its own."""

    program: Program
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    values: Mapping[str, str]


def windows(program: Program) -> tuple[Window, ...]:
    """The pieces of a program, in the order of its forward part; one for a program that is not long."""
    forward = _forward(program)
    cuts = _cuts(program, forward)
    owner = _owners(program, forward, cuts)
    members: list[list[Node]] = [[] for _ in range(len(cuts) + 1)]
    for node in program.nodes:
        members[owner[node.value]].append(node)
    needed = [_with_copies(program, nodes) for nodes in members]
    read = {v for nodes in needed for v in _outside(nodes)} | set(program.results)
    return tuple(
        _window(program, nodes, [n.value for n in own if n.value in read])
        for own, nodes in zip(members, needed, strict=True)
        if any(n.value in read for n in own)
    )


def titles(program: Program, pieces: Sequence[Window], keys: Sequence[str]) -> tuple[str, ...]:
    """What each window is called: its number, one for all of a key, with the first of its forward values, as
    the program names them.
    """
    forward = {n.value for n in _forward(program)}
    found: dict[str, str] = {}
    for piece, key in zip(pieces, keys, strict=True):
        if key not in found:
            made = [program.producer[piece.values[n.value]] for n in piece.program.nodes if not _copied(n)]
            own = [n for n in made if n.value in forward]
            names = list(dict.fromkeys([n.label for n in own if n.label] or [n.value for n in own]))
            told = ", ".join([*names[:NAMED], *["…"] * (len(names) > NAMED)])
            found[key] = f"window {len(found) + 1} ({told})"
    return tuple(found[key] for key in keys)


def _forward(program: Program) -> list[Node]:
    """The nodes that the outputs need, in order."""
    needed = set(program.outputs)
    for node in reversed(program.nodes):
        if node.value in needed:
            needed.update(node.operands)
    return [n for n in program.nodes if n.value in needed]


def _copied(node: Node) -> bool:
    """Whether each window makes the value itself: it costs nothing to make."""
    return node.op.view or not node.operands


def _cuts(program: Program, forward: Sequence[Node]) -> list[int]:
    """Positions in the forward part behind which a window ends."""
    last = {v: k for k, n in enumerate(forward) for v in n.operands} | dict.fromkeys(
        program.outputs, len(forward)
    )
    alive = [0] * (len(forward) + 1)
    for k, node in enumerate(forward):
        alive[k] += 1
        alive[min(last.get(node.value, k), len(forward))] -= 1
    passing, total = [], 0
    for change in alive[:-1]:
        total += change
        passing.append(total)
    cuts: list[int] = []
    start, best, size = 0, -1, 0
    sizes = [0 if _copied(n) else 1 for n in forward]
    left = sum(sizes)
    for k, own in enumerate(sizes):
        size, left = size + own, left - own
        within = size >= LEAST and left >= LEAST and sizes[k + 1] > 0
        if within and (best < start or passing[k] <= passing[best]):
            best = k
        if best >= start and size >= (MOST if passing[best] <= WIDTH else 2 * MOST):
            cuts.append(best)
            size, start = sum(sizes[best + 1 : k + 1]), best + 1
    return cuts


def _owners(program: Program, forward: Sequence[Node], cuts: Sequence[int]) -> dict[str, int]:
    """The window of each node."""
    found: dict[str, int] = {}
    window = 0
    for k, node in enumerate(forward):
        found[node.value] = window
        window += k in cuts
    told: dict[str, int] = {}
    for value in program.types:
        read = {found[n.value] for n in program.readers[value] if n.value in found}
        here = {found[value]} if value in found else set[int]()
        if len(read | here) == 1:
            told[value] = min(read | here)
    for node in program.nodes:
        if node.value not in found:
            known = [told[v] for v in node.operands if v in told]
            found[node.value] = min(known, default=window)
            if known:
                told[node.value] = found[node.value]
    return found


def _outside(nodes: Sequence[Node]) -> list[str]:
    """What the nodes read and do not make, in the order of first use."""
    made = {n.value for n in nodes}
    return list(dict.fromkeys(v for n in nodes for v in n.operands if v not in made))


def _with_copies(program: Program, own: Sequence[Node]) -> list[Node]:
    """The nodes, and the constants and views of others that they read."""
    kept = {n.value for n in own}
    stack = [v for n in own for v in n.operands]
    while stack:
        node = program.producer.get(stack.pop())
        if node is not None and node.value not in kept and _copied(node):
            kept.add(node.value)
            stack.extend(node.operands)
    return [n for n in program.nodes if n.value in kept]


def _window(program: Program, nodes: Sequence[Node], outputs: Sequence[str]) -> Window:
    inputs = _outside(nodes)
    builder = Builder()
    made = {v: builder.input(f"a{k}", program.types[v]) for k, v in enumerate(inputs)}
    for node in nodes:
        made[node.value] = builder.emit(node.op, *(made[v] for v in node.operands), label=node.label)
    found = builder.program("window", tuple(made[v].id for v in outputs))
    return Window(found, tuple(inputs), tuple(outputs), {x.id: v for v, x in made.items()})


@dataclass(frozen=True)
class Stitched:
    """A whole program made of other programs for its windows; `made` holds, window by window, its value for
    each value of those.
    """

    program: Program
    made: tuple[Mapping[str, str], ...]


Key = tuple[int, str]
"""A window and a value of the program that was found for it; −1 and a value id for inputs of the whole."""


def stitched(whole: Program, pieces: Sequence[Window], found: Sequence[Program]) -> Stitched | None:
    """The whole program with each window computed as the program found for it computes it.

    Nodes stand as early as what they read allows, counted in the order of the whole. None where windows
    would wait for each other: where one computes what another reads from what that one makes of it.
    """
    seam = _Seam(whole, pieces, found)
    order = seam.ordered()
    if len(order) < sum(len(program.nodes) for program in found):
        return None
    builder = Builder()
    values: dict[Key, Value] = {(-1, i.value): builder.input(i.name, i.type) for i in whole.inputs}
    for key, node in order:
        operands = [values[seam.source(key[0], v)] for v in node.operands]
        values[key] = builder.emit(node.op, *operands, label=node.label)
    results = [values[seam.export(v)].id for v in whole.results]
    split = len(whole.outputs)
    names = [name for name, _ in whole.gradients]
    program = builder.program(
        whole.name, tuple(results[:split]), tuple(zip(names, results[split:], strict=True))
    )
    made = [
        {v: values[key].id for v in piece.types if (key := seam.source(w, v)) in values}
        for w, piece in enumerate(found)
    ]
    return Stitched(program, tuple(made))


class _Seam:
    """Which value of which window stands behind each value that a window reads."""

    def __init__(self, whole: Program, pieces: Sequence[Window], found: Sequence[Program]) -> None:
        self._found = found
        self._place = {v: k for k, v in enumerate(whole.types)}
        self._read = [
            {i.value: v for i, v in zip(program.inputs, piece.inputs, strict=True)}
            for piece, program in zip(pieces, found, strict=True)
        ]
        self._made: dict[str, Key] = {i.value: (-1, i.value) for i in whole.inputs}
        for w, (piece, program) in enumerate(zip(pieces, found, strict=True)):
            self._made |= {v: (w, out) for v, out in zip(piece.outputs, program.outputs, strict=True)}

    def export(self, value: str) -> Key:
        """Where a value of the whole program is made."""
        return self.source(*self._made[value])

    def source(self, window: int, value: str) -> Key:
        """Where a value of a window's program is made."""
        if window < 0 or value not in self._read[window]:
            return window, value
        return self.export(self._read[window][value])

    def ordered(self) -> list[tuple[Key, Node]]:
        """All nodes that do not wait for themselves, operands first, as early as the whole's order allows."""
        nodes = {(w, n.value): n for w, program in enumerate(self._found) for n in program.nodes}
        number = {key: k for k, key in enumerate(nodes)}
        readers: dict[Key, list[Key]] = {}
        missing: dict[Key, int] = {}
        for key, node in nodes.items():
            sources = {self.source(key[0], v) for v in node.operands}
            missing[key] = sum(s[0] >= 0 for s in sources)
            for source in sources:
                readers.setdefault(source, []).append(key)
        time: dict[Key, int] = {}
        ready: list[tuple[int, int, Key]] = [(0, number[k], k) for k, count in missing.items() if not count]
        heapify(ready)
        order: list[tuple[Key, Node]] = []
        while ready:
            _, _, key = heappop(ready)
            node = nodes[key]
            time[key] = max((self._time(key[0], v, time) for v in node.operands), default=0)
            order.append((key, node))
            for reader in readers.get(key, ()):
                missing[reader] -= 1
                if not missing[reader]:
                    at = max((self._time(reader[0], v, time) for v in nodes[reader].operands), default=0)
                    heappush(ready, (at, number[reader], reader))
        return order

    def _time(self, window: int, value: str, time: Mapping[Key, int]) -> int:
        """When a value is there: for one from elsewhere, its place in the whole."""
        if value in self._read[window]:
            return self._place[self._read[window][value]]
        return time[window, value]
