"""Sides of laws as terms, and one law run alone in the e-graph: what the tests of laws share."""

from __future__ import annotations

from saturate.algebra import Term
from saturate.egraph import TermClasses
from saturate.rules.sides import Sides, facts_of
from saturate.trial import run_alone

__all__ = ["Sides", "facts_of", "origins", "run_alone"]


def origins(classes: TermClasses, term: Term) -> set[str]:
    """The laws that made nodes of a loaded term's class."""
    return {node.law for node in classes.nodes[classes.of_term[term.id]]}
