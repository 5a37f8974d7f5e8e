"""What cannot be traced: the whole message of each refusal, and NumPy's own errors let through."""

from __future__ import annotations

import copy
import inspect
import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from refused_arrays import ARRAYS_REFUSED
from refused_common import CONST, CONVERTS, LIST, PLAIN, SCALAR, VALUES
from refused_values import VALUES_REFUSED
from trace_cases import agree, case, error_of, run

from saturate.errors import TraceError
from saturate.trace import trace
from saturate.tracing.advice import ADVICE

REFUSED = VALUES_REFUSED | ARRAYS_REFUSED


def line_of(f: Callable[..., Any]) -> int:
    """The line of the function that is marked, or its first."""
    lines, first = inspect.getsourcelines(f)
    marked = [k for k, line in enumerate(lines) if "# here" in line]
    return first + marked[0] if marked else f.__code__.co_firstlineno


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    f, message = REFUSED[name]
    constants = copy.deepcopy((CONST, LIST))
    with pytest.raises(TraceError) as error:
        trace(f, np.array([0.5, 1.5, 2.5]))
    assert str(error.value) == f"{inspect.getsourcefile(f)}:{line_of(f)}: {message}"
    assert error.value.code == "trace"
    assert str((CONST, LIST)) == str(constants)


def test_without_source_the_place_is_still_named() -> None:
    scope: dict[str, Any] = {"np": np, "math": math}
    exec("def f(x):\n    y = x + 1\n    return math.exp(y)\n\ndef g(x):\n    return np.asarray(x)", scope)
    for name, message in {
        "f": f"<string>:3: float(t) cannot be traced: {VALUES}. {SCALAR}",
        "g": f"<string>:6: np.asarray(t) cannot be traced: {CONVERTS}. {PLAIN}",
    }.items():
        with pytest.raises(TraceError) as error:
            trace(scope[name], np.ones(3))
        assert str(error.value) == message


def test_a_refusal_ends_a_command_at_once() -> None:
    code = "import numpy as np; from saturate.trace import trace; trace(lambda x: x[x > 0], np.ones(3))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].startswith("saturate.errors.TraceError: <string>:1: x[mask] with a")


def test_a_refusal_that_a_library_hides_is_raised_itself() -> None:
    def f(x: Any) -> Any:
        try:
            return float(x[0])
        except Exception as error:
            raise RuntimeError("something failed") from error

    with pytest.raises(TraceError, match="float"):
        trace(f, np.ones(3))


ADVISED = {
    **{f"np.{name}": 1 for name in "arcsin arccos arcsinh arctanh nansum nanmean nanmax nanmin".split()},
    **{f"scipy.special.{name}": 1 for name in "ndtr erfc logit log_expit entr".split()},
    **{f"scipy.special.{name}": 1 for name in "softmax log_softmax logsumexp".split()},
    "np.copysign": 2,
    "scipy.special.rel_entr": 2,
}
"""Functions for which a refusal shows a form, with their numbers of arguments."""


@pytest.mark.parametrize("name", ADVISED)
def test_the_form_that_a_refusal_shows(name: str) -> None:
    """It traces, and computes what was refused."""
    *steps, form = ADVICE[name][1].removeprefix("Write ").split("; ")
    x, y = (np.random.default_rng(k).uniform(0.1, 0.9, (3, 5)) for k in (0, 1))
    scope: dict[str, Any] = {"np": np, "scipy": scipy}

    def written(x: Any, y: Any) -> Any:
        here = scope | {"x": x, "y": y}
        for step in steps:
            exec(step, here)
        return eval(form, here)

    plain = eval(name, scope)
    options = {"axis": -1} if ("max" in name and "scipy" in name) or name.endswith("logsumexp") else {}
    found = run(trace(written, x, y), x, y)[0]
    np.testing.assert_allclose(found, plain(*(x, y)[: ADVISED[name]], **options), rtol=1e-14)


NUMPY_ERRORS = """
x + w ; np.add(x, u) ; x @ x ; x @ s ; v @ u ; np.dot(x, x) ; np.dot(v, u) ; np.inner(x, w) ; np.vdot(x, u) ;
np.tensordot(x, x, 1) ; np.tensordot(x, w, ([0], [0])) ; np.tensordot(x, w, ([0, 1], [0])) ; np.vecdot(x, w) ;
np.sum(x, axis=2) ; np.sum(x, axis=(0, 0)) ; np.max(x, axis=-3) ; x.mean(axis=5) ; np.var(x, axis=2) ;
np.std(x, axis=(1, 1)) ; np.argmax(x, axis=2) ; np.argmax(x, axis=(0, 1)) ; np.cumsum(x, axis=4) ; np.max(e) ;
np.max(e, axis=0) ; np.argmin(e) ; np.any(x, axis=3) ; np.mean(x, axis='a') ; x.var(axis=1.5) ;
np.max(x, where=m) ; np.reshape(x, (4, 4)) ; x.reshape(2, -1) ; x.reshape(-1, -1) ; x.reshape(3, 5, 'a') ;
np.transpose(x, (0, 0)) ; x.transpose(0) ; np.swapaxes(x, 0, 2) ; np.moveaxis(x, 0, 3) ; v.mT ;
np.expand_dims(x, 5) ; np.squeeze(x, 0) ; x.squeeze(axis=3) ; np.broadcast_to(x, (4, 5)) ; np.flip(x, 2) ;
np.broadcast_to(x, (5,)) ; np.broadcast_arrays(x, w) ; np.rollaxis(x, 4) ; np.matrix_transpose(v) ;
np.rot90(v) ;
np.concatenate([x, w]) ; np.concatenate([x, v]) ; np.concatenate([s, s]) ; np.concatenate([x, y], axis=2) ;
np.stack([x, w]) ; np.stack([x, y], axis=4) ; np.vstack([x, w]) ; np.hstack([x, w]) ;
np.column_stack([x, v]) ;
np.split(x, 2) ; np.split(x, 2, axis=3) ; np.array_split(x, 0) ; np.hsplit(s, 2) ; np.dsplit(x, 5) ;
np.unstack(s) ; np.tile(x, -1) ; np.repeat(x, -1) ; np.repeat(x, [1, 2]) ; np.repeat(x, 2, axis=4) ;
np.roll(x, 1, axis=2) ; np.pad(x, -1) ; np.pad(x, (1, 2, 3)) ; np.pad(x, 1, mode='foo') ; np.diff(s) ;
np.where(m, x, w) ; np.where(m, x) ; np.diag(c) ; np.diagonal(v) ; np.diagonal(x, 0, 0, 0) ; np.trace(v) ;
np.trace(c, axis1=0, axis2=5) ; np.einsum('ij,jk', x, x) ; np.einsum('ij', v) ; np.einsum('ijk', x) ;
np.einsum('ij->ijk', x) ; np.einsum('ij->ii', x) ; np.einsum('ij,jk', x) ; np.einsum('i$', x) ;
np.einsum('ii', x) ;
np.linalg.norm(c, 1) ; np.linalg.norm(x, axis=4) ; np.linalg.norm(x, 'abc') ; np.linalg.norm(v, 'fro') ;
np.linalg.norm(c, axis=(0, 1, 2)) ; np.linalg.norm(x, axis=(0, 0)) ; np.linalg.outer(x, v) ;
np.linalg.multi_dot([x]) ; np.linalg.matrix_power(x, 2) ; np.linalg.diagonal(v) ; np.select([x], [x]) ;
x[3] ; x[0, 0, 0] ; x[:, 7] ; x['a'] ; x[1.5] ; x[..., ...] ; x[[0, 7]] ; x[IDX, [0, 1, 2]] ; x[i * 1.0] ;
x[np.ones((2, 5), bool)] ; x[i % 3, g] ; np.take(x, 99) ; np.take(x, 0, axis=2) ; x.take([9], axis=1) ;
np.take(x, ROW) ; np.take_along_axis(x, i, 1) ; np.take_along_axis(x, h * 1.0, 1) ; -m ; m - m ; np.sign(m) ;
np.sqrt(x, dtype=int) ; np.add(x, 1, dtype='int8') ; x.astype(int, casting='safe') ; np.invert(x) ;
x & y ; ~x ;
np.power(i, -1) ; i ** -1 ; i.astype('uint8') + 300 ; np.full_like(x, [1, 2]) ;
np.zeros_like(x, dtype='foo') ;
np.ones_like(x, shape=-1) ; np.add.reduce(x, axis=3) ; np.maximum.reduce(e) ;
np.subtract.reduce(x, axis=(0, 1)) ;
np.less.reduce(x) ; np.divide.reduce(e) ; np.round(x, 'a') ; x.foo ; np.sum(x, foo=1) ;
np.exp(x, foo=1) ; np.outer()
"""


@pytest.mark.parametrize("expression", [part.strip() for part in NUMPY_ERRORS.split(" ;")])
def test_numpys_errors(expression: str) -> None:
    """The type and the whole message are NumPy's."""
    f, arrays = case(expression, "float64")
    assert not agree(f, *arrays)


def test_numpys_errors_have_a_note_of_the_line() -> None:
    def f(x: Any, y: Any) -> Any:
        return np.exp(x) + y  # here

    x, y = np.ones((3, 5)), np.ones(7)
    with pytest.raises(ValueError, match="could not be broadcast") as error:
        trace(f, x, y)
    assert str(error.value) == str(error_of(f, x, y))
    assert error.value.__notes__ == [f"while tracing {__file__}:{line_of(f)}"]
