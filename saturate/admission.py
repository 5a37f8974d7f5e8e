"""Which laws may enter an e-graph: the catalogue's, and those of a user that the checker cannot refute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from saturate.errors import ArgumentError, LawError, shown
from saturate.rules import CATALOGUE, EXACTNESS, IDENTITIES, Identity, Law
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


def law_of(given: object, laws: Iterable[Law], who: str) -> Law:
    """A law, or that of a name among `laws` and the catalogue.

    Raises `ArgumentError` in the name of `who` for anything else; an identity is told from a law.
    """
    if isinstance(given, Law):
        return given
    known = {law.name: law for law in (*CATALOGUE, *laws)}
    name = given.name if isinstance(given, Identity) else given
    if isinstance(name, str) and name in known:
        return known[name]
    needs = f"{who} needs a law, or the name of one"
    if not isinstance(name, str):
        raise ArgumentError(f"{needs}; got {shown(given)}")
    if any(name == other.name for theory in IDENTITIES.values() for other in theory):
        raise ArgumentError(
            f"{needs}; {name} is an identity that needs no law: both sides have one normal form, so that it "
            "holds in every search"
        )
    near = get_close_matches(name, known, 3)
    raise ArgumentError(
        f"{needs}; there is no law {name!r}" + (f": is it {' or '.join(near)}?" if near else "")
    )


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
