"""Sums of products over labelled axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters
from typing import TYPE_CHECKING, ClassVar

from saturate.build import Value, apply
from saturate.errors import ShapeError
from saturate.op import Op, Type, Work
from saturate.ops.arithmetic import mul
from saturate.ops.constants import Eye
from saturate.ops.elementwise import is_float
from saturate.ops.spreading import broadcast, reshape
from saturate.ops.structure import transpose

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed


def _moved(out: Type, operands: tuple[Type, ...]) -> float:
    return float(out.nbytes + sum(x.nbytes for x in operands))


def _one_dtype(who: str, operands: tuple[Type, ...]) -> str:
    if len({x.dtype for x in operands}) != 1:
        raise ShapeError(f"{who} needs operands of one dtype, got {', '.join(map(str, operands))}")
    return operands[0].dtype


@dataclass(frozen=True)
class Matmul(Op):
    """out[…, i, k] = Σ_j a[…, i, j] · b[…, j, k].

    Operands of one dtype, rank 2 or more, equal batch axes. Raises `ShapeError` otherwise.
    """

    operands: ClassVar[int | None] = 2
    ufunc: ClassVar[bool] = True

    def type(self, *operands: Type) -> Type:
        """Batch axes, rows of a, columns of b; the operands' dtype."""
        a, b = operands
        dtype = _one_dtype(self.name, operands)
        if min(a.rank, b.rank) < 2 or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
            raise ShapeError(
                f"matmul needs operands [..., i, j] and [..., j, k] of rank 2 or more with equal leading "
                f"axes, got {a} and {b}"
            )
        return Type((*a.shape[:-1], b.shape[-1]), dtype)

    def text(self, *operands: str) -> str:
        """`a @ b`."""
        return f"{operands[0]} @ {operands[1]}"

    def into(self, out: str, *operands: str) -> str:
        """`text` as a call that writes its result into the array `out`."""
        return f"np.matmul({operands[0]}, {operands[1]}, out={out})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """g bᵀ and aᵀ g."""
        a, b = operands
        return matmul(g, _swapped(b)), matmul(_swapped(a), g)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A contraction over the shared axis."""
        a, b = operands
        if not is_float(a):
            return None
        batch = ascii_letters[3 : 1 + len(a.shape)]
        return t.contract((batch + "ab", batch + "bc"), batch + "ac", a, b)

    def work(self, out: Type, *operands: Type) -> Work:
        """A multiplication and an addition for each product."""
        return Work(2.0 * out.size * operands[0].shape[-1], _moved(out, operands))


def _swapped(x: Value) -> Value:
    rank = len(x.shape)
    return transpose(x, (*range(rank - 2), rank - 1, rank - 2))


def matmul(a: Value, b: Value) -> Value:
    """`Matmul`."""
    return apply(Matmul(), a, b)


@dataclass(frozen=True)
class VecDot(Op):
    """out[…] = Σ_i a[…, i] · b[…, i].

    Operands of one dtype and one shape, rank 1 or more. Raises `ShapeError` otherwise.
    """

    operands: ClassVar[int | None] = 2
    ufunc: ClassVar[bool] = True

    def type(self, *operands: Type) -> Type:
        """The shape without its last axis; the operands' dtype."""
        a, b = operands
        dtype = _one_dtype(self.name, operands)
        if a.shape != b.shape or not a.shape:
            raise ShapeError(f"vec_dot needs operands of one shape, rank 1 or more, got {a} and {b}")
        return Type(a.shape[:-1], dtype)

    def text(self, *operands: str) -> str:
        """`np.vecdot(a, b)`."""
        return f"np.vecdot({operands[0]}, {operands[1]})"

    def into(self, out: str, *operands: str) -> str:
        """`text` as a call that writes its result into the array `out`."""
        return f"np.vecdot({operands[0]}, {operands[1]}, out={out})"

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent, repeated, times the other operand."""
        a, b = operands
        spread = broadcast(reshape(g, (*g.shape, 1)), a.shape)
        return mul(spread, b), mul(spread, a)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A contraction over the last axis."""
        a, b = operands
        labels = ascii_letters[: len(a.shape)]
        return t.contract((labels, labels), labels[:-1], a, b) if is_float(a) else None

    def work(self, out: Type, *operands: Type) -> Work:
        """A multiplication and an addition for each product."""
        return Work(2.0 * operands[0].size, _moved(out, operands))


def vec_dot(a: Value, b: Value) -> Value:
    """`VecDot`."""
    return apply(VecDot(), a, b)


@dataclass(frozen=True)
class Einsum(Op):
    """out[output] = Σ over all other labels of the product of the operands, as `spec` labels their axes.

    `spec` is NumPy's with an explicit output, one letter an axis, no spaces and no ellipsis: "ij,jk->ik". A
    label may stand twice in one operand (its diagonal), in one operand only, or in many; each output label
    stands once and in some operand. One or more operands of one dtype; a label has one size wherever it
    stands (broadcast first). Raises `ShapeError` otherwise.
    """

    operands: ClassVar[int | None] = None
    spec: str

    @property
    def labels(self) -> tuple[tuple[str, ...], str]:
        """The labels of each operand, and of the result."""
        inputs, _, output = self.spec.partition("->")
        return tuple(inputs.split(",")), output

    def sizes(self, *operands: Type) -> dict[str, int]:
        """The size of each label, in order of first use; raises `ShapeError` where one has two."""
        sizes: dict[str, int] = {}
        for labels, x in zip(self.labels[0], operands, strict=True):
            for label, size in zip(labels, x.shape, strict=True):
                if sizes.setdefault(label, size) != size:
                    raise ShapeError(
                        f"einsum {self.spec!r} needs one size for label {label!r}, got {sizes[label]} and "
                        f"{size} in {', '.join(map(str, operands))}; broadcast the operands first"
                    )
        return sizes

    def type(self, *operands: Type) -> Type:
        """The sizes of the output labels; the operands' dtype."""
        self._check(operands)
        sizes = self.sizes(*operands)
        return Type(tuple(sizes[label] for label in self.labels[1]), _one_dtype(self.name, operands))

    def _check(self, operands: tuple[Type, ...]) -> None:
        spec = self.spec
        if spec.count("->") != 1 or not set(spec) <= {*ascii_letters, *",->"}:
            raise ShapeError(f"einsum needs a spec like 'ij,jk->ik' with an explicit output, got {spec!r}")
        inputs, output = self.labels
        if [len(labels) for labels in inputs] != [x.rank for x in operands]:
            raise ShapeError(
                f"einsum {spec!r} needs {len(inputs)} operand(s) with one axis a label, "
                f"got {', '.join(map(str, operands)) or 'none'}"
            )
        if len(set(output)) != len(output) or not set(output) <= {*"".join(inputs)}:
            raise ShapeError(f"einsum {spec!r} needs output labels that stand once and in some operand")

    def text(self, *operands: str) -> str:
        """`np.einsum('ij,jk->ik', a, b)`; copied where NumPy would answer with a view of its one operand."""
        inputs, output = self.labels
        view = len(inputs) == 1 and set(inputs[0]) == set(output)
        return f"np.einsum({self.spec!r}, {', '.join(operands)})" + (".copy()" if view else "")

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """For each operand, the einsum of the cotangent with the others; see `_cotangent`."""
        return tuple(self._cotangent(k, g, operands) for k in range(len(operands)))

    def _cotangent(self, k: int, g: Value, operands: tuple[Value, ...]) -> Value:
        """Einsum of g and the other operands to operand k's labels.

        A label that stands again in operand k is spread over its diagonal by an identity matrix; one that
        neither g nor another operand has was summed there alone, so the cotangent repeats along it.
        """
        inputs, output = self.labels
        labels = [output, *inputs[:k], *inputs[k + 1 :]]
        factors = [g, *operands[:k], *operands[k + 1 :]]
        unused = (letter for letter in ascii_letters if letter not in self.spec)
        target = ""
        for label, size in zip(inputs[k], operands[k].shape, strict=True):
            if label in target:
                again = next(unused, "")
                labels.append(label + again)
                factors.append(g.builder.emit(Eye(size, g.dtype)))
                label = again
            target += label
        present = "".join(label for label in target if label in "".join(labels))
        found = _einsum_or_transpose(labels, present, factors)
        if present == target:
            return found
        shape = operands[k].shape
        kept = (n if label in present else 1 for label, n in zip(target, shape, strict=True))
        return broadcast(reshape(found, tuple(kept)), shape)

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """A contraction."""
        return t.contract(*self.labels, *operands) if is_float(operands[0]) else None

    def work(self, out: Type, *operands: Type) -> Work:
        """For each term a multiplication an operand after the first, and an addition where it is summed."""
        sizes = self.sizes(*operands)
        steps = len(operands) - (set(sizes) == set(self.labels[1]))
        return Work(float(steps * prod(sizes.values())), _moved(out, operands))


def _einsum_or_transpose(labels: Sequence[str], output: str, factors: Sequence[Value]) -> Value:
    if len(labels) == 1 and sorted(labels[0]) == sorted(output):
        return transpose(factors[0], tuple(labels[0].index(label) for label in output))
    return einsum(f"{','.join(labels)}->{output}", *factors)


def einsum(spec: str, *xs: Value) -> Value:
    """`Einsum`."""
    return apply(Einsum(spec), *xs)
