"""Names for values, from the local variables of the user's functions; it knows nothing of programs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from types import CodeType, FrameType
from typing import Any

from saturate.tracing.site import is_machinery
from saturate.tracing.tracer import Recording, Tracer


class Watch:
    """A profile function that looks at the local variables of each function of the user that returns."""

    def __init__(self, recording: Recording, before: Callable[..., Any] | None) -> None:
        self.recording, self.before = recording, before
        self.variables: dict[str, str] = {}
        self.arguments: dict[str, str] = {}
        # by id, since the hash of a code object costs more than the question
        self._seen: dict[int, tuple[CodeType, bool]] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """What `sys.setprofile` calls."""
        if self.before is not None:
            self.before(frame, event, arg)
        if event != "return":
            return
        code = frame.f_code
        if id(code) not in self._seen:
            self._seen[id(code)] = (code, is_machinery(frame))
        if not self._seen[id(code)][1]:
            self._look(frame)

    def _look(self, frame: FrameType) -> None:
        code = frame.f_code
        passed = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for name, value in frame.f_locals.items():
            if isinstance(value, Tracer) and value.recording is self.recording and _is_telling(name):
                names = self.arguments if name in passed else self.variables
                names.setdefault(value.value.id, name)


@contextmanager
def local_names(recording: Recording) -> Generator[dict[str, str]]:
    """Gives a mapping that holds, at the end, a name for each value by its id.

    The first name of a value counts; the name of an argument only where the value has no other. A profiler
    written in C, such as `cProfile`, cannot be shared: while one runs, values get no names.
    """
    names: dict[str, str] = {}
    before: Any = sys.getprofile()
    if before is not None and not callable(before):
        yield names
        return
    watch = Watch(recording, before)
    sys.setprofile(watch)
    try:
        yield names
    finally:
        sys.setprofile(before)
        names.update(watch.arguments | watch.variables)


def unwatched(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without the watch, which has nothing to see in it and would cost more than the trace."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        watch = sys.getprofile()
        if not isinstance(watch, Watch) or watch.before is not None:
            return function(*args, **kwargs)
        sys.setprofile(None)
        try:
            return function(*args, **kwargs)
        finally:
            sys.setprofile(watch)

    return run


def _is_telling(name: str) -> bool:
    return name.isidentifier() and bool(name.strip("_"))
