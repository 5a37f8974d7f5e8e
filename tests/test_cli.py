"""The command: demos, a user's file, and one line for everything that is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from saturate import Type
from saturate.cli import main
from saturate.demos import DEMOS
from saturate.errors import ArgumentError
from saturate.named import examples_of, function_of, type_of
from saturate.stopwatch import seconds

FILE = """
import numpy as np
import beside

W = np.linspace(-1.0, 1.0, 77, dtype="float32").reshape(7, 11)

def layer(x, b, power=2):
    return np.sum(np.tanh(x @ W + b) ** power)

def widened(x):
    return x @ np.ones((5, 3))

def branching(x):
    return x if x.sum() > 0 else -x

value = 17
"""


GRAPH = {
    "nodes": {
        "a0": {"op": "leaf", "children": [], "eclass": "a", "cost": 7.0},
        "b0": {"op": "double", "children": ["a0"], "eclass": "b", "cost": 3.0},
        "b1": {"op": "triple", "children": ["a0"], "eclass": "b", "cost": 2.0},
    },
    "root_eclasses": ["b"],
}

LEAST = {
    "softmax": 1.8, "logsumexp": 1.7, "cross-entropy": 1.5, "logistic-regression": 1.0, "mlp": 1.0,
    "attention": 1.1, "causal-attention": 1.2, "layernorm": 1.8, "rmsnorm": 2.0, "gpt-block": 1.3,
}  # fmt: skip
"""The cost before over the cost after of each demo is at least this."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    (tmp_path / "beside.py").write_text("")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command."""
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_without_arguments_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys)
    assert status == 0
    assert out.startswith("Usage: saturate [OPTIONS] COMMAND")
    assert {"demo", "extract", "optimize"} <= set(out.split())


@pytest.mark.parametrize("command", ["demo", "optimize", "extract"])
def test_commands_help(capsys: pytest.CaptureFixture[str], command: str) -> None:
    status, out, _ = run(capsys, command, "--help")
    assert status == 0
    assert out.startswith(f"Usage: saturate {command}")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--version")
    assert status == 0
    assert out.startswith("saturate 0.")


def test_module_is_the_command() -> None:
    said = subprocess.run(
        [sys.executable, "-m", "saturate", "demo"], capture_output=True, text=True, check=True
    )
    assert [line.split()[0] for line in said.stdout.splitlines() if line][: len(DEMOS)] == list(DEMOS)


def test_demos_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "demo")
    assert status == 0
    assert list(DEMOS)[:5] == ["softmax", "logsumexp", "cross-entropy", "logistic-regression", "mlp"]
    assert list(DEMOS)[5:] == ["attention", "causal-attention", "layernorm", "rmsnorm", "gpt-block"]
    assert [line.split()[0] for line in out.splitlines()[: len(DEMOS)]] == list(DEMOS)


@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_shows_function_source_report_and_check(capsys: pytest.CaptureFixture[str], name: str) -> None:
    status, out, err = run(capsys, "demo", name)
    assert (status, err) == (0, "")
    title = DEMOS[name].function.__name__
    places = [
        out.index(part)
        for part in (
            f"def {title}(",
            "def forward(",
            "def backward(residuals",
            f"\n{title}\n",
            *([] if name == "gpt-block" else ["\nbefore\n", "\nafter\n"]),
            f"check of {title} on numpy: passed",
            "Measured here: ",
        )
    ]
    assert places == sorted(places)
    assert "==" not in out[places[1] : places[3]]
    assert ("without its tables of 1" in out) is (name == "gpt-block")
    assert out.count("\n") < 400
    ratio = re.search(r"\((\d+\.\d\d)×\), steps", out)
    assert ratio is not None
    assert float(ratio[1]) >= LEAST[name]


def test_source_is_coloured_and_never_cut_on_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "30")
    status, out, _ = run(capsys, "optimize", f"{file}:widened", "--arg", "x=13x5", "--exact", "bitwise")
    assert status == 0
    assert "\x1b[" in out
    plain = re.sub(r"\x1b\[[0-9;]*m", "", out)
    assert '"""widened; written by saturate.\n' in plain
    assert "np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]" in plain


def test_optimize_writes_source_and_report(
    capsys: pytest.CaptureFixture[str], file: Path, tmp_path: Path
) -> None:
    source, report = tmp_path / "fast.py", tmp_path / "report.html"
    status, out, err = run(
        capsys, "optimize", f"{file}:layer", "--arg", "x=13x7:float32", "--arg", "b=11:float32",
        "--wrt", "x, b", "--source", source, "--report", report,
    )  # fmt: skip
    assert (status, err) == (0, "")
    assert f"wrote {source}\nwrote {tmp_path / 'layer.npz'}\nwrote {report}\n" in out
    assert "def value_and_gradients" not in out
    assert "<article" in report.read_text("utf-8")
    fast = function_of(f"{source}:value_and_gradients")
    rng = np.random.default_rng(3)
    x, b = rng.standard_normal((13, 7), "float32"), rng.standard_normal(11, "float32")
    w = np.linspace(-1.0, 1.0, 77, dtype="float32").reshape(7, 11)
    h = np.tanh(x @ w + b)
    value, (dx, db) = fast(x, b)
    assert value == pytest.approx(np.sum(h**2), rel=1e-5)
    np.testing.assert_allclose(db, (2 * h * (1 - h**2)).sum(axis=0), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(dx, (2 * h * (1 - h**2)) @ w.T, rtol=1e-3, atol=1e-5)


def test_optimize_prints_source_unless_it_is_written(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    status, out, _ = run(capsys, "optimize", f"{file}:layer", "--arg", "x=13x7:float32", "--arg", "b=scalar")
    assert status == 0
    assert "def layer(x, b):" in out
    assert "x: float32[13, 7], b: float64[]" in out


def test_profile_prints_what_the_search_did(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    given = ("optimize", f"{file}:layer", "--arg", "x=13x7:float32", "--arg", "b=11:float32", "--wrt", "b")
    status, out, err = run(capsys, *given, "--profile")
    assert (status, err) == (0, "")
    report, _, profile = out.partition("\nlaw by law\n")
    assert "matches" in profile
    assert "window by window" in profile
    assert "the whole" in profile
    assert "stage by stage" in profile
    assert "check of layer on numpy: passed" in report


def test_optimize_prints_one_json_object(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    status, out, err = run(
        capsys, "optimize", f"{file}:widened", "--arg", "x=13x5", "--wrt", "x", "--exact", "bitwise", "--json"
    )
    assert (status, err) == (0, "")
    said = json.loads(out)
    assert list(said) == ["program", "source", "report"]
    assert said["report"]["title"] == "widened"
    assert said["report"]["windows"] == []  # bitwise, so nothing was searched
    assert said["report"]["check"]["passed"] is True


@pytest.mark.parametrize("given", [("--wrt", "x", "--wrt", "b"), ("--wrt", "x,b"), ("--wrt=x", "--wrt=b")])
def test_what_is_repeated_counts_each_time(
    capsys: pytest.CaptureFixture[str], file: Path, given: tuple[str, ...]
) -> None:
    layer = ("optimize", f"{file}:layer", "--arg", "x=13x7:float32", "--arg", "b=11:float32")
    status, out, err = run(capsys, *layer, *given, "--exact", "bitwise", "--json")
    assert (status, err) == (0, "")
    assert [row["name"] for row in json.loads(out)["report"]["check"]["results"]] == [
        "value", "gradient x", "gradient b"
    ]  # fmt: skip


def test_optimize_for_a_target_of_few_ops(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = tmp_path / "mean.py"
    source.write_text("def mean(x):\n    return x.mean(axis=1)\n")
    status, out, err = run(
        capsys,
        "optimize",
        f"{source}:mean",
        "--arg",
        "x=3x5",
        "--ops",
        "full, matmul",
        "--ops",
        "mul, reshape",
        "--json",
    )
    assert (status, err) == (0, "")
    assert "matmul" in json.loads(out)["program"]
    assert "mean[" not in json.loads(out)["program"]


def test_extract_chooses_out_of_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(GRAPH))
    status, out, err = run(capsys, "extract", path, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["choice"] == {"a": "a0", "b": "b1"}
    status, out, _ = run(capsys, "extract", path, "--time", "5")
    assert status == 0
    assert out.startswith("cost         9 (proved optimal)")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("demo nope", 2, "there is no demo 'nope'; there are softmax, logsumexp, cross-entropy, "),
        ("frob", 2, "No such command 'frob'."),
        ("demo --frob", 2, "No such option: --frob"),
        ("extract no.json", 2, "extract needs a file, and there is no file 'no.json'"),
        ("extract FILE", 1, "mine.py is not JSON"),
        ("extract FILE --time -1", 2, "Invalid value for '--seconds' / '--time'"),
        (
            "optimize FILE:layer --arg x=13x7 --arg b=11 --source no/f.py",
            1,
            "no/f.py: No such file or directory",
        ),
        ("optimize", 2, "Missing argument 'FILE.py:FUNCTION'."),
        ("optimize FILE", 2, "optimize needs FILE.py:FUNCTION, got '"),
        ("optimize FILE:layer --seed x", 2, "Invalid value for '--seed'"),
        ("optimize no.py:f", 2, "optimize needs a Python file, and there is no file 'no.py'"),
        ("optimize FILE:nope", 2, "FILE has no function 'nope'; it has layer, widened, branching"),
        ("optimize FILE:value", 2, "FILE has no function 'value'; it has layer, widened, branching"),
        ("optimize FILE:layer --arg x=13x7", 2, "layer needs a type for 'b': add --arg b=SHAPE:DTYPE"),
        ("optimize FILE:widened --arg y=13", 2, "widened has no argument 'y'; it has x"),
        ("optimize FILE:widened --arg x=13 --arg x=13", 2, "--arg x is given twice"),
        ("optimize FILE:widened --arg x=13x5 --seed 1 --seed=2", 2, "--seed is given twice; what may be"),
        ("rules --check no.py --check FILE", 2, "--check is given twice; what may be repeated is --arg, "),
        ("optimize FILE:widened --arg x=13,5", 2, "--arg needs NAME=SHAPE[:DTYPE[:LOW..HIGH]] such as"),
        (
            "optimize FILE:widened --arg x=13:flot",
            2,
            "--arg x=13:flot: a Type needs a boolean, integer or real",
        ),
        (
            "optimize FILE:widened --arg x=13x5 --wrt y",
            2,
            "wrt needs names or positions of arguments (x), got",
        ),
        ("optimize FILE:widened --arg x=13x5 --exact so", 2, "optimize needs exact to be one of bitwise, "),
        (
            "optimize FILE:widened --arg x=13x5 --target so",
            2,
            "optimize needs target to be one of numpy, cupy",
        ),
        (
            "optimize FILE:widened --arg x=13x5 --ops gemm",
            2,
            "a Target needs names of ops, got 'gemm'; there are",
        ),
        (
            "optimize FILE:widened --arg x=13x5 --ops mul",
            1,
            "widened cannot be made for the target numpy with mul",
        ),
        ("optimize FILE:widened --arg x=13x5 --accuracy 0.5", 2, "optimize needs accuracy of at least 1"),
        ("optimize FILE:branching --arg x=13", 1, "FILE:14: bool(t) in `x.sum() > 0` cannot be traced"),
        (
            "optimize FILE:widened --arg x=13x7",
            1,
            "ValueError: matmul: Input operand 1 has a mismatch in its",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str], file: Path, arguments: str, status: int, said: str
) -> None:
    given, out, err = run(capsys, *(a.replace("FILE", str(file)) for a in arguments.split()))
    assert (given, out) == (status, "")
    assert err.startswith(f"saturate: {said.replace('FILE', str(file)) if 'FILE.py' not in said else said}")
    assert err.count("\n") == 1


def test_a_file_that_fails_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("1 / 0")
    with pytest.raises(ArgumentError) as refused:
        function_of(f"{path}:f")
    assert str(refused.value) == f"{path} fails when it is run: ZeroDivisionError: division by zero"
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(ArgumentError, match=r"its name must end in \.py"):
        function_of(f"{tmp_path / 'notes.txt'}:f")


def test_running_a_file_leaves_the_path_alone(file: Path) -> None:
    before = list(sys.path)
    function_of(f"{file}:layer")
    assert sys.path == before


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("q=257x61:float32", ("q", Type((257, 61), "float32"))),
        ("q=257", ("q", Type((257,), "float64"))),
        ("b=scalar:float32", ("b", Type((), "float32"))),
        ("y=13:float32:0..1", ("y", Type((13,), "float32", 0.0, 1.0))),
        ("y=13:float32:-1e-3..1e3", ("y", Type((13,), "float32", -1e-3, 1e3))),
        ("n=0x7:int64", ("n", Type((0, 7), "int64"))),
    ],
)
def test_types_as_they_are_written(text: str, named: tuple[str, Type]) -> None:
    assert type_of(text) == named


def test_defaults_stay_where_no_type_is_given() -> None:
    def f(x: object, y: object = 1.0, z: object = 2.0) -> None: ...

    assert examples_of(f, ["x=3"]) == (Type((3,)),)
    assert examples_of(f, ["y=5", "x=3"]) == (Type((3,)), Type((5,)))
    with pytest.raises(ArgumentError, match="f needs a type for 'y'"):
        examples_of(f, ["x=3", "z=5"])


def test_stopwatch_takes_the_shortest_of_calls_in_turn() -> None:
    order: list[str] = []
    shortest = seconds([lambda: order.append("a"), lambda: order.append("b")], budget=10.0, rounds=3)
    assert "".join(order) == "abababab" + "ab"
    assert all(0 < s < 1 for s in shortest)
