"""What is shown of a law: its formula, conditions, rule and an example, as text and as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from saturate.rules import THEORIES
from saturate.rules.compile import rule_text
from saturate.rules.language import letters_in, show
from saturate.rules.law import PROMISES, Condition, Law
from saturate.rules.witness import example
from saturate.signature import statements

WORDS = {
    "finite": "finite", "nonzero": "nowhere zero", "nonneg": "nowhere negative", "integer": "whole",
    "binary": "0 or 1 everywhere",
}  # fmt: skip
"""Facts as people say them; one that is not here is said by its name."""
MEANING = {
    "simplify": "always, to the end",
    "explore": "one round at a time",
    "merge_sums": "one round at a time, after two others",
}
"""When laws of a direction run."""


def formula(law: Law) -> str:
    """Both sides as mathematics; variables bear their letters where the law sums over one."""
    text = re.sub(r"\+ -(1·)?", "− ", f"{show(law.left)} = {show(law.right)}")
    text = re.sub(r"(?<![\w.])-(1·)?", "−", text)
    if not letters_in(law.left) | letters_in(law.right):
        return text
    for name, letters in law.variables.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w(])", f"{name}[{','.join(letters)}]", text)
    return re.sub(r"(?<= )\((\w+\[[\w,]*\])\)", r"\1", text)


def headline(law: Law) -> str:
    """The first sentence of the docstring, on one line."""
    return law.doc.splitlines()[0]


def conditions(law: Law) -> tuple[str, ...]:
    """What must be known of the variables, those of one fact together."""
    facts = dict.fromkeys(c.fact for c in law.where)
    return tuple(_condition(fact, [c for c in law.where if c.fact == fact]) for fact in facts)


def _condition(fact: str, where: list[Condition]) -> str:
    names = [c.variable for c in where]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{listed} {'are' if len(names) > 1 else 'is'} {WORDS.get(fact, fact)}"


def declared(law: Law) -> str:
    """File and line of the declaration; inside the repository where the law is one of the catalogue."""
    if any(law is known for laws in THEORIES.values() for known in laws):
        return "/".join(Path(law.line).parts[-2:])
    return law.line


def rule(law: Law) -> str:
    """The rule as the engine reads it, a fact or an action a line; without the marks of who made what."""
    facts, actions, options = _parts(rule_text(law))
    done = [s for s in statements(actions) if not s.startswith("(set (from-")]
    inner = [f"(rule ({_lines(statements(facts))})", f"      ({_lines(done)})", f"      {options})"]
    return "\n".join(inner)


def _parts(text: str) -> tuple[str, str, str]:
    """Facts, actions and options of a rule."""
    facts, actions = statements(text.removeprefix("(rule ").removesuffix(")"))
    return facts[1:-1], actions[1:-1], text[text.rindex(":ruleset") :].removesuffix(")")


def _lines(group: Iterable[str]) -> str:
    return f"\n{' ' * 7}".join(" ".join(s.split()) for s in group)


def to_dict(law: Law) -> dict[str, Any]:
    """Everything that a law declares and what follows from it, as plain data."""
    return {
        "name": law.name,
        "theory": law.theory,
        "statement": law.doc,
        "law": formula(law),
        "exact": law.exact,
        "direction": law.direction,
        "variables": dict(law.variables),
        "conditions": list(conditions(law)),
        "narrows": law.narrows,
        "source": law.source,
        "declared": declared(law),
        "sample": example(law).text.strip(),
        "egglog": rule(law),
    }


def rows(law: Law) -> list[tuple[str, str]]:
    """The same as pairs of what and what it is, for people; rule and docstring are left out."""
    known = to_dict(law)
    needs = "; ".join(known["conditions"]) or "none"
    if law.narrows:
        needs += "; the right side may depend on fewer indices"
    letters = ", ".join(f"{name}[{','.join(given)}]" for name, given in law.variables.items())
    return [
        ("law", known["law"]),
        ("variables", letters or "none"),
        ("conditions", needs),
        ("class", f"{law.exact}: {PROMISES[law.exact]}"),
        ("runs", f"{law.direction}: {MEANING[law.direction]}"),
        ("source", law.source or "not stated"),
        ("declared", known["declared"]),
        ("sample", known["sample"].removeprefix("at ")),
    ]


def listing(theories: Mapping[str, Sequence[Law]]) -> str:
    """The laws by theory: name, class, first sentence."""
    every = [law for laws in theories.values() for law in laws]
    name_width = max((len(law.name) for law in every), default=0)
    class_width = max((len(law.exact) for law in every), default=0)
    parts: list[str] = []
    for theory, laws in theories.items():
        parts.append(f"{theory}, {len(laws)} laws")
        parts += [f"  {w.name:{name_width}}  {w.exact:{class_width}}  {headline(w)}" for w in laws]
        parts.append("")
    return "\n".join(parts).rstrip()
