"""Exchange search: another node for one class, or for several that then share a new class, as long as the
whole becomes cheaper.

Deterministic.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping

from saturate.extract.clock import Clock
from saturate.extract.problem import Problem

DEEP = 500


class Solution:
    """A choice with the number of users of each needed class, so that an exchange is priced by what it
    touches.

    `spare[c]` is the node that a class takes when it becomes needed. Positions, not the user's indices.
    """

    def __init__(self, instance: Problem, choice: Mapping[int, int]) -> None:
        self.problem = instance
        self.cyclic = instance.cyclic
        self.spare = dict(choice)
        self.choice: dict[int, int] = {}
        self.count = [0] * len(instance.nodes)
        self.cost = 0.0
        self.touched = 0
        for root in instance.roots:
            self.cost += self._take(root)

    def exchange(self, c: int, i: int) -> bool:
        """Give c its node i, and keep that if the cost goes down and no circle closes."""
        old, before = self.choice[c], self.cost
        self._move(c, i)
        if self.cost < before - 1e-12 * (1.0 + before) and not (self.cyclic and self._circular(c)):
            return True
        self._move(c, old)
        self.cost = before
        return False

    def exchange_all(self, nodes: Mapping[int, int]) -> bool:
        """Give each class its node, one after the other, and keep that if the cost goes down and no circle
        closes on the way.
        """
        before, closed = self.cost, False
        moved: list[tuple[int, int]] = []
        for c, i in nodes.items():
            if c in self.choice and not closed:
                moved.append((c, self.choice[c]))
                self._move(c, i)
                closed = self.cyclic and self._circular(c)
        if self.cost < before - 1e-12 * (1.0 + before) and not closed:
            return True
        for c, old in reversed(moved):
            self._move(c, old)
        self.cost = before
        return False

    def saving(self, c: int) -> float:
        """What the solution would lose with the node of c: its cost and what only it needs.

        Infinite, that is unknown, where that is more than `DEEP` classes: sweeps over deep chains stay
        linear.
        """
        node = self.problem.nodes[c][self.choice[c]]
        cost, stack = node.cost, list(node.kids)
        lost: dict[int, int] = {}
        while stack:
            if len(lost) > DEEP:
                return float("inf")
            d = stack.pop()
            lost[d] = lost.get(d, 0) + 1
            if lost[d] == self.count[d]:
                below = self.problem.nodes[d][self.choice[d]]
                cost += below.cost
                stack.extend(below.kids)
        self.touched += len(lost)
        return cost

    def _move(self, c: int, i: int) -> None:
        """Take the new children before dropping the old ones: what both share is never touched."""
        old, new = self.problem.nodes[c][self.choice[c]], self.problem.nodes[c][i]
        self.choice[c] = i
        self.cost += new.cost - old.cost
        self.cost += sum([self._take(d) for d in new.kids])
        self.cost -= sum([self._drop(d) for d in old.kids])

    def _take(self, start: int) -> float:
        cost, stack = 0.0, [start]
        while stack:
            c = stack.pop()
            self.count[c] += 1
            if self.count[c] > 1:
                continue
            self.choice[c] = self.spare[c]
            node = self.problem.nodes[c][self.choice[c]]
            cost += node.cost
            stack.extend(node.kids)
            self.touched += 1
        return cost

    def _drop(self, start: int) -> float:
        cost, stack = 0.0, [start]
        while stack:
            c = stack.pop()
            self.count[c] -= 1
            if self.count[c]:
                continue
            self.spare[c] = self.choice.pop(c)
            node = self.problem.nodes[c][self.spare[c]]
            cost += node.cost
            stack.extend(node.kids)
            self.touched += 1
        return cost

    def _circular(self, start: int) -> bool:
        """Whether some chosen nodes that lead on from a class run in a circle."""
        done: set[int] = set()
        open_: set[int] = set()
        stack = [start]
        while stack:
            c = stack[-1]
            if c in open_ or c in done:
                stack.pop()
                open_.discard(c)
                done.add(c)
                continue
            open_.add(c)
            kids = self.problem.nodes[c][self.choice[c]].kids
            if not open_.isdisjoint(kids):
                return True
            stack.extend(d for d in kids if d not in done)
        self.touched += len(done)
        return False


def exchanges(instance: Problem, choice: Mapping[int, int], clock: Clock) -> dict[int, int]:
    """Sweep over the needed classes, in order, until no exchange helps, of one class or of several at once.

    `choice` and the result: class → position.
    """
    solution = Solution(instance, choice)
    better = True
    while better and not clock.over():
        better = False
        extra = _reprice(solution)
        clock.spend(len(instance.nodes))
        for c in sorted(c for c in solution.choice if len(instance.nodes[c]) > 1):
            if c in solution.choice:
                better |= _improve(solution, c, extra)
            clock.spend(solution.touched)
            solution.touched = 0
            if clock.over():
                break
        if not better and not clock.over():
            better = _together(solution, extra, clock)
    return dict(solution.choice)


def _improve(solution: Solution, c: int, extra: list[float]) -> bool:
    """Try the nodes of a class that could pay, the most promising first."""
    saved = solution.saving(c)
    group = solution.problem.nodes[c]
    promise = [(node.cost + sum([extra[d] for d in node.kids]), i) for i, node in enumerate(group)]
    solution.touched += len(group)
    return any(
        solution.exchange(c, i)
        for price, i in sorted(promise)
        if price < saved - 1e-12 * (1.0 + saved) and i != solution.choice[c]
    )


def _together(solution: Solution, extra: list[float], clock: Clock) -> bool:
    """Take up a class that no user wants alone: it pays where what its users save by it together exceeds its
    price. Whether that made the whole cheaper.
    """
    wanted = _wanted(solution, extra, clock)
    better = False
    for d, users in wanted.items():
        if d not in solution.choice and sum([gain for gain, _ in users.values()]) > extra[d]:
            better |= solution.exchange_all({c: i for c, (_, i) in users.items()})
            clock.spend(solution.touched)
            solution.touched = 0
            if clock.over():
                break
    return better


def _wanted(solution: Solution, extra: list[float], clock: Clock) -> dict[int, dict[int, tuple[float, int]]]:
    """For each class that is not needed: the needed ones that would be cheaper if it were free, by how much,
    and with which node.
    """
    wanted: dict[int, dict[int, tuple[float, int]]] = {}
    for c in sorted(c for c in solution.choice if len(solution.problem.nodes[c]) > 1):
        saved = solution.saving(c)
        group = solution.problem.nodes[c]
        for i, node in enumerate(group):
            price = node.cost + sum([extra[d] for d in node.kids])
            for d in node.kids:
                gain = saved - (price - extra[d])
                if extra[d] > 0 and 1e-12 * (1.0 + saved) < gain < math.inf:
                    users = wanted.setdefault(d, {})
                    users[c] = max(users.get(c, (0.0, 0)), (gain, i))
        clock.spend(solution.touched + len(group))
        solution.touched = 0
        if clock.over():
            break
    return wanted


def _reprice(solution: Solution) -> list[float]:
    """The cheapest tree for each class where what is needed already is free; those trees become the
    spares.
    """
    flat = solution.problem.flat
    owner, above, total = flat.owner, flat.above, flat.costs.copy()
    extra = [0.0] * len(solution.problem.nodes)
    settled = set(solution.choice)
    waiting = flat.arity.copy()
    for d in settled:
        for user in above[d]:
            waiting[user] -= 1
    heap = [(total[v], v) for v, count in enumerate(waiting) if not count and owner[v] not in settled]
    heapq.heapify(heap)
    while heap:
        value, v = heapq.heappop(heap)
        c = owner[v]
        if c in settled:
            continue
        settled.add(c)
        extra[c] = value
        solution.spare[c] = v - flat.first[c]
        for user in above[c]:
            total[user] += value
            waiting[user] -= 1
            if not waiting[user] and owner[user] not in settled:
                heapq.heappush(heap, (total[user], user))
    return extra
