"""An e-graph that remembers: every e-node gets a term, every union its law, so that it can say why.

After each run of a ruleset the e-nodes that are new get terms over terms that were there, and what the rules
wrote into their log (`saturate.rules.traced`) is joined in a `Proof`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from saturate.algebra import Indices, Term
from saturate.analyses import contradictions
from saturate.egraph import EGraph, Reader, TermNode
from saturate.facts import FACTS, Facts
from saturate.proof import CONSTANT, NORMAL_FORM, UNKNOWN, Proof
from saturate.rules.law import Law
from saturate.rules.traced import FORGET, combined, traced
from saturate.signature import CONSTRUCTORS, arguments

Row = tuple[str, tuple[Any, ...]]
"""A constructor and the values of its arguments."""


Joined = tuple[int, int, str, tuple[tuple[int, int], ...]]
"""Two terms by number, the law that joined them, and the classes that it matched as other terms than their
least.
"""


class History(EGraph):
    """An e-graph with the reasons for its unions in `proof`; several times slower than one without.

    All terms that are loaded come from one pool, and nothing may be added to the pool afterwards. A `strict`
    one stops at facts that contradict each other, as others do at dtypes, numbers and bounds alone.
    """

    def __init__(self, laws: Iterable[Law], strict: bool = False) -> None:
        text, self._logs = traced(laws)
        super().__init__(text + contradictions() * strict)
        self.proof = Proof()
        self._asked = 0

    def load(self, terms: Iterable[Term]) -> None:
        """Add terms, operands before readers, with their facts."""
        terms = list(terms)
        super().load(terms)
        self.proof.add(terms)
        for term in terms:
            self._number_term(term)

    def union(self, a: Term, b: Term, reason: str = NORMAL_FORM) -> None:
        """State that two loaded terms are equal, and why."""
        super().union(a, b)
        self.proof.join(a.id, b.id, reason)

    def run(self, ruleset: str, saturate: bool = False) -> bool:
        """One round of a ruleset, or rounds until nothing changes; whether anything changed."""
        changed = super().run(ruleset, saturate)
        if changed:
            self._remember(ruleset)
        return changed

    def run_round(self, laws: Iterable[Law]) -> bool:
        """One round of some of the laws side by side, and the facts that follow; whether anything changed."""
        self._asked += 1
        self._run(combined(f"round{self._asked}", laws))
        before = self.run("facts", saturate=True)
        changed = self.run(f"round{self._asked}")
        return self.run("facts", saturate=True) or changed or before

    def matches(self, facts: str, variables: Sequence[str], at: Term, target: str) -> list[tuple[int, ...]]:
        """The numbers of terms that the variables stand for where the facts hold and `target` is the class of
        a term, in order; egglog text over the signature.
        """
        self._asked += 1
        probe = f"probe{self._asked}"
        asks = " ".join(f"(= number{k} (name {v}))" for k, v in enumerate(variables))
        numbers = " ".join(f"number{k}" for k in range(len(variables))) or "0"
        self._run(f"(ruleset run-{probe})")
        self._run(f"(relation {probe} ({' '.join(['i64'] * max(1, len(variables)))}))")
        self._run(
            f"(rule ((= {target} (term {at.id})) {facts} {asks}) (({probe} {numbers})) :ruleset run-{probe})"
        )
        self._run(f"(run-schedule (run run-{probe}))")
        rows = Reader(self._graph, self._heads).rows(probe)
        return sorted(tuple(self._graph.value_to_i64(v) for v in row.inputs) for row in rows)

    def facts(self) -> dict[int, Facts]:
        """What is known of the class of every term, by its number."""
        reader = Reader(self._graph, self._heads)
        held = {fact: {row.inputs[0] for row in reader.rows(fact)} for fact in FACTS}
        return {n: frozenset(f for f in FACTS if c in held[f]) for n, c in self.class_of().items()}

    def class_of(self) -> dict[int, Any]:
        """The class of every term, by its number."""
        reader = Reader(self._graph, self._heads)
        return {self._graph.value_to_i64(r.inputs[0]): r.output for r in reader.rows("term")}

    def _number_term(self, term: Term) -> None:
        name, args = arguments(self._node(term))
        me = f"(term {term.id})"
        self._run(
            f"(set {me} ({name} {args})) (set (id-{name} {args}) {term.id}) (set (name {me}) {term.id})"
        )

    def _remember(self, ruleset: str) -> None:
        reader = Reader(self._graph, self._heads)
        known = self._named_rows(reader)
        for a, b, law, used in self._log(reader, known):
            self.proof.join(a, b, law, used)
        super().run(FORGET)
        first: dict[Any, int] = {}
        for number, value in sorted(self.class_of().items()):
            other = first.setdefault(value, number)
            if not self.proof.same(other, number):
                self.proof.join(other, number, CONSTANT if ruleset == "facts" else UNKNOWN)

    def _named_rows(self, reader: Reader) -> dict[Row, int]:
        """The number of the term of every e-node; those that have none get one, operands first."""
        number = self._graph.value_to_i64
        known: dict[Row, int] = {}
        waiting: list[tuple[str, Any]] = []
        for name in CONSTRUCTORS:
            known |= {(name, tuple(r.inputs)): number(r.output) for r in reader.rows(f"id-{name}")}
            waiting += [(name, r) for r in reader.rows(name) if (name, tuple(r.inputs)) not in known]
        least = {reader.number[r.inputs[0]]: number(r.output) for r in reader.rows("name")}
        while waiting:
            later: list[tuple[str, Any]] = []
            for name, row in waiting:
                node = reader.node(name, row.inputs, "")
                if all(a in least for a in node.args):
                    made = self._add(node, least)
                    known[name, tuple(row.inputs)] = made
                    least.setdefault(reader.number[row.output], made)
                else:
                    later.append((name, row))
            if len(later) == len(waiting):
                raise AssertionError("e-nodes whose operands have no term")
            waiting = later
        return known

    def _add(self, node: TermNode, least: Mapping[int, int]) -> int:
        terms = self.proof.terms
        args = [terms[least[a]] for a in node.args]
        if node.kind in ("con", "plus"):
            args.sort(key=lambda t: t.id)
        dtype = node.dtype or (args[0].dtype if args else "")
        term = Term(max(terms) + 1, node.kind, node.head, tuple(args), dtype, _free(node, args), frozenset())
        self.proof.add([term])
        self._number_term(term)
        return term.id

    def _log(self, reader: Reader, known: Mapping[Row, int]) -> list[Joined]:
        """What laws joined, in a fixed order."""
        number = self._graph.value_to_i64
        found: set[Joined] = set()
        for log in self._logs:
            for row in reader.rows(log.table):
                split = 1 + 2 * log.used
                first, *used = (number(v) for v in row.inputs[:split])
                last = row.inputs[split:]
                other = known.get((log.made, tuple(last))) if log.made else number(last[0])
                if other is not None:
                    pairs = tuple((a, b) for a, b in zip(used[::2], used[1::2], strict=True) if a != b)
                    found.add((first, other, log.law, pairs))
        return sorted(found)


def _free(node: TermNode, args: list[Term]) -> Indices:
    """The indices that a node depends on as it is written."""
    every: Indices = frozenset().union(*(a.free for a in args))
    match node.kind:
        case "leaf":
            return frozenset(node.head[1])
        case "delta":
            return frozenset(node.head)
        case "con" | "red":
            return every.difference(node.head[1])
        case "ren":
            return frozenset(dict(node.head).get(i, i) for i in every)
        case "opaque":
            return frozenset(i for i in node.head[1] if i is not None)
        case _:
            return every
