"""Forms that stand for ops that a target lacks, and least squares in every form that its ops can have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from op_cases import CONTRACTIONS, REDUCTIONS, STRUCTURE
from op_checks import Case, run

import saturate as sat
from saturate.build import Builder
from saturate.degrees import HOMOGENEOUS, degrees
from saturate.errors import TargetError
from saturate.ops import OPS
from saturate.program import Program
from saturate.runners.evaluate import evaluate
from saturate.split import split

Array = Any
T = sat.Type
LINEAR = ("full", "matmul", "mul", "reshape")
KEPT = "nothing but the program itself was found"


def made_of(program: Any, ops: tuple[str, ...], *types: sat.Type) -> sat.Optimized:
    """Optimized for these ops, by the search and not by leaving the program as it is."""
    best = sat.optimize(program, *types, target=sat.Target(ops=ops), accuracy=None, check=False)
    assert {n.op.name for n in best.program.nodes} <= set(ops)
    assert not any(KEPT in note for note in best.report.notes)
    return best


def test_an_identity_matrix_is_a_constant_where_the_target_cannot_make_it() -> None:
    eye = np.eye(5)
    made_of(lambda a: a @ eye + eye, ("constant", "add"), T((5, 5)))
    made_of(lambda a: a @ eye + eye, ("eye", "add"), T((5, 5)))


@pytest.mark.parametrize("case", [*STRUCTURE, *REDUCTIONS, *CONTRACTIONS], ids=str)
def test_a_program_of_one_op_is_found_with_this_op_alone(case: Case) -> None:
    builder = Builder()
    operands = [builder.input(f"x{k}", kind) for k, kind in enumerate(case.operands)]
    program = builder.program("f", (builder.emit(case.op, *operands).id,))
    best = made_of(program, (case.op.name,))
    (expected,), (found,) = run(program, case.samples()), run(best.program, case.samples())
    np.testing.assert_allclose(found, expected, rtol=1e-12)


FORMS: list[tuple[Any, tuple[int, ...], tuple[str, ...]]] = [
    (lambda x: x.sum(axis=1), (3, 5), ("mean", "mul")),
    (lambda x: x.sum(axis=1), (3, 5), ("mean", "div")),
    (lambda x: x.sum(axis=1), (3, 5), ("vec_dot", "full")),
    (lambda x: x.sum(axis=0), (3, 5), ("einsum",)),
    (lambda x: x.mean(axis=1), (3, 5), ("mean",)),
    (lambda x: x.T, (3, 5), ("einsum",)),
    (lambda x: x * x, (3, 5), ("matmul", "reshape")),
    (lambda x: x * x, (3, 5), ("div",)),
    (lambda x: x * x, (3, 5), ("power",)),
    (lambda x: x * x, (3, 5), ("vec_dot", "reshape")),
    (lambda x: x * x, (3, 5), ("einsum",)),
    (lambda x: x * 0.25, (3, 5), ("div",)),
    (lambda x: x * 8.0, (3, 5), ("add",)),
    (lambda x: x * 0.3, (3, 5), ("matmul", "full", "reshape")),
    (lambda x: x * 0.3, (3, 5), ("vec_dot", "full", "reshape")),
    (lambda x: x * 0.3, (3, 5), ("einsum", "full")),
    (lambda x: -x, (3, 5), ("sub",)),
    (lambda x: np.sqrt(x), (3, 5), ("power",)),
    (lambda x: 1 / x, (3, 5), ("power",)),
    (lambda x: 1 / np.sqrt(x), (3, 5), ("power",)),
    (lambda x: x**-0.5, (3, 5), ("rsqrt",)),
    (lambda x: x**-1.5, (3, 5), ("rsqrt", "reciprocal", "mul")),
    (lambda x: x**2.5, (3, 5), ("sqrt", "mul")),
    (lambda x: x[:, None], (3,), ("broadcast", "transpose")),
    (lambda x: x[:, 0], (3, 1), ("max",)),
    (lambda x: (x @ x.T)[0, 0], (1, 5), ("matmul", "transpose", "sum")),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "shape", "ops"), FORMS, ids=[f"{k}: {f[2]}" for k, f in enumerate(FORMS)]
)
def test_other_ops_stand_for_those_that_a_target_lacks(
    function: Any, shape: tuple[int, ...], ops: tuple[str, ...]
) -> None:
    best = made_of(function, ops, T(shape, low=0.5, high=2.0))
    x = np.random.default_rng(0).uniform(0.5, 2.0, shape)
    np.testing.assert_allclose(best(x), function(x), rtol=1e-14)


def test_a_program_of_the_targets_ops_is_never_refused() -> None:
    """Zero has no form without `full`; the program does."""
    best = sat.optimize(lambda x: x * 0.0, T((3,)), target=sat.Target(ops=("mul",)))
    assert [n.op.name for n in best.program.nodes] == ["mul"]
    assert any(KEPT in note for note in best.report.notes)


@pytest.mark.parametrize("target", ["numpy", sat.Target(ops=("add", "full"))], ids=str)
def test_an_infinite_literal_is_a_number(target: Any) -> None:
    best = sat.optimize(lambda x: x + np.inf, T((3,)), target=target, check=False)
    assert np.isposinf(best(np.zeros(3))).all()


# least squares


def squared(z: Array, p: Array) -> Array:
    return np.mean((z @ p) ** 2)


def product_of_residuals(x: Array, w: Array) -> Array:
    return np.sum((x @ w) * (x @ w))


def of_residual(r: Array) -> Array:
    return np.mean(r**2)


def halved(x: Array, w: Array) -> Array:
    return 0.5 * np.sum(np.square(x @ w))


SQUARES: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "mean of squares": (squared, ((7, 3), (3,))),
    "augmented [X, y] @ [w, -1]": (squared, ((7, 4), (4,))),
    "columns": (squared, ((7, 3), (3, 2))),
    "one column": (squared, ((7, 3), (3, 1))),
    "batches": (squared, ((2, 7, 3), (2, 3, 5))),
    "one matrix for all": (squared, ((2, 7, 3), (3, 5))),
    "one row": (squared, ((1, 3), (3,))),
    "sum of products": (product_of_residuals, ((7, 3), (3,))),
    "half a sum": (halved, ((7, 3), (3,))),
    "the residual given": (of_residual, ((7,),)),
    "residuals given": (of_residual, ((7, 2),)),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SQUARES)
def test_least_squares_where_the_residual_is_one_product(name: str, dtype: str) -> None:
    """Value and all gradients of {full, matmul, mul, reshape}."""
    function, shapes = SQUARES[name]
    types = [T(shape, dtype) for shape in shapes]
    best = sat.optimize(function, *types, wrt=tuple(range(len(types))), target=sat.Target(ops=LINEAR))
    assert {n.op.name for n in best.program.nodes} <= set(LINEAR)
    assert "passed" in str(best.report.check)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.1, 1.0, shape).astype(dtype) for shape in shapes]
    for e, g in zip(evaluate(best.baseline, *arrays), evaluate(best.program, *arrays), strict=True):
        assert np.max(np.abs(g - e)) <= {"float32": 1e-5, "float64": 1e-13}[dtype] * np.mean(np.abs(e))


def residual_loss(w: Array, x: Array, y: Array) -> Array:
    r = x @ w - y
    return np.mean(r**2)


def test_the_derivative_program_of_least_squares_needs_no_sum() -> None:
    """Forward keeps the residual, and from it on the gradient is a product."""
    halves = split(sat.grad(residual_loss, T((3,)), T((7, 3)), T((7,)), wrt="w"))
    assert "r" in [i.name for i in halves.backward.inputs]
    best = made_of(halves.backward, LINEAR)
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=i.type.shape) for i in halves.backward.inputs]
    for e, g in zip(evaluate(halves.backward, *arrays), evaluate(best.program, *arrays), strict=True):
        np.testing.assert_allclose(g, e, rtol=1e-12)


@pytest.mark.parametrize("wrt", [None, "w", "x", "y"])
def test_a_residual_that_is_a_sum_has_no_form_of_products(wrt: Any) -> None:
    with pytest.raises(TargetError) as error:
        sat.optimize(residual_loss, T((3,)), T((7, 3)), T((7,)), wrt=wrt, target=sat.Target(ops=LINEAR))
    assert "'r' needs sub; the closest form found has r = " in str(error.value)
    assert str(error.value).endswith("'r' joins what grows as x·w to what grows as y")


# the proof


def grown(program: Program, arrays: list[Any], name: str) -> list[Any]:
    """Every value of the program with one input doubled."""
    outputs = tuple(node.value for node in program.nodes)
    every = Program(program.name, program.inputs, program.nodes, outputs)
    return run(every, [a * 2 if i.name == name else a for i, a in zip(every.inputs, arrays, strict=True)])


def powers(x: Array, w: Array) -> Array:
    r = (x @ w).reshape(1, 7)
    n = np.sqrt(np.square(r).sum(axis=1, keepdims=True))
    return np.broadcast_to(n, (7, 1)).T * r / 7.0 / n.mean() * np.einsum("ij,j->i", x, w).mean() ** 2


def test_values_grow_with_inputs_as_their_degrees_say() -> None:
    """Every element of every value, however the ops are composed."""
    ops = HOMOGENEOUS - {"constant", "eye", "flip", "slice"}
    assert ops <= OPS.keys()
    program = sat.trace(powers, T((7, 3)), T((3,)))
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.5, 1.0, i.type.shape) for i in program.inputs]
    found = degrees(program)
    known = 0
    for name in ("x", "w"):
        for node, a, b in zip(
            program.nodes, grown(program, arrays, ""), grown(program, arrays, name), strict=True
        ):
            degree = found[node.value]
            if degree is not None:
                known += 1
                np.testing.assert_allclose(b, a * 2.0 ** float(degree.get(name, 0)), rtol=1e-12)
    assert known > len(program.nodes)
