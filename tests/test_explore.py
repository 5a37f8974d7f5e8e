"""E-graphs in notebooks: loading, running chosen laws, looking, asking, taking out."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from notebook_display import shown
from workloads import attention, softmax, t

from saturate import Limits, grad, trace
from saturate.algebra import Ix, Term, Terms
from saturate.errors import ArgumentError
from saturate.explore import Graph, Table, load
from saturate.facts import FINITE
from saturate.price import price_program
from saturate.proof import NORMAL_FORM
from saturate.rules import CATALOGUE, law
from saturate.rules.language import Expr, fn
from saturate.rules.ring import common_factor, products_merge
from saturate.runners.evaluate import evaluate


@pytest.fixture(scope="module")
def loaded() -> Graph:
    return load(softmax, t(5, 7), wrt="x")


@pytest.fixture(scope="module")
def found(loaded: Graph) -> Graph:
    return loaded.saturate()


def test_a_program_a_function_and_its_gradients_are_loaded(loaded: Graph) -> None:
    program = grad(softmax, t(5, 7), wrt="x")
    again = load(program)
    assert repr(again) == repr(loaded)
    assert re.fullmatch(r"softmax: \d+ e-nodes in \d+ classes, 0 laws matched", repr(loaded))
    assert {"x", "cotangent", "m", "e", "de", "dx", "value"} <= set(loaded.names)
    assert "dm" not in loaded.names  # a number, which nothing needs
    assert "dx" not in load(softmax, t(5, 7)).names
    assert set(load(trace(softmax, t(5, 7))).names) == set(load(softmax, t(5, 7)).names)


def test_without_computation_the_program_stands_as_it_was_traced() -> None:
    plain = load(softmax, t(5, 7), wrt="x", computed=False)
    assert "dm" in plain.names
    assert len(plain.classes.nodes) > len(load(softmax, t(5, 7), wrt="x").classes.nodes)


def test_chosen_laws_run_for_chosen_rounds_and_the_graph_before_stays(loaded: Graph) -> None:
    once = loaded.run(common_factor)
    assert repr(loaded).endswith("0 laws matched")
    assert repr(once).endswith("1 law matched")
    assert [row[0] for row in once.counts] == ["common_factor"]
    more = once.run([products_merge], rounds=2)
    assert len(more.classes.nodes) >= len(once.classes.nodes)
    assert set(more.counts.column("law")) >= {"common_factor"}
    assert str(loaded.run(common_factor).table) == str(once.table)
    assert str(loaded.run([common_factor], rounds=0).table) == str(loaded.table)


def test_counts_say_how_often_and_what_was_made(found: Graph) -> None:
    rows = {name: (matches, made) for name, matches, made, _ in found.counts}
    assert int(rows["common_factor"][0]) >= 1
    assert int(rows["common_factor"][1]) >= 1
    (others,) = [name for name in rows if name.endswith("others")]
    assert rows[others] == ("0", "0")
    matches = [int(n) for n in found.counts.column("matches")]
    assert matches == sorted(matches, reverse=True)


def test_classes_are_a_table_with_facts_and_ways(found: Graph) -> None:
    rows = {row[0]: row[1:] for row in found.table}
    assert len(rows) == len(found.table) == len(found.classes.nodes)
    assert rows["e"][:2] == ("i,j", "finite, nowhere negative, nowhere zero")
    assert rows["m"] == ("i", "finite", "max_j x")
    assert "common_factor" in rows["dx"][2]
    assert str(found.table).splitlines()[0].split() == ["class", "indices", "every", "element", "is", "ways"]


def test_a_window_is_drawn(found: Graph) -> None:
    whole, near = found.draw().svg, found.draw("dx").svg
    assert ElementTree.fromstring(near).tag.endswith("svg")
    assert near.count("<rect") < whole.count("<rect") == len(found.classes.nodes)
    assert ">dx<" in near
    assert ">m<" not in near
    assert near.count('class="class root"') == 1
    wider = found.draw(["dx"], hops=9).svg
    assert wider.count("<rect") == whole.count("<rect")
    assert found.draw(("dx", "m"), hops=0).svg.count("<rect") == 2
    tops = {float(y) for y in re.findall(r'<rect class="[^"]+" x="[\d.]+" y="([\d.]+)"', near)}
    root = re.search(r'<rect class="class root" x="[\d.]+" y="([\d.]+)"', near)
    assert root is not None
    assert float(root[1]) == max(tops)


def test_why_is_a_chain_of_checked_equations(found: Graph) -> None:
    graph = load({"left": _left(TERMS), "right": _right(TERMS)}).saturate()
    why = graph.why("left", "right")
    assert why.steps
    assert why.holds
    assert "common_factor" in why.laws
    assert str(why).startswith("left = right: by ")
    assert found.why("dx", "dx").steps == ()
    apart = found.why("m", "e")
    assert (apart.said, apart.steps) == ("not known: they are in two classes", ())


def test_what_computation_joined_says_so() -> None:
    def f(x: Any, y: Any) -> Any:
        one = (x + y) * (x - y)
        other = x * x - y * y
        return one, other

    graph = load(f, t(5), t(5))
    why = graph.why("one", "other")
    assert [step.law for step in why.steps] == [NORMAL_FORM]
    assert why.holds
    assert load(f, t(5), t(5), computed=False).why("one", "other").steps == ()


def test_why_not_names_the_condition(found: Graph) -> None:
    assert found.why_not("log_of_exp", "e").said == "e is log(…) in none of its known forms"
    assert found.why_not(common_factor, "dx").matches


def test_a_law_of_ones_own() -> None:
    @law(a="i")
    def sine_of_twice_the_angle(a: Expr) -> tuple[Expr, Expr]:
        """sin(a)·cos(a) = sin(2·a)/2."""
        return fn("sin", a) * fn("cos", a), fn("sin", 2 * a) / 2

    def wave(x: Any) -> Any:
        return np.sin(x) * np.cos(x)

    graph = load(wave, t(1000)).run(sine_of_twice_the_angle)
    costs = graph.costs("value")
    assert costs.headings == ("cost", "of the cheapest", "law", "value")
    laws = dict.fromkeys(costs.column("law"))
    assert list(laws) == ["sine_of_twice_the_angle", ""]
    assert costs.rows[-1][3] == "sin(x)·cos(x)"
    assert "sin(2·x)" in costs.rows[0][3]
    assert costs.column("of the cheapest")[0] == "1.00×"
    assert graph.why_not(sine_of_twice_the_angle, "value").matches


def test_alternatives_are_programs_with_their_costs(found: Graph) -> None:
    ways = found.alternatives("dx", 9)
    assert len(ways) > 3
    assert [w.cost for w in ways] == sorted(w.cost for w in ways)
    assert len({str(w.program) for w in ways}) == len(ways)
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((5, 7)), rng.standard_normal((5, 7))]
    (_, true) = evaluate(grad(softmax, t(5, 7), wrt="x"), *arrays)
    for way in ways:
        assert price_program(way.program).cost == pytest.approx(way.cost, rel=0.05)
        np.testing.assert_allclose(evaluate(way.program, *arrays)[0], true, rtol=1e-9, atol=1e-12)
    assert len(found.alternatives("dx", 2)) == 2


def test_a_result_with_another_order_of_axes_keeps_it() -> None:
    def f(a: Any, b: Any) -> Any:
        return (a @ b).T

    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((5, 7)), rng.standard_normal((7, 3))
    (way, *_) = load(f, t(5, 7), t(7, 3)).alternatives("value")
    np.testing.assert_allclose(evaluate(way.program, a, b)[0], (a @ b).T)


TERMS = Terms()


def _leaf(pool: Terms, name: str, *indices: Ix) -> Term:
    return pool.leaf(name, indices, "float64", frozenset((FINITE,)))


ROW, COLUMN = Ix(5, 0), Ix(7, 0)


def _left(pool: Terms) -> Term:
    a, b, c = _leaf(pool, "a", ROW), _leaf(pool, "b", ROW, COLUMN), _leaf(pool, "c", ROW, COLUMN)
    sums = [pool.con(Fraction(1), frozenset((COLUMN,)), (a, x), "float64") for x in (b, c)]
    return pool.plus(sums, "float64")


def _right(pool: Terms) -> Term:
    a, b, c = _leaf(pool, "a", ROW), _leaf(pool, "b", ROW, COLUMN), _leaf(pool, "c", ROW, COLUMN)
    inner = pool.con(Fraction(1), frozenset((COLUMN,)), (pool.plus((b, c), "float64"),), "float64")
    return pool.con(Fraction(1), frozenset(), (a, inner), "float64")


def test_a_term_is_loaded_and_its_leaves_have_names() -> None:
    graph = load(_left(TERMS))
    assert {"a", "b", "c", "term"} == set(graph.names)
    ways = graph.saturate().costs("term")
    assert ways.rows[0][3] == "a·(Σ_j (b + c))"
    assert len(ways) > 1


def test_a_law_may_be_named(loaded: Graph) -> None:
    by_name = loaded.run("common_factor").run(["products_merge", common_factor])
    assert by_name.table == loaded.run(common_factor).run([products_merge, common_factor]).table


def test_limits_end_a_search() -> None:
    load_ = (t(5, 3), t(7, 3), t(7, 2))
    graph = load(attention, *load_, wrt=("q",)).saturate(CATALOGUE[:21], Limits(rounds=1))
    assert graph.counts.rows


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda g: g.why("valu", "dx"), "softmax has no value 'valu': is it value?; it has x, "),
        (lambda g: g.draw("?"), "softmax has no value '?'; it has x, cotangent, m, e, de, dx, value, "),
        (lambda g: g.costs("nope"), "softmax has no value 'nope'; it has "),
        (lambda g: g.facts("nope"), "softmax has no value 'nope'; it has "),
        (
            lambda g: g.why_not("comon_factor", "dx"),
            "why_not needs a law, or the name of one; there is no law ",
        ),
        (
            lambda g: g.run("comon_factor"),
            "run needs a law, or the name of one; there is no law 'comon_factor': is",
        ),
        (lambda g: g.run(["common_factor", 1]), "run needs a law, or the name of one; got 1"),
        (lambda g: g.run(1), "run needs a law, or the name of one; got 1"),
        (
            lambda g: g.run("trace_is_cyclic"),
            "run needs a law, or the name of one; trace_is_cyclic is an identity that needs no law: both",
        ),
        (lambda g: g.run(common_factor, rounds=-1), "run needs rounds as a whole number from 0 on, got -1"),
        (lambda g: g.run(common_factor, rounds="a"), "run needs rounds as a whole number from 0 on, got 'a'"),
        (lambda g: g.saturate(3), "saturate needs a law, or the name of one; got 3"),
        (lambda g: g.saturate(limits=3), "saturate needs limits as Limits("),
        (lambda g: g.saturate(limits=0), "saturate needs limits as Limits("),
        (
            lambda g: g.saturate(limits=Limits(rounds=-1)),
            "saturate needs limits from 0 on, and at least one ",
        ),
    ],
)
def test_what_is_unknown_is_refused_and_said(found: Graph, ask: Any, says: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        ask(found)
    assert str(refused.value).startswith(says)


def test_a_table_prints_itself_in_text_and_in_a_notebook() -> None:
    table = Table(("name", "n"), (("a\nb", "7"), ("<c>", "13")), ("n",))
    assert str(table) == "name   n\na      7\nb\n<c>   13"
    assert table.column("n") == ("7", "13")
    html = shown(table)["text/html"]
    assert html.startswith("<table><thead><tr><th>name</th>")
    assert "&lt;c&gt;" in html
    assert "text-align: right" in html
