"""What `saturate extract` prints for a file."""

from __future__ import annotations

import json
from pathlib import Path

from saturate.extract.auto import auto
from saturate.extract.classes import Classes
from saturate.extract.extraction import Extraction
from saturate.extract.read import read


def extract_command(path: str | Path, seconds: float, as_json: bool) -> str:
    """The best extraction of an egraph-serialize file found within the limit, as JSON or as text."""
    classes = read(path)
    found = auto(classes, seconds=seconds)
    return _json(classes, found) if as_json else _text(classes, found)


def _json(classes: Classes, found: Extraction) -> str:
    """One object; `choice` maps the name of each needed class to the name of its node, children first."""
    chosen = {classes.names[c]: classes.nodes[c][i].name for c, i in found.choice.items()}
    result = {
        "cost": found.cost,
        "lower_bound": found.lower_bound,
        "proven": found.proven,
        "method": found.method,
        "bound_by": found.bound_by,
        "seconds": found.seconds,
        "roots": [classes.names[root] for root in classes.roots],
        "choice": chosen,
    }
    return json.dumps(result, indent=1)


def _text(classes: Classes, found: Extraction) -> str:
    """The figures, then a line for each chosen node, children first."""
    gap = found.cost - found.lower_bound
    status = "proved optimal" if found.proven else f"at most {gap / found.cost:.1%} above the optimum"
    lines = [
        f"cost         {found.cost:.12g} ({status})",
        f"lower bound  {found.lower_bound:.12g}, from {found.bound_by}",
        f"found by     {found.method}, {found.seconds:.2f} s",
        f"chosen       {len(found.choice)} of {len(classes)} classes",
        "",
    ]
    for c, i in found.choice.items():
        node = classes.nodes[c][i]
        operands = " ".join(classes.names[d] for d in node.children)
        lines.append(f"{classes.names[c]} = {node.op} {operands}".rstrip() + f"    [{node.cost:.6g}]")
    return "\n".join(lines)
