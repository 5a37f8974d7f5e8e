"""Lowering: sums, means, broadcasts, scales and dots are products, and which op computes them is a price.

A product with ones is Σ, a mean is 1/n·Σ, a scale on rows is a factor. So both forms are one value; the
lattice (`saturate.lattice`), lowering and targets choose the op, and only there do ones appear.
"""

from __future__ import annotations

import numpy as np

from saturate.rules.identity import Array, Forms, Identity, identity
from saturate.rules.law import BITWISE, finite

_DIAGONAL = "SystemDS, simplifyMatrixMultDiag"
_DOT = ("matmul", "vec_dot", "einsum")
_SUMS = ("sum", "mean", "einsum", "vec_dot")


@identity(a="ij", emits=("full", "matmul"), lacks=_SUMS)
def sum_as_matmul(a: Array) -> Forms:
    """Σ_j a[i,j] = a·1."""
    return a.sum(axis=1), a @ np.ones(a.shape[1], a.dtype)


@identity(a="ij", emits=("full", "matmul"), lacks=_SUMS)
def column_sum_as_matmul(a: Array) -> Forms:
    """Σ_i a[i,j] = 1·a."""
    return a.sum(axis=0), np.ones(a.shape[0], a.dtype) @ a


@identity(a="ij", emits=("full", "matmul"), lacks=_SUMS)
def mean_as_matmul(a: Array) -> Forms:
    """1/|j|·Σ_j a[i,j] = (a·1)/|j|."""
    return a.mean(axis=1), a @ np.ones(a.shape[1], a.dtype) / a.shape[1]


@identity(a="ij", where=finite("a"), emits=("full", "matmul"), lacks=_SUMS)
def mean_of_all_as_matmuls(a: Array) -> Forms:
    """1/(|i|·|j|)·Σ_ij a[i,j] = (1·a·1)/(|i|·|j|)."""
    return a.mean(), np.ones(a.shape[0], a.dtype) @ a @ np.ones(a.shape[1], a.dtype) / a.size


@identity(a="ij", exact=BITWISE)
def mean_is_a_sum(a: Array) -> Forms:
    """mean_j a[i,j] = (Σ_j a[i,j])/|j|."""
    return a.mean(axis=1), a.sum(axis=1) / a.shape[1]


@identity(a="i", emits=("full", "matmul"), lacks=("broadcast",))
def broadcast_as_matmul(a: Array) -> Forms:
    """Three rows a = 1⊗a."""
    return np.broadcast_to(a, (3, *a.shape)), np.ones((3, 1), a.dtype) @ a[None]


@identity(a="i", emits=("full", "matmul"), lacks=("broadcast",))
def broadcast_and_scale(a: Array) -> Forms:
    """Three rows a, each a third, as the gradient of a mean has them = (1⊗a)/3."""
    return np.broadcast_to(a, (3, *a.shape)) / 3, np.ones((3, 1), a.dtype) @ a[None] / 3


@identity(a="i", b="ij", where=finite("a", "b"), source=_DIAGONAL, emits=("mul",))
def scale_of_rows_as_matmul(a: Array, b: Array) -> Forms:
    """diag(a)·b = a[i]·b[i,j]."""
    return np.diag(a) @ b, a[:, None] * b


@identity(a="j", b="ij", where=finite("a", "b"), source=_DIAGONAL, emits=("mul",))
def scale_of_columns_as_matmul(a: Array, b: Array) -> Forms:
    """b·diag(a) = b[i,j]·a[j]."""
    return b @ np.diag(a), b * a


@identity(a="ij", where=finite("a"))
def product_with_identity(a: Array) -> Forms:
    """a·1 = a, where 1 is the identity matrix."""
    return a @ np.eye(a.shape[1], dtype=a.dtype), a


@identity(a="i", b="ij", c="jk", where=finite("a"), emits=("mul", "matmul"))
def scale_of_rows_leaves_product(a: Array, b: Array, c: Array) -> Forms:
    """(a[i]·b[i,j])·c = a[i]·(b·c)."""
    return (a[:, None] * b) @ c, a[:, None] * (b @ c)


@identity(a="j", b="ij", c="jk", emits=("mul", "matmul"))
def scale_goes_to_the_other_side(a: Array, b: Array, c: Array) -> Forms:
    """(b[i,j]·a[j])·c = b·(a[j]·c[j,k])."""
    return (b * a) @ c, b @ (a[:, None] * c)


@identity(a="i", b="ij", where=finite("a"), emits=("mul", "sum"))
def scale_leaves_sum(a: Array, b: Array) -> Forms:
    """Σ_j a[i]·b[i,j] = a[i]·Σ_j b[i,j]."""
    return (a[:, None] * b).sum(axis=1), a * b.sum(axis=1)


@identity(a="i", b="i", emits=_DOT)
def dot_of_vectors(a: Array, b: Array) -> Forms:
    """Σ_i a[i]·b[i] = a·b."""
    return np.sum(a * b), a @ b


@identity(a="ij", b="j", emits=_DOT)
def dot_of_matrix_and_vector(a: Array, b: Array) -> Forms:
    """Σ_j a[i,j]·b[j] = a·b."""
    return np.sum(a * b, axis=1), a @ b


@identity(a="ij", b="jk", emits=_DOT)
def dot_of_matrices(a: Array, b: Array) -> Forms:
    """Σ_j a[i,j]·b[j,k] = a·b."""
    return np.sum(a[:, :, None] * b, axis=1), a @ b


@identity(a="ij", b="ij", emits=_DOT)
def dot_of_rows(a: Array, b: Array) -> Forms:
    """Σ_j a[i,j]·b[i,j], row by row."""
    return np.sum(a * b, axis=1), np.einsum("ij,ij->i", a, b)


@identity(a="i", emits=_DOT)
def dot_with_itself(a: Array) -> Forms:
    """Σ_i a[i]² = a·a."""
    return np.sum(a**2), a @ a


IDENTITIES: tuple[Identity, ...] = (
    sum_as_matmul, column_sum_as_matmul, mean_as_matmul, mean_of_all_as_matmuls, mean_is_a_sum,
    broadcast_as_matmul, broadcast_and_scale, scale_of_rows_as_matmul, scale_of_columns_as_matmul,
    product_with_identity, scale_of_rows_leaves_product, scale_goes_to_the_other_side,
    scale_leaves_sum, dot_of_vectors, dot_of_matrix_and_vector, dot_of_matrices, dot_of_rows, dot_with_itself,
)  # fmt: skip
