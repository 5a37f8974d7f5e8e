"""The e-graph: why a search stops, who made what, facts, contradictions, and the audit of false laws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from random_terms import instances, random_terms, values
from refuted import REFUTED
from running import arguments, joint
from workloads import WORKLOADS

from saturate import saturation
from saturate.algebra import Ix, Term, Terms
from saturate.audit import audit, unreached
from saturate.denote import denote
from saturate.egraph import EGraph, TermClasses
from saturate.errors import EGraphError
from saturate.facts import FINITE, WALKED
from saturate.normal import needed
from saturate.op import AnyArray
from saturate.ops.constants import Constant
from saturate.program import Program
from saturate.rules import CATALOGUE, Law, law
from saturate.rules.compile import rules_text
from saturate.rules.language import Expr, const, exp, recip, total
from saturate.rules.law import BITWISE, ROUNDING, SIMPLIFY
from saturate.saturation import (
    INTERRUPTED,
    NODE_LIMIT,
    ROUND_LIMIT,
    SATURATED,
    TIME_LIMIT,
    Limits,
    Saturation,
)

LAWS = tuple(w for w in CATALOGUE if w.exact in (BITWISE, ROUNDING))
FEW = LAWS[:5]
NAMES = {w.name for w in CATALOGUE}
BY_NAME = {w.name: w for w in WORKLOADS}


def terms_of(program: Program) -> list[Term]:
    """The terms of the results as they are denoted, without the help of normal forms."""
    meaning = denote(program)
    return needed([meaning.values[v] for v in program.results])


def leaves_of(program: Program) -> dict[str, AnyArray]:
    found = {i.name: a for i, a in zip(program.inputs, arguments(program), strict=True)}
    constants = (n.op.array for n in program.nodes if isinstance(n.op, Constant))
    return found | {f"const:{array.digest}": array.value for array in constants}


def search(name: str, limits: Limits = Limits(), laws: Iterable[Law] = LAWS) -> Saturation:  # noqa: B008  # frozen
    return saturation.saturate(terms_of(joint(BY_NAME[name])), [], laws, limits)


# why it stops


def test_a_small_program_saturates() -> None:
    found = search("logsumexp")
    assert found.stopped == SATURATED
    assert [r.nodes for r in found.rounds][-1] == found.rounds[-2].nodes
    assert sum(run.matches for run in found.laws.values()) > 0


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        (Limits(nodes=10), NODE_LIMIT),
        (Limits(seconds=0.0), TIME_LIMIT),
        (Limits(rounds=1), ROUND_LIMIT),
        (Limits(rounds=0), ROUND_LIMIT),
    ],
)
def test_a_limit_ends_a_search_and_is_named(limits: Limits, why: str) -> None:
    found = search("layer_norm", limits)
    assert found.stopped == why
    assert len(found.rounds) == (1 if limits.rounds else 0)


@pytest.mark.parametrize("after", [1, 2, 3, 4, 6, 8])
def test_an_interrupt_gives_what_was_found(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C arrives when the engine comes back, as Python sees it then."""
    whole, count = EGraph.run, 0

    def run(graph: EGraph, ruleset: str, saturate: bool = False) -> bool:
        nonlocal count
        changed = whole(graph, ruleset, saturate)
        count += 1
        if count == after:
            raise KeyboardInterrupt
        return changed

    monkeypatch.setattr(EGraph, "run", run)
    program = joint(BY_NAME["softmax"])
    found = saturation.saturate(terms_of(program), [], LAWS, Limits())
    assert found.stopped == INTERRUPTED
    assert all(found.classes.dtype)
    assert audit(found.classes, leaves_of(program)) == []
    assert unreached(found.classes, leaves_of(program)) == []


# contradictions


@law(a="i", narrows=True)
def exp_is_one(a: Expr) -> tuple[Expr, Expr]:
    """exp(a) = 1."""
    return exp(a), const(1)


@law(a="i", narrows=True)
def exp_is_two(a: Expr) -> tuple[Expr, Expr]:
    """exp(a) = 2."""
    return exp(a), const(2)


def exponential() -> Terms:
    terms = Terms()
    terms.fn("exp", (terms.leaf("x", (Ix(3, 0),), "float64", frozenset((FINITE,))),), "float64")
    return terms


def test_two_constants_in_one_class_name_the_laws() -> None:
    with pytest.raises(EGraphError) as raised:
        saturation.saturate(exponential().all, [], [*FEW, exp_is_one, exp_is_two], Limits())
    lines = (
        f"exp_is_one: exp(a) = 1 ({exp_is_one.line}), a = x[i:3]; "
        f"exp_is_two: exp(a) = 2 ({exp_is_two.line}), a = x[i:3]"
    )
    assert str(raised.value) == (
        f"a law is false or needs a condition, one of: {lines}: the e-graph refuses a merge or a rule: "
        "Panic: Illegal merge attempted for function value"
    )
    assert raised.value.code == "egraph"


def test_two_dtypes_in_one_class_are_refused() -> None:
    terms = Terms()
    wide, narrow = (terms.leaf("x", (Ix(3, 0),), dtype) for dtype in ("float64", "float32"))
    with pytest.raises(EGraphError) as raised:
        saturation.saturate(terms.all, [(wide, narrow)], FEW, Limits())
    assert str(raised.value) == (
        "the program's own terms and facts contradict each other, without any law: the e-graph refuses a "
        "merge or a rule: Panic: Illegal merge attempted for function dtype"
    )


def test_a_law_that_mixes_dtypes_is_named() -> None:
    cast = law(
        a="i", egglog=('(= e (Fn1 "exp" d x))', '(union e (Fn1 "exp" "float32" x))'), direction=SIMPLIFY
    )

    @cast
    def exp_in_single(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = exp(a)."""
        return exp(a), exp(a)

    with pytest.raises(EGraphError, match=r"one of: exp_in_single: exp\(a\) = exp\(a\) \("):
        saturation.saturate(exponential().all, [], [*FEW, exp_in_single], Limits())


def test_a_rule_that_fails_in_the_engine_is_named() -> None:
    over_zero = "(/ (bigrat (bigint 1) (bigint 1)) (bigrat (bigint 0) (bigint 1)))"
    infinite = f"(Con d {over_zero} (set-empty) (multiset-of))"

    @law(a="i", egglog=('(= e (Fn1 "exp" d x))', f"(union e {infinite})"))
    def divides_by_zero(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = exp(a)."""
        return exp(a), exp(a)

    with pytest.raises(EGraphError, match=r"^a law's rule cannot run, one of: divides_by_zero: "):
        saturation.saturate(exponential().all, [], [*FEW, divides_by_zero], Limits())


# origins and order


@pytest.mark.parametrize("name", ["softmax", "cross_entropy", "mlp_tanh"])
def test_the_origin_of_every_node_is_known(name: str) -> None:
    program = joint(BY_NAME[name])
    terms = terms_of(program)
    found = saturation.saturate(terms, [], LAWS, Limits())
    origins = [node.law for nodes in found.classes.nodes for node in nodes]
    assert set(origins) <= NAMES | {"program"}
    assert origins.count("program") <= len(terms)
    assert set(origins) & NAMES
    used = {w for w, run in found.laws.items() if run.matches and w in NAMES}
    assert set(origins) - {"program"} <= used


READ = """
import sys
sys.path.insert(0, sys.argv[1])
from workloads import attention, t
from saturate.autodiff import gradient_program
from saturate.denote import denote
from saturate.normal import needed
from saturate.rules import CATALOGUE
from saturate.saturation import Limits, saturate
from saturate.trace import trace
program = gradient_program(trace(attention, t(5, 3), t(7, 3), t(7, 2)), ("q", "k", "v"), seed="input")
meaning = denote(program)
print(saturate(needed(meaning.values[v] for v in program.results), [], CATALOGUE[:20], Limits()).classes)
"""


def test_reading_is_the_same_under_any_hash_seed() -> None:
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READ, str(Path(__file__).parent)],
            env={**os.environ, "PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True,
        )
        for seed in ("1", "4242")
    ]  # fmt: skip
    texts = [reader.communicate(timeout=120)[0] for reader in readers]
    assert [reader.returncode for reader in readers] == [0, 0]
    assert len(texts[0]) > 1000
    assert _sorted_sets(texts[0]) == _sorted_sets(texts[1])


def _sorted_sets(text: str) -> str:
    """The text with the members of each frozenset of words in order, which a hash seed may change."""

    def ordered(match: re.Match[str]) -> str:
        return f"frozenset({{{', '.join(sorted(match[1].split(', ')))}}})"

    return re.sub(r"frozenset\(\{((?:'\w+'(?:, )?)+)\}\)", ordered, text)


# facts


def without_facts(term: Term) -> Term:
    """The term as the e-graph has to work its facts out; leaves and deltas say theirs."""
    return term if term.kind in ("leaf", "delta") else replace(term, facts=frozenset())


@pytest.mark.parametrize("seed", range(8))
def test_the_facts_of_the_e_graph_are_those_of_terms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    terms, made = random_terms(rng, count=20)
    graph = EGraph(rules_text(()))
    graph.load([without_facts(t) for t in terms.all])
    graph.run("facts", saturate=True)
    classes = graph.classes()
    for term in made:
        number = classes.of_term[term.id]
        assert classes.free[number] == term.free, term
        if len({t.id for t in terms.all if classes.of_term[t.id] == number}) == 1:
            assert classes.facts[number] & set(WALKED) == term.facts & set(WALKED), term


# the audit


CHUNKS = [LAWS[k::6] for k in range(6)]


@pytest.mark.parametrize("seed", range(len(CHUNKS)))
def test_no_law_is_false_where_it_nearly_matches(seed: int) -> None:
    """Left sides over any leaves and indices, among further members, at infinities and NaN where allowed."""
    rng = np.random.default_rng(seed)
    terms = Terms()
    for each in CHUNKS[seed]:
        instances(rng, each, terms)
    found = saturation.saturate(terms.all, [], LAWS, Limits(rounds=3, nodes=3000))
    for odd in (None, np.inf, np.nan):
        assert [str(d) for d in audit(found.classes, values(rng, odd))] == []
    assert {w.name for w in CHUNKS[seed]} & {w for w, run in found.laws.items() if run.matches}


def audited(terms: Terms, false: Law, arrays: dict[str, AnyArray]) -> set[str]:
    found = saturation.saturate(terms.all, [], [false], Limits(rounds=2))
    return {d.law for d in audit(found.classes, arrays)}


def made(**leaves: Any) -> tuple[Terms, dict[str, Term], dict[str, AnyArray]]:
    """A pool with leaves of these indices, nonneg, finite and nonzero, and arrays for them."""
    terms = Terms()
    rng = np.random.default_rng(0)
    facts = frozenset(("finite", "nonneg", "nonzero"))
    named = {n: terms.leaf(n, indices, "float64", facts) for n, indices in leaves.items()}
    return terms, named, {n: rng.uniform(0.5, 1.5, [i.size for i in ix]) for n, ix in leaves.items()}


def test_the_audit_names_a_planted_law_of_functions() -> None:
    i = Ix(5, 0)
    terms, x, arrays = made(a=(i,), b=(i,))
    terms.fn("exp", (terms.plain_plus([x["a"], x["b"]], "float64"),), "float64")
    false = next(r.law for r in REFUTED if r.law.name == "exp_of_sum_is_sum")
    assert audited(terms, false, arrays) == {"exp_of_sum_is_sum"}


def test_the_audit_names_a_planted_law_that_forgets_an_index() -> None:
    """The guard that `Σ_j a·b = a·Σ_j b` needs is left out of the rule, though its statement is true."""

    @law(
        a="i", b="ij",
        egglog=(
            "(= e (Con d k s M)) (mem M x) (> (set-length s) 0) (> (multiset-length M) 1)",
            "(union e (Con d k (set-empty) (multiset-of x (Con d (bigrat (bigint 1) (bigint 1)) s"
            " (multiset-remove M x)))))",
        ),
    )  # fmt: skip
    def factor_leaves_any_sum(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """Σ_j a[i]·b[i,j] = a[i]·Σ_j b[i,j]."""
        return total("j", a * b), a * total("j", b)

    i, j, k = Ix(5, 0), Ix(3, 0), Ix(7, 0)
    terms, x, arrays = made(a=(i, j), b=(j, k))
    terms.plain_con(Fraction(1), frozenset((j,)), [x["a"], x["b"]], "float64")
    assert audited(terms, factor_leaves_any_sum, arrays) == {"factor_leaves_any_sum"}


def test_the_audit_passes_what_is_true() -> None:
    i = Ix(5, 0)
    terms, x, arrays = made(a=(i,), b=(i,))
    terms.recip(terms.plain_con(Fraction(1), frozenset(), [x["a"], x["b"]], "float64"))

    @law(a="i", b="i")
    def halves(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """1/(a·b) = (1/a)·(1/b)."""
        return recip(a * b), recip(a) * recip(b)

    assert audited(terms, halves, arrays) == set()


def test_classes_are_plain_data() -> None:
    classes = search("softmax").classes
    assert isinstance(classes, TermClasses)
    assert all(a < len(classes.nodes) for nodes in classes.nodes for node in nodes for a in node.args)
    assert all(nodes for nodes in classes.nodes)
