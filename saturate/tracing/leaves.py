"""The leaves of nested arguments, each with the name under which a program knows it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import optree

from saturate.errors import ArgumentError
from saturate.op import Type
from saturate.tracing.tracer import Tracer


def parameters(f: Callable[..., Any], examples: tuple[Any, ...]) -> tuple[str, ...]:
    """The name of the parameter that each positional example goes to; raises `ArgumentError`."""
    if not callable(f):
        raise ArgumentError(f"trace needs a function of arrays, got {type(f).__name__}")
    try:
        signature = inspect.signature(f)
    except ValueError:  # some functions of C have none
        return tuple(f"x{k}" for k in range(len(examples)))
    try:
        signature.bind(*examples)
    except TypeError as error:
        raise ArgumentError(
            f"{title(f)}{signature} needs one example for each argument, got {len(examples)}: {error}"
        ) from None
    names: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{name}[{k}]" for k in range(len(examples) - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(name)
    return tuple(names[: len(examples)])


def title(f: Callable[..., Any]) -> str:
    """The function's name as an identifier."""
    inner = getattr(f, "func", f)
    name = str(getattr(f, "__name__", getattr(inner, "__name__", type(f).__name__)))
    return name if name.isidentifier() else "f"


def named_leaves(
    names: tuple[str, ...], examples: tuple[Any, ...]
) -> tuple[list[Any], list[str], optree.PyTreeSpec]:
    """Leaves, their names ("q", "params.w", "layers[0].b") and the structure of the whole."""
    tree: Any = examples
    accessors, leaves, spec = optree.tree_flatten_with_accessor(tree)
    return leaves, [_name(names, accessor) for accessor in accessors], spec


def _name(names: tuple[str, ...], accessor: optree.PyTreeAccessor) -> str:
    first, *rest = accessor
    return str(names[first.entry]) + "".join(_step(entry) for entry in rest)


def _step(entry: optree.PyTreeEntry) -> str:
    if isinstance(entry, optree.NamedTupleEntry):
        return f".{entry.field}"
    key = entry.entry
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"


def type_of(leaf: Any, name: str) -> Type | None:
    """Type of an array leaf; None for Python scalars and other things, which are passed on as they are."""
    if isinstance(leaf, Type):
        return leaf
    if isinstance(leaf, Tracer):
        raise ArgumentError(f"{name} is a value of a trace that runs already; trace one function at a time")
    if not isinstance(leaf, np.ndarray | np.generic) and (
        isinstance(leaf, type) or not hasattr(leaf, "__array__")
    ):
        return None
    if isinstance(leaf, np.ma.MaskedArray | np.matrix):
        raise ArgumentError(
            f"{name} needs a plain array, got a {type(leaf).__name__}; convert it by np.asarray"
        )
    array = np.asarray(leaf)
    if array.dtype.kind not in "biuf":
        raise ArgumentError(
            f"{name} needs an array of booleans, integers or real floats, got {array.dtype}; convert it"
        )
    return Type(array.shape, array.dtype.name)
