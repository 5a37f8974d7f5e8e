"""Whether the fields of a dataclass hold values of the types that it declares; it knows no op."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

Check = Callable[[Any], bool]
LARGEST = int(sys.float_info.max)
"""Ints beyond this are no sizes, axes or literals: they do not convert to floats."""


def is_number(value: Any) -> bool:
    """Whether this is a float, or an int that converts to one; a bool is none."""
    return isinstance(value, float) or (type(value) is int and abs(value) <= LARGEST)


def _checker(declared: Any) -> Check:
    """The check for one type. As in Python a float may be given as an int; a bool is neither."""
    if declared is float:
        return is_number
    if declared is int:
        return lambda value: type(value) is int and abs(value) <= LARGEST
    if declared is bool:
        return lambda value: type(value) is bool
    if get_origin(declared) is tuple:
        item = _checker(get_args(declared)[0])
        return lambda value: isinstance(value, tuple) and all(map(item, value))
    if get_origin(declared) in (Union, UnionType):
        choices = get_args(declared)
        checks = [_checker(c) for c in choices if not (c is int and float in choices)]
        return lambda value: any(check(value) for check in checks)
    kind: type = declared
    return lambda value: isinstance(value, kind)


@lru_cache(maxsize=1024)
def _checks(cls: Any) -> tuple[tuple[str, str, Check], ...]:
    hints = get_type_hints(cls)
    return tuple((f.name, str(f.type), _checker(hints[f.name])) for f in fields(cls))


def wrong_field(instance: Any) -> tuple[str, str] | None:
    """Name and declared type of the first field, in order, whose value does not have that type."""
    cls: Any = type(instance)
    for name, declared, check in _checks(cls):
        if not check(getattr(instance, name)):
            return name, declared
    return None
