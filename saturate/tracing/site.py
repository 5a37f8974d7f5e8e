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

    `call` is the syntax tree of the expression being evaluated, None where the source is not at hand;
    `callee` the object that it calls, `name` the public name of that object ("np.take"), each empty where
    unknown. `first` is its first argument where that is a plain name. `stores` tells that the statement
    assigns to a subscript.
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
        if not _is_ours(frame):
            inner = frame
        frame = frame.f_back
    return _site(frame, frame.f_lasti, frame.f_lineno, inner)


def site_of(error: BaseException) -> tuple[Site, FrameType | None] | None:
    """Where the user's code was when `error` left it, and the frame of the library that it had called."""
    trace, last, inner = error.__traceback__, None, None
    while trace is not None:
        if not is_machinery(trace.tb_frame):
            last, inner = trace, None
        elif inner is None:
            inner = trace.tb_frame
        trace = trace.tb_next
    if last is None:
        return None
    inner = None if inner is None or _is_ours(inner) else inner
    return _site(last.tb_frame, last.tb_lasti, last.tb_lineno, inner), inner


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith("saturate.")


def _site(frame: FrameType, instruction: int, line: int, inner: FrameType | None) -> Site:
    call = _expression(frame, instruction)
    callee = first = None
    if isinstance(call, ast.Call):
        callee = _lookup(call.func, frame)
        first = _lookup(call.args[0], frame) if call.args else None
    name = public_name(callee) or (_frame_name(inner) if inner is not None else "")
    stores = _opcode(frame, instruction).startswith("STORE")
    return Site(frame.f_code.co_filename, line, call, callee, name, first, stores)


def public_name(thing: Any) -> str:
    """The name by which people call a function: "np.sum", "scipy.special.softmax", "float"; else empty."""
    if isinstance(thing, np.ufunc):
        return f"{home(thing)}.{thing.__name__}".removeprefix(".")
    if isinstance(thing, np.vectorize):
        return "np.vectorize"
    name: Any = getattr(thing, "__qualname__", None)
    module: Any = getattr(thing, "__module__", None)
    owner: Any = getattr(thing, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"{public_name(owner)}.{thing.__name__}"
    if isinstance(owner, np.random.RandomState):
        return f"np.random.{thing.__name__}"
    if isinstance(owner, np.ndarray):
        return f"np.ndarray.{thing.__name__}"
    if isinstance(owner, ModuleType):
        module = owner.__name__
    return _qualified(module, name) if isinstance(name, str) else ""


def home(ufunc: np.ufunc) -> str:
    """The module in which the ufunc stands under its name: "np", "scipy.special", or empty."""
    if getattr(np, ufunc.__name__, None) is ufunc:
        return "np"
    special = sys.modules.get("scipy.special")  # SciPy's are met only where the user imported it
    return "scipy.special" if getattr(special, ufunc.__name__, None) is ufunc else ""


def _qualified(module: Any, name: str) -> str:
    name = name.split(".<locals>")[0].removesuffix(".__call__").removesuffix(".__new__")
    if not isinstance(module, str) or module == "builtins":
        return name
    parts: list[str] = []
    for part in module.removeprefix("_").split("."):
        if part.startswith("_") or (parts == ["np"] and part in ("core", "lib")):
            break
        parts.append("np" if part == "numpy" and not parts else part)
    return ".".join([*parts, name])


def _frame_name(frame: FrameType) -> str:
    qualname = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    return _qualified(str(frame.f_globals.get("__name__", "")), qualname)


def _expression(frame: FrameType, instruction: int) -> ast.expr | None:
    """The syntax tree of the expression that the frame evaluates at the instruction."""
    index = instruction // 2
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


def _opcode(frame: FrameType, instruction: int) -> str:
    code = frame.f_code.co_code
    return dis.opname[code[instruction]] if 0 <= instruction < len(code) else ""


def _lookup(node: ast.expr, frame: FrameType) -> Any:
    """The object that a dotted name stands for in the frame; only plain names and attributes are read."""
    if isinstance(node, ast.Name):
        for scope in (frame.f_locals, frame.f_globals, frame.f_builtins):
            if node.id in scope:
                return scope[node.id]
        return None
    if isinstance(node, ast.Attribute):
        owner = _lookup(node.value, frame)
        plain = owner is not None and isinstance(owner, ModuleType | type | np.ufunc | np.ndarray)
        return getattr(owner, node.attr, None) if plain else None
    return None
