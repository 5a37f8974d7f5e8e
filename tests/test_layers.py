"""Imports point down: the order of `layers.LAYERS`, read from the sources."""

from __future__ import annotations

import pytest
from layers import ENGINES, LAYERS, OPS, UPWARD, Import, circle, faults, imports, layer, modules, short

ORDER: list[str] = [name for line in LAYERS for name in line.split()]
MODULES = modules()
IMPORTS = [i for name, path in MODULES.items() for i in imports(name, path.read_text("utf-8"), set(MODULES))]


def test_every_layer_is_named_once_and_exists() -> None:
    assert len(ORDER) == len(set(ORDER))
    assert {layer(m) for m in MODULES} == set(ORDER)


def test_imports_point_down() -> None:
    assert len(IMPORTS) > 300
    assert faults(IMPORTS, ORDER) == []


def test_nothing_loads_in_a_circle() -> None:
    assert circle(IMPORTS) == []


def test_every_exception_is_needed() -> None:
    late = {(layer(i.module), layer(i.imported)) for i in IMPORTS if i.late}
    assert set(UPWARD) <= late


def test_ops_import_one_way() -> None:
    order: list[str] = [*OPS.split()]
    inside = {short(m).removeprefix("ops.") for m in MODULES if m.startswith("saturate.ops.")}
    assert inside == set(order)
    upward = [
        f"{i.module} imports {i.imported}"
        for i in IMPORTS
        if i.module.startswith("saturate.ops.") and i.imported.startswith("saturate.ops.") and not i.typed
        if order.index(i.imported.rpartition(".")[2]) >= order.index(i.module.rpartition(".")[2])
    ]
    assert upward == []


def test_extract_knows_nothing_of_programs() -> None:
    """It gets what it needs as values and callables, so it works on any e-graph."""
    outside = {
        i.imported
        for i in IMPORTS
        if layer(i.module) == "extract"
        and i.imported.startswith("saturate")
        and layer(i.imported) != "extract"
    }
    assert outside == {"saturate.errors", "saturate.collecting"}


def test_nothing_imports_the_face_of_the_package() -> None:
    assert [i.module for i in IMPORTS if i.imported == "saturate" and layer(i.module) != "saturate"] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_is_known_in_one_place(engine: str) -> None:
    assert {short(i.module) for i in IMPORTS if i.imported.partition(".")[0] == engine} == ENGINES[engine]


KNOWN = {"saturate", "saturate.op", "saturate.ops", "saturate.ops.unary", "saturate.search", "saturate.new"}


def planted(module: str, source: str) -> list[Import]:
    return list(imports(module, source, KNOWN))


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("saturate.op", "from saturate.ops import unary", "op:1 imports ops.unary, which stands above it"),
        ("saturate.op", "import saturate.search", "op:1 imports search, which stands above it"),
        (
            "saturate.op",
            "def f():\n    from saturate import search",
            "op:2 imports search, which stands above it",
        ),
        ("saturate.new", "from saturate.op import Op", "new stands in no layer: give it a place in LAYERS"),
    ],
)
def test_a_planted_fault_is_named(module: str, source: str, said: str) -> None:
    assert faults(planted(module, source), ORDER) == [said]


def test_type_checkers_may_look_up() -> None:
    source = "if TYPE_CHECKING:\n    from saturate.search import Search"
    assert faults(planted("saturate.op", source), ORDER) == []


def test_a_planted_circle_is_named() -> None:
    found = planted("saturate.op", "import saturate.search") + planted(
        "saturate.search", "import saturate.op"
    )
    assert circle(found) == ["saturate.op", "saturate.search", "saturate.op"]
