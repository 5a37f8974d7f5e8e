"""What `saturate extract` prints for a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from saturate.extract import EXTRACTORS
from saturate.extract.classes import Classes
from saturate.extract.clock import Stopwatch
from saturate.extract.extraction import Extraction
from saturate.extract.read import read

LEAST_SHOWN = 0.005
"""Seconds of a stage that are worth a word."""


def extract_command(path: str | Path, seconds: float, as_json: bool) -> str:
    """The best extraction of an egraph-serialize file found within the limit, as JSON or as text."""
    watch = Stopwatch("file")
    classes = read(path)
    file = watch.seconds()
    found = EXTRACTORS["auto"](classes, seconds=seconds)
    found = replace(found, times={**file, **found.times})
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
        "times": dict(found.times),
        "roots": [classes.names[root] for root in classes.roots],
        "choice": chosen,
    }
    return json.dumps(result, indent=1)


def _stages(found: Extraction) -> str:
    """The time of each stage, the longest first."""
    most = sorted(found.times.items(), key=lambda stage: -stage[1])
    return ", ".join(f"{stage} {spent:.2f}" for stage, spent in most if spent >= LEAST_SHOWN) or "no stage"


def _gap(found: Extraction) -> str:
    """How far the cost can be above the optimum."""
    if found.lower_bound <= 0:
        return "no lower bound above zero is known"
    return f"at most {found.cost / found.lower_bound - 1:.1%} above the optimum"


def _text(classes: Classes, found: Extraction) -> str:
    """The figures, then a line for each chosen node, children first."""
    status = "proved optimal" if found.proven else _gap(found)
    lines = [
        f"cost         {found.cost:.12g} ({status})",
        f"lower bound  {found.lower_bound:.12g}, from {found.bound_by}",
        f"found by     {found.method}",
        f"seconds      {found.seconds:.2f}: {_stages(found)}",
        f"chosen       {len(found.choice)} of {len(classes)} classes",
        "",
    ]
    for c, i in found.choice.items():
        node = classes.nodes[c][i]
        operands = " ".join(classes.names[d] for d in node.children)
        lines.append(f"{classes.names[c]} = {node.op} {operands}".rstrip() + f"    [{node.cost:.6g}]")
    return "\n".join(lines)
