"""Targets: what they take, that only their ops appear, and what an error says where these are too few."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import Any

import numpy as np
import pytest
from lattices import random_extraction, searched
from op_checks import run
from random_programs import random_program
from running import arguments, joint
from test_lower import LOADS, assert_same

import saturate as sat
from saturate.errors import ArgumentError, SaturateError, TargetError
from saturate.extract.costs import Profile
from saturate.forms import LOWERINGS
from saturate.ops import OPS
from saturate.price import price_program
from saturate.search import Search, emit, search
from saturate.targeted import spanned

Array = Any
T = sat.Type
FEW = ("full", "matmul", "mul", "reshape")


def lacking(*ops: str) -> sat.Target:
    return sat.Target(ops=[op for op in OPS if op not in ops])


def without_max(x: Array) -> Array:
    e = np.exp(x)
    return e / e.sum(axis=-1, keepdims=True)


def softmax(x: Array) -> Array:
    m = x.max(axis=-1, keepdims=True)
    return without_max(x - m)


def unbounded(x: Array) -> Array:
    y = x @ x
    return np.tanh(1 / x) + y


def whole_mean(x: Array) -> Array:
    return x.mean(keepdims=True)


def scaled(x: Array) -> Array:
    return x * np.arange(3.0)


def least_squares(w: Array, x: Array, y: Array) -> Array:
    r = x @ w - y
    return np.mean(r**2)


# what a target is


def test_a_target_is_frozen_and_holds_its_ops_in_the_order_of_the_catalogue() -> None:
    target = sat.Target(ops=["reshape", "matmul", "full", "full"])
    assert target.ops == ("full", "reshape", "matmul")
    assert target == sat.Target("numpy", {"full", "matmul", "reshape"})
    assert hash(target) == hash(sat.Target("numpy", ("matmul", "full", "reshape")))
    assert [f.name for f in dataclasses.fields(target)] == ["runner", "ops", "profile"]
    assert sat.Target() == sat.Target(runner="numpy", ops=None, profile=None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        target.runner = "cupy"  # type: ignore[misc]
    assert str(target) == "numpy with full, reshape, matmul"
    assert str(sat.Target()) == "numpy"


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"runner": 3}, "a Target needs the name of a runner, got 3"),
    ({"ops": "matmul"}, "a Target needs a collection of names of ops, got 'matmul'"),
    ({"ops": 3}, "a Target needs a collection of names of ops, got 3"),
    ({"ops": ["gemm"]}, "a Target needs names of ops, got 'gemm'; there are constant, full, eye, "),
    ({"ops": [["mul"]]}, "a Target needs names of ops, got ['mul']; there are constant, full, eye, "),
    ({"profile": "fast"}, "a Target needs a Profile or None as profile, got 'fast'"),
]


@pytest.mark.parametrize(("given", "said"), WRONG, ids=[said[:40] for _, said in WRONG])
def test_what_a_target_refuses(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ArgumentError) as error:
        sat.Target(**given)
    assert str(error.value).startswith(said)


def test_a_runner_that_is_not_there_is_refused_as_before() -> None:
    with pytest.raises(ArgumentError) as error:
        sat.optimize(softmax, T((5, 7)), target=sat.Target("gpu"))
    assert str(error.value) == "optimize needs target to be one of numpy, cupy; got 'gpu'"


def test_a_target_without_a_list_of_ops_is_the_runner_alone() -> None:
    plain = sat.optimize(softmax, T((5, 7)), wrt="x", check=False)
    named = sat.optimize(softmax, T((5, 7)), wrt="x", check=False, target=sat.Target("numpy"))
    assert (named.program, named.laws, str(named.report)) == (plain.program, plain.laws, str(plain.report))
    assert plain.target == named.target == sat.Target()


def test_a_profile_prices_the_choice_and_the_report() -> None:
    slow = Profile(call=1e6)
    best = sat.optimize(softmax, T((5, 7)), wrt="x", target=sat.Target(profile=slow))
    assert best.report.after.cost == price_program(best.program, slow).cost > 1e6


# only its ops


@cache
def found(number: int) -> Search:
    return searched(joint(LOADS[number]))


NUMBERS = {load.name: k for k, load in enumerate(LOADS)}
TARGETS: dict[str, tuple[sat.Target, bool, str]] = {
    "products for views": (
        lacking("broadcast", "vec_dot", "einsum", "transpose"),
        False,
        "softmax softmax_first_axis cross_entropy layer_norm ridge sum_of_product chain3 renamed",
    ),
    "products for sums": (
        lacking("broadcast", "sum", "div", "sub", "square", "neg", "sqrt", "vec_dot"),
        False,
        "softmax_3d cross_entropy rms_norm layer_norm mlp_tanh attention trace_of_product outer_sum flipped",
    ),
    "shapes as they are": (
        lacking("reshape"),
        False,
        "softmax softmax_first_axis cross_entropy layer_norm mlp_relu attention complement",
    ),
    "few elementwise ops": (
        lacking("mul", "sum", "matmul", "sqrt", "rsqrt", "reciprocal", "square", "neg"),
        False,
        "softmax rms_norm ridge",
    ),
    "sums without sums": (lacking("matmul", "add"), False, "softmax rms_norm ridge mlp_tanh renamed"),
    "no product by a number": (lacking("mul", "sqrt"), True, "softmax rms_norm ridge diagonal"),
    "nothing at all": (
        sat.Target(ops=()), True,
        "softmax cross_entropy ridge rms_norm renamed identity diagonal complement flipped constant",
    ),
}  # fmt: skip
"""Targets; whether what they lack is allowed, as where the closest form is looked for; loads to make."""
ROWS = [(target, name) for target, (_, _, names) in TARGETS.items() for name in names.split()]


@cache
def drawn(target: str, name: str) -> frozenset[str]:
    """The lowerings in random choices, each worth what the baseline is and made of the target's ops."""
    goal, closest, _ = TARGETS[target]
    program = joint(LOADS[NUMBERS[name]])
    cells = spanned(found(NUMBERS[name]), goal, closest)
    assert cells.cells is not None
    arrays = arguments(program)
    expected = run(program, arrays)
    rng = np.random.default_rng(0)
    used: set[str] = set()
    for _ in range(6):
        choice = random_extraction(cells.classes, rng)
        lowered = emit(cells, choice)
        assert closest or not goal.missing(lowered.program)
        assert_same(run(lowered.program, arrays), expected)
        used |= {cells.cells.ways[c][k].law for c, k in choice.choice.items()}
    return frozenset(used)


@pytest.mark.parametrize(("target", "name"), ROWS)
def test_any_choice_for_a_target_is_worth_what_the_baseline_is(target: str, name: str) -> None:
    assert drawn(target, name)


def test_every_lowering_is_drawn() -> None:
    used = frozenset[str]().union(*(drawn(*row) for row in ROWS))
    doubled = sat.optimize(lambda x: x * 2.0, T((3,)), target=sat.Target(ops=("add",)))
    assert LOWERINGS.keys() <= used | set(doubled.laws.values())


def test_a_root_is_the_reciprocal_of_a_reciprocal_root() -> None:
    """At zeros of either sign and at infinity too."""
    best = sat.optimize(np.sqrt, T((7,)), target=sat.Target(ops=("rsqrt", "reciprocal")))
    assert [n.op.name for n in best.program.nodes] == ["rsqrt", "reciprocal"]
    assert set(best.laws.values()) == {"reciprocal_root", "root_as_reciprocal"}
    x = np.array([0.0, -0.0, np.inf, 1e-300, 2.0, 4.0, 1e300])
    with np.errstate(divide="ignore"):
        found = best(x)
    np.testing.assert_allclose(found, np.sqrt(x), rtol=1e-15)
    assert np.array_equal(np.signbit(found), np.signbit(np.sqrt(x)))


LOST = "broadcast transpose reshape sum vec_dot einsum div sub square neg add mul reciprocal".split()


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_for_random_targets(seed: int) -> None:
    """Made of what the target has or not made, and always worth the same."""
    program = random_program(seed, 3, 5)
    rng = np.random.default_rng(seed)
    arrays = [rng.uniform(0.5, 1.5, i.type.shape) for i in program.inputs]
    expected = run(program, arrays)
    plain = search(program, (), sat.Limits(rounds=0))
    for closest in (False, True):
        goal = lacking(*(op for op in LOST if rng.random() < 0.35))
        cells = spanned(plain, goal, closest)
        made = all(cells.classes.nodes[root] for root in cells.classes.roots)
        assert made or not closest, "with every op there is always a form"
        for _ in range(4 * made):
            lowered = emit(cells, random_extraction(cells.classes, rng))
            assert closest or not goal.missing(lowered.program)
            assert_same(run(lowered.program, arrays), expected)


# too few ops


MADE = "numpy with full, mul, reshape, matmul"
REFUSED: list[tuple[Any, tuple[Any, ...], Any, tuple[str, ...], str]] = [
    (
        softmax, (T((5, 7)),), "x", (*FEW, "add", "exp", "log", "reciprocal"),
        "softmax cannot be made for the target numpy with full, add, mul, exp, log, reciprocal, reshape, "
        "matmul: 'm' needs max; the closest form found has m = v0.max(axis=(1,), keepdims=False) : "
        "float64[5]",
    ),
    (
        least_squares, (T((3,)), T((7, 3)), T((7,))), "w", FEW,
        f"least_squares cannot be made for the target {MADE}: 'r' needs sub; the closest form found has "
        "r = v5 - v2 : float64[7]; no other form exists: what these ops make grows with each input by one "
        "power, and 'r' joins what grows as x·w to what grows as y",
    ),
    (
        np.tanh, (T((5,)),), None, FEW,
        f"tanh cannot be made for the target {MADE}: 'v1' (node 'n0', tanh) needs tanh; the closest form "
        "found has v1 = np.tanh(v0) : float64[5]",
    ),
    (
        np.transpose, (T((5, 7)),), None, FEW,
        f"transpose cannot be made for the target {MADE}: 'v1' (node 'n0', transpose) needs transpose; the "
        "closest form found has v1 = v0.transpose(1, 0) : float64[7, 5]",
    ),
    (
        unbounded, (T((5, 5)),), None, ("mul", "add"),
        "unbounded cannot be made for the target numpy with add, mul: 'y', 'v2' (node 'n1', div), 'v3' (node "
        "'n2', tanh) need matmul, div, tanh; the closest form found has y = v0 @ v0 : float64[5, 5]; "
        "v2 = 1.0 / v0 : float64[5, 5]; v3 = np.tanh(v2) : float64[5, 5]",
    ),
    (
        whole_mean, (T((3, 5, 7)),), None, ("full", "matmul", "mul"),
        "whole_mean cannot be made for the target numpy with full, mul, matmul: 'v1' (node 'n0', mean) needs "
        "sum; the closest form found has v1 = np.add.reduce(v0, axis=(0, 1, 2), keepdims=True) : "
        "float64[1, 1, 1]",
    ),
    (
        scaled, (T((3,)),), None, FEW,
        f"scaled cannot be made for the target {MADE}: 'v1' (node 'n0', constant) needs constant; the "
        'closest form found has v1 = np.array([0.0, 1.0, 2.0], dtype="float64") : float64[3]',
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "types", "wrt", "ops", "said"), REFUSED, ids=[r[4].partition(" ")[0] for r in REFUSED]
)
def test_what_cannot_be_made_is_named_with_what_is_missing_and_the_closest_form(
    function: Any, types: tuple[Any, ...], wrt: Any, ops: tuple[str, ...], said: str
) -> None:
    with pytest.raises(TargetError) as error:
        sat.optimize(function, *types, wrt=wrt, target=sat.Target(ops=ops))
    assert str(error.value) == said
    assert error.value.code == "unsupported_operator"


def test_bitwise_never_lowers_for_a_target() -> None:
    """Sums in another order, products with 1/d and +0.0 for −0.0 are no equal bits."""
    target = sat.Target(ops=FEW)
    with pytest.raises(TargetError) as error:
        sat.optimize(np.mean, T((3, 5)), wrt=0, target=target, exact="bitwise")
    assert str(error.value) == (
        f"mean was not made for the target {MADE}: 'v1' (node 'n0') needs mean; all that is missing: mean, "
        "broadcast, div; exact=bitwise"
    )
    product = sat.optimize(np.matmul, T((3, 5)), T((5, 7)), target=target, exact="bitwise")
    assert [n.op.name for n in product.program.nodes] == ["matmul"]


def test_a_search_that_no_program_leaves_says_why() -> None:
    target = sat.Target(ops=FEW)
    with pytest.raises(TargetError) as error:
        sat.optimize(
            np.mean,
            np.full((3, 5), 1e38, "float32"),
            target=target,
            samples=[(np.full((3, 5), 3e38, "float32"),)],
        )
    assert "no program found was as accurate as the baseline" in str(error.value)


def test_too_many_orders_of_axes_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saturate.cells.CELLS", 3)
    with pytest.raises(SaturateError) as error:
        sat.optimize(np.mean, T((3, 5)), wrt=0, target=sat.Target(ops=FEW))
    assert str(error.value) == (
        f"mean was not made for the target {MADE}: 'v1' (node 'n0', mean), 'da' (node 'dn3', div) need sum, "
        "div, broadcast; the closest form found has v1 = np.add.reduce(v0, axis=(0, 1), keepdims=False) : "
        "float64[]; v2 = v1 / 15.0 : float64[]; v4 = np.broadcast_to(v3, (3, 5)) : float64[3, 5]; the target "
        f"{MADE} needs more than 3 cells, the limit"
    )
