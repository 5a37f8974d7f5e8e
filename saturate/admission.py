"""Which laws may enter an e-graph: the catalogue's, and those of a user that the checker cannot refute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from saturate.errors import ArgumentError, LawError
from saturate.rules import CATALOGUE, EXACTNESS, Law
from saturate.rules.witness import refutation
from saturate.trial import IDLE, trial


def admitted(rules: Any, exact: str) -> tuple[Law, ...]:
    """The laws of `rules` (the catalogue where None) up to a class of exactness, each true or insisted on.

    Raises `ArgumentError` where `rules` is no list of laws, and `LawError` with a witness where a law is
    false or its rule does something else than it says. The catalogue is tested by the test suite, and
    `unchecked=True` laws are not tested at all.
    """
    laws: Any = CATALOGUE if rules is None else rules
    if not isinstance(laws, Sequence):
        raise ArgumentError(f"rules needs a list of laws, such as [*CATALOGUE, mine], got {laws!r}")
    for law in laws:
        if not isinstance(law, Law):
            raise ArgumentError(f"rules needs laws declared with @law, got {law!r}")
    found = tuple(law for law in laws if EXACTNESS.index(law.exact) <= EXACTNESS.index(exact))
    for law in strangers(found):
        if not law.unchecked:
            _refuse_false(law)
    return found


def strangers(laws: Iterable[Law]) -> tuple[Law, ...]:
    """The laws that are not of the catalogue."""
    known = set(CATALOGUE)
    return tuple(law for law in laws if law not in known)


def insisted(laws: Iterable[Law]) -> tuple[str, ...]:
    """What a report says of laws that entered the e-graph untested."""
    return tuple(
        f"law {law.name} was not checked, as its declaration says (unchecked=True, {law.line}): {law.doc}"
        for law in strangers(laws)
        if law.unchecked
    )


def _refuse_false(law: Law) -> None:
    finding = refutation(law)
    if finding is not None:
        raise LawError(
            f"law {law.name} ({law.line}) is false and enters no e-graph: {finding.text}; correct it, give "
            "it a condition (where=), or insist with unchecked=True"
        )
    wrong = trial(law)
    if wrong not in ("", IDLE):
        raise LawError(
            f"law {law.name} ({law.line}) enters no e-graph: {wrong}; correct its egglog text, or insist "
            "with unchecked=True"
        )
