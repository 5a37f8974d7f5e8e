"""The face of tracing: names, nested arguments and results, constants, labels, examples."""

from __future__ import annotations

import copy
import subprocess
import sys
import threading
from collections import OrderedDict
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from golden_files import Golden
from trace_cases import check, run, sample

from saturate.errors import ArgumentError, TraceError
from saturate.op import Type
from saturate.ops.constants import Constant
from saturate.trace import trace, traced
from saturate.tracing.tracer import Tracer


class Pair(NamedTuple):
    w: Any
    b: Any


QKV = (sample("float32", 3, 5), sample("float32", 7, 5), sample("float32", 7, 2))


def attention(q: Any, k: Any, v: Any) -> Any:
    s = q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)) @ v


def dense(pair: Any, h: Any) -> Any:
    z = h @ pair.w + pair.b
    return np.tanh(z)


def network(params: Any, x: Any, scale: float = 2.0, *rest: Any, power: int = 2) -> Any:
    h = x
    for pair in params["layers"]:
        h = dense(pair, h)
    out = h * scale
    loss = np.mean(out**power)
    return loss, {"out": out, "more": [h, (loss, None)]}


def parameters() -> Any:
    pairs = [
        Pair(sample("float64", 5, 7), sample("float64", 7)),
        Pair(sample("float64", 7, 2), sample("float64", 2)),
    ]
    return {"layers": pairs, "my key": sample("float32", 2)}


def test_a_program(golden: Golden) -> None:
    golden.check(str(trace(attention, *QKV)))


def test_nested_arguments_and_results(golden: Golden) -> None:
    arguments = (parameters(), sample("float64", 3, 5), 3.0, sample("float64", 11))
    check(network, *arguments)
    golden.check(str(traced(network, *arguments).program))


def test_what_traced_knows() -> None:
    found = traced(network, parameters(), sample("float64", 3, 5), 3.0, sample("float64", 11))
    assert found.arguments == ("params", "x", "scale", "rest[0]")
    assert found.names == (
        *("params.layers[0].w", "params.layers[0].b", "params.layers[1].w", "params.layers[1].b"),
        *("params['my key']", "x", None, "rest[0]"),
    )
    assert found.statics == (None,) * 6 + (3.0, None)
    assert tuple(i.name for i in found.program.inputs) == tuple(n for n in found.names if n is not None)
    assert str(found.out_spec) == "PyTreeSpec((*, {'more': [*, (*, None)], 'out': *}))"


def test_containers_of_every_kind() -> None:
    def f(a: Any, b: Any, c: Any) -> Any:
        return OrderedDict(z=a[0] + b["k"][1], y=[c.w * c.b]), Pair(a[1], (b["j"],))

    x = sample("float64", 3)
    check(f, (x, x + 1), {"k": [x, x * 2], "j": x}, Pair(x, 2 * x))


def test_labels_are_local_names() -> None:
    labels = {n.value: n.label for n in trace(network, parameters(), sample("float64", 3, 5)).nodes}
    assert [label for label in labels.values() if label] == ["z", "h", "z", "h", "out", "loss"]


def test_labels_prefer_variables_to_arguments() -> None:
    def double(thing: Any) -> Any:
        return thing * 2

    def f(x: Any) -> Any:
        _ = np.exp(x)
        scores = np.log(x)
        return double(scores)

    assert [n.label for n in trace(f, sample("float64", 3)).nodes] == ["", "scores", ""]


def test_a_profile_function_keeps_running() -> None:
    events: list[str] = []

    def watch(frame: Any, event: str, arg: Any) -> None:
        events.append(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        trace(attention, *QKV)
        assert sys.getprofile() is watch
    finally:
        sys.setprofile(None)
    assert "attention" in events


def test_captured_arrays_are_copied() -> None:
    captured = np.arange(5.0)
    x = sample("float64", 3, 5)
    program = trace(lambda x: (x * captured) @ captured[:, None] + captured.sum(), x)
    expected = (x * captured) @ captured[:, None] + captured.sum()
    captured[:] = np.nan
    np.testing.assert_array_equal(run(program, x)[0], expected)
    assert sum(isinstance(n.op, Constant) for n in program.nodes) == 2


def test_equal_constants_are_one_node() -> None:
    program = trace(lambda x: (x + np.arange(5.0)) * np.arange(5.0), sample("float64", 3, 5))
    assert sum(isinstance(n.op, Constant) for n in program.nodes) == 1


def test_scalars_are_literals_and_no_nodes() -> None:
    program = trace(lambda x: 2 * x / np.sqrt(64) + np.array(0.5), sample("float64", 3, 5))
    assert [(n.op.name, n.op.attributes()) for n in program.nodes] == [
        ("mul", {"left_literal": 2, "right_literal": None}),
        ("div", {"left_literal": None, "right_literal": 8.0}),
        ("add", {"left_literal": None, "right_literal": 0.5}),
    ]


def test_what_changes_nothing_is_no_node() -> None:
    def f(x: Any) -> Any:
        y = x.reshape(3, 5).astype("float64").copy()[:].transpose(0, 1)
        return np.broadcast_to(y, (3, 5))[..., :5] + 0

    assert [n.op.name for n in trace(f, sample("float64", 3, 5)).nodes] == ["add"]


def test_examples_without_values() -> None:
    types = (Type((3, 5), "float32", -2.0, 2.0), Type((7, 5), "float32"), Type((7, 2), "float32"))
    program = trace(attention, *types)
    assert tuple(i.type for i in program.inputs) == types
    assert str(program) == str(trace(attention, *QKV)).replace(
        "q: v0 : float32[3, 5]", "q: v0 : float32[3, 5] in [-2.0, 2.0]"
    )


def test_python_scalars_and_other_objects_are_passed_on() -> None:
    def f(x: Any, power: int, mode: str, options: Any) -> Any:
        assert (type(power), mode, options) == (int, "half", {"flag": True, "none": None})
        return x**power / 2

    assert [
        i.name for i in trace(f, sample("float64", 3), 3, "half", {"flag": True, "none": None}).inputs
    ] == ["x"]


def test_numpy_scalars_are_arrays_without_axes() -> None:
    program = check(lambda x, s: x * s, sample("float32", 3), np.float64(2.0))
    assert [str(i.type) for i in program.inputs] == ["float32[3]", "float64[]"]


def test_results_that_are_no_tracers() -> None:
    x = sample("float64", 3)
    program = trace(lambda x: (x, np.arange(2), 1.5, x), x)
    assert program.outputs == ("v0", "v1", "v2", "v0")
    assert [str(program.types[v]) for v in program.outputs] == [
        "float64[3]",
        "int64[2]",
        "float64[]",
        "float64[3]",
    ]
    assert trace(lambda: np.ones(3)).inputs == ()


def test_names_of_programs() -> None:
    x = sample("float64", 3)
    assert trace(attention, *QKV).name == "attention"
    assert trace(lambda x: x, x).name == "f"
    assert trace(partial(np.add, 1.0), x).name == "add"
    assert trace(np.exp, x).name == "exp"
    assert trace(np.linalg.norm, x).name == "norm"


def test_methods_and_attributes() -> None:
    def f(x: Any) -> Any:
        assert (x.shape, x.ndim, x.size, len(x), x.itemsize, x.nbytes) == ((3, 5), 2, 15, 3, 4, 60)
        assert x.dtype == np.float32
        assert np.issubdtype(x.dtype, np.floating)
        assert np.finfo(x.dtype).bits == 32
        assert (np.shape(x), np.ndim(x), np.size(x, 1)) == ((3, 5), 2, 5)
        assert copy.deepcopy(x) is copy.copy(x) is x
        assert repr(x) == f"{x}" == "Tracer(v0: float32[3, 5])"
        assert isinstance(x, Tracer)
        assert not hasattr(x, "sort")
        assert not hasattr(x, "nothing")
        return x.T

    trace(f, sample("float32", 3, 5))


def test_promotion_by_numpy_scalars_is_noted() -> None:
    def f(x: Any) -> Any:
        return x / np.sqrt(64) + 1.0  # the line that widens

    (note,) = traced(f, sample("float32", 3)).promotions
    line = f.__code__.co_firstlineno + 1
    assert note == (
        f"{__file__}:{line}: float32 became float64 by a NumPy scalar of that dtype; "
        "a Python scalar keeps it: float(x)"
    )
    assert traced(f, sample("float64", 3)).promotions == ()


def test_inputs_are_not_written_to() -> None:
    arrays = [x.copy() for x in QKV]
    for x in arrays:
        x.setflags(write=False)
    check(attention, *arrays, ulps=4)


def test_tracing_in_several_threads() -> None:
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(str(trace(attention, *QKV)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [str(trace(attention, *QKV))] * 3


def test_scipy_is_not_imported_by_tracing() -> None:
    code = (
        "import sys, numpy as np; from saturate.trace import trace; "
        "trace(lambda x: np.exp(x) + x.mean(), np.ones(3)); "
        "print([m for m in sys.modules if m == 'scipy.special'])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        (
            (np.ones(3),),
            "attention(q: 'Any', k: 'Any', v: 'Any') -> 'Any' needs one example for each argument, got 1: "
            "missing a required argument: 'k'",
        ),
        (
            (np.ones(3), [np.ones(2), np.array(["a"])], np.ones(2)),
            "k[1] needs an array of booleans, integers or real floats, got <U1; convert it",
        ),
        (
            (np.ones(3), {"a": np.ones(2, complex)}, np.ones(2)),
            "k.a needs an array of booleans, integers or real floats, got complex128; convert it",
        ),
        (
            (np.ma.masked_array(np.ones(3)), np.ones(2), np.ones(2)),
            "q needs a plain array, got a MaskedArray; convert it by np.asarray",
        ),
    ],
)
def test_wrong_examples(examples: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as error:
        trace(attention, *examples)
    assert str(error.value) == message


def test_no_function() -> None:
    with pytest.raises(ArgumentError) as error:
        trace(3, np.ones(3))  # type: ignore[arg-type]
    assert str(error.value) == "trace needs a function of arrays, got int"


def test_a_trace_within_a_trace() -> None:
    with pytest.raises(ArgumentError) as error:
        trace(lambda x: run(trace(lambda y: y + 1, x), x), np.ones(3))
    assert str(error.value) == "y is a value of a trace that runs already; trace one function at a time"


def test_values_that_outlive_their_trace() -> None:
    kept: list[Any] = []

    def keeps(x: Any) -> Any:
        kept.append(x)
        return x

    trace(keeps, np.ones(3))
    for f in (lambda x: x + kept[0], lambda x: kept[0], lambda x: np.stack([x, kept[0]])):
        with pytest.raises(TraceError, match="a value of another trace cannot be traced"):
            trace(f, np.ones(3))
    with pytest.raises(TraceError, match="a value of another trace cannot be traced"):
        np.add(kept[0], 1)


def test_errors_of_the_user_pass_through() -> None:
    def f(x: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        trace(f, np.ones(3))
    assert sys.getprofile() is None
