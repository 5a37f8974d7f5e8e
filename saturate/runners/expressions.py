"""Expressions of single ops as syntax trees, in the forms that a person would write; it knows no runner."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from saturate.op import Op, Scalar, Type, literal
from saturate.ops.spreading import Reshape
from saturate.ops.structure import Slice, Transpose
from saturate.program import Node

MARK = "$"
"""Values stand in expressions as names that begin with this, so that they meet no other name."""


def name(value: str) -> ast.Name:
    """The name that stands for a value."""
    return ast.Name(MARK + value, ast.Load())


def number(value: Scalar) -> ast.expr:
    """A literal."""
    return ast.parse(literal(value), mode="eval").body


def reads(expression: ast.expr) -> Iterator[str]:
    """The values that an expression reads, once for each place, from left to right."""
    stack: list[ast.AST] = [expression]
    while stack:
        node = stack.pop()
        if not isinstance(node, ast.Name):
            stack += [*ast.iter_child_nodes(node)][::-1]
        elif node.id.startswith(MARK):
            yield node.id[len(MARK) :]


def names(expression: ast.AST) -> set[str]:
    """The other names in an expression: modules and helper functions."""
    found = {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}
    return {n for n in found if not n.startswith(MARK)}


class _Substitute(ast.NodeTransformer):
    def __init__(self, found: Callable[[str], ast.expr | None]) -> None:
        self.found = found

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return (self.found(node.id[len(MARK) :]) if node.id.startswith(MARK) else None) or node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return super().generic_visit(_shallow(node))


def _shallow(node: ast.AST) -> ast.AST:
    fields = {k: list(v) if isinstance(v, list) else v for k, v in ast.iter_fields(node)}
    return type(node)(**fields)


def substitute(expression: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """A copy of the expression with expressions in place of values."""
    copy: ast.expr = _Substitute(values.get).visit(expression)
    return copy


def text(expression: ast.expr, identifiers: Mapping[str, str]) -> str:
    """Python text with values under their identifiers, parentheses only where precedence asks for them."""
    renamed = _Substitute(lambda value: ast.Name(identifiers[value], ast.Load()))
    printed = ast.unparse(renamed.visit(expression))
    return printed if '"' in printed else printed.replace("'", '"')


def expression(node: Node, types: Mapping[str, Type], operands: tuple[ast.expr, ...]) -> ast.expr:
    """The op applied to expressions; views and single axes are written short."""
    op = node.op
    if isinstance(op, Reshape):
        short = _reshaped(types[node.operands[0]].shape, op.shape)
    elif isinstance(op, Transpose):
        short = _transposed(op.permutation)
    elif isinstance(op, Slice):
        short = _sliced(op, types[node.operands[0]].shape)
    else:
        short = None
    template = _parsed(short) if short else _tidy(_template(op, len(operands)))
    return substitute(template, {_slot(k): x for k, x in enumerate(operands)})


def written_into(op: Op, out: ast.expr, operands: tuple[ast.expr, ...]) -> ast.expr:
    """The call that writes the result of the op into the array `out`."""
    into: Callable[..., str] = getattr(op, "into")  # noqa: B009 - ops that are a `ufunc` have it, `Op` does not
    template = _tidy(_parsed(into(_atom("out"), *map(_atom, range(len(operands))))))
    return substitute(template, {_slot("out"): out} | {_slot(k): x for k, x in enumerate(operands)})


def _slot(k: int | str) -> str:
    return f"operand {k}"


def _atom(k: int | str) -> str:
    return f"_operand_{k}"


@lru_cache(maxsize=4096)
def _template(op: Op, arity: int) -> ast.expr:
    return _parsed(op.text(*map(_atom, range(arity))))


def _parsed(text: str) -> ast.expr:
    """The tree of a text whose operands are atoms."""
    tree = ast.parse(text, mode="eval").body
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id.startswith(_atom("")):
            node.id = MARK + _slot(node.id[len(_atom("")) :])
    return tree


def _tidy(tree: ast.expr) -> ast.expr:
    """`axis=(1,)` as `axis=1`, and no `keepdims=False`: the same calls."""
    if not isinstance(tree, ast.Call):
        return tree
    keywords: list[ast.keyword] = []
    for word in tree.keywords:
        value = word.value
        if word.arg == "keepdims" and isinstance(value, ast.Constant) and value.value is False:
            continue
        if word.arg == "axis" and isinstance(value, ast.Tuple) and len(value.elts) == 1:
            word = ast.keyword(word.arg, value.elts[0])
        keywords.append(word)
    return ast.Call(tree.func, tree.args, keywords)


def _subscript(index: list[str]) -> str | None:
    while index and index[-1] == ":":
        index.pop()
    return f"{_atom(0)}[{', '.join(index)}]" if index else None


def indexed(old: tuple[int, ...], new: tuple[int, ...]) -> list[str] | None:
    """The index that turns one shape into another by axes of size one alone: `[:, None]`, else None."""
    index: list[str] = []
    i = j = 0
    while i < len(old) or j < len(new):
        if i < len(old) and j < len(new) and old[i] == new[j]:
            index.append(":")
            i, j = i + 1, j + 1
        elif j < len(new) and new[j] == 1:
            index.append("None")
            j += 1
        elif i < len(old) and old[i] == 1:
            index.append("0")
            i += 1
        else:
            return None
    return index


def _reshaped(old: tuple[int, ...], new: tuple[int, ...]) -> str | None:
    index = indexed(old, new) if old and new else None
    if index:
        return _subscript(index)
    return f"{_atom(0)}.ravel()" if len(old) > 1 and len(new) == 1 else None


def _transposed(permutation: tuple[int, ...]) -> str | None:
    rank = len(permutation)
    if permutation == (1, 0):
        return f"{_atom(0)}.T"
    moved = [k for k in range(rank) if permutation[k] != k]
    if len(moved) == 2:
        return f"{_atom(0)}.swapaxes({moved[0] - rank}, {moved[1] - rank})"
    return None


def _sliced(op: Slice, shape: tuple[int, ...]) -> str | None:
    index: list[str] = []
    for start, stop, step, size in zip(op.starts, op.stops, op.steps, shape, strict=True):
        head, tail = (str(start) if start else ""), (str(stop) if stop != size else "")
        index.append(f"{head}:{tail}" + (f":{step}" if step != 1 else ""))
    return _subscript(index)
