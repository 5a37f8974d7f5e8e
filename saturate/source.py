"""A program as Python source that runs alone: the joint function, and `forward` with `backward`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import wrap

from saturate.errors import ArgumentError
from saturate.ops.constants import Constant, is_saved
from saturate.program import Program
from saturate.runners.names import RESERVED, identifier, identifiers
from saturate.runners.printing import WIDTH, body, indented, listed
from saturate.runners.steps import Steps, steps
from saturate.runners.style import STYLES, Style
from saturate.split import COTANGENT, Split, split

JOINT, FORWARD, BACKWARD, RESIDUALS = "value_and_gradients", "forward", "backward", "residuals"
UNSCALED = (
    f"if {COTANGENT} != 1:",
    '    raise ValueError("the target has no ops to multiply by another cotangent than 1")',
)
"""Where `backward` stands, and the gradients are those of the cotangent 1 alone."""


def source(
    program: Program,
    style: str = "numpy",
    comments: Mapping[str, str] | None = None,
    saved: str = "",
    halves: Split | None = None,
) -> str:
    """Python text that needs only NumPy, and SciPy where the program uses its functions; or CuPy.

    A program with gradients becomes three functions: `value_and_gradients(args…) -> (value, gradients)`,
    `forward(args…) -> (value, residuals)` and `backward(residuals, cotangent) -> gradients`, gradients a
    tuple in the program's order; one without becomes one function under the program's name, which returns
    its value. A value is an array, or a tuple where the program has several outputs. `comments` are put
    above the step of a value, by value id, in full once in each function. Captured arrays of more than 64
    elements are read from the file `saved` (the program's name with `.npz` by default) beside the source, as
    `save_constants` writes it. `halves` are `forward` and `backward`, by default those of `split`; where they
    multiply by no cotangent, `backward` takes none but 1. Raises `ArgumentError` for a style that there is
    not.
    """
    if style not in STYLES:
        raise ArgumentError(f"source needs a style among {', '.join(STYLES)}, got {style!r}")
    return _Source(program, STYLES[style], comments or {}, saved, halves).text()


@dataclass
class _Source:
    program: Program
    style: Style
    comments: Mapping[str, str]
    saved: str
    halves: Split | None

    def __post_init__(self) -> None:
        named = identifier(self.program.name) or "f"
        self.name = f"{named}_" if named in RESERVED else named
        self.steps = steps(self.program)
        reserved = {self.name, JOINT, FORWARD, BACKWARD, RESIDUALS, *self.steps.functions}
        if self.program.gradients and all(i.name != COTANGENT for i in self.program.inputs):
            reserved.add(COTANGENT)
        printed = (s.value for s in self.steps.steps if s.printed)
        self.names = identifiers(self.program, reserved, printed)

    def text(self) -> str:
        """The module."""
        blocks = [self._head()]
        blocks += [self.style.text(helper).strip() + "\n" for helper in self.steps.helpers]
        if self.program.gradients:
            halves = self.halves or split(self.program)
            blocks += [self._joint(), self._forward(halves), self._backward(halves)]
        else:
            blocks.append(self._alone())
        return "\n\n".join(blocks)

    def _head(self) -> str:
        arrays = self.steps.captured
        read = any(isinstance(n.op, Constant) and is_saved(n.op.array) for n in arrays)
        imports = [self.style.imports]
        if read and self.style.module != "np":
            imports.append("import numpy as np")
        if self.steps.special:
            imports.append(self.style.special)
        lines = [f'"""{self._title()}"""', "", *(["from pathlib import Path", ""] if read else []), *imports]
        if arrays:
            lines.append("")
        if read:
            lines += self._loading()
        lines += [f"{self.names[n.value]} = {self.style.text(n.op.text())}" for n in arrays]
        return "\n".join(lines) + "\n"

    def _loading(self) -> list[str]:
        """The captured arrays by digest, from the file beside the source."""
        opened = f"with np.load(Path(__file__).with_name({self.saved or f'{self.name}.npz'!r})) as saved:"
        made = (
            "dict(saved)" if self.style.module == "np" else "{key: cp.asarray(saved[key]) for key in saved}"
        )
        return [opened.replace("'", '"'), f"    constants = {made}"]

    def _title(self) -> str:
        types: list[str] = []
        for given in self.program.inputs:
            name = self.names[given.value]
            types.append(f"{name}{f' ({given.name})' * (name != given.name)}: {given.type}")
        wrt = [self.names[i.value] for i in self.program.inputs if i.name in dict(self.program.gradients)]
        what = f", its value and its gradients with respect to {_and(wrt)}" if wrt else ""
        lines = [
            *wrap(f"{self.name}{what}; written by saturate.", WIDTH - 3),
            *([""] if types else []),
            *types,
        ]
        return "\n".join(lines) + "\n" * bool(types)

    def _joint(self) -> str:
        gradients = [self.names[v] for _, v in self.program.gradients]
        end = listed(f"return {self._value()}, ", gradients)
        arguments = [self.names[i.value] for i in self.program.inputs]
        return self._function(JOINT, arguments, "The value, and the gradients.", self.steps, self.names, end)

    def _alone(self) -> str:
        arguments = [self.names[i.value] for i in self.program.inputs]
        doc = "The value." if len(self.program.outputs) == 1 else "The values."
        return self._function(self.name, arguments, doc, self.steps, self.names, [f"return {self._value()}"])

    def _forward(self, halves: Split) -> str:
        arguments = [self.names[i.value] for i in halves.forward.inputs]
        end = listed(f"return {self._value()}, ", [self.names[v] for v in halves.residuals])
        doc = "The value, and the residuals that `backward` reads."
        return self._function(FORWARD, arguments, doc, steps(halves.forward), self.names, end)

    def _backward(self, halves: Split) -> str:
        names, found = self._backward_names(halves), steps(halves.backward)
        unpacked = [names[v] for v in halves.residuals]
        start = listed("", unpacked, f" = {RESIDUALS}") if unpacked else []
        end = listed("return ", [names[v] for v in halves.backward.outputs])
        doc = "The gradients, for the residuals and the cotangent of the value."
        if halves.refused:
            start = [*start, *UNSCALED]
        elif self._strong(halves.backward):
            made = f'np.asarray({COTANGENT}, dtype="{halves.backward.inputs[-1].type.dtype}")'
            start = [f"{COTANGENT} = {self.style.text(made)}", *start]
        text = self._function(BACKWARD, [RESIDUALS, COTANGENT], doc, found, names, end, start)
        joint = any(i.name == COTANGENT for i in self.program.inputs)
        one = "1.0" if halves.refused else self._one(halves.backward, f"broadcast_to({COTANGENT}" not in text)
        return text if joint else text.replace(f", {COTANGENT})", f", {COTANGENT}={one})", 1)

    def _strong(self, backward: Program) -> bool:
        """Whether the cotangent of a scalar is used in other ways than a Python number can be."""
        fresh = {node.op.name for node in backward.nodes if node.value not in self.program.types}
        return not fresh <= {"mul", "broadcast", "cast"}

    def _backward_names(self, halves: Split) -> dict[str, str]:
        """Names in `backward`, where the gradients may be products of those of the joint function."""
        names, backward = dict(self.names), halves.backward
        names |= {i.value: COTANGENT for i in backward.inputs if i.value not in halves.residuals}
        fresh = (f"t{k}" for k in range(1, 2 * len(names)) if f"t{k}" not in self.names.values())
        for (_, joint), final in zip(self.program.gradients, backward.outputs, strict=True):
            if final not in self.program.types and final not in names:
                made = joint in self.program.producer and joint not in self.program.outputs
                names[final] = names[joint] if made else next(fresh)
                if made:
                    names[joint] = next(fresh)
        for node in backward.nodes:
            if node.value not in names:
                names[node.value] = next(fresh)
        return names

    def _one(self, backward: Program, weak: bool) -> str:
        """The cotangent 1: a Python number where NumPy's weak promotion gives every gradient its dtype."""
        dtype = backward.inputs[-1].type.dtype
        same = (weak or dtype == "float64") and all(
            backward.types[v].dtype == dtype for v in backward.outputs
        )
        return "1.0" if same else f"{self.style.module}.{dtype}(1.0)"

    def _value(self) -> str:
        values = [self.names[v] for v in self.program.outputs]
        return values[0] if len(values) == 1 else f"({', '.join(values)}{',' * (not values)})"

    def _function(
        self,
        name: str,
        arguments: list[str],
        doc: str,
        found: Steps,
        names: Mapping[str, str],
        end: list[str],
        start: list[str] | None = None,
    ) -> str:
        lines = body(found, names, self.comments)
        spelled = [line if line.startswith("#") else self.style.text(line) for line in lines]
        head = f"def {name}({', '.join(arguments)}):\n"
        return head + indented([f'"""{doc}"""', *(start or []), *spelled, *end])


def _and(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
