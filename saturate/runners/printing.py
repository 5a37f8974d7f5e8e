"""The steps of a program as the lines of a Python function, which runners compile and `source` shows."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap

from saturate.runners.expressions import text
from saturate.runners.steps import Step, Steps

WIDTH = 100


def statement(step: Step, identifiers: Mapping[str, str]) -> str:
    """`e = np.exp(x - m[:, None])`."""
    return f"{identifiers[step.value]} = {text(step.whole, identifiers)}"


def body(
    steps: Steps, identifiers: Mapping[str, str], comments: Mapping[str, str] | None = None
) -> list[str]:
    """The statements that stand in source, each below its comment and those of the values within it.

    A comment that says what the one before it said is left out, and one that was said further up is cut off
    at its colon, as the statement of a law after its name.
    """
    lines: list[str] = []
    last: list[str] = []
    said: set[str] = set()
    for step in steps.steps:
        if step.printed:
            notes = [" ".join((comments or {}).get(v, "").split()) for v in (*step.inner, step.value)]
            found = [note for note in dict.fromkeys(notes) if note]
            if found and found != last:
                short = [note.partition(": ")[0] if note in said else note for note in found]
                lines += [f"# {line}" for note in short for line in wrap(note, WIDTH - 6)]
                last = found
                said.update(found)
            lines.append(statement(step, identifiers))
    return lines


def indented(lines: list[str]) -> str:
    """Lines as the body of a function."""
    return "".join(f"    {line}\n" for line in lines)


def listed(head: str, items: list[str], tail: str = "") -> list[str]:
    """`head` and the items as a tuple, one item a line where one is too long."""
    joined = ", ".join(items) + ("," if len(items) == 1 else "")
    bare = len(items) > 1 and head in ("", "return ")
    line = f"{head}{joined}{tail}" if bare else f"{head}({joined}){tail}"
    if len(line) + 4 <= WIDTH:
        return [line]
    return [f"{head}(", *(f"    {item}," for item in items), f"){tail}"]
