"""The collector of circles is off during a search, and afterwards on where it was on before."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable
from threading import Event, Thread

import numpy as np
import pytest

import saturate as sat
from saturate.collecting import without_collection
from saturate.errors import TargetError


def test_it_is_off_inside_and_on_after_an_interrupt() -> None:
    @without_collection
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
        assert not without_collection(without_collection(gc.isenabled))()
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize("first", [0, 1])
def test_it_is_on_after_two_threads_in_any_order(first: int) -> None:
    inside, leave = [Event(), Event()], [Event(), Event()]

    def search(k: int) -> Callable[[], None]:
        @without_collection
        def run() -> None:
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


FORKED = """
import gc, os, warnings
from threading import Event, Thread
from saturate.collecting import without_collection

inside, leave = Event(), Event()

@without_collection
def search():
    inside.set()
    leave.wait()

def child():
    warnings.simplefilter("ignore")  # of threads beside a fork
    reading, writing = os.pipe()
    if not os.fork():
        os.write(writing, str(gc.isenabled()).encode())
        os._exit(0)
    os.wait()
    return os.read(reading, 9).decode()

thread = Thread(target=search)
thread.start()
inside.wait()
first = child()
leave.set()
thread.join()
gc.disable()
print(first, child(), end="")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_it_is_on_in_a_process_that_is_forked_meanwhile() -> None:
    forked = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert (forked.stdout, forked.returncode) == ("True False", 0), forked.stderr
