"""What an audit found, as a person can check it: the law, what stands for its variables, a small input."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from saturate.algebra import Term, Terms, show
from saturate.audit import Disagreement, audit
from saturate.egraph import TermClasses, TermNode
from saturate.op import AnyArray
from saturate.rules.language import Call, Expr, Largest, Num, Product, Sum, Total, Var
from saturate.rules.law import Law
from saturate.saturation import Limits, saturate

SIMPLE = (1.0, 0.0, 2.0, -1.0, 0.5)
"""What leaves are tried as, whole, before their own values are kept."""
Binding = dict[str, int]


@dataclass(frozen=True, eq=False)
class Blame:
    """A law that made two unequal values one: it put `made` into the class of `of`.

    `substitution` maps the law's variables to what stood for them, empty where its statement has another
    form than its rule; `input` holds arrays of leaves, as simple as was found, on which the class is worth
    `expected` and what the law made is worth `found`.
    """

    law: str
    of: str
    made: str
    substitution: Mapping[str, str]
    input: Mapping[str, AnyArray]
    expected: AnyArray
    found: AnyArray

    def __str__(self) -> str:
        where = ", ".join(f"{name} = {text}" for name, text in self.substitution.items())
        given = ", ".join(f"{name} = {_short(array)}" for name, array in self.input.items())
        return (
            f"{self.law} makes {self.made} of {self.of}"
            + (f", for {where}" if where else "")
            + (f": at {given}" if given else ":")
            + f" they are {_short(self.found)} and {_short(self.expected)}"
        )


def blame(
    terms: Sequence[Term], laws: Sequence[Law], limits: Limits, values: Mapping[str, AnyArray]
) -> Blame | None:
    """Saturate, audit, and make the first disagreement simple; None where every law did right.

    A law that only joined what was there before has made no node, and is found by leaving laws out.
    """
    searched = saturate(terms, (), laws, limits)
    wrong = audit(searched.classes, values)
    if not wrong:
        return None
    named = {law.name: law for law in laws}
    guilty = named.get(wrong[0].law)
    matched = [law for law in laws if law.name in searched.laws and searched.laws[law.name].matches]
    for law in matched if guilty is None else ():
        fewer = [other for other in laws if other is not law]
        if not audit(saturate(terms, (), fewer, limits).classes, values):
            guilty = law
            break
    return _Simple(searched.classes, guilty).blame(values, wrong[0])


@dataclass(frozen=True)
class _Simple:
    """Makes one disagreement simple."""

    classes: TermClasses
    law: Law | None

    def blame(self, values: Mapping[str, AnyArray], first: Disagreement) -> Blame:
        classes = self.classes
        for name in values:
            values, first = self._simpler(values, name, first)
        matches = _Matcher(classes).match(self.law.left, first.number, {}) if self.law else iter(())
        shown = {name: _shown(classes, number) for name, number in next(matches, {}).items()}
        other = next(n for n in classes.nodes[first.number] if n != first.node)
        of, made = (_told(classes, node, first.number) for node in (other, first.node))
        expected, found = np.broadcast_arrays(
            np.asarray(first.expected, float), np.asarray(first.found, float)
        )
        place = np.unravel_index(int(np.argmax(_apart(expected, found))), expected.shape)
        name = self.law.name if self.law else first.law
        return Blame(name, of, made, shown, values, expected[place], found[place])

    def _simpler(
        self, values: Mapping[str, AnyArray], name: str, first: Disagreement
    ) -> tuple[Mapping[str, AnyArray], Disagreement]:
        """One leaf made as simple as it goes while the same node is still wrong."""
        for simple in _simple_arrays(values[name]):
            tried = {**values, name: simple}
            for d in audit(self.classes, tried):
                if (d.number, d.node) == (first.number, first.node):
                    return tried, d
        return values, first


def _simple_arrays(array: AnyArray) -> Iterator[AnyArray]:
    for number in SIMPLE:
        yield np.full_like(array, number)
    yield (np.arange(array.size) % 2).reshape(array.shape).astype(array.dtype)


def _apart(expected: AnyArray, found: AnyArray) -> AnyArray:
    """How far two arrays are apart; farthest where one of the two is no number."""
    apart = np.abs(expected - found)
    return np.where(np.isnan(expected) & np.isnan(found), -1.0, np.where(np.isnan(apart), np.inf, apart))


@dataclass(frozen=True)
class _Matcher:
    """Which classes stand for the variables of a pattern at a class."""

    classes: TermClasses

    def match(self, expr: Expr, number: int, bound: Binding) -> Iterator[Binding]:
        """Every way to see `expr` in a class."""
        match expr:
            case Var(name):
                if bound.get(name, number) == number:
                    yield {**bound, name: number}
            case Num(value):
                if self.classes.constant[number] == value:
                    yield bound
            case _:
                for node in self.classes.nodes[number]:
                    yield from self._node(expr, node, bound)

    def _node(self, expr: Expr, node: TermNode, bound: Binding) -> Iterator[Binding]:
        match expr, node.kind:
            case Call(function, operands), "fn" if node.head == (function,):
                yield from self._in_order(operands, node.args, bound)
            case Largest(_, body), "red" if node.head[0] == "max":
                yield from self.match(body, node.args[0], bound)
            case ((Product() | Total()), "con"):
                body = expr.body if isinstance(expr, Total) else expr
                factors = body.factors if isinstance(body, Product) else (body,)
                parts = tuple(f for f in factors if not isinstance(f, Num))
                yield from self._members(parts, node.args, bound)
            case Sum(members), "plus":
                yield from self._members(members, node.args, bound)
            case _:
                return

    def _in_order(self, parts: Sequence[Expr], numbers: Sequence[int], bound: Binding) -> Iterator[Binding]:
        if not parts:
            yield bound
            return
        for more in self.match(parts[0], numbers[0], bound):
            yield from self._in_order(parts[1:], numbers[1:], more)

    def _members(self, parts: Sequence[Expr], numbers: Sequence[int], bound: Binding) -> Iterator[Binding]:
        """Each part is a member of its own; others may be left over."""
        if not parts:
            yield bound
            return
        for k in range(len(numbers)):
            for more in self.match(parts[0], numbers[k], bound):
                yield from self._members(parts[1:], [*numbers[:k], *numbers[k + 1 :]], more)


def _shown(classes: TermClasses, number: int) -> str:
    return show(_term(classes, number, Terms(), 4))


def _told(classes: TermClasses, node: TermNode, number: int) -> str:
    return show(_of_node(classes, node, classes.dtype[number], Terms(), 4))


def _term(classes: TermClasses, number: int, terms: Terms, depth: int) -> Term:
    """A short term of a class, from a node of the program where there is one."""
    dtype = classes.dtype[number]
    if depth == 0:
        return terms.leaf("…", (), dtype)
    node = min(classes.nodes[number], key=lambda n: (n.law != "program", len(n.args)))
    return _of_node(classes, node, dtype, terms, depth)


def _of_node(classes: TermClasses, node: TermNode, dtype: str, terms: Terms, depth: int) -> Term:
    args = [_term(classes, a, terms, depth - 1) for a in node.args]
    match node.kind:
        case "leaf":
            return terms.leaf(node.head[0], node.head[1], dtype)
        case "con":
            return terms.plain_con(node.head[0], node.head[1], args, dtype)
        case "plus":
            return terms.plain_plus(args, dtype)
        case "red":
            return terms.red(node.head[0], node.head[1], args[0])
        case "delta":
            return terms.delta(node.head[0], node.head[1], dtype)
        case "ren":
            return terms.rename(args[0], dict(node.head))
        case "fn":
            return terms.fn(node.head[0], tuple(args), dtype)
        case _:
            return terms.fn(str(node.head[0][0]), tuple(args), dtype)


def _short(array: AnyArray) -> str:
    flat = np.unique(np.asarray(array))
    return f"{flat[0]:.4g}" if flat.size == 1 else "[" + ", ".join(f"{x:.4g}" for x in flat[:6]) + ", …]"
