"""Where the left side of a law stands in the classes of an e-graph, and what stands there as a term."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from saturate.algebra import Term, Terms, show
from saturate.egraph import TermClasses, TermNode
from saturate.rules.language import Call, Expr, Largest, Num, Product, Sum, Total, Var

Binding = dict[str, int]
"""The class that stands for each variable."""


@dataclass(frozen=True)
class Matcher:
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


def shown(classes: TermClasses, number: int) -> str:
    """A class as a short term, from nodes of the program where there are any."""
    return show(_term(classes, number, Terms(), 4))


def told(classes: TermClasses, node: TermNode, number: int) -> str:
    """A node of a class as a short term."""
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
