"""Identifiers for the values of a program, as its user would name them."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable
from itertools import count

from saturate.ops.constants import Constant
from saturate.program import Program

RESERVED = frozenset(
    {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "cp", "special", "constants", "Path"}
)
"""Names that no value gets."""


def identifier(label: str) -> str:
    """A label as an identifier: `params.w` is `params_w`, `layers[0].b` is `layers_0_b`; or empty."""
    plain = re.sub(r"\W+", "_", label).strip("_")
    return f"_{plain}" if plain[:1].isdigit() else plain


def identifiers(program: Program, reserved: Iterable[str] = (), first: Iterable[str] = ()) -> dict[str, str]:
    """A distinct identifier for each value; none is a keyword, a builtin, a module's name or in `reserved`.

    Inputs go by their names, gradients by `d_` and the name of their input, a single unnamed output by
    `value`, other values by their label; where they have none by `t1`, `t2`, …, those in `first` first, and
    captured arrays by `c1`, `c2`, ….
    """
    taken = {*RESERVED, *reserved}
    names: dict[str, str] = {}

    def give(value: str, wanted: str) -> None:
        if value not in names:
            names[value] = _free(wanted, taken)
            taken.add(names[value])

    for given in program.inputs:
        give(given.value, identifier(given.name) or "x")
    for of, value in program.gradients:
        give(value, f"d_{identifier(of)}")
    for node in program.nodes:
        if identifier(node.label):
            give(node.value, identifier(node.label))
    if len(program.outputs) == 1:
        give(program.outputs[0], "value")
    captured = [node.value for node in program.nodes if isinstance(node.op, Constant)]
    for letter, values in (("c", captured), ("t", [*first, *(node.value for node in program.nodes)])):
        free = (f"{letter}{k}" for k in count(1) if f"{letter}{k}" not in taken)
        for value in values:
            if value not in names:
                give(value, next(free))
    return names


def _free(wanted: str, taken: set[str]) -> str:
    if wanted not in taken:
        return wanted
    if wanted in RESERVED and f"{wanted}_" not in taken:
        return f"{wanted}_"
    count = 2
    while f"{wanted}_{count}" in taken:
        count += 1
    return f"{wanted}_{count}"
