"""`grad`: the first two stages alone, from a function to its joint program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from saturate.arguments import signature
from saturate.autodiff import gradient_program
from saturate.errors import ArgumentError
from saturate.program import Program


def grad(f: Callable[..., Any] | Program, *examples: Any, wrt: Any, output: int = 0) -> Program:
    """The program of `f` and of the gradients of its `output`-th result by the arguments that `wrt` names.

    A scalar result has the cotangent 1; any other gets an input named `cotangent`. This is the baseline:
    reverse mode, one derivative an op, before any algebra.
    """
    known = signature(f, examples, wrt)
    if not known.wrt:
        raise ArgumentError(
            "grad needs wrt, the names or positions of arguments to differentiate by; got None"
        )
    results = known.program.results
    if not 0 <= output < len(results):
        raise ArgumentError(f"grad needs output from 0 to {len(results) - 1}, got {output!r}")
    shape = known.program.types[results[output]].shape
    return gradient_program(known.program, known.wrt, output, "input" if shape else "ones")
