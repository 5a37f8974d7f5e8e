"""What optimizing rewrote: regions of nodes between values that both programs have; it changes no program.

A value of the result is *the same* as one of the program before where both are one value of the lattice with
their indices in one order, and of one type. Between values that are the same lies a region: the nodes that
computed a value before, the nodes that compute it now, and the laws that put them there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from saturate.algebra import Ix
from saturate.cse import share, twins
from saturate.improve import Improved
from saturate.lower import Lowered
from saturate.op import Type
from saturate.ops.structure import Reshape, Transpose
from saturate.passes.records import RANK_PRESERVING, RANK_REDUCING, MeanExpansionRegion
from saturate.program import Node, Program
from saturate.search import Search

OPTIMIZED = "optimize"
"""Name of the optimizer in its records."""

Known = tuple[int, tuple[Ix, ...]]


@dataclass(frozen=True)
class RewriteRegion(MeanExpansionRegion):
    """A value that is computed in another way: the record of a pass, with the laws and the value before.

    Source nodes are those of the baseline (with shared work) that computed `source_value_id` from values that
    the result has too; a node that several values needed stands in the region of each. Emitted nodes are
    those of the result that compute `terminal_value_id`, each in one region. `laws` names the laws and the
    lowerings that made them; it is empty where the normal form, or the layout of axes, is all that changed.
    """

    laws: tuple[str, ...]
    source_value_id: str


@dataclass(frozen=True)
class Provenance:
    """The regions of an optimization in the order of its result, and for values of that the values of the
    baseline that they are.
    """

    regions: tuple[RewriteRegion, ...]
    same: Mapping[str, str]


def provenance(baseline: Program, improved: Improved) -> Provenance:
    """What an optimization rewrote; what shared work alone removes has no region."""
    shared = share(baseline)
    same = _same_of_parts(baseline, improved) if improved.parts else _same(improved, shared)
    return Provenance(regions(shared, improved.program, same, improved.laws), same)


def _same_of_parts(baseline: Program, improved: Improved) -> dict[str, str]:
    """Values of the whole that are values of the baseline, each of those once, by its windows."""
    first = twins(baseline)
    found: dict[str, str] = {}
    taken: set[str] = set()
    for part in improved.parts:
        inner = _same(part.improved, share(part.window.program))
        for new, old in inner.items():
            value, before = part.made.get(new, ""), part.window.values[old]
            before = first.get(before, before)
            if value in improved.program.types and value not in found and before not in taken:
                found[value] = before
                taken.add(before)
    return found


def _same(improved: Improved, shared: Program) -> dict[str, str]:
    same = {value: value for value in shared.types}
    for a_pass in improved.passes:
        if a_pass.taken:
            result = share(a_pass.lowered.program)
            step = matched(a_pass.search, a_pass.lowered, result, a_pass.search.baseline)
            same = {new: same[old] for new, old in step.items() if old in same}
    return same


def matched(found: Search, lowered: Lowered, result: Program, before: Program) -> dict[str, str]:
    """For values of the result the value before that they are, each one of those once."""
    known: dict[Known, list[str]] = {}
    for value in before.types:
        number = found.lattice_value(value)
        if number is not None:
            axes = found.denotation.axes[value]
            known.setdefault((number, tuple(i for i in axes if i is not None)), []).append(value)
    same: dict[str, str] = {}
    taken: set[str] = set()
    pairs = [
        *((i.value, old.value) for i, old in zip(result.inputs, before.inputs, strict=True)),
        *zip(result.results, before.results, strict=True),
    ]
    for value, place in _places(lowered, result).items():
        pairs += [(value, old) for old in known.get(place, ())]
    for value, old in pairs:
        if value not in same and old not in taken and result.types[value] == before.types[old]:
            same[value] = old
            taken.add(old)
    computed = {(node.op, node.operands): node.value for node in before.nodes}
    for node in result.nodes:
        alike = computed.get((node.op, tuple(same.get(v, "") for v in node.operands)))
        if alike and node.value not in same and alike not in taken:
            same[node.value] = alike
            taken.add(alike)
    return same


def _places(lowered: Lowered, result: Program) -> dict[str, Known]:
    """The lattice values that values of the result are, views included."""
    found: dict[str, Known] = {v: place for v, place in lowered.orders.items() if v in result.types}
    for node in result.nodes:
        if node.value not in found and node.operands and node.operands[0] in found:
            number, order = found[node.operands[0]]
            if isinstance(node.op, Reshape):
                found[node.value] = number, order
            elif isinstance(node.op, Transpose) and _whole(result.types[node.operands[0]], order):
                found[node.value] = number, tuple(order[k] for k in node.op.permutation)
    return found


def _whole(kind: Type, order: tuple[Ix, ...]) -> bool:
    """Whether the axes of an array are these indices, none merged and none of size one."""
    return kind.shape == tuple(i.size for i in order)


def regions(
    baseline: Program, result: Program, same: Mapping[str, str], laws: Mapping[str, str]
) -> tuple[RewriteRegion, ...]:
    """One region for every value of the result that the baseline has and computes in another way, in order.

    `same` names values of the baseline by values of the result, `baseline` has shared work once.
    """
    anchors = set(same.values())
    place = {node.value: k for k, node in enumerate(baseline.nodes)}
    claimed: set[str] = set()
    found: list[RewriteRegion] = []
    for node in result.nodes:
        if node.value not in same:
            continue
        old = baseline.producer.get(same[node.value])
        emitted = _between(result, node.value, same.keys() | claimed)
        claimed |= {n.value for n in emitted}
        if old is None or kept(node, old, same):
            continue
        sources = _between(baseline, old.value, anchors)
        found.append(
            RewriteRegion(
                OPTIMIZED,
                tuple(n.id for n in sorted(sources, key=lambda n: place[n.value])),
                tuple(n.id for n in emitted),
                node.value,
                _tier(node, result),
                tuple(dict.fromkeys(laws[n.value] for n in emitted if n.value in laws)),
                old.value,
            )
        )
    return tuple(found)


def _between(program: Program, value: str, stops: Iterable[str]) -> list[Node]:
    """The nodes that compute the value from others, in program order."""
    stops, seen, stack = set(stops) - {value}, set[str](), [value]
    while stack:
        v = stack.pop()
        node = program.producer.get(v)
        if node is not None and v not in seen and v not in stops:
            seen.add(v)
            stack.extend(node.operands)
    return [n for n in program.nodes if n.value in seen]


def kept(node: Node, old: Node, same: Mapping[str, str]) -> bool:
    """Whether a node computes what the old one did, from the same values."""
    return node.op == old.op and tuple(same.get(v) for v in node.operands) == old.operands


def _tier(node: Node, program: Program) -> str:
    reduces = isinstance(node.op, Reshape) and node.type.rank < program.types[node.operands[0]].rank
    return RANK_REDUCING if reduces else RANK_PRESERVING
