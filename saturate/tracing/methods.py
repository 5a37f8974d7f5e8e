"""The methods of arrays, each the NumPy function of the same name applied to the array itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__doc__ = f"`np.{function.__name__}` of the array."
    return method


class Methods(NDArrayOperatorsMixin):
    """What `numpy.ndarray` offers as methods, where the function takes its arguments in the same order."""

    __slots__ = ()

    all = _method(np.all)
    any = _method(np.any)
    argmax = _method(np.argmax)
    argmin = _method(np.argmin)
    clip = _method(np.clip)
    cumsum = _method(np.cumsum)
    diagonal = _method(np.diagonal)
    dot = _method(np.dot)
    flatten = _method(np.ravel)
    max = _method(np.max)
    mean = _method(np.mean)
    min = _method(np.min)
    prod = _method(np.prod)
    ravel = _method(np.ravel)
    repeat = _method(np.repeat)
    round = _method(np.round)
    squeeze = _method(np.squeeze)
    std = _method(np.std)
    sum = _method(np.sum)
    swapaxes = _method(np.swapaxes)
    take = _method(np.take)
    trace = _method(np.trace)
    var = _method(np.var)

    def reshape(self, *shape: Any, order: Any = "C", copy: Any = None) -> Any:
        """`np.reshape`, with the shape as one tuple or as separate sizes."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        """`np.transpose`, with the axes as one tuple or as separate numbers."""
        return np.transpose(self, axes[0] if len(axes) == 1 else axes or None)  # type: ignore[call-overload]

    def copy(self, order: str = "C") -> Any:
        """The array itself: values of a program never change."""
        return self

    conj = conjugate = copy

    @property
    def T(self) -> Any:
        """The axes reversed."""
        return np.transpose(self)  # type: ignore[call-overload]

    @property
    def mT(self) -> Any:
        """The last two axes exchanged."""
        if np.ndim(self) < 2:  # type: ignore[arg-type]
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return np.matrix_transpose(self)  # type: ignore[call-overload]

    @property
    def real(self) -> Any:
        """The array itself: programs hold real numbers."""
        return self
