"""How expressions over NumPy are spelled for another array library."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

REDUCTIONS = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}
SCANS = {"add": "cumsum", "multiply": "cumprod"}


@dataclass(frozen=True)
class Style:
    """The import lines of a library, the name that it goes by, and its spelling of an expression."""

    name: str
    module: str
    imports: str
    special: str
    spell: Callable[[ast.AST], ast.AST]

    def text(self, source: str) -> str:
        """Python text over `np`, spelled for the library."""
        if self.module == "np":
            return source
        printed = ast.unparse(self.spell(ast.parse(source)))
        return printed if '"' in printed else printed.replace("'", '"')


class _Cupy(ast.NodeTransformer):
    """`cp` for `np`; functions for the methods of ufuncs, since `cp.maximum` has no `reduce`; no `vecdot`."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(ast.Name("cp", node.ctx), node) if node.id == "np" else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        match node.func:
            case ast.Attribute(ast.Attribute(ast.Name("np"), ufunc), "reduce") if ufunc in REDUCTIONS:
                node = _call(REDUCTIONS[ufunc], node.args, node.keywords)
            case ast.Attribute(ast.Attribute(ast.Name("np"), ufunc), "accumulate") if ufunc in SCANS:
                node = _call(SCANS[ufunc], node.args, node.keywords)
            case ast.Attribute(ast.Name("np"), "vecdot"):
                node = _call("einsum", [ast.Constant("...i,...i->..."), *node.args], node.keywords)
            case _:
                pass
        return ast.fix_missing_locations(self.generic_visit(node))  # type: ignore[return-value]


def _call(function: str, args: list[ast.expr], keywords: list[ast.keyword]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("np", ast.Load()), function, ast.Load()), args, keywords)


STYLES: dict[str, Style] = {
    "numpy": Style("numpy", "np", "import numpy as np", "from scipy import special", lambda tree: tree),
    "cupy": Style(
        "cupy", "cp", "import cupy as cp", "from cupyx.scipy import special", lambda tree: _Cupy().visit(tree)
    ),
}
"""The styles of emitted source by name."""
