"""From laws to egglog text: patterns over n-ary sums and products with the rest of the members left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from saturate.errors import LawError
from saturate.rules.language import Call, Expr, Num, Product, Sum, Total, Var, free_letters
from saturate.rules.law import Law
from saturate.signature import CONSTRUCTORS, RULESETS, applications, arguments, rational, statements


def rules_text(laws: Iterable[Law]) -> str:
    """Rulesets and one rule a law; raises `LawError` where two laws have one name."""
    return _rules_text(tuple(laws))


@lru_cache(maxsize=8)
def _rules_text(laws: tuple[Law, ...]) -> str:
    for name, count in Counter(law.name for law in laws).items():
        if count > 1:
            lines = ", ".join(law.line for law in laws if law.name == name)
            raise LawError(
                f"laws need names of their own, and {count} are called {name}: rename one ({lines})"
            )
    rulesets = "\n".join(f"(ruleset {name})" for name in RULESETS)
    return rulesets + "\n" + "\n".join(rule_text(law) for law in laws)


def rule_text(law: Law) -> str:
    """The law as an egglog rule; every e-node that it makes is marked with its name."""
    facts, actions = rule_parts(law)
    done = f"{actions} {marks(law.name, actions)}"
    return f'(rule ({facts}) ({done}) :ruleset {law.direction} :name "{law.name}")'


def rule_parts(law: Law) -> tuple[str, str]:
    """What has to be there, guards last, and what is then done, as egglog text."""
    facts, actions = law.egglog or _Compiler(law).rule()
    guards = " ".join(c.guard for c in law.where) if law.egglog is None else ""
    facts, actions = _hoisted(facts, actions)
    return f"{facts} {guards}".strip(), actions


def marks(name: str, actions: str) -> str:
    """The actions that mark the e-nodes of other actions with the name of a law."""
    made = [arguments(node) for node in applications(_kept(actions), CONSTRUCTORS)]
    return " ".join(f'(set (from-{constructor} {args}) "{name}")' for constructor, args in made)


def _hoisted(facts: str, actions: str) -> tuple[str, str]:
    """What is taken out of multisets is taken out while matching.

    There a member that is gone is no match; among the actions, after others have joined classes, it would
    be a panic.
    """
    for count, taken in enumerate(applications(actions, ("multiset-remove", "multiset-subtract"))):
        if taken in actions:
            facts += f" (= left{count} {taken})"
            actions = actions.replace(taken, f"left{count}")
    return facts, actions


def _kept(actions: str) -> str:
    """The actions without subsumptions, which make no node."""
    return " ".join(s for s in statements(actions) if not s.startswith("(subsume"))


@dataclass
class _Compiler:
    law: Law
    facts: list[str] = field(default_factory=list)
    count: int = 0
    summed: str = ""

    def rule(self) -> tuple[str, str]:
        left, right = self.law.left, self.law.right
        match left:
            case Product(factors):
                result = self._product_rule(factors, right)
            case Sum(members):
                result = self._sum_rule(members, right)
            case Total(letters, body):
                self._total(letters, body)
                result = self.build(right)
            case _:
                self.match(left, "e")
                result = self.build(right)
        facts = (
            ["(= d (dtype e))", *self.facts] if not isinstance(left, Product | Sum | Total) else self.facts
        )
        return " ".join(facts), f"(union e {result})"

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def match(self, expr: Expr, target: str) -> None:
        """Facts that say that `target` has the shape of `expr`, whole."""
        match expr:
            case Var(name):
                self.facts.append(f"(= {target} {name})")
            case Num(value):
                self.facts.append(f"(= (value {target}) {rational(value)})")
            case Call(function, operands):
                names = [self._name(o) for o in operands]
                arity = len(names)
                self.facts.append(
                    f'(= {target} (Fn{arity} "{function}" {self.fresh("t")} {" ".join(names)}))'
                )
                for operand, name in zip(operands, names, strict=True):
                    if not isinstance(operand, Var):
                        self.match(operand, name)
            case Product(factors):
                k, rest = _coefficient(factors)
                members = self.fresh("M")
                self.facts.append(f"(= {target} (Con {self.fresh('t')} {rational(k)} (set-empty) {members}))")
                self._members(members, rest, whole=True)
            case Sum(parts):
                members = self.fresh("M")
                self.facts.append(f"(= {target} (Plus {self.fresh('t')} {members}))")
                self._members(members, parts, whole=True)
            case _:
                raise LawError(f"law {self.law.name}: a sum over indices inside a pattern needs egglog= text")

    def _name(self, expr: Expr) -> str:
        return expr.name if isinstance(expr, Var) else self.fresh("x")

    def _members(self, members: str, parts: tuple[Expr, ...], whole: bool) -> str:
        """Pick `parts` out of a multiset; returns the variable of what is left."""
        left = members
        for part in sorted(parts, key=lambda p: isinstance(p, Var)):
            name = self._name(part)
            self.facts.append(f"(mem {members} {name})")
            if not isinstance(part, Var):
                self.match(part, name)
            if left != members:
                self.facts.append(f"(> (multiset-count {left} {name}) 0)")
            rest = self.fresh("R")
            self.facts.append(f"(= {rest} (multiset-remove {left} {name}))")
            left = rest
        if whole:
            self.facts.append(f"(= (multiset-length {members}) {len(parts)})")
        return left

    def _product_rule(self, factors: tuple[Expr, ...], right: Expr) -> str:
        k, parts = _coefficient(factors)
        self.facts.append("(= e (Con d k s M))")
        rest = self._members("M", parts, whole=False)
        scale, more = _coefficient(right.factors if isinstance(right, Product) else (right,))
        inserted = rest
        for factor in more:
            inserted = f"(multiset-insert {inserted} {self.build(factor)})"
        return f"(Con d (* k {rational(scale / k)}) s {inserted})"

    def _sum_rule(self, members: tuple[Expr, ...], right: Expr) -> str:
        self.facts.append("(= e (Plus d M))")
        rest = self._members("M", members, whole=False)
        return f"(Plus d (multiset-insert {rest} {self.build(right)}))"

    def _total(self, letters: str, body: Expr) -> None:
        k, parts = _coefficient(body.factors if isinstance(body, Product) else (body,))
        self.facts.append(f"(= e (Con d {rational(k)} s M))")
        self._members("M", parts, whole=True)
        self.facts.append("(> (set-length s) 0)")
        for part in parts:
            if isinstance(part, Var) and not free_letters(part, self.law.variables) & set(letters):
                self.facts.append(f"(= (set-length (set-intersect s (free {part.name}))) 0)")
        self.summed = letters

    def build(self, expr: Expr) -> str:
        """The expression as an egglog term of dtype `d`."""
        match expr:
            case Var(name):
                return name
            case Num(value):
                return f"(Con d {rational(value)} (set-empty) (multiset-of))"
            case Call(function, operands):
                inner = " ".join(self.build(o) for o in operands)
                return f'(Fn{len(operands)} "{function}" d {inner})'
            case Product(factors):
                k, parts = _coefficient(factors)
                built = " ".join(self.build(p) for p in parts)
                return f"(Con d {rational(k)} (set-empty) (multiset-of {built}))"
            case Sum(members):
                return f"(Plus d (multiset-of {' '.join(self.build(m) for m in members)}))"
            case Total(letters, body) if letters == self.summed:
                k, parts = _coefficient(body.factors if isinstance(body, Product) else (body,))
                return f"(Con d {rational(k)} s (multiset-of {' '.join(self.build(p) for p in parts)}))"
            case _:
                raise LawError(
                    f"law {self.law.name}: its right side sums over indices that its left side does not"
                )


def _coefficient(factors: tuple[Expr, ...]) -> tuple[Fraction, tuple[Expr, ...]]:
    k = Fraction(1)
    for factor in factors:
        if isinstance(factor, Num):
            k *= factor.value
    return k, tuple(f for f in factors if not isinstance(f, Num))
