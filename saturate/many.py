"""Many programs optimized by any executor: jobs travel as text and arrays, results as text."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from saturate.admission import admitted
from saturate.errors import ArgumentError, shown
from saturate.optimize import optimize
from saturate.optimized import Optimized
from saturate.program import Program
from saturate.progress import progress
from saturate.recall import answered, restored
from saturate.record import constants, written
from saturate.request import Request
from saturate.text import parse


def optimize_many(
    programs: Iterable[Program | Sequence[Any]], executor: Executor | None = None, **options: Any
) -> list[Optimized]:
    """`optimize` of each program, in their order; each result is that of a call of its own.

    `programs` are `Program`s, or tuples `(function, *examples)`; `options` are those of `optimize`, the same
    for all. `executor` is any `concurrent.futures.Executor`: threads, a process pool, or a cluster's, whose
    workers have this package; None works in this thread. A process pool must not fork
    (`mp_context=multiprocessing.get_context("forkserver")`): the engine hangs in a forked process.
    Raises `ArgumentError` for such a pool, for an unknown option and for what is no program, and what
    `optimize` raises, with a note that says of which program; what was found by then is in the cache.
    """
    _refuse_executor(executor)
    requests = [_request(given, options) for given in programs]
    found: list[Optimized] = []
    with progress("optimizing") as say:
        futures = [] if executor is None else [executor.submit(solve, _Job.of(r)) for r in requests]
        for k, request in enumerate(requests):
            say(f"{request.baseline.name}, {k + 1} of {len(requests)}")
            try:
                found.append(restored(request, futures[k].result()) if futures else answered(request))
            except BaseException as error:
                error.add_note(f"program {k + 1} of {len(requests)}: {request.baseline.name}")
                _cancel(futures)
                raise
    return found


def _cancel(futures: Sequence[Future[str]]) -> None:
    for future in futures:
        future.cancel()


def _request(given: Program | Sequence[Any], options: Mapping[str, Any]) -> Request:
    known = {
        p.name: p.default for p in inspect.signature(optimize).parameters.values() if p.default is not p.empty
    }
    unknown = [name for name in options if name not in known]
    if unknown:
        raise ArgumentError(
            f"optimize_many takes the options of optimize, {', '.join(known)}; got {unknown[0]!r}"
        )
    if isinstance(given, Program):
        given = (given,)
    if (
        not isinstance(given, tuple | list)
        or not given
        or not (callable(given[0]) or isinstance(given[0], Program))
    ):
        raise ArgumentError(
            f"optimize_many needs programs as Program or as a tuple (function, *examples), got {shown(given)}"
        )
    return Request.of(given[0], tuple(given[1:]), **{**known, **options})


def _refuse_executor(executor: Executor | None) -> None:
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise ArgumentError(
            f"optimize_many needs an executor as of concurrent.futures, or None; got {shown(executor)}"
        )
    context = getattr(executor, "_mp_context", None)
    if (
        isinstance(executor, ProcessPoolExecutor)
        and context is not None
        and context.get_start_method() == "fork"
    ):
        raise ArgumentError(
            "optimize_many needs a process pool that does not fork, where the engine hangs; got one that "
            'does: pass mp_context=multiprocessing.get_context("forkserver")'
        )


@dataclass(frozen=True)
class _Job:
    """A request as text and arrays."""

    program: str
    constants: Mapping[str, Any]
    examples: tuple[Any, ...]
    options: Mapping[str, Any]

    @classmethod
    def of(cls, request: Request) -> _Job:
        baseline = request.baseline
        usual = admitted(None, request.exact)
        options = {
            "target": request.goal,
            "exact": request.exact,
            "accuracy": request.accuracy,
            "samples": [sample.arrays for sample in request.given] or None,
            "rules": None if request.laws == usual else request.laws,
            "extractor": request.extractor,
            "limits": request.limits,
            "check": request.check,
            "seed": request.seed,
        }
        return cls(str(baseline), dict(constants(baseline)), request.arrays, options)


def solve(job: _Job) -> str:
    """The record of a job's result; what a worker runs."""
    request = _request((parse(job.program, job.constants), *job.examples), job.options)
    return written(answered(request), request.notes)
