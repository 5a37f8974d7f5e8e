"""The simplest arrays that refute a law, and an example on which a true one can be seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product

import numpy as np

from saturate.facts import FINITE
from saturate.op import AnyArray
from saturate.rules.checker import Finding, Sampler, apart, check, same, where_sides_differ
from saturate.rules.identity import Identity
from saturate.rules.language import letters_in
from saturate.rules.law import BOUNDED, DOMAIN, Law

NUMBERS = (1.0, 2.0, 0.0, -1.0, 0.5, -2.0, 3.0)
"""What a person tries first; infinities and NaN are tried last, where a law admits these."""
LARGE = (20.0, -20.0, 100.0, -100.0, 1e3, -1e3, 1e6, -1e6, 1.0, 0.0)
"""What is tried where small numbers show nothing."""
Judge = Callable[[Law, Sampler, Mapping[str, AnyArray]], Finding | None]
FILLED, DRAWN = 600, 200
"""How many arrays of one number, and of small whole numbers, are tried."""


def refutation(law: Law, seed: int = 0) -> Finding | None:
    """What refutes the law, on the simplest arrays that do; None where the checker finds nothing."""
    found = check(law, seed)
    if not found:
        return None
    return simplest(law) or found[0]


def simplest(law: Law) -> Finding | None:
    """Arrays of one number, or of small whole numbers, on which the sides differ; None without such.

    Letters that are summed over have two places, others one, so that most witnesses are plain numbers.
    """
    sample = Sampler(law, 0)
    summed = letters_in(law.left) | letters_in(law.right)
    sample.sizes = {letter: 2 if letter in summed else 1 for letter in sample.sizes}
    for values, judge in _tried(law, sample):
        if sample.holds(values) and (finding := judge(law, sample, values)):
            return finding
    return None


def _differ(law: Law, sample: Sampler, values: Mapping[str, AnyArray]) -> Finding | None:
    left, right = sample.side(law.left, values), sample.side(law.right, values)
    if same(law, left, right):
        return None
    return Finding(law.name, where_sides_differ(values), values, left, right)


def example(law: Law) -> Finding:
    """Small whole numbers that meet the conditions, and both sides there."""
    sample = Sampler(law, 0)
    sample.sizes = dict(zip(sample.sizes, (2, 3, 2, 2, 2, 2), strict=False))
    values = sample.draw("integers")
    return Finding(law.name, "", values, sample.side(law.left, values), sample.side(law.right, values))


def example_of(identity: Identity, sizes: Mapping[str, int]) -> Finding:
    """Small whole numbers, and both forms of an identity there."""
    rng = np.random.default_rng(0)
    drawn = identity.arrays(sizes, rng)
    values = {n: rng.integers(-2, 4, a.shape) * 1.0 if a.dtype.kind == "f" else a for n, a in drawn.items()}
    left, right = map(np.asarray, identity.forms(*values.values()))
    return Finding(identity.name, "", values, left, right)


def _tried(law: Law, sample: Sampler) -> Iterator[tuple[Mapping[str, AnyArray], Judge]]:
    shapes = {name: sample.shape(name) for name in law.variables}
    finite = {c.variable for c in law.where if c.fact == FINITE}
    open_ = frozenset() if law.exact in (DOMAIN, BOUNDED) else frozenset(law.variables) - finite

    def filled(numbers: tuple[float, ...], rest: tuple[float, ...]) -> Iterator[Mapping[str, AnyArray]]:
        choices = [numbers if name in open_ else rest for name in law.variables]
        for chosen in islice(product(*choices), FILLED):
            yield {name: np.full(shapes[name], x) for name, x in zip(law.variables, chosen, strict=True)}

    yield from ((values, _differ) for values in filled(NUMBERS, NUMBERS))
    yield from ((values, apart) for values in filled(LARGE, LARGE))
    for numbers in ((*NUMBERS, np.inf, -np.inf), (np.nan, *NUMBERS)):
        yield from ((values, _differ) for values in filled(numbers, NUMBERS))
    rng = np.random.default_rng(0)
    for _ in range(DRAWN):
        yield {name: rng.integers(-2, 3, shape).astype(float) for name, shape in shapes.items()}, _differ
