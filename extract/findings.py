"""What an optimization found, as plain data; it knows no program, law or e-graph, and prints nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import inf, isfinite
from typing import Any, Protocol


class Checked(Protocol):
    """What a report needs of a check: to be printed, and to be plain data."""

    @property
    def figures(self) -> str:
        """A few lines for people, without what is assumed."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain Python values."""
        ...


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step that touches memory: a value, the op that makes it, and its price.

    `value` is the user's name for the value or its id, `op` the step as text such as `exp(z)`, `shape` and
    `dtype` those of the result, `cost` in the unit of the report, `law` the law that put the step there,
    empty where it comes from the program itself.
    """

    value: str
    op: str
    shape: tuple[int, ...]
    dtype: str
    flops: float
    bytes: float
    cost: float
    law: str = ""


@dataclass(frozen=True, kw_only=True)
class Steps:
    """A program step by step, in the order in which it runs; the totals are sums over the steps."""

    steps: tuple[Step, ...]

    @property
    def cost(self) -> float:
        """Σ of the steps' costs."""
        return sum(s.cost for s in self.steps)

    @property
    def flops(self) -> float:
        """Σ of the steps' floating point operations."""
        return sum(s.flops for s in self.steps)

    @property
    def bytes(self) -> float:
        """Σ of the bytes that the steps read and write."""
        return sum(s.bytes for s in self.steps)

    @property
    def passes(self) -> int:
        """Number of steps that touch memory."""
        return len(self.steps)

    @property
    def totals(self) -> dict[str, float]:
        """The four sums by name."""
        return {"cost": self.cost, "flops": self.flops, "bytes": self.bytes, "passes": self.passes}


@dataclass(frozen=True, kw_only=True)
class LawUse:
    """A law that put steps into the chosen program: its statement, the values that it made, its exactness."""

    name: str
    statement: str
    where: tuple[str, ...] = ()
    exact: str = ""


@dataclass(frozen=True, kw_only=True)
class LawMatches:
    """How often a law matched during the search, the seconds that it took, and how many e-nodes of the final
    e-graphs it made.
    """

    name: str
    matches: int
    seconds: float = 0.0
    made: int = 0


@dataclass(frozen=True, kw_only=True)
class Searched:
    """How a search went: why it stopped, e-nodes after each round, seconds by stage; `others` are seconds of
    rules beside the laws that matched.
    """

    stopped: str
    nodes: tuple[int, ...] = ()
    seconds: Mapping[str, float] | None = None
    others: Mapping[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class WindowSearch:
    """How a window was searched: a piece of a long program, or the whole of a short one.

    `title` says which one, `times` how often it occurs in the program, `size` how many nodes it has. `nodes`
    are the e-nodes after each round, search by search; each search starts from what the one before found.
    `before` and `after` are the costs of one occurrence.
    """

    title: str
    times: int
    size: int
    nodes: tuple[tuple[int, ...], ...]
    before: float
    after: float
    seconds: float = 0.0

    @property
    def rounds(self) -> int:
        """Rounds of all searches together."""
        return sum(map(len, self.nodes))

    @property
    def largest(self) -> int:
        """The most e-nodes after any round."""
        return max((n for search in self.nodes for n in search), default=0)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """How a choice was made, what it costs, and how far from the cheapest it can be.

    No choice costs less than `lower_bound`; `bound_by` says how that is known.
    """

    method: str
    cost: float
    lower_bound: float
    proven: bool
    bound_by: str = ""

    @property
    def verdict(self) -> str:
        """`proved optimal`, or by how many per cent the cost can be above the optimum."""
        if self.proven:
            return "proved optimal"
        if self.lower_bound <= 0:
            return "no lower bound above zero is known"
        return f"within {100 * (self.cost / self.lower_bound - 1):.2g} % of the bound"


@dataclass(frozen=True, kw_only=True)
class ResultError:
    """The error of one result against the reference, of the baseline and of the chosen program, on the sample
    where the chosen one came nearest to what is allowed.
    """

    name: str
    baseline: float
    chosen: float


@dataclass(frozen=True, kw_only=True)
class Barred:
    """A step that was cheap enough and not accurate enough, and why it was left out."""

    step: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """The second price. `factor` is the error admitted over the best way, None where nothing was measured."""

    factor: float | None
    reference: str = ""
    results: tuple[ResultError, ...] = ()
    barred: tuple[Barred, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Before and after, the laws, the search, the choice, the accuracy and the check of one optimization.

    `unit` is that of every cost: ns under a profile, or flops, or bytes. `title` is the name of the program,
    `context` a line that says for whom it was made (types of the arguments, target, profile). `notes` name a
    limit that ended something, a fallback, a line of the user that promotes float32 to float64.
    """

    title: str
    before: Steps
    after: Steps
    context: str = ""
    unit: str = "ns"
    laws: tuple[LawUse, ...] = ()
    matched: tuple[LawMatches, ...] = ()
    saturation: Searched | None = None
    windows: tuple[WindowSearch, ...] = ()
    extraction: Chosen | None = None
    accuracy: Accuracy | None = None
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    check: Checked | None = None

    @property
    def ratio(self) -> float:
        """Cost before over cost after; 1 where both are nothing."""
        if self.after.cost:
            return self.before.cost / self.after.cost
        return inf if self.before.cost else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it, totals and ratio included; infinities and NaN as strings."""
        made: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        made["check"] = None if self.check is None else self.check.to_dict()
        made["ratio"] = self.ratio
        made["before"] = {"steps": self.before.steps, **self.before.totals}
        made["after"] = {"steps": self.after.steps, **self.after.totals}
        if self.extraction is not None:
            made["extraction"] = {**_plain(self.extraction), "verdict": self.extraction.verdict}
        plain: dict[str, Any] = _plain(made)
        return plain


def _plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists, numbers that JSON lacks as strings."""
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value
