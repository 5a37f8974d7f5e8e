"""The frame of the exact methods: a first answer, reductions, then stages on each independent part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from saturate.collecting import without_collection
from saturate.extract import solver
from saturate.extract.classes import Classes
from saturate.extract.clock import Clock, Stopwatch, TimeUp
from saturate.extract.extraction import Extraction, extraction, ordered, price
from saturate.extract.greedy import RESTARTS, restarts
from saturate.extract.local import exchanges
from saturate.extract.model import Model, model, split
from saturate.extract.problem import Problem, problem
from saturate.extract.reduce import WORTHWHILE, Reduced, contracted, reduced
from saturate.extract.tree import bottom_up, original

POLISHING = 0.3
"""Of a limit in seconds, for the first exchanges."""
KEPT = 3.0
MOST_KEPT = 0.2
"""So many times as long as checking the first answer takes is kept to check the last one, at most this part
of a limit in seconds.
"""

SHRUNK = 0.8
"""Where work is counted, a third pass of reductions follows one that left at most this part."""


@dataclass
class Part:
    """One part: the model, the best choice so far (class → position) and its cost, a bound, and who
    raised it; `near` is the choice to stay near where others cost no less.
    """

    model: Model
    classes: Sequence[int]
    choice: dict[int, int]
    cost: float
    bound: float
    bound_by: str
    found_by: str
    near: Mapping[int, int]

    @property
    def closed(self) -> bool:
        """Whether nothing cheaper exists."""
        return solver.closed(self.cost, self.bound)

    def learn(self, answer: solver.Answer, who: str) -> None:
        """Keep what is better than before."""
        if answer.choice is not None and answer.cost < self.cost * (1 - 1e-12):
            self.choice, self.cost, self.found_by = dict(answer.choice), answer.cost, who
        bound = solver.rounded_up(answer.bound, self.model.unit)
        if bound > self.bound:
            self.bound, self.bound_by = min(bound, self.cost), who


Stage = tuple[str, Callable[[Part, Clock, int], None]]
"""What a part goes through, by the name under which its time is counted; names may repeat."""


class Search:
    """The best answer at any moment, so that a run can end at any moment."""

    def __init__(self, classes: Classes, clock: Clock, seed: int, warm: Mapping[int, int] | None) -> None:
        self.classes, self.clock, self.seed = classes, clock, seed
        self.warm = warm
        self.watch = Stopwatch("reading")
        self.instance = problem(classes)
        self.watch.begin("trees")
        self.found_by = "tree"
        trees = original(self.instance, bottom_up(self.instance))
        began = clock.elapsed()
        self.best = ordered(classes, trees)
        self.cost = price(classes, self.best)
        if clock.seconds is not None:
            clock.seconds -= min(KEPT * (clock.elapsed() - began), MOST_KEPT * clock.seconds)
        self.bound = 0.0
        self.bound_by = "costs are not negative"
        if warm is not None:
            self.offer(warm, "warm start")

    def offer(self, choice: Mapping[int, int], who: str) -> None:
        """Keep a choice (class → user's index) if it is cheaper."""
        needed = ordered(self.classes, choice)
        cost = price(self.classes, needed)
        if cost < self.cost:
            self.best, self.cost, self.found_by = needed, cost, who

    def run(self, first: Sequence[Stage], later: Sequence[Stage] = ()) -> None:
        """All stages within the clock; whatever ends it, `best` and `bound` hold.

        With `later`, the restarts of `greedy` come first, for as long as `greedy` gives them: so the answer
        costs no more than that.
        """
        try:
            self._run(first, later)
        except TimeUp:
            return
        except KeyboardInterrupt:
            self.found_by += ", interrupted"

    @without_collection
    def _run(self, first: Sequence[Stage], later: Sequence[Stage]) -> None:
        self.clock.spend(4 * sum(map(len, self.instance.nodes)))
        self.watch.begin("reductions")
        timed = self.clock.timed()
        start = contracted(self.instance, timed)
        timed.check()
        self.watch.begin("greedy")
        self._greedy(start, RESTARTS if later else 0, timed)
        self._solve(self._smaller(start), first, later)

    def _greedy(self, start: Reduced, count: int, timed: Clock) -> None:
        """Choices by sets, as many as `greedy` makes: the end of counted work does not end them."""
        for choice in restarts(start, self.seed, timed, count):
            self.offer(choice, "greedy")
            self.clock.spend(len(start.problem.flat.owner))
            if self.clock.seconds is not None and self.clock.elapsed() > self.clock.seconds / 2:
                break

    def _smaller(self, start: Reduced) -> Reduced:
        """The problem after exchanges and all reductions."""
        self.clock.check()
        self.watch.begin("exchanges")
        with self.clock.within(POLISHING if self.clock.work is None else 1.0) as part:
            self._polish(start, part)
        self.clock.check()
        self.watch.begin("reductions")
        later = WORTHWHILE if self.clock.work is None else SHRUNK
        small = reduced(start, self.cost, self.clock, later=later)
        self.raise_bound(small.lower_bound, "classes that every extraction contains")
        self.clock.check(4 * sum(map(len, small.problem.nodes)))
        return small

    def _polish(self, start: Reduced, clock: Clock) -> None:
        """Exchanges before the reductions: a lower cost lets them remove more, and a short limit has an
        answer.
        """
        known = start.restrict(self.best)
        choice = {
            c: i
            for c, group in enumerate(start.problem.nodes)
            for i, n in enumerate(group)
            if n.origin == known.get(c)
        }
        better = exchanges(start.problem, {**bottom_up(start.problem), **choice}, clock)
        self.offer(start.lift(original(start.problem, better)), f"{self.found_by} and exchanges")

    def raise_bound(self, bound: float, who: str) -> None:
        """Keep a bound if it is higher."""
        if bound > self.bound:
            self.bound, self.bound_by = bound, who

    def _solve(self, small: Reduced, first: Sequence[Stage], later: Sequence[Stage]) -> None:
        """The stages on each part; what is known at the end counts, whatever ends them."""
        parts = self._parts(small)
        open_ = [part for part in parts if not part.closed]
        try:
            self._through(open_, first, self.clock)
            self._through(open_, later, self.clock)
        finally:
            self._join(small, parts, open_)

    def _through(self, parts: Sequence[Part], stages: Sequence[Stage], clock: Clock) -> None:
        """Small parts first; each stage gets its share of what the parts before left over."""
        todo = sorted((part for part in parts if not part.closed), key=lambda part: len(part.model.owner))
        for k, part in enumerate(todo):
            for name, stage in stages:
                if not part.closed and not clock.over():
                    self.watch.begin(name)
                    with suppress(TimeUp), clock.within(1.0 / (len(todo) - k)) as mine:
                        stage(part, mine, self.seed)

    def _join(self, small: Reduced, parts: Sequence[Part], open_: Sequence[Part]) -> None:
        """Take what the parts know together; `open_` are those that were not closed by the reductions."""
        self.watch.begin("check")
        whole = {part.classes[c]: i for part in parts for c, i in _indices(part).items()}
        self.offer(small.lift(whole), _names(part.found_by for part in open_))
        if parts:
            self.raise_bound(sum(part.bound for part in parts), _names(part.bound_by for part in open_))

    def _parts(self, small: Reduced) -> list[Part]:
        start = small.restrict(self.best)
        near = start if self.warm is None else small.restrict(self.warm)
        parts: list[Part] = []
        for piece, classes in split(small.problem):
            shape = model(piece)
            needed = _share(piece, classes, start)
            least = sum(min(node.cost for node in piece.nodes[root]) for root in piece.roots)
            parts.append(
                Part(
                    shape,
                    classes,
                    needed,
                    shape.cost(needed),
                    least,
                    "reductions",
                    self.found_by,
                    _share(piece, classes, near),
                )
            )
        return parts

    def result(self, method: str) -> Extraction:
        """The checked answer."""
        return extraction(
            self.classes,
            self.best,
            lower_bound=self.bound,
            method=f"{method}: {self.found_by}",
            bound_by=self.bound_by,
            watch=self.watch,
        )


def _share(piece: Problem, classes: Sequence[int], start: Mapping[int, int]) -> dict[int, int]:
    """What a choice of the whole (class → user's index) is in a part, trees where it says nothing."""
    choice = {
        k: i
        for k, c in enumerate(classes)
        for i, node in enumerate(piece.nodes[k])
        if node.origin == start.get(c)
    }
    if len(choice) < len(classes):
        choice = bottom_up(piece) | choice
    return needed_only(piece, choice)


def needed_only(piece: Problem, choice: Mapping[int, int]) -> dict[int, int]:
    """The part of a choice that the roots reach."""
    needed: dict[int, int] = {}
    stack = list(piece.roots)
    while stack:
        c = stack.pop()
        if c not in needed:
            needed[c] = choice[c]
            stack.extend(piece.nodes[c][choice[c]].kids)
    return needed


def _indices(part: Part) -> dict[int, int]:
    return {c: part.model.problem.nodes[c][i].origin for c, i in part.choice.items()}


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(set(names))) or "reductions"
