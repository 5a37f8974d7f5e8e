"""What an op is, and the types of the arrays it maps; it knows no concrete op."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from math import isfinite, prod
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from saturate.attributes import LARGEST, is_number, wrong_field
from saturate.errors import ProgramError, ShapeError, shown

if TYPE_CHECKING:
    from saturate.build import Value
    from saturate.denote import Denoter, Indexed

AnyArray = npt.NDArray[Any]
Scalar = bool | int | float


@dataclass(frozen=True)
class Type:
    """Shape and dtype of an array; `low` and `high` bound the values that samples are drawn from.

    `shape` is a tuple of non-negative ints, `dtype` the name of a boolean, integer or real floating NumPy
    dtype.
    """

    shape: tuple[int, ...]
    dtype: str = "float64"
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _checked_shape(self.shape))
        object.__setattr__(self, "dtype", _dtype_name(self.dtype))
        for bound in (self.low, self.high):
            if not (bound is None or (is_number(bound) and bound == bound)):
                raise ProgramError(
                    f"a Type needs numbers as low and high, got {shown(bound)}",
                    code="malformed_derivative_ir",
                )

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.shape)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of a contiguous array of this type."""
        return self.size * np.dtype(self.dtype).itemsize

    @property
    def is_float(self) -> bool:
        """Whether gradients can flow through values of this type."""
        return np.dtype(self.dtype).kind == "f"

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"


def _checked_shape(shape: Any) -> tuple[int, ...]:
    if type(shape) is tuple and all(type(n) is int and 0 <= n <= LARGEST for n in shape):
        return shape
    if isinstance(shape, tuple | list):
        sizes = [int(n) if isinstance(n, int | np.integer) and not isinstance(n, bool) else n for n in shape]
        if all(type(n) is int and 0 <= n <= LARGEST for n in sizes):
            return tuple(sizes)
        if any(isinstance(n, str) for n in sizes):
            raise ProgramError(
                f"a Type needs sizes that are known, got the symbolic shape {shown(shape)}",
                code="unresolved_symbolic_shape",
            )
    raise ProgramError(
        f"a Type needs a shape of non-negative ints, got {shown(shape)}", code="missing_shape_metadata"
    )


def _dtype_name(dtype: Any) -> str:
    name = _known_dtype(dtype) if isinstance(dtype, str | type | np.dtype) else None
    if name is None:
        raise ProgramError(
            f"a Type needs a boolean, integer or real floating dtype, got {shown(dtype)}",
            code="missing_dtype_metadata",
        )
    return name


@lru_cache(maxsize=256)
def _known_dtype(dtype: Any) -> str | None:
    try:
        with warnings.catch_warnings(action="ignore"):
            found = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        return None
    return found.name if found.kind in "biuf" else None


class Array:
    """An immutable array, equal by dtype, shape and bytes, with a digest: the constant in a program."""

    __slots__ = ("_key", "digest", "value")

    def __init__(self, value: npt.ArrayLike) -> None:
        array = np.array(value, order="C", copy=True)
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        array.setflags(write=False)
        self.value: AnyArray = array
        head = f"{array.dtype.str}|{array.shape}|".encode()
        self.digest: str = hashlib.sha256(head + array.tobytes()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Array({self.digest[:12]})"


class Work(NamedTuple):
    """What one op costs on paper: floating point operations, and bytes read and written."""

    flops: float
    bytes: float


@dataclass(frozen=True)
class Op:
    """One array operation: a frozen dataclass whose fields are its attributes.

    A concrete op defines `type`, `text`, and where they exist `vjp` and `denote`. The first line of its
    docstring is its formula. `operands` is the number of array operands, `None` where any number is taken.
    """

    name: ClassVar[str]
    operands: ClassVar[int | None] = 1
    flops: ClassVar[float] = 1.0
    """Floating point operations an element of the result, for `work`; exp and its like count about 10."""
    view: ClassVar[bool] = False
    """The result shares the operand's memory and costs no pass."""
    ufunc: ClassVar[bool] = False
    """`text` is one call or operator of a NumPy ufunc, so a runner may write its result into a buffer."""
    helper: ClassVar[str] = ""
    """Source of a function that `text` calls, printed once at the top of emitted source."""
    codes: ClassVar[Mapping[str, str]] = {}
    """Error codes of this op where they are not the usual ones: by field name, "operands" for their number,
    "attribute" for one that it does not have, "type" for types that do not fit."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        for method in ("__eq__", "__hash__"):  # in place of those that `dataclass` would write
            setattr(cls, method, Op.__dict__[method])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Op) and type(other) is type(self) and self._exact == other._exact

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, Any]:
        # what is kept beside the fields holds in this process alone
        return self.attributes()

    @cached_property
    def _hash(self) -> int:
        return hash((type(self).__name__, self._exact))

    @cached_property
    def _results(self) -> dict[tuple[Type, ...], Type]:
        return {}

    @cached_property
    def _exact(self) -> tuple[Any, ...]:
        return tuple(_exact(getattr(self, f.name)) for f in fields(self))

    def __post_init__(self) -> None:
        # a subclass of float, such as np.float64, would be strong in NumPy; as a literal it is weak
        for name, value in vars(self).items():
            if isinstance(value, float) and type(value) is not float:
                object.__setattr__(self, name, float(value))

    def type(self, *operands: Type) -> Type:
        """Type of the result; raises `ShapeError` where the operands do not fit."""
        raise NotImplementedError(f"{type(self).__name__} must define type")

    def text(self, *operands: str) -> str:
        """Python expression over `np` (and `special` for SciPy's ufuncs) that computes the result.

        Runners and emitted source both use it, so they agree by construction. Operands arrive as atoms
        (names), and the result must be an expression that the caller may put in parentheses.
        """
        raise NotImplementedError(f"{type(self).__name__} must define text")

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...] | None:
        """Cotangents of the operands given the cotangent `g` of the result; None where no gradient flows.

        Returning None for the whole means that the op has no derivative: asking for one is an error.
        """
        return None

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """Meaning in the index algebra; None leaves the op opaque."""
        return None

    def work(self, out: Type, *operands: Type) -> Work:
        """Flops and bytes of one evaluation."""
        if self.view:
            return Work(0.0, 0.0)
        return Work(self.flops * out.size, out.nbytes + sum(x.nbytes for x in operands))

    def evaluate(self, xp: ModuleType, *arrays: Any) -> Any:
        """Value of the result over a NumPy-like namespace (NumPy or CuPy)."""
        special = _special(xp) if "special." in _text(self, len(arrays)) else None
        return compiled(self, len(arrays))(xp, special, *arrays)

    def attributes(self) -> dict[str, Any]:
        """The fields by name, in declaration order."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def held(self) -> tuple[Any, ...]:
        """What the fields hold: tuples item by item, arrays as NumPy's."""
        return tuple(item for value in self.attributes().values() for item in _items(value))

    def checked(self, operands: tuple[Type, ...]) -> Type:
        """Type of the result; raises as `check_operands`, `check_attributes` and `type`."""
        if operands not in self._results:
            self.check_operands(operands)
            self.check_attributes()
            self._results[operands] = self.type(*operands)
        return self._results[operands]

    def check_operands(self, operands: tuple[Type, ...]) -> None:
        """Raise `ShapeError` unless the number of operands is the op's."""
        if self.operands is not None and len(operands) != self.operands:
            raise ShapeError(
                f"{self.name} needs {self.operands} operand(s), got {len(operands)}",
                code=self.code("operands"),
            )

    def check_attributes(self) -> None:
        """Raise `ProgramError` unless each attribute has the type that its field declares."""
        wrong = wrong_field(self)
        if wrong is not None:
            name, declared = wrong
            raise ProgramError(
                f"{self.name} needs {declared} as {name}, got {shown(getattr(self, name))}",
                code=self.code(name),
            )

    @classmethod
    def code(cls, fault: str) -> str:
        """Error code of a fault in the field of this name, in the number of "operands", or in the "type"."""
        return cls.codes.get(fault) or _CODES.get(fault, "malformed_derivative_ir")


def _exact(value: Any) -> Any:
    """What an op compares: 2, 2.0 and True are different literals, so are 0.0 and −0.0, and nan is itself."""
    if isinstance(value, tuple):
        return tuple(map(_exact, value))
    return literal(value) if isinstance(value, bool | int | float) else value


def _items(value: Any) -> Iterator[Any]:
    if not isinstance(value, tuple):
        yield value.value if isinstance(value, Array) else value
        return
    for item in value:
        yield from _items(item)


def literal(value: Scalar) -> str:
    """A Python number as text over `np`; infinities and NaN as NumPy's names."""
    if not isinstance(value, float):
        return repr(value)
    return (
        repr(float(value))
        if isfinite(value)
        else {"inf": "np.inf", "-inf": "-np.inf"}.get(str(value), "np.nan")
    )


_CODES = {
    "shape": "missing_shape_metadata",
    "dtype": "missing_dtype_metadata",
    "axes": "reduction_shape_mismatch",
    "axis": "reduction_shape_mismatch",
    "keepdims": "unsupported_reduction",
}


@lru_cache(maxsize=4096)
def _text(op: Op, arity: int) -> str:
    return op.text(*(f"a{k}" for k in range(arity)))


@lru_cache(maxsize=4096)
def compiled(op: Op, arity: int) -> Callable[..., Any]:
    """The op as a function `(np, special, *arrays)`, compiled from its own text."""
    scope: dict[str, Any] = {}
    names = ", ".join(f"a{k}" for k in range(arity))
    body = "".join(f"    {line}\n" for line in op.helper.splitlines())
    exec(f"def run(np, special, {names}):\n{body}    return {_text(op, arity)}", scope)
    function: Callable[..., Any] = scope["run"]
    return function


def _special(xp: ModuleType) -> ModuleType:
    import importlib

    return importlib.import_module("scipy.special" if xp.__name__ == "numpy" else "cupyx.scipy.special")
