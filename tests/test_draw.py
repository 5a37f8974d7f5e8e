"""Drawings of e-graphs: where boxes go, and what stands in them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from golden_files import Golden
from notebook_display import shown

from saturate import Limits, Type, grad
from saturate.demos import softmax
from saturate.draw import Box, Line, draw, picture
from saturate.layout import GAP, centres, ranks, rows, wrapped
from saturate.rules import CATALOGUE
from saturate.search import Search, search


@pytest.fixture(scope="module")
def found() -> Search:
    return search(grad(softmax, Type((5, 7)), wrt="x"), CATALOGUE, Limits())


def test_a_class_stands_below_what_its_first_way_needs() -> None:
    assert ranks([[()], [()], [(0, 1)], [(2, 0), (0,)], [(3,)], []]) == [0, 0, 1, 2, 3, 0]


def test_circles_are_cut() -> None:
    placed = ranks([[(1,)], [(2,)], [(0,)], [(0,)], [(4,)]])
    assert placed[0] > placed[1] > placed[2] == 0
    assert placed[3] > placed[0]
    assert placed[4] == 0


def test_rows_untangle_a_crossing() -> None:
    joined = {0: [3], 1: [2], 2: [1], 3: [0]}
    top, bottom = rows([0, 0, 1, 1], joined)
    assert [joined[c][0] for c in top] == bottom


def test_boxes_of_a_row_never_touch() -> None:
    joined = {0: [1, 2, 3, 4], **{c: [0] for c in range(1, 5)}}
    width = [100.0, 50.0, 130.0, 70.0, 110.0]
    lines = [[0], [1, 2, 3, 4]]
    x = centres(lines, joined, width)
    for a, b in zip(lines[1], lines[1][1:], strict=False):
        assert x[b] - x[a] >= (width[a] + width[b]) / 2 + GAP - 1e-9
    assert x[0] == pytest.approx(sum(x[1:]) / 4)
    assert min(c - w / 2 for c, w in zip(x, width, strict=True)) == pytest.approx(0)


def test_wide_rows_are_broken_in_order() -> None:
    lines = wrapped([[0], [4, 1, 3, 2]], [90.0] * 5, 300.0)
    assert lines == [[0], [4, 3], [1, 2]]
    assert wrapped([[0, 1]], [900.0, 10.0], 300.0) == [[0], [1]]


def test_names_are_the_users(found: Search) -> None:
    svg = draw(found).svg
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    for part in ("max_j x", "exp(x)", "common_factor", ">dx<", ">de<", ">cotangent<"):
        assert part in svg


def test_the_picture_holds_every_box(found: Search) -> None:
    svg = draw(found).svg
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    assert size is not None
    boxes = re.findall(
        r'<rect class="[^"]+" x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"', svg
    )
    assert len(boxes) == len(found.saturation.classes.nodes)
    for x, y, width, height in (map(float, box) for box in boxes):
        assert x >= 0
        assert y >= 0
        assert x + width <= float(size[1])
        assert y + height <= float(size[2])


def test_text_is_escaped_and_law_edges_are_marked(tmp_path: Path, golden: Golden) -> None:
    made = picture(
        [
            Box("x<y", "i", (Line("x & y", "", ()),), root=False),
            Box("b", "", (Line("Σ_i x<y", "some_law", (0,)),), root=True),
        ]
    )
    assert "x &amp; y" in made.svg
    assert "x&lt;y" in made.svg
    assert made.svg.count('class="edge found"') == 1
    assert made.svg.count('class="class root"') == 1
    golden.check(made.svg, suffix=".svg")
    assert shown(made)["image/svg+xml"] == made.svg
    made.save(tmp_path / "graph.svg")
    assert (tmp_path / "graph.svg").read_text("utf-8") == made.svg


def test_nothing_can_be_drawn() -> None:
    assert ElementTree.fromstring(picture([]).svg).tag.endswith("svg")
