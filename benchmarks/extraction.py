"""Extraction on public e-graphs: one line a graph, and a summary.

    python benchmarks/extraction.py GRAPHS [--seconds 10] [--only WORD] [--method auto] [--json FILE]
        [--processor]
    python benchmarks/extraction.py --families [--seconds 10] [--only WORD] [--method auto]

GRAPHS is a folder of egraph-serialize files, with `best-known.json` in it where bounds are known. With
`--processor`, limits and times are processor seconds of this process, for machines that others use too; HiGHS
runs in another process and is not counted. With `--families`, the large graphs are made that limits are hard
to keep on: chains, rings and cycles of free nodes, 1,400 roots.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from saturate.extract import EXTRACTORS, Classes, clock, read

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from test_extract_large import chain, many_roots, rings, zero_cycles

FAMILIES: dict[str, Callable[[], Classes]] = {
    "chain of 4,000 classes": lambda: chain(4_000),
    "chain of 40,000 classes": lambda: chain(40_000),
    "free nodes in cycles, 39,000": lambda: zero_cycles(13_000),
    "free nodes in rings, 20,000": lambda: rings(10_000),
    "1,400 roots, 40,000 nodes": lambda: many_roots(12_000, 1_400),
}

HEADER = f"{'file':62} {'nodes':>6} {'cost':>10} {'ub':>10} {'lb':>10} {'known lb':>10} proven {'s':>6}"


def measure(folder: Path, path: Path, known: dict[str, Any], method: str, seconds: float) -> dict[str, Any]:
    """One graph: what was found, what is known, and how long the call took."""
    name = str(path.relative_to(folder)).removesuffix(".gz")
    classes = read(path)
    start = clock.now()
    found = EXTRACTORS[method](classes, seconds=seconds)
    elapsed = clock.now() - start
    best = known.get(name, {})
    return {
        "file": name,
        "nodes": sum(map(len, classes.nodes)),
        "cost": found.cost,
        "ub": best.get("ub"),
        "lower_bound": found.lower_bound,
        "known_lb": best.get("lb"),
        "known_proven": best.get("proven", False),
        "proven": found.proven,
        "seconds": elapsed,
        "method": found.method,
    }


def line(row: dict[str, Any]) -> str:
    """A row of the table."""
    ub, lb = (f"{value:10.4f}" if value is not None else f"{'':10}" for value in (row["ub"], row["known_lb"]))
    proven = "yes" if row["proven"] else "no"
    return (
        f"{row['file'][-62:]:62} {row['nodes']:6} {row['cost']:10.4f} {ub} {row['lower_bound']:10.4f} {lb} "
        f"{proven:6} {row['seconds']:6.2f}"
    )


def families(method: str, seconds: float, only: str) -> None:
    """A line for each large graph: what was found and where the time went."""
    for name, make in FAMILIES.items():
        if only in name:
            classes = make()
            start, cpu = time.perf_counter(), time.process_time()
            found = EXTRACTORS[method](classes, seconds=seconds)
            wall, cpu = time.perf_counter() - start, time.process_time() - cpu
            late = " LATE" * (wall > 1.1 * seconds)
            print(
                f"{name:30} {found.cost:10.2f} {found.lower_bound:10.2f} {wall:6.2f} s, cpu {cpu:.2f} s{late}"
            )
            print(" " * 30, ", ".join(f"{k} {v:.2f}" for k, v in found.times.items()), flush=True)


def summary(rows: list[dict[str, Any]], limit: float) -> str:
    """What the issue asks of all graphs together."""
    compared = [row for row in rows if row["ub"] is not None]
    above = [row["file"] for row in compared if row["cost"] > row["ub"] * (1 + 1e-9)]
    below = [row["file"] for row in compared if row["cost"] < row["known_lb"] * (1 - 1e-9)]
    better = [row["file"] for row in compared if row["cost"] < row["ub"] * (1 - 1e-9)]
    missing = [row["file"] for row in compared if row["known_proven"] and not row["proven"]]
    late = [row["file"] for row in rows if row["seconds"] > 1.1 * limit]
    times = [row["seconds"] for row in rows]
    return "\n".join(
        [
            f"{len(rows)} graphs, limit {limit:g} s: {sum(row['proven'] for row in rows)} proved optimal",
            f"seconds a graph: median {statistics.median(times):.3f}, mean {statistics.mean(times):.3f}, "
            f"largest {max(times):.2f}",
            f"of {len(compared)} with known bounds: above ub {above}, below lb {below}, below ub {better}",
            f"proven before and not now {missing}",
            f"over the limit by more than 10 % {late}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("graphs", type=Path, nargs="?")
    parser.add_argument("--families", action="store_true", help="large graphs made here instead of files")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", default="", help="only files with this in their path")
    parser.add_argument("--method", default="auto", choices=sorted(EXTRACTORS))
    parser.add_argument("--processor", action="store_true", help="limits and times in processor seconds")
    parser.add_argument("--json", type=Path, help="write the rows here, too")
    arguments = parser.parse_args()
    if arguments.processor:
        clock.now = time.process_time
    if arguments.families:
        families(arguments.method, arguments.seconds, arguments.only)
        return
    if arguments.graphs is None:
        parser.error("name a folder of graphs, or --families")
    table = arguments.graphs / "best-known.json"
    known = json.loads(table.read_text()) if table.exists() else {}
    paths = sorted(path for path in arguments.graphs.rglob("*.json*") if path != table)
    rows: list[dict[str, Any]] = []
    print(HEADER)
    for path in paths:
        if arguments.only in str(path):
            rows.append(measure(arguments.graphs, path, known, arguments.method, arguments.seconds))
            print(line(rows[-1]), flush=True)
    print(summary(rows, arguments.seconds))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
