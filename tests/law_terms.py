"""Sides of laws as terms, and one law run alone in the e-graph: what the tests of laws share."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from saturate.algebra import Ix, Term, Terms
from saturate.egraph import EGraph, TermClasses
from saturate.facts import BOOLEAN_FUNCTIONS, Facts
from saturate.rules.checker import PRIMES
from saturate.rules.compile import rules_text
from saturate.rules.language import Call, Expr, Largest, Num, Product, Sum, Total, Var
from saturate.rules.law import SIMPLIFY, Condition, Law
from saturate.rules.ring import product_of_one, sum_of_one


def index(letter: str) -> Ix:
    """The index that a letter stands for; sizes are distinct primes."""
    place = "ijkl".index(letter)
    return Ix(PRIMES[place], 0)


def facts_of(law: Law, without: Condition | None = None) -> dict[str, Facts]:
    """The facts that the law asks of each variable, but for one."""
    return {
        v: frozenset(c.fact for c in law.where if c.variable == v and c != without) for v in law.variables
    }


class Sides:
    """Builds sides of a law over one pool.

    A left side stays as it is written: nothing is merged, added or cancelled. Its numbers are coefficients of
    products (`folded`) or factors of their own. A right side takes the pool's normal shape.
    """

    def __init__(self, law: Law, facts: dict[str, Facts]) -> None:
        self.law, self.facts, self.folded = law, facts, True
        self.terms = Terms()

    def lefts(self) -> list[Term]:
        """The left side with its numbers as coefficients, and as factors."""
        found: list[Term] = []
        for self.folded in (True, False):
            found.append(self.left(self.law.left))
        return found

    def variable(self, name: str) -> Term:
        indices = tuple(index(letter) for letter in self.law.variables[name])
        return self.terms.leaf(name, indices, "float64", self.facts[name])

    def left(self, expr: Expr) -> Term:
        match expr:
            case Product(factors):
                return self.product(frozenset(), factors)
            case Sum(members):
                return self.terms.plain_plus(map(self.left, members), "float64")
            case Total(letters, body):
                factors = body.factors if isinstance(body, Product) else (body,)
                return self.product(frozenset(map(index, letters)), factors)
            case Call(function, operands):
                return self.fn(function, tuple(map(self.left, operands)))
            case Largest(letters, body):
                return self.terms.red("max", frozenset(map(index, letters)), self.left(body))
            case _:
                return self.right(expr)

    def fn(self, function: str, operands: tuple[Term, ...]) -> Term:
        return self.terms.fn(function, operands, "bool" if function in BOOLEAN_FUNCTIONS else "float64")

    def product(self, summed: frozenset[Ix], factors: Iterable[Expr]) -> Term:
        k, members = Fraction(1), list[Term]()
        for factor in factors:
            if isinstance(factor, Num) and self.folded:
                k *= factor.value
            else:
                members.append(self.left(factor))
        return self.terms.plain_con(k, summed, members, "float64")

    def right(self, expr: Expr) -> Term:
        match expr:
            case Var(name):
                return self.variable(name)
            case Num(value):
                return self.terms.number(value, "float64")
            case Product(factors):
                return self.terms.con(Fraction(1), frozenset(), map(self.right, factors), "float64")
            case Sum(members):
                return self.terms.plus(map(self.right, members), "float64")
            case Total(letters, body):
                summed = frozenset(map(index, letters))
                return self.terms.con(Fraction(1), summed, (self.right(body),), "float64")
            case Call("recip", (operand,)):
                return self.terms.recip(self.right(operand))
            case Call(function, operands):
                return self.fn(function, tuple(map(self.right, operands)))
            case Largest(letters, body):
                return self.terms.red("max", frozenset(map(index, letters)), self.right(body))
            case _:
                raise TypeError(f"no expression: {expr!r}")


UNITS = (product_of_one, sum_of_one)
"""1·a = a and a sum of one member: what other laws leave behind."""


def run_alone(law: Law, loaded: Iterable[Term], rounds: int = 3) -> EGraph:
    """An e-graph in which the law ran alone but for `UNITS`, a few rounds and facts between them."""
    graph = EGraph(rules_text([unit for unit in UNITS if unit != law] + [law]))
    graph.load(loaded)
    for _ in range(rounds):
        graph.run("facts", saturate=True)
        graph.run(law.direction)
        graph.run(SIMPLIFY, saturate=law.direction != SIMPLIFY)
    graph.run("facts", saturate=True)
    return graph


def origins(classes: TermClasses, term: Term) -> set[str]:
    """The laws that made nodes of a loaded term's class."""
    return {node.law for node in classes.nodes[classes.of_term[term.id]]}
