"""A process that solves linear programs with HiGHS; it knows nothing of extraction.

It runs alone because the wheels of highspy and of ortools carry two versions of one library, of which a
process can load only the first. Requests and replies are pickled dicts on stdin and stdout. Run as a script,
never imported.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any

import highspy
import numpy as np

OPTIONS = {"threads": 1, "mip_rel_gap": 0.0, "mip_abs_gap": 1e-9}


def load(request: dict[str, Any]) -> Any:
    """A solver that holds the program: `costs`, `lower`, `upper`, `integer` by column, sparse rows with
    upper sides.
    """
    lp = highspy.HighsLp()
    lp.num_col_ = len(request["costs"])
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = request["costs"], request["lower"], request["upper"]
    kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    lp.integrality_ = [kinds[bool(integer)] for integer in request["integer"]]
    lp.num_row_ = len(request["row_upper"])
    lp.row_lower_, lp.row_upper_ = request["row_lower"], request["row_upper"]
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_, lp.a_matrix_.index_ = request["starts"], request["index"]
    lp.a_matrix_.value_ = request["value"]
    engine = highspy.Highs()
    engine.silent()
    for name, value in {**OPTIONS, "time_limit": request["seconds"]}.items():
        engine.setOptionValue(name, value)
    if engine.passModel(lp) == highspy.HighsStatus.kError:
        raise ValueError("HiGHS refused the program")
    return engine


def solve(request: dict[str, Any]) -> dict[str, Any]:
    """`optimal`, `objective`, `bound`, and `values` (None where no feasible point was found)."""
    engine = load(request)
    engine.run()
    info = engine.getInfo()
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    return {
        "optimal": engine.getModelStatus() == highspy.HighsModelStatus.kOptimal,
        "objective": info.objective_function_value,
        "bound": info.mip_dual_bound if any(request["integer"]) else info.objective_function_value,
        "values": np.array(engine.getSolution().col_value) if feasible else None,
    }


def main() -> None:
    """Answer requests until the input ends. Ctrl-C is for the parent, which ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(solve(request), replies)
        replies.flush()


if __name__ == "__main__":
    main()
