"""A result as JSON text: what has to be kept, or to travel, so that nobody searches for it again.

Programs stand in it as text. Large captured arrays do not: they are those of the baseline, which whoever
reads the record has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
from cattrs import BaseValidationError, Converter

from saturate.certificate import Certificate
from saturate.errors import CacheError
from saturate.extract.findings import Checked
from saturate.extract.report import Report
from saturate.op import Array
from saturate.optimized import Optimized
from saturate.program import Program
from saturate.provenance import RewriteRegion


@dataclass(frozen=True)
class Record:
    """The result of a search, without what the request says itself."""

    program: str
    plain: tuple[str, ...]
    regions: tuple[RewriteRegion, ...]
    laws: dict[str, str]
    same: dict[str, str]
    long: bool
    report: Report


_converter = Converter()
_converter.register_structure_hook_func(
    lambda kind: kind is Checked, lambda given, _: _converter.structure(given, Certificate)
)


def written(best: Optimized, notes: list[str]) -> str:
    """The record of a result as JSON text; `notes`, which its request makes itself, are left out."""
    kept = tuple(note for note in best.report.notes if note not in notes)
    record = Record(
        str(best.program), tuple(map(str, best.plain())), best.provenance, best.laws, best.same, best.long,
        replace(best.report, notes=kept),
    )  # fmt: skip
    return json.dumps(_converter.unstructure(record))


def read(text: str) -> Record:
    """The record that `written` wrote; raises `CacheError` for any other text."""
    try:
        return _converter.structure(json.loads(text), Record)
    except (ValueError, RecursionError, BaseValidationError) as error:
        raise CacheError(f"a record of a result is needed, and this is none: {error}") from error


def constants(program: Program) -> Mapping[str, npt.NDArray[Any]]:
    """The captured arrays of a program by digest."""
    held = (v for node in program.nodes for v in node.op.attributes().values())
    return {a.digest: a.value for a in held if isinstance(a, Array)}
