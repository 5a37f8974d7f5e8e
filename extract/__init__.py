"""What is cheap: extractors, cost models and reports. Imported as `saturate.extract`, never as `extract`."""

from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral, Real

from saturate.errors import ExtractionError, shown
from saturate.extract.auto import auto
from saturate.extract.classes import Classes, ENode
from saturate.extract.exact import exact
from saturate.extract.extraction import Extraction
from saturate.extract.greedy import greedy
from saturate.extract.read import read
from saturate.extract.tree import tree


def _asked(extractor: Callable[..., Extraction]) -> Callable[..., Extraction]:
    """The extractor, with its figures looked at first."""

    @wraps(extractor)
    def called(
        classes: Classes,
        seconds: float | None = 10,
        seed: int = 0,
        *,
        warm: Mapping[int, int] | None = None,
        work: int | None = None,
    ) -> Extraction:
        number, whole, open_ = "a number from 0 on", "a whole number from 0 on", ", or None for no limit"
        for what, given, kind, said in (
            ("seconds", 0 if seconds is None else seconds, Real, number + open_),
            ("seed", seed, Integral, whole),
            ("work", 0 if work is None else work, Integral, whole + open_),
        ):
            if not isinstance(given, kind) or not given >= 0:
                name = extractor.__name__
                raise ExtractionError(
                    f"the extractor {name} needs {what} as {said}; got {shown(given)}", code="argument"
                )
        return extractor(classes, seconds, seed, warm=warm, work=work)

    return called


EXTRACTORS: dict[str, Callable[..., Extraction]] = {
    f.__name__: _asked(f) for f in (tree, greedy, exact, auto)
}
"""By name. Each raises `ExtractionError` (code `argument`) for wrong seconds, seed or work."""

__all__ = ["EXTRACTORS", "Classes", "ENode", "Extraction", "read"]

if __name__ != "saturate.extract":
    raise ImportError(
        "import this package as saturate.extract: under another name a second registry would be built"
    )
