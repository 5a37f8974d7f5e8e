"""Contractions: order, factoring, traces, diagonals and outer products, which are one product under a sum.

A product is a node over a multiset and a sum over indices splits off what lacks them, so grouping and order
are no laws; δ(i,j) under a sum is a substitution; names of bound indices do not count.
"""

from __future__ import annotations

import numpy as np

from saturate.rules.identity import Array, Forms, Identity, identity
from saturate.rules.law import BITWISE, finite

_CHAIN = "Godbole, matrix chain products"
_COOKBOOK = "Matrix Cookbook, section 1.1"
_SYSTEMDS = "SystemDS, "


@identity(a="ij", b="jk", c="kl", where=finite("a", "b", "c"), source=_CHAIN)
def products_in_any_order(a: Array, b: Array, c: Array) -> Forms:
    """(a·b)·c = a·(b·c)."""
    return (a @ b) @ c, a @ (b @ c)


@identity(a="ij", b="jk", c="kl", where=finite("a", "b", "c"))
def contraction_is_products(a: Array, b: Array, c: Array) -> Forms:
    """Σ_jk a[i,j]·b[j,k]·c[k,l] = (a·b)·c."""
    return np.einsum("ij,jk,kl->il", a, b, c), (a @ b) @ c


@identity(a="ij", b="jk", source=_COOKBOOK)
def transpose_of_product(a: Array, b: Array) -> Forms:
    """(a·b)ᵀ = bᵀ·aᵀ."""
    return (a @ b).T, b.T @ a.T


@identity(a="ij", b="jk", c="jk", where=finite("a"), source=f"{_SYSTEMDS}simplifyDistributiveMatrixMult")
def product_distributes(a: Array, b: Array, c: Array) -> Forms:
    """a·b + a·c = a·(b + c)."""
    return a @ b + a @ c, a @ (b + c)


@identity(a="ij", b="jk")
def number_leaves_product(a: Array, b: Array) -> Forms:
    """(2·a)·b = 2·(a·b)."""
    return (2 * a) @ b, 2 * (a @ b)


@identity(a="ij", b="jk", where=finite("a", "b"), source=f"{_SYSTEMDS}simplifySumMatrixMult")
def sum_of_product(a: Array, b: Array) -> Forms:
    """Σ_ik (a·b)[i,k] = Σ_j (Σ_i a[i,j])·(Σ_k b[j,k])."""
    return np.sum(a @ b), np.sum(a, axis=0) @ np.sum(b, axis=1)


@identity(a="ij", b="jk", where=finite("a", "b"))
def row_sums_of_product(a: Array, b: Array) -> Forms:
    """Σ_k (a·b)[i,k] = a·(Σ_k b[·,k])."""
    return (a @ b).sum(axis=1), a @ b.sum(axis=1)


@identity(a="ij", b="ji", where=finite("a", "b"), source=_COOKBOOK)
def trace_is_cyclic(a: Array, b: Array) -> Forms:
    """tr(a·b) = tr(b·a)."""
    return np.trace(a @ b), np.trace(b @ a)


@identity(a="ij", b="jk", c="ki", where=finite("a", "b", "c"), source=_COOKBOOK)
def trace_of_three_is_cyclic(a: Array, b: Array, c: Array) -> Forms:
    """tr(a·b·c) = tr(c·a·b)."""
    return np.trace(a @ b @ c), np.trace(c @ a @ b)


@identity(a="ij", b="ji", where=finite("a", "b"), source=f"{_SYSTEMDS}simplifyTraceMatrixMult")
def trace_of_product(a: Array, b: Array) -> Forms:
    """tr(a·b) = Σ_ij a[i,j]·b[j,i]."""
    return np.trace(a @ b), np.sum(a * b.T)


@identity(a="ii", where=finite("a"), source=_COOKBOOK)
def trace_of_transpose(a: Array) -> Forms:
    """tr(aᵀ) = tr(a)."""
    return np.trace(a.T), np.trace(a)


@identity(a="ii", b="ii", where=finite("a", "b"), source=_COOKBOOK)
def trace_of_sum(a: Array, b: Array) -> Forms:
    """tr(a + b) = tr(a) + tr(b)."""
    return np.trace(a + b), np.trace(a) + np.trace(b)


@identity(a="ii", source=f"{_SYSTEMDS}simplifySumDiagToTrace")
def sum_of_diagonal(a: Array) -> Forms:
    """Σ_i a[i,i] = tr(a)."""
    return np.sum(np.diag(a)), np.trace(a)


@identity(a="ij", b="ji", where=finite("a", "b"), source=f"{_SYSTEMDS}simplifyDiagMatrixMult")
def diagonal_of_product(a: Array, b: Array) -> Forms:
    """(a·b)[i,i] = Σ_j a[i,j]·b[j,i]."""
    return np.diag(a @ b), np.sum(a * b.T, axis=1)


@identity(a="i", b="i", exact=BITWISE, where=finite("a", "b"))
def diagonal_of_outer(a: Array, b: Array) -> Forms:
    """(a⊗b)[i,i] = a[i]·b[i]."""
    return np.diag(np.outer(a, b)), a * b


@identity(a="i", where=finite("a"))
def diagonal_of_diagonal(a: Array) -> Forms:
    """diag(a)[i,i] = a[i]."""
    return np.diag(np.diag(a)), a


@identity(a="i", b="i", where=finite("a", "b"), source=_COOKBOOK)
def trace_of_outer(a: Array, b: Array) -> Forms:
    """tr(a⊗b) = Σ_i a[i]·b[i]."""
    return np.trace(np.outer(a, b)), a @ b


@identity(a="i", b="j", exact=BITWISE)
def outer_is_a_product(a: Array, b: Array) -> Forms:
    """a⊗b = a[i]·b[j], spread."""
    return np.outer(a, b), a[:, None] * b


@identity(a="i", b="j", exact=BITWISE)
def transpose_of_outer(a: Array, b: Array) -> Forms:
    """(a⊗b)ᵀ = b⊗a."""
    return np.outer(a, b).T, np.outer(b, a)


@identity(a="i", b="j", where=finite("a", "b"))
def sum_of_outer(a: Array, b: Array) -> Forms:
    """Σ_ij a[i]·b[j] = (Σ_i a[i])·(Σ_j b[j])."""
    return np.sum(np.outer(a, b)), a.sum() * b.sum()


@identity(a="i", b="j", c="j", where=finite("a"))
def outer_times_vector(a: Array, b: Array, c: Array) -> Forms:
    """(a⊗b)·c = a·(b·c)."""
    return np.outer(a, b) @ c, a * (b @ c)


@identity(a="ij", b="j", c="k", where=finite("c"))
def product_with_outer(a: Array, b: Array, c: Array) -> Forms:
    """a·(b⊗c) = (a·b)⊗c."""
    return a @ np.outer(b, c), np.outer(a @ b, c)


@identity(a="i", b="j", c="j", d="k", where=finite("a", "d"))
def product_of_outers(a: Array, b: Array, c: Array, d: Array) -> Forms:
    """(a⊗b)·(c⊗d) = (b·c)·(a⊗d)."""
    return np.outer(a, b) @ np.outer(c, d), (b @ c) * np.outer(a, d)


@identity(a="i", b="ij", c="j", where=finite("a", "b", "c"))
def bilinear_form(a: Array, b: Array, c: Array) -> Forms:
    """a·b·c = Σ_ij b[i,j]·(a⊗c)[i,j]."""
    return a @ b @ c, np.sum(b * np.outer(a, c))


IDENTITIES: tuple[Identity, ...] = (
    products_in_any_order, contraction_is_products, transpose_of_product, product_distributes,
    number_leaves_product, sum_of_product, row_sums_of_product, trace_is_cyclic, trace_of_three_is_cyclic,
    trace_of_product, trace_of_transpose, trace_of_sum, sum_of_diagonal, diagonal_of_product,
    diagonal_of_outer, diagonal_of_diagonal, trace_of_outer, outer_is_a_product, transpose_of_outer,
    sum_of_outer, outer_times_vector, product_with_outer, product_of_outers, bilinear_form,
)  # fmt: skip
