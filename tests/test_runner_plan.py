from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from saturate.runners.plan import Layout, Plan, Statement, plan


def layout(*shape: int, order: Any = "C") -> Layout:
    return Layout.of(np.empty(shape, order=order))


def made(*statements: Statement, results: tuple[str, ...]) -> Plan:
    return plan(["x"], statements, results)


BIG, OTHER = layout(61, 67), layout(67, 61)


def elementwise(value: str, *reads: str, viewed: tuple[str, ...] = (), at: Layout = BIG) -> Statement:
    return Statement(value, at, reads, viewed, writable=True, elementwise=True)


def view(value: str, read: str, at: Layout = OTHER) -> Statement:
    return Statement(value, at, (read,), shares=(read,))


def test_an_operand_that_dies_is_written_over() -> None:
    found = made(elementwise("a", "x"), elementwise("b", "a"), elementwise("r", "b"), results=("r",))
    assert found.over == {"b": "a"}
    assert found.slot == {"a": 0}


def test_an_input_is_never_written_over() -> None:
    assert made(elementwise("a", "x"), elementwise("r", "a"), results=("r",)).over == {}


def test_an_operand_that_is_read_later_is_not_written_over() -> None:
    found = made(elementwise("a", "x"), elementwise("b", "a"), elementwise("r", "a", "b"), results=("r",))
    assert found.over == {}
    assert found.slot == {"a": 0, "b": 1}


def test_an_operand_with_a_living_view_is_not_written_over() -> None:
    found = made(
        elementwise("a", "x"),
        view("v", "a"),
        elementwise("b", "a"),
        elementwise("r", "b", "v"),
        results=("r",),
    )
    assert found.over == {}


def test_an_operand_that_is_also_read_through_a_view_is_not_written_over() -> None:
    assert made(elementwise("a", "x"), elementwise("b", "a", viewed=("a",)), results=()).over == {}
    assert made(elementwise("a", "x"), view("v", "a", BIG), elementwise("b", "a", "v"), results=()).over == {}


def test_an_operand_of_another_layout_is_not_written_over() -> None:
    for other in (OTHER, layout(61, 67, order="F"), Layout((61, 67), np.dtype("float32"), (268, 4))):
        assert made(elementwise("a", "x", at=other), elementwise("b", "a"), results=()).over == {}


def test_a_product_never_goes_over_its_operands_but_into_a_free_buffer() -> None:
    product = Statement("b", BIG, ("a",), writable=True)
    found = made(elementwise("a", "x"), product, elementwise("c", "b"), elementwise("d", "x"), results=())
    assert found.slot == {"a": 0, "b": 1, "d": 0}
    assert found.over == {"c": "b"}


def test_a_free_buffer_grows_where_no_one_fits() -> None:
    wide = layout(61, 71)
    found = made(elementwise("a", "x"), elementwise("b", "x", at=wide), elementwise("c", "x"), results=())
    assert found.slot == {"a": 0, "b": 0, "c": 0}
    assert found.sizes == (wide.nbytes,)


def test_a_result_and_what_it_is_a_view_of_are_no_buffers() -> None:
    found = made(elementwise("a", "x"), view("v", "a"), elementwise("r", "a"), results=("v", "r", "r"))
    assert (len(found.slot), len(found.over), list(found.copied)) == (0, 0, [2])


def test_a_result_may_go_over_an_array_that_is_no_buffer() -> None:
    fresh = Statement("a", BIG, ("x",))
    assert made(fresh, elementwise("r", "a"), results=("r",)).over == {"r": "a"}


@pytest.mark.parametrize("order", ["C", "F"])
def test_buffers_have_the_layout_that_was_seen(order: Any) -> None:
    seen = layout(61, 1, 67, order=order)
    (buffer,) = made(elementwise("a", "x", at=seen), results=()).allocate()
    assert Layout.of(buffer) == seen
    assert seen.dense
    assert not Layout.of(np.broadcast_to(np.ones(3), (5, 3))).dense
