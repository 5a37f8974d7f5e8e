"""The collector of reference circles, paused: a search makes millions of objects and hardly a circle."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_pausing: set[int] = set()
"""The threads that turned the collector off; a process forked meanwhile has none of them."""


def without_collection(work: Callable[P, R]) -> Callable[P, R]:
    """The work, during which no circles are collected; the collector is on afterwards if it was before.

    Looking for circles through all that a search holds takes about a tenth of its time. All threads have one
    collector: where another one's work came first and ends meanwhile, it is on from then on, and where other
    code turns it off meanwhile, it is on again afterwards.
    """

    @wraps(work)
    def paused(*args: P.args, **named: P.kwargs) -> R:
        before = False
        try:
            before = gc.isenabled()
            if before:  # who turns it off turns it on again, so that threads need no lock
                _pausing.add(get_ident())
                gc.disable()
            return work(*args, **named)
        finally:
            if before:
                gc.enable()
                _pausing.discard(get_ident())

    return paused


def _forked() -> None:
    if _pausing:
        _pausing.clear()
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
