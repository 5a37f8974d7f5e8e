"""How long `optimize` takes, cold, on one thread: small layers, and transformers of 1 to 24 blocks.

    python benchmarks/search.py [--layers 1,2,4,12,24] [--stages] [--workers 1]

`seconds` is the first call, `again` a second one, which takes its result from a cache that lasts as long as
this benchmark. Processor seconds of one process, so that other work on the machine counts little; the ratio
is that of the model's price before and after, `peak` the largest memory of the process until then. The time
of a search does not depend on sizes, that of measuring does: so the small layers come twice, with the small
sizes of `SMALL` and those of `saturate demo`, and transformers have the small sizes below. Set
`OMP_NUM_THREADS=1`: the threads of a BLAS that wait for work count as processor time too.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

import saturate as sat
from saturate.demos import DEMOS, gpt_arguments, gpt_loss

X, G, Q = sat.Type((64, 128), "float32"), sat.Type((128,), "float32"), sat.Type((4, 64, 32), "float32")
MASK = np.where(np.tri(64, dtype=bool), 0, -np.inf).astype("float32")
SMALL: dict[str, tuple[Any, ...]] = {
    "softmax": (X,),
    "layernorm": (X, G, G),
    "rmsnorm": (X, G),
    "attention": (sat.Type((64, 32), "float32"),) * 3,
    "causal-attention": (Q, Q, Q, MASK),
}
"""Demos with small arguments."""


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--layers", default="1,2,4,12,24", help="Blocks of the transformers.")
    options.add_argument("--stages", action="store_true", help="Seconds of the stages of the search too.")
    options.add_argument("--workers", type=int, default=1, help="Threads over windows.")
    chosen = options.parse_args()
    limits = sat.Limits(workers=chosen.workers)
    sat.optimize(DEMOS["mlp"].function, *DEMOS["mlp"].types)  # imports, and workers start
    print(f"{'program':23} {'seconds':>8} {'again':>6} {'ratio':>6} {'steps':>13} {'peak':>9}  check")
    for name, small in SMALL.items():
        demo = DEMOS[name]
        for title, types in ((f"{name}, small", small), (name, demo.types)):
            row(title, partial(sat.optimize, demo.function, *types, wrt=demo.wrt), chosen.stages)
    for count in map(int, filter(None, chosen.layers.split(","))):
        given = gpt_arguments(count, batch=2, length=16, width=32, inner=128, words=50, heads=4)
        row(
            f"gpt, {count} blocks",
            partial(sat.optimize, gpt_loss, *given, wrt=("blocks", "wu"), limits=limits),
            chosen.stages,
        )


def row(name: str, optimize: Callable[[], sat.Optimized], stages: bool) -> None:
    """One line: processor time, what was won, whether the check passed."""
    start = process_time()
    best = optimize()
    spent, start = process_time() - start, process_time()
    optimize()
    again = process_time() - start
    report: Any = best.report
    steps = f"{report.before.passes} → {report.after.passes}"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    passed = report.check is not None and report.check.passed
    times = f"{spent:8.2f} {again:6.2f}"
    print(f"{name:23} {times} {report.ratio:6.2f} {steps:>13} {peak:6.0f} MiB  {passed}", flush=True)
    if stages and report.saturation is not None:
        print("    " + ", ".join(f"{k} {v:.2f}" for k, v in report.saturation.seconds.items()))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SATURATE_CACHE"] = folder
        main()
