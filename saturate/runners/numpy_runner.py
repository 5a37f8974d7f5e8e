"""The NumPy runner: a program compiled to one Python function that writes into buffers which it keeps."""

from __future__ import annotations

import ast
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saturate.op import AnyArray
from saturate.program import Program
from saturate.runners.arguments import bind, checked
from saturate.runners.expressions import text, written_into
from saturate.runners.names import identifiers
from saturate.runners.observe import Observation, observe
from saturate.runners.plan import Plan, plan
from saturate.runners.printing import indented
from saturate.runners.scope import Function, function, scope
from saturate.runners.steps import Step, steps
from saturate.runners.style import STYLES

PLANS = 8
"""A runner keeps the plans of so many memory layouts of its arguments, the newest."""

Key = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class Compiled:
    """A program compiled for one memory layout of its arguments: the plan, the Python text, the function."""

    plan: Plan
    text: str
    run: Function


class _Buffers(threading.local):
    def __init__(self) -> None:
        self.of: weakref.WeakKeyDictionary[Compiled, list[AnyArray]] = weakref.WeakKeyDictionary()


@dataclass(eq=False)
class NumpyRunner:
    """Calls a program: arguments by position or by name, results in order, outputs before gradients.

    The first call with arguments of one memory layout runs the steps as source has them, and sees what
    layout NumPy gives to each value; later calls write each large value into a buffer of just that layout,
    so the bits are those of the source. Buffers belong to a thread. No argument is written to; no result
    shares memory with a buffer, an argument or another result. With `buffers=False` each value is a new
    array.

    Raises `ArgumentError` for wrong arguments, and `RunnerError` where SciPy is needed and missing.
    """

    program: Program
    buffers: bool = True
    compiled: dict[Key, Compiled] = field(default_factory=dict[Key, Compiled], init=False, repr=False)

    def __post_init__(self) -> None:
        self._steps = steps(self.program)
        self._names = identifiers(self.program, self._steps.functions)
        self._scope = scope(self.program, self._steps, STYLES["numpy"], np)
        self._fixed = {n.value: n.op.evaluate(np) for n in self._steps.captured}
        self._local = _Buffers()
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **named: Any) -> tuple[Any, ...]:
        """The results for these arguments."""
        given = bind(self.program, args, named)
        arrays = [checked(self.program, i, a) for i, a in zip(self.program.inputs, given, strict=True)]
        key = tuple(a.strides for a in arrays)
        compiled = self.compiled.get(key)
        if compiled is None:
            return self._first(key, arrays)
        buffers = self._local.of.get(compiled)
        if buffers is None:
            buffers = self._local.of[compiled] = compiled.plan.allocate()
        return compiled.run(buffers, *arrays)

    def host(self, array: Any) -> AnyArray:
        """A result as a NumPy array."""
        return np.asarray(array)

    def _first(self, key: Key, arrays: list[AnyArray]) -> tuple[Any, ...]:
        given = {i.value: a for i, a in zip(self.program.inputs, arrays, strict=True)}
        seen = observe(self._steps, given | self._fixed, self._scope)
        for step in self._steps.steps:
            if not step.node.operands and step.value not in self._fixed:
                seen.values[step.value].setflags(write=False)
                self._fixed[step.value] = seen.values[step.value]
        results = self.program.results
        made = plan([*given, *self._fixed], seen.statements, results, reuse=self.buffers)
        compiled = self._compile(seen, made)
        with self._lock:
            while len(self.compiled) >= PLANS:
                del self.compiled[next(iter(self.compiled))]
            self.compiled[key] = compiled
        found = [seen.values[v] for v in results]
        return tuple(r.copy() if k in made.copied else r for k, r in enumerate(found))

    def _compile(self, seen: Observation, made: Plan) -> Compiled:
        """The function for one plan, printed and compiled."""
        names = dict(self._names)
        buffers = {value: f"_b{k}" for k, value in enumerate(made.slot)}
        lines = [f"{', '.join(buffers.values())}, = _buffers"] if buffers else []
        for step in seen.steps:
            target = buffers.get(step.value) or names.get(made.over.get(step.value, ""))
            lines.append(f"{names[step.value]} = {_written(step, target, step.value in seen.nested, names)}")
        results = (names[v] + ".copy()" * (k in made.copied) for k, v in enumerate(self.program.results))
        lines.append(f"return ({''.join(f'{r}, ' for r in results)})")
        inputs = "".join(f", {names[i.value]}" for i in self.program.inputs)
        source = f"def run(_buffers{inputs}):\n{indented(lines)}"
        fixed = {names[v]: array for v, array in self._fixed.items()}
        return Compiled(made, source, function(source, "run", self._scope | fixed))


def _written(step: Step, target: str | None, nested: bool, names: Mapping[str, str]) -> str:
    if nested:
        return text(step.whole, names)
    if target is None:
        return text(step.own, names)
    return text(written_into(step.node.op, ast.Name(target, ast.Load()), step.operands), names)
