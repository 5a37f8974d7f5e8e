"""From programs to terms: every value gets a term and every axis an index; it knows ops only by their
`denote`.

Indices are named by unification. A first walk lets every op say which axes are the same axis (an addition its
operands' axes by position, a contraction those with one label); axes that are the same share an index unless
one value would then carry it twice, as in self-attention, where keys and queries come from the same rows. A
second walk builds the terms, and puts a renaming on the operand where the axes could not be the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from string import ascii_letters

import numpy as np

from saturate.algebra import Indices, Ix, Term, Terms
from saturate.bounds import UNBOUNDED, Bounds
from saturate.errors import ShapeError
from saturate.facts import FINITE, NOTHING, Facts
from saturate.leaf_facts import (
    constant_bounds,
    constant_facts,
    input_bounds,
    input_facts,
    is_identity,
    one_hot_axes,
    only_number,
)
from saturate.op import Type
from saturate.ops.constants import Constant
from saturate.ops.contraction import Einsum
from saturate.program import Node, Program
from saturate.unify import Axes, Unifier


@dataclass(frozen=True)
class Indexed:
    """A term with its axes in order: None where the size is one; an axis that the term lacks is broadcast."""

    term: Term
    axes: Axes
    shape: tuple[int, ...]

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return self.term.dtype


class Denoter:
    """Builds terms for ops: the index algebra over axes in order.

    Operands are `Indexed` of equal shape, or finite Python numbers where a number makes sense.
    """

    def __init__(self, terms: Terms, unifier: Unifier, names: Mapping[int, Ix] | None) -> None:
        self.terms = terms
        self._unifier = unifier
        self._names = names
        self._minted = 0
        self._blank = terms.leaf("", (), "float64")

    # axes

    def fresh(self, size: int) -> int | None:
        """A new axis, None for size one; the second walk meets the axes of the first again."""
        if size == 1:
            return None
        self._minted += 1
        return self._minted - 1 if self._names is not None else self._unifier.fresh(size)

    def index(self, axis: int | None) -> Ix | None:
        """The index of an axis, in the second walk."""
        return None if axis is None or self._names is None else self._names[self._unifier.find(axis)]

    def indices(self, axes: Axes) -> Indices:
        """The indices of axes, None left out."""
        return frozenset(i for a in axes if (i := self.index(a)) is not None)

    def make(self, build: Callable[[], Term], axes: Axes, shape: tuple[int, ...], dtype: str) -> Indexed:
        """The value of `build` with these axes; in the first walk only the axes count."""
        if self._names is None:
            self._unifier.space(axes)
            return Indexed(self.terms.leaf("", (), dtype), axes, shape)
        return Indexed(build(), axes, shape)

    def align(self, x: Indexed, axes: Axes) -> Term:
        """The term of `x` with its axes made those in `axes`, by position."""
        if self._names is None:
            for mine, other in zip(x.axes, axes, strict=True):
                if mine is not None and other is not None:
                    self._unifier.union(mine, other)
            return x.term
        pairs = [(self.index(m), self.index(o)) for m, o in zip(x.axes, axes, strict=True)]
        return self.terms.rename(x.term, {i: j for i, j in pairs if i is not None and j is not None})

    # elementwise

    def _operands(self, xs: tuple[Indexed | float, ...]) -> tuple[list[Term], Axes, tuple[int, ...], str]:
        arrays = [x for x in xs if isinstance(x, Indexed)]
        first = arrays[0]
        if any(x.shape != first.shape for x in arrays):
            raise ShapeError(f"elementwise operands need equal shapes, got {[x.shape for x in arrays]}")
        dtype = arrays[-1].dtype
        terms = [
            self.align(x, first.axes) if isinstance(x, Indexed) else self.terms.number(x, dtype) for x in xs
        ]
        return terms, first.axes, first.shape, dtype

    def fn(self, name: str, *xs: Indexed | float) -> Indexed:
        """An elementwise function by the name of its op."""
        from saturate.facts import BOOLEAN_FUNCTIONS

        terms, axes, shape, dtype = self._operands(xs)
        dtype = "bool" if name in BOOLEAN_FUNCTIONS else dtype
        return self.make(lambda: self.terms.fn(name, tuple(terms), dtype), axes, shape, dtype)

    def cast(self, dtype: str, x: Indexed) -> Indexed:
        """Another dtype."""
        if dtype == x.dtype:
            return x
        return self.make(lambda: self.terms.fn(f"cast:{dtype}", (x.term,), dtype), x.axes, x.shape, dtype)

    def add(self, a: Indexed | float, b: Indexed | float) -> Indexed:
        """a + b."""
        terms, axes, shape, dtype = self._operands((a, b))
        return self.make(lambda: self.terms.plus(terms, dtype), axes, shape, dtype)

    def sub(self, a: Indexed | float, b: Indexed | float) -> Indexed:
        """a − b."""
        terms, axes, shape, dtype = self._operands((a, b))
        return self.make(
            lambda: self.terms.plus((terms[0], self._scaled(-1.0, terms[1])), dtype), axes, shape, dtype
        )

    def mul(self, a: Indexed | float, b: Indexed | float) -> Indexed:
        """a · b."""
        terms, axes, shape, dtype = self._operands((a, b))
        return self.make(lambda: self.terms.con(Fraction(1), frozenset(), terms, dtype), axes, shape, dtype)

    def div(self, a: Indexed | float, b: Indexed | float) -> Indexed:
        """a / b = a · (1/b)."""
        terms, axes, shape, dtype = self._operands((a, b))
        return self.make(
            lambda: self.terms.con(Fraction(1), frozenset(), (terms[0], self.terms.recip(terms[1])), dtype),
            axes, shape, dtype,
        )  # fmt: skip

    def neg(self, a: Indexed) -> Indexed:
        """−a."""
        return self.make(lambda: self._scaled(-1.0, a.term), a.axes, a.shape, a.dtype)

    def recip(self, a: Indexed) -> Indexed:
        """1 / a."""
        return self.make(lambda: self.terms.recip(a.term), a.axes, a.shape, a.dtype)

    def _scaled(self, k: float, a: Term) -> Term:
        return self.terms.con(Fraction(k), frozenset(), (a,), a.dtype)

    # structure

    def reduce(self, kind: str, x: Indexed, axes: tuple[int, ...], keepdims: bool) -> Indexed:
        """Reduction over axes; `kind` is sum, max, min or prod."""
        bound = tuple(x.axes[a] for a in axes)
        if keepdims:
            kept = tuple(None if k in axes else a for k, a in enumerate(x.axes))
            shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
        else:
            kept = tuple(a for k, a in enumerate(x.axes) if k not in axes)
            shape = tuple(n for k, n in enumerate(x.shape) if k not in axes)

        def build() -> Term:
            if kind == "sum":
                return self.terms.con(Fraction(1), self.indices(bound), (x.term,), x.dtype)
            return self.terms.red(kind, self.indices(bound), x.term)

        return self.make(build, kept, shape, x.dtype)

    def contract(self, inputs: tuple[str, ...], output: str, *xs: Indexed) -> Indexed:
        """Σ over the labels that `output` lacks of the product of operands, their axes labelled in order."""
        axis: dict[str, int | None] = {}
        sizes: dict[str, int] = {}
        deltas: list[list[tuple[int, int]]] = []
        terms: list[Term] = []
        for labels, x in zip(inputs, xs, strict=True):
            wanted: list[int | None] = []
            deltas.append([])
            for k, label in enumerate(labels):
                size = x.shape[k]
                if label in labels[:k]:
                    wanted.append(x.axes[k])
                    if size > 1:
                        deltas[-1].append((_some(axis[label]), _some(x.axes[k])))
                    continue
                if axis.get(label) is None:
                    axis[label] = self._unlike(x.axes[k], axis.values())
                    sizes[label] = size
                wanted.append(axis[label] if size > 1 else None)
            if self._names is None:
                self._unifier.space(tuple(axis.values()))
            terms.append(self.align(x, tuple(wanted)))
        everything = tuple(axis.values()) + tuple(b for own in deltas for _, b in own)
        if self._names is None:
            self._unifier.space(everything)
        return self._contracted(axis, sizes, deltas, terms, output, xs[0].dtype)

    def _unlike(self, axis: int | None, others: Iterable[int | None]) -> int | None:
        """The axis, or a new one of its size where another label of the contraction stands for it already."""
        if axis is None:
            return None
        same = any(o is not None and self._unifier.find(o) == self._unifier.find(axis) for o in others)
        return self.fresh(self._unifier.sizes[axis]) if same else axis

    def _contracted(
        self,
        axis: dict[str, int | None],
        sizes: dict[str, int],
        deltas: list[list[tuple[int, int]]],
        terms: list[Term],
        output: str,
        dtype: str,
    ) -> Indexed:
        bound = tuple(a for label, a in axis.items() if label not in output)

        def build() -> Term:
            summed, factors = self.indices(bound), list[Term]()
            for factor, own in zip(terms, deltas, strict=True):
                pairs = [(_ix(self.index(a)), _ix(self.index(b))) for a, b in own]
                if FINITE in factor.facts:
                    summed |= {j for _, j in pairs}
                    factors += [self.terms.delta(i, j, dtype) for i, j in pairs]
                for i, j in () if FINITE in factor.facts else pairs:
                    factor = diagonal(self.terms, factor, i, j)
                factors.append(factor)
            return self.terms.con(Fraction(1), summed, factors, dtype)

        axes = tuple(axis[label] for label in output)
        return self.make(build, axes, tuple(sizes[label] for label in output), dtype)

    def view(self, x: Indexed, axes: Axes, shape: tuple[int, ...]) -> Indexed:
        """Result axis k is axis `axes[k]` of `x`, or new (broadcast) where that is None or has size one."""
        out = tuple(
            x.axes[a] if a is not None and x.shape[a] == n else self.fresh(n)
            for a, n in zip(axes, shape, strict=True)
        )
        return self.make(lambda: x.term, out, shape, x.dtype)

    def full(self, value: float, shape: tuple[int, ...], dtype: str = "float64") -> Indexed:
        """A constant of this shape."""
        axes = tuple(self.fresh(n) for n in shape)
        return self.make(lambda: self.terms.number(value, dtype), axes, shape, dtype)

    def eye(self, n: int, dtype: str = "float64") -> Indexed:
        """1 on the diagonal of an n by n matrix, else 0."""
        i, j = self.fresh(n), self.fresh(n)
        if i is None or j is None:
            return self.full(1.0, (1, 1), dtype)
        return self.make(
            lambda: self.terms.delta(_ix(self.index(i)), _ix(self.index(j)), dtype), (i, j), (n, n), dtype
        )

    def leaf(
        self,
        name: str,
        type: Type,
        facts: Facts,
        units: tuple[int, ...] = (),
        bounds: Bounds = UNBOUNDED,
    ) -> Indexed:
        """An input or an array constant, which sums to one over each of the axes `units`."""
        axes = tuple(self.fresh(n) for n in type.shape)

        def build() -> Term:
            ones = self.indices(tuple(axes[k] for k in units))
            named = tuple(i for a in axes if (i := self.index(a)) is not None)
            return self.terms.leaf(name, named, type.dtype, facts, ones, bounds)

        return self.make(build, axes, type.shape, type.dtype)

    def opaque(self, node: Node, xs: tuple[Indexed, ...]) -> Indexed:
        """An op that the algebra does not look into."""
        axes = tuple(self.fresh(n) for n in node.type.shape)

        def build() -> Term:
            operands = tuple((x.term, tuple(self.index(a) for a in x.axes)) for x in xs)
            shapes = tuple(x.shape for x in xs)
            key = (node.op, shapes)
            results = tuple(self.index(a) for a in axes)
            return self.terms.opaque(key, results, operands, node.type.dtype, _keeps_finite(node, shapes))

        return self.make(build, axes, node.type.shape, node.type.dtype)


def diagonal(terms: Terms, a: Term, i: Ix, j: Ix) -> Term:
    """The elements of `a` with j = i: Σ_j δ(i,j)·a where that is finite, else opaque, as 0·∞ is no number."""
    if not {i, j} <= a.free:
        return terms.rename(a, {j: i})
    if FINITE in a.facts:
        return terms.plain_con(Fraction(1), frozenset((j,)), (terms.delta(i, j, a.dtype), a), a.dtype)
    order = tuple(sorted(a.free))
    kept = tuple(index for index in order if index != j)
    letters = dict(zip(order, ascii_letters, strict=False))
    spec = "".join(letters[i if index == j else index] for index in order)
    key = (Einsum(f"{spec}->{''.join(letters[index] for index in kept)}"), (tuple(x.size for x in order),))
    return terms.opaque(key, kept, ((a, order),), a.dtype, finite=True)


def _keeps_finite(node: Node, shapes: tuple[tuple[int, ...], ...]) -> bool:
    """Whether finite operands give finite results: not where ∞ is padded in, or a mean is over nothing."""
    numbers = (v for v in node.op.held if isinstance(v, float | np.ndarray))
    return all(np.isfinite(v).all() for v in numbers) and all(0 not in shape for shape in shapes)


def _some(axis: int | None) -> int:
    if axis is None:
        raise ShapeError("a repeated label needs equal axes")
    return axis


def _ix(index: Ix | None) -> Ix:
    if index is None:
        raise ShapeError("a diagonal needs two axes with more than one element")
    return index


@dataclass(frozen=True)
class Denotation:
    """The terms of a program: one for each value, with its axes as indices in order (None for size one)."""

    terms: Terms
    values: Mapping[str, Term]
    axes: Mapping[str, tuple[Ix | None, ...]]


Seen = Callable[[str, Facts], Facts]
"""More facts of the value of a node, given its id and what is proved of it."""


def denote(
    program: Program, facts: Mapping[str, Facts] | None = None, seen: Seen | None = None
) -> Denotation:
    """Terms of every value of `program`.

    `facts` gives the facts of inputs by value id; an input without an entry is finite, with signs from its
    bounds. An entry for another value adds to what is proved of it, and so does what `seen` says, which is
    asked in the order of the program.
    """
    terms, unifier = Terms(), Unifier()
    _walk(program, Denoter(terms, unifier, None), facts or {})
    terms = Terms()
    denoter = Denoter(terms, unifier, unifier.names())
    values = _walk(program, denoter, facts or {}, seen)
    return Denotation(
        terms,
        {v: x.term for v, x in values.items()},
        {v: tuple(denoter.index(a) for a in x.axes) for v, x in values.items()},
    )


def _walk(
    program: Program, t: Denoter, facts: Mapping[str, Facts], seen: Seen | None = None
) -> dict[str, Indexed]:
    values: dict[str, Indexed] = {}
    for given in program.inputs:
        known = facts.get(given.value, input_facts(given.type))
        bounds = input_bounds(given.type) if FINITE in known else UNBOUNDED
        values[given.value] = t.leaf(given.name, given.type, known, bounds=bounds)
    for node in program.nodes:
        made = values[node.value] = _denote_node(node, t, tuple(values[v] for v in node.operands))
        t.terms.learn(made.term, facts.get(node.value, NOTHING))
        if seen:
            t.terms.learn(made.term, seen(node.value, made.term.facts))
    return values


def _denote_node(node: Node, t: Denoter, xs: tuple[Indexed, ...]) -> Indexed:
    if isinstance(node.op, Constant):
        number = only_number(node.op.array)
        if number is not None:
            return t.full(number, node.type.shape, node.type.dtype)
        if is_identity(node.op.array):
            return t.eye(node.type.shape[0], node.type.dtype)
        facts, ones = constant_facts(node.op.array), one_hot_axes(node.op.array)
        bounds = constant_bounds(node.op.array)
        return t.leaf(f"const:{node.op.array.digest}", node.type, facts, ones, bounds)
    if 0 in (n for shape in (node.type.shape, *(x.shape for x in xs)) for n in shape):
        return t.opaque(node, xs)
    return node.op.denote(t, *xs) or t.opaque(node, xs)
