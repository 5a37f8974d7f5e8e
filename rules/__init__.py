"""What is true: the catalogue of laws. Imported as `saturate.rules`, never as `rules`."""

if __name__ != "saturate.rules":
    raise ImportError(
        "import this package as saturate.rules: under another name a second catalogue would be built"
    )

from saturate.rules import exponential, order, reciprocal, ring, sigmoid
from saturate.rules.law import BITWISE, BOUNDED, DOMAIN, EXACTNESS, ROUNDING, Law, law

THEORIES: dict[str, tuple[Law, ...]] = {
    "ring": ring.LAWS,
    "reciprocal": reciprocal.LAWS,
    "exponential": exponential.LAWS,
    "sigmoid": sigmoid.LAWS,
    "order": order.LAWS,
}
"""The laws by theory."""

ELSEWHERE: dict[str, str] = {
    "contraction": "A product is a node over a multiset, so grouping and order are no laws; "
    "`saturate.lattice` spans every order in which it can be computed. δ(i,j) under a sum is a substitution "
    "(`saturate.algebra`): traces and diagonals of products, outer products and their sums are equal by "
    "their terms. Names of bound indices do not count (`saturate.alike`), so a trace is cyclic.",
    "structure": "Transposition, broadcasting and axes of size one are names of indices, and a renaming goes "
    "into leaves and products. A reshape that splits axes, gather, concatenation and padding are opaque: the "
    "same op on the same value is done once (`saturate.cse`), and nothing else is claimed of them.",
    "lowering": "A mean is 1/n·Σ, a product with ones is Σ, a scale on rows is a product: equal by their "
    "terms. Which of them is computed is a matter of price (`saturate.lattice`, `saturate.lower`), for "
    "backends without reductions of the passes (`saturate.passes`).",
}
"""Theories that need no laws, since terms, normal forms or lowering decide them; tests hold each of these."""

CATALOGUE: tuple[Law, ...] = tuple(law for laws in THEORIES.values() for law in laws)
"""Every law of the package, in a fixed order."""

__all__ = [
    "BITWISE",
    "BOUNDED",
    "CATALOGUE",
    "DOMAIN",
    "ELSEWHERE",
    "EXACTNESS",
    "ROUNDING",
    "THEORIES",
    "Law",
    "law",
]
