"""Laws as rules that also write down what they joined, so that a chain of laws can be told afterwards.

For every constructor C there are `id-C`, the least number of a term that an e-node stands for, and `made-C`,
the law, the number of what it matched and the e-node that it made. `name` is the least number of a term in a
class; `joined` pairs a matched term with a term that was there already.
"""

from __future__ import annotations

from collections.abc import Iterable

from saturate.rules.compile import marks, rule_parts
from saturate.rules.law import Law
from saturate.signature import CONSTRUCTORS, RULESETS, arguments, statements

FORGET = "forget"
"""The ruleset that empties the log."""


def traced_text(laws: Iterable[Law]) -> str:
    """The tables of the log, the rulesets, and one rule a law."""
    lines = ["(function name (T) i64 :merge (min old new))", "(relation joined (String i64 i64))"]
    lines += [f"(ruleset {name})" for name in (*RULESETS, FORGET)]
    for name, sorts in CONSTRUCTORS.items():
        places = " ".join(f"a{k}" for k in range(len(sorts)))
        row = f"(made-{name} law n {places})"
        lines.append(f"(function id-{name} ({' '.join(sorts)}) i64 :merge (min old new))")
        lines.append(f"(relation made-{name} (String i64 {' '.join(sorts)}))")
        lines.append(f"(rule ({row}) ((delete {row})) :ruleset {FORGET})")
    lines.append(f"(rule ((joined law n m)) ((delete (joined law n m))) :ruleset {FORGET})")
    return "\n".join([*lines, *(traced_rule(law, law.direction) for law in laws)])


def traced_rule(law: Law, ruleset: str) -> str:
    """The rule of a law, in a ruleset, with a line of the log for each union that it makes."""
    facts, actions = rule_parts(law)
    nodes = matched_nodes(facts)
    asked: dict[str, str] = {}
    log: list[str] = []
    for action in statements(actions):
        if action.startswith("(union "):
            log += _logged(law.name, parts_of(action)[1:], nodes, asked)
    more = " ".join(f"(= {variable} {asks})" for asks, variable in asked.items())
    done = f"{actions} {marks(law.name, actions)} {' '.join(log)}"
    return f'(rule ({facts} {more}) ({done}) :ruleset {ruleset} :name "{law.name}")'


def _logged(law: str, ends: list[str], nodes: dict[str, str], asked: dict[str, str]) -> list[str]:
    """The line of the log for a union; both ends made by the law are not known before."""
    built = [end for end in ends if arguments(end)[0] in CONSTRUCTORS and end.startswith("(")]
    there = [end for end in ends if end not in built]
    numbers = [_number(end, nodes, asked) for end in there]
    if len(there) == 2:
        return [f'(joined "{law}" {" ".join(numbers)})']
    if len(there) == 1:
        name, args = arguments(built[0])
        return [f'(made-{name} "{law}" {numbers[0]} {args})']
    return []


def _number(variable: str, nodes: dict[str, str], asked: dict[str, str]) -> str:
    """A variable for the number of the term that was matched: that of the e-node, else of the class."""
    asks = f"(id-{nodes[variable][1:]}" if variable in nodes else f"(name {variable})"
    return asked.setdefault(asks, f"number{len(asked)}")


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
