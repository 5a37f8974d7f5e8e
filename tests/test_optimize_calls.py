"""What `optimize` returns is called: nested arguments, cotangents, bare programs, wrong arguments by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from optimized import TREES, fresh, off
from running import assert_same_bits
from workloads import softmax, sum_of_product

import saturate as sat
from saturate.errors import ArgumentError, DifferentiationError, SaturateError
from saturate.runners.evaluate import evaluate

Array = Any


def network(params: dict[str, Any], x: Array, target: tuple[Array, list[Array]]) -> Array:
    for layer in params["layers"]:
        x = np.tanh(x @ layer["w"] + layer["b"])
    y, (weight,) = target
    return np.sum(weight * (x * params["scale"][0] - y) ** 2)


def example(kind: Callable[..., Any]) -> tuple[Any, ...]:
    layers = [{"w": kind((7, 3)), "b": kind((3,))}, {"w": kind((3, 2)), "b": kind((2,))}]
    params = {"layers": layers, "scale": (kind(()),)}
    return params, kind((5, 7)), (kind((5, 2)), [kind((5, 1))])


def drawn(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return example(lambda shape: np.asarray(rng.standard_normal(shape)))


@pytest.fixture(scope="module")
def nested() -> sat.Optimized:
    return sat.optimize(network, *example(sat.Type), wrt=("params", "target", "x"))


def test_gradients_come_in_the_structure_of_wrt_and_of_the_arguments(nested: sat.Optimized) -> None:
    params, x, target = drawn(1)
    value, gradients = nested(params, x, target)
    assert off(value, network(params, x, target)) < 1e-12
    assert TREES.tree_structure(gradients) == TREES.tree_structure((params, target, x))
    for found, given in zip(*map(TREES.tree_leaves, (gradients, (params, target, x))), strict=True):
        assert found.shape == given.shape
    h, step = 1e-6, drawn(2)
    ends = [network(*TREES.tree_map(lambda a, d, t=t: a + t * d, drawn(1), step)) for t in (h, -h)]
    slope = sum(
        np.sum(g * d)
        for g, d in zip(
            TREES.tree_leaves(gradients), TREES.tree_leaves((step[0], step[2], step[1])), strict=True
        )
    )
    assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-6)


def test_forward_and_backward_keep_the_structure(nested: sat.Optimized) -> None:
    value, residuals = nested.forward(*drawn(3))
    whole, gradients = nested(*drawn(3))
    assert_same_bits([value], [whole])
    again = nested.backward(residuals)
    assert TREES.tree_structure(again) == TREES.tree_structure(gradients)
    assert_same_bits(TREES.tree_leaves(again), TREES.tree_leaves(gradients))


WRT: list[tuple[Any, Any]] = [
    ("params", "params"),
    (0, "params"),
    (-2, "x"),
    (("x",), ("x",)),
    (["x", ("params",)], ["x", ("params",)]),
    ((1, "target"), ("x", "target")),
]


@pytest.mark.parametrize(("wrt", "names"), WRT, ids=str)
def test_wrt_names_or_counts_arguments_in_any_nesting(wrt: Any, names: Any, nested: sat.Optimized) -> None:
    best = sat.optimize(network, *example(sat.Type), wrt=wrt, check=False, exact="bitwise")
    _, gradients = best(*drawn(4))
    _, (params, target, x) = nested(*drawn(4))
    known = {"params": params, "target": target, "x": x}
    expected = _filled(names, known)
    assert TREES.tree_structure(gradients) == TREES.tree_structure(expected)
    for a, b in zip(TREES.tree_leaves(gradients), TREES.tree_leaves(expected), strict=True):
        assert off(a, b) < 1e-12


def _filled(names: Any, known: dict[str, Any]) -> Any:
    return known[names] if isinstance(names, str) else type(names)(_filled(n, known) for n in names)


def test_results_keep_the_structure_of_the_function() -> None:
    best = sat.optimize(lambda x: {"a": x + 1, "b": [np.exp(x), (x * 2,)]}, sat.Type((3, 5)))
    x = fresh(best.baseline, 0)[0]
    found = best(x)
    assert TREES.tree_structure(found) == TREES.tree_structure({"a": 0, "b": [0, (0,)]})
    np.testing.assert_allclose(found["b"][0], np.exp(x), rtol=1e-15)
    assert sat.optimize(lambda x: {"loss": np.sum(x * x)}, sat.Type((3,)), wrt="x")(np.ones(3))[0] == {
        "loss": 3.0
    }


@pytest.fixture(scope="module")
def best() -> sat.Optimized:
    return sat.optimize(softmax, sat.Type((5, 7), "float32"), wrt="x")


def test_arguments_go_by_name_too(best: sat.Optimized) -> None:
    x, g = fresh(best.baseline, 0)
    assert_same_bits(best(x=x, cotangent=g), best(x, cotangent=g))
    assert_same_bits([best.forward(x=x)[0]], [best.forward(x)[0]])


def test_the_cotangent_is_linear(best: sat.Optimized) -> None:
    x, g = fresh(best.baseline, 1)
    _, one = best(x, cotangent=g)
    _, four = best(x, cotangent=4 * g)
    assert_same_bits([4 * one], [four])
    _, none = best(x, cotangent=np.zeros_like(g))
    np.testing.assert_array_equal(np.abs(none), np.zeros((5, 7)))


def test_an_argument_may_be_called_cotangent_where_no_gradient_is_asked_for() -> None:
    def f(x: Array, cotangent: Array) -> Array:
        return x * cotangent

    best = sat.optimize(f, sat.Type((3,)), sat.Type((3,)))
    for found in (best(np.ones(3), np.full(3, 2.0)), best(np.ones(3), cotangent=np.full(3, 2.0))):
        np.testing.assert_array_equal(found, [2.0, 2.0, 2.0])


# Programs in place of functions.


def test_a_program_is_optimized_as_the_function_that_it_was_traced_from(best: sat.Optimized) -> None:
    program = sat.trace(softmax, sat.Type((5, 7), "float32"))
    again = sat.optimize(program, wrt="x", check=False)
    assert str(again.program) == str(best.program)
    x, g = fresh(best.baseline, 2)
    assert_same_bits(again(x, cotangent=g), best(x, cotangent=g))
    assert_same_bits([again.backward(again.forward(x)[1], g)], [best(x, cotangent=g)[1]])


def test_a_joint_program_takes_its_cotangent_by_position_or_by_name(best: sat.Optimized) -> None:
    joint = sat.grad(softmax, sat.Type((5, 7), "float32"), wrt="x")
    again = sat.optimize(joint, check=False)
    assert str(again.program) == str(best.program)
    x, g = fresh(best.baseline, 3)
    value, (dx,) = again(x, g)
    assert_same_bits([value, dx], best(x, cotangent=g))
    assert_same_bits([value, dx], [again(x, cotangent=g)[0], *again(x, cotangent=g)[1]])
    kept = again.forward(x)
    assert_same_bits([kept[0], *again.backward(kept[1], g)], [value, dx])


def test_examples_of_a_program_are_of_its_types() -> None:
    program = sat.trace(softmax, sat.Type((5, 7), "float32"))
    x = np.ones((5, 7), "float32")
    assert sat.optimize(program, x, check=False)(x).shape == (5, 7)
    for wrong, came in (
        (x.T, "float32[7, 5]"),
        (x.astype("float64"), "float64[5, 7]"),
        (sat.Type((7, 5)), "float64[7, 5]"),
        ("x", "'x'"),
    ):
        with pytest.raises(ArgumentError) as error:
            sat.optimize(program, wrong)
        assert str(error.value) == f"softmax needs an example of x of type float32[5, 7], got {came}"


# Wrong arguments at a call.

X, G = np.ones((5, 7), "float32"), np.ones((5, 7), "float32")
NEEDS = "softmax needs the arguments (x), each once; got {} by position and by name ({}): {}"
SHAPE = "needs {} of shape (5, 7), got (7, 5); optimize again for other shapes"
CALLS: list[tuple[str, Callable[[sat.Optimized], Any], str]] = [
    ("none", lambda b: b(), NEEDS.format(0, "", "x missing")),
    ("two", lambda b: b(X, X), NEEDS.format(2, "", "too many")),
    ("twice", lambda b: b(X, x=X), NEEDS.format(1, "x", "x unknown or twice")),
    ("unknown", lambda b: b(y=X), NEEDS.format(0, "y", "x missing")),
    ("shape", lambda b: b(X.T, cotangent=G), "softmax " + SHAPE.format("x")),
    ("cotangent's shape", lambda b: b(X, cotangent=G.T), "softmax " + SHAPE.format("cotangent")),
    ("backward", lambda b: b.backward(b.forward(X)[1], G.T), "softmax_backward " + SHAPE.format("cotangent")),
    (
        "dtype",
        lambda b: b(X.astype("float64"), cotangent=G),
        "softmax needs x of dtype float32, got float64; pass x.astype('float32')",
    ),
    (
        "no cotangent",
        lambda b: b(X),
        "softmax needs the cotangent of its value, an array float32[5, 7]: pass cotangent=…",
    ),
    (
        "number",
        lambda b: b(X, cotangent=1.0),
        "softmax needs cotangent as an array of float32[5, 7], got float; "
        "pass np.asarray(cotangent, dtype='float32')",
    ),
    (
        "residuals",
        lambda b: b.backward((), G),
        "backward needs the 1 residuals that forward returned, got 0",
    ),
    (
        "backward without a cotangent",
        lambda b: b.backward(b.forward(X)[1]),
        "softmax needs the cotangent of its value, an array float32[5, 7]: pass cotangent=…",
    ),
    (
        "list",
        lambda b: b([1.0, 2.0], cotangent=G),
        "softmax needs x structured like its example, an array or number; got [*, *]",
    ),
]


@pytest.mark.parametrize(("call", "message"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_a_wrong_argument_is_named(
    call: Callable[[sat.Optimized], Any], message: str, best: sat.Optimized
) -> None:
    with pytest.raises(ArgumentError) as error:
        call(best)
    assert str(error.value) == message
    assert error.value.code == "argument"


def test_another_structure_is_shown(nested: sat.Optimized) -> None:
    params, x, target = drawn(0)
    with pytest.raises(ArgumentError, match=r"network needs params structured like its example, .*'more'"):
        nested({**params, "more": x}, x, target)
    with pytest.raises(ArgumentError) as error:
        nested({**params, "scale": (x,)}, x, target)
    assert str(error.value) == (
        "network needs params.scale[0] of shape (), got (5, 7); optimize again for other shapes"
    )


def test_a_python_number_is_part_of_the_program() -> None:
    best = sat.optimize(lambda x, k: x * k, sat.Type((3,)), 3.0)
    np.testing.assert_array_equal(best(np.ones(3), 3.0), [3.0, 3.0, 3.0])
    for other in (4.0, 3):
        with pytest.raises(ArgumentError) as error:
            best(np.ones(3), other)
        assert str(error.value) == (
            f"f was optimized for the value 3.0, got {other!r}: optimize again, or pass an array of no axes "
            "as the example to leave it open"
        )


def test_what_has_no_gradient_says_so() -> None:
    value = sat.optimize(softmax, sat.Type((5, 7), "float32"), check=False)
    scalar = sat.optimize(sum_of_product, sat.Type((3, 5)), sat.Type((5, 2)), wrt="a", check=False)
    needs = "needs gradients, and none were asked for: pass wrt= to optimize"
    for name, call in (("forward", lambda: value.forward(X)), ("backward", lambda: value.backward((), 1.0))):
        with pytest.raises(ArgumentError) as error:
            call()
        assert str(error.value) == f"{name} {needs}"
    for call in (
        lambda: value(X, cotangent=G),
        lambda: scalar(np.ones((3, 5)), np.ones((5, 2)), cotangent=2.0),
    ):
        with pytest.raises(
            ArgumentError, match=r"takes no cotangent: its value is a scalar, or no gradient was"
        ):
            call()


# Wrong arguments of optimize itself.

T = sat.Type((5, 7), "float32")
OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"target": "gpu"}, "optimize needs target to be one of numpy, cupy; got 'gpu'"),
    ({"exact": "loose"}, "optimize needs exact to be one of bitwise, rounding, domain, bounded; got 'loose'"),
    ({"extractor": "best"}, "optimize needs extractor to be one of tree, greedy, exact, auto; got 'best'"),
    ({"memory": 3}, "optimize takes only memory=None for now, got 3: leave it out"),
    ({"accuracy": 0.5}, "optimize needs accuracy of at least 1, or None to turn it off; got 0.5"),
    ({"accuracy": "high"}, "optimize needs accuracy of at least 1, or None to turn it off; got 'high'"),
    ({"limits": 5}, "optimize needs limits as Limits(seconds, nodes, rounds, workers), got 5"),
    ({"seed": -1}, "optimize needs seed as a whole number from 0 on, got -1"),
    ({"rules": [1]}, "rules needs laws declared with @law, got 1"),
    ({"rules": 3}, "rules needs a list of laws, such as [*CATALOGUE, mine], got 3"),
    ({"samples": []}, "samples needs a list of at least one tuple of arguments, got []"),
    ({"samples": [3]}, "samples needs a list of at least one tuple of arguments, got [3]"),
    ({"samples": [(np.ones((7, 5)),)]}, "samples need x of shape (5, 7), got (7, 5)"),
    ({"wrt": "y"}, "wrt needs names or positions of arguments (x), got 'y'"),
    ({"wrt": 1}, "wrt needs names or positions of arguments (x), got 1"),
    ({"wrt": True}, "wrt needs names or positions of arguments (x), got True"),
    ({"wrt": ()}, "wrt needs at least one argument, got none: name one, or pass None for the value alone"),
]


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=[str(o) for o, _ in OPTIONS])
def test_a_wrong_option_is_named_with_what_would_do(options: dict[str, Any], message: str) -> None:
    wrong: dict[str, Any] = {"wrt": "x", **options}
    with pytest.raises(ArgumentError) as error:
        sat.optimize(softmax, T, **wrong)
    assert str(error.value) == message


INTEGERS = sat.Type((5, 7), "int64")
FUNCTIONS: list[tuple[Callable[[], Any], type[SaturateError], str]] = [
    (
        lambda: sat.optimize(lambda x: (x, x), T, wrt="x"),
        ArgumentError,
        "gradients need a function with one result, and f returns 2: return the one to differentiate",
    ),
    (
        lambda: sat.optimize(lambda x: np.argmax(x), T, wrt="x"),
        DifferentiationError,
        "a gradient needs a floating output, got output 0 of type int64[]; cast it in the function",
    ),
    (
        lambda: sat.optimize(lambda x, i: np.sum(x * i), T, INTEGERS, wrt="i"),
        DifferentiationError,
        "a gradient needs a floating input, got 'i' of type int64[5, 7]; "
        "make it float64 or leave it out of wrt",
    ),
    (
        lambda: sat.optimize(lambda x, k: x * k, T, 3.0, wrt="k"),
        ArgumentError,
        "wrt names 'k', which holds a Python number: pass an array to differentiate",
    ),
    (
        lambda: sat.optimize(lambda x, cotangent: np.sum(x * cotangent), T, T, wrt="x"),
        ArgumentError,
        "f has an argument named 'cotangent', which is taken: rename it",
    ),
    (
        lambda: sat.optimize(sat.grad(softmax, T, wrt="x"), wrt="x"),
        ArgumentError,
        "softmax has gradients already: pass wrt=None, or a program without them",
    ),
    (
        lambda: sat.grad(softmax, T, wrt=None),
        ArgumentError,
        "grad needs wrt, the names or positions of arguments to differentiate by; got None",
    ),
    (lambda: sat.grad(softmax, T, wrt="x", output=1), ArgumentError, "grad needs output from 0 to 0, got 1"),
]


@pytest.mark.parametrize(("call", "kind", "message"), FUNCTIONS, ids=[m[:40] for _, _, m in FUNCTIONS])
def test_a_function_that_does_not_fit_is_named(
    call: Callable[[], Any], kind: type[SaturateError], message: str
) -> None:
    with pytest.raises(kind) as error:
        call()
    assert str(error.value) == message


def test_an_unused_argument_has_a_gradient_of_zeros() -> None:
    best = sat.optimize(lambda x, y: np.sum(np.exp(x)), sat.Type((3,)), sat.Type((2, 5)), wrt=("x", "y"))
    _, (dx, dy) = best(np.zeros(3), np.ones((2, 5)))
    np.testing.assert_array_equal(dx, [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(dy, np.zeros((2, 5)))


def test_captured_arrays_are_copied_when_traced() -> None:
    captured = np.arange(6.0).reshape(2, 3)
    best = sat.optimize(lambda x: np.sum(x @ captured), sat.Type((5, 2)), wrt="x")
    expected = evaluate(best.baseline, np.ones((5, 2)))
    captured[:] = 0
    value, gradient = best(np.ones((5, 2)))
    assert_same_bits([value, gradient], expected)
