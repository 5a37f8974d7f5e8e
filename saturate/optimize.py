"""`optimize`: the whole road from a NumPy function to a checked callable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from saturate.optimized import Optimized
from saturate.program import Program
from saturate.recall import answered
from saturate.request import Request
from saturate.rules import Law
from saturate.saturation import Limits
from saturate.target import Target


def optimize(
    f: Callable[..., Any] | Program,
    *examples: Any,
    wrt: Any = None,
    target: str | Target = "numpy",
    exact: str = "rounding",
    accuracy: float | None = 4.0,
    samples: Sequence[Sequence[Any]] | None = None,
    rules: Sequence[Law] | None = None,
    extractor: str = "auto",
    limits: Limits = Limits(),  # noqa: B008  # frozen
    memory: None = None,
    check: bool = True,
    seed: int = 0,
) -> Optimized:
    """The cheapest program with the same value and gradients as `f`, found by equality saturation.

    `f` is a NumPy function or a `Program`; `examples` are arrays, `Type`s or nested dicts, lists and tuples
    of them. `wrt` names the arguments to differentiate by (names, positions, or a tuple or list of them;
    gradients come in its structure); None optimizes the value alone. `target` is a runner by name, or a
    `Target` that says which ops the result may be made of. `exact` admits laws up to a class of
    exactness. A program is taken only if its error against a wider reference is at most `accuracy` times
    what the baseline's can be (`saturate.check.check` says what counts) on hostile samples, or on
    `samples`, argument tuples that stand for the user's data; None
    turns this off, and the report says so. `rules` are the laws to use, the catalogue by default; one that
    is not of the catalogue is tested first, and refused with a counter-example where it is false, unless it
    is declared `unchecked=True`, which the report says. Limits are counts with seconds as a backstop, so
    that equal input gives equal text; seconds bound searching, not one extraction, measuring or the check.
    With `check` the answer is checked before it is returned. Raises errors of `saturate.errors`, each saying
    what came and what to do.
    """
    request = Request.of(
        f, examples, wrt, target, exact, accuracy, samples, rules, extractor, limits, memory, check, seed
    )  # fmt: skip
    return answered(request)


__all__ = ["Limits", "Optimized", "optimize"]
