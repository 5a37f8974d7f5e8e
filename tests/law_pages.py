"""The page docs/rules.md: every law of the catalogue, by theory, from its declaration and the tests."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from saturate import lawbook
from saturate.rules import THEORIES, Law

HERE = Path(__file__).parent
EVERY = ("test_laws", "test_law_command", "test_law_docs")
"""Tests that range over the whole catalogue; they are named once."""
HEAD = """# The laws

Written by `pytest tests/test_law_docs.py --regen` from the declarations in `rules/`. Letters in brackets are
indices that a variable has; any other index is allowed. *Class* is what `exact=` must admit. Each law passes
the tests of [test_laws](../tests/test_laws.py): both sides equal on samples and over a prime field where they
are rational, equal slopes, at work from its left side alone, not without a condition. *Also in* names the
tests that speak of it besides. `saturate rules NAME` shows one law with its rule and where it is used. A law
of your own: [how to add a law](how-to-add-a-law.md).
"""


def page(theories: Mapping[str, Sequence[Law]] = THEORIES) -> str:
    """The page as it should be, without the newline at its end."""
    parts = [HEAD]
    for theory, laws in theories.items():
        parts.append(f"## {theory}\n\n{purpose(laws[0])}\n")
        parts.append("| law | says | class | needs | runs | source | also in |")
        parts.append("|---|---|---|---|---|---|---|")
        parts += [row(law) for law in laws]
        parts.append("")
    return "\n".join(parts).rstrip()


def row(law: Law) -> str:
    """One line of a theory's table."""
    needs = [*lawbook.conditions(law), *(["fewer indices on the right are meant"] if law.narrows else [])]
    cells = (
        f"`{law.name}`",
        f"`{lawbook.formula(law)}`",
        law.exact,
        "; ".join(needs),
        law.direction,
        law.source,
        ", ".join(mentions(law.name)),
    )
    return f"| {' | '.join(' '.join(c.split()).replace('|', chr(92) + '|') for c in cells)} |"


def purpose(law: Law) -> str:
    """The sentence that opens the module of a law."""
    text = Path(law.line.rpartition(":")[0]).read_text("utf-8")
    return " ".join(text.split('"""')[1].split())


def mentions(name: str) -> tuple[str, ...]:
    """The test modules that name the law, but for those that range over every law."""
    return tuple(module for module, words in _words().items() if name in words)


@cache
def _words() -> dict[str, frozenset[str]]:
    files = sorted(HERE.glob("test_*.py"))
    return {f.stem: frozenset(re.findall(r"\w+", f.read_text("utf-8"))) for f in files if f.stem not in EVERY}
