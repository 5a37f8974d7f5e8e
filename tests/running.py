"""What the tests of runners, source and checks share: programs, arguments, and source run as a module."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from op_checks import Case, sample
from workloads import WORKLOADS, Workload

from saturate.autodiff import gradient_program
from saturate.build import Builder, Value, apply
from saturate.op import AnyArray, Type
from saturate.ops.arithmetic import mul
from saturate.ops.binary import LogicalOr
from saturate.program import Program
from saturate.source import source
from saturate.text import save_constants
from saturate.trace import trace


def joint(load: Workload) -> Program:
    """Value and gradients of a workload; the cotangent is an input unless the value is a scalar."""
    program = trace(load.function, *load.types)
    scalar = not program.types[program.outputs[0]].shape
    return gradient_program(program, load.wrt, seed="ones" if scalar else "input")


JOINT = [joint(load.with_dtype(dtype)) for load in WORKLOADS for dtype in ("float32", "float64")]
JOINT_IDS = [f"{load.name}-{dtype}" for load in WORKLOADS for dtype in ("float32", "float64")]


def arguments(program: Program, seed: int = 0) -> list[AnyArray]:
    """One array an input, between its bounds."""
    rng = np.random.default_rng(seed)
    return [sample(rng, i.type) for i in program.inputs]


def between(case: Case) -> Program:
    """The op with a step before each operand and one after it: it touches no argument and no result."""
    b = Builder()
    operands = [_step(b.input(f"x{k}", x)) for k, x in enumerate(case.operands)]
    out = _step(b.emit(case.op, *operands))
    return b.program("between", (out.id,))


def _step(x: Value) -> Value:
    return apply(LogicalOr(), x, x) if x.dtype == "bool" else mul(x, 1.0 if x.type.is_float else 1)


def of_shape(case: Case, shape: tuple[int, ...]) -> Case:
    """The elementwise case on operands of another shape."""
    kinds = tuple(Type(shape, x.dtype, x.low, x.high) for x in case.operands)
    return Case(case.op, kinds, case.reference, case.dtypes)


def emitted(program: Program, folder: Path) -> dict[str, Any]:
    """The names that the emitted source defines, beside its saved arrays where it has some."""
    text = source(program, saved="emitted.npz")
    if "emitted.npz" in text:
        save_constants(program, folder / "emitted.npz")
    scope: dict[str, Any] = {"__file__": str(folder / "emitted.py")}
    exec(compile(text, "<emitted>", "exec"), scope)
    return scope


def by_source(program: Program, folder: Path, *arrays: Any) -> list[AnyArray]:
    """The results of a program by its emitted source, outputs before gradients."""
    functions = emitted(program, folder)
    if not program.gradients:
        return listed(functions[program.name](*arrays), len(program.outputs))
    value, gradients = functions["value_and_gradients"](*arrays)
    return [*listed(value, len(program.outputs)), *gradients]


def listed(value: Any, count: int) -> list[Any]:
    """A value of the source, which is a tuple where the program has several outputs."""
    return [value] if count == 1 else list(value)


def assert_same_bits(found: Iterable[Any], expected: Iterable[Any]) -> None:
    """Equal dtypes, shapes and bytes; any NaN equals any NaN."""
    for a, b in zip(found, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_array_equal(a, b, strict=True)
        if a.dtype.kind == "f":
            plain = ~np.isnan(a)
            np.testing.assert_array_equal(np.signbit(a[plain]), np.signbit(b[plain]))
