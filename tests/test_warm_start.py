"""An extraction starts from the program that it improves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from lattices import searched

import saturate as sat
from saturate.demos import DEMOS
from saturate.extract import EXTRACTORS, Classes, Extraction
from saturate.extract.extraction import ordered, price
from saturate.search import Search, extract, followed


@pytest.fixture(scope="module")
def found() -> Search:
    demo = DEMOS["cross-entropy"]
    return searched(sat.grad(demo.function, *demo.types, wrt=demo.wrt))


def test_the_choice_goes_through_the_values_of_the_program(found: Search) -> None:
    own = {found.lattice_value(value) for value in found.baseline.types}
    mine = ordered(found.classes, followed(found, found.classes))
    tree = EXTRACTORS["tree"](found.classes).choice
    assert len(own & mine.keys()) >= len(own & tree.keys())
    assert len(mine.keys() - own) <= len(tree.keys() - own)


@pytest.mark.parametrize("extractor", sorted(EXTRACTORS))
def test_the_optimizer_hands_it_on_and_never_ends_above_it(
    found: Search, extractor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Mapping[int, int] | None] = []
    plain = EXTRACTORS[extractor]

    def noted(classes: Classes, **options: Any) -> Extraction:
        given.append(options["warm"])
        return plain(classes, **options)

    monkeypatch.setitem(EXTRACTORS, extractor, noted)
    start = followed(found, found.classes)
    best = extract(found, extractor)
    assert given == [start]
    assert best.cost <= price(found.classes, ordered(found.classes, start))


def test_the_seconds_of_a_search_bound_its_extractions(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    plain = EXTRACTORS["auto"]

    def noted(classes: Classes, **options: Any) -> Extraction:
        given.append(options["seconds"])
        return plain(classes, **options)

    monkeypatch.setitem(EXTRACTORS, "auto", noted)
    demo = DEMOS["softmax"]
    sat.optimize(demo.function, *demo.types, wrt=demo.wrt, limits=sat.Limits(seconds=77), check=False)
    assert given
    assert all(0 <= seconds < 77 for seconds in given)


def test_an_extraction_without_time_follows_the_program(found: Search) -> None:
    start = price(found.classes, ordered(found.classes, followed(found, found.classes)))
    assert extract(found, "auto", seconds=0.0).cost <= start
