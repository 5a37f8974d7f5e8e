"""What a term of the index algebra is worth, in NumPy: an array over the term's free indices in order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from saturate.algebra import Term
from saturate.audit import arranged, node_value
from saturate.op import AnyArray

__all__ = ["arranged", "evaluate"]


def evaluate(term: Term, leaves: Mapping[str, AnyArray], done: dict[int, AnyArray] | None = None) -> AnyArray:
    """The value of a term; `leaves` holds arrays by the names of leaves."""
    done = {} if done is None else done
    if term.id not in done:
        args = [evaluate(a, leaves, done) for a in term.args]
        value, free = node_value(term.kind, term.head, args, [a.free for a in term.args], leaves)
        assert free == term.free, f"{term} has the wrong free indices"
        done[term.id] = np.asarray(value).astype(term.dtype, copy=False)
    return done[term.id]
