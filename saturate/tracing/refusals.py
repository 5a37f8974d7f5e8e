"""What cannot be traced, why, and what to write instead; it knows no tracer."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from saturate.errors import TraceError
from saturate.tracing.site import Site, user_site

DATA_DEPENDENT = "the shape of its result depends on values, which are not known while tracing"
VALUES = "values are not known while tracing"
KEEP_SHAPE = "Write np.where(condition, x, 0), which keeps the shape"
ARRAYS_ONLY = "it turns its argument into a NumPy array, and a traced array has no values yet"
_STACK = "Write np.stack([…]) (np.concatenate for pieces of an axis)"
_NOT_SORTED = "no op of a program sorts"
_NO_SOLVER = "no op of a program factorises or solves"
_SORTED_OUTSIDE = (
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
        (_NOT_SORTED, _SORTED_OUTSIDE),
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
    "np.nansum": ("it is not among the traced functions", "Write np.sum(np.where(np.isnan(x), 0.0, x))"),
    "np.nanmean": (
        "it is not among the traced functions",
        "Write np.sum(np.where(np.isnan(x), 0.0, x)) / np.sum(~np.isnan(x))",
    ),
    "np.nanmax": ("it is not among the traced functions", "Write np.max(np.where(np.isnan(x), -np.inf, x))"),
    "np.nanmin": ("it is not among the traced functions", "Write np.min(np.where(np.isnan(x), np.inf, x))"),
    "np.full": ("it fills an array with values", "Write np.broadcast_to(t, shape)"),
    "np.full_like": ("it fills an array with values", "Write np.broadcast_to(t, x.shape)"),
    "np.arange": (DATA_DEPENDENT, "Write start + step * np.arange(n), with n known"),
    "np.linspace": (
        "it is not among the traced functions",
        "Write start + (stop - start) * np.linspace(0.0, 1.0, n)",
    ),
    "np.cumprod": ("it is not among the traced functions", "Write np.exp(np.cumsum(np.log(x))) where x > 0"),
    "np.insert": ("it is not among the traced functions", "Write np.concatenate over slices"),
    "np.append": ("it is not among the traced functions", "Write np.concatenate([x, y], axis=…)"),
    "np.resize": ("it is not among the traced functions", "Write np.tile(x, …) and a slice of it"),
    "np.piecewise": ("it assigns piece by piece", "Write np.where(condition, a, b)"),
    "np.apply_along_axis": (
        "it calls Python once for each slice",
        "Call the function on the whole array, with axis=… in its reductions",
    ),
}
_PLAIN = (
    "it is not among the traced functions",
    "Write it with traced NumPy functions, or compute it before the traced function and pass the result "
    "as an argument",
)
_MATH = {
    "pow": "np.power",
    "fabs": "np.abs",
    "fsum": "np.sum",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "dist": "np.linalg.norm",
    "erf": "scipy.special.erf",
    "lgamma": "scipy.special.gammaln",
}
_BUILTIN = {"max": "np.maximum", "min": "np.minimum", "any": "np.any", "all": "np.all"}


def refusal(what: str, why: str, instead: str, site: Site | None = None) -> TraceError:
    """The error to raise: the user's file and line, what cannot be traced, why, and what to write instead."""
    site = site or user_site()
    return TraceError(f"{site.where}: {what} cannot be traced: {why}. {instead}.")


def unknown(name: str) -> TraceError:
    """The refusal of a function that no table of tracing has, under the name that the user wrote."""
    site = user_site()
    name = site.name if site.name in ADVICE else name
    return refusal(name, *ADVICE.get(name, _PLAIN), site)


def failed(site: Site, error: BaseException) -> TraceError:
    """The refusal of a function that is none of NumPy's and failed on a traced array."""
    return refusal(site.name or f"`{site.text}`", f"on a traced array it fails ({error})", _PLAIN[1], site)


def unsupported(name: str, argument: str, instead: str) -> TraceError:
    """The refusal of one argument of a function that is traced otherwise."""
    return refusal(f"{name} with {argument}", "no op of a program has it", instead)


def out_argument(name: str) -> TraceError:
    """The refusal of `out=`."""
    return refusal(f"{name} with out=", "values of a program never change", f"Write y = {name}(…)")


def truth() -> TraceError:
    """The refusal of `bool(t)`, in whatever clothes it came."""
    site = user_site()
    if site.name in ("sorted", "list.sort"):
        return refusal(site.name, _NOT_SORTED, _SORTED_OUTSIDE, site)
    replacement = _BUILTIN.get(site.name)
    if replacement is not None and isinstance(site.callee, type(max)):
        return refusal(f"{site.name}(…)", f"it asks for the truth of a traced array, and {VALUES}",
                       f"Write {replacement}(…)", site)  # fmt: skip
    what = f"bool(t) in `{site.text}`" if site.text else "bool(t)"
    return refusal(
        what,
        VALUES,
        "Write np.where(condition, a, b) for a branch, np.logical_and for `and`, `&` for masks",
        site,
    )


def number(kind: str) -> TraceError:
    """The refusal of `float(t)`, `int(t)`, `complex(t)`, and of the functions of `math` that call them."""
    site = user_site()
    module, _, function = site.name.rpartition(".")
    if module in ("math", "cmath"):
        replacement = _MATH.get(function, f"np.{function}" if hasattr(np, function) else "NumPy's functions")
        return refusal(site.name, "it works on Python numbers", f"Write {replacement}(…)", site)
    if site.name.startswith("np.") or site.stores:
        return conversion(site)
    if site.name in ("float", "int", "complex", "") or not site.callee:
        instead = "Keep it an array: arrays of shape () take part in arithmetic; x.astype(dtype) converts"
        return refusal(f"{kind}(t)" + (f" in `{site.text}`" if site.text else ""), VALUES, instead, site)
    return refusal(f"{site.name}(t)", f"it needs a Python number, and {VALUES}", "Keep it an array", site)


def index() -> TraceError:
    """The refusal of a traced array where Python needs an integer: `range(t)`, `items[t]`, a size."""
    site = user_site()
    if isinstance(site.call, ast.Subscript):
        return refusal(
            f"`{site.text}`", f"a traced index needs a traced array, and {VALUES}",
            "Pass what is indexed to the traced function as an array argument", site,
        )  # fmt: skip
    if site.name in ("int", "float"):
        return number(site.name)
    what = f"{site.name}(t)" if site.name else "int(t)"
    return refusal(
        what, f"it needs a Python integer, and {VALUES}", "Take sizes and bounds from x.shape", site
    )


def conversion(site: Site | None = None) -> TraceError:
    """The refusal of `np.asarray(t)` and of all that calls it on the way."""
    site = site or user_site()
    argument = (
        "Pass the array to the traced function as an argument: then indexing it by a traced array works"
    )
    if site.stores:
        return refusal(
            f"assignment of a traced value to `{site.text}`" if site.text else "assignment of a traced value",
            "a NumPy array holds values, and a traced array has none yet", _STACK, site,
        )  # fmt: skip
    if isinstance(site.call, ast.Subscript):
        return refusal(f"`{site.text}`", "a NumPy array cannot be indexed by a traced one", argument, site)
    if site.name in ("np.array", "np.asarray", "np.asanyarray", "np.ascontiguousarray"):
        return _array_call(site)
    if site.name in ("np.take", "np.choose", "np.ndarray.take", "np.ndarray.choose"):
        return refusal(f"{site.name}(array, t)", "NumPy does not hand it over to the index", argument, site)
    if site.name in ADVICE:
        return refusal(site.name, *ADVICE[site.name], site)
    if site.name.startswith("np.ma."):
        return refusal("a masked array", "programs hold plain arrays", "Write np.where(mask, a, b)", site)
    if isinstance(site.callee, type) and issubclass(site.callee, np.generic):
        return refusal(site.name, ARRAYS_ONLY, f"Write t.astype({site.name})", site)
    what = site.name or (f"`{site.text}`" if site.text else "np.asarray(t)")
    if _argument_is_list(site):
        return refusal(f"{what}([t, …])", ARRAYS_ONLY, _STACK, site)
    return refusal(what, ARRAYS_ONLY, _PLAIN[1], site)


def _argument_is_list(site: Site) -> bool:
    call: Any = site.call
    first = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return isinstance(site.first, list | tuple) or isinstance(
        first, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp
    )


def _array_call(site: Site) -> TraceError:
    if _argument_is_list(site):
        return refusal(f"{site.name}([t, …])", ARRAYS_ONLY, _STACK, site)
    return refusal(f"{site.name}(t)", ARRAYS_ONLY, "Use t as it is: it is an array already", site)


def assignment(text: str, instead: str) -> TraceError:
    """The refusal of assignment and of in-place operators."""
    return refusal(text, "values of a program never change", instead)
