"""An identity that needs no law: two NumPy forms of one value, which are equal by their terms alone."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from saturate.errors import LawError
from saturate.facts import FINITE, Facts
from saturate.leaf_facts import input_facts
from saturate.op import AnyArray, Type
from saturate.rules.law import BITWISE, ROUNDING, Condition

Array = Any
"""An array, or the tracer that stands for one."""
Forms = tuple[Array, Array]


@dataclass(frozen=True)
class Identity:
    """Two forms of one value that are equal where the conditions hold; they differ by rounding at most.

    `forms` computes both of them from its arguments. `emits` are the ops that either form is lowered to, by a
    target that lacks the ops `lacks`; views and numbers aside.
    """

    name: str
    theory: str
    doc: str
    variables: Mapping[str, str] = field(hash=False)
    forms: Callable[..., Forms]
    exact: str
    where: tuple[Condition, ...]
    source: str
    line: str
    emits: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    @property
    def letters(self) -> str:
        """The letters of the arguments, each once, in order."""
        return "".join(dict.fromkeys(c for letters in self.variables.values() for c in letters if c != "<"))

    @property
    def texts(self) -> tuple[str, str]:
        """Both forms as Python text; raises `LawError` where they are not returned side by side."""
        source = textwrap.dedent(inspect.getsource(self.forms))
        match [n.value for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Return)]:
            case [ast.Tuple(elts=[left, right])]:
                found = [ast.get_source_segment(source, form) or "" for form in (left, right)]
                return " ".join(found[0].split()), " ".join(found[1].split())
            case _:
                raise LawError(
                    f"identity {self.name} needs one return of its two forms side by side, to be shown"
                )

    def types(self, sizes: Mapping[str, int], dtype: str = "float64") -> dict[str, Type]:
        """The types of the arguments where letters have these sizes."""
        found: dict[str, Type] = {}
        for name, letters in self.variables.items():
            mine, _, below = letters.partition("<")
            shape = tuple(sizes[c] for c in mine)
            found[name] = Type(shape, "int64", 0, sizes[below] - 1) if below else Type(shape, dtype)
        return found

    def facts(self, types: Mapping[str, Type]) -> dict[str, Facts]:
        """What is known of the arguments: what their types say, and finite only where a condition says so."""
        finite = {c.variable for c in self.where if c.fact == FINITE}
        return {
            name: facts if type.dtype == "int64" or name in finite else facts - {FINITE}
            for name, type in types.items()
            for facts in (input_facts(type),)
        }

    def arrays(
        self, sizes: Mapping[str, int], rng: np.random.Generator, dtype: str = "float64"
    ) -> dict[str, AnyArray]:
        """Samples of the arguments."""
        return {
            name: rng.integers(0, int(type.high or 0) + 1, type.shape)
            if type.dtype == "int64"
            else rng.standard_normal(type.shape).astype(type.dtype)
            for name, type in self.types(sizes, dtype).items()
        }


def identity(
    *,
    exact: str = ROUNDING,
    where: tuple[Condition, ...] = (),
    source: str = "",
    emits: tuple[str, ...] = (),
    lacks: tuple[str, ...] = (),
    **variables: str,
) -> Callable[[Callable[..., Forms]], Identity]:
    """Declare an identity: a function of arrays that returns its two forms, in NumPy.

    Keywords give each argument the letters of its axes; arguments that share a letter have one size there.
    `k="j<i"` holds whole numbers from 0 to below the size of i. `where` names the arguments that have to be
    finite; `emits` and `lacks` are those of `Identity`. Raises `LawError` for arguments without letters, a
    missing docstring, another class than `bitwise` or `rounding`, and a condition on no argument or of
    another fact.
    """

    def declare(function: Callable[..., Forms]) -> Identity:
        name = function.__name__
        parameters = tuple(inspect.signature(function).parameters)
        if set(parameters) != set(variables):
            raise LawError(
                f"identity {name} needs index letters for each of its arguments {list(parameters)}, "
                f"got {sorted(variables)}: write @identity(a='ij')"
            )
        if not function.__doc__:
            raise LawError(f"identity {name} needs a docstring that states it, got none")
        if exact not in (BITWISE, ROUNDING):
            raise LawError(f"identity {name} needs exact to be {BITWISE} or {ROUNDING}; got {exact!r}")
        for condition in where:
            if condition.variable not in parameters or condition.fact != FINITE:
                raise LawError(
                    f"identity {name} needs conditions finite(…) on its own arguments "
                    f"{', '.join(parameters)}, got {condition.fact}({condition.variable!r})"
                )
        code = function.__code__
        return Identity(
            name, function.__module__.rpartition(".")[2], inspect.cleandoc(function.__doc__),
            {p: variables[p] for p in parameters}, function, exact, where, source,
            f"{code.co_filename}:{code.co_firstlineno}", emits, lacks,
        )  # fmt: skip

    return declare
