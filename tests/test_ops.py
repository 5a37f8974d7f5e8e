from __future__ import annotations

import pickle
from copy import deepcopy
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from op_cases import STRUCTURE_CASES
from op_cases_elementwise import ELEMENTWISE_CASES
from op_checks import FLOATS, Case, assert_gradients, gradient_outputs, run, single

from saturate.build import Value
from saturate.denote import denote
from saturate.facts import FINITE
from saturate.op import Op, Type
from saturate.ops import OPS
from saturate.ops.arithmetic import mul
from saturate.ops.constants import Constant
from saturate.ops.reduction import Sum
from saturate.text import format_program, parse
from saturate.yardstick import holds_infinities

CASES = ELEMENTWISE_CASES + STRUCTURE_CASES

by_case = pytest.mark.parametrize("case", CASES, ids=str)
by_op = pytest.mark.parametrize("op", OPS.values(), ids=OPS)


def test_every_op_has_a_case() -> None:
    assert {case.op.name: type(case.op) for case in CASES} == OPS


@by_op
def test_an_op_is_documented_and_named_after_its_class(op: type[Op]) -> None:
    assert OPS[op.name] is op
    assert op.name.replace("_", "") == op.__name__.lower()
    assert "__doc__" in vars(op)
    assert not str(op.__doc__).startswith(f"{op.__name__}(")  # what `dataclass` writes where there is none


@by_op
def test_an_op_defines_every_method_that_has_no_default(op: type[Op]) -> None:
    methods = [getattr(op, name) for name in dir(op) if not name.startswith("__")]
    codes = [m.__code__ for m in methods if hasattr(m, "__code__")]
    assert not [code.co_qualname for code in codes if "NotImplementedError" in code.co_names]


@by_case
def test_an_op_is_its_attributes(case: Case) -> None:
    copy = type(case.op)(**case.op.attributes())
    assert (copy, hash(copy)) == (case.op, hash(case.op))
    assert tuple(case.op.attributes()) == tuple(f.name for f in fields(case.op))
    case.op.check_attributes()
    case.op.check_operands(case.operands)


@by_case
def test_what_an_op_keeps_beside_its_fields_stays_in_its_process(case: Case) -> None:
    """The hash of a text is another in each process."""
    hash(case.op)
    case.op.checked(case.operands)
    assert set(vars(case.op)) > set(case.op.attributes())
    for copy in (pickle.loads(pickle.dumps(case.op)), deepcopy(case.op)):
        assert vars(copy).keys() == case.op.attributes().keys()
        assert copy == case.op
        assert hash(copy) == hash(case.op)


@by_case
def test_type_and_value_are_numpys(case: Case) -> None:
    for dtype in case.dtypes:
        arrays = case.over(dtype).samples()
        for x in arrays:
            x.setflags(write=False)
        expected = np.asarray(case.reference(*arrays))
        found = np.asarray(case.op.evaluate(np, *arrays))
        kind = case.op.type(*case.over(dtype).operands)
        assert (kind.shape, kind.dtype) == (expected.shape, expected.dtype.name)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        tolerance = 4.0 * np.finfo(found.dtype).eps if kind.is_float else 0.0
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@by_case
def test_memory_order_of_operands_does_not_matter(case: Case) -> None:
    arrays = case.samples()
    turned = [np.array(x, order="F") for x in arrays]
    spread = [np.repeat(x, 2, axis=0)[::2] if x.ndim else x for x in arrays]
    expected = case.op.evaluate(np, *arrays)
    for others in (turned, spread):
        np.testing.assert_allclose(case.op.evaluate(np, *others), expected, rtol=1e-14, atol=1e-14)


@by_case
def test_only_views_share_memory(case: Case) -> None:
    arrays = case.samples()
    out = np.asarray(case.op.evaluate(np, *arrays))
    shares = any(np.shares_memory(out, x) for x in arrays)
    assert shares == (case.op.view and out.size > 0)


@by_case
def test_work_is_counted(case: Case) -> None:
    flops, moved = case.op.work(case.op.type(*case.operands), *case.operands)
    if case.op.view:
        assert (flops, moved) == (0.0, 0.0)
    else:
        assert flops >= 0.0
        assert moved >= case.op.type(*case.operands).nbytes


@pytest.mark.parametrize("case", [c for c in CASES if c.op.ufunc], ids=str)
def test_ufuncs_write_into_a_buffer(case: Case) -> None:
    arrays = case.samples()
    expected = np.asarray(case.op.evaluate(np, *arrays))
    buffer = np.full_like(expected, 7)
    names = [f"x{k}" for k in range(len(arrays))]
    call: Any = case.op
    from scipy import special

    scope = {"np": np, "special": special, "buffer": buffer, **dict(zip(names, arrays, strict=True))}
    exec(call.into("buffer", *names), scope)
    np.testing.assert_array_equal(buffer, expected)


@pytest.mark.parametrize("case", [c for c in CASES if c.order >= 1], ids=str)
def test_first_derivative_is_the_central_difference(case: Case) -> None:
    assert_gradients(single(case.op, case.operands), case.samples())


@pytest.mark.parametrize("case", [c for c in CASES if c.order >= 2], ids=str)
def test_second_derivative_is_the_central_difference(case: Case) -> None:
    arrays = case.samples()
    (out,) = run(single(case.op, case.operands), arrays)
    cotangent = np.random.default_rng(2).uniform(-1.0, 1.0, out.shape)
    for gradient in gradient_outputs(single(case.op, case.operands)):
        assert_gradients(gradient, [*arrays, cotangent])


@pytest.mark.parametrize("case", [c for c in CASES if c.order >= 1], ids=str)
def test_a_derivative_has_the_dtype_of_its_operand(case: Case) -> None:
    for dtype in (d for d in FLOATS if d in case.dtypes):
        for gradient in gradient_outputs(single(case.op, case.over(dtype).operands)):
            cotangent = gradient.inputs[-1].type
            (found,) = run(gradient, [*case.over(dtype).samples(), np.ones(cotangent.shape, cotangent.dtype)])
            operand = next(i.type for i in gradient.inputs if i.name == gradient.name)
            assert (found.shape, found.dtype.name) == (operand.shape, operand.dtype)


@by_case
def test_text_reads_back_as_the_same_program(case: Case) -> None:
    programs = [single(case.op, case.operands)]
    if case.order:
        programs += gradient_outputs(programs[0])
    arrays = {n.op.array.digest: n.op.array.value for n in programs[0].nodes if isinstance(n.op, Constant)}
    for program in programs:
        assert parse(format_program(program), constants=arrays) == program


@dataclass(frozen=True)
class Weighed(Op):
    """x times the sum of the weights."""

    weights: tuple[float, ...]

    def type(self, *operands: Type) -> Type:
        return operands[0]

    def text(self, *operands: str) -> str:
        return f"({operands[0]} * sum({self.weights}))"


def test_numbers_in_tuples_are_told_apart_too() -> None:
    alike: list[tuple[float, ...]] = [(0.0,), (-0.0,), (1.0,), (1,), (True,)]
    assert len({Weighed(weights) for weights in alike}) == len(alike)
    assert Weighed((float("nan"),)) == Weighed((float("nan"),))


def test_infinities_in_tuples_are_found() -> None:
    """What an op that holds them makes of finite operands need not be finite."""
    x = Type((3,))
    for weight, finite in ((1.0, True), (np.inf, False)):
        program = single(Weighed((weight,)), (x,))
        assert holds_infinities(program) is not finite
        assert (FINITE in denote(program).values[program.outputs[0]].facts) is finite


class Misjudged(Sum):
    """Σ x over axes, with a derivative that is wrong by 0.1 %."""

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        (right,) = super().vjp(g, out, *operands)
        assert right is not None
        return (mul(right, 1.001),)


def test_central_differences_catch_a_derivative_off_by_a_thousandth() -> None:
    (case,) = (c for c in STRUCTURE_CASES if str(c) == "sum[axes=(1,),keepdims=True](float64[3,5])")
    with pytest.raises(AssertionError, match="by x0"):
        assert_gradients(single(Misjudged((1,), True), case.operands), case.samples())
