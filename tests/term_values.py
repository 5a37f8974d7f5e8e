"""What a term of the index algebra is worth, in NumPy: an array over the term's free indices in order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from saturate.algebra import Ix, Term
from saturate.op import AnyArray
from saturate.ops import OPS

Axes = tuple[Ix | None, ...]
REDUCE: dict[str, Any] = {"max": np.max, "min": np.min, "prod": np.prod}


def arranged(value: AnyArray, free: frozenset[Ix], axes: Axes) -> AnyArray:
    """`value` over sorted `free` indices with these axes: None and an index that it lacks have size one."""
    order = sorted(free)
    kept = [i for i in axes if i is not None and i in free]
    moved = value.transpose([order.index(i) for i in kept])
    return moved.reshape([i.size if i is not None and i in free else 1 for i in axes])


def evaluate(term: Term, leaves: Mapping[str, AnyArray], done: dict[int, AnyArray] | None = None) -> AnyArray:
    """The value of a term; `leaves` holds arrays by the names of leaves."""
    done = {} if done is None else done
    if term.id not in done:
        value = np.asarray(_value(term, [evaluate(a, leaves, done) for a in term.args], leaves))
        assert value.shape == tuple(i.size for i in sorted(term.free)), f"{term} has the wrong free indices"
        done[term.id] = value.astype(term.dtype, copy=False)
    return done[term.id]


def _value(term: Term, args: list[AnyArray], leaves: Mapping[str, AnyArray]) -> AnyArray:
    free: set[Ix] = set(term.free).union(*(a.free for a in term.args))
    order = tuple(sorted(free))
    aligned = [arranged(v, a.free, order) for v, a in zip(args, term.args, strict=True)]
    match term.kind:
        case "leaf":
            name, indices = term.head
            squeezed = leaves[name].reshape([i.size for i in indices])
            return squeezed.transpose([indices.index(i) for i in sorted(indices)])
        case "con":
            k, summed = term.head
            product: AnyArray = reduce(np.multiply, aligned, np.asarray(float(k)))
            total: AnyArray = product.sum(axis=tuple(order.index(i) for i in summed))
            return total
        case "plus":
            return reduce(np.add, aligned)
        case "red":
            kind, indices = term.head
            value: AnyArray = REDUCE[kind](aligned[0], axis=tuple(order.index(i) for i in indices))
            return value
        case "delta":
            return np.eye(term.head[0].size)
        case "ren":
            mapping = dict(term.head)
            (a,) = term.args
            return arranged_from(args[0], [mapping.get(i, i) for i in sorted(a.free)], sorted(term.free))
        case "fn":
            return _function(term.head[0], aligned)
        case _:
            return _opaque(term, args)


def arranged_from(value: AnyArray, axes: list[Ix], order: list[Ix]) -> AnyArray:
    """`value` with its axes, named by `axes`, put into `order`."""
    return value.transpose([axes.index(i) for i in order])


def _function(name: str, operands: list[AnyArray]) -> AnyArray:
    kind, _, attribute = name.partition(":")
    if kind == "literal":
        return np.asarray(float(attribute))
    if kind == "cast":
        return operands[0].astype(attribute)
    if kind == "recip":
        return 1.0 / operands[0]
    value: AnyArray = OPS[name]().evaluate(np, *np.broadcast_arrays(*operands))
    return value


def _opaque(term: Term, args: list[AnyArray]) -> AnyArray:
    (op, shapes), results, operand_axes = term.head
    operands = [
        np.broadcast_to(arranged(v, a.free, axes), shape)
        for v, a, axes, shape in zip(args, term.args, operand_axes, shapes, strict=True)
    ]
    out = np.asarray(op.evaluate(np, *operands))
    named = [i for i in results if i is not None]
    return arranged_from(out.reshape([i.size for i in named]), named, sorted(named))
