"""Composable lowering passes on programs."""

from saturate.passes.mean import expand_mean_program, expand_mean_program_detailed
from saturate.passes.mean_gradient import (
    expand_mean_derivative_program,
    expand_mean_derivative_program_detailed,
)
from saturate.passes.records import (
    BROADCAST_SCALE_EXPANSION,
    MEAN_EXPANSION_FORWARD,
    ExpansionResult,
    MeanExpansionRegion,
)

__all__ = [
    "BROADCAST_SCALE_EXPANSION",
    "MEAN_EXPANSION_FORWARD",
    "ExpansionResult",
    "MeanExpansionRegion",
    "expand_mean_derivative_program",
    "expand_mean_derivative_program_detailed",
    "expand_mean_program",
    "expand_mean_program_detailed",
]
