"""What `why` and `why_not` answer: chains of equations and partial matches, as data that prints itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from saturate.extract.units import error as shown_error
from saturate.extract.units import plural
from saturate.lawbook import formula, headline
from saturate.nearest import Nearest
from saturate.notation import Writer
from saturate.proof import CONGRUENCE, Equation
from saturate.rules.law import Law
from saturate.worth import ALLOWED

NESTED = 3
"""Chains inside chains are written out so deep; deeper ones are one line with their laws."""


@dataclass(frozen=True)
class Step:
    """An equation and its law; `inside` has the chains of what had to be equal first.

    `error` is the largest difference of its sides on samples, in parts of their scale. `law` is the name of a
    law, or says how else the sides are known to be equal.
    """

    left: str
    right: str
    law: str
    error: float
    inside: tuple[tuple[Step, ...], ...] = ()
    name: str = ""
    """What the user calls the left side."""

    @property
    def holds(self) -> bool:
        """Whether both sides were equal on every sample."""
        return self.error <= ALLOWED and all(s.holds for chain in self.inside for s in chain)

    @property
    def shown(self) -> bool:
        """Whether there is something to read: sides that are written differently, here or inside."""
        return self.left != self.right or any(s.shown for chain in self.inside for s in chain)

    def every(self) -> Iterator[Step]:
        """The step and those inside it."""
        for chain in self.inside:
            for step in chain:
                yield from step.every()
        yield self


class _Text:
    """Values that show themselves as text, and in a notebook as preformatted text."""

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


@dataclass(frozen=True, repr=False)
class Why(_Text):
    """The equations from the program's form of a value to the chosen one; `said` says what came of it."""

    name: str
    said: str
    steps: tuple[Step, ...]
    laws: Mapping[str, str] = field(default_factory=dict)
    """What each law among the steps states."""

    @property
    def holds(self) -> bool:
        """Whether every equation held on every sample."""
        return all(step.holds for step in self.steps)

    @property
    def error(self) -> float:
        """The largest difference of two sides, in parts of their scale."""
        return max((s.error for step in self.steps for s in step.every()), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.said}"]
        if any(step.shown for step in self.steps):
            lines += [f"      {self.steps[0].left}", *_chain(self.steps, "    ")]
            count = sum(inner.left != inner.right for step in self.steps for inner in step.every())
            verdict = f"hold{'s' * (count == 1)}" if self.holds else "DO NOT ALL HOLD"
            far = shown_error(self.error)
            lines += ["", f"{plural(count, 'equation')} {verdict} on samples, to {far} of scale"]
            lines += [f"{name}: {said}" for name, said in self.laws.items()]
        return "\n".join(lines)


def _chain(steps: tuple[Step, ...], indent: str, depth: int = 0) -> list[str]:
    """The right sides with their laws; what was used stands before the line that needs it."""
    lines: list[str] = []
    for step in steps:
        for inner in step.inside:
            if any(s.shown for s in inner):
                named = f"{inner[0].name} = " if inner[0].name else ""
                first = f"{indent}  where {named}{inner[0].left}"
                if depth < NESTED:
                    lines += [first, *_chain(inner, f"{indent}      ", depth + 1)]
                else:
                    lines.append(f"{first} = {inner[-1].right}    [{', '.join(_laws(inner))}]")
        if step.left != step.right:
            lines.append(f"{indent}= {step.right}    [{step.law}]")
    return lines


def _laws(chain: tuple[Step, ...]) -> list[str]:
    """The laws of a chain and of what stands inside it, but for the steps that operands take along."""
    used = dict.fromkeys(s.law for step in chain for s in step.every() if s.left != s.right)
    return [law for law in used if law != CONGRUENCE] or [CONGRUENCE]


@dataclass(frozen=True, repr=False)
class WhyNot(_Text):
    """The best partial match of a law at a value: how many conditions hold at once, and the first that fails.

    `terms` says what the law's variables stood for, `guard` is the condition as egglog text, `said` in words;
    both are empty where the law matches.
    """

    law: str
    name: str
    formula: str
    held: int
    conditions: int
    terms: Mapping[str, str]
    guard: str
    said: str
    notes: tuple[str, ...] = ()

    @property
    def matches(self) -> bool:
        """Whether the law matches there after all."""
        return not self.guard

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return asdict(self) | {"matches": self.matches}

    def __str__(self) -> str:
        verdict = "matches" if self.matches else "does not match"
        lines = [f"{self.law} {verdict} at {self.name}", f"    {self.formula}"]
        count = plural(self.conditions, "condition")
        lines.append(f"    all {count} hold" if self.matches else f"    {self.held} of {count} hold at best")
        lines += [f"      {name} = {term}" for name, term in self.terms.items()]
        if self.guard:
            lines += [f"    then {self.guard} fails:", f"      {self.said}"]
        return "\n".join([*lines, *(f"    {note}" for note in self.notes)])


def steps_of(
    chain: tuple[Equation, ...], writer: Writer, error: Callable[[Equation], float]
) -> tuple[Step, ...]:
    """A chain of terms as text, each equation measured."""
    return tuple(
        Step(
            writer.text(e.left),
            writer.text(e.right),
            e.reason,
            error(e),
            tuple(steps_of(inner, writer, error) for inner in e.inside if inner),
            writer.names.get(e.left.id, ""),
        )
        for e in chain
    )


def statements_of(steps: tuple[Step, ...], laws: Mapping[str, Law]) -> dict[str, str]:
    """What the laws among the steps state, in the order of their first use."""
    used = dict.fromkeys(s.law for step in steps for s in step.every() if s.left != s.right)
    return {name: headline(laws[name]) for name in used if name in laws}


def why_not_of(found: Nearest, name: str, writer: Writer, notes: tuple[str, ...]) -> WhyNot:
    """A partial match as text."""
    own = [v for v in found.terms if v in found.law.variables]
    named = {v: writer.called(found.terms[v]) for v in own or found.terms}
    return WhyNot(
        found.law.name, name, formula(found.law), found.held, len(found.facts), named, found.failed,
        "" if found.matches else found.said, notes,
    )  # fmt: skip
