"""Runners by name: NumPy and CuPy, from the same definitions of the ops."""

from collections.abc import Callable

from saturate.program import Program
from saturate.runners.cupy_runner import CupyRunner
from saturate.runners.numpy_runner import NumpyRunner
from saturate.runners.runner import Runner

RUNNERS: dict[str, Callable[[Program], Runner]] = {"numpy": NumpyRunner, "cupy": CupyRunner}
"""Every runner by its name."""

__all__ = ["RUNNERS", "CupyRunner", "NumpyRunner", "Runner"]
