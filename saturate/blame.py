"""What an audit found, as a person can check it: the law, what stands for its variables, a small input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from saturate.algebra import Term
from saturate.audit import Disagreement, audit
from saturate.egraph import TermClasses
from saturate.matching import Matcher, shown, told
from saturate.op import AnyArray
from saturate.rules.law import Law
from saturate.saturation import Limits, saturate

SIMPLE = (1.0, 0.0, 2.0, -1.0, 0.5)
"""What leaves are tried as, whole, before their own values are kept."""


@dataclass(frozen=True, eq=False)
class Blame:
    """A law that made two unequal values one: it put `made` into the class of `of`.

    `substitution` maps the law's variables to what stood for them, empty where its statement has another
    form than its rule; `input` holds arrays of leaves, as simple as was found, on which the class is worth
    `expected` and what the law made is worth `found`.
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
        return (
            f"{self.law} makes {self.made} of {self.of}"
            + (f", for {where}" if where else "")
            + (f": at {given}" if given else ":")
            + f" they are {_short(self.found)} and {_short(self.expected)}"
        )


def blame(
    terms: Sequence[Term], laws: Sequence[Law], limits: Limits, values: Mapping[str, AnyArray]
) -> Blame | None:
    """Saturate, audit, and make the first disagreement simple; None where every law did right.

    A law that only joined what was there before has made no node, and is found by leaving laws out.
    """
    searched = saturate(terms, (), laws, limits)
    wrong = audit(searched.classes, values)
    if not wrong:
        return None
    named = {law.name: law for law in laws}
    guilty = named.get(wrong[0].law)
    matched = [law for law in laws if law.name in searched.laws and searched.laws[law.name].matches]
    for law in matched if guilty is None else ():
        fewer = [other for other in laws if other is not law]
        if not audit(saturate(terms, (), fewer, limits).classes, values):
            guilty = law
            break
    return _Simple(searched.classes, guilty).blame(values, wrong[0])


@dataclass(frozen=True)
class _Simple:
    """Makes one disagreement simple."""

    classes: TermClasses
    law: Law | None

    def blame(self, values: Mapping[str, AnyArray], first: Disagreement) -> Blame:
        classes = self.classes
        for name in values:
            values, first = self._simpler(values, name, first)
        matches = Matcher(classes).match(self.law.left, first.number, {}) if self.law else iter(())
        stands = {name: shown(classes, number) for name, number in next(matches, {}).items()}
        other = next(n for n in classes.nodes[first.number] if n != first.node)
        of, made = (told(classes, node, first.number) for node in (other, first.node))
        expected, found = np.broadcast_arrays(
            np.asarray(first.expected, float), np.asarray(first.found, float)
        )
        place = np.unravel_index(int(np.argmax(_apart(expected, found))), expected.shape)
        name = self.law.name if self.law else first.law
        return Blame(name, of, made, stands, values, expected[place], found[place])

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
    apart = np.abs(expected - found)
    return np.where(np.isnan(expected) & np.isnan(found), -1.0, np.where(np.isnan(apart), np.inf, apart))


def _short(array: AnyArray) -> str:
    flat = np.unique(np.asarray(array))
    return f"{flat[0]:.4g}" if flat.size == 1 else "[" + ", ".join(f"{x:.4g}" for x in flat[:6]) + ", …]"
