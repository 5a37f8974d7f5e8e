"""What every runner does, whatever it runs on."""

from __future__ import annotations

from typing import Any, Protocol

from saturate.op import AnyArray
from saturate.program import Program


class Runner(Protocol):
    """A program as a callable: results in order, outputs before gradients; arguments are never written to."""

    program: Program

    def __call__(self, *args: Any, **named: Any) -> tuple[Any, ...]:
        """The results for arguments by position or by name; raises `ArgumentError` where they do not fit."""
        ...

    def host(self, array: Any) -> AnyArray:
        """A result as a NumPy array."""
        ...
