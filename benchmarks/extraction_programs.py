"""Extraction of our own programs: the windows of a GPT of one and of four layers, equal ones once.

    python benchmarks/extraction_programs.py [--layers 1 4] [--seconds 60]

For each window of the first search: what the optimizer's own call finds, with its processor time, and what
the portfolio finds within `--seconds`. `gap` is how far the first costs above the second, and `above bound`
how far it can be above the optimum by its own bound.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator

import saturate as sat
from saturate.demos import gpt_arguments, gpt_loss
from saturate.extract import EXTRACTORS
from saturate.search import Search, extract

SIZES = {"batch": 8, "length": 128, "width": 256, "inner": 1024, "words": 512, "heads": 4}
HEADER = (
    f"{'layers':>6} {'window':>6} {'classes':>7} {'nodes':>6} {'cpu s':>6} {'cost':>14} {'bound':>14} "
    f"{'above bound':>11} {'long cost':>14} {'gap':>9}"
)


def searches(layers: int) -> Iterator[Search]:
    """The first search of each window that is not equal to one before."""
    best = sat.optimize(gpt_loss, *gpt_arguments(layers, **SIZES), wrt=("x", "blocks", "wu"), check=False)
    seen: set[int] = set()
    for part in best.behind().parts:
        if id(part.improved) not in seen and part.improved.passes:
            seen.add(id(part.improved))
            yield part.improved.passes[0].search


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of the long run; 0 leaves it out")
    arguments = parser.parse_args()
    print(HEADER)
    for layers in arguments.layers:
        whole = 0.0
        for k, found in enumerate(searches(layers)):
            extract(found, "auto")  # solvers are imported when they are first needed
            start = time.process_time()
            ours = extract(found, "auto")
            spent = time.process_time() - start
            whole += spent
            long, gap = "", ""
            if arguments.seconds:
                best = EXTRACTORS["auto"](found.classes, seconds=arguments.seconds)
                long, gap = f"{best.cost:14.0f}", f"{ours.cost / best.cost - 1:9.4%}"
            nodes = sum(map(len, found.classes.nodes))
            print(
                f"{layers:6} {k:6} {len(found.classes):7} {nodes:6} {spent:6.2f} "
                f"{ours.cost:14.0f} {ours.lower_bound:14.0f} {ours.cost / ours.lower_bound - 1:11.3%} "
                f"{long:>14} {gap:>9}",
                flush=True,
            )
        print(f"{layers:6} layers: {whole:.2f} s of processor time for one extraction of each window")


if __name__ == "__main__":
    os.environ["SATURATE_CACHE"] = "off"
    main()
