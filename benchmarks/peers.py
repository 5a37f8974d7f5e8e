"""The README's table: value and gradients of the demos by saturate and by what people use instead.

One thread each. It needs the extra `peers`; names of demos as arguments choose rows.
"""

from __future__ import annotations

import os

os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import getsource
from typing import Any

import autograd
import autograd.numpy
import jax
import jax.numpy
import numpy as np

import saturate as sat
from saturate.demos import DEMOS, Demo
from saturate.optimize import Optimized
from saturate.runners import RUNNERS
from saturate.samples import samples
from saturate.stopwatch import seconds

Arrays = Sequence[Any]


def rebound(demo: Demo, namespace: Any) -> Callable[..., Any]:
    """The demo's function over another NumPy-like namespace."""
    scope: dict[str, Any] = {"np": namespace, "Array": Any, "__name__": demo.function.__module__}
    exec("from __future__ import annotations\n" + getsource(demo.function), scope)
    function: Callable[..., Any] = scope[demo.function.__name__]
    return function


def with_autograd(demo: Demo, wrt: tuple[int, ...], arrays: Arrays, cotangent: Any) -> Callable[[], object]:
    """One derivative an op, run op by op."""
    function = rebound(demo, autograd.numpy)

    def of(*chosen: Any) -> Any:
        given = list(arrays)
        for k, array in zip(wrt, chosen, strict=True):
            given[k] = array
        return function(*given)

    def call() -> object:
        pull, value = autograd.make_vjp(lambda chosen: of(*chosen))(tuple(arrays[k] for k in wrt))
        return value, pull(cotangent)

    return call


def with_jax(demo: Demo, wrt: tuple[int, ...], arrays: Arrays, cotangent: Any) -> Callable[[], object]:
    """`jax.jit` of value and gradients."""
    function = rebound(demo, jax.numpy)

    @jax.jit
    def both(given: Any, g: Any) -> Any:
        value, pull = jax.vjp(function, *given)
        gradients = pull(g)
        return value, tuple(gradients[k] for k in wrt)

    on_device = [jax.numpy.asarray(a) for a in arrays]
    g = jax.numpy.asarray(cotangent)
    return lambda: jax.block_until_ready(both(on_device, g))


def source_with_jax(best: Optimized, arrays: Arrays, cotangent: Any) -> Callable[[], object]:
    """`jax.jit` of the source that saturate wrote, over JAX's namespace."""
    scope: dict[str, Any] = {}
    exec(best.source().replace("import numpy as np", "import jax.numpy as np"), scope)
    both = jax.jit(scope["value_and_gradients"])
    needs = any(i.name == "cotangent" for i in best.program.inputs)
    given = [jax.numpy.asarray(a) for a in (*arrays, *([cotangent] if needs else []))]
    return lambda: jax.block_until_ready(both(*given))


def row(demo: Demo) -> Mapping[str, float]:
    """Shortest times in seconds by system."""
    best = sat.optimize(demo.function, *demo.types, wrt=demo.wrt)
    drawn = samples(best.baseline.inputs, 0, 1, None)[0].arrays
    arrays = drawn[: len(demo.types)]
    cotangent = drawn[len(demo.types)] if len(drawn) > len(demo.types) else np.float32(1.0)
    names = [i.name for i in best.baseline.inputs]
    wrt = tuple(names.index(n) for n in demo.wrt)
    runners = {name: RUNNERS["numpy"](p) for name, p in (("before", best.baseline), ("after", best.program))}
    calls: dict[str, Callable[[], object]] = {
        "autograd": with_autograd(demo, wrt, arrays, cotangent),
        "saturate, before": lambda: runners["before"](*drawn),
        "saturate": lambda: runners["after"](*drawn),
        "jax.jit": with_jax(demo, wrt, arrays, cotangent),
        "jax.jit of its source": source_with_jax(best, arrays, cotangent),
    }
    return dict(zip(calls, seconds(list(calls.values()), budget=4.0, rounds=400), strict=True))


def main() -> None:
    """Print the table in milliseconds."""
    alone = [d.name for d in DEMOS.values() if not d.beside and all(isinstance(t, sat.Type) for t in d.types)]
    chosen = sys.argv[1:] or alone
    for k, name in enumerate(chosen):
        times = row(DEMOS[name])
        if k == 0:
            print(f"| ms | {' | '.join(times)} |\n|---|{'--:|' * len(times)}")
        print(f"| {name} | {' | '.join(f'{1e3 * s:.2f}' for s in times.values())} |", flush=True)


main()
