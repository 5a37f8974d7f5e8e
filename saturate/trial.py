"""A law's rule tried on the law's own left side: whether it runs, matches, and makes what is equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from saturate.algebra import Term
from saturate.audit import audit
from saturate.egraph import EGraph
from saturate.errors import EGraphError, LawError
from saturate.rules.compile import rules_text
from saturate.rules.law import BOUNDED, SIMPLIFY, Law
from saturate.rules.ring import product_of_one, sum_of_one
from saturate.rules.sides import Sides, facts_of

UNITS = (product_of_one, sum_of_one)
"""1·a = a and a sum of one member: what other laws leave behind."""
ROUNDS = 3
IDLE = "true on every sample, but its rule matches nothing of its own left side"


def trial(law: Law) -> str:
    """What is wrong with the rule of a true law, empty where nothing is.

    The rule may be egglog text that says something else than the two sides: so what it made is evaluated
    and compared with what it matched, and it may not match where one of the law's conditions is not known. A
    `bounded` law may differ, and is not compared.
    """
    sides = Sides(law, facts_of(law))
    lefts = sides.lefts()
    try:
        graph = run_alone(law, sides.terms.all)
    except (LawError, EGraphError) as error:
        return f"true on every sample, but its rule cannot run: {error}"
    classes = graph.classes()
    if law.name not in graph.runs or not graph.runs[law.name].matches:
        return IDLE
    for kind in ("normal", "positive") if law.exact != BOUNDED else ():
        for wrong in audit(classes, sides.arrays(kind, 0)):
            wrong = replace(wrong, law=law.name)  # it ran alone; a node that it only joined bears no name
            return f"its two sides are equal, but its rule makes what is not equal to {lefts[0]}: {wrong}"
    for condition in law.where if law.egglog is not None else ():
        without = Sides(law, facts_of(law, condition))
        without.lefts()
        runs = run_alone(law, without.terms.all).runs
        if law.name in runs and runs[law.name].matches:
            return f"its egglog text does not ask for its condition: write {condition.guard} among its facts"
    return ""


def run_alone(law: Law, loaded: Iterable[Term], rounds: int = ROUNDS) -> EGraph:
    """An e-graph in which the law ran alone but for `UNITS`, a few rounds and facts between them."""
    graph = EGraph(rules_text([unit for unit in UNITS if unit != law] + [law]))
    graph.load(loaded)
    for _ in range(rounds):
        graph.run("facts", saturate=True)
        graph.run(law.direction)
        graph.run(SIMPLIFY, saturate=law.direction != SIMPLIFY)
    graph.run("facts", saturate=True)
    return graph
