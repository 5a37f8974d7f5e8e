"""Functions and types as a command line names them: `FILE.py:FUNCTION` and `q=256x64:float32`."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from saturate.errors import ArgumentError, ProgramError
from saturate.op import Type

_TYPE = re.compile(
    r"(?P<name>[^=:]+)=(?P<shape>scalar|\d+(?:x\d+)*)(?::(?P<dtype>\w+))?"
    r"(?::(?P<low>[^:]+)\.\.(?P<high>[^:]+))?"
)


def function_of(named: str) -> Callable[..., Any]:
    """The function that `FILE.py:FUNCTION` names; the file is run, with its folder on the path.

    Raises `ArgumentError` where there is no such file or function, or where the file itself fails.
    """
    file, colon, name = named.rpartition(":")
    if not (colon and file and name):
        raise ArgumentError(f"optimize needs FILE.py:FUNCTION, got {named!r}")
    module = module_of(file, "optimize")
    found = getattr(module, name, None)
    if not callable(found):
        known = [
            n for n, f in vars(module).items() if inspect.isfunction(f) and f.__module__ == module.__name__
        ]
        raise ArgumentError(f"{file} has no function {name!r}; it has {', '.join(known) or 'none'}")
    function: Callable[..., Any] = found
    return function


def module_of(file: str, who: str) -> ModuleType:
    """The module of a file, run with its folder on the path.

    Raises `ArgumentError` where there is no such file, or where the file itself fails; `who` needs it.
    """
    path = Path(file)
    if not path.is_file():
        raise ArgumentError(f"{who} needs a Python file, and there is no file {file!r}")
    spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
    if spec is None or spec.loader is None:
        raise ArgumentError(f"{who} needs a Python file, and {file!r} is none: its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ArgumentError(f"{file} fails when it is run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.pop(0)
    return module


def type_of(text: str) -> tuple[str, Type]:
    """`q=256x64:float32` as a name and a type; `b=scalar` has no axes, float64 is the default dtype.

    `y=512:float32:0..1` bounds the values that samples are drawn from.
    """
    match = _TYPE.fullmatch(text.strip())
    if match is None:
        raise ArgumentError(
            f"--arg needs NAME=SHAPE[:DTYPE[:LOW..HIGH]] such as q=256x64:float32 or b=scalar, got {text!r}"
        )
    shape = () if match["shape"] == "scalar" else tuple(map(int, match["shape"].split("x")))
    try:
        low, high = (None if match[end] is None else float(match[end]) for end in ("low", "high"))
        return match["name"].strip(), Type(shape, match["dtype"] or "float64", low, high)
    except (ValueError, ProgramError) as error:
        raise ArgumentError(f"--arg {text}: {error}") from error


def examples_of(function: Callable[..., Any], given: Sequence[str]) -> tuple[Type, ...]:
    """The types in the order of the function's parameters.

    Raises `ArgumentError` for a parameter without a type, a type without a parameter, or a name given twice.
    """
    types: dict[str, Type] = {}
    for text in given:
        name, kind = type_of(text)
        if name in types:
            raise ArgumentError(f"--arg {name} is given twice")
        types[name] = kind
    name = getattr(function, "__name__", "the function")
    return tuple(_ordered(name, inspect.signature(function).parameters, types))


def _ordered(
    function: str, parameters: Mapping[str, inspect.Parameter], types: Mapping[str, Type]
) -> list[Type]:
    unknown = [n for n in types if n not in parameters]
    if unknown:
        raise ArgumentError(
            f"{function} has no argument {unknown[0]!r}; it has {', '.join(parameters) or 'none'}"
        )
    last = max((k for k, n in enumerate(parameters) if n in types), default=-1)
    ordered: list[Type] = []
    for k, (name, parameter) in enumerate(parameters.items()):
        optional = parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        )
        if name in types:
            ordered.append(types[name])
        elif k < last or not optional:
            raise ArgumentError(f"{function} needs a type for {name!r}: add --arg {name}=SHAPE:DTYPE")
    return ordered
