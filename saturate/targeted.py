"""A search cut down to a target: values in the layouts that they may need, made of the target's ops alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from saturate.cells import CellLimit, Cells, Layout
from saturate.degrees import mixed
from saturate.errors import TargetError
from saturate.extract import EXTRACTORS
from saturate.extract.costs import Profile
from saturate.lower import Lowered, index_order
from saturate.orders import indices
from saturate.program import Node, Program
from saturate.search import Search, emit
from saturate.target import Target
from saturate.ways import Ways

SHOWN = 3
"""So many steps of the closest form are told in an error."""


def targeted(found: Search, target: Target) -> Search:
    """The search over the cells of a target that lacks ops; raises `TargetError` where it lacks too many."""
    try:
        made = spanned(found, target, closest=False)
        if all(made.classes.nodes[root] for root in made.classes.roots):
            return made
        closest = spanned(found, target, closest=True)
    except CellLimit as error:
        raise _unfinished(found, target, error) from error
    raise _refusal(closest, target)


def spanned(found: Search, target: Target, closest: bool) -> Search:
    """The search over cells; with `closest`, ops that the target lacks are allowed and dear."""
    lattice, leaves = found.lattice, dict(found.leaf_axes)
    for node in found.baseline.nodes:
        for name, op in found.constants.items():
            if node.op is op:
                leaves[name] = found.denotation.axes[node.value]
    weights = [(axes, 1 + prod(i.size for i in axes if i)) for axes in leaves.values()]
    weights += [(root.axes, 1 + prod(root.shape)) for root in found.roots]
    order = index_order(weights)
    for free in tuple(lattice.free):
        for index in sorted(free):
            order.setdefault(index, len(order))

    def base(value: int, layout: Layout) -> int:
        free = lattice.free[value]
        return prod(i.size for i in indices(layout) if i in free or target.lacks("broadcast"))

    cells = Cells(target, target.profile or Profile(), lattice.dtype, base, closest)
    ways = Ways(lattice, cells, order, leaves, found.constants)
    roots = [(root.value, cells.layout(root.axes)) for root in found.roots]
    return replace(found, classes=cells.span(roots, ways.of), cells=cells)


def require(program: Program, target: Target, why: str) -> None:
    """Raise `TargetError` where the program needs ops that the target lacks; `why` tells how that came."""
    if target.missing(program):
        raise TargetError(f"{_told(program, target)}; {why}")


def _told(program: Program, target: Target) -> str:
    """What of a program as it is the target lacks."""
    first, *_ = nodes = target.missing(program)
    lacking = ", ".join(dict.fromkeys(node.op.name for node in nodes))
    return (
        f"{program.name} was not made for the target {target}: {first.label or first.value!r} (node "
        f"{first.id!r}) needs {first.op.name}; all that is missing: {lacking}"
    )


def _refusal(closest: Search, target: Target) -> TargetError:
    """The error: which values need what, and the form with the fewest ops that are missing."""
    lowered = emit(closest, EXTRACTORS["tree"](closest.classes))
    nodes = target.missing(lowered.program)
    proof = _proof(lowered.program, nodes[0], _named(closest, lowered, nodes[0]), target)
    return TargetError(
        f"{closest.baseline.name} cannot be made for the target {target}: "
        f"{_needed(closest, lowered, nodes)}{proof}"
    )


def _unfinished(found: Search, target: Target, error: CellLimit) -> TargetError:
    """The error of a search that ended too early: what the cheapest form with all ops has that is missing."""
    lowered = emit(found, EXTRACTORS["tree"](found.classes))
    nodes = target.missing(lowered.program)
    needed = _needed(found, lowered, nodes) if nodes else "the search for its form did not end"
    return TargetError(f"{found.baseline.name} was not made for the target {target}: {needed}; {error}")


def _needed(found: Search, lowered: Lowered, nodes: Sequence[Node]) -> str:
    """Values, what they need, and the nodes of the form that has them."""
    lacking = ", ".join(dict.fromkeys(node.op.name for node in nodes))
    lines = "; ".join(_line(node) for node in nodes[:SHOWN]) + (" …" if len(nodes) > SHOWN else "")
    values = list(dict.fromkeys(_named(found, lowered, node) for node in nodes))
    need = f"{', '.join(values)} need{'s' if len(values) == 1 else ''}"
    return f"{need} {lacking}; the closest form found has {lines}"


def _proof(program: Program, node: Node, named: str, target: Target) -> str:
    """Why a sum has no form at all, where that is known."""
    joined = mixed(program, node, target)
    if joined is None:
        return ""
    return (
        f"; no other form exists: what these ops make grows with each input by one power, and {named} joins "
        f"what grows as {joined[0]} to what grows as {joined[1]}"
    )


def _line(node: Node) -> str:
    name = node.label or node.value
    return f"{name} = {node.op.text(*node.operands)} : {node.type}"


def _named(found: Search, lowered: Lowered, node: Node) -> str:
    """The value by the user's name, by its node in the baseline, or by the nearest value that needs it."""
    queue, seen = [node], {node.value}
    while queue:
        node = queue.pop(0)
        known = _in_baseline(found, lowered, node)
        if known:
            return known
        for reader in lowered.program.readers[node.value]:
            if reader.value not in seen:
                seen.add(reader.value)
                queue.append(reader)
    return "a result"


def _in_baseline(found: Search, lowered: Lowered, node: Node) -> str:
    if node.label:
        return repr(node.label)
    for made, result in zip(lowered.program.results, found.baseline.results, strict=True):
        old = found.baseline.producer.get(result)
        if made == node.value and old:
            return f"{old.label or old.value!r} (node {old.id!r}, {old.op.name})"
    step = lowered.steps.get(node.value)
    if step is None:
        return ""
    value = found.value_of(step[0])
    for old in found.baseline.nodes:
        if found.lattice_value(old.value) == value:
            return f"{old.label or old.value!r} (node {old.id!r}, {old.op.name})"
    return ""
