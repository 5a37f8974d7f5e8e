"""Orders of axes that a way may ask of its operands: small enumerations, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice, permutations

from saturate.algebra import Ix
from saturate.cells import Layout

Order = tuple[Ix, ...]
ORDERS = 60
"""At most so many orders are tried where one set of axes stands among another."""


def indices(layout: Layout) -> Order:
    """The axes of a layout that are larger than one."""
    return tuple(i for i in layout if i is not None)


def without(layout: Layout, dropped: frozenset[Ix]) -> Layout:
    """The layout with axes of size one in place of some."""
    return tuple(None if i in dropped else i for i in layout)


def widened(layout: Layout, added: Order) -> Iterator[Layout]:
    """Layouts with more axes, in every place, those that are there in their order."""
    total = len(layout) + len(added)

    def everywhere() -> Iterator[Layout]:
        for chosen in permutations(added):
            for places in combinations(range(total), len(added)):
                new, old = iter(chosen), iter(layout)
                yield tuple(next(new) if k in places else next(old) for k in range(total))

    yield from islice(everywhere(), ORDERS)


def filled(layout: Layout, added: Order) -> Iterator[Layout]:
    """Layouts with axes in the places of size one, in every order."""
    free = [k for k, i in enumerate(layout) if i is None]
    for chosen in permutations(added):
        for places in combinations(free, len(added)):
            at = dict(zip(places, chosen, strict=True))
            yield tuple(at.get(k, i) for k, i in enumerate(layout))


def cuts(layout: Layout) -> Iterator[tuple[Layout, Layout, Layout]]:
    """The layout in three: batch, rows and columns of a matrix product."""
    for q in range(len(layout) + 1):
        for p in range(q + 1):
            yield layout[:p], layout[p:q], layout[q:]


def parts(given: Iterable[Ix]) -> Iterator[Order]:
    """The subsets that are not empty, largest first."""
    members = tuple(sorted(given))
    for count in range(len(members), 0, -1):
        yield from combinations(members, count)


def runs(order: Order, among: frozenset[Ix]) -> Iterator[tuple[int, int]]:
    """Start and end of each run of neighbours that are all among a set, as long as can be."""
    start = None
    for k in range(len(order) + 1):
        inside = k < len(order) and order[k] in among
        if inside and start is None:
            start = k
        elif not inside and start is not None:
            yield start, k
            start = None
