"""Structure: transposes and broadcasts are names of indices; opaque ops are equal where their operands are.

A renaming goes into leaves and products. Of an opaque op (a reshape that splits or joins axes, a gather, a
concatenation) nothing is claimed but that it is a function: equal operands give equal results.
"""

from __future__ import annotations

import numpy as np

from saturate.rules.identity import Array, Forms, Identity, identity
from saturate.rules.law import BITWISE, finite

_TASO = "TASO, transpose"
_SYSTEMDS = "SystemDS, "


@identity(a="ij", exact=BITWISE, source=_TASO)
def transpose_of_transpose(a: Array) -> Forms:
    """(aᵀ)ᵀ = a."""
    return a.T.T, a


@identity(a="ijk", exact=BITWISE)
def transposes_compose(a: Array) -> Forms:
    """Two rotations of three axes are one the other way."""
    return a.transpose(1, 2, 0).transpose(1, 2, 0), a.transpose(2, 0, 1)


@identity(a="ij")
def function_through_transpose(a: Array) -> Forms:
    """exp(aᵀ)ᵀ = exp(a)."""
    return np.exp(a.T).T, np.exp(a)


@identity(a="ij", b="i", exact=BITWISE, source=_TASO)
def sum_through_transpose(a: Array, b: Array) -> Forms:
    """(aᵀ + b)ᵀ = a[i,j] + b[i]."""
    return (a.T + b).T, a + b[:, None]


@identity(a="ij", exact=BITWISE)
def maximum_through_transpose(a: Array) -> Forms:
    """max of the columns of aᵀ = max of the rows of a."""
    return a.T.max(axis=0), a.max(axis=1)


@identity(a="ij", source=f"{_SYSTEMDS}simplifyUnaryAggReorgOperation")
def total_through_transpose(a: Array) -> Forms:
    """Σ of the columns of aᵀ = Σ of the rows of a."""
    return a.T.sum(axis=0), a.sum(axis=1)


@identity(a="ij", where=finite("a"))
def sums_one_by_one(a: Array) -> Forms:
    """Σ_j Σ_i a[i,j] = Σ_ij a[i,j]."""
    return a.sum(axis=0).sum(), a.sum()


@identity(a="ij", exact=BITWISE)
def axis_of_size_one(a: Array) -> Forms:
    """An axis of size one that comes and goes changes nothing."""
    return np.squeeze(np.expand_dims(a, 1), 1), a


@identity(a="ij")
def sum_beside_axis_of_size_one(a: Array) -> Forms:
    """Σ_j a[i,1,j] = Σ_j a[i,j]."""
    return np.expand_dims(a, 1).sum(axis=2)[:, 0], a.sum(axis=1)


@identity(a="ij")
def function_of_broadcast(a: Array) -> Forms:
    """exp(copies of a) = copies of exp(a)."""
    return np.exp(np.broadcast_to(a, (4, *a.shape))), np.broadcast_to(np.exp(a), (4, *a.shape))


@identity(a="i")
def sum_of_broadcast(a: Array) -> Forms:
    """Σ of four copies of a = 4·a."""
    return np.broadcast_to(a, (4, *a.shape)).sum(axis=0), 4 * a


@identity(a="ij", exact=BITWISE)
def reshape_to_its_shape(a: Array) -> Forms:
    """A reshape to the shape that there is changes nothing."""
    return a.reshape(a.shape), a


@identity(a="ij", exact=BITWISE)
def reshape_to_axes_of_one(a: Array) -> Forms:
    """A reshape that only adds axes of size one is a view of names."""
    return a.reshape(a.shape[0], 1, a.shape[1]), a[:, None, :]


@identity(a="ijk")
def function_of_joined_axes(a: Array) -> Forms:
    """exp(joinᵀ)ᵀ = exp(join) of a with its first two axes joined, as heads are."""
    return np.exp(a.reshape(-1, a.shape[2]).T).T, np.exp(a.reshape(-1, a.shape[2]))


@identity(a="ij", b="jk")
def reshape_of_equals(a: Array, b: Array) -> Forms:
    """flat(a·b) = flat((bᵀ·aᵀ)ᵀ)."""
    return (a @ b).reshape(-1), (b.T @ a.T).T.reshape(-1)


@identity(a="ij", at="k<i")
def gather_of_equals(a: Array, at: Array) -> Forms:
    """exp(aᵀ)ᵀ[at] = exp(a)[at]."""
    return np.exp(a.T).T[at], np.take(np.exp(a), at, axis=0)


@identity(a="ij", b="kj")
def concatenation_of_equals(a: Array, b: Array) -> Forms:
    """aᵀᵀ and exp(bᵀ)ᵀ one after another = a and exp(b)."""
    return np.concatenate((a.T.T, np.exp(b.T).T)), np.concatenate((a, np.exp(b)))


@identity(a="ij", b="ij", exact=BITWISE)
def stack_is_concatenation(a: Array, b: Array) -> Forms:
    """A stack of a and b = a and b one after another along a new axis."""
    return np.stack((a, b)), np.concatenate((a[None], b[None]))


@identity(a="ij", b="k")
def factor_of_opaques(a: Array, b: Array) -> Forms:
    """2·b·flat(a) + 3·b·flat(a) = 5·b·flat(a): to the algebra an opaque value is a variable."""
    return 2 * b.sum() * a.reshape(-1) + 3 * b.sum() * a.reshape(-1), 5 * b.sum() * a.reshape(-1)


IDENTITIES: tuple[Identity, ...] = (
    transpose_of_transpose, transposes_compose, function_through_transpose, sum_through_transpose,
    maximum_through_transpose, total_through_transpose, sums_one_by_one, axis_of_size_one,
    sum_beside_axis_of_size_one, function_of_broadcast, sum_of_broadcast, reshape_to_its_shape,
    reshape_to_axes_of_one, function_of_joined_axes, reshape_of_equals, gather_of_equals,
    concatenation_of_equals, stack_is_concatenation, factor_of_opaques,
)  # fmt: skip
