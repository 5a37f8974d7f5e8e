"""The tracer, an array without values that stands in for one in the user's function."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from saturate.build import Builder, Value
from saturate.errors import TraceError
from saturate.op import Array, Op
from saturate.ops.constants import Constant
from saturate.tracing import advice, refusals
from saturate.tracing.methods import Methods
from saturate.tracing.site import public_name, user_site

LONGEST_ITERATION = 64

Function = Callable[..., Any]
_IN_PLACE = {
    "add": "+=", "subtract": "-=", "multiply": "*=", "divide": "/=", "floor_divide": "//=", "remainder": "%=",
    "power": "**=", "matmul": "@=", "bitwise_and": "&=", "bitwise_or": "|=", "bitwise_xor": "^=",
    "left_shift": "<<=", "right_shift": ">>=",
}  # fmt: skip


class TraceAttributeError(TraceError, AttributeError):
    """A method of arrays that tracers lack; an `AttributeError`, so that `hasattr` answers False."""


def _written(ufunc: np.ufunc, inputs: tuple[Any, ...], out: tuple[Any, ...]) -> TraceError:
    name, symbol = public_name(ufunc), _IN_PLACE.get(ufunc.__name__)
    if symbol is None or out[0] is not inputs[0] or isinstance(user_site().call, ast.Call):
        return refusals.out_argument(name)
    return refusals.assignment(
        f"`x {symbol} y` in place",
        f"Write x = x {symbol[:-1]} y (np.where or np.concatenate for a part of x)",
    )


def _no_method(name: str) -> TraceError:
    if name in ("item", "tolist", "tobytes", "tofile", "dump", "dumps"):
        return refusals.refusal(
            f"x.{name}", advice.VALUES, "Keep it an array: arrays of shape () take part in arithmetic"
        )
    if name in ("fill", "put", "itemset", "resize", "setfield", "byteswap"):
        return refusals.assignment(f"x.{name}", "Write np.full_like, np.where or np.reshape")
    if name in ("strides", "flags", "data", "ctypes", "base", "view", "setflags", "getfield"):
        return refusals.refusal(
            f"x.{name}", "a traced array has no memory", "Use x.shape, x.dtype and x.reshape"
        )
    return refusals.unknown(f"x.{name}")


class Recording:
    """One trace: the builder that collects nodes, the constants met so far, what is traced and how."""

    def __init__(
        self, builder: Builder, ufunc: Function, function: Function, methods: Mapping[str, Function]
    ) -> None:
        self.builder = builder
        self.call_ufunc, self.call_function, self.methods = ufunc, function, methods
        self.promotions: list[str] = []
        self.open = True
        self._constants: dict[Array, Tracer] = {}

    def emit(self, op: Op, *operands: Tracer) -> Tracer:
        """Append `op` to the program."""
        for operand in operands:
            operand.check(self)
        return Tracer(self, self.builder.emit(op, *(x.value for x in operands)))

    def constant(self, array: Any) -> Tracer:
        """The array, copied, as a node; equal arrays share one."""
        key = Array(array)
        if key not in self._constants:
            self._constants[key] = self.emit(Constant(key))
        return self._constants[key]


class Tracer(Methods):
    """A value of a program under construction, with the attributes, methods and operators of `numpy.ndarray`.

    Operators come from NumPy's mixin and methods call NumPy's functions; both arrive at `__array_ufunc__` and
    `__array_function__`, so each operation is defined once.
    """

    __slots__ = ("recording", "value")
    recording: Recording
    value: Value

    def __init__(self, recording: Recording, value: Value) -> None:
        object.__setattr__(self, "recording", recording)
        object.__setattr__(self, "value", value)

    def check(self, recording: Recording) -> None:
        """Raise `TraceError` unless the trace is `recording` and still runs."""
        if self.recording is not recording or not recording.open:
            raise refusals.refusal(
                "a value of another trace", "each trace builds a program of its own",
                "Pass the array as an argument, and keep no traced value beyond the function that is traced",
            )  # fmt: skip

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if out is not None and any(x is not None for x in out):
            raise _written(ufunc, inputs, out)
        return self.recording.call_ufunc(self.recording, ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Function, types: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        return self.recording.call_function(func, args, kwargs)

    # What has no value yet

    def __bool__(self) -> bool:
        raise refusals.truth()

    def __float__(self) -> float:
        raise refusals.number("float")

    def __int__(self) -> int:
        raise refusals.number("int")

    def __complex__(self) -> complex:
        raise refusals.number("complex")

    def __index__(self) -> int:
        raise refusals.index()

    def __round__(self, digits: int = 0) -> NoReturn:
        raise refusals.refusal("round(t)", "it answers with a Python number", "Write np.round(t)")

    def __floor__(self) -> NoReturn:
        raise refusals.number("math.floor")

    __ceil__ = __trunc__ = __floor__

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise refusals.conversion()

    def __hash__(self) -> int:
        raise refusals.refusal(
            "hash(t)", advice.VALUES, "Use a string as the key, and pass no arrays to functools.lru_cache"
        )

    def __contains__(self, item: object) -> bool:
        raise refusals.refusal("`in` on a traced array", advice.VALUES, "Write np.any(x == value)")

    def __format__(self, spec: str) -> str:
        if spec:
            raise refusals.refusal(
                f"formatting by {spec!r}",
                advice.VALUES,
                "Format without a width or precision shows the type",
            )
        return repr(self)

    # What would change a value

    def __setitem__(self, index: object, item: object) -> None:
        raise refusals.assignment(
            "x[…] = value", "Write y = np.where(condition, value, x), or np.concatenate over parts"
        )

    def __delitem__(self, index: object) -> None:
        raise refusals.assignment("del x[…]", "Write np.concatenate over the parts that stay")

    def __setattr__(self, name: str, item: object) -> None:
        raise refusals.assignment(
            f"x.{name} = value", "Write x.reshape(…) for a shape, x.astype(…) for a dtype"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not hasattr(np.ndarray, name):
            raise AttributeError(f"'numpy.ndarray' object has no attribute {name!r}")
        function = f"np.{name}"
        error = refusals.unknown(function) if function in advice.ADVICE else _no_method(name)
        raise TraceAttributeError(str(error).replace(function, f"x.{name}", 1))

    # Attributes

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape, known while tracing."""
        return self.value.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype, known while tracing."""
        return np.dtype(self.value.dtype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.value.type.rank

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.value.type.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.value.type.nbytes

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        if self.shape[0] > LONGEST_ITERATION:
            raise refusals.refusal(
                f"iteration over an axis of {self.shape[0]}",
                f"it would write out the body {self.shape[0]} times (up to {LONGEST_ITERATION} are)",
                "Write it with whole arrays: np.sum, broadcasting, np.einsum",
            )
        return (self[k] for k in range(self.shape[0]))

    def __getitem__(self, index: Any) -> Any:
        return self.recording.methods["getitem"](self, index)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return NotImplemented
        return self.recording.methods["pow"](self, other)

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        """The array converted to `dtype`; order, casting, subok and copy as in `numpy.ndarray.astype`."""
        return self.recording.methods["astype"](self, dtype, *args, **kwargs)

    def __repr__(self) -> str:
        return f"Tracer({self.value.id}: {self.value.type})"

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self
