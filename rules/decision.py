"""What decides an identity: one term for both forms, or one normal form; no law and no search."""

from __future__ import annotations

from collections.abc import Mapping

from saturate.cse import share
from saturate.denote import denote
from saturate.facts import Facts
from saturate.normal import NormalForms
from saturate.program import Program
from saturate.rules.identity import Array, Identity
from saturate.trace import trace

TERM, FORM = "one term", "one normal form"


def compared(identity: Identity, sizes: Mapping[str, int], dtype: str = "float64") -> Program:
    """A program of both forms and their difference, so that equal axes have equal names."""

    def forms(*arguments: Array) -> tuple[Array, ...]:
        left, right = identity.forms(*arguments)
        return left, right, left - right

    return share(trace(forms, *identity.types(sizes, dtype).values()))


def known(identity: Identity, program: Program) -> dict[str, Facts]:
    """The facts of the inputs of a program whose arguments are those of the identity, by value id."""
    types = dict(zip(identity.variables, (given.type for given in program.inputs), strict=True))
    facts = identity.facts(types).values()
    return {given.value: mine for given, mine in zip(program.inputs, facts, strict=True)}


def decision(identity: Identity, sizes: Mapping[str, int], dtype: str = "float64") -> str:
    """`TERM` or `FORM`, or nothing where the forms are not known to be equal: what is known of the arguments
    is what the identity asks of them.
    """
    program = compared(identity, sizes, dtype)
    meaning = denote(program, known(identity, program))
    left, right = program.outputs[:2]
    one, other = meaning.values[left], meaning.values[right]
    forms, axes = NormalForms(), (meaning.axes[left], meaning.axes[right])
    if forms.called(one, axes[0]) != forms.called(other, axes[1]):
        return ""
    return TERM if one is other else FORM
