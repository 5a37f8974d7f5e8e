"""Under a target without reductions, broadcasts and division, search reaches programs of its few ops."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from golden_files import Golden
from pass_cases import BOUND, derivative, mean_program, samples

import saturate as sat
from saturate.ops import OPS
from saturate.passes import expand_mean_derivative_program, expand_mean_program
from saturate.passes.lowering import CONSTANT_AND_MATMUL, RecordingBackend, evaluated
from saturate.price import price_program
from saturate.program import Program
from saturate.runners.evaluate import evaluate

Array = Any
LINEAR = ("full", "matmul", "mul", "reshape")
SMOOTH = (*LINEAR, "add", "exp", "log", "reciprocal", "rsqrt")

SHAPES: list[tuple[int, ...]] = [(), (3,), (3, 5), (3, 1, 5), (2, 3, 5)]
WIDE = (2, 3, 5, 7)
CASES = [
    (shape, axes, keepdims)
    for shape in SHAPES
    for k in range(len(shape) + 1)
    for axes in combinations(range(len(shape)), k)
    for keepdims in (True, False)
] + [(WIDE, axes, False) for axes in ((1,), (0, 2), (1, 2), (1, 3), (0, 1, 3), (0, 1, 2, 3))]


def made_of(program: Program, ops: tuple[str, ...]) -> sat.Optimized:
    """The program optimized for a target of these ops, and asserted to hold no other."""
    best = sat.optimize(program, target=sat.Target(ops=ops), accuracy=None, check=False)
    assert {n.op.name for n in best.program.nodes} <= set(ops)
    return best


def assert_same(expected: Program, found: Program, arrays: list[Any], dtype: str, size: float = 1.0) -> None:
    """Results of one shape and dtype, as far apart as the bound in parts of their mean size allows."""
    for e, g in zip(evaluate(expected, *arrays), evaluate(found, *arrays), strict=True):
        assert (np.shape(g), np.asarray(g).dtype) == (np.shape(e), np.asarray(e).dtype)
        assert np.max(np.abs(g - e)) <= BOUND[dtype] * max(size, float(np.mean(np.abs(e))))


def by_passes(program: Program) -> Program:
    """Mean and derivative by the passes."""
    forward = expand_mean_program(program, strict=False)
    return expand_mean_derivative_program(forward, strict=False, reserved_id_prefix="eg")


# means and sums


@pytest.mark.parametrize(("shape", "axes", "keepdims"), CASES, ids=str)
def test_a_mean_and_its_gradient_over_any_axes(
    shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool
) -> None:
    """Of these ops, of the values that the passes give, and never dearer than what they give."""
    program = derivative(mean_program(shape, axes, keepdims, "float64"))
    best, passed = made_of(program, LINEAR), by_passes(program)
    arrays = samples(program)
    size = float(np.mean(np.abs(arrays[0])))
    assert_same(program, best.program, arrays, "float64", size)
    assert_same(passed, best.program, arrays, "float64", size)
    assert price_program(best.program).cost <= price_program(passed).cost
    backend = RecordingBackend("ones", CONSTANT_AND_MATMUL)
    backend.run(best.program, *arrays)
    assert len(backend.invocations) == len(best.program.nodes)


@pytest.mark.parametrize("shape", [(3, 5, 7), (31, 101, 53)], ids=str)
def test_several_means_of_one_operand(shape: tuple[int, int, int]) -> None:
    """Never dearer than the pass, which shares sums; where the operand is large it is read once a side."""

    def means(x: Array) -> tuple[Array, ...]:
        return tuple(x.mean(axis=axes) for axes in ((2,), (1, 2), (0, 1, 2), (0,)))

    program = sat.trace(means, sat.Type(shape))
    best = made_of(program, LINEAR)
    assert_same(program, best.program, samples(program), "float64")
    assert price_program(best.program).cost <= price_program(expand_mean_program(program, strict=False)).cost
    views = {best.program.inputs[0].value}
    views |= {n.value for n in best.program.nodes if n.op.name == "reshape" and set(n.operands) <= views}
    reads = [n for n in best.program.nodes if n.op.name == "matmul" and views & set(n.operands)]
    assert len(reads) == (2 if shape[0] == 31 else 4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)], ids=str)
def test_a_sum_and_its_gradient(axis: Any, dtype: str) -> None:
    program = sat.grad(lambda x: np.sum(x, axis=axis), sat.Type((2, 3, 5), dtype), wrt="x")
    best = made_of(program, LINEAR)
    assert_same(program, best.program, samples(program), dtype, 30.0)
    assert "sum" not in {n.op.name for n in best.program.nodes}


@pytest.mark.parametrize("keepdims", [True, False])
def test_the_pass_and_the_search_agree_in_float32(keepdims: bool) -> None:
    program = derivative(mean_program((509, 1021), (0, 1), keepdims, "float32"))
    best, passed = made_of(program, LINEAR), by_passes(program)
    arrays = samples(program)
    assert_same(passed, best.program, arrays, "float32", float(np.mean(np.abs(arrays[0]))))


def test_without_reshape_a_mean_that_keeps_its_rank_is_still_made() -> None:
    """The five nodes of the pass, but for the number, which stands in a constant."""
    program = derivative(mean_program((3, 5), (0, 1), True, "float64"))
    best = made_of(program, ("full", "matmul", "mul"))
    assert [n.op.name for n in best.program.nodes] == ["full", "matmul"] * 4
    assert_same(program, best.program, samples(program), "float64")


def test_without_mul_a_number_stands_in_a_constant() -> None:
    program = sat.trace(lambda x: x.sum(axis=1) * 0.1, sat.Type((3, 5)))
    best = made_of(program, ("full", "matmul", "reshape"))
    assert_same(program, best.program, samples(program), "float64")


# facts


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("d", [3, 15, 64, 100, 1000, 1024])
def test_a_quotient_as_a_product_is_within_one_unit_in_the_last_place(d: int, dtype: str) -> None:
    program = sat.trace(lambda x: x / float(d), sat.Type((1000,), dtype))
    best = made_of(program, ("mul",))
    assert [n.op.name for n in best.program.nodes] == ["mul"]
    (x,) = samples(program)
    (quotient,), (product,) = evaluate(program, x), evaluate(best.program, x)
    apart = np.abs(quotient.view(f"i{x.itemsize}") - product.view(f"i{x.itemsize}"))
    assert apart.max() == (0 if d in (64, 1024) else 1)


def test_copies_by_a_product_lose_the_sign_of_zero() -> None:
    program = sat.trace(lambda x: np.broadcast_to(x, (3, 5)), sat.Type((5,)))
    best = made_of(program, LINEAR)
    x = np.array([-0.0, 0.0, 1.5, np.inf, -np.inf])
    with np.errstate(invalid="ignore"):
        (expected,), (found,) = evaluate(program, x), evaluate(best.program, x)
    assert np.signbit(expected[:, 0]).all()
    assert not np.signbit(found[:, 0]).any()
    assert np.array_equal(expected[:, 1:], found[:, 1:])


# losses and layers


def least_squares(w: Array, x: Array, y: Array) -> Array:
    return np.mean((x @ w - y) ** 2)


def homogeneous(z: Array, a: Array) -> Array:
    return np.mean((a @ z) ** 2)


def cross_entropy(x: Array, t: Array, m: Array) -> Array:
    z = x - m
    logp = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return -np.mean(np.sum(t * logp, axis=-1))


def softmax(x: Array, m: Array) -> Array:
    e = np.exp(x - m)
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x: Array, w: Array, b: Array) -> Array:
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    return (x - mu) / np.sqrt(var + 1e-5) * w + b


LOSSES: dict[str, tuple[Any, tuple[tuple[int, ...], ...], str, tuple[str, ...]]] = {
    "least squares": (least_squares, ((3,), (7, 3), (7,)), "w", (*LINEAR, "add")),
    "least squares of a matrix": (least_squares, ((3, 2), (7, 3), (7, 2)), "w", (*LINEAR, "add")),
    "homogeneous least squares": (homogeneous, ((3,), (7, 3)), "z", LINEAR),
    "homogeneous least squares of a matrix": (homogeneous, ((3, 2), (7, 3)), "z", LINEAR),
    "cross-entropy": (cross_entropy, ((5, 7), (5, 7), (5, 1)), "x", SMOOTH),
    "softmax": (softmax, ((5, 7), (5, 1)), "x", SMOOTH),
    "layer norm": (layer_norm, ((5, 7), (7,), (7,)), "x w b", SMOOTH),
}


def joint(name: str, dtype: str) -> tuple[Program, tuple[str, ...]]:
    function, shapes, wrt, ops = LOSSES[name]
    types = tuple(sat.Type(shape, dtype) for shape in shapes)
    return sat.grad(function, *types, wrt=tuple(wrt.split())), ops


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses_and_layers_with_their_gradients(name: str, dtype: str) -> None:
    """Accurate by the optimizer's own measure, checked, and run by a backend that has these ops alone."""
    program, ops = joint(name, dtype)
    best = sat.optimize(program, target=sat.Target(ops=ops))
    assert best.report.check is not None
    assert "passed" in str(best.report.check)
    assert {n.op.name for n in best.program.nodes} <= set(ops)
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(0.1, 1.0, i.type.shape).astype(i.type.dtype) for i in program.inputs]
    backend = RecordingBackend("few", {OPS[op]: evaluated for op in ops})
    for e, g in zip(evaluate(program, *arrays), backend.run(best.program, *arrays), strict=True):
        scale = float(np.mean(np.abs(e)))
        assert np.max(np.abs(g - e)) <= {"float32": 2e-5, "float64": 1e-13}[dtype] * scale


def test_costs_of_the_baseline_of_the_passes_and_of_the_search(golden: Golden) -> None:
    """In µs by the cost model: what the program costs as traced, and made of few ops by passes, by search."""
    lines = [f"{'':42}{'as traced':>9}{'passes':>9}{'search':>9}"]
    for shape in ((3, 5), (64, 64), (512, 512), (2048, 2048)):
        for keepdims in (True, False):
            program = derivative(mean_program(shape, (0, 1), keepdims, "float32"))
            name = f"mean of {shape[0]} x {shape[1]}, keepdims={keepdims}"
            lines.append(costs(name, program, by_passes(program), made_of(program, LINEAR).program))
    for name in LOSSES:
        program, ops = joint(name, "float32")
        lines.append(costs(name, program, None, made_of(program, ops).program))
    golden.check("\n".join(lines))


def costs(name: str, *programs: Program | None) -> str:
    figures = ("" if p is None else f"{price_program(p).cost / 1000:.1f}" for p in programs)
    return f"{name:42}" + "".join(f"{figure:>9}" for figure in figures)
