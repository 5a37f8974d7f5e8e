"""Why a function is not traced and what to write instead, by its public name; data alone."""

from __future__ import annotations

from collections.abc import Mapping

DATA_DEPENDENT = "the shape of its result depends on values, which are not known while tracing"
VALUES = "values are not known while tracing"
KEEP_SHAPE = "Write np.where(condition, x, 0), which keeps the shape"
ARRAYS_ONLY = "it turns its argument into a NumPy array, and a traced array has no values yet"
STACK = "Write np.stack([…]) (np.concatenate for pieces of an axis)"
NOT_SORTED = "no op of a program sorts"
_NO_SOLVER = "no op of a program factorises or solves"
SORTED_OUTSIDE = (
    "Sort before the traced function and pass the result, or the order for np.take, as an argument"
)
_SOLVED_OUTSIDE = "Compute it before the traced function and pass the result as an argument"

_SOFTMAX = "e = np.exp(x - np.max(x, axis=-1, keepdims=True)); e / np.sum(e, axis=-1, keepdims=True)"
_LOG_SOFTMAX = (
    "z = x - np.max(x, axis=-1, keepdims=True); z - np.log(np.sum(np.exp(z), axis=-1, keepdims=True))"
)
_LOGSUMEXP = (
    "m = np.max(x, axis=-1, keepdims=True); np.squeeze(m, -1) + np.log(np.sum(np.exp(x - m), axis=-1))"
)


def _form(expression: str) -> tuple[str, str]:
    """The advice for what is a short expression of traced functions."""
    return "it is not among the traced functions", f"Write {expression}"


ADVICE: Mapping[str, tuple[str, str]] = {
    "scipy.special.softmax": ("it is a plain function that needs values", f"Write {_SOFTMAX}"),
    "scipy.special.log_softmax": ("it is a plain function that needs values", f"Write {_LOG_SOFTMAX}"),
    "scipy.special.logsumexp": ("it is a plain function that needs values", f"Write {_LOGSUMEXP}"),
    "np.vectorize": (
        "it calls Python once for each element",
        "Call the function on whole arrays, with NumPy functions in it and np.where for its branches",
    ),
    **dict.fromkeys(
        (
            *("np.nonzero", "np.flatnonzero", "np.argwhere", "np.unique", "np.extract", "np.compress"),
            *("np.unique_values", "np.unique_counts", "np.unique_inverse", "np.unique_all", "np.trim_zeros"),
            *("np.intersect1d", "np.union1d", "np.setdiff1d", "np.setxor1d", "np.bincount", "np.delete"),
        ),
        (
            DATA_DEPENDENT,
            f"{KEEP_SHAPE}, or compute it before the traced function and pass it as an argument",
        ),
    ),
    **dict.fromkeys(
        (
            *("np.sort", "np.argsort", "np.partition", "np.argpartition", "np.lexsort", "np.median"),
            *("np.percentile", "np.quantile", "np.nanmedian", "np.searchsorted", "np.digitize"),
        ),
        (NOT_SORTED, SORTED_OUTSIDE),
    ),
    **dict.fromkeys(
        tuple(
            f"np.linalg.{name}"
            for name in (
                *("inv", "solve", "det", "slogdet", "cholesky", "qr", "svd", "svdvals", "eig", "eigh"),
                *("eigvals", "eigvalsh", "lstsq", "pinv", "matrix_rank", "cond", "tensorinv", "tensorsolve"),
            )
        ),
        (_NO_SOLVER, _SOLVED_OUTSIDE),
    ),
    **dict.fromkeys(
        ("np.allclose", "np.array_equal", "np.array_equiv"),
        (f"it answers with a Python bool, and {VALUES}", "Write np.all(x == y) and keep the answer an array"),
    ),
    **dict.fromkeys(
        ("np.copyto", "np.put", "np.place", "np.putmask", "np.put_along_axis", "np.fill_diagonal"),
        (
            "it assigns in place, and values of a program never change",
            "Write y = np.where(condition, new, x)",
        ),
    ),
    "np.arcsin": _form("np.arctan2(x, np.sqrt((1 - x) * (1 + x)))"),
    "np.arccos": _form("np.arctan2(np.sqrt((1 - x) * (1 + x)), x)"),
    "np.arcsinh": _form("np.sign(x) * np.log(np.abs(x) + np.sqrt(x * x + 1))"),
    "np.arccosh": _form("np.log(x + np.sqrt(x * x - 1))"),
    "np.arctanh": _form("0.5 * (np.log1p(x) - np.log1p(-x))"),
    "np.copysign": _form("np.where(y < 0, -np.abs(x), np.abs(x))"),
    "scipy.special.ndtr": _form("np.exp(scipy.special.log_ndtr(x))"),
    "scipy.special.erfc": _form("1 - scipy.special.erf(x)"),
    "scipy.special.logit": _form("np.log(x) - np.log1p(-x)"),
    "scipy.special.log_expit": _form("-np.logaddexp(0, -x)"),
    "scipy.special.entr": _form("-scipy.special.xlogy(x, x)"),
    "scipy.special.rel_entr": _form("scipy.special.xlogy(x, x) - scipy.special.xlogy(x, y)"),
    "scipy.special.gamma": _form("np.exp(scipy.special.gammaln(x)), for x > 0"),
    "np.nansum": _form("np.sum(np.where(np.isnan(x), 0.0, x))"),
    "np.nanmean": _form("np.sum(np.where(np.isnan(x), 0.0, x)) / np.sum(~np.isnan(x))"),
    "np.nanmax": _form("np.max(np.where(np.isnan(x), -np.inf, x))"),
    "np.nanmin": _form("np.min(np.where(np.isnan(x), np.inf, x))"),
    "np.broadcast": (ARRAYS_ONLY, "Write np.broadcast_shapes(x.shape, y.shape) or np.broadcast_arrays(x, y)"),
    "np.ndarray.dot": (ARRAYS_ONLY, "Write np.dot(array, t) or array @ t"),
    "np.full": ("it fills an array with values", "Write np.broadcast_to(t, shape)"),
    "np.full_like": ("it fills an array with values", "Write np.broadcast_to(t, x.shape)"),
    "np.arange": (DATA_DEPENDENT, "Write start + step * np.arange(n), with n known"),
    "np.linspace": _form("start + (stop - start) * np.linspace(0.0, 1.0, n)"),
    "np.cumprod": _form("np.exp(np.cumsum(np.log(x))) where x > 0"),
    "np.insert": _form("np.concatenate over slices"),
    "np.append": _form("np.concatenate([x, y], axis=…)"),
    "np.resize": _form("np.tile(x, …) and a slice of it"),
    "np.piecewise": ("it assigns piece by piece", "Write np.where(condition, a, b)"),
    "np.apply_along_axis": (
        "it calls Python once for each slice",
        "Call the function on the whole array, with axis=… in its reductions",
    ),
}
PLAIN = (
    "it is not among the traced functions",
    "Write it with traced NumPy functions, or compute it before the traced function and pass the result "
    "as an argument",
)
