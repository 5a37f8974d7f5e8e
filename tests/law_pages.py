"""The page docs/rules.md: every law of the catalogue, by theory, from its declaration and the tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from saturate import lawbook
from saturate.rules import IDENTITIES, THEORIES, Identity, Law
from saturate.rules.decision import decision

HERE = Path(__file__).parent
EVERY = ("test_laws", "test_law_command", "test_law_docs")
"""Tests that range over the whole catalogue; they are named once."""
LAW = ("law", "says", "class", "needs", "runs", "source", "also in")
IDENTITY = ("identity", "says", "in NumPy", "class", "needs", "decided by", "source")
HEAD = """# The laws

Written by `pytest tests/test_law_docs.py --regen` from the declarations in `rules/`. Letters in brackets are
indices that a variable has; any other index is allowed. *Class* is what `exact=` must admit. Each law passes
the tests of [test_laws](../tests/test_laws.py): both sides equal on samples and over a prime field where they
are rational, equal slopes, at work from its left side alone, not without a condition. *Also in* names the
tests that speak of it besides. `saturate rules NAME` shows one law with its rule and where it is used. A law
of your own: [how to add a law](how-to-add-a-law.md).

The last three theories need no law. Each *identity* is two NumPy forms of one value, and
[test_identities](../tests/test_identities.py) holds it, in several shapes and both dtypes: values and
gradients equal; one *term* or one *normal form* once axes are named, under the facts that it *needs* and no
fewer; the cheaper form found from either.
"""


def page() -> str:
    """The page as it should be, without the newline at its end."""
    parts = [HEAD]
    for theory, laws in THEORIES.items():
        parts += [f"## {theory}\n\n{purpose(laws[0])}\n", table(LAW), *map(row, laws), ""]
    for theory, identities in IDENTITIES.items():
        said = f"## {theory}, without laws\n\n{purpose(identities[0])}\n"
        parts += [said, table(IDENTITY), *map(identity_row, identities), ""]
    return "\n".join(parts).rstrip()


def table(columns: Sequence[str]) -> str:
    """The head of a table."""
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|"


def identity_row(identity: Identity) -> str:
    """One line of a theory that needs no law."""
    left, right = identity.texts
    sizes = dict(zip(identity.letters, lawbook.SIZES, strict=False))
    emits = f"; lowered to {', '.join(identity.emits)}" if identity.emits else ""
    without = f" without {', '.join(identity.lacks)}" if identity.lacks else ""
    return line(
        f"`{identity.name}`",
        identity.doc,
        f"`{left}` = `{right}`",
        identity.exact,
        "; ".join(lawbook.conditions(identity)),
        decision(identity, sizes) + emits + without,
        identity.source,
    )


def line(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(' '.join(c.split()).replace('|', chr(92) + '|') for c in cells)} |"


def row(law: Law) -> str:
    """One line of a theory's table."""
    needs = [*lawbook.conditions(law), *(["fewer indices on the right are meant"] if law.narrows else [])]
    return line(
        f"`{law.name}`",
        f"`{lawbook.formula(law)}`",
        law.exact,
        "; ".join(needs),
        law.direction,
        law.source,
        ", ".join(mentions(law.name)),
    )


def purpose(law: Law | Identity) -> str:
    """What opens the module of a law or an identity."""
    text = Path(law.line.rpartition(":")[0]).read_text("utf-8")
    return " ".join(text.split('"""')[1].split())


def mentions(name: str) -> tuple[str, ...]:
    """The test modules that name the law, but for those that range over every law."""
    return tuple(module for module, words in _words().items() if name in words)


@cache
def _words() -> dict[str, frozenset[str]]:
    files = sorted(HERE.glob("test_*.py"))
    return {f.stem: frozenset(re.findall(r"\w+", f.read_text("utf-8"))) for f in files if f.stem not in EVERY}
