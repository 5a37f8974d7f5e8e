"""From classes of terms to ways to compute them: every step that a runner can do, priced.

A product spans the subsets of its factors (`saturate.factors`), a sum those of its members. Subsets are
shared between all products and sums by name, so that what one program value is to another is found by
looking, not by search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from saturate.algebra import Ix
from saturate.egraph import TermClasses, TermNode
from saturate.extract import Classes, ENode
from saturate.extract.costs import Pass, Profile, roofline
from saturate.factors import Factors
from saturate.ops import OPS
from saturate.step import Step, splits

Key = tuple[Any, ...]


@dataclass
class Lattice:
    """Values that may be computed, numbered; `steps[v]` are the ways to compute value v."""

    classes: TermClasses
    profile: Profile = field(default_factory=Profile)
    steps: list[list[Step]] = field(default_factory=list)
    free: list[frozenset[Ix]] = field(default_factory=list)
    dtype: list[str] = field(default_factory=list)
    class_of: list[int | None] = field(default_factory=list)
    _kept: list[set[Key]] = field(default_factory=list)
    _by_key: dict[Key, int] = field(default_factory=dict)
    _products: dict[Key, int] = field(default_factory=dict)
    _sums: dict[Key, int] = field(default_factory=dict)
    _by_step: dict[Key, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, nodes in enumerate(self.classes.nodes):
            for node in nodes:
                if node.kind == "con":
                    self._products.setdefault((*node.head, node.args, node.dtype), number)
                elif node.kind == "plus":
                    self._sums.setdefault((node.args, node.dtype), number)

    # values

    def value(self, number: int) -> int:
        """The value of a class of terms."""
        free, dtype = self.classes.free[number], self.classes.dtype[number]
        found, new = self._named(("class", number), free, dtype, number)
        if new:
            for step in self._of_class(number, found):
                self._add(found, step)
        return found

    def value_of_class(self, number: int) -> int | None:
        """The value of a class where one was asked for."""
        return self._by_key.get(("class", number))

    def _named(
        self, key: Key, free: frozenset[Ix], dtype: str, number: int | None = None
    ) -> tuple[int, bool]:
        if key in self._by_key:
            return self._by_key[key], False
        self._by_key[key] = len(self.steps)
        self.steps.append([])
        self._kept.append(set())
        self.free.append(free)
        self.dtype.append(dtype)
        self.class_of.append(number)
        return len(self.steps) - 1, True

    def _add(self, value: int, step: Step) -> None:
        """Keep a step that is new; the same one by another law is not."""
        same = (step.kind, step.head, step.args)
        if value not in step.args and same not in self._kept[value]:
            self._kept[value].add(same)
            self.steps[value].append(step)
            self._by_step.setdefault(same, value)

    def made(self, step: Step, free: frozenset[Ix], dtype: str) -> int:
        """The value that a step makes: one that is known, or a new one that has no other way."""
        known = self._by_step.get((step.kind, step.head, step.args))
        if known is not None:
            return known
        found, _ = self._named(("made", step.kind, step.head, step.args), free, dtype)
        self._add(found, step)
        return found

    def size(self, indices: Iterable[Ix]) -> int:
        """Number of elements over indices."""
        return prod(i.size for i in indices)

    def product(
        self, k: Fraction, summed: frozenset[Ix], factors: tuple[int, ...], dtype: str, law: str
    ) -> int:
        """The value k · Σ ∏ of classes: that of a class where one is known to equal it."""
        if k == 1 and not summed and len(factors) == 1:
            return self.value(factors[0])
        known = self._products.get((k, summed, factors, dtype))
        if known is not None:
            return self.value(known)
        free: frozenset[Ix] = frozenset().union(*(self.classes.free[f] for f in factors)) - summed
        found, new = self._named(("con", k, summed, factors, dtype), free, dtype)
        if new:
            self._expand_product(found, k, summed, factors, dtype, law)
        return found

    def total(self, members: tuple[int, ...], dtype: str, law: str) -> int:
        """The value of a sum of classes."""
        if len(members) == 1:
            return self.value(members[0])
        known = self._sums.get((members, dtype))
        if known is not None:
            return self.value(known)
        free: frozenset[Ix] = frozenset().union(*(self.classes.free[m] for m in members))
        found, new = self._named(("plus", members, dtype), free, dtype)
        if new:
            self._expand_sum(found, members, dtype, law)
        return found

    # the steps of a class

    def _of_class(self, number: int, me: int) -> Iterator[Step]:
        constant = self.classes.constant[number]
        if constant is not None:
            yield Step("number", (constant,), (), "")
            return
        for node in self.classes.nodes[number]:
            match node.kind:
                case "con":
                    k, summed = node.head
                    self._expand_product(me, k, summed, node.args, node.dtype, node.law)
                case "plus":
                    self._expand_sum(me, node.args, node.dtype, node.law)
                case "fn":
                    yield self._function(node)
                case _:
                    yield Step(node.kind, node.head, tuple(self.value(a) for a in node.args), node.law)

    def _function(self, node: TermNode) -> Step:
        if node.head[0].startswith("literal:"):
            return Step("number", (float(node.head[0].partition(":")[2]),), (), node.law)
        if node.head == ("recip",):
            return Step("over", (Fraction(1),), (self.value(node.args[0]),), node.law)
        slots: list[Fraction | float | None] = []
        args: list[int] = []
        for a in node.args:
            constant = self._literal(a)
            slots.append(constant)
            if constant is None:
                args.append(self.value(a))
        if node.args and len(args) == (node.head == ("where",)):
            slots[-1] = None
            args.append(self.value(node.args[-1]))
        return Step("fn", (node.head[0], tuple(slots)), tuple(args), node.law)

    def _literal(self, number: int) -> Fraction | float | None:
        if self.classes.constant[number] is not None:
            return self.classes.constant[number]
        for node in self.classes.nodes[number]:
            if node.kind == "fn" and node.head[0].startswith("literal:"):
                return float(node.head[0].partition(":")[2])
        return None

    # products

    def _expand_product(
        self, me: int, k: Fraction, summed: frozenset[Ix], factors: tuple[int, ...], dtype: str, law: str
    ) -> None:
        for step in Factors(self, k, summed, factors, dtype, law).steps():
            self._add(me, step)

    def reciprocal_of(self, number: int) -> int | None:
        """The class of x where the class is that of 1/x."""
        for node in self.classes.nodes[number]:
            if node.kind == "fn" and node.head == ("recip",):
                return node.args[0]
        return None

    # sums

    def _expand_sum(self, me: int, members: tuple[int, ...], dtype: str, law: str) -> None:
        literals = [m for m in members if self.classes.constant[m] is not None]
        if literals:
            rest = tuple(m for m in members if m not in literals)
            k = sum((self.classes.constant[m] or Fraction(0) for m in literals), Fraction(0))
            if not rest:  # a search that ended early has not added its numbers up
                self._add(me, Step("number", (k,), (), law))
                return
            self._add(me, Step("plus", (k,), (self.total(rest, dtype, law),), law))
            if len(rest) == 1:
                for minus in self._negated(rest[0], law):
                    self._add(me, Step("minus", (k,), (minus,), law))
            return
        for left, right in splits(self._by_width(members)):
            a, b = self.total(left, dtype, law), self.total(right, dtype, law)
            self._add(me, Step("add", (), (a, b), law))
            for one, other in ((left, right), (right, left)):
                if len(other) == 1:
                    for minus in self._negated(other[0], law):
                        self._add(me, Step("sub", (), (self.total(one, dtype, law), minus), law))

    def _by_width(self, members: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(members, key=lambda m: (self.size(self.classes.free[m]), m)))

    def _negated(self, number: int, law: str) -> list[int]:
        """Values whose negation is the class."""
        found = []
        for node in self.classes.nodes[number]:
            if node.kind == "con" and node.head[0] < 0:
                k, summed = node.head
                found.append(
                    self.product(-k, summed, node.args, node.dtype, node.law if law == "program" else law)
                )
        return list(dict.fromkeys(found))

    # prices

    def price(self, value: int, step: Step) -> float:
        """Cost of a step in nanoseconds; a negative coefficient costs a trifle, so that a − b is chosen
        over a + (−b).
        """
        sign = 0.1 if step.kind in ("scale", "over") and step.head[0] < 0 else 0.0
        return roofline(self.pass_of(value, step), self.profile) + sign

    def pass_of(self, value: int, step: Step) -> Pass:
        """The step as a pass over memory."""
        out = self.size(self.free[value])
        reads = sum(self.size(self.free[a]) for a in step.args)
        itemsize = np.dtype(self.dtype[value]).itemsize
        match step.kind:
            case "leaf" | "number" | "ren" | "delta":
                return Pass("view", 0, 0, itemsize, 0.0)
            case "sum" | "red":
                return Pass("reduce", out, reads, itemsize, reads)
            case "dot":
                return self._dot(out, reads, itemsize, step)
            case "fn":
                name = step.head[0]
                flops = 2.0 if name.startswith("cast:") else OPS[name].flops
                return Pass("elementwise", out, reads, itemsize, flops * out)
            case "diagonal":
                return Pass("reduce", out, self.size(self.free[step.args[0]] - {step.head[0]}), itemsize, out)
            case "opaque":
                _, shapes = step.head[0]
                elements = max([out, *(prod(s) for s in shapes)])
                return Pass("elementwise", out, reads, itemsize, 4.0 * elements)
            case _:
                return Pass("elementwise", out, reads, itemsize, float(out))

    def _dot(self, out: int, reads: int, itemsize: int, step: Step) -> Pass:
        a, b = (self.free[v] for v in step.args)
        depth = self.size(step.head[0])
        batch = self.size((a & b) - step.head[0])
        matrix = bool(a - b) or bool(b - a)
        return Pass("dot", out, reads, itemsize, 2.0 * out * depth, batch if matrix else 0)

    # extraction

    def to_classes(self, roots: Iterable[int]) -> Classes:
        """The lattice as classes for an extractor, with prices; steps stand in order."""
        nodes = tuple(
            tuple(
                ENode(f"{v}.{k}", step.kind, step.args, self.price(v, step)) for k, step in enumerate(steps)
            )
            for v, steps in enumerate(self.steps)
        )
        return Classes(nodes, tuple(dict.fromkeys(roots)), tuple(str(v) for v in range(len(nodes))))
