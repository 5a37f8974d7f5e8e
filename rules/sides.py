"""The sides of a law as terms, with arrays for their leaves: what a rule is tried on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from saturate.algebra import Ix, Term, Terms
from saturate.facts import BOOLEAN_FUNCTIONS, Facts
from saturate.op import AnyArray
from saturate.rules.checker import PRIMES, Sampler
from saturate.rules.language import Call, Expr, Largest, Num, Product, Sum, Total, Var
from saturate.rules.law import Condition, Law


def facts_of(law: Law, without: Condition | None = None) -> dict[str, Facts]:
    """The facts that the law asks of each variable, but for one."""
    return {
        v: frozenset(c.fact for c in law.where if c.variable == v and c != without) for v in law.variables
    }


class Sides:
    """Builds sides of a law over one pool.

    A left side stays as it is written: nothing is merged, added or cancelled. Its numbers are coefficients of
    products (`folded`) or factors of their own. A right side takes the pool's normal shape. The sizes of
    letters are distinct primes.
    """

    def __init__(self, law: Law, facts: Mapping[str, Facts]) -> None:
        self.law, self.facts, self.folded = law, facts, True
        self.terms = Terms()
        self._letters = Sampler(law, 0).axes

    def index(self, letter: str) -> Ix:
        """The index that a letter stands for."""
        return Ix(PRIMES[self._letters[letter]], 0)

    def arrays(self, kind: str, seed: int) -> dict[str, AnyArray]:
        """Values of the variables that meet the law's conditions, axes in the order of their letters."""
        sample = Sampler(self.law, seed)
        order = list(self._letters)
        found: dict[str, AnyArray] = {}
        for name, array in sample.draw(kind).items():
            mine = self.law.variables[name]
            squeezed = array.reshape([sample.sizes[x] for x in order if x in mine])
            kept = [x for x in order if x in mine]
            found[name] = squeezed.transpose([kept.index(x) for x in mine])
        return found

    def lefts(self) -> list[Term]:
        """The left side with its numbers as coefficients, and as factors."""
        found: list[Term] = []
        for self.folded in (True, False):
            found.append(self.left(self.law.left))
        return found

    def variable(self, name: str) -> Term:
        """A variable as a leaf with its letters as indices."""
        indices = tuple(map(self.index, self.law.variables[name]))
        return self.terms.leaf(name, indices, "float64", self.facts[name])

    def left(self, expr: Expr) -> Term:
        """A part of a left side as it is written."""
        match expr:
            case Product(factors):
                return self._product(frozenset(), factors)
            case Sum(members):
                return self.terms.plain_plus(map(self.left, members), "float64")
            case Total(letters, body):
                factors = body.factors if isinstance(body, Product) else (body,)
                return self._product(frozenset(map(self.index, letters)), factors)
            case Call(function, operands):
                return self._fn(function, tuple(map(self.left, operands)))
            case Largest(letters, body):
                return self.terms.red("max", frozenset(map(self.index, letters)), self.left(body))
            case _:
                return self.right(expr)

    def _fn(self, function: str, operands: tuple[Term, ...]) -> Term:
        return self.terms.fn(function, operands, "bool" if function in BOOLEAN_FUNCTIONS else "float64")

    def _product(self, summed: frozenset[Ix], factors: Iterable[Expr]) -> Term:
        k, members = Fraction(1), list[Term]()
        for factor in factors:
            if isinstance(factor, Num) and self.folded:
                k *= factor.value
            else:
                members.append(self.left(factor))
        return self.terms.plain_con(k, summed, members, "float64")

    def right(self, expr: Expr) -> Term:
        """A part of a right side in the pool's normal shape."""
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
                summed = frozenset(map(self.index, letters))
                return self.terms.con(Fraction(1), summed, (self.right(body),), "float64")
            case Call("recip", (operand,)):
                return self.terms.recip(self.right(operand))
            case Call(function, operands):
                return self._fn(function, tuple(map(self.right, operands)))
            case Largest(letters, body):
                return self.terms.red("max", frozenset(map(self.index, letters)), self.right(body))
            case _:
                raise TypeError(f"no expression: {expr!r}")
