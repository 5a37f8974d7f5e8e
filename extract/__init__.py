"""What is cheap: extractors, cost models and reports. Imported as `saturate.extract`, never as `extract`."""

from collections.abc import Callable

from saturate.extract.auto import auto
from saturate.extract.classes import Classes, ENode
from saturate.extract.exact import exact
from saturate.extract.extraction import Extraction
from saturate.extract.greedy import greedy
from saturate.extract.read import read
from saturate.extract.tree import tree

EXTRACTORS: dict[str, Callable[..., Extraction]] = {
    "tree": tree,
    "greedy": greedy,
    "exact": exact,
    "auto": auto,
}

__all__ = ["EXTRACTORS", "Classes", "ENode", "Extraction", "read"]

if __name__ != "saturate.extract":
    raise ImportError(
        "import this package as saturate.extract: under another name a second registry would be built"
    )
