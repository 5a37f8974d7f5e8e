"""The report of an optimization: its findings, printed as text, as a page, and as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import RenderableType

from saturate.extract.findings import (
    Accuracy,
    Barred,
    Chosen,
    Findings,
    LawMatches,
    LawUse,
    ResultError,
    Searched,
    Step,
    Steps,
    WindowSearch,
)
from saturate.extract.report_html import fragment, page
from saturate.extract.report_text import plain, profile, renderable

__all__ = [
    "Accuracy",
    "Barred",
    "Chosen",
    "LawMatches",
    "LawUse",
    "Report",
    "ResultError",
    "Searched",
    "Step",
    "Steps",
    "WindowSearch",
]


@dataclass(frozen=True, kw_only=True)
class Report(Findings):
    """Findings that print themselves; the fields are those of `Findings`."""

    def text(self, *, times: bool = False, steps: bool = True) -> str:
        """Compact text without colour, 110 columns wide; seconds that the search took only with `times`, the
        tables of steps unless `steps` is false.
        """
        return plain(self, times, steps)

    def profile(self) -> str:
        """The log of the search as text: matches, time and e-nodes law by law; size, rounds, e-nodes and gain
        window by window; the time of each stage.
        """
        return profile(self)

    def __str__(self) -> str:
        return self.text()

    def __rich__(self) -> RenderableType:
        """The same text for a rich console, coloured where that is a terminal."""
        return renderable(self, times=True)

    def _repr_html_(self) -> str:
        """The report as it stands in a notebook."""
        return fragment(self)

    def to_html(self, path: str | Path) -> None:
        """Write one page that needs nothing else: no script, no font, no picture from elsewhere."""
        Path(path).write_text(page(self), encoding="utf-8", newline="\n")
