"""What is going on, on a terminal: one line on standard error that is gone when the work is done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

Say = Callable[[str], None]
"""Takes a few words on what is being done."""


def silent(text: str) -> None:
    """Say nothing."""


@contextmanager
def progress(title: str) -> Generator[Say]:
    """A line that shows `title` and the last words said; silent where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(file=sys.stderr).status(escape(title)) as line:
        yield lambda text: line.update(escape(f"{title}: {text}"))
