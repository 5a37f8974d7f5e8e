"""The check of a call's arguments against the inputs of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from saturate.errors import ArgumentError
from saturate.op import AnyArray, Scalar
from saturate.program import Input, Program


def bind(program: Program, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """Arguments in the order of the program's inputs, as they came.

    Raises `ArgumentError` where one is missing, given twice, or unknown.
    """
    inputs = program.inputs
    if len(args) == len(inputs) and not named:
        return list(args)
    wanted = ", ".join(i.name for i in inputs) or "none"
    if len(args) > len(inputs):
        raise ArgumentError(f"{program.name} needs {len(inputs)} argument(s) ({wanted}), got {len(args)}")
    found = {i.name: a for i, a in zip(inputs, args, strict=False)}
    for key, array in named.items():
        if key in found or all(i.name != key for i in inputs):
            fault = "twice" if key in found else "which it does not have"
            raise ArgumentError(f"{program.name} needs the arguments {wanted}; got {key!r} {fault}")
        found[key] = array
    missing = [i.name for i in inputs if i.name not in found]
    if missing:
        raise ArgumentError(f"{program.name} needs the arguments {wanted}; {', '.join(missing)} did not come")
    return [found[i.name] for i in inputs]


def checked(program: Program, given: Input, array: Any) -> AnyArray:
    """The argument as an array of the input's shape and dtype, never a copy of an array.

    Python numbers are taken for inputs without axes, and NumPy scalars and array-likes with a dtype for
    arrays. Raises `ArgumentError` otherwise.
    """
    if type(array) is not np.ndarray:
        array = _converted(program, given, array)
    fits(program, given, array)
    found: AnyArray = array
    return found


def fits(program: Program, given: Input, array: Any) -> None:
    """Raise `ArgumentError` unless an array of any library has the input's shape and dtype."""
    wanted = np.dtype(given.type.dtype)
    if array.shape != given.type.shape:
        raise ArgumentError(
            f"{program.name} needs {given.name} of shape {given.type.shape}, got {array.shape}; "
            "optimize again for other shapes"
        )
    if array.dtype != wanted:
        raise ArgumentError(
            f"{program.name} needs {given.name} of dtype {wanted.name}, got {_spelled(array.dtype)}; "
            f"pass {given.name}.astype({wanted.name!r})"
        )


def _converted(program: Program, given: Input, array: Any) -> AnyArray:
    if isinstance(array, bool | int | float) and not isinstance(array, np.generic) and not given.type.shape:
        return _weak(program, given, array, np.dtype(given.type.dtype))
    if isinstance(array, np.ma.MaskedArray):
        raise ArgumentError(
            f"{program.name} needs {given.name} as a plain array, got a masked one; fill it first"
        )
    if not hasattr(array, "dtype") or not hasattr(array, "shape"):
        raise ArgumentError(
            f"{program.name} needs {given.name} as an array of {given.type}, got {type(array).__name__}; "
            f"pass np.asarray({given.name}, dtype={given.type.dtype!r})"
        )
    return np.asarray(array)


def _weak(program: Program, given: Input, value: Scalar, wanted: np.dtype[Any]) -> AnyArray:
    """A Python number in the input's dtype, where NumPy would take it as weak beside that dtype."""
    rank = {"b": 0, "i": 1, "u": 1, "f": 2}
    kind = 0 if isinstance(value, bool) else 1 if isinstance(value, int) else 2
    try:
        if kind <= rank[wanted.kind]:
            return np.array(value, dtype=wanted)
    except OverflowError:
        pass
    raise ArgumentError(
        f"{program.name} needs {given.name} as a number of dtype {wanted.name}, got {value!r}; "
        f"pass a {wanted.name}"
    )


def _spelled(dtype: np.dtype[Any]) -> str:
    return dtype.name if dtype.isnative else f"{dtype.name} in foreign byte order"
