"""What would be refused if every e-node had to be accurate by itself, next to what the whole program shows.

    python benchmarks/admission.py [workload ...]

For each workload in float32: the e-nodes after its first search; how many of them have, on a hostile sample,
a local error (the node on operands that are exact but for one rounding) above four times that of the best
node of their class plus 16 units in the last place of its scale; how many of those stand in the user's own
program; and how many steps the measure of whole programs barred. `docs/decisions.md` draws the conclusion.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

import numpy as np

import saturate as sat
from saturate.audit import narrowed, node_value, worths
from saturate.egraph import TermClasses
from saturate.leaf_facts import input_facts
from saturate.measure import distance, scale
from saturate.op import AnyArray
from saturate.ops.constants import Constant
from saturate.rules import CATALOGUE
from saturate.samples import samples
from saturate.saturation import Limits
from saturate.search import search
from saturate.workloads import WORKLOADS, Workload

FACTOR, ULPS = 4.0, 16.0
EPS = float(np.finfo("float32").eps)

Node = tuple[int, int]
"""A class and the position of a node in it."""


def main() -> None:
    """Print the table and its sums."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("workloads", nargs="*", help="Names; all where none is given.")
    wanted = options.parse_args().workloads
    rows = {w.name: row(w.with_dtype("float32")) for w in WORKLOADS if not wanted or w.name in wanted}
    rows["all"] = np.sum(list(rows.values()), axis=0)
    print(f"{'workload':28} {'nodes':>6} {'refused':>8} {'own':>4} {'barred':>7}")
    for name, figures in rows.items():
        print("{:28} {:6} {:8} {:4} {:7}".format(name, *figures))


def row(workload: Workload) -> AnyArray:
    """E-nodes, those that are refused, those of the program among them, steps barred by the whole."""
    program = sat.grad(workload.function, *workload.types, wrt=workload.wrt)
    found = search(program, CATALOGUE, Limits(), {i.value: input_facts(i.type) for i in program.inputs})
    classes = found.saturation.classes
    refused: set[Node] = set()
    for sample in samples(program.inputs, 0, 8):
        leaves = {i.name: np.asarray(a) for i, a in zip(program.inputs, sample.arrays, strict=True)}
        leaves |= {name: op.array.value for name, op in found.constants.items() if isinstance(op, Constant)}
        with np.errstate(all="ignore"):
            refused |= inaccurate(classes, leaves)
    own = sum(classes.nodes[c][k].law == "program" for c, k in refused)
    best = sat.optimize(workload.function, *workload.types, wrt=workload.wrt, check=False)
    price = best.report.accuracy
    barred = len(price.barred) if price else 0
    return np.array([sum(map(len, classes.nodes)), len(refused), own, barred])


def inaccurate(classes: TermClasses, leaves: Mapping[str, AnyArray]) -> set[Node]:
    """The nodes whose local error is above what the best of their class allows."""
    exact = worths(classes, {name: np.asarray(a, "float64") for name, a in leaves.items()})
    refused: set[Node] = set()
    for number, true in exact.items():
        if np.dtype(classes.dtype[number]).kind == "f":
            errors = {
                (number, k): error
                for k in range(len(classes.nodes[number]))
                if (error := local_error(classes, (number, k), exact)) is not None
            }
            allowed = FACTOR * min(errors.values(), default=0.0) + ULPS * EPS * scale(true)
            refused |= {node for node, error in errors.items() if error > allowed}
    return refused


def local_error(classes: TermClasses, at: Node, exact: Mapping[int, AnyArray]) -> float | None:
    """How far a node is from its class on operands rounded once; None where it has none to round."""
    number, k = at
    node, true = classes.nodes[number][k], exact[number]
    if not node.args or not all(a in exact for a in node.args):
        return None
    operands = [exact[a].astype(classes.dtype[a]) for a in node.args]
    value, free = node_value(node.kind, node.head, operands, [classes.free[a] for a in node.args], {})
    mine = narrowed(np.asarray(value, "float32"), free, classes.free[number])
    lost = np.isfinite(true) & ~np.isfinite(mine)
    return float("inf") if np.any(lost) else distance(true, mine)


if __name__ == "__main__":
    os.environ["SATURATE_CACHE"] = "off"
    main()
