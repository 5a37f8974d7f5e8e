"""Running laws on an e-graph: the schedule, its limits and the log; it knows no single law.

What only simplifies runs to the end after every step. What explores runs one round at a time: twice alone, as
merging sums before the first factoring loses shared factors, then with the merging of sums. The engine has no
limit of its own inside a round, so size and clock are read between rounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter

from saturate.algebra import Term
from saturate.egraph import EGraph, LawRun, TermClasses
from saturate.errors import ArgumentError, EGraphError
from saturate.matching import Matcher, shown
from saturate.rules.compile import rules_text
from saturate.rules.language import functions_in
from saturate.rules.law import Law

SATURATED, NODE_LIMIT, TIME_LIMIT, ROUND_LIMIT, INTERRUPTED, ENOUGH = (
    "saturated", "node limit", "time limit", "round limit", "interrupted", "enough was found",
)  # fmt: skip


CONTRADICTION = "Illegal merge"
"""What the engine says where two values of one class that must agree differ."""


@dataclass(frozen=True)
class Limits:
    """When a search ends: rounds of exploration, e-nodes, and seconds as a backstop.

    Counts come first, so that the same input gives the same answer on any machine; a limit that ends a search
    is named in the report. `workers` threads search the windows of a long program; the result is the same
    for any number of them.
    """

    seconds: float = 60.0
    nodes: int = 200_000
    rounds: int = 4
    workers: int = 1


def refuse_limits(limits: object, who: str) -> None:
    """Raises `ArgumentError` for what are no limits, or limits below what can be."""
    if not isinstance(limits, Limits):
        raise ArgumentError(f"{who} needs limits as Limits(seconds, nodes, rounds, workers), got {limits!r}")
    if not (limits.seconds >= 0 and limits.nodes >= 0 and limits.rounds >= 0 and limits.workers >= 1):
        raise ArgumentError(f"{who} needs limits from 0 on, and at least one worker; got {limits!r}")


@dataclass(frozen=True)
class Round:
    """One round of exploration: e-nodes after it and seconds."""

    nodes: int
    seconds: float


@dataclass(frozen=True)
class Saturation:
    """A finished search: its classes, why it stopped, its rounds and the laws' matches and times."""

    classes: TermClasses
    stopped: str
    rounds: tuple[Round, ...]
    laws: dict[str, LawRun] = field(compare=False)


def saturate(
    terms: Iterable[Term],
    equal: Iterable[tuple[Term, Term]],
    laws: Iterable[Law],
    limits: Limits,
    lenient: bool = False,
) -> Saturation:
    """Load terms (operands first), state the equal pairs, run the laws, read the classes.

    An interrupt (Ctrl-C) between rounds ends the search with what was found. Raises `EGraphError` where two
    different constants or dtypes meet in one class, naming the laws that brought them there and for what; a
    `lenient` search goes on with the first of the two, for an audit.
    """
    given, laws = _Given(tuple(terms), tuple(equal), limits, lenient), tuple(laws)
    try:
        return given.searched(laws)
    except EGraphError as error:
        raise blamed(laws, error, lambda some: given.searched(some).classes) from error


def relevant(laws: Iterable[Law], functions: Iterable[str]) -> tuple[Law, ...]:
    """The laws that look for nothing but these functions and those that other laws make of them."""
    laws, known = tuple(laws), set(functions)
    while True:
        found = tuple(law for law in laws if _functions(law, 0) <= known)
        more = set[str]().union(*(_functions(law, 1) for law in found)) - known
        if not more:
            return found
        known |= more


def _functions(law: Law, part: int) -> frozenset[str]:
    """The functions that a rule matches (part 0) or makes (part 1), by its own text where it has one."""
    if law.egglog is not None:
        return frozenset(re.findall(r'\(Fn\d "([^"]+)"', law.egglog[part]))
    return functions_in((law.left, law.right)[part])


@dataclass(frozen=True)
class _Given:
    """What a search starts from, so that it can be run again with fewer laws."""

    terms: tuple[Term, ...]
    equal: tuple[tuple[Term, Term], ...]
    limits: Limits
    lenient: bool = False

    def searched(self, laws: tuple[Law, ...]) -> Saturation:
        graph = EGraph(rules_text(laws), lenient=self.lenient)
        graph.load(self.terms)
        for a, b in self.equal:
            graph.union(a, b)
        rounds: list[Round] = []
        stopped = drive(graph, self.limits, rounds)
        found = Saturation(graph.classes(), stopped, tuple(rounds), graph.runs)
        graph.close()
        return found


def blamed(
    laws: tuple[Law, ...], error: EGraphError, searched: Callable[[tuple[Law, ...]], TermClasses]
) -> EGraphError:
    """The error with the laws that it takes: run again, each law is left out that it fails without.

    `searched` runs some of the laws on what the search started from.
    """

    def found(some: tuple[Law, ...]) -> TermClasses | None:
        try:
            return searched(some)
        except EGraphError:
            return None

    plain = found(())
    if plain is None:
        return EGraphError(
            f"the program's own terms and facts contradict each other, without any law: {error}"
        )
    guilty = laws
    for law in laws:
        fewer = tuple(other for other in guilty if other is not law)
        if found(fewer) is None:
            guilty = fewer
    named: list[str] = []
    for law in guilty:
        others = found(tuple(other for other in guilty if other is not law))
        named.append(f"{law} ({law.line}){_substituted(plain, law) or _substituted(others or plain, law)}")
    what = "a law is false or needs a condition" if CONTRADICTION in str(error) else "a law's rule cannot run"
    return EGraphError(f"{what}, one of: {'; '.join(named)}: {error}")


def _substituted(classes: TermClasses, law: Law) -> str:
    """What stands for the law's variables where its left side first stands."""
    matcher = Matcher(classes)
    for number in range(len(classes.nodes)):
        for binding in matcher.match(law.left, number, {}):
            return "".join(f", {name} = {shown(classes, k)}" for name, k in binding.items())
    return ""


def drive(
    graph: EGraph,
    limits: Limits,
    rounds: list[Round] | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> str:
    """Run the laws of a loaded e-graph by the schedule until a limit, or until `enough`; why it stopped."""
    rounds = [] if rounds is None else rounds
    schedule = _Schedule(graph, limits)
    try:
        for count in range(limits.rounds + 1):
            before = perf_counter()
            merged = count >= 3 and graph.run("merge_sums")
            changed = (count > 0 and graph.run("explore")) or merged
            stopped = schedule.simplify()
            if count > 0 or stopped:
                rounds.append(Round(graph.size(), perf_counter() - before))
            if stopped:
                graph.run("facts", saturate=True)  # what a law just made has no dtype and no indices yet
                return stopped
            if enough():
                return ENOUGH
            if not changed and count >= 3:
                return SATURATED
    except KeyboardInterrupt:
        graph.run("facts", saturate=True)
        return INTERRUPTED
    return ROUND_LIMIT


class _Schedule:
    """Simplification one round at a time, with a look at size and clock after each."""

    def __init__(self, graph: EGraph, limits: Limits) -> None:
        self._graph, self._limits = graph, limits
        self._end = perf_counter() + limits.seconds

    def simplify(self) -> str:
        """Facts and simplifying laws until neither changes anything; why it stopped before, if it did."""
        changed = True
        while changed:
            facts = self._graph.run("facts", saturate=True)
            changed = self._graph.run("simplify") or facts
            if self._graph.size() > self._limits.nodes:
                return NODE_LIMIT
            if perf_counter() > self._end:
                return TIME_LIMIT
        return ""
