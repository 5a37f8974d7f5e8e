"""What the op tests share: cases, samples, a plain interpreter, and central differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

import numpy as np

from saturate.autodiff import gradient_program
from saturate.build import Builder
from saturate.op import AnyArray, Op, Type
from saturate.program import Program

FLOATS = ("float64", "float32", "float16")
NUMBERS = (*FLOATS, "int64", "int8", "uint8")
ALL = (*NUMBERS, "bool")
SCIPY = ("float64", "float32")


@dataclass(frozen=True)
class Case:
    """An op on operands of some types, beside the NumPy call that it stands for.

    `Type.low` and `Type.high` bound the samples; integers are drawn from 0 to 5 otherwise. `dtypes` are those
    that the float64 operands take in the tests of types.
    """

    op: Op
    operands: tuple[Type, ...]
    reference: Callable[..., Any]
    dtypes: tuple[str, ...] = ALL
    order: int = 2
    """How often the op can be differentiated at the samples."""

    def __str__(self) -> str:
        attributes = ",".join(f"{k}={v}" for k, v in self.op.attributes().items())
        return f"{self.op.name}[{attributes}]({', '.join(map(str, self.operands))})".replace(" ", "")

    def over(self, dtype: str) -> Case:
        """The same with this dtype in place of float64."""
        kinds = tuple(replace(x, dtype=dtype) if x.dtype == "float64" else x for x in self.operands)
        return replace(self, operands=kinds)

    def samples(self, seed: int = 0) -> list[AnyArray]:
        """One array an operand."""
        rng = np.random.default_rng(seed)
        return [sample(rng, x) for x in self.operands]


def sample(rng: np.random.Generator, x: Type) -> AnyArray:
    """Random values of this type, between its bounds."""
    if x.is_float:
        low, high = -2.0 if x.low is None else x.low, 2.0 if x.high is None else x.high
        return rng.uniform(low, high, x.shape).astype(x.dtype)
    low, high = 0 if x.low is None else x.low, 5 if x.high is None else x.high
    low = max(low, np.iinfo(x.dtype).min) if x.dtype != "bool" else low
    return rng.integers(ceil(low), floor(high), x.shape, endpoint=True).astype(x.dtype)


def single(op: Op, operands: Sequence[Type]) -> Program:
    """The program of one op, its inputs named x0, x1, …"""
    b = Builder()
    values = [b.input(f"x{k}", x) for k, x in enumerate(operands)]
    out = b.emit(op, *values)
    return b.program(op.name, (out.id,))


def run(program: Program, arrays: Sequence[AnyArray]) -> list[AnyArray]:
    """The results of a program, op by op, each of its declared type."""
    values: dict[str, AnyArray] = {}
    for given, array in zip(program.inputs, arrays, strict=True):
        values[given.value] = array
    for node in program.nodes:
        out = np.asarray(node.op.evaluate(np, *(values[v] for v in node.operands)))
        assert (out.shape, out.dtype.name) == (node.type.shape, node.type.dtype), node
        values[node.value] = out
    return [values[v] for v in program.results]


def float_inputs(program: Program) -> tuple[str, ...]:
    """The names of the inputs that have a gradient."""
    return tuple(i.name for i in program.inputs if i.type.is_float)


def assert_gradients(program: Program, arrays: Sequence[AnyArray], tolerance: float = 1e-6) -> None:
    """Gradients of ⟨cotangent, output⟩ by the float inputs agree with central differences in float64."""
    names = float_inputs(program)
    joint = gradient_program(program, names, seed="input")
    out = run(program, arrays)[0]
    cotangent = np.random.default_rng(1).uniform(-1.0, 1.0, out.shape)
    found = run(joint, [*arrays, cotangent])[len(joint.outputs) :]
    assert [name for name, _ in joint.gradients] == list(names)
    for name, gradient in zip(names, found, strict=True):
        slot = [i.name for i in program.inputs].index(name)
        expected = central_differences(program, arrays, slot, cotangent)
        np.testing.assert_allclose(gradient, expected, rtol=tolerance, atol=tolerance, err_msg=f"by {name}")


def central_differences(
    program: Program, arrays: Sequence[AnyArray], slot: int, cotangent: AnyArray, step: float = 1e-5
) -> AnyArray:
    """d⟨cotangent, output⟩ / d input, element by element."""
    x = arrays[slot]
    gradient = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        values = []
        for sign in (1.0, -1.0):
            moved = x.copy()
            moved[index] += sign * step
            values.append(run(program, [*arrays[:slot], moved, *arrays[slot + 1 :]])[0])
        high, low = values
        steady = (high == low) | (np.isnan(high) & np.isnan(low))  # infinities that the input does not move
        change = np.subtract(high, low, where=~steady, out=np.zeros_like(high))
        gradient[index] = np.sum(cotangent * change) / (2.0 * step)
    return gradient


def gradient_outputs(program: Program) -> list[Program]:
    """One program for each gradient of ⟨cotangent, output⟩, with the gradient as its output.

    The cotangent is the last input, so each can be differentiated again by it, too.
    """
    joint = gradient_program(program, float_inputs(program), seed="input")
    return [Program(name, joint.inputs, joint.nodes, (value,)) for name, value in joint.gradients]
