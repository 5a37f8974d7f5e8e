"""The nightly: random programs through the whole road with the default limits; ends with 1 where one fails.

    python benchmarks/fuzz.py                 2,000 programs, seeds 0 to 1,999
    python benchmarks/fuzz.py 2000 2100       other seeds
    python benchmarks/fuzz.py --seconds 3600  as many as fit

A program fails where optimizing raises, where the result is dearer than the baseline, or where the check
refuses it, at the end or on eight more samples. What fails is printed as text that `saturate.parse` reads:
make it small, and keep it in tests/test_once_wrong.py.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from random import Random

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "SATURATE_CACHE": "off"})
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from fuzz_programs import fuzz_program

import saturate as sat
from saturate.program import Program


def fault(program: Program) -> str:
    """What is wrong with optimizing the program; empty where nothing is."""
    try:
        best = sat.optimize(program)
        again = best.check(trials=8, seed=1)
    except Exception as error:  # whatever it is, it is the finding
        return f"{type(error).__name__}: {error}"
    if best.report.after.cost > best.report.before.cost:
        return "the result is dearer than the baseline"
    refused = [note for note in best.report.notes if "refused" in note]
    return "; ".join(refused) if refused else "" if again.passed else str(again)


def main() -> int:
    """Run the programs, print what fails, and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("last", type=int, nargs="?", default=2000)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    start, failed, count = time.perf_counter(), 0, 0
    for seed in range(given.first, given.last):
        if time.perf_counter() - start > given.seconds:
            break
        program, count = fuzz_program(Random(seed), f"fuzz{seed}"), count + 1
        wrong = fault(program)
        if wrong:
            failed += 1
            print(f"seed {seed}: {wrong}\n{program}", flush=True)
    print(f"{count} programs, {failed} failed, {time.perf_counter() - start:.0f} s")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
