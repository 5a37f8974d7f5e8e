"""A program in a wider floating dtype: the reference that results are measured against."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from saturate.op import Array, Op, Type
from saturate.program import Input, Node, Program

LONG = np.dtype(np.longdouble).name
"""Name of NumPy's `longdouble`, which on some machines is float64."""


def lift(program: Program, dtype: str) -> Program:
    """The program with every floating dtype replaced: of inputs, captured arrays, casts and generated arrays.

    Integers and booleans stay. Raises `ShapeError` (inside a `ProgramError`) where an op has no loop for
    `dtype`.
    """
    inputs = tuple(Input(i.name, i.value, _lifted(i.type, dtype)) for i in program.inputs)
    types = {i.value: i.type for i in inputs}
    nodes: list[Node] = []
    for node in program.nodes:
        op = _op(node.op, dtype)
        types[node.value] = op.type(*(types[v] for v in node.operands))
        nodes.append(replace(node, op=op, type=types[node.value]))
    return Program(program.name, inputs, tuple(nodes), program.outputs, program.gradients)


def lifted_array(array: Any, dtype: str) -> Any:
    """The array in the wider dtype where it is floating."""
    return array.astype(dtype) if np.asarray(array).dtype.kind == "f" else array


def _lifted(kind: Type, dtype: str) -> Type:
    return replace(kind, dtype=dtype) if kind.is_float else kind


def _op(op: Op, dtype: str) -> Op:
    changed: dict[str, Any] = {}
    for key, value in op.attributes().items():
        if key == "dtype" and np.dtype(value).kind == "f":
            changed[key] = dtype
        if isinstance(value, Array) and value.value.dtype.kind == "f":
            changed[key] = Array(value.value.astype(dtype))
    return replace(op, **changed) if changed else op
