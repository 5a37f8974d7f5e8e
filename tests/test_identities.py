"""What needs no law, from its declaration alone: true, decided by terms, and the cheaper form is found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from identities import faults, form, sizes

import saturate as sat
from saturate.cse import share
from saturate.errors import LawError
from saturate.ops import OPS
from saturate.ops.constants import Constant
from saturate.price import price_program
from saturate.program import Program
from saturate.rules import BITWISE, BOUNDED, CATALOGUE, IDENTITIES, Identity, identity
from saturate.rules.decision import compared, decision, known
from saturate.rules.identity import Array, Forms
from saturate.rules.law import Condition, finite, nonzero
from saturate.search import search

EVERY = [i for theory in IDENTITIES.values() for i in theory]
LARGE = dict(zip("ijkl", (151, 97, 13, 11), strict=True))
"""Sizes at which forms cost what they move and compute, not only their calls."""
UNREACHED = {
    "mean_is_a_sum": "a sum divided by its length stays two steps, where np.mean is one call",
    "trace_of_sum": "the trace of a sum is not taken apart; a sum of traces stays two",
}
"""Identities of which the dearer form alone does not lead to the cheaper one."""


def named(given: Identity) -> str:
    return given.name


@pytest.mark.parametrize("given", EVERY, ids=named)
def test_an_identity_is_true_and_decided(given: Identity) -> None:
    """On samples of several shapes, in both dtypes, at infinities and NaN unless a condition bars them; its
    gradients too; and terms decide it in each of these shapes.
    """
    assert list(faults(given)) == []


@pytest.mark.parametrize("given", EVERY, ids=named)
def test_both_forms_are_one_value_without_any_law(given: Identity) -> None:
    """Of the e-graph; or, where they bear other axes, their difference is the number zero."""
    program = compared(given, next(sizes(given)))
    found = search(program, [], sat.Limits(), facts=known(given, program))
    one, other = found.roots[:2]
    free = found.lattice.free[one.value]
    if [i for i in one.axes if i in free] == [i for i in other.axes if i in free]:
        assert one.value == other.value
    else:
        assert str(found.term_of(program.outputs[2])) == "0"


@pytest.mark.parametrize(
    ("given", "condition"),
    [(i, c) for i in EVERY for c in i.where],
    ids=[f"{i.name}-{c.variable}" for i in EVERY for c in i.where],
)
def test_every_condition_is_needed(given: Identity, condition: Condition) -> None:
    without = replace(given, where=tuple(c for c in given.where if c != condition))
    assert decision(without, next(sizes(given))) == ""


@pytest.mark.parametrize("given", EVERY, ids=named)
def test_the_cheaper_form_is_reached_from_both(given: Identity) -> None:
    """Each form, optimized alone, costs no more than the cheaper of those that the target can run."""
    target = sat.Target(ops=[op for op in OPS if op not in given.lacks]) if given.lacks else sat.Target()
    types = given.types(LARGE, "float32").values()
    made = [sat.optimize(form(given, k), *types, target=target, check=False).program for k in (0, 1)]
    plain = [share(sat.trace(form(given, k), *types)) for k in (0, 1)]
    least = min(price_program(p).cost for p in plain if not target.missing(p))
    reached = all(price_program(p).cost <= least + 1 for p in made)
    assert reached == (given.name not in UNREACHED)
    for program in made if given.emits else ():
        assert computed(program) <= set(given.emits)


def computed(program: Program) -> set[str]:
    """The ops of a program that are no views; an array of ones is a number in any form."""
    ops = [node.op for node in program.nodes if not node.op.view]
    return {"full" if isinstance(op, Constant) and np.ptp(op.array.value) == 0 else op.name for op in ops}


PLANTED: list[tuple[Callable[..., Forms], dict[str, Any], str]] = [
    (lambda a: (a.T, a), {"a": "ii"}, "the forms differ in float32 with {'i': 5}"),
    (lambda a, b: (np.trace(a @ b), np.trace(a) * np.trace(b)), {"a": "ii", "b": "ii"}, "the forms differ"),
    (lambda a, b: (np.sum(a * b), np.sum(a) * b[0, 0]), {"a": "ij", "b": "ij"}, "the forms differ"),
    (lambda a: (a.sum(axis=1), a @ np.ones(a.shape[1])), {"a": "ij"}, "the forms have the types"),
    (lambda a: (a.sum(axis=0), np.flip(a, 0).sum(axis=0)), {"a": "ij", "exact": BITWISE}, "the forms differ"),
    (lambda a: (np.flip(np.flip(a, 0), 0), a), {"a": "ij"}, "the forms are not known to be equal in float32"),
    (
        lambda a, b: ((a[:, None] * b).sum(axis=1), a * b.sum(axis=1)),
        {"a": "i", "b": "ij"},
        "the forms differ in float32 with {'i': 5, 'j': 7}, beyond numbers",
    ),
    (
        lambda a: (a, a if isinstance(a, np.ndarray) else 1.001 * a),
        {"a": "i"},
        "the gradients by a differ in float32 with {'i': 5}",
    ),
]  # fmt: skip
"""What is false, or true and not decided: an axis swap, a trace of a product, a factor with its index, a
dtype that flips, an order that rounds, an opaque op, infinities, a derivative of something else.
"""


@pytest.mark.parametrize(("forms", "declared", "says"), PLANTED, ids=range(len(PLANTED)))
def test_a_planted_identity_is_refuted(
    forms: Callable[..., Forms], declared: dict[str, Any], says: str
) -> None:
    forms.__doc__ = "Tempting."
    found = list(faults(identity(**declared)(forms)))
    assert [what for what in found if what.startswith(says)]


def test_names_are_unique_and_every_identity_says_what_it_is() -> None:
    names = [*(law.name for law in CATALOGUE), *map(named, EVERY)]
    assert len(set(names)) == len(names)
    for theory, declared in IDENTITIES.items():
        for given in declared:
            assert given.theory == theory
            file, _, line = given.line.rpartition(":")
            assert Path(file).name == f"{theory}.py"
            assert given.name in Path(file).read_text("utf-8").splitlines()[int(line)]
            assert set(given.letters) <= set(LARGE)


def nothing(a: Array) -> Forms:
    return a, a


def said(a: Array) -> Forms:
    """a = a."""
    return a, a


@pytest.mark.parametrize(
    ("declared", "forms", "says"),
    [
        ({"b": "i"}, said, "identity said needs index letters for each of its arguments ['a'], got ['b']: "),
        ({"a": "i"}, nothing, "identity nothing needs a docstring that states it, got none"),
        (
            {"a": "i", "exact": BOUNDED},
            said,
            "identity said needs exact to be bitwise or rounding; got 'bounded'",
        ),
        (
            {"a": "i", "where": finite("b")},
            said,
            "identity said needs conditions finite(…) on its own arguments a, got finite('b')",
        ),
        (
            {"a": "i", "where": nonzero("a")},
            said,
            "identity said needs conditions finite(…) on its own arguments a, got nonzero('a')",
        ),
    ],
)
def test_a_wrong_declaration_is_refused(
    declared: dict[str, Any], forms: Callable[..., Forms], says: str
) -> None:
    with pytest.raises(LawError, match=re.escape(says)):
        identity(**declared)(forms)


def test_forms_are_shown_as_they_are_written() -> None:
    def chained(a: Array, b: Array, c: Array) -> Forms:
        """Products in any order."""
        return (a @ b) @ c, a @ (
            b @ c
        )  # fmt: skip

    def hidden(a: Array) -> Forms:
        """a = a."""
        forms = a, a
        return forms

    assert identity(a="ij", b="jk", c="kl")(chained).texts == ("(a @ b) @ c", "a @ ( b @ c )")
    with pytest.raises(LawError, match="identity hidden needs one return of its two forms side by side"):
        _ = identity(a="i")(hidden).texts
