"""The middle of the road: from a baseline program to the cheapest program that the laws allow, not yet
checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from time import perf_counter

from saturate.algebra import Ix, Term
from saturate.cells import Cells
from saturate.denote import Denotation, denote
from saturate.emission import emitted
from saturate.extract import EXTRACTORS, Classes, Extraction
from saturate.extract.costs import Profile
from saturate.extract.problem import problem
from saturate.extract.tree import bottom_up, original
from saturate.facts import Facts
from saturate.lattice import Lattice
from saturate.lower import Lowered, Root, lower
from saturate.normal import Simplified, needed, simplify
from saturate.op import Op
from saturate.ops.constants import Constant
from saturate.program import Program
from saturate.rules.law import Law
from saturate.saturation import Limits, Saturation, saturate

EXTRACTION_WORK = 200_000
"""Steps that one extraction may take, a count and not a time, so that the same input gives the same
program.
"""

FOREIGN = 1000.0
"""How much dearer a value is that the program to start from does not compute."""


@dataclass(frozen=True)
class Search:
    """Everything that a search found, so that another choice can be taken out of it."""

    baseline: Program
    facts: Mapping[str, Facts]
    """What was known of its values, as `denote` takes it."""
    denotation: Denotation
    simplified: Simplified
    saturation: Saturation
    lattice: Lattice
    roots: tuple[Root, ...]
    classes: Classes
    seconds: Mapping[str, float]
    cells: Cells | None = None
    """Where the target lacks ops, the cells that the classes are of; else the classes are the lattice's."""

    @property
    def leaf_axes(self) -> dict[str, tuple[Ix | None, ...]]:
        """The axes of the baseline's inputs, by name."""
        return {i.name: self.denotation.axes[i.value] for i in self.baseline.inputs}

    @property
    def constants(self) -> dict[str, Op]:
        """The captured arrays of the baseline, by the names of their leaves."""
        nodes = self.baseline.nodes
        return {f"const:{n.op.array.digest}": n.op for n in nodes if isinstance(n.op, Constant)}

    def value_of(self, number: int) -> int:
        """The value of the lattice that a class is a way to compute."""
        return number if self.cells is None else self.cells.keys[number][0]

    def term_of(self, value: str) -> Term | None:
        """The simplified term of a value of the baseline, None where nothing needs it."""
        return self.simplified.image.get(self.denotation.values[value].id)

    def lattice_value(self, value: str) -> int | None:
        """The value of the lattice that a value of the baseline is, None where nothing computes it."""
        term = self.term_of(value)
        if term is None or term.id not in self.saturation.classes.of_term:
            return None
        return self.lattice.value_of_class(self.saturation.classes.of_term[term.id])


def search(
    baseline: Program,
    laws: Iterable[Law],
    limits: Limits,
    facts: Mapping[str, Facts] | None = None,
    profile: Profile | None = None,
) -> Search:
    """Denote, decide equalities by computation, saturate, and span the ways to compute every class."""
    start = perf_counter()
    denotation = denote(baseline, facts)
    simplified = simplify([denotation.values[v] for v in baseline.results])
    return _spanned(baseline, facts or {}, denotation, simplified, laws, limits, profile or Profile(), start)


def _spanned(
    baseline: Program,
    facts: Mapping[str, Facts],
    denotation: Denotation,
    simplified: Simplified,
    laws: Iterable[Law],
    limits: Limits,
    profile: Profile,
    start: float,
) -> Search:
    clock = [start, perf_counter()]
    results = [simplified.image[denotation.values[v].id] for v in baseline.results]
    terms, equal = loaded(results, simplified)
    saturation = saturate(terms, equal, laws, limits)
    clock.append(perf_counter())
    lattice = Lattice(saturation.classes, profile)
    roots = tuple(
        Root(lattice.value(saturation.classes.of_term[term.id]), denotation.axes[v], baseline.types[v].shape)
        for v, term in zip(baseline.results, results, strict=True)
    )
    classes = lattice.to_classes(r.value for r in roots)
    clock.append(perf_counter())
    stages = ("denote", "saturate", "span")
    seconds = {s: b - a for s, a, b in zip(stages, clock, clock[1:], strict=False)}
    return Search(baseline, facts, denotation, simplified, saturation, lattice, roots, classes, seconds)


def loaded(results: list[Term], simplified: Simplified) -> tuple[list[Term], list[tuple[Term, Term]]]:
    """The terms below the results, and the equal ones that shorten them, with the pairs among them."""
    kept = {t.id for t in needed(results)}
    pairs: list[tuple[Term, Term]] = []
    for a, b in simplified.equal:
        if a.id in kept:
            pairs.append((a, b))
            kept |= {t.id for t in needed([b])}
    return needed([*results, *(b for _, b in pairs)]), pairs


def extract(
    found: Search,
    extractor: str,
    barred: frozenset[tuple[int, int]] = frozenset(),
    seconds: float | None = None,
) -> Extraction:
    """The cheapest choice without the barred steps, found with EXTRACTION_WORK; `seconds` end it where they
    are over before. Raises `ExtractionError` where too much is barred.
    """
    kept = [
        [k for k in range(len(ways)) if (v, k) not in barred] for v, ways in enumerate(found.classes.nodes)
    ]
    nodes = tuple(tuple(ways[k] for k in left) for ways, left in zip(found.classes.nodes, kept, strict=True))
    classes = Classes(nodes, found.classes.roots, found.classes.names)
    # greedy counts restarts, with a limit of its own
    work = None if extractor == "greedy" else EXTRACTION_WORK
    chosen = EXTRACTORS[extractor](classes, seconds=seconds, work=work, warm=followed(found, classes))
    return replace(chosen, choice={v: kept[v][k] for v, k in chosen.choice.items()})


def followed(found: Search, classes: Classes) -> dict[int, int]:
    """A choice that goes through the values of the program that is improved, wherever that is possible.

    The cheapest trees where every value that the program lacks is `FOREIGN` times as dear; to start from, so
    that an extraction never costs more.
    """
    own = {found.lattice_value(value) for value in found.baseline.types}
    instance = problem(classes)
    costs = [
        [node.cost * (1.0 if found.value_of(c) in own else FOREIGN) for node in group]
        for c, group in enumerate(instance.nodes)
    ]
    return original(instance, bottom_up(instance, costs))


def emit(found: Search, extraction: Extraction) -> Lowered:
    """The program of a choice, values named as the user's function names them."""
    baseline = found.baseline
    labels: dict[int, str] = {}
    for node in baseline.nodes:
        if node.label:
            value = found.lattice_value(node.value)
            if value is not None:
                labels.setdefault(value, node.label)
    gradients = tuple(name for name, _ in baseline.gradients)
    if found.cells is not None:
        return emitted(
            found.cells, extraction.choice, found.roots, gradients, baseline.inputs, labels, baseline.name
        )
    return lower(
        found.lattice,
        extraction.choice,
        found.roots,
        gradients,
        baseline.inputs,
        found.leaf_axes,
        found.constants,
        labels,
        baseline.name,
    )
