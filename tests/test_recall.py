"""Results kept on disk: what comes back, what is a request of its own, and what never breaks a search."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workloads import softmax

import saturate as sat
from saturate import cache
from saturate.cache import Cache
from saturate.demos import gpt_arguments, gpt_loss
from saturate.errors import CacheError
from saturate.extract import EXTRACTORS
from saturate.improve import STOPPED
from saturate.recall import FROM_CACHE, key, recalled, remembered
from saturate.request import Request
from saturate.rules import CATALOGUE, law
from saturate.rules.language import Expr, exp

X = sat.Type((5, 7), "float32")


@pytest.fixture(autouse=True)
def _cache_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))


def recalled_of(best: sat.Optimized) -> bool:
    return FROM_CACHE in best.report.notes


def request(f: Any = softmax, *examples: Any, **options: Any) -> Request:
    usual: dict[str, Any] = {
        "wrt": "x", "target": "numpy", "exact": "rounding", "accuracy": 4.0, "samples": None, "rules": None,
        "extractor": "auto", "limits": sat.Limits(), "memory": None, "check": True, "seed": 0,
    }  # fmt: skip
    return Request.of(f, examples or (X,), **(usual | options))


def test_a_second_call_searches_nothing_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    first = sat.optimize(softmax, X, wrt="x")
    monkeypatch.setattr("saturate.recall.searched", lambda request: pytest.fail("searched"))
    second = sat.optimize(softmax, X, wrt="x")
    assert recalled_of(second)
    assert not recalled_of(first)
    assert second.program == first.program
    assert second.baseline == first.baseline
    assert second.provenance == first.provenance
    assert second.source() == first.source()
    notes = tuple(n for n in second.report.notes if n != FROM_CACHE)
    assert replace(second.report, notes=notes) == first.report
    x, g = np.random.default_rng(0).normal(size=(2, 5, 7)).astype("float32")
    for a, b in zip(first(x, cotangent=g), second(x, cotangent=g), strict=True):
        np.testing.assert_array_equal(a, b)
    assert second.check(trials=8, seed=1).passed


def test_a_recalled_result_answers_why() -> None:
    first, second = (sat.optimize(softmax, X, wrt="x") for _ in range(2))
    assert recalled_of(second)
    assert str(second.why("dx")) == str(first.why("dx"))


def test_a_long_program_comes_back_with_the_check_of_its_windows() -> None:
    given = gpt_arguments(1, batch=1, length=4, width=6, inner=8, words=5, heads=2)
    first, second = (sat.optimize(gpt_loss, *given, wrt=("blocks", "wu")) for _ in range(2))
    assert recalled_of(second)
    assert second.program == first.program
    rows = [r.name for r in second.check(trials=2).results]
    assert any(name.startswith("window") for name in rows)


def test_captured_arrays_need_not_be_kept() -> None:
    weights = np.random.default_rng(0).normal(size=(7, 40)).astype("float32")
    first, second = (sat.optimize(lambda x: np.sum(x @ weights * 2.0), X, wrt="x") for _ in range(2))
    assert recalled_of(second)
    assert second.program == first.program


@law(a="i")
def exp_is_itself(a: Expr) -> tuple[Expr, Expr]:
    """exp(a)·1 = exp(a)."""
    return exp(a) * 1, exp(a)


def scaled(x: Any) -> Any:
    return softmax(x) * 2.0


masked = np.where(np.tri(5, 7, dtype=bool), 0, -np.inf).astype("float32")
OTHERS: dict[str, Request] = {
    "another program": request(scaled),
    "another size": request(softmax, sat.Type((5, 11), "float32")),
    "another dtype": request(softmax, sat.Type((5, 7), "float64")),
    "bounds": request(softmax, sat.Type((5, 7), "float32", low=0.0)),
    "an example": request(softmax, np.ones((5, 7), "float32")),
    "another example": request(softmax, masked),
    "no gradient": request(wrt=None),
    "another class of exactness": request(exact="bitwise"),
    "no accuracy": request(accuracy=None),
    "another accuracy": request(accuracy=8.0),
    "samples": request(samples=[(np.ones((5, 7), "float32"),)]),
    "other samples": request(samples=[(np.zeros((5, 7), "float32"),)]),
    "a law less": request(rules=CATALOGUE[1:]),
    "a law more": request(rules=[*CATALOGUE, exp_is_itself]),
    "another extractor": request(extractor="greedy"),
    "other limits": request(limits=sat.Limits(rounds=2)),
    "no check": request(check=False),
    "another seed": request(seed=1),
    "other ops": request(target=sat.Target(ops=["max", "sub", "exp", "sum", "div", "mul", "broadcast"])),
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_request_has_a_key_of_its_own(name: str) -> None:
    assert key(OTHERS[name]) not in {key(request()), *(key(r) for n, r in OTHERS.items() if n != name)}


def test_equal_requests_have_one_key_whatever_threads_there_are() -> None:
    assert key(request()) == key(request()) == key(request(limits=sat.Limits(workers=3)))
    assert key(request()) == key(request(sat.grad(softmax, X, wrt="x"), None, None, wrt=None))


@pytest.mark.parametrize("note", [STOPPED, "the search ended at its time limit"])
def test_what_a_clock_or_an_interrupt_decided_is_not_kept(note: str) -> None:
    asked, best = request(), sat.optimize(softmax, X, wrt="x", exact="bitwise")
    remembered(asked, replace(best, report=replace(best.report, notes=(note,))))
    assert recalled(asked) is None
    remembered(asked, best)
    assert recalled(asked) is not None


def test_an_extractor_of_the_users_own_is_asked_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def mine(*args: Any, **named: Any) -> Any:
        return EXTRACTORS["auto"](*args, **named)

    monkeypatch.setitem(EXTRACTORS, "mine", mine)
    assert not any(recalled_of(sat.optimize(softmax, X, wrt="x", extractor="mine")) for _ in range(2))


def test_off_means_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.VARIABLE, "off")
    assert not any(recalled_of(sat.optimize(softmax, X, exact="bitwise")) for _ in range(2))
    assert not list(tmp_path.iterdir())


# the file


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "BYTES", 3000)
    texts = {f"k{k}": "".join(map(chr, np.random.default_rng(k).integers(32, 127, 1000))) for k in range(5)}
    kept = Cache(tmp_path / "file")
    for name in ("k0", "k1", "k2"):
        kept.put(name, texts[name])
    assert kept.get("k0") == texts["k0"]
    kept.put("k3", texts["k3"])
    assert [name for name in texts if kept.get(name) is not None] == ["k0", "k2", "k3"]


@pytest.mark.parametrize("content", [b"no database " * 100, b""], ids=["not a database", "empty"])
def test_a_broken_file_costs_a_note_and_no_result(content: bytes) -> None:
    home = cache.default()
    assert home is not None
    home.path.write_bytes(content)
    first, second = (sat.optimize(softmax, X, exact="bitwise") for _ in range(2))
    assert first.report.check is not None
    told = [note for note in first.report.notes if str(home.path) in note]
    assert bool(told) == bool(content)
    assert recalled_of(second)
    assert second.report.notes == (FROM_CACHE,)


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "half of it is missing": lambda whole: whole[: len(whole) // 2],
    "zeros": lambda whole: bytes(len(whole)),
    "a page of others": lambda whole: whole[:4096] + b"\x0f" * 4096 + whole[8192:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_moved_aside_and_made_anew(tmp_path: Path, damage: str) -> None:
    kept = Cache(tmp_path / "file")
    for k in range(40):
        kept.put(f"k{k}", np.random.default_rng(k).bytes(2000).hex())
    damaged = DAMAGE[damage](kept.path.read_bytes())
    kept.path.write_bytes(damaged)
    said = kept.put("j", "text")
    assert said is not None
    assert said.startswith(f"the cache {kept.path} was damaged (")
    assert said.endswith(f": it was moved to {kept.path}.damaged, and a new one was begun")
    assert (tmp_path / "file.damaged").read_bytes() == damaged
    assert kept.get("j") == "text"
    assert kept.put("k", "text") is None


def test_a_damaged_file_that_cannot_be_moved_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path, target: Path) -> None:
        raise PermissionError(f"cannot make {target}")

    kept = Cache(tmp_path / "file")
    kept.path.write_bytes(b"no database " * 100)
    monkeypatch.setattr(Path, "replace", refused)
    with pytest.raises(CacheError, match=r"not a database; name another folder in SATURATE_CACHE, remove"):
        kept.put("k", "text")


def test_threads_that_find_it_damaged_at_once_lose_nothing(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "file")
    kept.path.write_bytes(b"no database " * 100)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: kept.put(f"k{k}", f"text {k}"), range(16)))
    assert [kept.get(f"k{k}") for k in range(16)] == [f"text {k}" for k in range(16)]


OTHER_TEXTS: dict[str, object] = {
    "no zlib": b"damaged",
    "nothing": None,
    "text": "damaged",
    "a number": 5,
    "no UTF-8": zlib.compress(b"\xff"),
    "no JSON": zlib.compress(b"{"),
    "other JSON": zlib.compress(b'{"program": 5}'),
    "no object": zlib.compress(b"[1]"),
    "JSON without end": zlib.compress(b"[" * 100_000),
}


@pytest.mark.parametrize("damage", OTHER_TEXTS)
def test_an_entry_that_is_damaged_is_searched_again_told_and_replaced(damage: str) -> None:
    home = cache.default()
    assert home is not None
    best = sat.optimize(softmax, X, exact="bitwise")
    with closing(sqlite3.connect(home.path)) as db, db:
        db.execute("UPDATE kept SET text = ?", (OTHER_TEXTS[damage],))
    again, third = (sat.optimize(softmax, X, exact="bitwise") for _ in range(2))
    assert again.program == best.program
    assert len(again.report.notes) == 1
    assert again.report.notes[0].startswith(f"an entry of the cache {home.path} could not be read (")
    assert again.report.notes[0].endswith("): it was searched again")
    assert third.report.notes == (FROM_CACHE,)


def test_an_entry_whose_program_is_damaged_is_searched_again() -> None:
    home = cache.default()
    assert home is not None
    best, name = sat.optimize(softmax, X, exact="bitwise"), key(request(wrt=None, exact="bitwise"))
    text = home.get(name)
    assert text is not None
    home.put(name, text.replace(" = ", " ~ "))
    again = sat.optimize(softmax, X, exact="bitwise")
    assert again.program == best.program
    assert any("could not be read" in note for note in again.report.notes)


def test_a_schema_with_a_flipped_bit_breaks_nothing(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "file")
    kept.put("k", "text")
    whole = kept.path.read_bytes()
    begin = whole.find(b"CREATE TABLE")
    for at in range(begin - 30, begin + 75):
        for bit in (0x80, 0x01):
            kept.path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
            kept.get("k")
            kept.put("k", "new")
            assert kept.get("k") == "new", (at - begin, bit)


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    best = sat.optimize(softmax, X, exact="bitwise")
    assert any("SATURATE_CACHE=off" in note for note in best.report.notes)


def test_a_file_that_others_hold_is_waited_for_and_then_let_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Cache(tmp_path / "file")
    kept.put("k", "text")
    monkeypatch.setattr(cache, "PATIENCE", 0.01)
    other = sqlite3.connect(kept.path)
    other.execute("BEGIN EXCLUSIVE")
    assert kept.get("k") is None
    with pytest.raises(CacheError, match="locked"):
        kept.put("j", "text")
    other.close()
    assert kept.get("k") == "text"


def test_threads_and_processes_share_it(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "file")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: kept.put(f"k{k}", f"text {k}"), range(40)))
    program = (
        "import sys; from pathlib import Path; from saturate.cache import Cache\n"
        "kept = Cache(Path(sys.argv[1]))\n"
        "for k in range(40): kept.put(f'p{sys.argv[2]}-{k}', kept.get(f'k{k}'))"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(kept.path), str(n)]) for n in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert all(kept.get(f"p{n}-{k}") == f"text {k}" for n in range(3) for k in range(40))


def test_a_process_that_is_killed_while_it_writes_breaks_nothing(tmp_path: Path) -> None:
    kept = Cache(tmp_path / "file")
    kept.put("k", "text")
    program = (
        "import sys; from pathlib import Path; from saturate.cache import Cache\n"
        "kept = Cache(Path(sys.argv[1])); n = 0\n"
        "while True: kept.put(f'x{n}', 'text' * 1000); n += 1; print(n, flush=True)"
    )
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", program, str(kept.path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            for _ in range(5):
                process.stdout.readline()
            process.kill()
    assert kept.get("k") == "text"
    assert kept.get("x0") == "text" * 1000
    kept.put("j", "text")
