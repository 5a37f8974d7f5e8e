"""What was rewritten, in frozen records that stand beside the program; it knows no op."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from saturate.program import Program

MEAN_EXPANSION_FORWARD = "mean_expansion_forward"
"""Name of the pass over means."""
BROADCAST_SCALE_EXPANSION = "broadcast_scale_expansion"
"""Name of the pass over their derivatives."""
RANK_PRESERVING = "rank_preserving"
"""Tier of a region whose result keeps the rank."""
RANK_REDUCING = "rank_reducing"
"""Tier of a region that ends in a reshape to a smaller rank."""


class Region(Protocol):
    """What every record of a rewrite tells, be it made by a pass or by the optimizer.

    The nodes named in `source_node_ids` are gone, those in `emitted_node_ids` are new, both in the order of
    their programs, and the last of them produces `terminal_value_id`, which a source node produced before.
    """

    @property
    def source_node_ids(self) -> tuple[str, ...]:
        """Nodes of the program before that the region replaced."""
        ...

    @property
    def emitted_node_ids(self) -> tuple[str, ...]:
        """Nodes of the program after that replaced them."""
        ...

    @property
    def terminal_value_id(self) -> str:
        """The value that both produce."""
        ...


@dataclass(frozen=True)
class MeanExpansionRegion:
    """One mean, or one broadcast with its division, replaced by products with generated constants."""

    pass_name: str
    source_node_ids: tuple[str, ...]
    emitted_node_ids: tuple[str, ...]
    terminal_value_id: str
    tier: str


AnyRegion = TypeVar("AnyRegion", bound=Region, covariant=True)


@dataclass(frozen=True)
class ExpansionResult(Generic[AnyRegion]):
    """A rewritten program, and beside it one record a rewrite in program order; `()` where none was made."""

    program: Program
    regions: tuple[AnyRegion, ...]
