"""What memory NumPy gives to each value when the printed steps run: layouts, and which values are views."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from saturate.op import AnyArray
from saturate.ops.elementwise import Elementwise
from saturate.runners.expressions import name, reads
from saturate.runners.plan import Layout, Statement
from saturate.runners.steps import Step, Steps


@dataclass(frozen=True)
class Observation:
    """Every value of a run, the statements for the planner, and the steps that they stand for.

    A step in `nested` has to run as it is printed, with other values inside: NumPy reuses the memory of an
    unnamed operand, and here that gives the result another layout than its own op would.
    """

    values: dict[str, Any]
    steps: tuple[Step, ...]
    statements: tuple[Statement, ...]
    nested: frozenset[str]


def observe(steps: Steps, given: Mapping[str, AnyArray], scope: Mapping[str, Any]) -> Observation:
    """Run the steps on `given`: inputs and captured arrays by value id. `scope` has modules and helpers.

    Steps without operands are run and are not among the statements.
    """
    values: dict[str, Any] = dict(given)
    kept: list[tuple[Step, Statement]] = []
    nested: set[str] = set()
    replaced: set[str] = set()
    for step in steps.steps:
        whole = run(step.whole, scope, values)
        alone = run(step.own, scope, values) if step.inner else whole
        if alone.strides != whole.strides:
            nested.add(step.value)
            replaced |= set(step.inner)
        values[step.value] = whole
        if step.node.operands:
            result = whole if step.value in nested else alone
            kept.append((step, _statement(step, result, values, step.value in nested)))
    kept = [(step, s) for step, s in kept if s.value not in replaced]
    return Observation(values, tuple(k for k, _ in kept), tuple(s for _, s in kept), frozenset(nested))


def run(expression: ast.expr, scope: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    """The value of an expression."""
    tree = ast.fix_missing_locations(ast.Expression(expression))
    code = compile(tree, "<saturate>", "eval")
    return eval(code, dict(scope), {name(v).id: values[v] for v in reads(expression)})


def _statement(step: Step, result: Any, values: Mapping[str, Any], nested: bool) -> Statement:
    named = () if nested else tuple(x for x in step.operands if isinstance(x, ast.Name))
    direct = tuple(v for x in named for v in reads(x))
    seen = reads(step.whole) if nested else (v for x in step.operands if x not in named for v in reads(x))
    viewed = tuple(dict.fromkeys(seen))
    writable = step.node.op.ufunc and not nested and isinstance(result, np.ndarray)
    return Statement(
        step.value,
        Layout.of(result),
        direct,
        viewed,
        shares=tuple(v for v in (*direct, *viewed) if np.may_share_memory(result, values[v])),
        writable=writable,
        elementwise=writable and isinstance(step.node.op, Elementwise),
        frozen=isinstance(result, np.ndarray) and not result.flags.writeable,
    )
