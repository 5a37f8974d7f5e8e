from __future__ import annotations

import os
from pathlib import Path

import pytest
from golden_files import FOLDER, Golden, stem

os.environ["SATURATE_CACHE"] = "off"
"""Tests search; those of the cache turn it on for themselves."""

STEMS = pytest.StashKey[set[str] | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="write the golden files of the tests that run anew")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    modules = {item.path for item in items}
    whole = modules >= set(Path(__file__).parent.glob("test_*.py")) and not any(
        "::" in a for a in config.args
    )
    readers = (x for x in items if isinstance(x, pytest.Function) and "golden" in x.fixturenames)
    config.stash[STEMS] = {stem(x.path.stem, x.name) for x in readers} if whole else None


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """The golden file of the test that asks for it."""
    return Golden(
        FOLDER, stem(request.path.stem, request.node.name), bool(request.config.getoption("--regen"))
    )


@pytest.fixture
def golden_stems(request: pytest.FixtureRequest) -> set[str]:
    """The golden files of all tests; known only where the whole suite was collected."""
    stems = request.config.stash[STEMS]
    if stems is None:
        pytest.skip("only a run of the whole suite knows every golden file")
    return stems
