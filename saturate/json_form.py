"""Programs as JSON text and back, exactly: the door by which programs of other tools enter.

    {"schema": "saturate.program.v1", "name": "f",
     "inputs":  [{"name": "x", "value": "v0", "type": {"shape": [3, 5], "dtype": "float32"}}],
     "nodes":   [{"id": "n0", "value": "v1", "op": "mean", "attributes": {"axes": [0, 1], "keepdims": true},
                  "operands": ["v0"], "type": {"shape": [1, 1], "dtype": "float32"}, "label": "m"}],
     "outputs": ["v1"], "gradients": [["x", "d1"]]}

`low` and `high` of a type, `label`, `gradients` and attributes that have a default may be absent. A float
that JSON lacks is `{"float": "nan"}`; an array is `{"dtype", "shape", "base64"}`, its bytes little-endian in
row-major order.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from math import isfinite, prod
from typing import Any

import numpy as np

from saturate.errors import ProgramError, SaturateError, shown
from saturate.op import Array, Op, Type
from saturate.ops import OPS
from saturate.program import Input, Node, Program

SCHEMA = "saturate.program.v1"
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_DEEPEST, _LONGEST = 32, 2**60


class _Absent:
    """Stands for an attribute that the JSON lacks; the program refuses it in the order of the fields."""

    def __repr__(self) -> str:
        return "nothing"


_ABSENT = _Absent()


def to_json(program: Program, *, indent: int | None = None) -> str:
    """The program as JSON text; `from_json` of it is equal to the program, ids, labels and types included."""
    form = {
        "schema": SCHEMA,
        "name": program.name,
        "inputs": [{"name": i.name, "value": i.value, "type": _type_form(i.type)} for i in program.inputs],
        "nodes": [_node_form(node) for node in program.nodes],
        "outputs": list(program.outputs),
        "gradients": [list(pair) for pair in program.gradients],
    }
    return json.dumps(form, indent=indent, allow_nan=False)


def from_json(text: str | bytes) -> Program:
    """The program that the JSON text describes.

    Raises `ProgramError` with a category as its `code`, naming the node: `malformed_program` for what is no
    JSON at all, `unsupported_operator` for an op that does not exist, and the category of the attribute, of
    the type or of the rule that is broken, which is `malformed_derivative_ir` where it has no own.
    """
    try:
        form = json.loads(text, object_pairs_hook=_distinct, parse_float=_finite, parse_constant=_finite)
    except SaturateError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise ProgramError(f"a program needs JSON text: {error}") from error
    top = _object(form, "a program", ("schema", "name", "inputs", "nodes", "outputs"), ("gradients",))
    if top["schema"] != SCHEMA:
        raise _malformed(f"a program needs the schema {SCHEMA!r}, got {shown(top['schema'])}")
    return Program(
        top["name"],
        tuple(_input(i) for i in _list(top["inputs"], "inputs")),
        tuple(_node(n) for n in _list(top["nodes"], "nodes")),
        tuple(_list(top["outputs"], "outputs")),
        tuple(tuple(_list(pair, "a gradient")) for pair in _list(top.get("gradients", []), "gradients")),
    )


def attributes_form(op: Op) -> dict[str, Any]:
    """The attributes of an op as JSON values, without those that are None."""
    return {name: _value_form(value) for name, value in op.attributes().items() if value is not None}


def _node_form(node: Node) -> dict[str, Any]:
    form = {
        "id": node.id,
        "value": node.value,
        "op": node.op.name,
        "attributes": attributes_form(node.op),
        "operands": list(node.operands),
        "type": _type_form(node.type),
    }
    return {**form, "label": node.label} if node.label else form


def _type_form(kind: Type) -> dict[str, Any]:
    bounds = {"low": kind.low, "high": kind.high}
    form = {"shape": list(kind.shape), "dtype": kind.dtype}
    return form | {name: _value_form(bound) for name, bound in bounds.items() if bound is not None}


def _value_form(value: Any) -> Any:
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    if isinstance(value, tuple):
        return [_value_form(item) for item in value]
    if isinstance(value, Array):
        array = value.value.astype(value.value.dtype.newbyteorder("<"))
        data = base64.b64encode(array.tobytes()).decode()
        return {"dtype": array.dtype.name, "shape": list(array.shape), "base64": data}
    return value


def _input(form: Any) -> Input:
    given = _object(form, "an input", ("name", "value"), ("type",))
    return Input(given["name"], given["value"], _type(given, f"input {shown(given['name'])}"))


def _node(form: Any) -> Node:
    given = _object(form, "a node", ("id", "value", "op", "operands"), ("attributes", "type", "label"))
    who = f"node {shown(given['id'])}"
    operands = tuple(_list(given["operands"], f"the operands of {who}"))
    op = _op(given, len(operands), who)
    return Node(given["id"], given["value"], op, operands, _type(given, who), given.get("label", ""))


def _type(given: Mapping[str, Any], who: str) -> Type:
    if given.get("type") is None:
        raise ProgramError(f"{who} needs a type, got none", code="missing_shape_metadata")
    form = _object(given["type"], f"the type of {who}", (), ("shape", "dtype", "low", "high"))
    try:
        bounds = {name: _value(form[name], who) for name in ("low", "high") if name in form}
        return Type(form.get("shape"), form.get("dtype"), **bounds)  # type: ignore[arg-type]
    except SaturateError as error:
        raise ProgramError(f"{who}: {error}", code=error.code) from error


def _op(given: Mapping[str, Any], operands: int, who: str) -> Op:
    name = given["op"]
    kind = OPS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ProgramError(f"{who} needs an op that exists, got {shown(name)}", code="unsupported_operator")
    if kind.operands == 0 and operands:
        raise ProgramError(f"{who} ({name}) needs no operands, got {operands}", code=kind.code("operands"))
    form = _object(given.get("attributes", {}), f"the attributes of {who}", (), None)
    known = {f.name: f.default for f in fields(kind)}
    for key in form:
        if key not in known:
            names = ", ".join(known) or "none"
            code = kind.code("attribute")
            raise ProgramError(f"{who} ({name}) has no attribute {key!r}, it has {names}", code=code)
    absent = {key: _ABSENT for key, default in known.items() if default is MISSING}
    return kind(**(absent | {key: _value(value, who) for key, value in form.items()}))


def _value(form: Any, who: str, depth: int = 0) -> Any:
    """The attribute value of a JSON value; whether it has the attribute's type, the program says."""
    if isinstance(form, list):
        if depth > _DEEPEST:
            raise _malformed(f"an attribute of {who} is nested too deeply")
        return tuple(_value(item, who, depth + 1) for item in form)
    if not isinstance(form, dict):
        return form
    if set(form) == {"float"} and isinstance(form["float"], str) and form["float"] in _FLOATS:
        return _FLOATS[form["float"]]
    if set(form) == {"dtype", "shape", "base64"}:
        return _array(form, who)
    raise _malformed(f"an attribute of {who} needs a number, a string, a list or an array, got {shown(form)}")


def _array(form: Mapping[str, Any], who: str) -> Array:
    kind = Type(form["shape"] if isinstance(form["shape"], list) else None, form["dtype"])  # type: ignore[arg-type]
    try:
        data = base64.b64decode(form["base64"], validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise _malformed(f"an array of {who} needs base64 text: {error}") from error
    dtype = np.dtype(kind.dtype).newbyteorder("<")
    if len(data) != prod(kind.shape) * dtype.itemsize or max(kind.shape, default=0) > _LONGEST:
        raise _malformed(f"an array of {who} needs the bytes of {kind}, got {len(data)} bytes")
    return Array(np.frombuffer(data, dtype).reshape(kind.shape))


def _object(form: Any, who: str, needed: tuple[str, ...], other: tuple[str, ...] | None) -> dict[str, Any]:
    """`form` where it is an object with all needed keys and no unknown one; `other=None` allows every key."""
    if not isinstance(form, dict):
        raise _malformed(f"{who} needs a JSON object, got {shown(form)}")
    for key in needed:
        if key not in form:
            raise _malformed(f"{who} needs the key {key!r}, got {', '.join(form) or 'none'}")
    if other is not None and not form.keys() <= {*needed, *other}:
        raise _malformed(f"{who} needs the keys {', '.join((*needed, *other))}, got {', '.join(form)}")
    return form


def _list(form: Any, who: str) -> list[Any]:
    if not isinstance(form, list):
        raise _malformed(f"{who} need a JSON list, got {shown(form)}")
    return form


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    form = dict(pairs)
    if len(form) != len(pairs):
        raise _malformed(f"a JSON object needs distinct keys, got {', '.join(key for key, _ in pairs)}")
    return form


def _finite(number: str) -> float:
    value = float(number)
    if not isfinite(value):
        raise _malformed(f'JSON has no {number}; write {{"float": "nan"}}, "inf" or "-inf"')
    return value


def _malformed(message: str) -> ProgramError:
    return ProgramError(message, code="malformed_derivative_ir")
