"""The e-graph of terms, through egglog's bindings: loading, running rulesets, reading classes as plain data.

The one file that imports egglog. It knows no law: rules arrive as egglog text.

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
from importlib.metadata import version
from typing import Any

from egglog import bindings

from saturate.algebra import Ix, Term
from saturate.bounds import RANGES
from saturate.errors import EGraphError
from saturate.facts import BY_FUNCTION, FACTS, WALKED, Facts
from saturate.signature import CONSTRUCTORS, INDEX_SCALE, arguments, rational, signature, statements

TICK = 1000.0 if version("egglog").startswith("13.") else 1.0
"""egglog 13 hands out the milliseconds of a rule as microseconds."""


def index_code(index: Ix) -> int:
    """The number that stands for an index inside the e-graph."""
    return index.size * INDEX_SCALE + index.ordinal


def _index(code: int) -> Ix:
    return Ix(*divmod(code, INDEX_SCALE))


def _facts_text() -> str:
    """Analyses: free indices, dtype, constants and the facts of `saturate.facts` of what rules make."""
    lines = [f"(relation {fact} (T))" for fact in FACTS]
    lines += [f"(relation {fact}s (MS))\n(relation todo-{fact} (MS MS))" for fact in WALKED]
    lines.append(
        "(relation signs (MS))\n(relation todo-sign (MS MS))"
    )  # products of squares and of what is nonneg
    for name, sorts in CONSTRUCTORS.items():
        lines.append(f"(function from-{name} ({' '.join(sorts)}) String :merge old)")
    members = """
(rule ((= e (Con d k s M))) ((todo M M (set-empty)) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Plus d M))) ((todo M M (set-empty)) (set (dtype e) d)) :ruleset facts)
(rule ((todo M R f) (> (multiset-length R) 0) (= x (multiset-pick R)) (= fx (free x)))
      ((mem M x) (todo M (multiset-remove R x) (set-union f fx))) :ruleset facts)
(rule ((todo M R f) (= (multiset-length R) 0)) ((set (frees M) f)) :ruleset facts)
(rule ((= e (Con d k s M)) (= f (frees M))) ((set (free e) (set-diff f s))) :ruleset facts)
(rule ((= e (Plus d M)) (= f (frees M))) ((set (free e) f)) :ruleset facts)
(rule ((= e (Con d k s M)) (= (multiset-length M) 0) (= (set-length s) 0)) ((set (value e) k)) :ruleset facts)
(rule ((= e (Fn1 f d x)) (= s (free x))) ((set (free e) s) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Fn2 f d x y)) (= s (free x)) (= t (free y)))
      ((set (free e) (set-union s t)) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Fn3 f d x y z)) (= s (free x)) (= t (free y)) (= u (free z)))
      ((set (free e) (set-union s (set-union t u))) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Red r s x)) (= f (free x)) (= d (dtype x)))
      ((set (free e) (set-diff f s)) (set (dtype e) d)) :ruleset facts)
(rule ((= e (Con d k s M)) (>= k (bigrat (bigint 0) (bigint 1))) (signs M)) ((nonneg e)) :ruleset facts)
(rule ((= e (Con d k s M)) (finites M)) ((finite e)) :ruleset facts)
(rule ((= e (Con d k s M)) (!= k (bigrat (bigint 0) (bigint 1))) (nonzeros M) (= (set-length s) 0))
      ((nonzero e)) :ruleset facts)
(rule ((= e (Con d k s M)) (!= k (bigrat (bigint 0) (bigint 1))) (nonzeros M) (signs M))
      ((nonzero e)) :ruleset facts)
(rule ((= e (Plus d M)) (finites M)) ((finite e)) :ruleset facts)
(rule ((= e (Plus d M)) (nonnegs M)) ((nonneg e)) :ruleset facts)
(rule ((= e (Plus d M)) (nonnegs M) (mem M x) (nonzero x)) ((nonzero e)) :ruleset facts)
(rule ((= e (Con d k s M))) ((todo-sign M M)) :ruleset facts)
(rule ((todo-sign M R) (> (multiset-length R) 0) (= x (multiset-pick R)) (nonneg x))
      ((todo-sign M (multiset-remove R x))) :ruleset facts)
(rule ((todo-sign M R) (> (multiset-length R) 0) (= x (multiset-pick R)) (> (multiset-count R x) 1))
      ((todo-sign M (multiset-remove (multiset-remove R x) x))) :ruleset facts)
(rule ((todo-sign M R) (= (multiset-length R) 0)) ((signs M)) :ruleset facts)
"""
    for fact in WALKED:
        members += f"""
(rule ((todo M M f)) ((todo-{fact} M M)) :ruleset facts)
(rule ((todo-{fact} M R) (> (multiset-length R) 0) (= x (multiset-pick R)) ({fact} x))
      ((todo-{fact} M (multiset-remove R x))) :ruleset facts)
(rule ((todo-{fact} M R) (= (multiset-length R) 0)) (({fact}s M)) :ruleset facts)
"""
    for fact in FACTS:
        members += f"""
(rule ((= e (Red r s x)) ({fact} x)) (({fact} e)) :ruleset facts)
(rule ((= e (Ren n x)) ({fact} x)) (({fact} e)) :ruleset facts)
"""
    for name, steps in BY_FUNCTION.items():
        for step in steps:
            needs = " ".join(f"({n} x)" for n in step.needs)
            lines.append(f'(rule ((= e (Fn1 "{name}" d x)) {needs}) (({step.result} e)) :ruleset facts)')
    return "\n".join(lines) + members + _choices_text() + _constants_text() + _bounds_text()


def _choices_text() -> str:
    """Facts of maximum, minimum and where: what both alternatives have, and for a maximum signs of one."""
    lines: list[str] = []
    for node in ('(Fn2 "maximum" d x y)', '(Fn2 "minimum" d x y)', '(Fn3 "where" d c x y)'):
        for fact in FACTS:
            lines.append(f"(rule ((= e {node}) ({fact} x) ({fact} y)) (({fact} e)) :ruleset facts)")
    for x in "xy":
        largest = '(= e (Fn2 "maximum" d x y))'
        lines.append(f"(rule ({largest} (nonneg {x})) ((nonneg e)) :ruleset facts)")
        lines.append(f"(rule ({largest} (nonneg {x}) (nonzero {x})) ((nonzero e)) :ruleset facts)")
    return "\n".join(lines) + "\n"


def _bounds_text() -> str:
    """Bounds of functions, choices and numbers; of equal values the tighter ones, which must not cross."""
    lines = [
        "(function low (T) BigRat :merge (max old new))",
        "(function high (T) BigRat :merge (min old new))",
        '(rule ((= l (low e)) (= h (high e)) (> l h)) ((panic "Illegal merge of bounds that cross"))'
        " :ruleset facts)",
        "(rule ((= v (value e))) ((set (low e) v) (set (high e) v)) :ruleset facts)",
    ]
    for name, ends in RANGES.items():
        for end, k in zip(("low", "high"), ends, strict=True):
            if k is not None:
                rule = f'(= e (Fn1 "{name}" d x))) ((set ({end} e) {rational(k)})'
                lines.append(f"(rule ({rule}) :ruleset facts)")
    for name, one, both in (("maximum", "low", "high"), ("minimum", "high", "low")):
        node = f'(= e (Fn2 "{name}" d x y))'
        for x in "xy":
            lines.append(f"(rule ({node} (= k ({one} {x}))) ((set ({one} e) k)) :ruleset facts)")
        combine = "max" if name == "maximum" else "min"
        lines.append(
            f"(rule ({node} (= k ({both} x)) (= l ({both} y))) ((set ({both} e) ({combine} k l)))"
            " :ruleset facts)"
        )
    return "\n".join(lines) + "\n"


def _constants_text() -> str:
    """In the class of a constant every other node is subsumed, or every law would match there."""
    names = "abcdef"
    lines = []
    for name, sorts in CONSTRUCTORS.items():
        args = " ".join(names[: len(sorts)])
        if name == "Con":
            extra = " (> (+ (set-length c) (multiset-length d)) 0)"
        else:
            extra = ""
        lines.append(
            f"(rule ((= e ({name} {args})) (= v (value e)){extra})"
            f" ((subsume ({name} {args}))) :ruleset facts)"
        )
    lines.append(
        "(rule ((= v (value e)) (= d (dtype e)))"
        " ((union e (Con d v (set-empty) (multiset-of)))) :ruleset facts)"
    )
    return "\n".join(lines)


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
        self._graph = bindings.EGraph()
        self._heads: list[tuple[Any, ...]] = []
        self._head_number: dict[tuple[Any, ...], int] = {}
        self._loaded: list[Term] = []
        for line in statements(signature(self.lenient) + _facts_text() + self.rules):
            self._run(line)

    def _run(self, text: str) -> list[Any]:
        try:
            return list(self._graph.run_program(*self._graph.parse_program(text)))
        except bindings.EggSmolError as error:
            raise EGraphError(f"the e-graph refuses a merge or a rule: {error}") from error

    def load(self, terms: Iterable[Term]) -> None:
        """Add terms, operands before readers, with their facts."""
        for term in terms:
            node = self._node(term)
            name, args = arguments(node)
            self._run(f'(set (term {term.id}) {node}) (set (from-{name} {args}) "program")')
            me = f"(term {term.id})"
            lines = [f'(set (dtype {me}) "{term.dtype}")', f"(set (free {me}) {_set(term.free)})"]
            lines += [f"({fact} {me})" for fact in FACTS if fact in term.facts]
            ends = zip(("low", "high"), term.bounds, strict=True)
            lines += [f"(set ({end} {me}) {rational(k)})" for end, k in ends if k is not None]
            self._run(" ".join(lines))
            self._loaded.append(term)

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
        of_term = {self.graph.value_to_i64(r.inputs[0]): self.number[r.output] for r in self.rows("term")}
        ordered = tuple(tuple(sorted(n, key=_order)) for n in nodes)
        return TermClasses(
            ordered, tuple(free), tuple(dtype), tuple(map(frozenset, facts)), tuple(constant), of_term
        )

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
