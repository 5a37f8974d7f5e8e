"""Found, not coded: products that are never formed, scales on the narrow side, chains, models and
normalisations.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from optimized import TOLERANCE, called, elementwise, fresh, off, ops, passes, reference
from ortools.sat.python import cp_model
from workloads import (
    attention,
    chain,
    diagonal_of_product,
    layer_norm,
    logistic_regression,
    logistic_regression_stable,
    mlp_relu,
    mlp_tanh,
    ridge,
    rms_norm,
    row_scale_then_narrow,
    sum_of_product,
    trace_of_product,
)

import saturate as sat
from saturate.extract.costs import COSTS, Pass, Profile
from saturate.price import price_program
from saturate.program import Program

Array = Any
every_dtype = pytest.mark.parametrize("dtype", ["float32", "float64"])


def found(f: Callable[..., Any], *shapes: tuple[int, ...], wrt: Any, dtype: str = "float32") -> sat.Optimized:
    best = sat.optimize(f, *(sat.Type(s, dtype) for s in shapes), wrt=wrt, check=False)
    arrays = fresh(best.baseline, 1)
    results = called(best, arrays) if wrt else [best(*arrays)]
    for result, true in zip(results, reference(best.baseline, arrays), strict=True):
        assert off(result, true) <= TOLERANCE[dtype]
    return best


def matmul_flops(program: Program) -> float:
    """Floating point operations of the products of matrices."""
    return sum(p.step.flops for p in price_program(program).nodes if type(p.node.op).__name__ == "Matmul")


def shapes(program: Program) -> set[tuple[int, ...]]:
    """Shapes of what is computed, without views and axes of size one, sorted."""
    free = {"Broadcast", "Full", "Constant", "Eye"}
    return {
        tuple(sorted(d for d in n.type.shape if d != 1))
        for n in program.nodes
        if not n.op.view and type(n.op).__name__ not in free
    }


# Products of which little is wanted.

SUMS: list[tuple[str, Callable[[Array, Array], Array]]] = [
    ("np.sum", sum_of_product),
    ("sum of sums", lambda a, b: (a @ b).sum(axis=0).sum()),
    ("mean", lambda a, b: (a @ b).mean()),
    ("einsum", lambda a, b: np.einsum("ij,jk->", a, b)),
    ("scaled", lambda a, b: np.sum(2.5 * (a @ b)) / 3),
    ("of three", lambda a, b: np.sum(np.tanh(a) @ b)),
]


@every_dtype
@pytest.mark.parametrize(("name", "f"), SUMS, ids=[n for n, _ in SUMS])
def test_the_sum_of_a_product_forms_no_product(name: str, f: Callable[..., Any], dtype: str) -> None:
    best = found(f, (53, 71), (71, 31), wrt=("a", "b"), dtype=dtype)
    assert (31, 53) not in shapes(best.program)
    assert ops(best.program)["Matmul"] == 0
    assert passes(best.program) <= {"np.sum": 3, "of three": 7}.get(name, 5)
    assert price_program(best.program).flops <= 25 * (53 * 71 + 71 * 31)


@every_dtype
def test_the_row_sums_of_a_product_form_no_product(dtype: str) -> None:
    best = found(lambda a, b: (a @ b).sum(axis=1), (53, 71), (71, 31), wrt=("a", "b"), dtype=dtype)
    assert (31, 53) not in shapes(best.program)
    assert price_program(best.program).flops <= 8 * (53 * 71 + 71 * 31)


TRACES: list[tuple[str, Callable[[Array, Array], Array]]] = [
    ("np.trace", trace_of_product),
    ("sum of the diagonal", lambda a, b: np.sum(np.diag(a @ b))),
    ("einsum", lambda a, b: np.einsum("ij,ji->", a, b)),
    ("sum of products", lambda a, b: np.sum(a * b.T)),
]


@every_dtype
@pytest.mark.parametrize("shape", [(53, 71), (61, 61)], ids=str)
@pytest.mark.parametrize(("name", "f"), TRACES, ids=[n for n, _ in TRACES])
def test_the_trace_of_a_product_is_one_pass_and_its_gradients_are_views(
    name: str, f: Callable[..., Any], shape: tuple[int, int], dtype: str
) -> None:
    best = found(f, shape, shape[::-1], wrt=("a", "b"), dtype=dtype)
    assert ops(best.program)["Matmul"] == 0
    assert passes(best.program) == 1
    assert price_program(best.program).flops == 2 * prod(shape)


@every_dtype
@pytest.mark.parametrize(
    "f", [diagonal_of_product, lambda a, b: (a @ b).diagonal()], ids=["diag", "diagonal"]
)
def test_the_diagonal_of_a_product_forms_no_product(f: Callable[..., Any], dtype: str) -> None:
    best = found(f, (53, 71), (71, 53), wrt=("a", "b"), dtype=dtype)
    assert ops(best.program)["Matmul"] == 0
    assert (53, 53) not in shapes(best.program)
    assert passes(best.program) == 3


@pytest.mark.parametrize(
    ("n", "m", "k", "dtype"), [(31, 37, 3, "float32"), (251, 127, 7, "float64"), (67, 67, 5, "float32")]
)
def test_a_row_scale_moves_behind_a_narrow_product(n: int, m: int, k: int, dtype: str) -> None:
    best = found(row_scale_then_narrow, (n, m), (n,), (m, k), wrt=("x", "s", "w"), dtype=dtype)
    assert elementwise(best.program, (n, m)) == []
    assert passes(best.program) == 6
    value = found(row_scale_then_narrow, (n, m), (n,), (m, k), wrt=None, dtype=dtype)
    assert [type(x.op).__name__ for x in value.program.nodes if not x.op.view] == ["Matmul", "Mul"]


def test_a_column_scale_moves_into_a_narrow_operand() -> None:
    best = found(lambda x, s, w: (x * s) @ w, (211, 127), (127,), (127, 3), wrt=None)
    assert elementwise(best.program, (127, 211)) == []
    assert elementwise(best.program, (3, 127)) == ["Mul"]


# Chains.


def matmul_cost(m: int, k: int, n: int, itemsize: int) -> float:
    return float(
        COSTS["roofline"](Pass("dot", m * n, m * k + k * n, itemsize, 2.0 * m * k * n, 1), Profile())
    )


def dynamic_program(sizes: tuple[int, ...]) -> float:
    """Fewest flops of a chain of matrices (Cormen et al., section 14.2)."""

    @cache
    def best(i: int, j: int) -> float:
        if j == i + 1:
            return 0.0
        return min(best(i, k) + best(k, j) + 2.0 * sizes[i] * sizes[k] * sizes[j] for k in range(i + 1, j))

    return best(0, len(sizes) - 1)


def shared_optimum(sizes: tuple[int, ...], itemsize: int) -> float:
    """Least price of a chain and all its gradients, where each product of neighbours is paid once.

    With the cotangent as one matrix more the chain is a ring; value and gradients are its arcs of all
    matrices but one, and an arc is made of two shorter ones.
    """
    count = len(sizes)
    model = cp_model.CpModel()
    arcs = [(i, n) for n in range(1, count) for i in range(count)]
    wanted = {arc: model.new_bool_var(f"wanted{arc}") for arc in arcs}
    prices: list[Any] = []
    for i, n in arcs[count:]:
        ways: list[Any] = []
        for left in range(1, n):
            way = model.new_bool_var(f"way{i},{n},{left}")
            model.add_implication(way, wanted[i, left])
            model.add_implication(way, wanted[(i + left) % count, n - left])
            m, k, o = sizes[i], sizes[(i + left) % count], sizes[(i + n) % count]
            prices.append(round(1000 * matmul_cost(m, k, o, itemsize)) * way)
            ways.append(way)
        model.add(sum(ways) == wanted[i, n])
    for i in range(count):
        model.add(wanted[i, count - 1] == 1)
    model.minimize(sum(prices))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    assert solver.solve(model) == cp_model.OPTIMAL
    return float(solver.objective_value) / 1000


CHAINS = [
    (83, 7, 79, 11),
    (7, 83, 5, 79),
    (61, 3, 89, 5, 73),
    (5, 97, 89, 83, 3),
    (31, 37, 13, 5, 11, 23),
    (211, 7, 199, 5, 193, 3, 181),
    (30, 35, 15, 5, 10, 20, 25),
]


def product_of(count: int) -> Callable[..., Any]:
    """A chain of `count` arguments with names of their own."""
    names = "abcdef"[:count]
    scope: dict[str, Any] = {"chain": chain}
    exec(f"def f({', '.join(names)}):\n    return chain({', '.join(names)})", scope)
    f: Callable[..., Any] = scope["f"]
    return f


@every_dtype
@pytest.mark.parametrize("sizes", CHAINS, ids=str)
def test_a_chain_is_multiplied_in_the_best_order(sizes: tuple[int, ...], dtype: str) -> None:
    pairs = tuple(pairwise(sizes))
    best = found(product_of(len(pairs)), *pairs, wrt=None, dtype=dtype)
    assert matmul_flops(best.program) == dynamic_program(sizes)
    assert set(ops(best.program)) <= {"Matmul", "Transpose"}


@pytest.mark.parametrize("sizes", CHAINS, ids=str)
def test_a_chain_and_its_gradients_share_the_best_products(sizes: tuple[int, ...]) -> None:
    pairs = tuple(pairwise(sizes))
    best = found(product_of(len(pairs)), *pairs, wrt=tuple("abcdef"[: len(pairs)]))
    assert set(ops(best.program)) <= {"Matmul", "Transpose"}
    assert price_program(best.program).cost == pytest.approx(shared_optimum(sizes, 4), rel=1e-6)
    assert best.report.after.cost <= best.report.before.cost


# Attention.


def test_attention_comes_out_as_it_is_published() -> None:
    queries, keys, depth, width = 251, 257, 61, 67
    best = found(attention, (queries, depth), (keys, depth), (keys, width), wrt=("q", "k", "v"))
    assert_the_published_backward(best.program, (queries, keys), (queries, width))
    wide = elementwise(best.program, (queries, keys))
    assert sorted(wide) == [
        "Exp",
        "Mul",
        "Sub",
        "Sub",
    ]  # the normalisation is deferred: nothing wide is divided
    assert passes(best.program) <= 17


def test_attention_on_short_sequences() -> None:
    best = found(attention, (61, 31), (59, 31), (59, 37), wrt=("q", "k", "v"))
    assert_the_published_backward(best.program, (61, 59), (61, 37))
    assert sorted(elementwise(best.program, (59, 61))) in (
        ["Exp", "Mul", "Sub", "Sub"],
        ["Div", "Exp", "Mul", "Sub", "Sub"],
    )
    assert passes(best.program) <= 16


@pytest.mark.parametrize("seed", range(2))
def test_attention_with_arrays_as_examples(seed: int) -> None:
    """What mixes offsets and scales once barred all that the search found."""
    rng = np.random.default_rng(seed)
    q, k, v = (rng.normal(size=size).astype("float32") for size in ((512, 64), (256, 64), (256, 64)))
    best = sat.optimize(attention, q, k, v, wrt=("q", "k", "v"), check=False)
    assert_the_published_backward(best.program, (512, 256), (512, 64))
    assert best.report.ratio > 1.3


def assert_the_published_backward(program: Program, wide: tuple[int, int], out: tuple[int, int]) -> None:
    """No adjoint of the maximum, D from the output and its gradient, no scale on what is wide."""
    kinds = ops(program)
    assert not set(kinds) & {"Equal", "Cast", "Where", "Argmax", "Take"}
    assert (kinds["Max"], kinds["Exp"], kinds["Matmul"]) == (1, 1, 6)
    types = program.types
    reduced = [
        tuple(sorted(types[n.operands[0]].shape))
        for n in program.nodes
        if type(n.op).__name__ in ("Sum", "VecDot", "Einsum")
    ]
    assert sorted(reduced) == sorted([tuple(sorted(wide)), tuple(sorted(out))])
    for n in program.nodes:
        if sorted(n.type.shape) == sorted(wide) and type(n.op).__name__ in ("Mul", "Div"):
            assert len(n.operands) == 2, f"{n.id} scales what is wide by a number"


# Models and normalisations.


@every_dtype
@pytest.mark.parametrize(("f", "most"), [(mlp_tanh, 17), (mlp_relu, 19)], ids=["tanh", "relu"])
def test_an_mlp_scales_the_residual_once(f: Callable[..., Any], most: int, dtype: str) -> None:
    sizes = ((5, 7), (7,), (7, 3), (3,), (11, 5), (11, 3))
    best = found(f, *sizes, wrt=("w1", "b1", "w2", "b2"), dtype=dtype)
    assert passes(best.program) <= most
    assert ops(best.program)["Matmul"] == 5
    assert ops(best.program)["Tanh"] == (f is mlp_tanh)


@every_dtype
@pytest.mark.parametrize(
    ("f", "most"), [(logistic_regression, 18), (logistic_regression_stable, 13)], ids=["naive", "stable"]
)
def test_logistic_regression(f: Callable[..., Any], most: int, dtype: str) -> None:
    types = (sat.Type((67,), dtype), sat.Type((), dtype), sat.Type((211, 67), dtype))
    best = sat.optimize(f, *types, sat.Type((211,), dtype, low=0.0, high=1.0), wrt=("w", "b"))
    assert passes(best.program) <= most
    assert ops(best.program)["Exp"] == 1
    x = [n for n in best.program.nodes if type(n.op).__name__ == "Matmul"]
    assert len(x) == 2  # one product with the data forward, one backward


def test_ridge() -> None:
    best = found(ridge, (67,), (211, 67), (211,), wrt=("w",))
    assert passes(best.program) <= 11
    assert ops(best.program)["Matmul"] == 2
    assert elementwise(best.program, (67, 211)) == []


def test_layer_norm_reads_its_rows_for_two_sums_backward() -> None:
    best = found(layer_norm, (127, 251), (251,), (251,), wrt=("x",))
    kinds = ops(best.program)
    assert kinds["Sum"] + kinds["VecDot"] + kinds["Einsum"] + kinds["Matmul"] + kinds["Mean"] == 4
    assert len(elementwise(best.program, (127, 251))) <= 8
    assert passes(best.program) <= 20


@every_dtype
def test_layer_norm_with_its_weights(dtype: str) -> None:
    best = found(layer_norm, (5, 7), (7,), (7,), wrt=("x", "w", "b"), dtype=dtype)
    assert passes(best.program) <= 21
    assert ops(best.program)["Sqrt"] == 1


def test_rms_norm_reads_its_rows_for_one_sum_backward() -> None:
    best = found(rms_norm, (127, 251), (251,), wrt=("x",))
    kinds = ops(best.program)
    assert kinds["Sum"] + kinds["VecDot"] + kinds["Einsum"] + kinds["Matmul"] + kinds["Mean"] == 2
    assert len(elementwise(best.program, (127, 251))) <= 5
    assert passes(best.program) <= 14
