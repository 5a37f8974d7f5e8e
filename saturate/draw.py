"""An e-graph as a picture: a box for each class, a line for each way to compute it, green where a law did."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from string import ascii_lowercase

from saturate.algebra import Ix
from saturate.egraph import TermClasses, TermNode
from saturate.layout import centres, ranks, rows, wrapped
from saturate.notation import Letters, formula, letters
from saturate.search import Search

LETTER, LINE, PAD, ROW = 7.3, 19.0, 10.0, 54.0
"""Width of a letter, height of a line, inner margin of a box and distance between rows, in pixels."""
WIDEST = 980.0
"""Rows that would be wider are broken, so that a page can show the picture at its size."""

STYLE = """
text { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2733; }
.class { fill: #ffffff; stroke: #9aa7b5; }
.root { stroke: #1f2733; stroke-width: 2; }
.input { fill: #eef2f7; }
.name { font-weight: 700; } .quiet { fill: #6b7686; } .law { fill: #1c7a43; }
.edge { fill: none; stroke: #bcc6d1; stroke-width: 1; } .found { stroke: #93cda8; }
"""


@dataclass(frozen=True)
class Drawing:
    """A picture as SVG text; notebooks show it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture to a file."""
        Path(path).write_text(self.svg, encoding="utf-8", newline="\n")


@dataclass(frozen=True)
class Line:
    """One way to compute a class: the formula over names of classes, and the law that found it, or empty."""

    formula: str
    law: str
    needs: tuple[int, ...]


@dataclass(frozen=True)
class Box:
    """A class: its name, its free indices, its ways."""

    name: str
    indices: str
    lines: tuple[Line, ...]
    root: bool

    @property
    def width(self) -> float:
        """Width in pixels that holds every line."""
        longest = max(len(f"{line.formula}   {line.law}".rstrip()) for line in self.lines)
        return 2 * PAD + LETTER * max(longest, len(self.name) + len(self.indices) + 3)

    @property
    def height(self) -> float:
        """Height in pixels."""
        return PAD + LINE * (1 + len(self.lines))


def draw(found: Search) -> Drawing:
    """The e-graph of a search, inputs on top; values bear the names of the user's function."""
    classes, baseline = found.saturation.classes, found.baseline
    named = [(i.name, i.value) for i in baseline.inputs]
    named += [(n.label, n.value) for n in baseline.nodes if n.label]
    names: dict[int, str] = {}
    for name, value in named:
        term = found.term_of(value)
        if term is not None and term.id in classes.of_term:
            names.setdefault(classes.of_term[term.id], name)
    terms = [found.term_of(v) for v in baseline.results]
    roots = {classes.of_term[t.id] for t in terms if t is not None and t.id in classes.of_term}
    return picture(boxes(classes, names, roots))


def boxes(classes: TermClasses, names: Mapping[int, str], roots: Iterable[int]) -> list[Box]:
    """The classes as boxes; one without a name gets a letter that no name has."""
    wanted, called_indices = set(roots), letters_of(classes)
    taken = {*names.values(), *called_indices.values()}
    every = (f"{a}{k or ''}" for k in range(len(classes.nodes) + 1) for a in ascii_lowercase)
    fresh = (name for name in every if name not in taken)
    called = [names[c] if c in names else next(fresh) for c in range(len(classes.nodes))]
    return [
        Box(
            called[c],
            ",".join(sorted(called_indices[i] for i in classes.free[c])),
            tuple(_line(node, called, called_indices) for node in nodes),
            c in wanted,
        )
        for c, nodes in enumerate(classes.nodes)
    ]


def _line(node: TermNode, called: Sequence[str], indices: Letters) -> Line:
    law = "" if node.law == "program" else node.law
    return Line(
        formula(node.kind, node.head, [called[a] for a in node.args], indices),
        law,
        tuple(dict.fromkeys(node.args)),
    )


def letters_of(classes: TermClasses) -> dict[Ix, str]:
    """One letter for each index of the graph, in the order in which leaves have them."""
    names = [n.head[0] for nodes in classes.nodes for n in nodes if n.kind == "leaf"]
    leaves = [i for nodes in classes.nodes for n in nodes if n.kind == "leaf" for i in n.head[1]]
    inner = [i for free in classes.free for i in sorted(free)]
    summed = [
        i for nodes in classes.nodes for n in nodes if n.kind in ("con", "red") for i in sorted(n.head[1])
    ]
    return letters((*leaves, *inner, *summed), names)


def window(made: Sequence[Box], middle: Iterable[int], hops: int) -> list[Box]:
    """The classes at most so many steps from some, operands and readers alike; those become the thick ones.

    A way whose operands lie outside is still written, without an edge.
    """
    wanted = set(middle)
    kept = set(wanted)
    for _ in range(hops):
        below = {d for c in kept for line in made[c].lines for d in line.needs}
        above = {c for c, box in enumerate(made) if any(kept & set(line.needs) for line in box.lines)}
        kept |= below | above
    place = {c: k for k, c in enumerate(sorted(kept))}

    def inside(line: Line) -> Line:
        return replace(line, needs=tuple(place[d] for d in line.needs if d in place))

    return [replace(made[c], root=c in wanted, lines=tuple(map(inside, made[c].lines))) for c in sorted(kept)]


def picture(made: Sequence[Box], every: bool = False) -> Drawing:
    """Boxes in rows, an edge from each class to each class that is computed from it.

    A class stands below what its first way needs; with `every`, for a few classes, below what any way needs.
    """
    alternatives = [[line.needs for line in box.lines] for box in made]
    if every:
        alternatives = [[tuple(dict.fromkeys(d for way in ways for d in way))] for ways in alternatives]
    joined = {c: [d for way in ways for d in way] for c, ways in enumerate(alternatives)}
    for c, ways in enumerate(alternatives):
        for d in dict.fromkeys(d for way in ways for d in way):
            joined[d].append(c)
    widths = [box.width for box in made]
    lines = wrapped(rows(ranks(alternatives), joined), widths, WIDEST)
    x = centres(lines, joined, widths)
    y: dict[int, float] = {}
    top = PAD
    for line in lines:
        y |= dict.fromkeys(line, top)
        top += ROW + max((made[c].height for c in line), default=0.0)
    width = max((x[c] + box.width / 2 for c, box in enumerate(made)), default=0.0) + 2 * PAD
    parts = [_edge(made, x, y, d, c, found) for c, box in enumerate(made) for d, found in _needs(box).items()]
    parts += [_box(box, x[c] + PAD, y[c]) for c, box in enumerate(made)]
    height = top - ROW + PAD
    return Drawing(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" style="max-width: 100%; height: auto; background: #fff">\n'
        f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>"
    )


def _needs(box: Box) -> dict[int, bool]:
    """The operands of a class, and whether only what a law found needs them."""
    needed: dict[int, bool] = {}
    for line in box.lines:
        for d in line.needs:
            needed[d] = needed.get(d, True) and bool(line.law)
    return needed


def _edge(
    made: Sequence[Box], x: Sequence[float], y: Mapping[int, float], low: int, high: int, found: bool
) -> str:
    x0, y0, x1, y1 = x[low] + PAD, y[low] + made[low].height, x[high] + PAD, y[high]
    bend = max(20.0, abs(y1 - y0) / 2)
    kind = "edge found" if found else "edge"
    return (
        f'<path class="{kind}" d="M{x0:.1f} {y0:.1f} C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} '
        f'{x1:.1f} {y1:.1f}"/>'
    )


def _box(box: Box, x: float, y: float) -> str:
    left = x - box.width / 2
    leaf = not any(line.needs for line in box.lines)
    kind = "class root" if box.root else "class input" if leaf else "class"
    parts = [
        f'<rect class="{kind}" x="{left:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="6"/>',
        f'<text x="{left + PAD:.1f}" y="{y + LINE - 3:.1f}"><tspan class="name">{escape(box.name)}</tspan>'
        f'<tspan class="quiet">{escape(f"[{box.indices}]") if box.indices else ""}</tspan></text>',
    ]
    for k, line in enumerate(box.lines):
        law = f'<tspan class="law">   {escape(line.law)}</tspan>' if line.law else ""
        kind = ' class="law"' if line.law else ""
        parts.append(
            f'<text xml:space="preserve"{kind} x="{left + PAD:.1f}" y="{y + LINE * (k + 2) - 3:.1f}">'
            f"{escape(line.formula)}{law}</text>"
        )
    return "\n".join(parts)
