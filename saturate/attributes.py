"""Whether attributes have the types that the fields of a dataclass declare; it knows no op."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from typing import Any

Check = Callable[[Any], bool]


def is_int(value: object) -> bool:
    """Whether this is a Python int, and no bool."""
    return type(value) is int


def is_number(value: object) -> bool:
    """Whether this is a float, or an int that converts to one; no bool."""
    return isinstance(value, float) or (is_int(value) and -_LARGEST <= value <= _LARGEST)  # type: ignore[operator]


def is_scalar(value: object) -> bool:
    """Whether this is a literal: a bool or a number."""
    return type(value) is bool or is_number(value)


def _tuple_of(check: Check) -> Check:
    return lambda value: isinstance(value, tuple) and all(map(check, value))


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


_LARGEST = int(sys.float_info.max)
_CHECKS: dict[str, Check] = {
    "bool": lambda value: type(value) is bool,
    "int": is_int,
    "float": is_number,
    "str": lambda value: isinstance(value, str),
    "Scalar": is_scalar,
    "Scalar | None": _optional(is_scalar),
    "float | None": _optional(is_number),
    "int | None": _optional(is_int),
    "tuple[int, ...]": _tuple_of(is_int),
    "tuple[str, ...]": _tuple_of(lambda value: isinstance(value, str)),
}


@lru_cache(maxsize=1024)
def _checks(cls: type) -> tuple[tuple[str, str, Check], ...]:
    known = ((f.name, str(f.type)) for f in fields(cls))
    return tuple((name, declared, _CHECKS[declared]) for name, declared in known if declared in _CHECKS)


def wrong_field(instance: object) -> tuple[str, str] | None:
    """Name and declared type of the first field, in order, whose value does not have that type."""
    for name, declared, check in _checks(type(instance)):
        if not check(getattr(instance, name)):
            return name, declared
    return None
