"""Pages whose examples run: each fence of `python`, and the fence of `text` after it, with what it prints."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """Code of a page and what the page says that it prints, None where it shows nothing."""

    line: int
    code: str
    shown: str | None
    span: tuple[int, int]


def examples(page: str) -> list[Example]:
    """The fences of `python`; a fence of `text` belongs to the one right before it."""
    fences = list(_FENCE.finditer(page))
    found: list[Example] = []
    for k, fence in enumerate(fences):
        if fence[1] != "python":
            continue
        after = fences[k + 1] if k + 1 < len(fences) and fences[k + 1][1] == "text" else None
        shown, span = (after[2], after.span(2)) if after else (None, (0, 0))
        found.append(Example(page.count("\n", 0, fence.start(2)) + 1, fence[2], shown, span))
    return found


_MEASURED = re.compile(r"\d\.\de[+-]\d\d")
_SAMPLE = r"[a-z]+(?: \S+)? \(#\d+\)"
_ELSEWHERE = (_SAMPLE, r"chosen by +auto: [\w -]+", r"\(bound: [^)]+\)", r"[ ]+")
"""What another machine may print otherwise: the sample with the worst rounding, the solver that was first."""


def same(printed: str, shown: str) -> bool:
    """Equal up to measured errors, within a factor of 30 on the same sample, and what `_ELSEWHERE` names."""
    texts = [_MEASURED.sub("…", t) for t in (printed, shown)]
    for pattern in _ELSEWHERE:
        texts = [re.sub(pattern, " ", t) for t in texts]
    lines = zip(printed.splitlines(), shown.splitlines(), strict=False)
    return texts[0] == texts[1] and all(_near(a, b) for a, b in lines)


def _near(printed: str, shown: str) -> bool:
    if re.findall(_SAMPLE, printed) != re.findall(_SAMPLE, shown):
        return True
    errors = zip(_MEASURED.findall(printed), _MEASURED.findall(shown), strict=True)
    return all(float(a) <= 30 * float(b) and float(b) <= 30 * float(a) for a, b in errors)


def prose(page: str) -> str:
    """The page without its fences."""
    return _FENCE.sub("", page)


def run(path: Path, regenerate: bool) -> list[str]:
    """Run the examples in order, in one namespace; what differs, or nothing and a page written anew."""
    page = path.read_text(encoding="utf-8")
    scope: dict[str, Any] = {"__name__": "__main__"}
    wrong: list[str] = []
    written: list[tuple[tuple[int, int], str]] = []
    for example in examples(page):
        said = StringIO()
        with redirect_stdout(said):
            exec(compile("\n" * (example.line - 1) + example.code, str(path), "exec"), scope)
        printed = "".join(f"{line.rstrip()}\n" for line in said.getvalue().rstrip().splitlines())
        if example.shown is not None:
            written.append((example.span, printed))
        if not same(printed, example.shown or "") and not (regenerate and example.shown is not None):
            wrong.append(f"{path.name}:{example.line} prints\n{printed}")
    if regenerate and not wrong:
        for (start, end), printed in reversed(written):
            page = page[:start] + printed + page[end:]
        path.write_text(page, encoding="utf-8", newline="\n")
    return wrong
