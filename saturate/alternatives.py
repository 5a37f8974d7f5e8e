"""The ways to compute one class of an e-graph, each with its cost and as a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from saturate.algebra import Ix, Term, Terms
from saturate.egraph import TermClasses
from saturate.errors import ExtractionError
from saturate.extract import EXTRACTORS, Classes
from saturate.lattice import Lattice
from saturate.lower import Root, lower
from saturate.op import Op
from saturate.program import Input, Program
from saturate.replay import chosen_terms

WORK = 20_000
"""Steps that one extraction may take."""


@dataclass(frozen=True)
class Alternative:
    """One way to compute a value: cost in nanoseconds, the law of its last step, the term, the program.

    `classes` has the class of the terms inside, by number, where they have one.
    """

    cost: float
    law: str
    term: Term
    program: Program
    classes: Mapping[int, int]


def alternatives(
    classes: TermClasses,
    number: int,
    axes: Sequence[Ix | None],
    inputs: Sequence[tuple[Input, tuple[Ix | None, ...]]],
    constants: Mapping[str, Op],
    name: str,
) -> list[Alternative]:
    """The cheapest way for each last step by which a class can be computed; cheapest first, each once."""
    lattice = Lattice(classes)
    value = lattice.value(number)
    root = Root(value, tuple(axes), tuple(1 if i is None else i.size for i in axes))
    every = lattice.to_classes([value])
    found: dict[str, Alternative] = {}
    leaf_axes = {given.name: slots for given, slots in inputs}
    arguments = [given for given, _ in inputs]
    for k, step in enumerate(lattice.steps[value]):
        try:
            choice = _cheapest(every, value, k)
        except ExtractionError:  # this step needs the value itself
            continue
        terms = chosen_terms(Terms(), ((c, lattice.steps[c][n], lattice.dtype[c]) for c, n in choice.items()))
        program = lower(lattice, choice, [root], (), arguments, leaf_axes, constants, {}, name).program
        numbers = {t.id: n for c, t in terms.items() if c != value and (n := lattice.class_of[c]) is not None}
        cost = sum(every.nodes[c][n].cost for c, n in choice.items())
        law = "" if step.law == "program" else step.law
        found.setdefault(str(program), Alternative(cost, law, terms[value], program, numbers))
    return sorted(found.values(), key=lambda way: way.cost)


def _cheapest(every: Classes, value: int, k: int) -> dict[int, int]:
    """The cheapest choice with the k-th step of a value, operands first."""
    nodes = tuple(ways[k : k + 1] if c == value else ways for c, ways in enumerate(every.nodes))
    chosen = EXTRACTORS["auto"](Classes(nodes, every.roots, every.names), work=WORK)
    return {c: k if c == value else n for c, n in chosen.choice.items()}
