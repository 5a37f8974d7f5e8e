"""Random programs: elementwise ops, products, reductions and views over a few shapes, values read again."""

from __future__ import annotations

import numpy as np

from saturate.build import Builder, Value
from saturate.op import Type
from saturate.ops.arithmetic import add, mul, neg, sub
from saturate.ops.binary import greater, maximum
from saturate.ops.contraction import matmul
from saturate.ops.reduction import max, mean, sum
from saturate.ops.select import where
from saturate.ops.spreading import broadcast, reshape
from saturate.ops.structure import concatenate, flip, pad, slice, transpose
from saturate.ops.unary import square, tanh
from saturate.program import Program

OPS = 23


def random_program(seed: int, rows: int, columns: int) -> Program:
    """A program of 23 steps over a few shapes, some of its values results and some of them labelled."""
    rng = np.random.default_rng(seed)
    b = Builder()
    shapes = ((rows, columns), (rows, columns), (columns, rows), (rows, 1), (1, columns), (columns,), ())
    values = [b.input(f"x{k}", Type(shape)) for k, shape in enumerate(shapes)]
    for _ in range(OPS):
        values.append(_step(rng, values))
    names = {v.id: str(rng.choice(["a", "b", "total"])) for v in values if rng.random() < 0.2}
    b.relabel(names)
    results = [v.id for v in values if rng.random() < 0.15] or [values[-1].id]
    return b.program("random", (*results, values[-1].id))


def _step(rng: np.random.Generator, values: list[Value]) -> Value:
    x = values[int(rng.integers(len(values)))]
    match int(rng.integers(8)):
        case 0 | 1 | 2:
            return _binary(rng, x, values)
        case 3:
            return (tanh, neg, square)[int(rng.integers(3))](x)
        case 4 if len(x.shape) == 2:
            return _view(rng, x)
        case 5 if len(x.shape) == 2:
            op = (sum, mean, max)[int(rng.integers(3))]
            return op(x, ((0,), (1,), (0, 1))[int(rng.integers(3))], bool(rng.integers(2)))
        case 6 if len(x.shape) == 2:
            return tanh(matmul(x, transpose(_like(rng, x, values), (1, 0))))
        case _:
            return mul(x, 0.5)


def _like(rng: np.random.Generator, x: Value, values: list[Value]) -> Value:
    same = [v for v in values if v.shape == x.shape]
    return same[int(rng.integers(len(same)))]


def _binary(rng: np.random.Generator, x: Value, values: list[Value]) -> Value:
    """An op on x and a value of its shape, or one that is broadcast to it, on either side."""
    fitting = [v for v in values if _fits(v.shape, x.shape)]
    y = fitting[int(rng.integers(len(fitting)))]
    y = y if y.shape == x.shape else broadcast(y, x.shape)
    a, b = (x, y) if rng.random() < 0.5 else (y, x)
    op = (add, sub, mul, maximum)[int(rng.integers(4))]
    return where(greater(a, 0.0), a, b) if rng.random() < 0.2 else op(a, b)


def _fits(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _view(rng: np.random.Generator, x: Value) -> Value:
    rows, columns = x.shape
    match int(rng.integers(7)):
        case 0 | 1:
            return transpose(x, (1, 0))
        case 2:
            return reshape(x, (columns, rows))
        case 3:
            return reshape(x, (rows, 1, columns)) if rng.random() < 0.5 else reshape(x, (rows * columns,))
        case 4:
            return slice(x, (0, 0), (rows // 2 or 1, columns))
        case 5:
            return flip(x, (int(rng.integers(2)),))
        case _:
            return concatenate((x, pad(x, (0, 0), (0, 0))), int(rng.integers(2)))
