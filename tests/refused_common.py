"""The phrases that messages of refusals share, and what their cases capture."""

from __future__ import annotations

import numpy as np

CONST = np.arange(5.0)
LIST = [1, 2, 3]
OBJECTS = np.array([1, None, 2], dtype=object)
VECTORIZED = np.vectorize(lambda a: a + 1 if a > 0 else a)
LONG = np.arange(65.0)

VALUES = "values are not known while tracing"
SHAPES = "the shape of its result depends on values, which are not known while tracing"
CONVERTS = "it turns its argument into a NumPy array, and a traced array has no values yet"
FIXED = "values of a program never change"
DTYPES = "programs hold booleans, integers and real floats"
SCALAR = "Keep it an array: arrays of shape () take part in arithmetic; x.astype(dtype) converts."
BRANCH = "Write np.where(condition, a, b) for a branch, np.logical_and for `and`, `&` for masks."
ARGUMENT = "Pass the array to the traced function as an argument: then indexing it by a traced array works."
STACK = "Write np.stack([…]) (np.concatenate for pieces of an axis)."
PLAIN = (
    "Write it with traced NumPy functions, or compute it before the traced function and pass the result as "
    "an argument."
)
KEEP = (
    "Write np.where(condition, x, 0), which keeps the shape, or compute it before the traced function and "
    "pass it "
    "as an argument."
)
PART = "(np.where or np.concatenate for a part of x)."
