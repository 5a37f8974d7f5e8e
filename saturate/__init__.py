"""Saturate: the cheapest program that computes the same value and gradients, found by equality saturation."""

from saturate import errors
from saturate.grad import grad
from saturate.many import optimize_many
from saturate.op import Type
from saturate.optimize import Optimized, optimize
from saturate.program import Program
from saturate.saturation import Limits
from saturate.target import Target
from saturate.text import parse
from saturate.trace import trace

__all__ = [
    "Limits",
    "Optimized",
    "Program",
    "Target",
    "Type",
    "errors",
    "grad",
    "optimize",
    "optimize_many",
    "parse",
    "trace",
]
