"""What each fact of an explored value rests on: on nothing, and then it is proved, or on assumptions.

A fact is proved where the same laws find it with no assumption made. Else it rests on assumptions that are
enough for it, of which none can be left out alone. An assumption is a fact of an input that no dtype proves,
or a law that needs more than its conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from saturate.algebra import Ix, Term, Terms, show
from saturate.assumed import BOUNDS, LAW, Assumption
from saturate.bounds import UNBOUNDED, Bounds
from saturate.egraph import TermClasses
from saturate.facts import BINARY, FINITE, INTEGER, NONNEG, NONZERO
from saturate.lawbook import WORDS
from saturate.normal import needed, rebuild
from saturate.notation import Letters, number
from saturate.rules.law import BOUNDED, DOMAIN, Law

UNITS = "units"
"""Assumed of a leaf that is given as summing to one."""
KINDS = {NONNEG: "sign", NONZERO: "sign", FINITE: "finite", INTEGER: "integer", BINARY: "binary"}
"""What kind of fact a word is; the others are `indices`, `dtype`, `number`, `bounds` and `shares`."""


@dataclass(frozen=True)
class Claim:
    """One fact of a class: its kind, what it says, and how to see whether it holds of another class."""

    kind: str
    said: str
    holds: Callable[[TermClasses, int], bool]


def claims(classes: TermClasses, c: int, called: Letters) -> Iterator[Claim]:
    """Every fact of a class, one by one."""
    free, dtype, constant = classes.free[c], classes.dtype[c], classes.constant[c]
    said = ", ".join(sorted(called[i] for i in free)) or "none"
    yield Claim("indices", said, lambda other, k: other.free[k] <= free)
    yield Claim("dtype", dtype, lambda other, k: other.dtype[k] == dtype)
    if constant is not None:
        yield Claim("number", number(constant), lambda other, k: other.constant[k] == constant)
    for fact in (fact for fact in KINDS if fact in classes.facts[c]):
        yield Claim(KINDS[fact], WORDS[fact], _has(fact))
    low, high = classes.bounds[c] if constant is None else UNBOUNDED
    if low is not None:
        yield Claim("bounds", f"at least {number(low)}", _at_least(low))
    if high is not None:
        yield Claim("bounds", f"at most {number(high)}", _at_most(high))
    for index in sorted(classes.units[c]):
        yield Claim("shares", f"summing to one over {called[index]}", _sums_to_one(index))


def _has(fact: str) -> Callable[[TermClasses, int], bool]:
    return lambda other, k: fact in other.facts[k]


def _at_least(low: Fraction) -> Callable[[TermClasses, int], bool]:
    return lambda other, k: (end := other.bounds[k][0]) is not None and end >= low


def _at_most(high: Fraction) -> Callable[[TermClasses, int], bool]:
    return lambda other, k: (end := other.bounds[k][1]) is not None and end <= high


def _sums_to_one(index: Ix) -> Callable[[TermClasses, int], bool]:
    return lambda other, k: index in other.units[k]


def fewest(
    every: Sequence[Assumption], near: Iterable[Assumption], holds: Callable[[frozenset[Assumption]], bool]
) -> tuple[Assumption, ...]:
    """Assumptions that are enough, none of which can be left out alone; first only those `near` are tried."""
    kept = frozenset(near)
    if not holds(kept):
        kept = frozenset(every)
    if holds(frozenset()):
        return ()
    for one in every:
        if one in kept and holds(kept - {one}):
            kept -= {one}
    return tuple(a for a in every if a in kept)


def loose(laws: Iterable[Law]) -> list[Assumption]:
    """The laws that need more than their conditions, or that nothing tested."""
    return [Assumption(law.name, LAW) for law in laws if law.exact in (DOMAIN, BOUNDED) or law.unchecked]


def kept_laws(laws: Iterable[Law], kept: Container[Assumption]) -> tuple[Law, ...]:
    """The laws without those that need to be assumed and are not."""
    return tuple(law for law in laws if all(a in kept for a in loose([law])))


def told(assumption: Assumption, name: str, terms: Mapping[str, Term]) -> str:
    """An assumption in words; `terms` has those of inputs by their names."""
    match assumption.fact:
        case fact if fact == LAW:
            return f"the law {name}"
        case fact if fact == UNITS:
            return f"{name} sums to one"
        case fact if fact == BOUNDS:
            return f"{name} is {between(terms[name].bounds)}"
        case fact:
            return f"{name} is {WORDS[fact]}"


def between(bounds: Bounds) -> str:
    """Bounds in words, at least one of which is known."""
    low, high = bounds
    if low is not None and high is not None:
        return f"between {number(low)} and {number(high)}"
    return f"at least {number(low)}" if low is not None else f"at most {number(high or Fraction(0))}"


# terms


def of_terms(named: Mapping[str, Term]) -> list[Assumption]:
    """What is assumed of terms: all that is known of leaves but captured arrays, and of others what does not
    follow from their operands.
    """
    terms = [t for t in needed(named.values()) if not _name(t).startswith("const:")]
    return [Assumption(_name(term), fact) for term in terms for fact in _given(term)]


def terms_without(named: Mapping[str, Term], dropped: Iterable[Assumption]) -> dict[str, Term]:
    """The same terms where some of the assumptions are not made."""
    fresh, image, gone = Terms(), dict[int, Term](), set(dropped)
    for term in needed(named.values()):
        own = {fact for fact in _given(term) if Assumption(_name(term), fact) not in gone}
        if term.kind == "leaf":
            units = term.units if UNITS in own else frozenset[Ix]()
            bounds = term.bounds if BOUNDS in own else UNBOUNDED
            leaf, axes = term.head
            image[term.id] = fresh.leaf(leaf, axes, term.dtype, term.facts & own, units, bounds)
        else:
            image[term.id] = _over(fresh, term, tuple(image[a.id] for a in term.args))
            fresh.learn(image[term.id], term.facts & own)
    return {name: image[term.id] for name, term in named.items()}


def _name(term: Term) -> str:
    return str(term.head[0]) if term.kind == "leaf" else show(term, 4)


def _given(term: Term) -> list[str]:
    """What is known of a term that does not follow from its operands."""
    plain = _over(Terms(), term, term.args)
    leaf = term.kind == "leaf"
    found = sorted(term.facts - plain.facts)
    return found + [BOUNDS] * (leaf and term.bounds != UNBOUNDED) + [UNITS] * (leaf and bool(term.units))


def _over(terms: Terms, term: Term, args: tuple[Term, ...]) -> Term:
    """The term as it is written over other operands, with what follows from them."""
    match term.kind:
        case "leaf":
            name, axes = term.head
            return terms.leaf(name, axes, term.dtype)
        case "con":
            k, summed = term.head
            return terms.plain_con(k, summed, args, term.dtype)
        case "plus":
            return terms.plain_plus(args, term.dtype)
        case "fn":
            return terms.fn(term.head[0], args, term.dtype)
        case _:
            return rebuild(terms, term, args)
