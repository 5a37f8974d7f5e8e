"""Reverse-mode differentiation by the derivatives of the ops; it knows no op but `Full` and `Add`.

The joint program holds the given nodes as they are, and after them the derivative nodes, one VJP for each op
on a way from an input to the output. It is the baseline: no algebra is done here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Literal

from saturate.build import Builder, Value
from saturate.errors import ArgumentError, DifferentiationError
from saturate.op import Type
from saturate.ops.arithmetic import add
from saturate.ops.constants import Full
from saturate.program import Node, Program

Seed = Literal["ones", "input"]


def gradient_program(program: Program, wrt: tuple[str, ...], output: int = 0, seed: Seed = "ones") -> Program:
    """The program with the gradients of ⟨seed, output⟩ by the inputs named in `wrt`.

    `output` counts the results of `program`, outputs first and gradients after them; all of them are outputs
    of the answer, in this order, and its `gradients` are those asked for, in the order of `wrt`. With
    `seed="ones"` the output's cotangent is a `Full` of ones; with `seed="input"` it is a new last input,
    named `cotangent` (or `cotangent2` and so on, where that name is taken). Derivative values are named `d*`
    and nodes `dn*` (`dd*` and `ddn*` where a derivative is differentiated again). An input that the output
    does not depend on has the gradient zero.

    Raises `ArgumentError` for unknown names, outputs or seeds, and `DifferentiationError` for inputs or an
    output that are not floats, and for an op without a derivative on the way.
    """
    out = _checked(program, wrt, output, seed)
    builder = Builder(start=program)
    builder.prefix(*_fresh_prefix(program))
    total = builder.input(_fresh_name(program), program.types[out]) if seed == "input" else None
    value = {given.name: given.value for given in program.inputs}
    cotangents = _cotangents(builder, program, out, total, {value[name] for name in wrt})
    found = [cotangents.get(value[name]) or _full(builder, 0.0, program.types[value[name]]) for name in wrt]
    fresh = builder.nodes[len(program.nodes) :]
    nodes, renamed = _tidied(fresh, {g.id for g in found}, _labels(program, cotangents))
    return Program(
        program.name,
        tuple(builder.inputs),
        (*program.nodes, *nodes),
        program.results,
        tuple((name, renamed.get(g.id, g.id)) for name, g in zip(wrt, found, strict=True)),
    )


def _checked(program: Program, wrt: tuple[str, ...], output: int, seed: str) -> str:
    """The value id of the output; raises where the request makes no sense."""
    types = {given.name: given.type for given in program.inputs}
    for name in wrt:
        if name not in types:
            raise ArgumentError(f"wrt needs names of inputs ({', '.join(types)}), got {name!r}")
        if not types[name].is_float:
            raise DifferentiationError(
                f"a gradient needs a floating input, got {name!r} of type {types[name]}; "
                "make it float64 or leave it out of wrt",
                code="dtype_not_differentiable",
            )
    if len(set(wrt)) != len(wrt):
        raise ArgumentError(f"wrt needs distinct names, got {wrt!r}")
    if seed not in ("ones", "input"):
        raise ArgumentError(f"seed needs to be 'ones' or 'input', got {seed!r}")
    if not 0 <= output < len(program.results):
        raise ArgumentError(f"output needs to be from 0 to {len(program.results) - 1}, got {output!r}")
    value = program.results[output]
    if not program.types[value].is_float:
        raise DifferentiationError(
            f"a gradient needs a floating output, got output {output} of type {program.types[value]}; "
            "cast it in the function",
            code="dtype_not_differentiable",
        )
    return value


def _fresh_prefix(program: Program) -> tuple[str, str]:
    """Prefixes of value and node ids that no id of the program has: d and dn, dd and ddn, …"""
    taken = {re.sub(r"\d+$", "", x) for x in (*program.types, *(node.id for node in program.nodes))}
    values = next(d for k in count(1) if not {d := "d" * k, d + "n"} & taken)
    return values, values + "n"


def _fresh_name(program: Program) -> str:
    taken = {given.name for given in program.inputs}
    names = ("cotangent" if k == 1 else f"cotangent{k}" for k in count(1))
    return next(name for name in names if name not in taken)


def _full(builder: Builder, fill: float, type: Type) -> Value:
    return builder.emit(Full(fill, type.shape, type.dtype))


def _cotangents(
    builder: Builder, program: Program, out: str, total: Value | None, sources: set[str]
) -> dict[str, Value]:
    """The cotangents of the values on a way from the sources to the output, from the output on backwards."""
    active = set(sources)
    for node in program.nodes:
        if node.type.is_float and not active.isdisjoint(node.operands):
            active.add(node.value)
    if out not in active:
        return {}
    cotangents = {out: total or _full(builder, 1.0, program.types[out])}
    for node in reversed(program.nodes):
        if node.value not in active or node.value not in cotangents:
            continue
        operands = [Value(builder, v, program.types[v]) for v in node.operands]
        found = _pulled_back(node, cotangents[node.value], operands)
        for operand, cotangent in zip(operands, found, strict=True):
            if cotangent is not None and operand.id in active:
                known = cotangents.get(operand.id)
                cotangents[operand.id] = cotangent if known is None else add(known, cotangent)
    return cotangents


def _pulled_back(node: Node, cotangent: Value, operands: Sequence[Value]) -> tuple[Value | None, ...]:
    """What each operand gets from the cotangent of the node's result; checks the op's answer."""
    out = Value(cotangent.builder, node.value, node.type)
    found = node.op.vjp(cotangent, out, *operands)
    if found is None:
        label = f", {node.label!r} in the function" if node.label else ""
        raise DifferentiationError(
            f"a gradient needs the derivative of {node.op.name} (node {node.id!r}{label}), which has none; "
            "leave the inputs that lead to it out of wrt"
        )
    for operand, part in zip(operands, found, strict=True):
        if part is not None and (part.shape, part.dtype) != (operand.shape, operand.dtype):
            raise DifferentiationError(
                f"the derivative of {node.op.name} (node {node.id!r}) needs to have the operand's type "
                f"{operand.type}, got {part.type}; correct its vjp"
            )
    return found


def _labels(program: Program, cotangents: Mapping[str, Value]) -> dict[str, str]:
    """Labels of cotangents: that of `m` is `dm`; where one serves several values, by the last of them."""
    names = {given.value: given.name for given in program.inputs} | {n.value: n.label for n in program.nodes}
    named = [(cotangent.id, names.get(value, "")) for value, cotangent in cotangents.items()]
    return {value: f"d{name}" for value, name in reversed(named) if name.isidentifier()}


def _tidied(
    fresh: Sequence[Node], results: set[str], labels: Mapping[str, str]
) -> tuple[list[Node], dict[str, str]]:
    """The nodes that results need, labelled, under the first ids of all; and the new value id of each."""
    needed = set(results)
    kept: list[Node] = []
    for node in reversed(fresh):
        if node.value in needed:
            kept.append(node)
            needed.update(node.operands)
    nodes: list[Node] = []
    renamed: dict[str, str] = {}
    for name, node in zip(fresh, reversed(kept), strict=False):
        renamed[node.value] = name.value
        operands = tuple(renamed.get(v, v) for v in node.operands)
        nodes.append(Node(name.id, name.value, node.op, operands, node.type, labels.get(node.value, "")))
    return nodes, renamed
