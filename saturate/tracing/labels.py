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
    """While this runs, the first name of each value in a function of the user that returns, by value id."""
    names: dict[str, str] = {}
    before = sys.getprofile()

    def profile(frame: FrameType, event: Any, arg: Any) -> None:
        if before is not None:
            before(frame, event, arg)
        if event == "return" and not is_machinery(frame):
            for name, value in frame.f_locals.items():
                if isinstance(value, Tracer) and value.recording is recording and _is_telling(name):
                    names.setdefault(value.value.id, name)

    sys.setprofile(profile)
    try:
        yield names
    finally:
        sys.setprofile(before)


def _is_telling(name: str) -> bool:
    return name.isidentifier() and bool(name.strip("_"))
