"""Ops that move elements or leave some out, and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from saturate.build import Value, apply
from saturate.errors import ShapeError
from saturate.op import Op, Type, literal
from saturate.ops.spreading import Broadcast, Reshape, broadcast, check_axes, check_axis, reshape

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed

__all__ = [
    "Broadcast",
    "Concatenate",
    "Flip",
    "Pad",
    "Reshape",
    "Slice",
    "Transpose",
    "broadcast",
    "concatenate",
    "flip",
    "pad",
    "reshape",
    "slice",
    "transpose",
]


@dataclass(frozen=True)
class Transpose(Op):
    """out axis k = x axis permutation[k].

    Any dtype. Raises `ShapeError` unless `permutation` holds every axis of x once.
    """

    view: ClassVar[bool] = True
    permutation: tuple[int, ...]

    def type(self, *operands: Type) -> Type:
        """The permuted shape, the same dtype."""
        (x,) = operands
        if sorted(self.permutation) != list(range(x.rank)):
            raise ShapeError(
                f"transpose needs a permutation of the {x.rank} axes of {x}, got {self.permutation}"
            )
        return Type(tuple(x.shape[k] for k in self.permutation), x.dtype)

    def text(self, *operands: str) -> str:
        """`x.transpose(1, 0)`."""
        return f"{operands[0]}.transpose({', '.join(map(str, self.permutation))})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The inverse permutation of the cotangent."""
        inverse = sorted(range(len(self.permutation)), key=self.permutation.__getitem__)
        return (transpose(g, tuple(inverse)),)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A view."""
        (x,) = operands
        return t.view(x, self.permutation, tuple(x.shape[k] for k in self.permutation))


def transpose(x: Value, permutation: tuple[int, ...]) -> Value:
    """`Transpose`; `x` itself where nothing moves."""
    return x if permutation == tuple(range(len(x.shape))) else apply(Transpose(permutation), x)


@dataclass(frozen=True)
class Slice(Op):
    """out[i, j] = x[starts[0] + i·steps[0], starts[1] + j·steps[1]]; a basic slice that keeps every axis.

    One start, stop and step an axis, with 0 ≤ start ≤ stop ≤ size and step ≥ 1. Any dtype.
    Raises `ShapeError` otherwise.
    """

    view: ClassVar[bool] = True
    starts: tuple[int, ...]
    stops: tuple[int, ...]
    steps: tuple[int, ...]

    def type(self, *operands: Type) -> Type:
        """The sliced shape, the same dtype."""
        (x,) = operands
        parts = (self.starts, self.stops, self.steps)
        if any(len(p) != x.rank for p in parts) or any(
            not 0 <= a <= b <= n or s < 1 for a, b, s, n in zip(*parts, x.shape, strict=True)
        ):
            raise ShapeError(
                f"slice needs a start, a stop and a step for each axis of {x}, 0 <= start <= stop <= size "
                f"and step >= 1; got starts {self.starts}, stops {self.stops}, steps {self.steps}"
            )
        return Type(tuple(-(-(b - a) // s) for a, b, s in zip(*parts, strict=True)), x.dtype)

    def text(self, *operands: str) -> str:
        """`x[:3, 1:7:2]`."""
        parts = zip(self.starts, self.stops, self.steps, strict=True)
        index = [f"{a or ''}:{b}" + (f":{s}" if s != 1 else "") for a, b, s in parts]
        return f"{operands[0]}[{', '.join(index) or '...'}]"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent among zeros."""
        low, high = [], []
        for size, start, step, count in zip(operands[0].shape, self.starts, self.steps, g.shape, strict=True):
            low.append(start)
            high.append(size - start - ((count - 1) * step + 1 if count else 0))
        return (pad(g, tuple(low), tuple(high), tuple(s - 1 for s in self.steps)),)


def slice(x: Value, starts: tuple[int, ...], stops: tuple[int, ...], steps: tuple[int, ...] = ()) -> Value:
    """`Slice`; steps of 1 where none are given."""
    return apply(Slice(starts, stops, steps or (1,) * len(starts)), x)


@dataclass(frozen=True)
class Flip(Op):
    """out[i] = x[n − 1 − i] along each of axes.

    Any dtype. Raises `ShapeError` unless `axes` are sorted, distinct axes of x.
    """

    view: ClassVar[bool] = True
    axes: tuple[int, ...]

    def type(self, *operands: Type) -> Type:
        """The operand's type."""
        (x,) = operands
        check_axes(self.name, self.axes, x)
        return Type(x.shape, x.dtype)

    def text(self, *operands: str) -> str:
        """`x[:, ::-1]`."""
        index = ["::-1" if k in self.axes else ":" for k in range(max(self.axes, default=-1) + 1)]
        return f"{operands[0]}[{', '.join(index) or '...'}]"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent, flipped back."""
        return (flip(g, self.axes),)


def flip(x: Value, axes: tuple[int, ...]) -> Value:
    """`Flip`."""
    return apply(Flip(axes), x)


@dataclass(frozen=True)
class Pad(Op):
    """out = x with low, high and interior copies of fill before, after and between its elements, by axis.

    Counts are non-negative, one an axis, `interior` as in XLA: so many between each two neighbours. Any
    dtype. Raises `ShapeError` otherwise.
    """

    flops: ClassVar[float] = 0.0
    helper: ClassVar[str] = """\
def padded(x, low, high, interior, fill):
    spans = [n + max(n - 1, 0) * k for n, k in zip(x.shape, interior)]
    out = np.full(tuple(a + n + b for a, n, b in zip(low, spans, high)), fill, x.dtype)
    out[tuple(slice(a, a + n, k + 1) for a, n, k in zip(low, spans, interior))] = x
    return out
"""
    low: tuple[int, ...]
    high: tuple[int, ...]
    interior: tuple[int, ...]
    fill: float = 0.0

    def type(self, *operands: Type) -> Type:
        """The padded shape, the same dtype."""
        (x,) = operands
        parts = (self.low, self.high, self.interior)
        if any(len(p) != x.rank or any(n < 0 for n in p) for p in parts):
            raise ShapeError(
                f"pad needs three tuples of {x.rank} non-negative ints for {x}, got low {self.low}, "
                f"high {self.high}, interior {self.interior}"
            )
        spans = (n + max(n - 1, 0) * k for n, k in zip(x.shape, self.interior, strict=True))
        return Type(tuple(a + n + b for a, n, b in zip(self.low, spans, self.high, strict=True)), x.dtype)

    def text(self, *operands: str) -> str:
        """`padded(x, (1, 0), (2, 0), (0, 0), 0.0)`; `helper` defines `padded`."""
        return f"padded({operands[0]}, {self.low}, {self.high}, {self.interior}, {literal(self.fill)})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The part of the cotangent where the operand's elements stand."""
        steps = tuple(k + 1 for k in self.interior)
        counts = zip(self.low, operands[0].shape, steps, strict=True)
        stops = tuple(a + ((n - 1) * s + 1 if n else 0) for a, n, s in counts)
        return (slice(g, self.low, stops, steps),)


def pad(
    x: Value,
    low: tuple[int, ...],
    high: tuple[int, ...],
    interior: tuple[int, ...] = (),
    fill: float = 0.0,
) -> Value:
    """`Pad`; nothing between neighbours where no `interior` is given."""
    return apply(Pad(low, high, interior or (0,) * len(low), fill), x)


@dataclass(frozen=True)
class Concatenate(Op):
    """out = the operands one after another along axis.

    One or more operands of one dtype and of equal shape but for `axis`. Raises `ShapeError` otherwise.
    """

    operands: ClassVar[int | None] = None
    flops: ClassVar[float] = 0.0
    axis: int

    def type(self, *operands: Type) -> Type:
        """The joined shape, the same dtype."""
        if not operands:
            raise ShapeError("concatenate needs at least one operand, got none")
        first = operands[0]
        axis = check_axis(self.name, self.axis, first)

        def rest(x: Type) -> tuple[object, ...]:
            return (x.dtype, *x.shape[:axis], *x.shape[axis + 1 :], x.rank)

        if any(rest(x) != rest(first) for x in operands):
            raise ShapeError(
                f"concatenate needs operands of one dtype, equal in every axis but {axis}; "
                f"got {', '.join(map(str, operands))}"
            )
        total = 0
        for x in operands:
            total += x.shape[axis]
        return Type((*first.shape[:axis], total, *first.shape[axis + 1 :]), first.dtype)

    def text(self, *operands: str) -> str:
        """`np.concatenate((a, b), axis=1)`."""
        joined = ", ".join(operands) + ("," if len(operands) == 1 else "")
        return f"np.concatenate(({joined}), axis={self.axis})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """Each operand's part of the cotangent."""
        parts: list[Value] = []
        start = 0
        for x in operands:
            stop = start + x.shape[self.axis]
            starts, stops = [0] * len(g.shape), list(g.shape)
            starts[self.axis], stops[self.axis] = start, stop
            parts.append(slice(g, tuple(starts), tuple(stops)))
            start = stop
        return tuple(parts)


def concatenate(xs: Sequence[Value], axis: int) -> Value:
    """`Concatenate`."""
    return apply(Concatenate(axis), *xs)
