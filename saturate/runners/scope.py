"""The names that compiled steps need from outside: the array library, SciPy's functions, helpers of ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from saturate.errors import RunnerError
from saturate.program import Program
from saturate.runners.expressions import names
from saturate.runners.steps import Steps
from saturate.runners.style import Style

Function = Callable[..., tuple[Any, ...]]


def scope(program: Program, steps: Steps, style: Style, xp: ModuleType) -> dict[str, Any]:
    """Global names for the steps: `xp` under the style's name, `special`, and the helper functions.

    Raises `RunnerError` where SciPy's functions are needed and their module is not installed.
    """
    found: dict[str, Any] = {style.module: xp}
    if steps.special:
        module = "scipy.special" if xp.__name__ == "numpy" else "cupyx.scipy.special"
        try:
            found["special"] = import_module(module)
        except ImportError:
            needed = dict.fromkeys(s.node.op.name for s in steps.steps if "special" in names(s.own))
            raise RunnerError(
                f"{program.name} needs {module} for {', '.join(needed)}, which is not installed; "
                "pip install scipy"
            ) from None
    for helper in steps.helpers:
        exec(compile(style.text(helper), "<saturate helper>", "exec"), found)
    return found


def function(source: str, name: str, scope: Mapping[str, Any]) -> Function:
    """The function of that name, from Python text and global names."""
    found: dict[str, Any] = dict(scope)
    exec(compile(source, f"<saturate {name}>", "exec"), found)
    made: Function = found[name]
    return made
