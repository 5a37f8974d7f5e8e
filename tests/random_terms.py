"""Random terms as they are written, for tests that hold for every term, with leaves that have their facts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from saturate.algebra import Ix, Term, Terms
from saturate.facts import BOOLEAN_FUNCTIONS, FINITE, INTEGER, NONNEG, NONZERO, ZERO_OR_ONE, Facts
from saturate.op import AnyArray
from saturate.rules.language import Call, Expr, Largest, Num, Product, Sum, Total, Var
from saturate.rules.law import Law

I2, J3, K5 = Ix(2, 0), Ix(3, 0), Ix(5, 0)
LEAVES: dict[str, tuple[tuple[Ix, ...], Facts]] = {
    "a": ((I2, J3), frozenset((FINITE,))),
    "b": ((J3, K5), frozenset((FINITE, NONNEG, NONZERO))),
    "c": ((I2,), frozenset((FINITE, NONZERO))),
    "d": ((K5, I2), frozenset((FINITE, NONNEG))),
    "u": ((J3,), frozenset()),
    "v": ((K5,), frozenset((NONNEG,))),
    "m": ((J3,), ZERO_OR_ONE),
}
NUMBERS = (Fraction(0), Fraction(1), Fraction(-1), Fraction(2), Fraction(-2), Fraction(1, 3))
UNARY = ("exp", "tanh", "sqrt", "recip", "abs", "log", "expm1", "cos", "sign")
POLYNOMIAL = ("con", "plus", "number")
EVERYTHING = (*POLYNOMIAL, "con", "plus", "unary", "binary", "where", "red", "ren")


def leaf(terms: Terms, name: str) -> Term:
    """One of `LEAVES`."""
    indices, facts = LEAVES[name]
    return terms.leaf(name, indices, "float64", facts)


def random_terms(
    rng: np.random.Generator,
    count: int = 12,
    kinds: tuple[str, ...] = EVERYTHING,
    leaves: str = "abcduv",
) -> tuple[Terms, list[Term]]:
    """A pool and `count` terms made of leaves and of each other, by `plain_con` and `plain_plus`."""
    terms = Terms()
    made = [leaf(terms, name) for name in leaves]
    for _ in range(count):
        new = _term(rng, terms, made, str(rng.choice(kinds)))
        if len(new.free) <= 3 and _depth(new) <= 4:
            made.append(new)
    return terms, made


def _depth(term: Term) -> int:
    return 1 + max((_depth(a) for a in term.args), default=0)


def _pick(rng: np.random.Generator, made: list[Term], count: int) -> list[Term]:
    return [made[k] for k in rng.integers(0, len(made), count)]


def _term(rng: np.random.Generator, terms: Terms, made: list[Term], kind: str) -> Term:
    (a, b) = _pick(rng, made, 2)
    indices = [i for i in (I2, J3, K5) if rng.random() < 0.3]
    match kind:
        case "number":
            return terms.number(NUMBERS[rng.integers(len(NUMBERS))], "float64")
        case "con":
            members = _pick(rng, made, int(rng.integers(1, 4)))
            free = frozenset[Ix]().union(*(m.free for m in members))
            k = NUMBERS[rng.integers(1, len(NUMBERS))]
            return terms.plain_con(k, frozenset(indices) & free, members, "float64")
        case "plus":
            return terms.plain_plus(_pick(rng, made, int(rng.integers(2, 4))), "float64")
        case "unary":
            return terms.fn(str(rng.choice(UNARY)), (a,), "float64")
        case "binary":
            return terms.fn(str(rng.choice(("maximum", "minimum"))), (a, b), "float64")
        case "where":
            less = terms.fn("less", (a, b), "bool")
            return terms.fn("where", (less, a, b), "float64")
        case "red":
            return terms.red(str(rng.choice(("max", "min"))), frozenset(indices), a)
        case _:
            other = Ix(J3.size, 1)
            return terms.rename(a, {J3: other} if other not in a.free else {})


def values(rng: np.random.Generator, odd: float | None = None) -> dict[str, AnyArray]:
    """Arrays that have the facts of their leaves; those that need not be finite hold `odd` where given."""
    found: dict[str, AnyArray] = {}
    for name, (indices, facts) in LEAVES.items():
        x: AnyArray = rng.uniform(0.5, 1.5, [i.size for i in indices])
        if NONNEG not in facts:
            x = x * rng.choice((-1.0, 1.0), x.shape)
        if NONZERO not in facts:
            x.flat[0] = 0.0
        if INTEGER in facts:
            x = np.rint(x - 0.5)
        if odd is not None and FINITE not in facts:
            x.flat[-1] = odd
        found[name] = x
    return found


def instances(rng: np.random.Generator, law: Law, terms: Terms, count: int = 3) -> None:
    """Add terms in which the law may match: its left side over leaves that meet its conditions.

    Which indices the leaves have and which are summed is left to chance: a law that looks at too few of
    them fires where it must not.
    """
    for _ in range(count):
        wanted = {v: {c.fact for c in law.where if c.variable == v} for v in law.variables}
        chosen = {
            v: leaf(terms, str(rng.choice([n for n, (_, facts) in LEAVES.items() if facts >= needs])))
            for v, needs in wanted.items()
        }
        _Instance(rng, terms, chosen).outer(law.left)


class _Instance:
    def __init__(self, rng: np.random.Generator, terms: Terms, chosen: dict[str, Term]) -> None:
        self.rng, self.terms, self.chosen = rng, terms, chosen
        self.folded = bool(rng.random() < 0.7)

    def outer(self, expr: Expr) -> Term:
        """The side with one further factor or member."""
        more = leaf(self.terms, str(self.rng.choice(list(LEAVES))))
        match expr:
            case Product(factors):
                return self.product(factors, [more], True)
            case Total(_, body):
                return self.product(body.factors if isinstance(body, Product) else (body,), [more], True)
            case Sum(members):
                return self.terms.plain_plus([*map(self.inner, members), more], "float64")
            case _:
                return self.terms.plain_con(Fraction(2), frozenset(), [self.inner(expr), more], "float64")

    def inner(self, expr: Expr) -> Term:
        match expr:
            case Var(name):
                return self.chosen[name]
            case Num(value):
                return self.terms.number(value, "float64")
            case Product(factors):
                return self.product(factors, [], False)
            case Total(_, body):
                return self.product(body.factors if isinstance(body, Product) else (body,), [], True)
            case Sum(members):
                return self.terms.plain_plus(map(self.inner, members), "float64")
            case Call(function, operands):
                dtype = "bool" if function in BOOLEAN_FUNCTIONS else "float64"
                return self.terms.fn(function, tuple(map(self.inner, operands)), dtype)
            case Largest(_, body):
                inner = self.inner(body)
                over = frozenset(i for i in sorted(inner.free) if self.rng.random() < 0.5)
                return self.terms.red("max", over, inner)
            case _:
                raise TypeError(f"no expression: {expr!r}")

    def product(self, factors: tuple[Expr, ...], more: list[Term], summed: bool) -> Term:
        k, members = Fraction(1), list(more)
        for factor in factors:
            if isinstance(factor, Num) and self.folded:
                k *= factor.value
            else:
                members.append(self.inner(factor))
        free = frozenset[Ix]().union(*(m.free for m in members))
        over = frozenset(i for i in sorted(free) if summed and self.rng.random() < 0.5)
        return self.terms.plain_con(k, over, members, "float64")
