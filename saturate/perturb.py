"""How large the rounding errors of a program can be, not how large they happen to be: each rounding moved
at random.

At one point a program can be right by luck: where a softmax is saturated, two sums of the same numbers
cancel to an exact zero that another order of the same sums misses. So the baseline's error is measured with
every result moved by up to one unit in the last place, and with every operand of a sum or contraction moved
(Monte Carlo arithmetic, Parker 1997). Numbers of one sign are rounded with a bias, which independent moves
do not show, since they cancel in the next sum: so all elements of a value also move together, one unit up or
down. Results that are exact, such as maxima, comparisons and views, are not moved.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np

from saturate.op import AnyArray
from saturate.ops.arithmetic import Neg
from saturate.ops.binary import Fmax, Fmin, Heaviside, Maximum, Minimum
from saturate.ops.constants import Constant, Eye, Full, Iota
from saturate.ops.contraction import Einsum, Matmul, VecDot
from saturate.ops.reduction import Cumsum, Max, Mean, Min, Sum
from saturate.ops.select import Where
from saturate.ops.unary import Abs, Ceil, Floor, Rint, Sign, Trunc
from saturate.program import Node, Program
from saturate.runners.evaluate import evaluate

SUMS = (Sum, Mean, Cumsum, Matmul, Einsum, VecDot)
EXACT = (Neg, Abs, Sign, Floor, Ceil, Rint, Trunc, Max, Min, Maximum, Minimum, Fmax, Fmin, Heaviside, Where)
MADE = (Constant, Eye, Full, Iota)
UNMOVED = EXACT + MADE + SUMS
PLACES = 4096
"""So many places there are to read directions from."""
ARGUMENTS = 1 << 32
"""Added to the seed for the moves of arguments, so that they are not those of roundings."""


def perturbed(program: Program, arrays: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """The results of the program with its roundings moved at random; equal for equal seeds."""
    longest = max((t.size for t in program.types.values()), default=0)
    moves = _Moves(seed, longest, common=(-1, 1))

    def moved(node: Node, operands: list[Any]) -> Any:
        if isinstance(node.op, SUMS):
            operands = [moves.of(x) for x in operands]
        result = node.op.evaluate(np, *operands)
        return moves.of(result) if _rounds(node) else result

    return evaluate(program, *arrays, by=moved)


def nearby(arrays: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """The arguments with each finite number up or down one unit in the last place, or kept."""
    moves = _Moves(seed + ARGUMENTS, max((np.size(a) for a in arrays), default=0))
    return tuple(moves.of(a) for a in arrays)


def _rounds(node: Node) -> bool:
    return node.type.is_float and not node.op.view and not isinstance(node.op, UNMOVED)


class _Moves:
    """Random directions for arrays of up to `longest` elements: drawn once, read from changing places.

    With one of `common` for each array, by which all its elements move together besides.
    """

    def __init__(self, seed: int, longest: int, common: tuple[int, ...] = (0,)) -> None:
        self._random, self._common = Random(seed), common
        self._steps = np.random.default_rng(seed).integers(-1, 2, longest + PLACES, dtype=np.int8)
        self._factors: dict[tuple[np.dtype[Any], int], AnyArray] = {}

    def of(self, x: Any) -> Any:
        """Each element up, down or kept, one unit in the last place of its magnitude, and all of them
        together; infinities stay.
        """
        x = np.asarray(x)
        if x.dtype.kind != "f":
            return x
        common = self._random.choice(self._common)
        if (x.dtype, common) not in self._factors:
            self._factors[x.dtype, common] = 1 + (self._steps + common) * np.finfo(x.dtype).eps
        start = self._random.randrange(PLACES)
        return x * self._factors[x.dtype, common][start : start + x.size].reshape(x.shape)
