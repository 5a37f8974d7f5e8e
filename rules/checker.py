"""Whether a law is true: both sides and their derivatives on samples, and in a prime field where rational."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from saturate.facts import BINARY, FINITE, INTEGER
from saturate.op import AnyArray
from saturate.rules.language import (
    Call,
    Expr,
    Num,
    Product,
    Sum,
    Total,
    Var,
    evaluate,
    letters_in,
    show,
)
from saturate.rules.law import BITWISE, BOUNDED, DOMAIN, Law

PRIMES = (2, 3, 5, 7, 11, 13)
FIELD = 2**31 - 1
"""A prime; residues multiply inside 64 bits."""
TOLERANCE = 1e-9
"""Relative, in float64; derivatives by central differences are compared to its square root."""
KINDS = ("integers", "normal", "positive", "negative", "small", "zeros")
"""Samples with special values; variables that need not be finite are also sampled with infinities and NaN."""

LARGE = (20.0, 200.0, 1e3, 1e6)
"""Finite samples are also spread over the orders of magnitude from 1 up to each of these."""
TINY = float(np.finfo(np.float64).tiny)
NOISE = 1e-12
"""Relative, a step: what this does to a side, where a step is large, is more than rounding does."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What is wrong with a law: the arrays that show it, one axis a letter, and the two sides there."""

    law: str
    what: str
    witness: Mapping[str, AnyArray]
    left: AnyArray | None = None
    right: AnyArray | None = None

    def __str__(self) -> str:
        return f"{self.law}: {self.text}"

    @property
    def text(self) -> str:
        """What is wrong, where, and both sides there, in as many digits as it takes to see a difference."""
        given = ", ".join(f"{name} = {_shown(a)}" for name, a in self.witness.items())
        said = self.what + (f" at {given}" if given else "")
        if self.left is None or self.right is None:
            return said
        for digits in (4, 17):
            sides = [_shown(side, digits) for side in (self.left, self.right)]
            if sides[0] != sides[1]:
                break
        else:
            sides = [_shown(side) for side in (self.left, self.right)]
        return f"{said}: {', '.join(sides)}"


def check(law: Law, seed: int = 0, trials: int = 24) -> list[Finding]:
    """What refutes the law, each kind of fault once; empty where none was found.

    Samples are float64, one axis an index letter, sizes distinct primes, and meet the law's conditions. Sides
    of a `bitwise` law are equal bit for bit, others to `TOLERANCE`; both are NaN or neither is. At large
    magnitudes they may differ as far as rounding takes them; what overflows there is skipped. `domain` and
    `bounded` laws are not asked about infinities and NaN; the sides of the latter differ by at most their
    bound, and their derivatives may differ.
    """
    sample = Sampler(law, seed)
    found = [_unmet(law, sample), _values(law, sample, trials) or _large(law, Sampler(law, seed), trials)]
    found += [_field(law, sample), _slopes(law, sample)]
    if law.exact not in (DOMAIN, BOUNDED):
        found.append(_beyond_numbers(law, sample, trials))
    return [finding for finding in found if finding is not None]


class Sampler:
    """Draws arrays for the variables of one law."""

    def __init__(self, law: Law, seed: int) -> None:
        self.law = law
        letters = sorted(set().union(*law.variables.values(), letters_in(law.left), letters_in(law.right)))
        self.axes = {letter: k for k, letter in enumerate(letters)}
        self.sizes: dict[str, int] = dict(zip(letters, PRIMES, strict=False))
        self.rng = np.random.default_rng([seed, *law.name.encode()])

    def shape(self, variable: str) -> tuple[int, ...]:
        """The sizes of the variable's letters, one elsewhere."""
        return tuple(n if x in self.law.variables[variable] else 1 for x, n in self.sizes.items())

    def draw(self, kind: str) -> dict[str, AnyArray]:
        """Arrays of this kind, made to meet the conditions."""
        found = {name: self._array(kind, self.shape(name)) for name in self.law.variables}
        for condition in self.law.where:
            found[condition.variable] = condition.make(found[condition.variable])
        return found

    def large(self, top: float) -> dict[str, AnyArray]:
        """Arrays of magnitudes spread over the orders from 1 to `top`, made to meet the conditions."""
        found: dict[str, AnyArray] = {}
        for name in self.law.variables:
            signs = self.rng.choice((-1.0, 1.0), self.shape(name))
            found[name] = signs * top ** self.rng.random(self.shape(name))
        for condition in self.law.where:
            found[condition.variable] = condition.make(found[condition.variable])
        return found

    def _array(self, kind: str, shape: tuple[int, ...]) -> AnyArray:
        x: AnyArray = self.rng.standard_normal(shape)
        match kind:
            case "integers":
                return self.rng.integers(-3, 4, shape).astype(np.float64)
            case "positive":
                return np.abs(x)
            case "negative":
                return -np.abs(x)
            case "small":
                return x * 1e-3
            case "zeros":
                return np.where(self.rng.random(shape) < 0.5, 0.0, x)
            case _:
                return x

    def side(self, expr: Expr, values: Mapping[str, AnyArray]) -> AnyArray:
        """The value of one side, an axis a letter."""
        with np.errstate(all="ignore"):
            return evaluate(expr, values, self.axes, self.sizes)

    def loss(self, expr: Expr, values: Mapping[str, AnyArray]) -> AnyArray:
        """How far noise in each step moves a side, elementwise; infinite where a step over- or underflows."""
        borne = True

        def noisy(x: AnyArray) -> AnyArray:
            nonlocal borne
            borne = borne and not (np.isinf(x) | ((x != 0) & (np.abs(x) < TINY))).any()
            return x if x.dtype == bool else x * (1 + NOISE * self.rng.standard_normal(x.shape))

        plain = self.side(expr, values) * 1.0
        lost = np.zeros(plain.shape)
        with np.errstate(all="ignore"):
            for _ in range(8):
                moved = evaluate(expr, values, self.axes, self.sizes, noisy)
                lost = np.maximum(lost, np.where(np.isnan(moved) & np.isnan(plain), 0, np.abs(moved - plain)))
        return np.where(np.isnan(lost) | (not borne), np.inf, lost)

    def holds(self, values: Mapping[str, AnyArray]) -> bool:
        """Whether the arrays meet every condition."""
        return all(c.holds(values[c.variable]) for c in self.law.where)


def _samples(sample: Sampler, trials: int) -> Iterator[dict[str, AnyArray]]:
    for trial in range(trials):
        values = sample.draw(KINDS[trial % len(KINDS)])
        if sample.law.exact == BITWISE:
            values = {
                v: np.where((a == 0) & (sample.rng.random(a.shape) < 0.5), -a, a) for v, a in values.items()
            }
        if sample.holds(values):
            yield values


def _unmet(law: Law, sample: Sampler) -> Finding | None:
    """A law whose samples never meet its conditions, or never give a number, says nothing."""
    met = list(_samples(sample, len(KINDS)))
    if not met:
        return Finding(law.name, "no sample meets its conditions", {})
    if not any(np.isfinite(sample.side(law.left, values)).any() for values in met):
        return Finding(law.name, f"{show(law.left)} is a number on no sample", {})
    return None


def _values(law: Law, sample: Sampler, trials: int) -> Finding | None:
    for values in _samples(sample, trials):
        left, right = sample.side(law.left, values), sample.side(law.right, values)
        if not same(law, left, right):
            return Finding(law.name, where_sides_differ(values), values, left, right)
    return None


def _beyond_numbers(law: Law, sample: Sampler, trials: int) -> Finding | None:
    """Variables that need not be finite hold infinities or NaN here and there."""
    finite = {c.variable for c in law.where if c.fact == FINITE}
    open_ = [name for name in law.variables if name not in finite]
    for values in _samples(sample, trials) if open_ else ():
        odd = np.inf if sample.rng.random() < 0.5 else np.nan
        for name in open_:
            there = sample.rng.random(values[name].shape) < 0.4
            values[name] = np.where(there, np.copysign(odd, values[name]), values[name])
        left, right = sample.side(law.left, values), sample.side(law.right, values)
        if sample.holds(values) and not same(law, left, right):
            return Finding(law.name, where_sides_differ(values), values, left, right)
    return None


def _large(law: Law, sample: Sampler, trials: int) -> Finding | None:
    """Finite samples of large magnitudes."""
    for trial in range(trials):
        values = sample.large(LARGE[trial % len(LARGE)])
        if sample.holds(values) and (finding := apart(law, sample, values)):
            return finding
    return None


def apart(law: Law, sample: Sampler, values: Mapping[str, AnyArray]) -> Finding | None:
    """The sides, if they differ by more than rounding of large steps explains, where nothing overflows."""
    left, right = sample.side(law.left, values), sample.side(law.right, values)
    if same(law, left, right):
        return None
    if law.exact not in (BITWISE, BOUNDED):
        lost = sample.loss(law.left, values) + sample.loss(law.right, values)
        with np.errstate(all="ignore"):
            near = np.abs(left * 1.0 - right) <= TOLERANCE * (1 + np.abs(right)) + lost
        near |= np.isinf(lost) | (np.isnan(left) & np.isnan(right))
        if near.all():
            return None
    return Finding(law.name, where_sides_differ(values), values, left, right)


def where_sides_differ(values: Mapping[str, AnyArray]) -> str:
    """What a finding says of arrays on which the sides differ: whether all of them are numbers."""
    if any(np.isnan(a).any() for a in values.values()):
        return "the sides differ at NaN"
    if any(np.isinf(a).any() for a in values.values()):
        return "the sides differ at infinities"
    return "the sides differ"


def same(law: Law, left: AnyArray, right: AnyArray) -> bool:
    """Whether two sides agree as closely as the law's class of exactness promises."""
    if law.exact == BITWISE:
        return _equal(left, right) and _equal(_signs(left), _signs(right))
    if law.exact == BOUNDED:
        return bool(np.all(np.abs(left - right) <= law.bound))
    return bool(np.allclose(left, right, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True))


def _signs(side: AnyArray) -> AnyArray:
    """Where the sign bit is set; that of NaN says nothing."""
    return np.signbit(side) & ~np.isnan(side) if side.dtype.kind == "f" else np.zeros(side.shape, bool)


def _equal(left: AnyArray, right: AnyArray) -> bool:
    a, b = np.broadcast_arrays(left, right)
    return bool(np.array_equal(a, b, equal_nan=True))


def _field(law: Law, sample: Sampler) -> Finding | None:
    """Rational sides are equal in a prime field, where nothing is rounded."""
    if not (is_rational(law.left) and is_rational(law.right)):
        return None
    bits = {c.variable for c in law.where if c.fact == BINARY}
    for _ in range(3):
        values = {
            v: sample.rng.integers(*((0, 2) if v in bits else (1, FIELD)), sample.shape(v))
            for v in law.variables
        }
        left, right = (residues(side, values, sample.axes, sample.sizes) for side in (law.left, law.right))
        if not _equal(left, right):
            return Finding(law.name, f"the sides differ modulo {FIELD}", values, left, right)
    return None


def is_rational(expr: Expr) -> bool:
    """Whether the expression is made of sums, products and reciprocals alone."""
    match expr:
        case Var() | Num():
            return True
        case Total(_, body):
            return is_rational(body)
        case Product(parts) | Sum(parts):
            return all(map(is_rational, parts))
        case Call("recip", operands):
            return all(map(is_rational, operands))
        case _:
            return False


def residues(
    expr: Expr, values: Mapping[str, AnyArray], axes: Mapping[str, int], sizes: Mapping[str, int]
) -> AnyArray:
    """The value of a rational expression modulo `FIELD`, as `evaluate` lays it out."""

    def of(part: Expr) -> AnyArray:
        return residues(part, values, axes, sizes)

    match expr:
        case Var(name):
            return values[name]
        case Num(value):
            k = value.numerator * pow(value.denominator, -1, FIELD) % FIELD
            return np.full((1,) * len(axes), k, np.int64)
        case Product(factors):
            product: AnyArray = np.ones((1,) * len(axes), np.int64)
            for factor in factors:
                product = product * of(factor) % FIELD
            return product
        case Sum(members):
            total: AnyArray = np.zeros((1,) * len(axes), np.int64)
            for member in members:
                total = (total + of(member)) % FIELD
            return total
        case Total(letters, body):
            found = of(body)
            for letter in letters:
                count = sizes[letter] if found.shape[axes[letter]] == 1 else 1
                found = found.sum(axis=axes[letter], keepdims=True) * count % FIELD
            return found
        case Call("recip", (operand,)):
            inverse = np.vectorize(lambda x: pow(int(x), -1, FIELD), otypes=[np.int64])
            return np.asarray(inverse(of(operand)))
        case _:
            raise TypeError(f"not rational: {show(expr)}")


def _slopes(law: Law, sample: Sampler) -> Finding | None:
    """Directional derivatives of both sides, by central differences away from zero.

    What is whole everywhere cannot be moved a little.
    """
    step, tolerance = 1e-5, TOLERANCE**0.5
    steps = {c.variable for c in law.where if c.fact in (BINARY, INTEGER)}
    if law.exact == BOUNDED or sample.side(law.left, sample.draw("normal")).dtype == bool:
        return None
    for kind in ("normal", "positive"):
        at = {v: np.where(np.abs(a) < 0.3, np.copysign(0.5, a), a) for v, a in sample.draw(kind).items()}
        for name in law.variables:
            if name in steps:
                continue
            along = sample.rng.standard_normal(at[name].shape)
            ends = [{**at, name: at[name] + sign * step * along} for sign in (1, -1)]
            slopes: list[AnyArray] = []
            for side in (law.left, law.right):
                plus, minus = (sample.side(side, end) for end in ends)
                with np.errstate(all="ignore"):
                    slopes.append((plus - minus) / (2 * step))
            left, right = slopes
            if not np.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True):
                return Finding(law.name, f"the derivatives by {name} differ", at, left, right)
    return None


def _shown(array: AnyArray, digits: int = 4) -> str:
    flat = np.squeeze(array)
    return " ".join(np.array2string(flat, precision=digits, separator=", ", threshold=12).split())
