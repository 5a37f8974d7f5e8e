"""What the tests of the passes share: programs by hand and by differentiation, near misses, checks."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from op_checks import single

from saturate.autodiff import gradient_program
from saturate.build import Builder
from saturate.json_form import attributes_form
from saturate.op import AnyArray, Op, Type
from saturate.ops.arithmetic import Add, Div, Mul, Neg
from saturate.ops.reduction import Mean
from saturate.ops.spreading import Broadcast, Reshape
from saturate.passes import ExpansionResult, MeanExpansionRegion
from saturate.program import Input, Node, Program

Regions = ExpansionResult[MeanExpansionRegion]
HUGE = 10**200
SHAPES = [(3, 5), (5, 3), (1, 1), (4, 4), (1, 7), (7, 1), (509, 1021)]
DTYPES = ["float32", "float64"]
BOUND = {"float32": 1e-6, "float64": 1e-12}
ATTRIBUTES = {
    "full": {"fill", "shape", "dtype"},
    "matmul": set(),
    "mul": {"right_literal"},
    "reshape": {"shape"},
}


def mean_program(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: bool, dtype: str) -> Program:
    """One mean of one input."""
    return single(Mean(axes, keepdims), [Type(shape, dtype)])


def matrix_mean(shape: tuple[int, int], keepdims: bool, dtype: str = "float64") -> Program:
    """The mean of all of a matrix."""
    return mean_program(shape, (0, 1), keepdims, dtype)


def derivative(program: Program, seed: str = "input") -> Program:
    """The program with the gradient of its first output by its first input."""
    return gradient_program(program, (program.inputs[0].name,), seed=seed)  # type: ignore[arg-type]


def samples(program: Program, seed: int = 0) -> list[AnyArray]:
    """Normal values for each input, away from zero in the mean."""
    rng = np.random.default_rng(seed)
    return [np.asarray(rng.standard_normal(i.type.shape) + 0.5).astype(i.type.dtype) for i in program.inputs]


def chain(
    q: Op,
    *,
    source: Type | None = None,
    target: tuple[int, ...] = (2, 3),
    spread: Callable[[tuple[int, ...]], Op] = Broadcast,
    more: Callable[[Builder, Any], None] = lambda b, v: None,
    outputs: tuple[str, ...] = ("d2",),
    gradients: tuple[tuple[str, str], ...] = (),
) -> Program:
    """`q(spread(g))` by hand, ids unlike those of differentiation; `more` adds nodes that follow."""
    b = Builder(values="d", nodes="dn")
    g = b.input("g", source or Type((1, 1), "float32"))
    spread_value = b.emit(spread(target), g)
    b.emit(q, spread_value)
    more(b, spread_value)
    return b.program("chain", outputs, gradients)


def second_reader(b: Builder, spread: Any) -> None:
    """Another node that reads the broadcast."""
    b.emit(Neg(), spread)


def twice_by_one(b: Builder, spread: Any) -> None:
    """Another node, which reads the broadcast in both of its operand slots."""
    b.emit(Add(), spread, spread)


def over_two_operands() -> Program:
    """A division of the broadcast by an array."""
    b = Builder(values="d", nodes="dn")
    g, d = b.input("g", Type((1, 1), "float32")), b.input("d", Type((2, 3), "float32"))
    spread = b.emit(Broadcast((2, 3)), g)
    return b.program("chain", (b.emit(Div(), spread, d).id,))


def of_an_input() -> Program:
    """A division of an input, which no node produces."""
    return single(Div(right_literal=6.0), [Type((2, 3), "float32")])


def int_chain() -> Program:
    """A broadcast of integers: NumPy divides them in float64."""
    return chain(Div(right_literal=6.0), source=Type((1, 1), "int32"))


NEAR_MISSES: dict[str, Program] = {
    "divisor off by one": chain(Div(right_literal=7.0)),
    "divisor off by a bit": chain(Div(right_literal=6.000000000000001)),
    "divisor r + c": chain(Div(right_literal=5.0)),
    "divisor r": chain(Div(right_literal=2.0)),
    "divisor nan": chain(Div(right_literal=float("nan"))),
    "divisor inf": chain(Div(right_literal=float("inf"))),
    "divisor True": chain(Div(right_literal=True), target=(1, 1)),
    "literal over array": chain(Div(left_literal=6.0)),
    "product instead of quotient": chain(Mul(right_literal=6.0)),
    "no literal at all": chain(Neg()),
    "target of rank 1": chain(Div(right_literal=3.0), source=Type((1,), "float32"), target=(3,)),
    "target of rank 3": chain(Div(right_literal=30.0), target=(2, 3, 5)),
    "target too large to flatten": chain(
        Div(right_literal=2.0), source=Type((HUGE, HUGE, 1), "float32"), target=(HUGE, HUGE, 2)
    ),
    "target of no rows": chain(Div(right_literal=0.0), target=(0, 3)),
    "source of one row": chain(Div(right_literal=2.0), source=Type((1, 3), "float32")),
    "source of one row, divisor r c": chain(Div(right_literal=6.0), source=Type((1, 3), "float32")),
    "source of one column": chain(Div(right_literal=3.0), source=Type((2, 1), "float32")),
    "source of rank 1": chain(Div(right_literal=6.0), source=Type((1,), "float32")),
    "source of rank 0": chain(Div(right_literal=6.0), source=Type((), "float32")),
    "integers": int_chain(),
    "two operands": over_two_operands(),
    "an input divided": of_an_input(),
    "negated instead of broadcast": chain(Div(right_literal=1.0), target=(1, 1), spread=lambda _: Neg()),
    "reshaped instead of broadcast": chain(Div(right_literal=1.0), target=(1, 1), spread=Reshape),
    "second consumer": chain(Div(right_literal=6.0), more=second_reader, outputs=("d2", "d3")),
    "read twice by one node": chain(Div(right_literal=6.0), more=twice_by_one, outputs=("d2", "d3")),
    "an output": chain(Div(right_literal=6.0), outputs=("d2", "d1")),
    "a gradient": chain(Div(right_literal=6.0), gradients=(("g", "d1"),)),
}
"""Programs that the strict derivative pass returns as they are, by what is wrong with them."""
LOOSE_ONLY = {
    "target of rank 1",
    "target of rank 3",
    "source of one row",
    "source of one column",
    "source of rank 1",
    "source of rank 0",
}
"""Those of them that the pass expands with `strict=False`."""


@dataclass(frozen=True)
class Refused:
    """A program with means that the forward pass refuses: the category, and words of the message."""

    program: Program
    code: str
    words: str
    strict: bool = True


def renamed(program: Program, node: str = "n0", value: str = "v1") -> Program:
    """The program of one node under other ids."""
    (only,) = program.nodes
    return replace(program, nodes=(replace(only, id=node, value=value),), outputs=(value,))


REFUSED: dict[str, Refused] = {
    "rank 0": Refused(mean_program((), (), True, "float32"), "unsupported_reduction", "rank 2"),
    "rank 1": Refused(mean_program((3,), (0,), True, "float32"), "unsupported_reduction", "rank 2"),
    "rank 3": Refused(mean_program((2, 3, 5), (0, 1, 2), True, "float32"), "unsupported_reduction", "rank 2"),
    "no rows": Refused(mean_program((0, 3), (0, 1), True, "float32"), "unsupported_reduction", "positive"),
    "no columns": Refused(
        mean_program((3, 0), (0, 1), False, "float32"), "unsupported_reduction", "positive"
    ),
    "too large to flatten": Refused(
        mean_program((HUGE, HUGE, 2), (2,), True, "float32"), "unsupported_reduction", "fits a float", False
    ),
    "rows only": Refused(mean_program((3, 5), (0,), True, "float32"), "unsupported_reduction", "all axes"),
    "columns only": Refused(
        mean_program((3, 5), (1,), False, "float32"), "unsupported_reduction", "all axes"
    ),
    "no axes": Refused(mean_program((3, 5), (), True, "float32"), "unsupported_reduction", "all axes"),
    "int32": Refused(mean_program((3, 5), (0, 1), True, "int32"), "dtype_not_differentiable", "floating"),
    "bool": Refused(mean_program((3, 5), (0, 1), False, "bool"), "dtype_not_differentiable", "floating"),
    "reserved node id": Refused(
        renamed(matrix_mean((3, 5), True), node="exn7"), "unsupported_reduction", "'exn7'"
    ),
    "reserved value id": Refused(
        renamed(matrix_mean((3, 5), True), value="exv7"), "unsupported_reduction", "'exv7'"
    ),
}
"""What construction allows and the pass does not, by what is wrong, in the order of the clauses."""


def with_node(program: Program, op: Op, operand: str, node: str, value: str) -> Program:
    """The program with one more node, whose value is one more output."""
    kind = op.type(program.types[operand])
    nodes = (*program.nodes, Node(node, value, op, (operand,), kind))
    return replace(program, nodes=nodes, outputs=(*program.outputs, value))


def with_input(program: Program, value: str) -> Program:
    """The program with one more input, which nothing reads."""
    return replace(program, inputs=(*program.inputs, Input(f"unused {value}", value, Type(()))))


def assert_truthful(before: Program, result: Regions) -> None:
    """Source ids are gone; emitted ones are new, together, in order, and hold no key but their op's own."""
    after = result.program
    old, new = [n.id for n in before.nodes], [n.id for n in after.nodes]
    last = -1
    for region in result.regions:
        assert set(region.source_node_ids) <= set(old)
        assert not set(region.source_node_ids) & set(new)
        assert sorted(region.source_node_ids, key=old.index) == list(region.source_node_ids)
        first = new.index(region.emitted_node_ids[0])
        assert tuple(new[first : first + len(region.emitted_node_ids)]) == region.emitted_node_ids
        assert first > last
        last = first
        assert not set(region.emitted_node_ids) & set(old)
        emitted = [n for n in after.nodes if n.id in region.emitted_node_ids]
        assert emitted[-1].value == region.terminal_value_id
        assert after.types[region.terminal_value_id] == before.types[region.terminal_value_id]
        assert before.producer[region.terminal_value_id].id == region.source_node_ids[-1]
        for node in emitted:
            assert set(attributes_form(node.op)) == ATTRIBUTES[node.op.name]
    replaced = {i for region in result.regions for i in region.source_node_ids}
    emitted_ids = {i for region in result.regions for i in region.emitted_node_ids}
    assert [n for n in before.nodes if n.id not in replaced] == [
        n for n in after.nodes if n.id not in emitted_ids
    ]
    assert (after.inputs, after.outputs, after.gradients) == (before.inputs, before.outputs, before.gradients)


def forms(program: Program, result: Regions, region: int = 0) -> list[tuple[Any, ...]]:
    """Op, attributes, operands and shape of each node of a region; `in` is what it reads from outside."""
    ids = result.regions[region].emitted_node_ids
    nodes = [n for n in result.program.nodes if n.id in ids]
    names = {n.value: f"e{k}" for k, n in enumerate(nodes)}
    return [
        (n.op.name, attributes_form(n.op), [names.get(v, "in") for v in n.operands], n.type.shape)
        for n in nodes
    ]


def calls(run: Callable[[], object]) -> int:
    """How many Python functions a call enters: time without a clock."""
    entered = 0

    def count(frame: object, event: str, arg: object) -> None:
        nonlocal entered
        entered += event == "call"

    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(None)
    return entered
