"""Laws as rules that also write down what they joined, so that a chain of laws can be told afterwards.

For every constructor C the table `id-C` has the least number of a term that an e-node stands for; `name` has
the least number of a term in a class. Each union of a law has a table of its own (`Log`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from saturate.rules.compile import marks, rule_parts
from saturate.rules.law import Law
from saturate.signature import CONSTRUCTORS, RULESETS, arguments, statements

FORGET = "forget"
"""The ruleset that empties the logs."""


@dataclass(frozen=True)
class Log:
    """What a union of a law writes down, a row a match.

    First the number of the term that was matched; then, `used` times, a class by the least number of its
    terms, and the number of the term as which it was matched; then the e-node that was made, as its
    constructor's arguments, or the number of a term that was there where `made` is empty.
    """

    table: str
    law: str
    used: int
    made: str


def traced(laws: Iterable[Law]) -> tuple[str, tuple[Log, ...]]:
    """The tables, and one rule a law in a ruleset of its own; and the logs that the rules write.

    The rulesets of the schedule are made of those of the laws.
    """
    laws = tuple(laws)
    lines = ["(function name (T) i64 :merge (min old new))", f"(ruleset {FORGET})"]
    for name, sorts in CONSTRUCTORS.items():
        lines.append(f"(function id-{name} ({' '.join(sorts)}) i64 :merge (min old new))")
    logs: list[Log] = []
    for law in laws:
        text, found = _traced(law)
        lines += [*(line for log in found for line in _declared(log)), f"(ruleset {ruleset(law)})", text]
        logs += found
    lines += [combined(name, [law for law in laws if law.direction == name]) for name in RULESETS]
    return "\n".join(lines), tuple(logs)


def ruleset(law: Law) -> str:
    """The ruleset of a law alone."""
    return f"law-{law.name}"


def combined(name: str, laws: Iterable[Law]) -> str:
    """A ruleset that runs laws side by side."""
    members = " ".join(ruleset(law) for law in laws)
    return f"(unstable-combined-ruleset {name} {members})" if members else f"(ruleset {name})"


def _declared(log: Log) -> tuple[str, str]:
    """The table of a log, and the rule that empties it."""
    sorts = ["i64"] * (1 + 2 * log.used) + (list(CONSTRUCTORS[log.made]) if log.made else ["i64"])
    row = f"({log.table} {' '.join(f'a{k}' for k in range(len(sorts)))})"
    return f"(relation {log.table} ({' '.join(sorts)}))", f"(rule ({row}) ((delete {row})) :ruleset {FORGET})"


def _traced(law: Law) -> tuple[str, list[Log]]:
    facts, actions = rule_parts(law)
    writer = _Writer(law, matched_nodes(facts))
    rows = [
        row for a in statements(actions) if a.startswith("(union ") for row in writer.row(parts_of(a)[1:])
    ]
    more = " ".join(f"(= {variable} {asks})" for asks, variable in writer.asked.items())
    done = f"{actions} {marks(law.name, actions)} {' '.join(rows)}"
    rule = f'(rule ({facts} {more}) ({done}) :ruleset {ruleset(law)} :name "{law.name}")'
    return rule, writer.logs


class _Writer:
    """Makes the rows of a law's logs; `asked` are the numbers that its rule has to look up."""

    def __init__(self, law: Law, nodes: dict[str, str]) -> None:
        self.law, self.nodes = law, nodes
        self.asked: dict[str, str] = {}
        self.logs: list[Log] = []

    def row(self, ends: list[str]) -> list[str]:
        """The row for a union; none where both ends are made, as neither was matched."""
        built = [end for end in ends if end.startswith("(")]
        there = [end for end in ends if end not in built]
        if not there:
            return []
        used = [v for v in self.nodes if v not in there]
        numbers = [self._node(there[0])]
        for variable in used:
            numbers += [self._ask(f"(name {variable})"), self._node(variable)]
        made, last = arguments(built[0]) if built else ("", self._node(there[-1]))
        self.logs.append(Log(f"did-{self.law.name}-{len(self.logs)}", self.law.name, len(used), made))
        return [f"({self.logs[-1].table} {' '.join(numbers)} {last})"]

    def _node(self, variable: str) -> str:
        """The number of the term that was matched: that of the e-node, else the least of the class."""
        known = variable in self.nodes
        return self._ask(f"(id-{self.nodes[variable][1:]}" if known else f"(name {variable})")

    def _ask(self, asks: str) -> str:
        return self.asked.setdefault(asks, f"number{len(self.asked)}")


def matched_nodes(facts: str) -> dict[str, str]:
    """The e-node that each variable was matched as, by the first fact that says so."""
    found: dict[str, str] = {}
    for fact in statements(facts):
        words = parts_of(fact)
        if words[0] == "=" and len(words) == 3 and arguments(words[2])[0] in CONSTRUCTORS:
            found.setdefault(words[1], words[2])
    return found


def parts_of(expression: str) -> list[str]:
    """The parts of an s-expression: words, and s-expressions whole."""
    parts: list[str] = []
    depth, word = 0, ""
    for c in expression.strip()[1:-1] + " ":
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c.isspace() and depth == 0:
            parts += [word] if word else []
            word = ""
        else:
            word += c
    return parts
