"""An e-graph that remembers: it finds what one without memory finds, and all that it tells is true."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from running import arguments, joint
from workloads import WORKLOADS, Workload

from saturate.algebra import Ix, Term, Terms
from saturate.denote import denote
from saturate.history import History
from saturate.normal import needed
from saturate.ops.constants import Constant
from saturate.proof import CONGRUENCE, CONSTANT, NORMAL_FORM, UNKNOWN, Equation, Proof
from saturate.rules import CATALOGUE, ROUNDING
from saturate.saturation import ENOUGH, Limits, drive, relevant, saturate
from saturate.worth import ALLOWED, Worth

LAWS = tuple(law for law in CATALOGUE if law.exact == ROUNDING)
NAMES = {law.name for law in LAWS}
LIMITS = Limits(rounds=3)
SOME = ("softmax", "logistic_regression", "layer_norm", "mlp_relu", "chain6", "trace_of_product")
LOADS = [load for load in WORKLOADS if load.name in SOME]


def loaded(load: Workload) -> tuple[list[Term], History]:
    program = joint(load)
    meaning = denote(program)
    terms = needed([meaning.values[v] for v in program.results])
    history = History(relevant(LAWS, {t.head[0] for t in terms if t.kind == "fn"}))
    history.load(terms)
    return terms, history


def equations(chain: tuple[Equation, ...]) -> Iterator[Equation]:
    for step in chain:
        yield step
        for inner in step.inside:
            yield from equations(inner)


@pytest.mark.parametrize("load", LOADS, ids=lambda load: load.name)
def test_what_is_remembered_is_what_is_found_and_true(load: Workload) -> None:
    terms, history = loaded(load)
    plain = saturate(terms, [], LAWS, LIMITS)
    assert drive(history, LIMITS) == plain.stopped
    assert sum(map(len, history.classes().nodes)) == sum(map(len, plain.classes.nodes))
    program = joint(load)
    leaves = {i.name: a for i, a in zip(program.inputs, arguments(program), strict=True)}
    constants = (n.op.array for n in program.nodes if isinstance(n.op, Constant))
    worth = Worth(leaves | {f"const:{c.digest}": c.value for c in constants})
    classes: dict[object, list[int]] = {}
    for number, value in history.class_of().items():
        classes.setdefault(value, []).append(number)
    told = 0
    for first, *others in (sorted(numbers) for numbers in classes.values()):
        for other in others:
            chain = history.proof.chain(first, other)
            assert chain
            assert (chain[0].left.id, chain[-1].right.id) == (first, other)
            for step, after in pairwise(chain):
                assert step.right is after.left
            for step in equations(chain):
                assert step.reason in NAMES | {CONGRUENCE, CONSTANT}
                assert worth.difference(step.left, step.right) <= ALLOWED, (
                    step.reason,
                    step.left,
                    step.right,
                )
                told += 1
    assert told > 0


def test_classes_that_were_not_joined_have_no_chain() -> None:
    terms, history = loaded(LOADS[0])
    drive(history, LIMITS)
    leaves = [t.id for t in terms if t.kind == "leaf"]
    assert len(leaves) == 2
    assert history.proof.chain(*leaves) is None
    assert history.proof.chain(leaves[0], leaves[0]) == ()


def test_a_search_ends_when_enough_is_found() -> None:
    terms, history = loaded(LOADS[0])
    first = terms[0].id
    assert drive(history, LIMITS, enough=lambda: history.proof.same(first, first)) == ENOUGH


# the record alone


def index(size: int) -> Ix:
    return Ix(size, 0)


@pytest.fixture
def terms() -> Terms:
    return Terms()


def test_congruence_follows_through_readers_and_is_told_with_its_operands(terms: Terms) -> None:
    a, b = (terms.leaf(name, (index(5),), "float64") for name in "ab")
    fa, fb = (terms.fn("tanh", (x,), "float64") for x in (a, b))
    ga, gb = (terms.plain_plus((x, x, a), "float64") for x in (fa, fb))
    proof = Proof()
    proof.add(terms.all)
    assert not proof.same(ga.id, gb.id)
    proof.join(a.id, b.id, "some_law")
    assert proof.same(ga.id, gb.id)
    chain = proof.chain(ga.id, gb.id)
    assert chain is not None
    (top,) = chain
    assert (top.left, top.right, top.reason) == (ga, gb, CONGRUENCE)
    ((inner,),) = top.inside
    assert (inner.left, inner.right, inner.reason) == (fa, fb, CONGRUENCE)
    ((last,),) = inner.inside
    assert (last.left, last.right, last.reason) == (a, b, "some_law")


def test_a_term_that_is_added_later_is_congruent_at_once(terms: Terms) -> None:
    a, b = (terms.leaf(name, (), "float64") for name in "ab")
    fa = terms.fn("tanh", (a,), "float64")
    proof = Proof()
    proof.add(terms.all)
    proof.join(a.id, b.id, "some_law")
    fb = terms.fn("tanh", (b,), "float64")
    proof.add([fb])
    assert proof.same(fa.id, fb.id)


def test_no_chain_uses_what_it_explains(terms: Terms) -> None:
    """f(a) = a by law, so f(f(a)) = f(a); joining them again later gives that chain no other reason."""
    a = terms.leaf("a", (), "float64")
    fa = terms.fn("tanh", (a,), "float64")
    ffa = terms.fn("tanh", (fa,), "float64")
    proof = Proof()
    proof.add(terms.all)
    proof.join(fa.id, a.id, "law")
    chain = proof.chain(ffa.id, a.id)
    assert chain is not None
    assert [step.reason for step in chain] == [CONGRUENCE, "law"]
    (inner,) = chain[0].inside
    assert [step.reason for step in inner] == ["law"]


def test_laws_are_told_before_normal_forms(terms: Terms) -> None:
    a, b, c = (terms.leaf(name, (), "float64") for name in "abc")
    proof = Proof()
    proof.add(terms.all)
    proof.join(a.id, c.id, NORMAL_FORM)
    proof.join(a.id, b.id, "one")
    proof.join(b.id, c.id, "two")
    chain = proof.chain(a.id, c.id)
    assert chain is not None
    assert [step.reason for step in chain] == ["one", "two"]
    assert UNKNOWN not in {step.reason for step in chain}


def test_factors_are_paired_with_their_equals(terms: Terms) -> None:
    a, b, c = (terms.leaf(name, (), "float64") for name in "abc")
    left = terms.plain_con(terms.number(1.0, "float64").head[0], frozenset(), (a, c), "float64")
    right = terms.plain_con(terms.number(1.0, "float64").head[0], frozenset(), (b, c), "float64")
    proof = Proof()
    proof.add(terms.all)
    proof.join(a.id, b.id, "law")
    chain = proof.chain(left.id, right.id)
    assert chain is not None
    assert [[(s.left, s.right) for s in inner] for inner in chain[0].inside] == [[(a, b)]]


# values


def test_what_terms_are_worth_and_how_far_they_are_apart(terms: Terms) -> None:
    i, j, k = index(5), index(7), index(3)
    a = terms.leaf("a", (i, j), "float64")
    b = terms.leaf("b", (j, k), "float64")
    product = terms.con(terms.number(2.0, "float64").head[0], frozenset((j,)), (a, b), "float64")
    rng = np.random.default_rng(0)
    leaves = {"a": rng.standard_normal((5, 7)), "b": rng.standard_normal((7, 3))}
    worth = Worth(leaves)
    order = sorted(product.free)
    expected = 2 * leaves["a"] @ leaves["b"]
    np.testing.assert_allclose(worth.of(product), expected if order == [i, k] else expected.T)
    assert worth.difference(product, product) == 0.0
    assert worth.difference(a, terms.fn("tanh", (a,), "float64")) > 0.01
    nowhere = terms.recip(terms.number(0.0, "float64"))
    assert worth.difference(nowhere, terms.number(1.0, "float64")) == np.inf


def test_axes_by_other_names_are_compared_by_size(terms: Terms) -> None:
    i, j = index(5), index(7)
    a = terms.leaf("a", (i, j), "float64")
    other = Terms()
    b = other.leaf("a", (Ix(5, 3), Ix(7, 1)), "float64")
    narrow = other.leaf("c", (Ix(5, 3),), "float64")
    rng = np.random.default_rng(0)
    leaves = {"a": rng.standard_normal((5, 7)), "c": rng.standard_normal(5)}
    here, there = Worth(leaves), Worth(leaves)
    assert here.difference_by_any_names(a, b, there) == 0.0
    assert here.difference_by_any_names(a, narrow, there) > 0.1


def test_square_axes_by_other_names_are_compared_both_ways(terms: Terms) -> None:
    a = terms.leaf("a", (Ix(5, 0), Ix(5, 1)), "float64")
    other = Terms()
    turned = other.leaf("a", (Ix(5, 7), Ix(5, 2)), "float64")
    leaves = {"a": np.random.default_rng(0).standard_normal((5, 5))}
    assert Worth(leaves).difference_by_any_names(a, turned, Worth(leaves)) == 0.0
