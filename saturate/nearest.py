"""Why a law does not match at a term: as many of its conditions as hold at once, and the first that fails."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saturate.algebra import Term
from saturate.facts import FACTS
from saturate.history import History
from saturate.lawbook import WORDS
from saturate.notation import Writer
from saturate.rules.compile import rule_parts
from saturate.rules.law import Law
from saturate.rules.traced import parts_of
from saturate.signature import CONSTRUCTORS, applications, arguments, statements

COUNTED = {
    r"\(> \(multiset-length (\w+)\) 0\)": "{0} is empty",
    r"\(> \(multiset-length (\w+)\) (\d+)\)": "{0} has no more than {1} members",
    r"\(= \(multiset-length (\w+)\) (\d+)\)": "{0} has more or fewer members than {1}",
    r"\(= \(set-length \(set-intersect (.+?) (\w+|\(.+\))\)\) 0\)": "{0} and {1} share an index",
    r"\(> \(set-length (\w+)\) 0\)": "{0} has no index",
    r"\(!= (\w+) (\w+)\)": "{0} and {1} are the same",
}
"""Facts about how many there are, and what it means that they do not hold."""
OF_CLASS = ("free", "dtype", "value", *FACTS)
"""Functions and relations of one class."""


@dataclass(frozen=True)
class Nearest:
    """The best partial match of a law at a term.

    `held` of the facts in `facts` hold at once, in the order in which the rule asks them, with `terms` for
    its variables; `failed` is the first that does not, as egglog text, empty where all hold, and `said` says
    it in words.
    """

    law: Law
    facts: tuple[str, ...]
    held: int
    terms: Mapping[str, Term]
    failed: str
    said: str

    @property
    def matches(self) -> bool:
        """Whether the law matches after all."""
        return not self.failed


def nearest(history: History, law: Law, at: Term, writer: Writer) -> Nearest:
    """Search the class of `at` for the longest beginning of the law's conditions that holds."""
    facts, target = _asked(law)

    def found(count: int) -> list[tuple[int, ...]]:
        return history.matches(" ".join(facts[:count]), variables(facts[:count]), at, target)

    low, high = 0, len(facts)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if found(middle) else (low, middle - 1)
    names = variables(facts[:low])
    numbers = found(low)[0] if names else ()
    found_terms = zip(names, (history.proof.terms[n] for n in numbers), strict=True)
    terms = {variable: term for variable, term in found_terms if variable != target}
    if low == len(facts):
        return Nearest(law, facts, low, terms, "", "every condition holds")
    said = _Teller(history, writer, at, target, facts[:low], terms).tell(facts[low])
    return Nearest(law, facts, low, terms, facts[low], said)


def matched(history: History, law: Law, at: Term) -> dict[str, Term]:
    """What stands for the variables of a law's rule where it matches at a term; empty where it does not."""
    facts, target = _asked(law)
    names = variables(facts)
    for numbers in history.matches(" ".join(facts), names, at, target)[:1]:
        found = zip(names, (history.proof.terms[n] for n in numbers), strict=True)
        return {variable: term for variable, term in found if variable != target}
    return {}


def _asked(law: Law) -> tuple[tuple[str, ...], str]:
    """The facts that a law's rule asks for, and the variable that stands for the class that it matches at."""
    text, actions = rule_parts(law)
    target = next((parts_of(a)[1] for a in statements(actions) if a.startswith("(union ")), "e")
    return tuple(statements(text)), target


def variables(facts: Sequence[str]) -> list[str]:
    """The variables of facts that stand for classes of terms, in order."""
    found: list[str] = []
    for fact in facts:
        parts = parts_of(fact)
        if parts[0] == "=" and len(parts) == 3 and parts[2].startswith("("):
            head = arguments(parts[2])[0]
            if head in CONSTRUCTORS or head in ("multiset-pick", "term"):
                found.append(parts[1])
        if parts[0] == "mem":
            found.append(parts[2])
        for name in applications(fact, (*CONSTRUCTORS, *OF_CLASS)):
            head, *args = parts_of(name)
            sorts = CONSTRUCTORS.get(head, ("T",))
            found += [a for a, sort in zip(args, sorts, strict=False) if sort == "T" and _is_variable(a)]
    return list(dict.fromkeys(found))


def _is_variable(word: str) -> bool:
    return word[0].isalpha()


@dataclass(frozen=True)
class _Teller:
    """Says in words why a fact does not hold beside those that do."""

    history: History
    writer: Writer
    at: Term
    target: str
    held: Sequence[str]
    terms: Mapping[str, Term]

    def tell(self, fact: str) -> str:
        parts = parts_of(fact)
        if parts[0] in FACTS:
            return self._unknown(parts[0], self._shown(parts[1]))
        if parts[0].removesuffix("s") in FACTS and len(parts) == 2:
            return self._unknown_members(parts[0].removesuffix("s"), parts[1])
        if parts[0] == "mem":
            return f"no further member or factor {parts[2]} is there"
        if parts[0] == "=" and parts[2].startswith("(") and parts_of(parts[2])[0] in CONSTRUCTORS:
            return f"{self._shown(parts[1])} is {_kind(*parts_of(parts[2]))} in none of its known forms"
        if parts[0] == "=" and parts[1].startswith("(value "):
            return f"{self._shown(parts_of(parts[1])[1])} is not known to be the number that the law asks for"
        return self._counted(fact) or f"{fact} does not hold"

    def _counted(self, fact: str) -> str:
        """Facts about how many members or indices there are."""
        for pattern, said in COUNTED.items():
            match = re.fullmatch(pattern, fact)
            if match:
                text = said.format(*match.groups())
                given = [f for f in self.held if f.startswith(f"(= {match[1]} (multiset-")]
                return f"{text}, where {given[0]}" if given else text
        return ""

    def _shown(self, variable: str) -> str:
        """The variable with its term."""
        if variable == self.target:
            return self.writer.called(self.at)
        term = self.terms.get(variable)
        return variable if term is None else f"{variable} = {self.writer.called(term)}"

    def _unknown(self, fact: str, shown: str) -> str:
        return f"{shown} is not known to be {WORDS.get(fact, fact)}"

    def _unknown_members(self, fact: str, members: str) -> str:
        facts = f"{' '.join(self.held)} (mem {members} member)"
        rows = self.history.matches(facts, ["member"], self.at, self.target)
        terms = [self.history.proof.terms[n] for (n,) in rows]
        known = self.history.facts()
        lacking = [self.writer.called(t) for t in terms if fact not in known[t.id]]
        return self._unknown(fact, ", ".join(lacking) or f"a member of {members}")


def _kind(constructor: str, *rest: str) -> str:
    kinds = {"Con": "a product or a sum over indices", "Plus": "a sum of members", "Red": "a reduction"}
    if constructor.startswith("Fn") and rest and rest[0].startswith('"'):
        function = rest[0].strip('"')
        return "a reciprocal" if function == "recip" else f"{function}(…)"
    return kinds.get(constructor, f"a node {constructor}")
