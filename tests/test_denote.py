from __future__ import annotations

import numpy as np
import pytest
from op_cases import STRUCTURE_CASES
from op_cases_elementwise import ELEMENTWISE_CASES
from op_checks import Case, float_inputs, run, single
from term_values import arranged, evaluate

from saturate.algebra import Term
from saturate.autodiff import gradient_program
from saturate.denote import denote
from saturate.op import AnyArray, Type
from saturate.ops.arithmetic import Add, Mul, Neg
from saturate.ops.binary import Power
from saturate.ops.constants import Constant
from saturate.ops.unary import Square
from saturate.program import Program

CASES = [*ELEMENTWISE_CASES, *STRUCTURE_CASES]


def assert_terms_are_values(program: Program, arrays: list[AnyArray]) -> None:
    """Every value of the program is what its term is worth."""
    everything = Program(program.name, program.inputs, program.nodes, tuple(program.types))
    expected = dict(zip(everything.outputs, run(everything, arrays), strict=True))
    meaning = denote(program)
    leaves = {given.name: expected[given.value] for given in program.inputs}
    leaves |= {
        f"const:{n.op.array.digest}": n.op.array.value for n in program.nodes if isinstance(n.op, Constant)
    }
    done: dict[int, AnyArray] = {}
    for value, array in expected.items():
        term = meaning.values[value]
        found = arranged(evaluate(term, leaves, done), term.free, meaning.axes[value])
        assert term.dtype == array.dtype.name
        np.testing.assert_allclose(np.broadcast_to(found, array.shape), array, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_op_and_its_derivative_mean_what_they_compute(case: Case) -> None:
    for dtype in ("float64", "int64"):
        if dtype in case.dtypes:
            over = case.over(dtype)
            assert_terms_are_values(single(over.op, over.operands), over.samples())
    if case.order:
        program = single(case.op, case.operands)
        joint = gradient_program(program, float_inputs(program), seed="input")
        cotangent = np.random.default_rng(1).uniform(-1.0, 1.0, joint.inputs[-1].type.shape)
        assert_terms_are_values(joint, [*case.samples(), cotangent])


def output(program: Program) -> Term:
    return denote(program).values[program.outputs[0]]


def test_ring_operations_of_floats_are_sums_and_products_and_of_integers_are_opaque() -> None:
    floats, integers = Type((3, 5)), Type((3, 5), "int64")
    assert output(single(Add(), [floats, floats])).kind == "plus"
    assert output(single(Mul(right_literal=2.0), [floats])).kind == "con"
    assert output(single(Neg(), [floats])).kind == "con"
    assert output(single(Square(), [floats])).kind == "con"
    for power in (2, 2.0, 3.0, -1.0):
        assert output(single(Power(right_literal=power), [floats])).kind in ("con", "fn")
        assert output(single(Power(right_literal=power), [floats])).head != ("power",)
    assert output(single(Add(), [integers, integers])).kind == "opaque"
