"""Results that were found before: taken from the cache, or put there, by what was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

import saturate.extract as extract
import saturate.rules as rules
from saturate.cache import Cache, default
from saturate.errors import CacheError, SaturateError
from saturate.extract import EXTRACTORS
from saturate.improve import STOPPED
from saturate.optimized import Behind, Optimized
from saturate.passes.records import ExpansionResult
from saturate.program import Program
from saturate.record import constants, read, written
from saturate.request import Request
from saturate.rules.compile import rule_text
from saturate.searched import REFUSED, UNCHECKED, searched
from saturate.text import parse

FROM_CACHE = "taken from the cache, where it was searched before (SATURATE_CACHE=off searches again)"
UNKEPT = "interrupted: the result was not put into the cache"
PASSING = (STOPPED, UNCHECKED, REFUSED)
"""Notes of results that another run would not have, or should not."""


def answered(request: Request) -> Optimized:
    """The result of a request, recalled or searched for; a note tells of an entry that was damaged."""
    told: tuple[str, ...] = ()
    try:
        known = recalled(request)
        if known is not None:
            return known
    except CacheError as fault:
        told = (str(fault),)
    best = searched(request)
    try:
        return _noted(remembered(request, best), *told)
    except KeyboardInterrupt:
        return _noted(best, *told, UNKEPT)


def _noted(best: Optimized, *notes: str) -> Optimized:
    return replace(best, report=replace(best.report, notes=(*best.report.notes, *notes)))


def recalled(request: Request) -> Optimized | None:
    """The result of an equal request, None where none is kept. `why` searches for it again.

    Raises `CacheError` where what is kept is damaged.
    """
    kept = _cache(request)
    text = kept.get(key(request)) if kept else None
    if kept is None or text is None:
        return None
    try:
        return restored(request, text, FROM_CACHE)
    except SaturateError as fault:
        raise kept.unread(fault) from fault


def restored(request: Request, text: str, *notes: str) -> Optimized:
    """The result that a record holds, for an equal request."""
    record = read(text)
    arrays = constants(request.baseline)
    program = parse(record.program, arrays)

    @cache
    def plain() -> tuple[Program, ...]:
        return tuple(parse(text, arrays) for text in record.plain)

    @cache
    def behind() -> Behind:
        return searched(replace(request, check=False)).behind()

    return Optimized(
        ExpansionResult(program, record.regions), request.baseline, request.goal,
        replace(record.report, notes=(*record.report.notes, *request.notes, *notes)),
        record.laws, record.same, request.laws, request.known, request.arrays, plain, behind, record.long,
    )  # fmt: skip


def remembered(request: Request, best: Optimized) -> Optimized:
    """The result, kept for the next equal request, unless a clock or an interrupt had a part in it.

    Where it cannot be kept, or the cache had to be made anew, its report says why.
    """
    kept = _cache(request)
    if kept is None or any(p in note or "time limit" in note for note in best.report.notes for p in PASSING):
        return best
    try:
        told = kept.put(key(request), written(best, request.notes))
    except CacheError as fault:
        told = str(fault)
    return _noted(best, told) if told else best


def _cache(request: Request) -> Cache | None:
    """The cache for requests that say all there is to know: extractors of the user's own are only names."""
    own = EXTRACTORS[request.extractor].__module__.startswith(extract.__name__)
    return default() if own else None


def key(request: Request) -> str:
    """A digest of all that the result depends on: programs, examples, samples, options, laws and versions."""
    found = hashlib.sha256()
    for part in _parts(request):
        found.update(part if isinstance(part, bytes) else part.encode())
        found.update(b"\0")
    return found.hexdigest()


def _parts(request: Request) -> Iterator[str | bytes]:
    yield from (_code(), str(request.baseline), repr(request.goal), request.exact, repr(request.accuracy))
    limits = replace(request.limits, workers=1)
    yield from (request.extractor, repr(limits), repr(request.check), repr(request.seed))
    for law in request.laws:
        yield from (rule_text(law), law.doc, law.exact, repr((law.bound, law.unchecked, law.line)))
    for arrays in (request.arrays, *(sample.arrays for sample in request.given)):
        for a in arrays:
            yield str(a) if not isinstance(a, np.ndarray) else f"{a.dtype} {a.shape}"
            yield np.ascontiguousarray(a).tobytes() if isinstance(a, np.ndarray) else b""


@cache
def _code() -> str:
    """Versions of what takes part in a search, and the state of this package's files."""
    used = ("egglog", "numpy", "highspy", "ortools")
    folders = {Path(str(m.__file__)).parent for m in (rules, extract)} | {Path(__file__).parent}
    files = sorted(f for folder in folders for f in folder.rglob("*.py"))
    states = [f"{f.name} {f.stat().st_size} {f.stat().st_mtime_ns}" for f in files]
    return "\n".join([*(f"{name} {version(name)}" for name in used), *states])
