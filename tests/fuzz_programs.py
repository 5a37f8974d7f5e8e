"""Random programs of 30 steps and more: mixed ranks, axes of size one, shared values, gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

import numpy as np

from saturate.autodiff import gradient_program
from saturate.build import Builder, Value
from saturate.op import Type
from saturate.ops.arithmetic import add, div, mul, neg, sub
from saturate.ops.binary import greater, hypot, logaddexp, maximum, minimum
from saturate.ops.contraction import matmul
from saturate.ops.reduction import max, mean, min, sum
from saturate.ops.select import where
from saturate.ops.spreading import broadcast, reshape
from saturate.ops.structure import concatenate, flip, slice, transpose
from saturate.ops.unary import absolute, exp, expit, log, log1p, sqrt, square, tanh
from saturate.program import Program

SIZES = ((3, 5), (5, 5), (1, 7), (4, 1), (7, 3), (2, 3))
STEPS = 30
UNARY: tuple[Callable[[Value], Value], ...] = (
    tanh,
    neg,
    lambda x: square(tanh(x)),
    lambda x: exp(tanh(x)),
    lambda x: exp(neg(square(x))),
    lambda x: log(add(square(x), 1.0)),
    lambda x: log1p(square(tanh(x))),
    lambda x: sqrt(add(square(x), 0.5)),
    lambda x: div(1.0, add(square(x), 1.0)),
    absolute,
    expit,
    lambda x: maximum(x, 0.0),
    lambda x: logaddexp(tanh(x), 0.0),
    lambda x: mul(x, 0.5),
)
"""Functions that keep values in bounds, so that errors and not overflows are compared."""


def fuzz_program(random: Random, name: str = "fuzz") -> Program:
    """A program of at least 30 steps with several outputs; in two of three with gradients of one of them."""
    rows, columns = random.choice(SIZES)
    b = Builder()
    shapes = ((rows, columns), (rows, columns), (columns, rows), (rows, 1), (1, columns), (columns,), ())
    values = [b.input(f"x{k}", Type(shape)) for k, shape in enumerate((*shapes, (2, rows, columns)))]
    draw, steps = _Draw(random, values), STEPS + random.randrange(11)
    while len(b.nodes) < steps:
        values.append(draw.step())
    outputs = [v.id for v in values[len(b.inputs) :] if random.random() < 0.1]
    program = b.program(name, tuple(dict.fromkeys((*outputs, values[-1].id))))
    if not random.randrange(3):
        return program
    wrt = tuple(random.sample([i.name for i in b.inputs], 3))
    output = len(program.outputs) - 1
    scalar = not program.types[program.outputs[output]].shape
    return gradient_program(program, wrt, output, "ones" if scalar else "input")


@dataclass
class _Draw:
    """Draws one step after another; `values` grows outside."""

    random: Random
    values: list[Value] = field(default_factory=list)

    def step(self) -> Value:
        x = self._any(lambda v: True)
        match self.random.randrange(10):
            case 0 | 1 | 2:
                return self._binary(x)
            case 3 | 4:
                return self.random.choice(UNARY)(x)
            case 5 if x.shape:
                return self._reduced(x)
            case 6 if len(x.shape) == 2:
                y = self._any(lambda v: v.shape == x.shape)
                return tanh(matmul(x, transpose(y, (1, 0))))
            case 7 if len(x.shape) == 2:
                z = self._any(lambda v: len(v.shape) == 2 and v.shape[0] == x.shape[1], x.shape[1])
                return mul(matmul(x, z), 0.25) if z.shape[0] == x.shape[1] else tanh(x)
            case 8 if x.shape:
                return self._view(x)
            case _:
                y = self._spread(self._any(lambda v: _fits(v.shape, x.shape)), x.shape)
                return where(greater(x, y), x, mul(y, 0.5))

    def _any(self, fits: Callable[[Value], bool], default: int = 0) -> Value:
        found = [v for v in self.values if v.type.is_float and fits(v)] or self.values[:1]
        return self.random.choice(found)

    def _spread(self, y: Value, shape: tuple[int, ...]) -> Value:
        return y if y.shape == shape else broadcast(y, shape)

    def _binary(self, x: Value) -> Value:
        y = self._spread(self._any(lambda v: _fits(v.shape, x.shape)), x.shape)
        a, b = (x, y) if self.random.random() < 0.5 else (y, x)
        ops = (add, sub, lambda p, q: mul(p, tanh(q)), maximum, minimum, hypot)
        return self.random.choice(ops)(a, b)

    def _reduced(self, x: Value) -> Value:
        ways = [axes for n in range(1, len(x.shape) + 1) for axes in combinations(range(len(x.shape)), n)]
        axes = self.random.choice(ways)
        op = self.random.choice((sum, mean, max, min))
        return tanh(op(x, axes, bool(self.random.randrange(2))))

    def _view(self, x: Value) -> Value:
        rank = len(x.shape)
        match self.random.randrange(5):
            case 0:
                return transpose(x, tuple(self.random.sample(range(rank), rank)))
            case 1:
                return reshape(x, (int(np.prod(x.shape)),))
            case 2:
                return reshape(x, (x.shape[0], 1, *x.shape[1:])) if rank < 3 else sum(x, (0,))
            case 3:
                return flip(x, (self.random.randrange(rank),))
            case _:
                stop = tuple((n + 1) // 2 for n in x.shape)
                return concatenate((slice(x, (0,) * rank, stop), slice(x, (0,) * rank, stop)), 0)


def _fits(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False
