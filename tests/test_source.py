from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from golden_files import Golden
from running import JOINT, JOINT_IDS, arguments, assert_same_bits, by_source, emitted, joint
from workloads import WORKLOADS

from saturate.autodiff import gradient_program
from saturate.build import Builder, Value
from saturate.errors import ArgumentError
from saturate.op import Array, Type
from saturate.ops.arithmetic import add, div, mul, neg, sub
from saturate.ops.binary import less, maximum, power
from saturate.ops.constants import Constant, Full
from saturate.ops.contraction import matmul
from saturate.ops.indexing import scatter_add
from saturate.ops.reduction import max
from saturate.ops.select import where
from saturate.ops.spreading import broadcast, reshape
from saturate.ops.structure import slice, transpose
from saturate.ops.unary import erf, exp, tanh
from saturate.program import Program
from saturate.runners import NumpyRunner
from saturate.runners.names import RESERVED, identifiers
from saturate.source import source
from saturate.text import save_constants
from saturate.trace import trace

SHOWN = ["attention-numpy", "attention-cupy", "softmax-numpy", "cross_entropy-numpy"]


def of(name: str) -> Program:
    return joint(next(load for load in WORKLOADS if load.name == name))


def one(made: Value, *others: Value) -> Program:
    return made.builder.program("f", (made.id, *(v.id for v in others)))


def line(*made: Value) -> str:
    """The statements of a program without gradients, its last one or two lines before the return."""
    body = ast.parse(source(one(*made))).body[-1]
    assert isinstance(body, ast.FunctionDef)
    return "; ".join(ast.unparse(s) for s in body.body[1:-1]).replace("'", '"')


# Alone, and equal to the runner.


@pytest.mark.parametrize("shown", SHOWN)
def test_source_reads_as_it_is_kept(shown: str, golden: Golden) -> None:
    name, style = shown.split("-")
    golden.check(source(of(name), style))


def test_source_runs_where_there_is_no_saturate(tmp_path: Path) -> None:
    b = Builder()
    x, g = b.input("x", Type((7, 13))), b.input("cotangent", Type((7, 13)))
    big, small = np.linspace(-1, 1, 91).reshape(7, 13), np.array([np.inf, -0.0, np.nan])
    kept = b.emit(Constant(Array(big)), label="mask")
    other = b.emit(Constant(Array(small)))
    y = erf(add(x, kept))
    program = b.program("alone", (y.id, other.id), (("x", mul(g, exp(y)).id),))
    (tmp_path / "emitted.py").write_text(source(program), encoding="utf-8")
    save_constants(program, tmp_path / "alone.npz")
    arrays = arguments(program)
    np.savez(tmp_path / "arguments.npz", *arrays)
    script = (
        "import sys; sys.modules['saturate'] = None; import numpy as np, emitted\n"
        "given = np.load('arguments.npz'); x, g = given.values()\n"
        "(a, b), (c,) = emitted.value_and_gradients(x, g)\n"
        "value, residuals = emitted.forward(x)\n"
        "np.savez('results.npz', a, b, c, *value, *emitted.backward(residuals, g))\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    with np.load(tmp_path / "results.npz") as found:
        results = list(found.values())
    expected = NumpyRunner(program)(*arrays)
    assert_same_bits(results, [*expected, *expected])


@pytest.mark.parametrize("program", JOINT, ids=JOINT_IDS)
def test_statements_fit_a_line(program: Program) -> None:
    for style in ("numpy", "cupy"):
        text = source(program, style)
        assert [x for x in text.splitlines()[1:] if len(x) > 100] == []
        compile(text, "<emitted>", "exec")


def test_a_value_alone_is_one_function_under_the_programs_name(tmp_path: Path) -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    program = b.program("<lambda>", (exp(x).id, mul(x, 2.0).id))
    found = emitted(program, tmp_path)["lambda_"](np.ones(3))
    assert_same_bits(found, [np.exp(np.ones(3)), np.full(3, 2.0)])


def test_special_functions_are_imported_only_where_they_are_used() -> None:
    b = Builder()
    x = b.input("x", Type((3,)))
    assert "special" not in source(one(exp(x)))
    assert "\nfrom scipy import special\n" in source(one(erf(x)))
    assert "\nfrom cupyx.scipy import special\n" in source(one(erf(x)), "cupy")


def test_a_helper_is_printed_once() -> None:
    b = Builder()
    x, k = b.input("x", Type((3,))), b.input("k", Type((3,), "int64"))
    text = source(one(add(scatter_add(x, k, 0, 5), scatter_add(exp(x), k, 0, 5))))
    assert text.count("def scatter_add(") == 1
    assert "cp.add.at(" in source(one(scatter_add(x, k, 0, 5)), "cupy")


def test_an_unknown_style_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ArgumentError) as caught:
        source(of("softmax"), "torch")
    assert str(caught.value) == "source needs a style among numpy, cupy, got 'torch'"


# As a person would write it.


def xyz() -> tuple[Value, Value, Value]:
    b = Builder()
    return b.input("x", Type((3, 5))), b.input("y", Type((3, 5))), b.input("m", Type((3,)))


def spread(m: Value) -> Value:
    return broadcast(reshape(m, (3, 1)), (3, 5))


def test_precedence_is_written_with_no_more_parentheses_than_needed() -> None:
    x, y, m = xyz()
    assert line(sub(x, sub(y, mul(x, y)))) == "value = x - (y - x * y)"
    assert line(sub(sub(x, y), x)) == "value = x - y - x"
    assert line(mul(neg(x), add(y, 2.0))) == "value = -x * (y + 2.0)"
    assert line(div(1.0, mul(x, y))) == "value = 1.0 / (x * y)"
    assert line(matmul(transpose(add(x, y), (1, 0)), x)) == "value = (x + y).T @ x"
    assert line(max(sub(x, y), (1,), True)) == "value = (x - y).max(axis=1, keepdims=True)"
    assert line(power(neg(x), -0.5)) == "value = np.power(-x, -0.5)"
    assert line(sub(x, spread(m))) == "value = x - m[:, None]"


def test_broadcasts_that_numpy_does_are_not_written() -> None:
    b = Builder()
    x, r, c, s = (b.input(n, Type(t)) for n, t in (("x", (3, 5)), ("r", (5,)), ("c", (3, 1)), ("s", ())))
    w, t = b.input("w", Type((5, 7))), b.input("t", Type((2, 3, 5)))
    wide = broadcast
    assert line(add(x, wide(r, (3, 5)))) == "value = x + r"
    assert line(mul(wide(s, (3, 5)), x)) == "value = s * x"
    assert line(mul(wide(r, (3, 5)), wide(c, (3, 5)))) == "value = r * c"
    assert line(add(wide(reshape(r, (1, 5)), (3, 5)), x)) == "value = r + x"
    assert line(mul(wide(r, (3, 5)), wide(r, (3, 5)))) == "value = r * np.broadcast_to(r, (3, 5))"
    assert line(exp(wide(r, (3, 5)))) == "value = np.exp(np.broadcast_to(r, (3, 5)))"
    assert line(matmul(t, wide(w, (2, 5, 7)))) == "value = t @ w"
    assert line(where(less(x, 0.0), wide(r, (3, 5)), x)) == "value = np.where(x < 0.0, r, x)"


def test_fills_beside_an_array_are_literals() -> None:
    x, _, _ = xyz()
    b = x.builder
    ones, none = b.emit(Full(1.0, (3, 5), "float64")), b.emit(Full(-np.inf, (), "float64"))
    assert line(sub(ones, x)) == "value = 1.0 - x"
    assert line(maximum(x, broadcast(none, (3, 5)))) == "value = np.maximum(x, -np.inf)"
    assert line(add(ones, ones)) == 'value = 1.0 + np.full((3, 5), 1.0, dtype="float64")'


def test_views_are_written_short() -> None:
    b = Builder()
    x, t = b.input("x", Type((3, 5))), b.input("t", Type((2, 3, 1, 5)))
    assert line(exp(reshape(x, (3, 1, 5)))) == "value = np.exp(x[:, None])"
    assert line(exp(reshape(t, (2, 3, 5)))) == "value = np.exp(t[:, :, 0])"
    assert line(exp(reshape(x, (5, 3)))) == "value = np.exp(x.reshape(5, 3))"
    assert line(exp(reshape(x, (15,)))) == "value = np.exp(x.ravel())"
    assert line(exp(transpose(x, (1, 0)))) == "value = np.exp(x.T)"
    assert line(exp(transpose(t, (0, 3, 2, 1)))) == "value = np.exp(t.swapaxes(-3, -1))"
    assert line(exp(transpose(t, (1, 2, 3, 0)))) == "value = np.exp(t.transpose(1, 2, 3, 0))"
    assert line(exp(transpose(transpose(x, (1, 0)), (1, 0)))) == "value = np.exp(x)"
    assert line(exp(slice(x, (0, 1), (3, 4), (2, 1)))) == "value = np.exp(x[::2, 1:4])"


def test_a_value_that_is_read_twice_or_named_has_its_own_line() -> None:
    x, y, _ = xyz()
    e = exp(x)
    assert line(mul(e, add(e, y))) == "t1 = np.exp(x); value = t1 * (t1 + y)"
    x.builder.relabel({e.id: "e"})
    assert line(tanh(e)) == "e = np.exp(x); value = np.tanh(e)"


def test_what_no_result_needs_is_not_written() -> None:
    x, y, _ = xyz()
    tanh(y)
    assert line(exp(x)) == "value = np.exp(x)"


def test_comments_stand_above_the_step_that_has_the_value() -> None:
    x, y, _ = xyz()
    inner = sub(x, y)
    program = one(exp(inner), x)
    text = source(program, comments={inner.id: "the shift\ncancels", program.outputs[0]: "exp"})
    assert "    # the shift cancels\n    # exp\n    t1 = np.exp(x - y)\n" in text


def test_a_comment_is_said_in_full_once_and_keeps_within_the_line() -> None:
    x, y, _ = xyz()
    values = [exp(x)]
    for _ in range(3):
        values.append(tanh(add(values[-1], y)))
    law = f"law: {'it says ' * 15}"
    said = [law, law, "another", law]
    text = source(one(*reversed(values)), comments={v.id: c for v, c in zip(values, said, strict=True)})
    lines = [written.strip() for written in text.splitlines() if "#" in written]
    assert [len(written) > 80 for written in lines] == [True, False, False, False]
    assert lines[2:] == ["# another", "# law"]
    assert all(len(written) <= 100 for written in text.splitlines())


def test_names_are_the_users_and_never_a_keyword_or_a_builtin_or_taken() -> None:
    b = Builder()
    x, np_, lam = (b.input(n, Type((3,))) for n in ("params.w", "np", "lambda"))
    d = b.input("params_w", Type((3,)))
    values = [exp(x), exp(np_), exp(lam), exp(d), exp(exp(d))]
    labels = ["sum", "e", "e", "1st", ""]
    b.relabel({v.id: label for v, label in zip(values, labels, strict=True)})
    program = b.program("f", tuple(v.id for v in values), (("params.w", values[-1].id), ("np", values[1].id)))
    names = identifiers(program)
    assert [names[v.id] for v in (x, np_, lam, d)] == ["params_w", "np_", "lambda_", "params_w_2"]
    assert [names[v.id] for v in values] == ["sum_", "d_np", "e", "_1st", "d_params_w"]
    assert not RESERVED & set(names.values())
    assert len(set(names.values())) == len(names)


def test_arguments_named_like_the_functions_of_the_source_get_other_names(tmp_path: Path) -> None:
    b = Builder()
    names = ("forward", "residuals", "value_and_gradients", "scatter_add", "buffers", "run")
    values = [b.input(n, Type((3,))) for n in names]
    k = b.input("k", Type((3,), "int64", 0, 2))
    total = values[0]
    for v in values[1:]:
        total = mul(total, v)
    out = scatter_add(total, k, 0, 3)
    program = b.program("f", (out.id,), (("forward", mul(out, 2.0).id),))
    arrays = arguments(program)
    runner = NumpyRunner(program)
    runner(*arrays)
    assert_same_bits(runner(*arrays), by_source(program, tmp_path, *arrays))


def test_labels_of_a_traced_function_are_kept() -> None:
    def loss(x, w):  # type: ignore[no-untyped-def]
        scores = x @ w
        top = scores.max(axis=1)
        return (scores - top[:, None]).sum()

    program = gradient_program(trace(loss, Type((3, 5)), Type((5, 7))), ("w",))
    text = source(program)
    assert "    scores = x @ w\n    top = scores.max(axis=1)\n" in text
    assert "return value, (d_w,)\n" in text
    assert "def forward(x, w):" in text
    assert "def backward(residuals, cotangent=1.0):" in text


def test_arguments_are_listed_with_their_types_and_their_names_where_these_are_others() -> None:
    b = Builder()
    x, w = b.input("x", Type((3,), "float32")), b.input("layers[0].w", Type((), "int64"))
    text = source(b.program('a "quoted" name', (exp(x).id, w.id)))
    expected = (
        '"""a_quoted_name; written by saturate.\n\nx: float32[3]\nlayers_0_w (layers[0].w): int64[]\n"""\n'
    )
    assert text.startswith(expected)
