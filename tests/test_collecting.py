"""The collector of circles is off during a search, and afterwards on where it was on before."""

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Event, Thread

import numpy as np
import pytest

import saturate as sat
from saturate.collecting import no_collection
from saturate.errors import TargetError


def test_it_is_off_inside_and_on_after_an_interrupt() -> None:
    @no_collection()
    def interrupted() -> None:
        assert not gc.isenabled()
        raise KeyboardInterrupt

    assert gc.isenabled()
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert gc.isenabled()


def test_it_is_on_after_a_search_that_is_refused() -> None:
    with pytest.raises(TargetError):
        sat.optimize(np.exp, sat.Type((3,)), target=sat.Target(ops=("add",)))
    assert gc.isenabled()


def test_it_stays_off_where_it_was_off() -> None:
    gc.disable()
    try:
        with no_collection(), no_collection():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("first", [0, 1])
def test_it_is_on_after_two_threads_in_any_order(first: int) -> None:
    inside, leave = [Event(), Event()], [Event(), Event()]

    def search(k: int) -> Callable[[], None]:
        def run() -> None:
            with no_collection():
                inside[k].set()
                leave[k].wait()

        return run

    threads = [Thread(target=search(k)) for k in range(2)]
    for k, thread in enumerate(threads):
        thread.start()
        inside[k].wait()
    for k in (first, 1 - first):
        leave[k].set()
        threads[k].join()
    assert gc.isenabled()
