"""Progress is shown on a terminal and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest
from workloads import softmax

import saturate as sat


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_the_program_and_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    sat.optimize(softmax, sat.Type((5, 7)), wrt="x", check=False)
    assert "optimizing softmax: search 1" in terminal.getvalue()


def test_elsewhere_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", plain := io.StringIO())
    sat.optimize(softmax, sat.Type((5, 7)), wrt="x", check=False)
    assert plain.getvalue() == ""
