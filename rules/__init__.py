"""What is true: the catalogue of laws. Imported as `saturate.rules`, never as `rules`."""

if __name__ != "saturate.rules":
    raise ImportError(
        "import this package as saturate.rules: under another name a second catalogue would be built"
    )

from saturate.rules import exponential, reciprocal, ring, sigmoid
from saturate.rules.law import BITWISE, BOUNDED, DOMAIN, EXACTNESS, ROUNDING, Law, law

THEORIES: dict[str, tuple[Law, ...]] = {
    "ring": ring.LAWS,
    "reciprocal": reciprocal.LAWS,
    "exponential": exponential.LAWS,
    "sigmoid": sigmoid.LAWS,
}
"""The laws by theory."""

CATALOGUE: tuple[Law, ...] = tuple(law for laws in THEORIES.values() for law in laws)
"""Every law of the package, in a fixed order."""

__all__ = ["BITWISE", "BOUNDED", "CATALOGUE", "DOMAIN", "EXACTNESS", "ROUNDING", "THEORIES", "Law", "law"]
