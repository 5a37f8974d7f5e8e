"""egglog's engine behind four functions: the one file that imports it.

To compile a few dozen rules takes longer than most searches. So an engine that is given back waits, without
what was loaded into it, for the next e-graph of the same rules. An engine belongs to the thread that made it.
"""

from __future__ import annotations

from importlib.metadata import version
from threading import local
from typing import Any

from egglog import bindings

from saturate.errors import EGraphError
from saturate.signature import statements

TICK = 1000.0 if version("egglog").startswith("13.") else 1.0
"""egglog 13 hands out the milliseconds of a rule as microseconds."""
WAITING = 4
"""So many engines of a thread wait at most; the one that waits longest is let go."""
NOWHERE = bindings.RustSpan("", 0, 0)
"""The place in a text of a command that comes from none."""


class _Waiting(local):
    def __init__(self) -> None:
        self.engines: list[tuple[str, Any]] = []


_waiting = _Waiting()


def run(engine: Any, text: str) -> list[Any]:
    """Run commands; raises `EGraphError` where the engine refuses one."""
    try:
        return list(engine.run_program(*engine.parse_program(text)))
    except bindings.EggSmolError as error:
        raise EGraphError(f"the e-graph refuses a merge or a rule: {error}") from error


def take(setup: str) -> Any:
    """An engine in which the commands of `setup` have run, and nothing else."""
    found = next((k for k, (known, _) in enumerate(_waiting.engines) if known == setup), None)
    if found is not None:
        engine = _waiting.engines.pop(found)[1]
    else:
        engine = bindings.EGraph()
        for command in statements(setup):
            run(engine, command)
    engine.run_program(bindings.Push(1))
    return engine


def give(setup: str, engine: Any) -> None:
    """Give back an engine that was taken for `setup`, to be used no more."""
    engine.run_program(bindings.Pop(NOWHERE, 1))
    _waiting.engines.append((setup, engine))
    del _waiting.engines[:-WAITING]
