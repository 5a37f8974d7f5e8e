"""Where in the user's code a call stands, and what it calls, read from the stack; it knows no tracer."""

from __future__ import annotations

import ast
import dis
import inspect
import linecache
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType, ModuleType
from typing import Any, cast

import numpy as np

_MACHINERY = (
    "numpy",
    "scipy",
    "optree",
    "saturate.tracing",
    "saturate.trace",
    "saturate.ops",
    "saturate.build",
)
_STDLIB = sysconfig.get_path("stdlib")
_WIDEST = 72


@dataclass(frozen=True)
class Site:
    """A place in the user's code.

    `call` is the syntax tree of the expression being evaluated, None where the source is not at hand; `callee`
    the object that it calls, `name` the public name of that object ("np.take"), each empty where unknown.
    `first` is its first argument where that is a plain name. `stores` tells that the statement assigns to a
    subscript.
    """

    file: str
    line: int
    call: ast.expr | None = None
    callee: Any = None
    name: str = ""
    first: Any = None
    stores: bool = False

    @property
    def where(self) -> str:
        """File and line, as `file:line`."""
        return f"{self.file}:{self.line}"

    @property
    def text(self) -> str:
        """The expression on one line, shortened where it is long."""
        text = " ".join(ast.unparse(self.call).split()) if self.call is not None else ""
        return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def is_machinery(frame: FrameType) -> bool:
    """Whether the frame belongs to this package's tracing, NumPy, SciPy or the standard library."""
    module = str(frame.f_globals.get("__name__", ""))
    if any(module == root or module.startswith(root + ".") for root in _MACHINERY):
        return True
    file = frame.f_code.co_filename
    return file.startswith("<frozen") or (file.startswith(_STDLIB) and "site-packages" not in file)


def user_site() -> Site:
    """The innermost place outside of the machinery, with what it calls."""
    frame = cast(FrameType, inspect.currentframe())
    inner: FrameType | None = None
    while is_machinery(frame) and frame.f_back is not None:
        if not str(frame.f_globals.get("__name__", "")).startswith("saturate."):
            inner = frame
        frame = frame.f_back
    call = _expression(frame)
    callee = first = None
    if isinstance(call, ast.Call):
        callee = _lookup(call.func, frame)
        first = _lookup(call.args[0], frame) if call.args else None
    name = public_name(callee) or (_frame_name(inner) if inner is not None else "")
    stores = _opcode(frame).startswith("STORE")
    return Site(frame.f_code.co_filename, frame.f_lineno, call, callee, name, first, stores)


def public_name(thing: Any) -> str:
    """The name by which people call a function: "np.sum", "scipy.special.softmax", "float"; else empty."""
    if isinstance(thing, np.ufunc):
        if getattr(np, thing.__name__, None) is thing:
            return f"np.{thing.__name__}"
        special = sys.modules.get("scipy.special")
        known = special is not None and getattr(special, thing.__name__, None) is thing
        return f"scipy.special.{thing.__name__}" if known else thing.__name__
    if isinstance(thing, np.vectorize):
        return "np.vectorize"
    name = getattr(thing, "__qualname__", None)
    module = getattr(thing, "__module__", None)
    if isinstance(getattr(thing, "__self__", None), ModuleType):
        module = thing.__self__.__name__
    return _qualified(module, name) if isinstance(name, str) else ""


def _qualified(module: str | None, name: str) -> str:
    name = name.split(".<locals>")[0].removesuffix(".__call__").removesuffix(".__new__")
    if module in (None, "builtins"):
        return name
    parts: list[str] = []
    for part in module.split("."):
        if part.startswith("_") or (parts == ["numpy"] and part in ("core", "lib")):
            break
        parts.append("np" if part == "numpy" and not parts else part)
    return ".".join([*parts, name])


def _frame_name(frame: FrameType) -> str:
    qualname = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    return _qualified(str(frame.f_globals.get("__name__", "")), qualname)


def _expression(frame: FrameType) -> ast.expr | None:
    """The syntax tree of the expression that the frame is evaluating now."""
    index = frame.f_lasti // 2
    where = next(islice(_positions(frame), index, index + 1), None) if index >= 0 else None
    if where is None or None in where:
        return None
    first, last, begin, end = (int(n or 0) for n in where)
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)[first - 1 : last]
    if len(lines) != last - first + 1:
        return None
    raw = [line.encode() for line in lines]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][begin:]
    try:
        return ast.parse(b"(" + b"".join(raw) + b"\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return None


def _positions(frame: FrameType) -> Iterator[tuple[int | None, ...]]:
    yield from frame.f_code.co_positions()


def _opcode(frame: FrameType) -> str:
    code = frame.f_code.co_code
    return dis.opname[code[frame.f_lasti]] if 0 <= frame.f_lasti < len(code) else ""


def _lookup(node: ast.expr, frame: FrameType) -> Any:
    """The object that a dotted name stands for in the frame; only plain names and attributes are read."""
    if isinstance(node, ast.Name):
        for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in scope:
                return scope[node.id]
        return None
    if isinstance(node, ast.Attribute):
        owner = _lookup(node.value, frame)
        plain = owner is not None and isinstance(owner, ModuleType | type | np.ufunc)
        return getattr(owner, node.attr, None) if plain else None
    return None
