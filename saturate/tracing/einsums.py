"""`np.einsum` on tracers: every form of it brought to one letter an axis and an explicit output."""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import numpy as np

from saturate.ops.contraction import Einsum
from saturate.tracing import refusals
from saturate.tracing.asking import ask_dtype
from saturate.tracing.emitting import lift, no_out, operand, recording_of, reshape, transpose
from saturate.tracing.tracer import Tracer


def einsum(*operands: Any, out: Any = None, dtype: Any = None, casting: str = "safe", **options: Any) -> Any:
    """`np.einsum`: subscripts or sublists, an ellipsis, an output that is implied; sizes of one broadcast."""
    no_out("np.einsum", out)
    inputs, output, arrays = _parsed(operands)
    recording = recording_of(*arrays)
    given = [operand(x, "np.einsum") for x in arrays]
    settings = {"casting": casting} | ({} if dtype is None else {"dtype": dtype})
    expected = ask_dtype(np.einsum, *_as_given(operands, given), **settings)
    xs = [lift(recording, x, expected) for x in given]
    labels, result = _letters(inputs, output, [x.ndim for x in xs])
    sizes = _sizes(labels, xs)
    pairs = [_without_ones(label, x, sizes) for label, x in zip(labels, xs, strict=True)]
    return _emit([label for label, _ in pairs], result, [x for _, x in pairs], sizes)


def _as_given(operands: Sequence[Any], arrays: Sequence[Any]) -> list[Any]:
    """The call's arguments with its arrays in their places."""
    if isinstance(operands[0], str):
        return [operands[0], *arrays]
    rest = list(operands)
    rest[: 2 * len(arrays) : 2] = arrays
    return rest


def _parsed(operands: Sequence[Any]) -> tuple[list[str], str | None, list[Any]]:
    """Labels of each operand, those of the output or None, and the operands; ellipsis is written "…"."""
    if isinstance(operands[0], str):
        spec = operands[0].replace(" ", "").replace("...", "…")
        inputs, arrow, written = spec.partition("->")
        return inputs.split(","), written if arrow else None, list(operands[1:])
    arrays, sublists = list(operands[:-1:2]), list(operands[1::2])
    output = _sublist(operands[-1]) if len(operands) % 2 else None
    return [_sublist(labels) for labels in sublists], output, arrays


def _sublist(labels: Any) -> str:
    return "".join(
        "…" if label is Ellipsis else (ascii_letters[26:] + ascii_letters[:26])[label] for label in labels
    )


def _letters(inputs: list[str], output: str | None, ranks: list[int]) -> tuple[list[str], str]:
    """One letter an axis: an ellipsis takes letters of its own, aligned from the right."""
    if len(inputs) != len(ranks):
        raise ValueError("einsum needs as many subscripts as operands")
    hidden = [
        rank - len(labels) + 1 if "…" in labels else 0 for labels, rank in zip(inputs, ranks, strict=True)
    ]
    used = set("".join(inputs))
    free = [letter for letter in ascii_letters if letter not in used][: max(hidden, default=0)]
    spread = ["".join(free[len(free) - n :]) for n in hidden]
    written = [labels.replace("…", letters) for labels, letters in zip(inputs, spread, strict=True)]
    if [len(labels) for labels in written] != ranks or min(hidden, default=0) < 0:
        raise ValueError("einsum needs one subscript an axis")
    if output is None:
        named = "".join(inputs).replace("…", "")
        output = ("…" if any(hidden) else "") + "".join(sorted(k for k in set(named) if named.count(k) == 1))
    return written, output.replace("…", "".join(free))


def _sizes(labels: list[str], xs: list[Tracer]) -> dict[str, int]:
    """The size of each label, where size one fits any; raises `ValueError` where sizes differ."""
    sizes: dict[str, int] = {}
    for names, x in zip(labels, xs, strict=True):
        own: dict[str, int] = {}
        for name, size in zip(names, x.shape, strict=True):
            if own.setdefault(name, size) != size or (
                sizes.get(name, 1) != 1 and size not in (1, sizes[name])
            ):
                raise ValueError(f"einsum needs one size for {name!r}")
            sizes[name] = size if sizes.get(name, 1) == 1 else sizes[name]
    return sizes


def _without_ones(labels: str, x: Tracer, sizes: dict[str, int]) -> tuple[str, Tracer]:
    """An operand without the axes of size one that other operands have in full."""
    kept = [(k, n) for k, n in zip(labels, x.shape, strict=True) if n == sizes[k]]
    return "".join(k for k, _ in kept), reshape(x, [n for _, n in kept])


def _emit(labels: list[str], output: str, xs: list[Tracer], sizes: dict[str, int]) -> Tracer:
    missing = [k for k in output if k not in "".join(labels)]
    if missing or len(set(output)) != len(output):
        raise ValueError("einsum needs output subscripts that stand once and in some operand")
    if not set("".join(labels)) <= set(ascii_letters):
        raise refusals.unsupported("np.einsum", "these subscripts", "Use single letters")
    if len(xs) == 1 and sorted(labels[0]) == sorted(output):
        return transpose(xs[0], (labels[0].index(k) for k in output))
    return xs[0].recording.emit(Einsum(f"{','.join(labels)}->{output}"), *xs)
