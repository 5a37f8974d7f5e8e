"""`saturate rules`: the catalogue by theory, one law in full, and the checker over a user's file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_cli import run

import saturate as sat
from saturate import lawbook
from saturate.egraph import EGraph
from saturate.law_command import EVERY
from saturate.rules import CATALOGUE, IDENTITIES, THEORIES, Law, lowering
from saturate.rules.law import PROMISES
from saturate.signature import RULESETS
from saturate.usage import uses
from saturate.workloads import WORKLOADS

MINE = """
from saturate.rules import law
from saturate.rules.language import exp, fn
from saturate.rules.ring import common_factor

@law(a="i")
def squares_of_sine_and_cosine(a):
    \"\"\"sin(a)·sin(a) = 1 − cos(a)·cos(a).\"\"\"
    return fn("sin", a) * fn("sin", a), 1 - fn("cos", a) * fn("cos", a)
"""
FALSE = """
@law(a="i", b="i")
def exp_of_sum_is_sum(a, b):
    \"\"\"exp(a + b) = exp(a) + exp(b).\"\"\"
    return exp(a + b), exp(a) + exp(b)
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE, "utf-8")
    return path


def test_the_catalogue_is_listed_by_theory(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "rules")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    for theory, laws in THEORIES.items():
        start = lines.index(f"{theory}, {len(laws)} laws")
        for k, law in enumerate(laws, start + 1):
            name, exact, *said = lines[k].split()
            assert (name, exact) == (law.name, law.exact)
            assert " ".join(said) == law.doc.splitlines()[0]
    for theory, identities in IDENTITIES.items():
        start = lines.index(f"{theory}, {len(identities)} identities that need no law")
        assert [line.split()[0] for line in lines[start + 1 :][: len(identities)]] == [
            i.name for i in identities
        ]


def test_the_catalogue_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rules", "--json")
    listed = json.loads(out)
    assert [law["name"] for law in listed] == [law.name for law in EVERY]
    assert {law["theory"] for law in listed if law["direction"] is None} == set(IDENTITIES)
    assert all(set(law) == {"name", "theory", "exact", "direction", "statement"} for law in listed)


def test_one_law_in_full(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    few = [load for load in WORKLOADS if load.name in ("softmax", "rms_norm")]
    monkeypatch.setattr("saturate.law_command.uses", lambda exact: uses(exact, few))
    status, out, err = run(capsys, "rules", "common_factor")
    assert (status, err) == (0, "")
    places = [
        out.index(part)
        for part in (
            "common_factor\n  Σ_j a·b + Σ_j a·c = Σ_j a·(b + c) where",
            "\nlaw         Σ_j (a[i,j]·b[i,j]) + Σ_j (a[i,j]·c[i,j]) = Σ_j (a[i,j]·(b[i,j] + c[i,j]))\n",
            "\nvariables   a[i,j], b[i,j], c[i,j]\n",
            "\nconditions  a and b are finite\n",
            "\nclass       rounding: equal over the reals, at infinities and NaN unless a ",
            "\nruns        explore: one round at a time\n",
            "\nsource      ",
            "\ndeclared    rules/ring.py:",
            "\nsample      a = [[",
            "\nused        ",
            "\n  softmax ",
            "\n(rule ((= e (Plus d M))\n       (mem M x)\n",
        )
    ]
    assert places == sorted(places)
    assert "from-" not in out


def test_one_identity_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    """Both forms, what decides them, and no rule; no workload is optimized for it."""
    status, out, err = run(capsys, "rules", "mean_as_matmul")
    assert (status, err) == (0, "")
    assert out == (
        "mean_as_matmul\n  1/|j|·Σ_j a[i,j] = (a·1)/|j|.\n\n"
        "one form     a.mean(axis=1)\n"
        "the other    a @ np.ones(a.shape[1], a.dtype) / a.shape[1]\n"
        "arguments    a[i,j]\n"
        "conditions   none\n"
        f"class        rounding: {PROMISES['rounding']}\n"
        "decided by   one term: over named indices both are written the same\n"
        "computed by  full, matmul, for a target without sum, mean, einsum, vec_dot\n"
        "source       not stated\n"
        f"declared     {lawbook.declared(lowering.mean_as_matmul)}\n"
        "sample       a = [[1., 1., 3.], [2., 1., 1.]]: [1.6667, 1.3333], [1.6667, 1.3333]\n"
    )
    assert lawbook.declared(lowering.mean_as_matmul).startswith("rules/lowering.py:")


def test_one_identity_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rules", "gather_of_equals", "--json")
    said = json.loads(out)
    assert said["forms"] == ["np.exp(a.T).T[at]", "np.take(np.exp(a), at, axis=0)"]
    assert (said["variables"], said["decided"]) == ({"a": "ij", "at": "k<i"}, "one term")
    _, out, _ = run(capsys, "rules", "gather_of_equals")
    assert "\narguments   a[i,j], at[k] whole, from 0 to below |i|\n" in out
    _, out, _ = run(capsys, "rules", "trace_is_cyclic")
    assert "\ndecided by  one normal form: multiplied out, both are the same sum of products\n" in out


def test_one_law_as_json_without_its_uses(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "rules", "exp_of_sum", "--json", "--no-used")
    said = json.loads(out)
    assert (said["name"], said["exact"], said["conditions"]) == ("exp_of_sum", "domain", [])
    assert said["law"] == "exp(a + b) = exp(a)·exp(b)"
    assert "used" not in said


def test_uses_say_where_how_often_and_what_was_made() -> None:
    few = [load for load in WORKLOADS if load.name in ("softmax", "chain3")]
    found = uses("rounding", few)
    (softmax,) = found["common_factor"]
    assert (softmax.program, softmax.matches > 0, softmax.seconds >= 0) == ("softmax", True, True)
    best = sat.optimize(few[0].function, *few[0].types, wrt=few[0].wrt)
    assert softmax.values == dict((use.name, use.where) for use in best.report.laws)["common_factor"]
    assert softmax.matches == {law.name: law.matches for law in best.report.matched}["common_factor"]
    assert "log_of_exp" not in found


def test_uses_in_json_are_those_of_the_workloads(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [load for load in WORKLOADS if load.name == "softmax"]
    monkeypatch.setattr("saturate.law_command.uses", lambda exact: uses(exact, few))
    _, out, _ = run(capsys, "rules", "common_factor", "--json")
    (use,) = json.loads(out)["used"]
    assert (use["program"], use["matches"] > 0, bool(use["values"])) == ("softmax", True, True)
    _, out, _ = run(capsys, "rules", "log_of_exp")
    assert "\nused        in no workload\n" in out


@pytest.mark.parametrize("law", CATALOGUE, ids=lambda law: law.name)
def test_the_rule_that_is_shown_is_one_that_the_engine_takes(law: Law) -> None:
    rulesets = "\n".join(f"(ruleset {name})" for name in RULESETS)
    EGraph(f"{rulesets}\n{lawbook.rule(law)}")
    assert lawbook.rule(law).startswith("(rule (")


def test_true_laws_of_a_file_are_right(capsys: pytest.CaptureFixture[str], mine: Path) -> None:
    status, out, err = run(capsys, "rules", "--check", mine)
    assert (status, err) == (0, "")
    assert out == (
        "right  squares_of_sine_and_cosine (rounding): sin(a)·sin(a) = 1 − (cos(a)·cos(a))\n"
        "1 law, none wrong\n"
    )


def test_a_false_law_of_a_file_is_shown_with_its_counter_example(
    capsys: pytest.CaptureFixture[str], mine: Path
) -> None:
    mine.write_text(MINE + FALSE, "utf-8")
    status, out, err = run(capsys, "rules", "--check", mine)
    assert (status, err) == (1, "")
    assert out.splitlines()[1:] == [
        "WRONG  exp_of_sum_is_sum (rounding): exp(a + b) = exp(a) + exp(b)",
        "       the sides differ at a = 1., b = 1.: 7.3891, 5.4366",
        "2 laws, 1 wrong",
    ]
    status, out, _ = run(capsys, "rules", "squares_of_sine_and_cosine", "--check", mine)
    assert (status, out.splitlines()[-1]) == (0, "1 law, none wrong")
    status, out, _ = run(capsys, "rules", "--check", mine, "--json")
    assert status == 1
    assert [(law["right"], law["says"]) for law in json.loads(out)] == [
        (True, None),
        (False, "the sides differ at a = 1., b = 1.: 7.3891, 5.4366"),
    ]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            '@law(a="i")\ndef log_of_exp(a):\n    """Its name is taken."""\n    return exp(a), 1 * exp(a)\n',
            "its name is that of a law of the catalogue: rename it, or optimize refuses the two together",
        ),
        (
            '@law(a="i", egglog=("(= e (Exponential a))", "(union e e)"))\n'
            'def misspelt(a):\n    """exp(a) = 1·exp(a)."""\n    return exp(a), 1 * exp(a)\n',
            "true on every sample, but its rule cannot run: ",
        ),
        (
            '@law(a="i", egglog=("(= e (Fn1 \\"sinh\\" d a))", "(union e a)"))\n'
            'def idle(a):\n    """exp(a) = 1·exp(a)."""\n    return exp(a), 1 * exp(a)\n',
            "true on every sample, but its rule matches nothing of its own left side",
        ),
    ],
)
def test_what_else_can_be_wrong_with_a_law(
    capsys: pytest.CaptureFixture[str], mine: Path, more: str, says: str
) -> None:
    mine.write_text(MINE + more, "utf-8")
    status, out, err = run(capsys, "rules", "--check", mine)
    assert (status, err) == (1, "")
    assert out.splitlines()[2].strip().startswith(says)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("rules commonfactor", "the catalogue has no law 'commonfactor': is it common_factor"),
        ("rules nope", "the catalogue has no law 'nope': `saturate rules` lists them"),
        ("rules --check no.py", "rules --check needs a Python file, and there is no file 'no.py'"),
        ("rules --check EMPTY", "EMPTY declares no law at its top level: write @law(a='i') over a function"),
        ("rules --check BROKEN", "BROKEN fails when it is run: ZeroDivisionError: division by zero"),
        (
            "rules --check UNBOUND",
            "UNBOUND fails when it is run: LawError: law forgets needs every variable of its right side on "
            "its left, and b is not in a·a",
        ),
        ("rules nope --check MINE", "MINE has no law 'nope': `saturate rules` lists them"),
    ],
)
def test_what_is_wrong_is_one_line(
    capsys: pytest.CaptureFixture[str], mine: Path, arguments: str, said: str
) -> None:
    texts = {
        "EMPTY": "from saturate.rules.ring import common_factor\n",
        "BROKEN": "1 / 0\n",
        "UNBOUND": "from saturate.rules import law\n@law(a='i', b='i')\ndef forgets(a, b):\n"
        "    '''a = b.'''\n    return a * a, b\n",
        "MINE": MINE,
    }
    for name, text in texts.items():
        path = mine.with_name(f"{name.lower()}.py")
        path.write_text(text, "utf-8")
        arguments, said = arguments.replace(name, str(path)), said.replace(name, str(path))
    status, out, err = run(capsys, *arguments.split())
    assert (status, out) == (2, "")
    assert err.startswith(f"saturate: {said}")
    assert err.count("\n") == 1


def test_the_command_helps(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "rules", "--help")
    assert status == 0
    assert out.startswith("Usage: saturate rules")
    assert "--check FILE.py" in out
