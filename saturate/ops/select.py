"""The choice between two operands; it knows no comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from saturate.build import Value, apply
from saturate.errors import ShapeError
from saturate.op import Type
from saturate.ops.elementwise import Operand, WithLiterals

if TYPE_CHECKING:
    from saturate.denote import Denoter, Indexed


@dataclass(frozen=True)
class Where(WithLiterals):
    """a where condition else b; a branch that is not taken gets the cotangent 0, exactly.

    Operands are the condition (bool) and the branches that are no literals, all of one shape, and the
    branches of one dtype.
    """

    function = "np.where"
    ufunc = False
    places = 3

    def type(self, *operands: Type) -> Type:
        """The shape of the condition, in the common dtype of the branches; raises `ShapeError`."""
        self.check_operands(operands)
        condition, *branches = operands
        if condition.dtype != "bool":
            raise ShapeError(f"where needs a bool condition, got {condition}; compare or cast it first")
        for branch in branches:
            if branch.shape != condition.shape or branch.dtype != branches[0].dtype:
                raise ShapeError(
                    "where needs a condition and branches of one shape, and branches of one dtype, "
                    f"got {', '.join(map(str, operands))}; broadcast or cast first"
                )
        _, *args = self.arguments(*operands)
        kinds = (np.zeros((), x.dtype) if isinstance(x, Type) else x for x in args)
        try:
            with np.errstate(over="ignore"):
                return Type(condition.shape, np.where(False, *kinds).dtype.name)
        except OverflowError:  # from NumPy 2.5 on
            raise ShapeError(
                f"where needs literals that fit {branches[0].dtype}, got {' and '.join(map(repr, args))}"
            ) from None

    def vjp(self, g: Value, out: Value, *operands: Value) -> tuple[Value | None, ...]:
        """The cotangent where the branch was taken, else 0; branches that are not floats get none."""
        condition = operands[0]
        _, a, b = self.arguments(*operands)
        left = where(condition, g, 0.0) if isinstance(a, Value) and a.type.is_float else None
        right = where(condition, 0.0, g) if isinstance(b, Value) and b.type.is_float else None
        return (None, *(d for d, x in ((left, a), (right, b)) if isinstance(x, Value)))

    def denote(self, t: Denoter, *operands: Indexed) -> Indexed | None:
        """The function `where`; opaque where both branches are literals or a branch changes its dtype."""
        types = tuple(Type(x.shape, x.dtype) for x in operands)
        if len(operands) == 1 or self.type(*types).dtype != operands[-1].dtype:
            return None
        return t.fn("where", *self.arguments(*operands))


def where(condition: Value, a: Operand, b: Operand) -> Value:
    """`Where`; `a` and `b` may be literals."""
    left, right = (None if isinstance(x, Value) else x for x in (a, b))
    return apply(Where(left, right), condition, *(x for x in (a, b) if isinstance(x, Value)))
