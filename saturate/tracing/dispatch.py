"""Running a handler in the place of a NumPy function, with NumPy's own error where NumPy raises one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saturate.errors import ShapeError, TraceError
from saturate.tracing import refusals
from saturate.tracing.asking import numpy_error
from saturate.tracing.site import public_name, user_site

NUMPY_ERRORS = (TypeError, ValueError, IndexError, OverflowError, AttributeError, ShapeError)


def as_numpy(
    function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any], handler: Callable[..., Any]
) -> Any:
    """`handler(*args, **kwargs)`; where it fails and NumPy fails on such arrays too, NumPy's error.

    Raises `TraceError` where NumPy would take the call.
    """
    try:
        return handler(*args, **kwargs)
    except TraceError:
        raise
    except NUMPY_ERRORS as error:
        theirs = numpy_error(function, args, kwargs)
        if theirs is not None:
            raise theirs from None
        name = public_name(function) or user_site().text
        raise refusals.refusal(
            f"{name} with these arguments", str(error), "Write it with plain arrays and arguments"
        ) from error
