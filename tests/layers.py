"""Where each module stands, and what it imports, read from the sources without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = {"saturate": "saturate", "saturate.rules": "rules", "saturate.extract": "extract"}

LAYERS = (
    "errors attributes collecting op program build ops",
    "text json_form",
    "tracing trace",
    "autodiff split cse exact lift arguments grad",
    "facts bounds leaf_facts algebra unify denote alike normal zeroless",
    "signature analyses rules lawbook",
    "engine egraph matching saturation audit trial admission worth proof history notation nearest blame",
    "extract",
    "price step factors lattice lower",
    "target degrees cells orders forms products views ways emission search targeted scaled",
    "runners source",
    "passes",
    "samples observe perturb certificate measure yardstick differences check accuracy",
    "windows progress improve piecewise provenance log reporting",
    "replay assumed answers why asked optimized request searched record cache recall optimize rewrite many",
    "saturate",
    "layout draw table alternatives grounds explore demos workloads usage named law_command",
    "stopwatch cli __main__",
)
"""Low to high. A module or package imports only what stands before it, in its line or in an earlier one."""

OPS = (
    "elementwise constants arithmetic select spreading structure unary binary indexing reduction contraction"
)
"""The modules of `saturate.ops`, low to high; the package itself collects them."""

UPWARD = {
    ("program", "text"): "str(program) is its text, and text parses programs",
}
"""Imports inside a function that point up, each with its reason."""

ENGINES = {
    "egglog": {"engine"},
    "highspy": {"extract.highs_worker"},
    "ortools": {"extract.cpsat"},
    "typer": {"cli"},
}
"""Dependencies that few modules may know."""


@dataclass(frozen=True)
class Import:
    """One import of one module; `late` inside a function, `typed` for type checkers alone."""

    module: str
    imported: str
    line: int
    late: bool
    typed: bool


def modules() -> dict[str, Path]:
    """Every module of the package by its full name."""
    found: dict[str, Path] = {}
    for package, folder in FOLDERS.items():
        base = ROOT / folder
        for path in sorted(base.rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            if not any((base / Path(*parts[:k])).is_symlink() for k in range(1, len(parts))):
                found[".".join((package, *parts)).removesuffix(".__init__")] = path
    return found


def imports(name: str, source: str, known: set[str]) -> Iterator[Import]:
    """The imports of one module; `from saturate.ops import text` names a module where there is one."""
    yield from _walk(name, ast.parse(source), known, late=False, typed=False)


def _walk(name: str, tree: ast.AST, known: set[str], late: bool, typed: bool) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, alias.name, node.lineno, late, typed)
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            for module in dict.fromkeys(_named(origin, alias.name, known) for alias in node.names):
                yield Import(name, module, node.lineno, late, typed)
        else:
            inner = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            checked = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
            yield from _walk(name, node, known, late or inner, typed or checked)


def _named(origin: str, name: str, known: set[str]) -> str:
    return f"{origin}.{name}" if f"{origin}.{name}" in known else origin


def short(module: str) -> str:
    """The name inside the package: `ops.unary`, `rules.law`, `saturate` for the package's face."""
    return module.removeprefix("saturate.")


def layer(module: str) -> str:
    """The name under which a module stands in `LAYERS`."""
    return short(module).partition(".")[0]


def faults(found: list[Import], order: list[str]) -> list[str]:
    """Imports between layers that point up or at an unknown module, as sentences."""
    place = {name: k for k, name in enumerate(order)}
    said: list[str] = []
    for i in found:
        if i.typed or i.imported.partition(".")[0] != "saturate":
            continue
        above, below = layer(i.module), layer(i.imported)
        if above == below or (i.late and (above, below) in UPWARD):
            continue
        if above not in place or below not in place:
            missing = above if above not in place else below
            said.append(f"{missing} stands in no layer: give it a place in LAYERS")
        elif place[below] >= place[above]:
            said.append(f"{short(i.module)}:{i.line} imports {short(i.imported)}, which stands above it")
    return list(dict.fromkeys(said))


def circle(found: list[Import]) -> list[str]:
    """Modules that import one another in a circle when they load, in order; empty where there is none."""
    below: dict[str, list[str]] = {}
    for i in found:
        if not (i.typed or i.late) and i.imported != i.module:
            below.setdefault(i.module, []).append(i.imported)
    done: set[str] = set()
    for start in below:
        path: list[str] = []
        found_circle = _descend(start, below, done, path)
        if found_circle:
            return found_circle
    return []


def _descend(module: str, below: dict[str, list[str]], done: set[str], path: list[str]) -> list[str]:
    if module in path:
        return [*path[path.index(module) :], module]
    if module in done:
        return []
    path.append(module)
    for other in below.get(module, ()):
        met = _descend(other, below, done, path)
        if met:
            return met
    path.pop()
    done.add(module)
    return []
