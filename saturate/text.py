"""Programs as text and back: what `str(program)` prints, `parse` reads, with ids, labels, literals and types.

    program softmax
      input x: v0 : float32[3, 5] in [-1.0, 1.0]
      n0: v1 = max[axes=(1,), keepdims=True](v0) : float32[3, 1]  # m
      n1: v2 = mul(v1, 0.5) : float32[3, 1]
      return v2
      gradient x = d4

A literal stands in its operand's place, other attributes in brackets. Arrays of up to 64 elements are written
out, larger ones as a digest that `parse` looks up. A name that is not plain is written as a Python string.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from saturate.errors import ProgramError, shown
from saturate.op import Array, Op, Scalar, Type, literal
from saturate.ops import OPS
from saturate.ops.constants import is_saved, nested, numbers
from saturate.ops.elementwise import WithLiterals
from saturate.program import Input, Node, Program

_LITERALS = ("left_literal", "right_literal")
_DIGEST = "sha256:"


def format_program(program: Program) -> str:
    """The program as text; `parse` gives an equal program back."""
    inputs = [f"input {_name(i.name)}: {_name(i.value)} : {_type(i.type)}" for i in program.inputs]
    gradients = [f"gradient {_name(name)} = {_name(value)}" for name, value in program.gradients]
    outputs = f"return {', '.join(map(_operand, program.outputs))}".rstrip()
    lines = [*inputs, *map(_node, program.nodes), outputs, *gradients]
    return "\n  ".join([f"program {_name(program.name)}", *lines])


def save_constants(program: Program, path: str | Path) -> None:
    """Write the arrays that the text names by digest to an `.npz` file, for `parse(text, np.load(path))`."""
    arrays = (v for node in program.nodes for v in node.op.attributes().values() if isinstance(v, Array))
    with Path(path).open("wb") as file:
        np.savez(file, allow_pickle=False, **{a.digest: a.value for a in arrays if is_saved(a)})


def _node(node: Node) -> str:
    attributes = ", ".join(f"{k}={_attribute(v)}" for k, v in _shown(node.op).items())
    operands = node.op.arguments(*node.operands) if isinstance(node.op, WithLiterals) else node.operands
    written = ", ".join(_operand(x) if isinstance(x, str) else _number(x) for x in operands)
    call = f"{node.op.name}{f'[{attributes}]' if attributes else ''}({written})"
    label = f"  # {_label(node.label)}" if node.label else ""
    return f"{_name(node.id)}: {_name(node.value)} = {call} : {_type(node.type)}{label}"


def _shown(op: Op) -> dict[str, Any]:
    hidden = _LITERALS if isinstance(op, WithLiterals) else ()
    return {k: v for k, v in op.attributes().items() if k not in hidden}


def _attribute(value: Any) -> str:
    if isinstance(value, Array):
        return repr(_DIGEST + value.digest) if is_saved(value) else nested(numbers(value)).replace("np.", "")
    if isinstance(value, tuple):
        return f"({', '.join(map(_attribute, value))}{',' if len(value) == 1 else ''})"
    return _number(value) if isinstance(value, bool | int | float) else repr(value)


def _number(value: Scalar) -> str:
    return literal(value).replace("np.", "")


def _type(kind: Type) -> str:
    if kind.low is None and kind.high is None:
        return str(kind)
    return f"{kind} in [{_attribute(kind.low)}, {_attribute(kind.high)}]"


def _name(name: str) -> str:
    return name if re.fullmatch(_PLAIN, name, re.ASCII) else repr(name)


def _operand(name: str) -> str:
    plain = re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) and name not in ("inf", "nan")
    return name if plain and not keyword.iskeyword(name) else repr(name)


def _label(label: str) -> str:
    plain = label.isprintable() and label == label.strip() and label[0] not in "'\""
    return label if plain else repr(label)


_PLAIN = r"[\w.<>\[\]-]+"
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NAME = rf"({_QUOTED}|{_PLAIN})"
_BRACKETS = re.compile(rf"{_QUOTED}|[][()]")
_HEAD = re.compile(rf"program {_NAME}", re.ASCII)
_INPUT = re.compile(rf"input {_NAME}: {_NAME}(?: :(.*))?", re.ASCII)
_NODE = re.compile(rf"{_NAME}: {_NAME} = (\w+)(?=[\[(])", re.ASCII)
_DECLARED = re.compile(rf"(input )?{_NAME}: {_NAME}", re.ASCII)
_RETURN = re.compile(r"return(?: (.*))?")
_GRADIENT = re.compile(rf"gradient {_NAME} = {_NAME}", re.ASCII)
_SIZE = re.compile(r"-?\d{1,400}", re.ASCII)
_TYPE = re.compile(r"\s*(\w*)(?:\[([^]]*)\])?(?: in \[([^],]+), ([^],]+)\])?", re.ASCII)


def parse(text: str, constants: Mapping[str, npt.NDArray[Any]] | None = None) -> Program:
    """The program that `text` describes; `constants` holds by digest the arrays that it names by digest.

    Raises `ProgramError` that names the line and the node, what it needs and what it has.
    """
    found: dict[str, list[Any]] = {"program": [], "input": [], "node": [], "return": [], "gradient": []}
    for k, line in _lines(text):
        try:
            kind, part = _line(line, constants or {})
        except ProgramError as error:
            raise ProgramError(f"line {k}{_declared(line)}: {error}", code=error.code) from error
        except RecursionError as error:
            raise ProgramError(f"line {k}{_declared(line)}: it is nested too deeply") from error
        found[kind].append(part)
    for kind in ("program", "return"):
        if len(found[kind]) != 1:
            raise ProgramError(f"the text of a program needs one line {kind!r}, got {len(found[kind])}")
    name, outputs = found["program"][0], found["return"][0]
    return Program(name, tuple(found["input"]), tuple(found["node"]), outputs, tuple(found["gradient"]))


def _lines(text: Any) -> list[tuple[int, str]]:
    """The lines that are not empty, numbered from 1."""
    if not isinstance(text, str):
        raise ProgramError(f"a program needs text, got {shown(text)}")
    return [(k, line.strip()) for k, line in enumerate(text.split("\n"), 1) if line.strip()]


def _declared(line: str) -> str:
    """The input or node that a line declares, for messages."""
    match = _DECLARED.match(line)
    if match is None:
        return ""
    name = match[2] if match[2][0] in "'\"" else repr(match[2])
    return f", {'input' if match[1] else 'node'} {name}"


def _line(line: str, constants: Mapping[str, npt.NDArray[Any]]) -> tuple[str, Any]:
    """What a line declares, and the part of the program that it describes."""
    if match := _NODE.match(line):
        return "node", _read_node(match, constants)
    if match := _HEAD.fullmatch(line):
        return "program", _read_name(match[1])
    if match := _INPUT.fullmatch(line):
        return "input", Input(_read_name(match[1]), _read_name(match[2]), _read_type(match[3] or ""))
    if match := _RETURN.fullmatch(line):
        return "return", tuple(map(_read_operand, _call(match[1] or "").args))
    if match := _GRADIENT.fullmatch(line):
        return "gradient", (_read_name(match[1]), _read_name(match[2]))
    raise ProgramError(
        f"a program needs lines of program, input, return, gradient or `n: v = op(…)`, got {shown(line)}"
    )


def _read_node(match: re.Match[str], constants: Mapping[str, npt.NDArray[Any]]) -> Node:
    line, at = match.string, match.end()
    attributes = ""
    if line[at] == "[":
        at, start = _closing(line, at), at
        attributes = line[start + 1 : at - 1]
    if line[at : at + 1] != "(":
        raise ProgramError(f"{match[3]} needs operands in parentheses, got {shown(line[at:])}")
    at, start = _closing(line, at), at
    typed, _, label = line[at:].partition("  # ")
    if typed and not typed.startswith(" :"):
        raise ProgramError(f"{match[3]} needs ` : ` and a type after its operands, got {shown(typed)}")
    kind = _read_type(typed.removeprefix(" :"))
    call = _call(", ".join(filter(None, (line[start + 1 : at - 1], attributes))))
    given = {k.arg or "**": _read(k.value) for k in call.keywords}
    if len(given) != len(call.keywords):
        raise ProgramError(f"{match[3]} needs distinct attributes, got {shown(attributes)}")
    op, operands = _read_op(match[3], given, call.args, kind, constants)
    quoted = label[:1] in ("'", '"')
    return Node(
        _read_name(match[1]), _read_name(match[2]), op, operands, kind, _read_name(label) if quoted else label
    )


def _closing(line: str, start: int) -> int:
    """Where the bracket that opens at `start` has closed; brackets in strings do not count."""
    depth = 0
    for token in _BRACKETS.finditer(line, start):
        depth += (token[0] in ("(", "[")) - (token[0] in (")", "]"))
        if depth == 0:
            return token.end()
    raise ProgramError(f"a bracket needs to be closed: {shown(line[start:])}")


def _read_op(
    name: str,
    given: dict[str, Any],
    args: list[ast.expr],
    kind: Type,
    constants: Mapping[str, npt.NDArray[Any]],
) -> tuple[Op, tuple[str, ...]]:
    cls = OPS.get(name)
    if cls is None:
        close = ", ".join(get_close_matches(name, OPS)) or "one of saturate.ops.OPS"
        raise ProgramError(
            f"a node needs the name of an op, got {shown(name)}; perhaps {close}", code="unsupported_operator"
        )
    operands = [_read_operand(x) if _is_id(x) else _read(x) for x in args]
    if issubclass(cls, WithLiterals) and len(operands) == cls.places:
        last = zip(_LITERALS, operands[-2:], strict=True)
        given |= {k: v for k, v in last if not isinstance(v, str)}
        operands[-2:] = [v for v in operands[-2:] if isinstance(v, str)]
    wrong = [x for x in operands if not isinstance(x, str)]
    if wrong:
        raise ProgramError(f"{name} needs values as operands, got the literal {wrong[0]!r}")
    known = _attributes(name)
    unknown = ["attribute" for k in given if k not in known]
    absent = [k for k in known if k not in given and k not in _LITERALS]
    if unknown or absent:
        raise ProgramError(
            f"{name} needs the attributes ({', '.join(known)}), got ({', '.join(given)})",
            code=cls.code((unknown or absent)[0]),
        )
    arrays = {
        k: _read_array(given[k], kind, constants) for k, declared in known.items() if declared == "Array"
    }
    make: Any = cls
    return make(**given | arrays), tuple(operands)


@cache
def _attributes(op: str) -> dict[str, str]:
    """The declared types of an op's attributes, by name."""
    return {f.name: str(f.type) for f in fields(OPS[op])}


def _read_array(value: Any, kind: Type, constants: Mapping[str, npt.NDArray[Any]]) -> Array:
    if not isinstance(value, str):
        try:
            return Array(np.array(value, kind.dtype).reshape(kind.shape))
        except (ValueError, TypeError, OverflowError) as error:
            raise ProgramError(f"a constant needs numbers that make {kind}, got {shown(value)}") from error
    digest = value.removeprefix(_DIGEST)
    if digest not in constants:
        raise ProgramError(
            f"a constant needs the array with the digest {digest}, and parse was given {len(constants)} "
            "others; pass what save_constants wrote: parse(text, constants=np.load(path))"
        )
    array = Array(constants[digest])
    if array.digest != digest:
        raise ProgramError(f"a constant needs the array with the digest {digest}, got one of {array.digest}")
    return array


def _call(arguments: str) -> ast.Call:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ProgramError(f"operands and attributes need Python syntax, got {shown(arguments)}") from error
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ProgramError(f"operands and attributes need Python syntax, got {shown(arguments)}")
    return call


def _is_id(x: ast.expr) -> bool:
    return (isinstance(x, ast.Name) and x.id not in ("inf", "nan")) or (
        isinstance(x, ast.Constant) and isinstance(x.value, str)
    )


def _read_operand(x: ast.expr) -> str:
    if isinstance(x, ast.Name):
        return x.id
    if isinstance(x, ast.Constant) and isinstance(x.value, str):
        return x.value
    raise ProgramError(f"a value id is needed, got {shown(ast.unparse(x))}")


def _read(x: ast.expr) -> Any:
    """The value of a literal: a number, string, None, or tuple or list of these."""
    match x:
        case ast.Constant(value=bool() | int() | float() | str() | None):
            return x.value
        case ast.Name(id="inf" | "nan"):
            return float(x.id)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            value = _read(operand)
            if isinstance(value, int | float):
                return -value
        case ast.Tuple(elts=items):
            return tuple(map(_read, items))
        case ast.List(elts=items):
            return list(map(_read, items))
        case _:
            pass
    raise ProgramError(f"an attribute needs to be a literal, got {shown(ast.unparse(x))}")


def _read_name(name: str) -> str:
    return _read_operand(_call(name).args[0]) if name[0] in "'\"" else name


@lru_cache(maxsize=1024)
def _read_type(text: str) -> Type:
    if not text.strip():
        raise ProgramError("a type like float32[3, 5] is needed, got none", code="missing_shape_metadata")
    match = _TYPE.fullmatch(text)
    if not match or not match[1]:
        raise ProgramError(
            f"a type like float32[3, 5] is needed, got {shown(text.strip())}", code="missing_dtype_metadata"
        )
    if match[2] is None:
        raise ProgramError(f"a type needs its shape, as in {match[1]}[3, 5]", code="missing_shape_metadata")
    written = [n.strip() for n in match[2].split(",")] if match[2].strip() else []
    sizes: Any = tuple(int(n) if _SIZE.fullmatch(n) else n for n in written)
    bounds = (None if x is None else _read(_call(x).args[0]) for x in (match[3], match[4]))
    return Type(sizes, match[1], *bounds)
