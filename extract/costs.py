"""What one pass over memory, or one contraction, costs: models over sizes alone, in nanoseconds or counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pass:
    """One step of a program on paper.

    `kind` is elementwise, reduce, dot or view; `out` and `reads` count elements; `flops` counts all
    operations, an exponential or the like as ten or more; `batch` is the number of separate matrix products
    of a dot, 0 where the dot is not a matrix product.
    """

    kind: str
    out: int
    reads: int
    itemsize: int
    flops: float
    batch: int = 0

    @property
    def bytes(self) -> int:
        """Bytes read and written."""
        return (self.out + self.reads) * self.itemsize


@dataclass(frozen=True)
class Profile:
    """A machine: nanoseconds a call, bytes and operations a nanosecond. The numbers are of one thread and
    float32.

    `call` is the overhead of one ufunc call, `product` that of one matrix product inside a batched one;
    `bandwidth` is that of memory, `cached` that of a working set of at most `cache` bytes.
    """

    call: float = 900.0
    product: float = 250.0
    bandwidth: float = 14.0
    cached: float = 40.0
    cache: float = 1e6
    elementwise: float = 4.0
    reduce: float = 3.0
    dot: float = 8.0
    matmul: float = 40.0


DEFAULT = Profile()


def roofline(step: Pass, profile: Profile = DEFAULT) -> float:
    """Overhead plus the larger of moving the bytes and doing the operations, in nanoseconds."""
    if step.kind == "view":
        return 0.0
    width = 4 / step.itemsize
    if step.kind == "dot" and step.batch:
        rate, overhead = profile.matmul * width, profile.call + profile.product * step.batch
    else:
        rates = {"elementwise": profile.elementwise, "dot": profile.dot}
        rate = rates.get(step.kind, profile.reduce) * width
        overhead = profile.call
    bandwidth = profile.cached if step.bytes <= profile.cache else profile.bandwidth
    return overhead + max(step.bytes / bandwidth, step.flops / rate)


def flops(step: Pass, profile: Profile = DEFAULT) -> float:
    """Floating point operations; a small charge a step keeps ties in favour of fewer steps."""
    return step.flops + 1e-3 * (step.kind != "view")


def moved(step: Pass, profile: Profile = DEFAULT) -> float:
    """Bytes read and written; a small charge a step keeps ties in favour of fewer steps."""
    return 0.0 if step.kind == "view" else step.bytes + 1e-3


COSTS: dict[str, Callable[[Pass, Profile], float]] = {"flops": flops, "bytes": moved, "roofline": roofline}
"""Cost models by name."""
