"""Names for values, from the local variables of the user's functions; it knows nothing of programs."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from saturate.tracing.site import is_machinery
from saturate.tracing.tracer import Recording, Tracer


@contextmanager
def local_names(recording: Recording) -> Generator[dict[str, str]]:
    """Fills the mapping with a name for each value while this runs, as functions of the user return.

    The first name of a value counts; the name of an argument only where the value has no other. A profiler
    written in C, such as `cProfile`, cannot be shared: while one runs, values get no names.
    """
    locals_: dict[str, str] = {}
    arguments: dict[str, str] = {}
    names: dict[str, str] = {}
    before: Any = sys.getprofile()
    if before is not None and not callable(before):
        yield names
        return

    def profile(frame: FrameType, event: Any, arg: Any) -> None:
        if before is not None:
            before(frame, event, arg)
        if event != "return" or is_machinery(frame):
            return
        passed = frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
        for name, value in frame.f_locals.items():
            if isinstance(value, Tracer) and value.recording is recording and _is_telling(name):
                (arguments if name in passed else locals_).setdefault(value.value.id, name)

    sys.setprofile(profile)
    try:
        yield names
    finally:
        sys.setprofile(before)
        names.update(arguments | locals_)


def _is_telling(name: str) -> bool:
    return name.isidentifier() and bool(name.strip("_"))
