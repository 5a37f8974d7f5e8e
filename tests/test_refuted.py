"""The checker rejects false laws with a witness, and a wrong declaration is refused with what to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from refuted import REFUTED, Refuted

from saturate.errors import LawError
from saturate.op import AnyArray
from saturate.rules import CATALOGUE, Law, law
from saturate.rules.checker import check
from saturate.rules.compile import rules_text
from saturate.rules.language import Expr, const, evaluate, exp, fn, recip, total
from saturate.rules.law import DOMAIN, Condition, finite
from saturate.rules.witness import refutation

Declare = Callable[[], object]


@pytest.mark.parametrize("case", REFUTED, ids=lambda case: case.law.name)
def test_a_false_law_is_rejected_with_a_witness(case: Refuted) -> None:
    found = check(case.law)
    assert found, f"{case.law} was not refuted"
    first = found[0]
    assert first.what == case.says
    assert set(first.witness) == set(case.law.variables)
    assert str(first).startswith(f"{case.law.name}: {case.says} at ")
    assert first.left is not None
    assert first.right is not None
    left, right = np.broadcast_arrays(first.left, first.right)
    assert left.tobytes() != right.tobytes()


def test_a_witness_shows_what_it_says() -> None:
    """The sides in a finding are those of its arrays."""
    case = next(r for r in REFUTED if r.law.name == "exp_of_sum_is_sum")
    finding = check(case.law)[0]
    left = evaluate(case.law.left, finding.witness, {"i": 0}, {"i": 2})
    assert finding.left is not None
    np.testing.assert_array_equal(left, finding.left)


@pytest.mark.parametrize("name", ["maximum_with_fifty", "exp_below_a_million", "distance_from_five"])
def test_what_large_numbers_refute_is_shown_at_one_of_them(name: str) -> None:
    finding = refutation(next(r.law for r in REFUTED if r.law.name == name))
    assert finding is not None
    assert finding.witness["a"].tolist() in ([20.0], [100.0])


def test_no_refuted_law_stands_in_the_catalogue() -> None:
    assert {r.law.name for r in REFUTED}.isdisjoint(w.name for w in CATALOGUE)
    sides = [(w.left, w.right) for w in CATALOGUE if not w.where]
    assert not any((r.law.left, r.law.right) in sides for r in REFUTED)


def test_a_law_is_also_refuted_by_its_slopes_and_in_the_field() -> None:
    wrong = next(r.law for r in REFUTED if r.law.name == "reciprocal_of_sum")
    says = [f.what for f in check(wrong)]
    assert says == ["the sides differ", "the sides differ modulo 2147483647", "the derivatives by a differ"]


@law(a="i", where=finite("a"))
def squares_of_cosh_and_sinh(a: Expr) -> tuple[Expr, Expr]:
    """cosh(a)·cosh(a) − sinh(a)·sinh(a) = 1."""
    cosh, sinh = fn("cosh", a), fn("sinh", a)
    return cosh * cosh - sinh * sinh, const(1) + 0 * a


@law(a="i", b="i", where=finite("a", "b"))
def difference_of_squares(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """a·a − b·b = (a + b)·(a − b)."""
    return a * a - b * b, (a + b) * (a - b)


@law(a="ij", where=finite("a"), narrows=True)
def sum_of_what_cancels(a: Expr) -> tuple[Expr, Expr]:
    """Σ_j (a·a·a − Σ_j a·a·a/|j|) = 0."""
    mean = total("j", a * a * a) * recip(total("j", const(1)))
    return total("j", a * a * a - mean), const(0)


@law(a="i", b="i", where=finite("a", "b"))
def sine_of_a_product(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """sin(a·b + b) = sin((a + 1)·b)."""
    return fn("sin", a * b + b), fn("sin", (a + 1) * b)


@law(a="i", exact=DOMAIN)
def exp_of_opposites(a: Expr) -> tuple[Expr, Expr]:
    """exp(a)·exp(−a) = 1 where nothing overflows."""
    return exp(a) * exp(-a), const(1) + 0 * a


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "true",
    [
        squares_of_cosh_and_sinh,
        difference_of_squares,
        sum_of_what_cancels,
        sine_of_a_product,
        exp_of_opposites,
    ],
    ids=lambda true: true.name,
)
def test_digits_that_a_true_law_loses_at_large_numbers_do_not_refute_it(true: Law, seed: int) -> None:
    assert [str(finding) for finding in check(true, seed, trials=96)] == []


class Never(Condition):
    """A condition that no sample meets."""

    def holds(self, array: AnyArray) -> bool:
        return False


def test_a_law_whose_condition_is_never_met_is_refused() -> None:
    @law(a="i", where=(Never("a", "nonzero"),))
    def vacuous(a: Expr) -> tuple[Expr, Expr]:
        """a/a = 1·a."""
        return a * recip(a), const(1) * a

    assert str(check(vacuous)[0]) == "vacuous: no sample meets its conditions"


def test_a_law_without_a_number_on_its_left_is_refused() -> None:
    @law(a="i")
    def empty(a: Expr) -> tuple[Expr, Expr]:
        """exp(a)·(1/0) = exp(a)·(1/0)."""
        return exp(a) * recip(const(0)), exp(a) * recip(const(0))

    assert "empty: exp(a)·recip(0) is a number on no sample" in map(str, check(empty))


def unbound() -> object:
    @law(a="i", b="i")
    def forgets(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """exp(a) = b."""
        return exp(a), b

    return forgets


def drops() -> object:
    @law(a="i", b="ij")
    def drops_an_index(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """a·b = a·Σ_j b."""
        return a * b, a * total("j", b)

    return drops_an_index


def gains() -> object:
    @law(a="ij", b="i", narrows=True)
    def gains_an_index(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """(Σ_j a)·b = a·b."""
        return total("j", a) * b, a * b

    return gains_an_index


def silent() -> object:
    def says_nothing(a: Expr) -> tuple[Expr, Expr]:
        return exp(a), a

    says_nothing.__doc__ = None
    return law(a="i")(says_nothing)


def classless() -> object:
    @law(a="i", exact="almost")
    def unclassed(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = a."""
        return exp(a), a

    return unclassed


def aimless() -> object:
    @law(a="i", direction="sideways")
    def undirected(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = a."""
        return exp(a), a

    return undirected


def bare() -> object:
    @law(a="i")
    def matches_everything(a: Expr) -> tuple[Expr, Expr]:
        """a = 1·a."""
        return a, const(1) * a

    return matches_everything


def letterless() -> object:
    @law(a="i")
    def unlettered(a: Expr, b: Expr) -> tuple[Expr, Expr]:
        """a·b = b·a."""
        return a * b, b * a

    return unlettered


def one_sided() -> object:
    def has_a_number_for_a_side(a: Expr) -> tuple[Expr, Expr]:
        """exp(a)·exp(−a) = 1."""
        return exp(a) * exp(-a), 1  # type: ignore[return-value]

    return law(a="i")(has_a_number_for_a_side)


def boundless() -> object:
    @law(a="i", exact="bounded")
    def is_nearly(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) ≈ 1 + a."""
        return exp(a), const(1) + a

    return is_nearly


def unbalanced() -> object:
    @law(a="i", egglog=('(= e (Fn1 "exp" d a)', "(union e e)"))
    def loses_a_parenthesis(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = exp(1·a)."""
        return exp(a), exp(const(1) * a)

    return loses_a_parenthesis


def stray() -> object:
    @law(a="i", where=finite("c"))
    def conditions_on_nothing(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = exp(1·a)."""
        return exp(a), exp(const(1) * a)

    return conditions_on_nothing


def unknown() -> object:
    @law(a="i", where=(Condition("a", "even"),))
    def asks_for_evenness(a: Expr) -> tuple[Expr, Expr]:
        """exp(a) = exp(1·a)."""
        return exp(a), exp(const(1) * a)

    return asks_for_evenness


@pytest.mark.parametrize(
    ("declare", "says"),
    [
        (unbound, "law forgets needs every variable of its right side on its left, and b is not in exp(a)"),
        (
            drops,
            "law drops_an_index needs sides that depend on the same index letters, got i j and i: say "
            "narrows=True where the right side is meant to depend on fewer",
        ),
        (
            gains,
            "law gains_an_index needs sides that depend on the same index letters, got i and i j: say "
            "narrows=True where the right side is meant to depend on fewer",
        ),
        (silent, "law says_nothing needs a docstring that states it, got none"),
        (
            classless,
            "law unclassed needs exact to be one of bitwise, rounding, domain, bounded; got 'almost'",
        ),
        (
            aimless,
            "law undirected needs direction to be one of simplify, explore, merge_sums; got 'sideways'",
        ),
        (
            one_sided,
            "law has_a_number_for_a_side needs to return its two sides, terms made of its variables, got "
            "(exp(a)·exp(-1·a), 1): a number alone is const(1)",
        ),
        (
            boundless,
            "law is_nearly needs a bound above zero where it is bounded, and none elsewhere: got 0.0",
        ),
        (
            bare,
            "law matches_everything needs more than the bare variable a on its left, which matches every "
            "term: swap the sides, or leave the law out",
        ),
        (
            letterless,
            "law unlettered needs index letters for each of its variables ['a', 'b'], got ['a']: "
            "write @law(a='ij')",
        ),
        (
            unbalanced,
            "law loses_a_parenthesis needs egglog text whose parentheses match, got '(= e (Fn1 \"exp\" d a)'",
        ),
        (
            stray,
            "law conditions_on_nothing needs conditions on its own variables a, got finite('c')",
        ),
        (
            unknown,
            "law asks_for_evenness needs facts among finite, nonneg, nonzero, integer, binary; got 'even'",
        ),
    ],
)
def test_a_wrong_declaration_is_refused(declare: Declare, says: str) -> None:
    with pytest.raises(LawError) as raised:
        declare()
    assert str(raised.value) == says
    assert raised.value.code == "law"


def test_two_laws_of_one_name_are_refused() -> None:
    one = CATALOGUE[0]
    with pytest.raises(LawError) as raised:
        rules_text([one, one])
    assert str(raised.value) == (
        f"laws need names of their own, and 2 are called {one.name}: rename one ({one.line}, {one.line})"
    )
