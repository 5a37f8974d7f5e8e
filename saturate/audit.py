"""The audit: every class of an e-graph is worth one thing; a node that is worth another names its law."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from saturate.algebra import Ix
from saturate.egraph import TermClasses, TermNode
from saturate.op import AnyArray
from saturate.ops import OPS

Free = frozenset[Ix]
Axes = tuple[Ix | None, ...]
TOLERANCE = 1e-7
"""Relative to the class, its operands and one."""
REDUCE: dict[str, Any] = {"max": np.max, "min": np.min, "prod": np.prod}


@dataclass(frozen=True, eq=False)
class Disagreement:
    """A node that is not worth what its class is worth: the law that made it, and both values.

    Where the node has another dtype than its class, the values have these dtypes.
    """

    law: str
    number: int
    node: TermNode
    expected: AnyArray
    found: AnyArray

    def __str__(self) -> str:
        if self.expected.dtype != self.found.dtype:
            said = f"{self.found.dtype} among {self.expected.dtype}"
            return f"{self.law}: {self.node.kind} {self.node.head} in class {self.number} is {said}"
        worst = np.nanmax(
            np.abs(np.asarray(self.expected, float) - np.asarray(self.found, float)), initial=0.0
        )
        return f"{self.law}: {self.node.kind} {self.node.head} in class {self.number} is off by {worst:.3g}"


def audit(classes: TermClasses, values: Mapping[str, AnyArray]) -> list[Disagreement]:
    """Nodes that disagree with their class, in order; empty where every law did right.

    `values` holds the arrays of leaves by name, best at small sizes that are distinct primes. A class is
    worth what the first of its nodes that can be computed is worth, nodes of the program first; each node is
    evaluated in float64 from what its operands' classes are worth. Where both are NaN they agree; where their
    dtypes differ they do not, whatever they are worth.
    """
    worth = worths(classes, values)
    found: list[Disagreement] = []
    for number, nodes in enumerate(classes.nodes):
        dtype = next((node.dtype for node in nodes if node.dtype), "")
        for node in nodes:
            if number in worth and all(a in worth for a in node.args):
                value, free = _node(classes, number, node, worth, values)
                every = tuple(sorted(free | classes.free[number]))
                mine = arranged(value, free, every)
                expected = arranged(worth[number], classes.free[number], every)
                scale = max([1.0, *(_scale(worth[a]) for a in node.args)])
                if node.dtype not in ("", dtype):
                    both = expected.astype(dtype), mine.astype(node.dtype)
                    found.append(Disagreement(node.law, number, node, *both))
                elif not np.allclose(mine, expected, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True):
                    found.append(Disagreement(node.law, number, node, expected, mine))
    return found


def unreached(classes: TermClasses, values: Mapping[str, AnyArray]) -> list[int]:
    """Classes that cannot be computed from leaves; the audit says nothing of them."""
    worth = worths(classes, values)
    return [number for number in range(len(classes.nodes)) if number not in worth]


def _scale(value: AnyArray) -> float:
    finite = np.abs(value[np.isfinite(value)]) if value.dtype.kind == "f" else np.zeros(0)
    return float(finite.max(initial=0.0))


def worths(classes: TermClasses, values: Mapping[str, AnyArray]) -> dict[int, AnyArray]:
    """The value of every class, over its free indices; what laws made counts only where nothing else can."""
    worth: dict[int, AnyArray] = {}
    for mine in (True, False):
        grown = True
        while grown:
            grown = False
            for number, node in _candidates(classes, mine):
                if number not in worth and all(a in worth for a in node.args):
                    value, free = _node(classes, number, node, worth, values)
                    worth[number] = narrowed(value, free, classes.free[number])
                    grown = True
    return worth


def _candidates(classes: TermClasses, mine: bool) -> Iterator[tuple[int, TermNode]]:
    for number, nodes in enumerate(classes.nodes):
        for node in nodes:
            if not mine or node.law == "program":
                yield number, node


def narrowed(value: AnyArray, free: Free, kept: Free) -> AnyArray:
    """The value at the first place of the axes that its class was proved not to depend on."""
    return value[tuple(slice(None) if i in kept else 0 for i in sorted(free))]


def _node(
    classes: TermClasses,
    number: int,
    node: TermNode,
    worth: Mapping[int, AnyArray],
    values: Mapping[str, AnyArray],
) -> tuple[AnyArray, Free]:
    """The value of a node over its free indices in order, and those indices."""
    frees = [classes.free[a] for a in node.args]
    args = [worth[a] for a in node.args]
    with np.errstate(all="ignore"):
        value, free = node_value(node.kind, node.head, args, frees, values)
    dtype = np.dtype(classes.dtype[number])
    return np.asarray(value, np.float64 if dtype.kind == "f" else dtype), free


def node_value(
    kind: str,
    head: tuple[Any, ...],
    args: Sequence[AnyArray],
    frees: Sequence[Free],
    leaves: Mapping[str, AnyArray],
) -> tuple[AnyArray, Free]:
    """What a node or term is worth over its free indices in order, given its operands over theirs."""
    every = tuple(sorted(frozenset[Ix]().union(*frees)))
    match kind:
        case "leaf":
            name, indices = head
            squeezed = leaves[name].reshape([i.size for i in indices])
            return _ordered(squeezed, indices)
        case "delta":
            return np.eye(head[0].size), frozenset(head)
        case "ren":
            mapping = dict(head)
            return _ordered(args[0], [mapping.get(i, i) for i in sorted(frees[0])])
        case "con" | "red":
            summed: Free = head[1]
            axes = tuple(k for k, i in enumerate(every) if i in summed)
            aligned = [arranged(v, f, every) for v, f in zip(args, frees, strict=True)]
            if kind == "red":
                return REDUCE[head[0]](aligned[0], axis=axes), frozenset(every) - summed
            product: AnyArray = reduce(np.multiply, aligned, np.asarray(float(head[0])))
            missing = np.prod([float(i.size) for i in summed - frozenset(every)])
            total: AnyArray = product.sum(axis=axes) if axes else product
            return total * missing, frozenset(every) - summed
        case "plus":
            return reduce(
                np.add, (arranged(v, f, every) for v, f in zip(args, frees, strict=True))
            ), frozenset(every)
        case "fn":
            return _function(
                head[0], [arranged(v, f, every) for v, f in zip(args, frees, strict=True)]
            ), frozenset(every)
        case _:
            return _opaque(head, args, frees)


def arranged(value: AnyArray, free: Free, axes: Axes) -> AnyArray:
    """`value` over sorted `free` indices with these axes: None and an index that it lacks have size one."""
    order = sorted(free)
    kept = [i for i in axes if i is not None and i in free]
    moved = value.transpose([order.index(i) for i in kept])
    return moved.reshape([i.size if i is not None and i in free else 1 for i in axes])


def _ordered(value: AnyArray, axes: Sequence[Ix]) -> tuple[AnyArray, Free]:
    """The value with its axes, named in order, sorted."""
    return value.transpose([list(axes).index(i) for i in sorted(axes)]), frozenset(axes)


def _function(name: str, operands: list[AnyArray]) -> AnyArray:
    kind, _, attribute = name.partition(":")
    if kind == "literal":
        return np.asarray(float(attribute))
    if kind == "cast":
        return operands[0].astype(np.float64 if np.dtype(attribute).kind == "f" else attribute)
    if kind == "recip":
        return 1.0 / operands[0]
    value: AnyArray = OPS[name]().evaluate(np, *np.broadcast_arrays(*operands))
    return value


def _opaque(head: tuple[Any, ...], args: Sequence[AnyArray], frees: Sequence[Free]) -> tuple[AnyArray, Free]:
    (op, shapes), results, indices = head
    operands = [
        np.broadcast_to(arranged(v, f, axes), shape)
        for v, f, axes, shape in zip(args, frees, indices, shapes, strict=True)
    ]
    out = np.asarray(op.evaluate(np, *operands))
    named = [i for i in results if i is not None]
    return _ordered(out.reshape([i.size for i in named]), named)
