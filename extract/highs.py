"""HiGHS, in a process of its own that is started once, reused, and ended when it overruns its limit."""

from __future__ import annotations

import atexit
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from saturate.errors import ExtractionError
from saturate.extract import solver


class Highs:
    """The parent's side of `highs_worker`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def solve(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """The worker's reply; None where it had to be ended because it overran the limit.

        Threads are answered one after another. Raises ExtractionError (code `solver`) where the worker died
        of itself.
        """
        with self._lock:
            return self._solve(request, seconds)

    def _solve(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        process = self._running()
        replies: list[dict[str, Any]] = []
        stopped: list[bool] = []

        def ask() -> None:
            if process.stdin is None or process.stdout is None:
                raise ExtractionError("the HiGHS process has no pipes", code="solver")
            try:
                pickle.dump({**request, "seconds": seconds}, process.stdin)
                process.stdin.flush()
                replies.append(pickle.load(process.stdout))
            except (EOFError, BrokenPipeError, pickle.UnpicklingError) as error:
                if not stopped:
                    message = f"the HiGHS process ended with status {process.wait()}"
                    raise ExtractionError(message, code="solver") from error

        def stop() -> None:
            stopped.append(True)
            process.kill()

        try:
            solver.run(ask, stop, seconds)
        finally:
            if stopped:
                self.close()
        return replies[0] if replies else None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            script = Path(__file__).with_name("highs_worker.py")
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        return self._process

    def close(self) -> None:
        """End the process; the next request starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.communicate()


HIGHS = Highs()
atexit.register(HIGHS.close)
