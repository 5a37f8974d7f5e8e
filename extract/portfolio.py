"""The frame of the exact methods: a first answer, reductions, then stages on each independent part."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from saturate.extract import solver
from saturate.extract.classes import Classes
from saturate.extract.clock import Clock, Stopwatch, TimeUp
from saturate.extract.extraction import Extraction, extraction, ordered, price
from saturate.extract.greedy import by_sets
from saturate.extract.local import exchanges
from saturate.extract.model import Model, model, split
from saturate.extract.problem import Problem, problem
from saturate.extract.reduce import Reduced, contracted, reduced
from saturate.extract.tree import bottom_up, original


@dataclass
class Part:
    """One part: the model, the best choice so far (class → position) and its cost, a bound, and who
    raised it.
    """

    model: Model
    classes: Sequence[int]
    choice: dict[int, int]
    cost: float
    bound: float
    bound_by: str
    found_by: str

    @property
    def closed(self) -> bool:
        """Whether nothing cheaper exists."""
        return self.cost - self.bound <= solver.CLOSED * max(1.0, self.cost)

    def learn(self, answer: solver.Answer, who: str) -> None:
        """Keep what is better than before."""
        if answer.choice is not None and answer.cost < self.cost - 1e-12 * (1.0 + self.cost):
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
        self.watch = Stopwatch("reading")
        self.instance = problem(classes)
        self.watch.begin("trees")
        self.found_by = "tree"
        self.best = ordered(classes, original(self.instance, bottom_up(self.instance)))
        self.cost = price(classes, self.best)
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

    def run(self, stages: Sequence[Stage]) -> None:
        """All stages within the clock; whatever ends it, `best` and `bound` hold."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            self.clock.spend(4 * sum(map(len, self.instance.nodes)))
            self.watch.begin("reductions")
            start = contracted(self.instance)
            self.clock.check()
            self.watch.begin("greedy")
            greedy = by_sets(start.problem, clock=self.clock)
            self.offer(start.lift(original(start.problem, greedy)), "greedy")
            self.watch.begin("exchanges")
            self._polish(start)
            self.watch.begin("reductions")
            small = reduced(start, self.cost, self.clock)
            self.raise_bound(small.lower_bound, "classes that every extraction contains")
            self.clock.check(4 * sum(map(len, small.problem.nodes)))
            self._solve(small, stages)
        except TimeUp:
            return
        except KeyboardInterrupt:
            self.found_by += ", interrupted"
        finally:
            if collecting:
                gc.enable()

    def _polish(self, start: Reduced) -> None:
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
        better = exchanges(start.problem, {**bottom_up(start.problem), **choice}, self.clock)
        self.offer(start.lift(original(start.problem, better)), f"{self.found_by} and exchanges")

    def raise_bound(self, bound: float, who: str) -> None:
        """Keep a bound if it is higher."""
        if bound > self.bound:
            self.bound, self.bound_by = bound, who

    def _solve(self, small: Reduced, stages: Sequence[Stage]) -> None:
        """Small parts first; each stage gets its share of what the parts before left over."""
        parts = self._parts(small)
        todo = sorted((part for part in parts if not part.closed), key=lambda part: len(part.model.owner))
        try:
            for k, part in enumerate(todo):
                for name, stage in stages:
                    if not part.closed and not self.clock.over():
                        self.watch.begin(name)
                        clock = self.clock.part(1.0 / (len(todo) - k))
                        before = clock.work
                        try:
                            stage(part, clock, self.seed)
                        except TimeUp:
                            pass
                        self.clock.spend((before or 0) - (clock.work or 0))
        finally:
            self.watch.begin("check")
            whole = {part.classes[c]: i for part in parts for c, i in _indices(part).items()}
            self.offer(small.lift(whole), _names(part.found_by for part in todo))
            if parts:
                self.raise_bound(sum(part.bound for part in parts), _names(part.bound_by for part in todo))

    def _parts(self, small: Reduced) -> list[Part]:
        start = small.restrict(self.best)
        parts: list[Part] = []
        for piece, classes in split(small.problem):
            shape = model(piece)
            choice = dict(bottom_up(piece)) | {
                k: i
                for k, c in enumerate(classes)
                for i, node in enumerate(piece.nodes[k])
                if node.origin == start.get(c)
            }
            needed = needed_only(piece, choice)
            least = sum(min(node.cost for node in piece.nodes[root]) for root in piece.roots)
            parts.append(Part(shape, classes, needed, shape.cost(needed), least, "reductions", self.found_by))
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
