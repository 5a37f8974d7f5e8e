"""Each condition of the passes, removed in turn, is missed by named tests: none is there for nothing."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from functools import partial
from types import ModuleType

import pytest
from pass_cases import NEAR_MISSES, REFUSED
from test_passes_mean_gradient import assert_untouched

from saturate.errors import ProgramError
from saturate.passes import mean, mean_gradient
from saturate.program import Program

CONDITIONS: dict[str, list[str]] = {
    # clause 1: a division by a literal number
    "type(q.op) is not Div": ["product instead of quotient", "no literal at all"],
    "type(q.op.right_literal) not in (int, float)": ["divisor True"],
    # clause 2: of a broadcast in the program
    "b is None": ["an input divided"],
    "type(b.op) is not Broadcast": ["negated instead of broadcast", "reshaped instead of broadcast"],
    # clause 3: to positive rows and columns
    "0 in b.type.shape": ["target of no rows"],
    "not is_number(b.type.size)": ["target too large to flatten"],
    "strict and b.type.rank != 2": ["target of rank 3"],
    # clause 4: from one row and one column
    "strict and g.shape != (1, 1)": [
        "source of one row",
        "source of one column",
        "source of rank 1",
        "source of rank 0",
    ],
    # clause 5: by the number of copies
    "q.op.right_literal != prod((b.type.shape[k] for k in _repeated(g, b.type)))": [
        "divisor off by one",
        "divisor off by a bit",
        "divisor r + c",
        "divisor r",
        "divisor nan",
        "divisor inf",
    ],
    # clause 6: without a change of dtype
    "q.type.dtype != b.type.dtype": ["integers"],
    # clause 7: read once, and no result
    "program.readers[b.value] != (q,)": ["second consumer", "read twice by one node"],
    "b.value in results": ["an output", "a gradient"],
}
"""The conditions of `_broadcast_of`, and the rows of `test_near_miss_is_returned_equal` that need each."""
DOUBLY = {
    "two operands": "no literal is no number, and no count either",
    "literal over array": "no literal is no number, and no count either",
    "target of rank 1": "so is its source",
    "source of one row, divisor r c": "not one row and one column, and not the number of copies",
}
"""Near misses that two conditions forbid."""

CLAUSES: dict[str, list[str]] = {
    "strict and x.rank != 2": ["rank 0", "rank 1", "rank 3"],
    "0 in x.shape": ["no rows", "no columns"],
    "not is_number(x.size)": ["too large to flatten"],
    "strict and len(axes) != x.rank": ["rows only", "columns only", "no axes"],
    "not x.is_float": ["int32", "bool"],
    "e.reserves(name)": ["reserved node id", "reserved value id"],
}
"""The conditions of `_refusal`, and the rows of `test_what_is_not_supported_is_refused_…` that need each."""


def conditions(module: ModuleType, function: str) -> list[str]:
    """The conditions of the `if` statements of a function, those joined by `or` one by one."""
    tree = ast.parse(inspect.getsource(module))
    (found,) = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == function)
    tests = [node.test for node in ast.walk(found) if isinstance(node, ast.If)]
    return [ast.unparse(t) for test in tests for t in disjuncts(test)]


def disjuncts(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return [d for value in test.values for d in disjuncts(value)]
    return [test]


class Remove(ast.NodeTransformer):
    """Puts False in the place of one condition."""

    def __init__(self, condition: str) -> None:
        self.condition, self.removed = condition, 0

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.expr) and ast.unparse(node) == self.condition:
            self.removed += 1
            return ast.copy_location(ast.Constant(False), node)
        return self.generic_visit(node)


def without(module: ModuleType, condition: str) -> ModuleType:
    """The module, compiled again without one of its conditions."""
    remove = Remove(condition)
    tree = ast.parse(inspect.getsource(module))
    ast.fix_missing_locations(remove.visit(tree))
    assert remove.removed == 1, f"{condition!r} stands {remove.removed} times"
    mutant = ModuleType(f"{module.__name__}_mutant")
    exec(compile(tree, mutant.__name__, "exec"), mutant.__dict__)
    return mutant


def test_every_condition_has_its_near_misses() -> None:
    assert conditions(mean_gradient, "_broadcast_of") == list(CONDITIONS)
    assert conditions(mean, "_refusal") == list(CLAUSES)
    named = {name for names in CONDITIONS.values() for name in names}
    assert NEAR_MISSES.keys() == named | DOUBLY.keys()
    assert REFUSED.keys() == {name for names in CLAUSES.values() for name in names}


def caught(run: Callable[[], object], by: tuple[type[BaseException], ...]) -> bool:
    try:
        run()
    except by:
        return True
    return False


FAILURES = (AssertionError, AttributeError, TypeError, ZeroDivisionError, ProgramError, ValueError)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_derivative_pass_without_the_condition_is_caught_by_each_of_them(condition: str) -> None:
    expand = without(mean_gradient, condition).expand_mean_derivative_program
    for name in CONDITIONS[condition]:
        assert caught(partial(assert_untouched, name, expand), FAILURES), name


def refuses(expand: Callable[..., Program], name: str) -> None:
    """What the refusals assert."""
    case = REFUSED[name]
    with pytest.raises(ProgramError) as error:
        expand(case.program, strict=case.strict)
    assert error.value.code == case.code
    assert case.words in str(error.value)


@pytest.mark.parametrize("condition", CLAUSES)
def test_a_forward_pass_without_the_clause_is_caught_by_each_of_them(condition: str) -> None:
    expand = without(mean, condition).expand_mean_program
    for name in CLAUSES[condition]:
        failures = (*FAILURES, pytest.fail.Exception)
        assert caught(partial(refuses, expand, name), failures), name


def test_the_unchanged_passes_pass_the_same_lines() -> None:
    for name in NEAR_MISSES:
        assert_untouched(name, mean_gradient.expand_mean_derivative_program)
    for name in REFUSED:
        refuses(mean.expand_mean_program, name)
