"""Terms and e-nodes as mathematics: one letter an index, names of the user where there are some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import Any

from saturate.algebra import Ix, Term

Letters = Mapping[Ix, str]
DEPTH = 7
"""Operands that lie deeper are written as an ellipsis."""
LONG = 120
"""Letters of a text for which more names are used."""
LONGEST = 1_000_000
"""Fractions with larger denominators are written as decimals."""
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def letters(indices: Iterable[Ix], taken: Iterable[str] = ()) -> dict[Ix, str]:
    """One letter for each index, in their order: i, j, k and on, then i1; none of those that are taken."""
    names = set(taken)
    free = (a for k in count() for letter in "ijklmnpqrs" if (a := f"{letter}{k or ''}") not in names)
    found: dict[Ix, str] = {}
    for index in indices:
        if index not in found:
            found[index] = next(free)
    return found


def indices_of(terms: Iterable[Term]) -> list[Ix]:
    """The indices of the terms, those of leaves first, in the order in which leaves have them."""
    terms = list(terms)
    leaves = [i for t in terms if t.kind == "leaf" for i in t.head[1]]
    return leaves + [i for t in terms for i in sorted(t.free | _summed(t))]


def _summed(term: Term) -> frozenset[Ix]:
    found: frozenset[Ix] = term.head[1] if term.kind in ("con", "red") else frozenset()
    return found


def formula(kind: str, head: tuple[Any, ...], args: Sequence[str], called: Letters) -> str:
    """One node over the texts of its operands, which need no parentheses of their own."""
    match kind:
        case "leaf":
            return f"{short(head[0])}[{','.join(called[i] for i in head[1])}]"
        case "con":
            k, summed = head
            return f"{_sigma('Σ', summed, called)}{_product(k, args)}"
        case "plus":
            return " + ".join(args)
        case "red":
            return f"{_sigma(head[0], head[1], called)}{args[0]}"
        case "ren":
            return f"{args[0]}[{', '.join(f'{called.get(i, i)}→{called.get(j, j)}' for i, j in head)}]"
        case "delta":
            return f"δ[{','.join(called.get(i, str(i)) for i in head)}]"
        case "fn":
            return _function(head[0], args)
        case _:
            return f"{head[0][0].name}({', '.join(args)})"


def _function(name: str, args: Sequence[str]) -> str:
    kind, _, attribute = name.partition(":")
    if name == "recip":
        return f"1/{args[0]}"
    return attribute.replace("-", "−") if kind == "literal" else f"{attribute or name}({', '.join(args)})"


def short(name: str) -> str:
    """The name of a leaf; of a captured array a part of its digest."""
    return name if not name.startswith("const:") else f"constant {name[6:12]}"


def _sigma(symbol: str, indices: Iterable[Ix], called: Letters) -> str:
    bound = "".join(sorted(called.get(i, str(i)) for i in indices))
    return f"{symbol}_{bound} " if bound else ""


def number(k: Fraction) -> str:
    """A number as a short fraction, else as a decimal."""
    text = str(k) if k.denominator <= LONGEST else f"{float(k):.6g}"
    return f"−{text[1:]}" if text.startswith("-") else text


def _product(k: Fraction, factors: Sequence[str]) -> str:
    if not factors:
        return number(k)
    sign = {Fraction(1): "", Fraction(-1): "−"}.get(k, f"{number(k)}·")
    powers = Counter(factors)
    return sign + "·".join(f + str(n).translate(_RAISED) * (n > 1) for f, n in powers.items())


@dataclass(frozen=True)
class Writer:
    """Writes terms; `names` gives what the user calls a term, by its number."""

    letters: Letters
    names: Mapping[int, str] = field(default_factory=dict)
    more: Mapping[int, str] = field(default_factory=dict)
    """Names that are used where a text would be long."""
    leaves: Mapping[str, str] = field(default_factory=dict)
    """What leaves are called, where that is not their name."""

    def equation(self, left: Term, right: Term) -> str:
        """Both sides, each written out at least once."""
        return f"{self.text(left)} = {self.text(right)}"

    def text(self, term: Term) -> str:
        """The term over the names of its operands; its own name is not used."""
        text = self._written(term, DEPTH)
        if len(text) > LONG and self.more:
            return Writer(self.letters, {**self.more, **self.names}, {}, self.leaves).text(term)
        return text

    def called(self, term: Term) -> str:
        """The name of the term, else the term."""
        return self.names[term.id] if term.id in self.names else self.text(term)

    def _part(self, term: Term, depth: int) -> str:
        if term.id in self.names and term.constant is None:
            return self.names[term.id]
        return self._written(term, depth - 1) if depth > 0 else "…"

    def _written(self, term: Term, depth: int) -> str:
        match term.kind:
            case "leaf":
                return self.leaves.get(term.head[0], short(term.head[0]))
            case "con":
                return self._con(term, depth)
            case "plus":
                texts = ((*_place(a), self._part(a, depth)) for a in term.args)
                parts = sorted((taken, last, len(text), text) for taken, last, text in texts)
                return " + ".join(text for *_, text in parts).replace("+ −", "− ")
            case "fn" if term.head == ("recip",):
                return f"1/{self._factor(term.args[0], depth)}"
            case _:
                args = [self._part(a, depth) for a in term.args]
                if term.kind in ("red", "ren"):
                    args = [self._factor(a, depth) for a in term.args]
                return formula(term.kind, term.head, args, self.letters)

    def _con(self, term: Term, depth: int) -> str:
        k, summed = term.head
        above = [a for a in term.args if not self._below(a)]
        below = [a.args[0] for a in term.args if self._below(a)]
        text = _product(k, [self._factor(a, depth) for a in above])
        for divisor in below:
            text += f"/{self._factor(divisor, depth)}"
        return f"{_sigma('Σ', summed, self.letters)}{text}"

    def _below(self, term: Term) -> bool:
        return term.kind == "fn" and term.head == ("recip",) and term.id not in self.names

    def _factor(self, term: Term, depth: int) -> str:
        """The term as part of a product."""
        text = self._part(term, depth)
        if term.id in self.names or term.kind in ("leaf", "delta", "opaque"):
            return text
        plain = term.kind == "fn" and term.head != ("recip",)
        whole = term.constant is not None and term.constant >= 0 and term.constant.denominator == 1
        return text if plain or whole else f"({text})"


def _place(term: Term) -> tuple[bool, bool]:
    """Where a member stands in a sum: what is added before what is taken away, numbers after either."""
    return term.kind == "con" and term.head[0] < 0, term.constant is not None
