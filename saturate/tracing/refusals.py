"""What cannot be traced, why, and what to write instead; it knows no tracer."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from saturate.errors import TraceError
from saturate.tracing.advice import ADVICE, ARRAYS_ONLY, NOT_SORTED, PLAIN, SORTED_OUTSIDE, STACK, VALUES
from saturate.tracing.site import Site, user_site

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
    if site.name in ADVICE or (site.name and "." not in name):
        name = site.name
    return refusal(name, *ADVICE.get(name, PLAIN), site)


def failed(site: Site, error: BaseException) -> TraceError:
    """The refusal of a function that is none of NumPy's and failed on a traced array."""
    return refusal(site.name or f"`{site.text}`", f"on a traced array it fails ({error})", PLAIN[1], site)


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
        return refusal(site.name, NOT_SORTED, SORTED_OUTSIDE, site)
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
            "a NumPy array holds values, and a traced array has none yet", STACK, site,
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
        return refusal(f"{what}([t, …])", ARRAYS_ONLY, STACK, site)
    return refusal(what, ARRAYS_ONLY, PLAIN[1], site)


def _argument_is_list(site: Site) -> bool:
    call: Any = site.call
    first = call.args[0] if isinstance(call, ast.Call) and call.args else None
    return isinstance(site.first, list | tuple) or isinstance(
        first, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp
    )


def _array_call(site: Site) -> TraceError:
    if _argument_is_list(site):
        return refusal(f"{site.name}([t, …])", ARRAYS_ONLY, STACK, site)
    return refusal(f"{site.name}(t)", ARRAYS_ONLY, "Use t as it is: it is an array already", site)


def assignment(text: str, instead: str) -> TraceError:
    """The refusal of assignment and of in-place operators."""
    return refusal(text, "values of a program never change", instead)
