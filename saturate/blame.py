"""What an audit found, as a person can check it: the law, what stands for its variables, a small input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from saturate.algebra import Term, show
from saturate.audit import Disagreement, audit
from saturate.egraph import TermClasses
from saturate.history import History
from saturate.matching import Matcher, shown, told
from saturate.nearest import matched
from saturate.op import AnyArray
from saturate.rules.law import Law
from saturate.saturation import Limits, saturate

SIMPLE = (1.0, 0.0, 2.0, -1.0, 0.5)
"""What leaves are tried as, whole, before their own values are kept."""


@dataclass(frozen=True, eq=False)
class Blame:
    """A law that made two unequal values one: it put `made` into the class of `of`.

    `substitution` maps the law's variables to what stood for them, or those of its rule where that looks for
    something else than its statement; `input` holds arrays of leaves, as simple as was found, on which the
    class is worth `expected` and what the law made is worth `found`. Their dtypes differ where the law
    flipped one.
    """

    law: str
    of: str
    made: str
    substitution: Mapping[str, str]
    input: Mapping[str, AnyArray]
    expected: AnyArray
    found: AnyArray

    def __str__(self) -> str:
        where = ", ".join(f"{name} = {text}" for name, text in self.substitution.items())
        given = ", ".join(f"{name} = {_short(array)}" for name, array in self.input.items())
        made, of = _short(self.found), _short(self.expected)
        if self.found.dtype != self.expected.dtype:
            made, of = f"{made} in {self.found.dtype}", f"{of} in {self.expected.dtype}"
        matched = f", for {where}" if where else ""
        at = f": at {given} they are" if given else ": they are"
        return f"{self.law} makes {self.made} of {self.of}{matched}{at} {made} and {of}"


def blame(
    terms: Sequence[Term], laws: Sequence[Law], limits: Limits, values: Mapping[str, AnyArray]
) -> Blame | None:
    """Saturate, audit, and make the first disagreement simple; None where every law did right.

    A law that only joined what was there before has made no node, and is found by leaving laws out. Dtypes
    and constants that contradict each other are findings here and stop nothing.
    """
    searched = saturate(terms, (), laws, limits, lenient=True)
    wrong = audit(searched.classes, values)
    if not wrong:
        return None
    named = {law.name: law for law in laws}
    guilty = named.get(wrong[0].law)
    fired = [law for law in laws if law.name in searched.laws and searched.laws[law.name].matches]
    for law in fired if guilty is None else ():
        fewer = [other for other in laws if other is not law]
        if not audit(saturate(terms, (), fewer, limits, lenient=True).classes, values):
            guilty = law
            break
    return _Simple(searched.classes, terms, guilty).blame(values, wrong[0])


@dataclass(frozen=True)
class _Simple:
    """Makes one disagreement simple."""

    classes: TermClasses
    terms: Sequence[Term]
    law: Law | None

    def blame(self, values: Mapping[str, AnyArray], first: Disagreement) -> Blame:
        classes = self.classes
        for name in values:
            values, first = self._simpler(values, name, first)
        other = next(n for n in classes.nodes[first.number] if n != first.node)
        of, made = (told(classes, node, first.number) for node in (other, first.node))
        expected, found = np.broadcast_arrays(first.expected, first.found)
        place = np.unravel_index(int(np.argmax(_apart(expected, found))), expected.shape)
        name = self.law.name if self.law else first.law
        stands = self._substitution(first.number)
        return Blame(name, of, made, stands, values, expected[place], found[place])

    def _substitution(self, number: int) -> Mapping[str, str]:
        """What stands for the law's variables in a class, or for those of its rule."""
        if self.law is None:
            return {}
        classes = self.classes
        for binding in Matcher(classes).match(self.law.left, number, {}):
            return {name: shown(classes, c) for name, c in binding.items()}
        history = History((self.law,))
        history.load(self.terms)
        history.run("facts", saturate=True)
        for term in self.terms:
            stands = matched(history, self.law, term) if classes.of_term[term.id] == number else {}
            if stands:
                return {name: show(t, 4) for name, t in stands.items()}
        return {}

    def _simpler(
        self, values: Mapping[str, AnyArray], name: str, first: Disagreement
    ) -> tuple[Mapping[str, AnyArray], Disagreement]:
        """One leaf made as simple as it goes while the same node is still wrong."""
        for simple in _simple_arrays(values[name]):
            tried = {**values, name: simple}
            for d in audit(self.classes, tried):
                if (d.number, d.node) == (first.number, first.node):
                    return tried, d
        return values, first


def _simple_arrays(array: AnyArray) -> Iterator[AnyArray]:
    for number in SIMPLE:
        yield np.full_like(array, number)
    yield (np.arange(array.size) % 2).reshape(array.shape).astype(array.dtype)


def _apart(expected: AnyArray, found: AnyArray) -> AnyArray:
    """How far two arrays are apart; farthest where one of the two is no number."""
    expected, found = expected.astype(float), found.astype(float)
    apart = np.abs(expected - found)
    return np.where(np.isnan(expected) & np.isnan(found), -1.0, np.where(np.isnan(apart), np.inf, apart))


def _short(array: AnyArray) -> str:
    flat = np.unique(np.asarray(array))
    return f"{flat[0]:.4g}" if flat.size == 1 else "[" + ", ".join(f"{x:.4g}" for x in flat[:6]) + ", …]"
