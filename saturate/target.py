"""What a result is made for: a runner, the ops that it may be made of, and the machine that prices it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from saturate.errors import ArgumentError, shown
from saturate.extract.costs import Profile
from saturate.ops import OPS
from saturate.program import Node, Program


@dataclass(frozen=True)
class Target:
    """A runner by name, the ops that it has (None for all), and a profile (None for the default one).

    With `ops`, a collection of names of `saturate.ops.OPS`, only these appear in a result. Views belong to
    them: `reshape`, `transpose` and `broadcast` cost nothing where the target has them, and are made of other
    ops, or missed, where it does not. Raises `ArgumentError` for a name that is not an op's.
    """

    runner: str = "numpy"
    ops: Collection[str] | None = None
    profile: Profile | None = None

    def __post_init__(self) -> None:
        _checked("the name of a runner", str, self.runner)
        if self.profile is not None:
            _checked("a Profile or None as profile", Profile, self.profile)
        if self.ops is not None:
            object.__setattr__(self, "ops", _known(self.ops))

    def lacks(self, op: str) -> bool:
        """Whether a result may not hold the op of this name."""
        return self.ops is not None and op not in self.ops

    def missing(self, program: Program) -> tuple[Node, ...]:
        """The nodes of a program whose ops the target lacks, in order."""
        return tuple(node for node in program.nodes if self.lacks(node.op.name))

    def __str__(self) -> str:
        return self.runner if self.ops is None else f"{self.runner} with {', '.join(self.ops)}"


def _checked(what: str, kind: type, given: Any) -> None:
    if not isinstance(given, kind):
        raise ArgumentError(f"a Target needs {what}, got {shown(given)}")


def _known(ops: Any) -> tuple[str, ...]:
    """The names once each, in the order of the catalogue."""
    if isinstance(ops, str) or not isinstance(ops, Collection):
        raise ArgumentError(f"a Target needs a collection of names of ops, got {shown(ops)}")
    names: list[Any] = list(ops)
    unknown = [name for name in names if not isinstance(name, str) or name not in OPS]
    if unknown:
        raise ArgumentError(
            f"a Target needs names of ops, got {shown(unknown[0])}; there are {', '.join(OPS)}"
        )
    return tuple(name for name in OPS if name in names)
