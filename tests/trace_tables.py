"""Expressions in NumPy by family, over arrays whose names tell their shapes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

SHAPES: dict[str, tuple[int, ...]] = {
    "x": (3, 5), "y": (3, 5), "w": (5, 7), "v": (5,), "u": (3,), "c": (2, 3, 5), "d": (2, 5, 7), "q": (5, 5),
    "s": (), "r": (1, 5), "k": (3, 1), "e": (0, 5), "t": (7, 3, 5, 2), "z": (3, 5, 5),
}  # fmt: skip
MASKS = {"m": (3, 5), "n": (5,)}
INDICES = {"i": (7,), "j": (7,), "g": (2, 3), "a": (), "h": (3, 7), "b": (0,)}
KNOWN: dict[str, Any] = {
    "IDX": np.array([2, 0, -1, 1]),
    "GRID": np.array([[0, 2, 1], [-1, 0, 0]]),
    "MASK": np.eye(3, 5, dtype=bool),
    "PART": np.array([True, False, True]),
    "ROW": np.arange(5.0),
    "COL": np.arange(3.0)[:, None],
    "F32": np.float32(0.5),
    "F64": np.float64(1.5),
    "I8": np.int8(2),
    "ZERO_D": np.array(2.0),
}


def listed(text: str) -> list[str]:
    """The expressions of a block, which semicolons part."""
    return [part.strip() for part in text.split(";")]


def each(template: str, *choices: Sequence[str]) -> list[str]:
    """The template with every combination of the choices."""
    return [template.format(*chosen) for chosen in product(*choices)]


UNARY = """exp expm1 exp2 log log1p log2 log10 sqrt cbrt square reciprocal tanh sinh cosh sin cos tan arctan
    absolute fabs sign floor ceil trunc rint negative positive isnan isfinite isinf logical_not degrees
    radians deg2rad rad2deg conjugate invert""".split()
BINARY = """add subtract multiply divide floor_divide remainder power float_power maximum minimum fmax fmin
    arctan2 hypot logaddexp heaviside less less_equal greater greater_equal equal not_equal fmod logical_and
    logical_or logical_xor bitwise_and bitwise_or bitwise_xor""".split()

SCIPY = listed(
    """
special.expit(x) ; special.erf(x) ; special.log_ndtr(x) ; special.gammaln(x) ; special.psi(x) ;
special.erfcx(x) ; special.xlogy(x, np.abs(y)) ; special.xlogy(x, 2.0) ; special.xlogy(0.5, np.abs(x)) ;
special.xlogy(x, ROW + 1) ; special.xlogy(x, F64) ; special.xlogy(x, np.abs(v)) ;
special.xlogy.outer(u, np.abs(v)) ; special.xlogy.reduce(np.abs(u)) ; special.expit(s) ; special.xlogy(x, 1)
    """
)

FLOATING = listed(
    """
np.round(x, 1) ; x.round(-1) ; np.linalg.matrix_power(q, 5) ; np.around(x, decimals=2)
    """
)

_AXES = (
    "axis=None",
    "axis=0",
    "axis=-1",
    "axis=(0, 1)",
    "axis=(-1,)",
    "axis=1, keepdims=True",
    "keepdims=True",
)
_REDUCING = ("sum", "prod", "max", "min", "mean", "var", "std", "any", "all")
REDUCTIONS = [
    *each("np.{}(x, {})", (*_REDUCING, "ptp"), _AXES),
    *each("np.{}(x, axis=())", _REDUCING),
    *each("c.{}(axis=(0, 2), keepdims=True)", _REDUCING),
    *each("np.{}(x, axis=0, dtype={})", ("sum", "prod", "mean", "cumsum"), ("'float32'", "'float64'", "int")),
    *each("np.{}(x, axis=0, dtype={})", ("var", "std"), ("'float32'", "'float64'")),
    *each("np.{}(x, axis=1, dtype='{}')", ("sum", "prod", "cumsum"), ("int8", "uint16", "bool", "float16")),
    *each("np.{}(x, dtype='float16')", ("mean", "var")),
    *each("np.{}(x, ddof=1)", ("var", "std")),
    *listed(
        """
np.var(x, axis=0, ddof=2) ; x.std(axis=1, ddof=1, keepdims=True) ; np.var(x, 0, None, None, 1) ;
np.var(x, axis=1, correction=1) ; np.var(x, axis=0, ddof=3) ;
np.var(x, 0, mean=np.mean(x, 0, keepdims=True)) ; np.sum(x, 1) ; np.sum(s) ; np.mean(s) ; np.max(s) ;
np.var(s) ; np.sum(s, axis=0) ; np.sum(e) ; np.sum(e, 0) ; np.prod(e, 0) ; np.max(e, 1) ;
np.max(e, 0, initial=1) ; np.any(e, 0) ; np.all(e) ; np.mean(e, 0) ; np.var(e) ; np.sum(x, initial=2) ;
np.prod(x, 0, initial=3) ; np.max(x, 1, initial=1) ; np.min(x, initial=0) ; np.sum(x, 1, where=m) ;
np.sum(x, where=MASK) ; np.prod(x, 0, where=m) ; np.max(x, 1, initial=0, where=m) ; np.mean(x, 1, where=m) ;
np.mean(x, where=MASK) ; np.any(x, 0, where=m) ; np.all(x, 0, where=m) ; np.sum(v, where=n) ; np.argmax(x) ;
np.argmax(x, axis=0) ; np.argmin(x, -1, keepdims=True) ; x.argmax(keepdims=True) ; np.argmax(s) ;
x.argmin(axis=1) ; np.cumsum(x) ; np.cumsum(x, axis=0) ; x.cumsum(-1) ; np.cumsum(s) ; np.cumsum(e, 0) ;
np.count_nonzero(x) ; np.count_nonzero(x, axis=1, keepdims=True) ; np.amax(x, 1) ; np.amin(x, 0) ; x.max(1) ;
x.sum(0, 'float64') ; x.mean() ; x.prod(1, keepdims=True) ; x.any() ; x.all(1) ; np.sum(t, axis=(1, -1))
    """
    ),
]

_ASSOCIATIVE = "add multiply maximum minimum fmax fmin logaddexp hypot logical_or".split()
_OTHERS = "logical_and logical_xor subtract divide arctan2 floor_divide remainder".split()
_OUTER = """add subtract multiply divide maximum minimum fmax power logaddexp arctan2 hypot less equal
    heaviside logical_or remainder""".split()
UFUNC_METHODS = [
    *each("np.{}.reduce(x{})", _ASSOCIATIVE + _OTHERS, ("", ", axis=1", ", axis=-1, keepdims=True")),
    *each("np.{}.reduce(x, axis=None)", _ASSOCIATIVE),
    *each("np.{}.outer({})", _OUTER, ("np.abs(u), np.abs(v)", "np.abs(x), 2", "ROW, np.abs(v)")),
    *listed(
        """
np.add.reduce(c, axis=(0, 2)) ; np.maximum.reduce(c, axis=(0, -1), keepdims=True) ;
np.logaddexp.reduce(c, (0, 1)) ; np.add.reduce(x, dtype='float64') ; np.add.reduce(x, initial=2) ;
np.multiply.reduce(e) ; np.add.reduce(x, where=m) ; np.subtract.reduce(x, 0, keepdims=True) ;
np.power.reduce(np.abs(x), 0) ; np.logaddexp.reduce(x, initial=1.0) ; np.fmax.reduce(x, initial=0) ;
np.bitwise_and.reduce(m) ; np.bitwise_or.reduce(m, 1) ; np.equal.reduce(m) ; np.logaddexp.reduce(e) ;
np.heaviside.reduce(x, 0) ; np.add.accumulate(x) ; np.add.accumulate(x, axis=1) ;
np.add.accumulate(x, 0, 'float64') ; np.logical_xor.reduce(m, 0) ; np.maximum.reduce(v) ;
np.add.reduce(s, ()) ; np.multiply.outer(x, c) ; np.add.outer(s, v) ; np.add.outer(v, s) ;
np.add.outer(v, F64) ; np.less.outer(2, v) ; np.add.outer(v, [1, 2]) ; np.add.outer(v, u, dtype='float64')
    """
    ),
]

OPERATORS = listed(
    """
x + y ; x - 2 ; 2 - x ; x * 2.5 ; x / 3 ; 1 / (x + 10) ; x // 2 ; 7 // (x + 10) ; x % 3 ; 5 % (x + 10) ; -x ;
+x ; abs(x) ; x ** 2 ; x ** 3 ; x ** 0.5 ; x ** 0 ; x ** 1 ; x ** 2.0 ; 2.0 ** x ; divmod(x, 2) ;
(x + 9) ** -1.0 ; divmod(9, x + 10) ; np.abs(x) ** np.abs(v) ; x < y ; x <= 1 ; 2 > x ; x >= y ; x == y ;
x != 0 ; ~m ; m & (x > 0) ; m | n ; m ^ n ; True & m ; m | False ; x @ w ; v @ w ; x @ v ; v @ v ; ROW @ w ;
x @ ROW ; COL + x ; x * ROW ; x + r ; k + r ; s * x ; x - s ; x + F64 ; F64 * x ; F32 - x ; x / F32 ; x + I8 ;
I8 ** np.abs(v) ; ZERO_D * x ; x / ZERO_D ; x + True ; True + x ; x + [1, 2, 3, 4, 5] ; [1.0] * v ;
x * m ; x + n ; x / np.sqrt(64) ; x ** F64 ; x ** F32 ; x ** I8 ; x ** np.float64(2) ;
x ** np.array(2) ; x ** True ; sum(v) ;
m + m ; m * n ; x.shape[0] * x ; x.shape[-1] ** -0.5 * x ; len(x) * x ; x.ndim + x ; x / x.size ;
(x.dtype == 'float32') * x ; np.add(x, y) ; np.add(x, y, dtype='float64') ;
np.multiply(x, 2, dtype='float32', casting='unsafe') ; np.true_divide(x, 4) ; np.exp(x, dtype='float64') ;
np.sqrt(x, where=True) ; np.mod(x, 2) ; np.abs(x) ; np.add(1, v) ; np.pow(x, 2)
    """
)

STRUCTURE = listed(
    """
np.reshape(x, (5, 3)) ; np.reshape(x, -1) ; x.reshape(5, -1) ; x.reshape((1, 15)) ; x.reshape(3, 5) ;
s.reshape(1, 1) ; np.reshape(x, (5, 3), order='F') ; c.reshape(6, 5, order='F') ; np.ravel(x) ; x.ravel('F') ;
x.flatten() ; s.ravel() ; np.transpose(c) ; np.transpose(c, (1, 0, 2)) ; c.transpose(2, 0, 1) ;
c.transpose((-1, 0, 1)) ; c.transpose() ; x.T ; v.T ; c.mT ; np.matrix_transpose(c) ;
np.permute_dims(c, (2, 1, 0)) ; np.swapaxes(c, 0, -1) ; c.swapaxes(1, 2) ; np.moveaxis(c, 0, -1) ;
np.moveaxis(c, (0, 1), (2, 0)) ; np.rollaxis(c, 2) ; np.linalg.matrix_transpose(c) ; np.expand_dims(x, 0) ;
np.expand_dims(x, (0, -1)) ; np.squeeze(r) ; np.squeeze(k, axis=1) ; r.squeeze(0) ; x.squeeze() ;
np.broadcast_to(v, (3, 5)) ; np.broadcast_to(s, (2, 3)) ; np.broadcast_arrays(x, v, s) ;
np.broadcast_to(k, (2, 3, 7)) ; np.atleast_1d(s) ; np.atleast_2d(v) ; np.atleast_3d(v) ; np.atleast_3d(x) ;
np.atleast_2d(v, s) ; np.flip(x) ; np.flip(x, 0) ; np.flip(c, (0, -1)) ; np.fliplr(x) ; np.flipud(x) ;
np.rot90(x) ; np.rot90(x, 2) ; np.rot90(x, 3) ; np.rot90(c, 1, (1, 2)) ; np.copy(x) ; x.copy() ;
x.astype('float32') ; x.astype(int) ; x.astype(bool) ; x.astype(float) ; np.astype(x, np.float32) ; x.real ;
x.conj() ; np.real(x) ; x.astype(x.dtype) ; np.asarray([x.ndim]) * s ; x * np.ndim(x) ;
x * np.isrealobj(x) ; np.iscomplexobj(x) * x ; x * np.size(x) ;
x * np.size(x, 0) ; x * np.shape(x)[1] ; x.astype(np.result_type(x, np.int8))
    """
)

JOINING = listed(
    """
np.concatenate([x, y]) ; np.concatenate((x, k), axis=1) ; np.concatenate([x, ROW[None]]) ;
np.concatenate([x, y], axis=None) ; np.concatenate([x, r, x], axis=-2) ; np.concatenate([m, x]) ;
np.concatenate([x, y], dtype='float64') ; np.concat([v, u]) ; np.concatenate([v, [1.0, 2.0]]) ;
np.concatenate(x) ; np.stack([x, y]) ; np.stack([v, v], axis=1) ; np.stack([x, y], -1) ;
np.stack([s, 2.0, s]) ; np.stack([v, ROW]) ; np.vstack([v, x]) ; np.hstack([u, v]) ; np.hstack([x, k]) ;
np.dstack([x, y]) ; np.column_stack([u, x]) ; np.split(x, 3) ; np.split(x, 5, axis=1) ;
np.split(w, [2, 3], axis=-1) ; np.array_split(w, 3) ; np.array_split(v, 7) ; np.split(v, [4, 2, 9]) ;
np.hsplit(x, 5) ; np.hsplit(v, 5) ; np.vsplit(x, 3) ; np.dsplit(c, 5) ; np.unstack(x) ;
np.unstack(c, axis=1) ; np.tile(x, 2) ; np.tile(v, (3, 2)) ; np.tile(c, (2, 1)) ; np.tile(s, 3) ;
np.tile(x, (2, 1, 3)) ; np.tile(x, 0) ; np.tile(x, ()) ; np.repeat(x, 2) ; np.repeat(x, 3, axis=0) ;
x.repeat(2, axis=-1) ; np.repeat(x, [1, 0, 2], axis=0) ; np.repeat(v, [2]) ; np.repeat(s, 3) ;
np.repeat(x, 0, axis=1) ; np.roll(x, 1) ; np.roll(x, 2, axis=1) ; np.roll(x, -1, axis=0) ;
np.roll(x, (1, 2), axis=(0, 1)) ; np.roll(x, 7, axis=0) ; np.roll(e, 1, 0) ; np.roll(x, 1, (0, 1)) ;
np.roll(x, 0, 0) ; np.roll(x, (1, 1), (0, 0)) ; np.pad(x, 1) ; np.pad(x, (1, 2)) ;
np.pad(x, ((1, 0), (0, 2))) ; np.pad(x, 1, constant_values=3) ;
np.pad(x, 1, constant_values=((1, 2), (3, 4))) ; np.pad(v, (2, 0), 'edge') ; np.pad(x, 2, mode='reflect') ;
np.pad(x, 1, 'symmetric') ; np.pad(x, (2, 3), 'wrap') ; np.pad(x, 0) ; np.pad(x, [(2,), (1,)]) ; np.diff(x) ;
np.diff(x, 2, axis=0) ; np.diff(m)
    """
)

SELECTION = listed(
    """
np.where(m, x, y) ; np.where(m, x, 0) ; np.where(m, 0.0, x) ; np.where(m, 1.0, 0.0) ; np.where(n, x, v) ;
np.where(x, x, 1) ; np.where(m, 1, 0) ; np.where(m, True, False) ; np.where(m, 1, 0.5) ;
np.where(MASK, x, -np.inf) ; np.where(x > 0, x, np.nan) ; np.where(m, F32, x) ; np.where(m, F64, x) ;
np.where(m, ROW, x) ; np.where(True, x, y) ; np.where(k > 0, v, s) ; np.where(m, np.float32(1), 0) ;
np.where(m, np.float32(1), np.float32(0)) ; np.where(m, I8, 1) ; np.where(m, F32, 2.0) ;
np.where([[True], [False], [True]], x, 0) ; np.clip(x, -1, 1) ; x.clip(0, 2) ; np.clip(x, None, 1) ;
x.clip(min=0) ; x.clip(max=1.5) ; np.clip(x, y, 2) ; np.clip(x, v, None) ; np.clip(x, -0.5, 0.5) ;
np.clip(x, F64, 3) ; np.clip(x, ROW - 2, ROW) ; np.clip(x, min=0, max=1) ; np.tril(x) ; np.triu(x) ;
np.tril(c, 1) ; np.triu(c, k=-1) ; np.tril(v) ; np.triu(v, 1) ; np.diag(q) ; np.diag(x, 1) ; np.diag(x, -2) ;
np.diag(v) ; np.diag(u, 2) ; np.diag(u, k=-1) ; np.diagflat(x) ; np.zeros_like(x) ; np.ones_like(x) ;
np.full_like(x, 2.5) ; np.full_like(x, 1, dtype='float32') ; np.zeros_like(x, int) ;
np.ones_like(x, shape=(2, 7)) ; np.zeros_like(x, dtype=bool) ; np.full_like(x, v) ; np.full_like(x, ROW) ;
np.full_like(x, s) ; np.full_like(v, np.inf, dtype=float) ; 0 * np.empty_like(x) ; np.round(x) ; x.round() ;
np.around(x) ; np.nan_to_num(x) ; np.nan_to_num(x / np.where(m, 0.0, x), nan=1.0) ;
np.select([x > 1, m], [x, 2 * x], -1.0) ; np.isclose(x, y) ; np.isclose(x, 1.0) ; np.fix(x)
    """
)

INDEXING = listed(
    """
x[0] ; x[-1] ; x[1, 2] ; x[:, 1] ; x[1:] ; x[:-1] ; x[::2] ; x[::-1] ; x[:, ::-2] ; x[2:0:-1, 1:4:2] ;
x[...] ; x[..., 0] ; x[None] ; x[:, None] ; x[..., None] ; x[None, 1, :, None] ; x[1, ...] ; c[..., 1, :] ;
c[1, :, ::-1] ; x[:0] ; x[5:] ; x[()] ; s[()] ; s[...] ; s[None] ; x[np.int64(1)] ; x[np.array(1)] ; x[3:1] ;
v[-3:] ; e[:, 1] ; x[IDX] ; x[[0, 2]] ; x[:, [4, 0, 0]] ; x[IDX, IDX] ; x[IDX[:, None], [0, 1]] ;
c[IDX % 2, :, IDX] ; c[:, IDX % 3, IDX] ; c[0, :, IDX] ; c[:, 0, IDX] ; c[IDX % 2, 0] ; c[..., IDX] ;
c[0, IDX % 3] ; c[:, None, IDX % 3] ; c[GRID % 2, 1] ; c[GRID % 2, :, 0] ; t[:, IDX % 3, :, 0] ;
t[0, :, IDX, :] ; t[1:, IDX % 3, IDX, ::-1] ; x[[]] ; x[np.array([], int)] ; c[IDX % 2, None, IDX % 3] ;
t[IDX, 1:, IDX] ; t[2, IDX % 3, None, IDX] ; x[MASK] ; x[PART] ; x[PART, 1] ; x[:, ROW > 2] ; x[i % 3] ;
x[:, i % 5] ; x[i % 3, j % 5] ; x[np.arange(3), h[:, 0] % 5] ; c[g % 2] ; c[:, g % 3] ; c[g % 2, :, g % 5] ;
x[a % 3] ; x[:, a % 5] ; x[a % 3, i % 5] ; x[i - i - 1] ; x[i * 0 - 1, j % 5] ; x[0, i % 5] ;
x[IDX, i[:4] % 5] ; c[0, i % 3, :] ; c[0, :, i % 5] ; x[b] ; v[i % 5] ; x[i % 3][:, i % 5] ; t[i, :, j % 5] ;
c[..., a % 5] ; np.take(x, IDX) ; np.take(x, [0, -1], axis=1) ; np.take(x, 2) ; x.take(1, axis=0) ;
np.take(x, GRID, axis=0) ; np.take(x, i % 3, axis=0) ; np.take(x, i % 15) ; x.take(g % 5, axis=-1) ;
np.take(x, [7, -9], axis=1, mode='wrap') ; np.take(x, [7, -9], axis=1, mode='clip') ;
np.take(x, i, axis=0, mode='wrap') ; np.take(x, a % 3, 0) ; np.take(x, []) ;
np.take_along_axis(x, h % 5, axis=1) ; np.take_along_axis(x, np.argmax(x, 1, keepdims=True), 1) ; list(x) ;
tuple(c) ; np.take_along_axis(x, i % 15, axis=None) ; np.take_along_axis(ROW, i % 5, 0) ;
[row.sum() for row in x] ; x[1:][0]
    """
)

CONTRACTIONS = listed(
    """
np.matmul(x, w) ; np.matmul(c, d) ; np.matmul(c, w) ; np.matmul(x, d) ; np.matmul(v, d) ; np.matmul(c, v) ;
np.matmul(q, q) ; np.matmul(v, v) ; np.matmul(ROW, w) ; np.matmul(z, q) ; np.linalg.matmul(x, w) ;
np.dot(x, w) ; np.dot(v, v) ; np.dot(x, v) ; np.dot(u, x) ; np.dot(s, x) ; np.dot(x, 2.0) ; np.dot(x, 2) ;
np.dot(c, d) ; np.dot(x, d) ; np.dot(v, d) ; x.dot(w) ; x.dot(ROW) ; np.dot(COL.T, x) ; np.dot(c, w) ;
np.dot(c, v) ; np.vdot(x, y) ; np.vdot(v, ROW) ; np.vdot(s, s) ; np.inner(x, y) ; np.inner(v, v) ;
np.inner(c, x) ; np.inner(x, c) ; np.inner(c, v) ; np.inner(s, x) ; np.inner(x, ROW) ; np.outer(u, v) ;
np.outer(x, v) ; np.outer(u, 2) ; np.outer(ROW, u) ; np.linalg.outer(u, v) ; np.tensordot(x, w, 1) ;
np.tensordot(x, y) ; np.tensordot(c, d, ([0, 2], [0, 1])) ; np.tensordot(c, x, axes=[(1, 2), (0, 1)]) ;
np.tensordot(u, v, 0) ; np.tensordot(x, c, (1, 2)) ; np.tensordot(x, y, ([0], [0])) ;
np.tensordot(c, w, axes=(-1, 0)) ; np.linalg.tensordot(x, w, axes=1) ; np.vecdot(x, y) ; np.vecdot(c, x) ;
np.vecdot(x, v) ; np.vecdot(x, ROW) ; np.vecdot(c, c, axis=0) ; np.linalg.vecdot(x, y, axis=0) ; np.trace(q) ;
np.trace(x, 1) ; np.trace(x, -1) ; np.trace(c, axis1=1, axis2=2) ; np.trace(z, 1, 1, 2) ; q.trace() ;
np.trace(x, 9) ; np.trace(q, dtype='float64') ; np.linalg.trace(z) ; np.trace(c, 0, -1, 0) ; np.diagonal(x) ;
np.diagonal(x, 1) ; x.diagonal(-1) ; np.diagonal(c, 0, 1, 2) ; np.diagonal(c, 1, 2, 0) ;
np.linalg.diagonal(z, offset=-2) ; np.diagonal(x, 9) ; np.diagonal(t, 0, 1, -2) ;
np.linalg.multi_dot([x, w, w.T]) ; np.linalg.matrix_power(q, 1) ; 
np.matmul(e, w) ; np.matmul(x[:, :0], w[:0]) ; np.dot(e.T, e) ; np.matmul(x, w, dtype='float64')
    """
)

EINSUM = listed(
    """
np.einsum('ij,jk->ik', x, w) ; np.einsum('ij,jk', x, w) ; np.einsum('ij->ji', x) ; np.einsum('ji', x) ;
np.einsum('ij->', x) ; np.einsum('ii->i', q) ; np.einsum('ii', q) ; np.einsum('ij,ij->i', x, y) ;
np.einsum('i,j->ij', u, v) ; np.einsum('i,j', u, v) ; np.einsum('bij,bjk->bik', c, d) ;
np.einsum('...ij,...jk->...ik', c, d) ; np.einsum('...ij,jk', c, w) ; np.einsum('...i->...', c) ;
np.einsum('i...->...', c) ; np.einsum('...i', c) ; np.einsum('...,...->...', x, v) ;
np.einsum('ij,j->ij', x, ROW) ; np.einsum(x, [0, 1], w, [1, 2], [0, 2]) ; np.einsum(x, [0, 1], w, [1, 2]) ;
np.einsum(c, [..., 0], [..., 0]) ; np.einsum(x, [0, 1], [1, 0]) ;
np.einsum('ij,jk,k->i', x, w, np.ones(7, x.dtype)) ; np.einsum('i,i,i->', v, v, v) ;
np.einsum('ij,jk->ik', r, w) ; np.einsum('ij,kj->ik', k, x) ; np.einsum('ij,ij->ij', x, r) ;
np.einsum(' i j , j k -> i k', x, w) ; np.einsum('ij,jk->ik', x, w, optimize=True) ; np.einsum('bii->b', z) ;
np.einsum('bii->bi', z) ; np.einsum('bij->b', c) ; np.einsum('...ij->...ji', c) ;
np.einsum('ij,kl->ijkl', x, w) ; np.einsum('ij,jk->ik', x, w, dtype='float64') ;
np.einsum('Ab,bC->AC', x, w) ; np.einsum('...,...', v, x) ; np.einsum('...j,...j->...', c, x) ;
np.einsum('i,...->i...', u, v) ; np.einsum('ij,jk->k', x, w) ; np.einsum(',ij->ij', s, x) ;
np.einsum('->', s) ; np.einsum('bij,b...->ij...', c, c[:, 0])
    """
)

_NORMED = listed(
    """
x ; v ; c ; s ; x, axis=0 ; x, axis=-1, keepdims=True ; c, axis=(0, 2) ; c, axis=(-1, 0), keepdims=True ;
v, 2 ; v, 1 ; v, np.inf ; v, -np.inf ; v, 0 ; v, 3 ; v, 0.5 ; v, -1 ; x, 'fro' ; x, 1 ; x, -1 ; x, np.inf ;
x, -np.inf ; x, 1, axis=1 ; c, 'fro', (0, 1) ; c, np.inf, axis=(2, 0), keepdims=True ;
x, keepdims=True ; x, ord=2, axis=0
    """
)
NORMS = [
    *each("np.linalg.norm({})", _NORMED),
    *listed(
        """
np.linalg.vector_norm(x) ; np.linalg.vector_norm(c, axis=(0, 2), keepdims=True) ;
np.linalg.vector_norm(v, ord=1) ; np.linalg.matrix_norm(c) ; np.linalg.matrix_norm(c, ord=1, keepdims=True) ;
np.linalg.vector_norm(x, keepdims=True)
    """
    ),
]

EXACT = {
    "operators": OPERATORS,
    "structure": STRUCTURE,
    "joining": JOINING,
    "selection": SELECTION,
    "indexing": INDEXING,
}
ROUNDED = {
    "reductions": REDUCTIONS,
    "ufunc methods": UFUNC_METHODS,
    "contractions": CONTRACTIONS,
    "einsum": EINSUM,
    "norms": NORMS,
}
