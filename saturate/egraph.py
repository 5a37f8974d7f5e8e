"""The e-graph of terms, on an engine: loading, running rulesets, reading classes as plain data.

It knows no law: rules arrive as egglog text.

    (Con d k S M)   k · Σ_S ∏ M, M a multiset          (Plus d M)   Σ M
    (Fn1 f d x) …   elementwise functions              (Red r S x)  max, min, prod
    (Leaf n)  (Delta d i j)  (Ren n x)  (Opaque n V)   heads numbered by a table kept here

An index is the number size·4096 + ordinal. For every constructor C a function `from-C` keeps the first law
that made the e-node, `program` for what was loaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from saturate.algebra import Ix, Term
from saturate.analyses import analyses
from saturate.bounds import Bounds
from saturate.engine import TICK, give, run, take
from saturate.facts import FACTS, Facts
from saturate.signature import CONSTRUCTORS, INDEX_SCALE, arguments, rational, signature


def index_code(index: Ix) -> int:
    """The number that stands for an index inside the e-graph."""
    return index.size * INDEX_SCALE + index.ordinal


def _index(code: int) -> Ix:
    return Ix(*divmod(code, INDEX_SCALE))


@dataclass(frozen=True)
class TermNode:
    """An e-node: kind and head as in `Term`, operands as class numbers, and the law that made it."""

    kind: str
    head: tuple[Any, ...]
    args: tuple[int, ...]
    dtype: str
    law: str


@dataclass(frozen=True)
class TermClasses:
    """A saturated e-graph as plain data; class numbers are positions in `nodes`."""

    nodes: tuple[tuple[TermNode, ...], ...]
    free: tuple[frozenset[Ix], ...]
    dtype: tuple[str, ...]
    facts: tuple[Facts, ...]
    constant: tuple[Fraction | None, ...]
    bounds: tuple[Bounds, ...]
    units: tuple[frozenset[Ix], ...]
    """Indices over each of which the class sums to one."""
    of_term: Mapping[int, int]
    """The class of each loaded term, by term id."""


@dataclass
class LawRun:
    """Matches and time of one law so far."""

    matches: int = 0
    seconds: float = 0.0


@dataclass
class EGraph:
    """An e-graph of terms; `rules` is egglog text over the signature, its rulesets declared in it.

    A `lenient` one keeps the first of two dtypes or constants that meet in one class, where others stop; an
    audit says then which node is wrong.
    """

    rules: str
    runs: dict[str, LawRun] = field(default_factory=dict)
    lenient: bool = False

    def __post_init__(self) -> None:
        self._graph = take(self._setup())
        self._heads: list[tuple[Any, ...]] = []
        self._head_number: dict[tuple[Any, ...], int] = {}

    def close(self) -> None:
        """Hand the engine on to the next e-graph of equal rules; this one cannot be used any more."""
        give(self._setup(), self._graph)
        del self._graph

    def _setup(self) -> str:
        return signature(self.lenient) + analyses() + self.rules

    def _run(self, text: str) -> list[Any]:
        return run(self._graph, text)

    def load(self, terms: Iterable[Term]) -> None:
        """Add terms, operands before readers, with their facts."""
        for term in terms:
            self._run(" ".join(self._lines(term)))  # one by one: long texts are parsed in quadratic time

    def _lines(self, term: Term) -> list[str]:
        node, me = self._node(term), f"(term {term.id})"
        name, args = arguments(node)
        lines = [f'(set {me} {node}) (set (from-{name} {args}) "program")']
        lines += [f'(set (dtype {me}) "{term.dtype}")', f"(set (free {me}) {_set(term.free)})"]
        lines += [f"({fact} {me})" for fact in FACTS if fact in term.facts]
        ends = zip(("low", "high"), term.bounds, strict=True)
        lines += [f"(set ({end} {me}) {rational(k)})" for end, k in ends if k is not None]
        return lines + [f"(unit {me} {index_code(i)})" for i in sorted(term.units)]

    def union(self, a: Term, b: Term) -> None:
        """State that two loaded terms are equal."""
        self._run(f"(union (term {a.id}) (term {b.id}))")

    def _number(self, head: tuple[Any, ...]) -> int:
        if head not in self._head_number:
            self._head_number[head] = len(self._heads)
            self._heads.append(head)
        return self._head_number[head]

    def _node(self, term: Term) -> str:
        args = [f"(term {a.id})" for a in term.args]
        match term.kind:
            case "leaf":
                return f"(Leaf {self._number(('leaf', *term.head, term.dtype))})"
            case "con":
                k, summed = term.head
                return f'(Con "{term.dtype}" {rational(k)} {_set(summed)} (multiset-of {" ".join(args)}))'
            case "plus":
                return f'(Plus "{term.dtype}" (multiset-of {" ".join(args)}))'
            case "fn" if len(args) <= 3:
                return f'(Fn{len(args)} "{term.head[0]}" "{term.dtype}" {" ".join(args)})'
            case "red":
                return f'(Red "{term.head[0]}" {_set(term.head[1])} {args[0]})'
            case "delta":
                i, j = (index_code(i) for i in term.head)
                return f'(Delta "{term.dtype}" {i} {j})'
            case "ren":
                return f"(Ren {self._number(('ren', term.head, term.dtype))} {args[0]})"
            case _:
                head = self._number(("opaque", term.kind, term.head, term.dtype))
                return (
                    f"(Opaque {head} (vec-of {' '.join(args)}))" if args else f"(Opaque {head} (vec-empty))"
                )

    def run(self, ruleset: str, saturate: bool = False) -> bool:
        """One round of a ruleset, or rounds until nothing changes; whether anything changed."""
        command = f"(saturate (run {ruleset}))" if saturate else f"(run {ruleset})"
        report = self._run(f"(run-schedule {command})")[0].report
        for name, matches in report.num_matches_per_rule.items():
            run = self.runs.setdefault(name.split("#")[0], LawRun())
            run.matches += matches
            run.seconds += report.search_and_apply_time_per_rule[name].total_seconds() * TICK
        return bool(report.updated)

    def size(self) -> int:
        """Number of e-nodes."""
        functions = self._graph.freeze().functions
        return sum(len(functions[name].rows) for name in CONSTRUCTORS if name in functions)

    def classes(self) -> TermClasses:
        """The e-graph as plain data; subsumed nodes are left out, but what was loaded is never lost."""
        return Reader(self._graph, self._heads).read()


def _set(indices: Iterable[Ix]) -> str:
    codes = " ".join(str(index_code(i)) for i in sorted(indices))
    return f"(set-of {codes})" if codes else "(set-empty)"


class Reader:
    """Reads a frozen e-graph into `TermClasses`."""

    def __init__(self, graph: Any, heads: list[tuple[Any, ...]]) -> None:
        self.graph, self.heads = graph, heads
        self.functions = graph.freeze().functions
        outputs = {row.output for name in CONSTRUCTORS for row in self.rows(name)}
        self.number = {value: k for k, value in enumerate(sorted(outputs))}

    def rows(self, name: str) -> list[Any]:
        """The rows of a table, none where it was not declared."""
        return list(self.functions[name].rows) if name in self.functions else []

    def read(self) -> TermClasses:
        """All of it, but for what was subsumed and not loaded."""
        count = len(self.number)
        nodes: list[list[TermNode]] = [[] for _ in range(count)]
        for name in CONSTRUCTORS:
            laws = {tuple(r.inputs): r.output for r in self.rows(f"from-{name}")}
            for row in self.rows(name):
                law = laws.get(tuple(row.inputs))
                text = self.graph.value_to_string(law) if law is not None else "program"
                if not row.subsumed or text == "program":
                    nodes[self.number[row.output]].append(self.node(name, row.inputs, text))
        constant: list[Fraction | None] = [None] * count
        for row in self.rows("value"):
            constant[self.number[row.inputs[0]]] = self.graph.value_to_bigrat(row.output)
        free: list[frozenset[Ix]] = [frozenset()] * count
        for row in self.rows("free"):
            free[self.number[row.inputs[0]]] = self._indices(row.output)
        dtype = [""] * count
        for row in self.rows("dtype"):
            dtype[self.number[row.inputs[0]]] = self.graph.value_to_string(row.output)
        facts: list[set[str]] = [set() for _ in range(count)]
        for fact in FACTS:
            for row in self.rows(fact):
                facts[self.number[row.inputs[0]]].add(fact)
        units: list[set[Ix]] = [set() for _ in range(count)]
        for row in self.rows("unit"):
            units[self.number[row.inputs[0]]].add(_index(self.graph.value_to_i64(row.inputs[1])))
        of_term = {self.graph.value_to_i64(r.inputs[0]): self.number[r.output] for r in self.rows("term")}
        ordered = tuple(tuple(sorted(n, key=_order)) for n in nodes)
        low, high = (
            {self.number[r.inputs[0]]: self.graph.value_to_bigrat(r.output) for r in self.rows(end)}
            for end in ("low", "high")
        )
        bounds = tuple((low.get(c), high.get(c)) for c in range(count))
        known = tuple(map(frozenset, facts)), tuple(constant), bounds, tuple(map(frozenset, units))
        return TermClasses(ordered, tuple(free), tuple(dtype), *known, of_term)

    def _indices(self, value: Any) -> frozenset[Ix]:
        return frozenset(_index(self.graph.value_to_i64(v)) for v in self.graph.value_to_set(value))

    def _members(self, value: Any) -> tuple[int, ...]:
        return tuple(sorted(self.number[v] for v in self.graph.value_to_multiset(value)))

    def node(self, name: str, inputs: list[Any], law: str) -> TermNode:
        """A row of a constructor as an e-node over class numbers."""
        g = self.graph
        match name:
            case "Leaf":
                _, leaf, indices, dtype = self.heads[g.value_to_i64(inputs[0])]
                return TermNode("leaf", (leaf, indices), (), dtype, law)
            case "Con":
                head = (g.value_to_bigrat(inputs[1]), self._indices(inputs[2]))
                return TermNode("con", head, self._members(inputs[3]), g.value_to_string(inputs[0]), law)
            case "Plus":
                return TermNode("plus", (), self._members(inputs[1]), g.value_to_string(inputs[0]), law)
            case "Red":
                head = (g.value_to_string(inputs[0]), self._indices(inputs[1]))
                return TermNode("red", head, (self.number[inputs[2]],), "", law)
            case "Delta":
                pair = tuple(_index(g.value_to_i64(v)) for v in inputs[1:])
                return TermNode("delta", pair, (), g.value_to_string(inputs[0]), law)
            case "Ren":
                _, pairs, dtype = self.heads[g.value_to_i64(inputs[0])]
                return TermNode("ren", pairs, (self.number[inputs[1]],), dtype, law)
            case "Opaque":
                _, kind, head, dtype = self.heads[g.value_to_i64(inputs[0])]
                args = tuple(self.number[v] for v in g.value_to_vec(inputs[1]))
                return TermNode(kind, head, args, dtype, law)
            case _:
                args = tuple(self.number[v] for v in inputs[2:])
                return TermNode(
                    "fn", (g.value_to_string(inputs[0]),), args, g.value_to_string(inputs[1]), law
                )


def _order(node: TermNode) -> tuple[Any, ...]:
    return (node.law != "program", node.kind, node.args, repr(node.head))
