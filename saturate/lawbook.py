"""What is shown of a law or an identity: formula, conditions, rule and an example, as text and plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from saturate.rules import IDENTITIES, THEORIES, Identity
from saturate.rules.compile import rule_text
from saturate.rules.decision import FORM, TERM, decision
from saturate.rules.language import letters_in, show
from saturate.rules.law import PROMISES, Condition, Law
from saturate.rules.witness import example, example_of
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
DECIDED = {
    TERM: "one term: over named indices both are written the same",
    FORM: "one normal form: multiplied out, both are the same sum of products",
    "": "nothing",
}
"""What makes two forms one value, so that no rule is needed."""
SIZES = (2, 3, 2, 2)
"""Sizes of the letters of a sample."""


def formula(law: Law) -> str:
    """Both sides as mathematics; variables bear their letters where the law sums over one."""
    text = re.sub(r"\+ -(1·)?", "− ", f"{show(law.left)} = {show(law.right)}")
    text = re.sub(r"(?<![\w.])-(1·)?", "−", text)
    if not letters_in(law.left) | letters_in(law.right):
        return text
    for name, letters in law.variables.items():
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w(])", f"{name}[{','.join(letters)}]", text)
    return re.sub(r"(?<= )\((\w+\[[\w,]*\])\)", r"\1", text)


def headline(law: Law | Identity) -> str:
    """The first sentence of the docstring, on one line."""
    return law.doc.splitlines()[0]


def conditions(law: Law | Identity) -> tuple[str, ...]:
    """What must be known of the variables, those of one fact together."""
    facts = dict.fromkeys(c.fact for c in law.where)
    return tuple(_condition(fact, [c for c in law.where if c.fact == fact]) for fact in facts)


def _condition(fact: str, where: list[Condition]) -> str:
    names = [c.variable for c in where]
    listed = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    return f"{listed} {'are' if len(names) > 1 else 'is'} {WORDS.get(fact, fact)}"


def declared(law: Law | Identity) -> str:
    """File and line of the declaration; inside the repository where it is one of the catalogue."""
    known = (*THEORIES.values(), *IDENTITIES.values())
    if any(law is other for theory in known for other in theory):
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


def identity_to_dict(identity: Identity) -> dict[str, Any]:
    """Everything that an identity declares and what follows from it, as plain data."""
    sizes = dict(zip(identity.letters, SIZES, strict=False))
    return {
        "name": identity.name,
        "theory": identity.theory,
        "statement": identity.doc,
        "forms": list(identity.texts),
        "exact": identity.exact,
        "variables": dict(identity.variables),
        "conditions": list(conditions(identity)),
        "decided": decision(identity, sizes),
        "emits": list(identity.emits),
        "lacks": list(identity.lacks),
        "source": identity.source,
        "declared": declared(identity),
        "sample": example_of(identity, sizes).text.strip(),
    }


def identity_rows(identity: Identity) -> list[tuple[str, str]]:
    """The same as pairs of what and what it is, for people; the docstring is left out."""
    known = identity_to_dict(identity)
    target = f", for a target without {', '.join(identity.lacks)}" if identity.lacks else ""
    computed = [("computed by", ", ".join(identity.emits) + target)] if identity.emits else []
    return [
        ("one form", identity.texts[0]),
        ("the other", identity.texts[1]),
        ("arguments", ", ".join(_argument(*given) for given in identity.variables.items())),
        ("conditions", "; ".join(known["conditions"]) or "none"),
        ("class", f"{identity.exact}: {PROMISES[identity.exact]}"),
        ("decided by", DECIDED[known["decided"]]),
        *computed,
        ("source", identity.source or "not stated"),
        ("declared", known["declared"]),
        ("sample", known["sample"].removeprefix("at ")),
    ]


def _argument(name: str, letters: str) -> str:
    mine, _, below = letters.partition("<")
    return f"{name}[{','.join(mine)}]" + (f" whole, from 0 to below |{below}|" if below else "")


def listing(
    theories: Mapping[str, Sequence[Law]], identities: Mapping[str, Sequence[Identity]] = MappingProxyType({})
) -> str:
    """The laws by theory, then what needs none: name, class, first sentence."""
    said: dict[str, Sequence[Law | Identity]] = {f"{t}, {len(x)} laws": x for t, x in theories.items()}
    said |= {f"{t}, {len(x)} identities that need no law": x for t, x in identities.items()}
    every = [law for laws in said.values() for law in laws]
    name_width = max((len(law.name) for law in every), default=0)
    class_width = max((len(law.exact) for law in every), default=0)
    parts: list[str] = []
    for theory, laws in said.items():
        parts.append(theory)
        parts += [f"  {w.name:{name_width}}  {w.exact:{class_width}}  {headline(w)}" for w in laws]
        parts.append("")
    return "\n".join(parts).rstrip()
