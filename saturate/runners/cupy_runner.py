"""The CuPy runner: the steps that source in the CuPy style has, on an NVIDIA device."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from saturate.errors import RunnerError
from saturate.op import AnyArray
from saturate.program import Input, Program
from saturate.runners.arguments import bind, checked, fits
from saturate.runners.names import identifiers
from saturate.runners.printing import body, indented
from saturate.runners.scope import function, scope
from saturate.runners.steps import steps
from saturate.runners.style import STYLES


def device() -> ModuleType:
    """The module `cupy`, where it is installed and finds a device; raises `RunnerError` otherwise."""
    try:
        cupy = import_module("cupy")
    except ImportError:
        raise RunnerError(
            "the cupy runner needs the package cupy, which is not installed; "
            "pip install 'saturate-grad[gpu]', or use the numpy runner"
        ) from None
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        count, why = 0, str(error)
    else:
        why = "none found"
    if not count:
        raise RunnerError(f"the cupy runner needs a CUDA device ({why}); use the numpy runner")
    return cupy


@dataclass(eq=False)
class CupyRunner:
    """Calls a program on a device; NumPy arguments are copied to it, results are CuPy arrays.

    No argument is written to, and no result shares memory with an argument or another result. `xp` is the
    array library; None asks for CuPy and a device. Raises `ArgumentError` for wrong arguments, and
    `RunnerError` where there is no device.
    """

    program: Program
    xp: ModuleType | None = None

    def __post_init__(self) -> None:
        self._xp = self.xp or device()
        style, found = STYLES["cupy"], steps(self.program)
        names = identifiers(self.program, found.functions)
        lines = [style.text(line) if line[:1] != "#" else line for line in body(found, names)]
        lines.append(f"return ({''.join(f'{names[v]}, ' for v in self.program.results)})")
        inputs = ", ".join(names[i.value] for i in self.program.inputs)
        fixed = {names[n.value]: n.op.evaluate(self._xp) for n in found.captured}
        self.text = f"def run({inputs}):\n{indented(lines)}"
        self._fixed = list(fixed.values())
        self._run = function(self.text, "run", scope(self.program, found, style, self._xp) | fixed)

    def __call__(self, *args: Any, **named: Any) -> tuple[Any, ...]:
        """The results for these arguments, as arrays of the device."""
        given = bind(self.program, args, named)
        arrays = [self._moved(i, a) for i, a in zip(self.program.inputs, given, strict=True)]
        owned: list[Any] = []
        for result in self._run(*arrays):
            shared = any(self._xp.may_share_memory(result, a) for a in (*arrays, *self._fixed, *owned))
            owned.append(result.copy() if shared else result)
        return tuple(owned)

    def host(self, array: Any) -> AnyArray:
        """A result as a NumPy array."""
        return np.asarray(array.get() if hasattr(array, "get") else array)

    def _moved(self, given: Input, array: Any) -> Any:
        if isinstance(array, self._xp.ndarray):
            fits(self.program, given, array)
            return array
        return self._xp.asarray(checked(self.program, given, array))
