"""The limit of one call: seconds, or counted steps, or both; and where its time went."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

now = time.perf_counter
"""What limits and times are measured with."""


class TimeUp(Exception):
    """A limit was reached inside a computation that has no partial result; whoever holds an answer
    returns it.
    """


class Stopwatch:
    """Seconds by stage: each stage ends where the next begins, so that all of them sum to the whole."""

    def __init__(self, stage: str) -> None:
        self._stage, self._since = stage, now()
        self._seconds: dict[str, float] = {}

    def begin(self, stage: str) -> None:
        """From now on time belongs to this stage; one that comes again is continued."""
        ended = now()
        self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + ended - self._since
        self._stage, self._since = stage, ended

    def seconds(self) -> dict[str, float]:
        """Until now, in the order in which the stages first ended."""
        self.begin(self._stage)
        return dict(self._seconds)


class Clock:
    """`seconds=None` is no time limit; then only counted steps end the search, and the answer repeats
    exactly.

    A step is two to five microseconds of work.
    """

    def __init__(self, seconds: float | None, work: int | None = None) -> None:
        self.start = now()
        self.seconds = seconds
        self.work = work

    def elapsed(self) -> float:
        """Seconds since the start."""
        return now() - self.start

    def left(self) -> float:
        """Seconds left; infinite without a limit."""
        return float("inf") if self.seconds is None else self.seconds - self.elapsed()

    def spend(self, steps: int) -> None:
        """Count work that was done."""
        if self.work is not None:
            self.work -= steps

    def over(self) -> bool:
        """Whether either limit is reached."""
        return self.left() <= 0 or (self.work is not None and self.work <= 0)

    def check(self, steps: int = 0) -> None:
        """Count work; raises TimeUp where a limit is reached."""
        self.spend(steps)
        if self.over():
            raise TimeUp

    def timed(self) -> Clock:
        """A clock that ends with this one's seconds, whatever work is done."""
        return Clock(None if self.seconds is None else max(0.0, self.left()))

    @contextmanager
    def within(self, share: float) -> Iterator[Clock]:
        """As `part`, with the steps counted here when the block ends."""
        part = self.part(share)
        before = part.work or 0
        try:
            yield part
        finally:
            self.spend(before - (part.work or 0))

    def part(self, share: float) -> Clock:
        """A clock that ends when this share of what is left has passed; its steps must be spent here too."""
        seconds = None if self.seconds is None else max(0.0, self.left()) * share
        return Clock(seconds, None if self.work is None else int(self.work * share))
