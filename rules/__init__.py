"""What is true: the catalogue of laws. Imported as `saturate.rules`, never as `rules`."""

if __name__ != "saturate.rules":
    raise ImportError(
        "import this package as saturate.rules: under another name a second catalogue would be built"
    )

from saturate.rules import contraction, exponential, lowering, order, reciprocal, ring, sigmoid, structure
from saturate.rules.identity import Identity, identity
from saturate.rules.law import BITWISE, BOUNDED, DOMAIN, EXACTNESS, ROUNDING, Law, law

THEORIES: dict[str, tuple[Law, ...]] = {
    "ring": ring.LAWS,
    "reciprocal": reciprocal.LAWS,
    "exponential": exponential.LAWS,
    "sigmoid": sigmoid.LAWS,
    "order": order.LAWS,
}
"""The laws by theory."""

IDENTITIES: dict[str, tuple[Identity, ...]] = {
    "contraction": contraction.IDENTITIES,
    "structure": structure.IDENTITIES,
    "lowering": lowering.IDENTITIES,
}
"""The theories that need no law, since terms and their normal forms decide them."""

CATALOGUE: tuple[Law, ...] = tuple(law for laws in THEORIES.values() for law in laws)
"""Every law of the package, in a fixed order."""

__all__ = [
    "BITWISE",
    "BOUNDED",
    "CATALOGUE",
    "DOMAIN",
    "EXACTNESS",
    "IDENTITIES",
    "ROUNDING",
    "THEORIES",
    "Identity",
    "Law",
    "identity",
    "law",
]
