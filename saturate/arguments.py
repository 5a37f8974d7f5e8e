"""The face of an optimized function: from the user's nested arguments to flat inputs, and back to nested
results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import optree

from saturate.errors import ArgumentError, shown
from saturate.op import AnyArray, Type
from saturate.program import Program
from saturate.split import COTANGENT
from saturate.trace import Traced, traced
from saturate.tracing.leaves import type_of


@dataclass(frozen=True)
class Signature:
    """How a program is called: argument names, the structure of arguments, value and gradients.

    `wrt` holds the inputs to differentiate by, in order; `asked` is what the user passed as `wrt`, made of
    argument names. For a bare program the arguments are its inputs.
    """

    program: Program
    traced: Traced | None
    examples: tuple[Any, ...]
    wrt: tuple[str, ...]
    asked: Any

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments."""
        return self.traced.arguments if self.traced else tuple(i.name for i in self.program.inputs)

    def inputs(self, args: Sequence[Any], named: Mapping[str, Any], without: str = "") -> dict[str, Any]:
        """Arrays by input name; raises `ArgumentError` where arguments are missing or have another structure.

        `without` is an input of a bare program that is not asked for.
        """
        if self.traced is None:
            names = tuple(name for name in self.arguments if name != without)
            return dict(zip(names, self._bound(names, args, named), strict=True))
        given = self._bound(self.arguments, args, named)
        leaves, spec = optree.tree_flatten(cast(Any, tuple(given)))
        structures = zip(self.arguments, self.traced.in_spec.children(), spec.children(), strict=True)
        for argument, wanted, came in structures:
            if wanted != came:
                raise ArgumentError(
                    f"{self.program.name} needs {argument} structured like its example, "
                    f"{_structure(wanted)}; got {_structure(came)}"
                )
        found: dict[str, Any] = {}
        for name, fixed, leaf in zip(self.traced.names, self.traced.statics, leaves, strict=True):
            if name is not None:
                found[name] = leaf
            elif not _same(fixed, leaf):
                raise ArgumentError(
                    f"{self.program.name} was optimized for the value {fixed!r}, got {leaf!r}: optimize "
                    "again, or pass an array of no axes as the example to leave it open"
                )
        return found

    def _bound(self, names: tuple[str, ...], args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
        extra = [n for n in named if n not in names[len(args) :]]
        missing = [n for n in names[len(args) :] if n not in named]
        if len(args) > len(names) or extra or missing:
            wrong = f"{', '.join(missing)} missing" if missing else f"{', '.join(extra)} unknown or twice"
            raise ArgumentError(
                f"{self.program.name} needs the arguments ({', '.join(names)}), each once; got {len(args)} "
                f"by position and by name ({', '.join(named)}): "
                f"{'too many' if len(args) > len(names) else wrong}"
            )
        return [*args, *(named[n] for n in names[len(args) :])]

    def value(self, outputs: Sequence[Any]) -> Any:
        """The value in the structure that the function returns."""
        if self.traced is None:
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        return optree.tree_unflatten(self.traced.out_spec, list(outputs))

    def gradients(self, gradients: Sequence[Any]) -> Any:
        """The gradients in the structure of `wrt`."""
        by_name = dict(zip(self.wrt, gradients, strict=True))
        if self.traced is None:
            return _mapped(self.asked, by_name.__getitem__) if self.asked is not None else tuple(gradients)
        return _mapped(self.asked, lambda name: self._tree(name, by_name))

    def _tree(self, argument: str, by_name: Mapping[str, Any]) -> Any:
        assert self.traced is not None
        if argument in by_name and argument not in self.traced.arguments:
            return by_name[argument]
        children = self.traced.in_spec.children()
        start = 0
        for name, child in zip(self.traced.arguments, children, strict=True):
            names = self.traced.names[start : start + child.num_leaves]
            if name == argument:
                return optree.tree_unflatten(child, [by_name[n] for n in names if n is not None])
            start += child.num_leaves
        raise ArgumentError(f"no argument {argument!r}")

    def example(self, name: str) -> Any:
        """The example of an input, None where there is none."""
        if self.traced is None:
            names = [i.name for i in self.program.inputs]
            return dict(zip(names, self.examples, strict=False)).get(name)
        leaves: list[Any] = optree.tree_leaves(cast(Any, self.examples))
        return dict(zip(self.traced.names, leaves, strict=True)).get(name)

    def arrays(self, baseline: Program) -> tuple[Any, ...]:
        """Examples in the order of the inputs of the baseline, Types where the example is one."""
        found = [self.example(i.name) for i in baseline.inputs]
        return tuple(i.type if x is None else x for i, x in zip(baseline.inputs, found, strict=True))

    def with_cotangent(self, baseline: Program, args: Sequence[Any], seed: int) -> list[AnyArray]:
        """Flat arrays for the baseline from one tuple of the user's arguments; a cotangent is drawn."""
        given = self.inputs(args, {})
        found: list[AnyArray] = []
        for i in baseline.inputs:
            drawn = np.random.default_rng(seed).standard_normal(i.type.shape)
            array = _converted(i.name, given.get(i.name, drawn), i.type)
            if array.shape != i.type.shape:
                raise ArgumentError(f"samples need {i.name} of shape {i.type.shape}, got {array.shape}")
            found.append(array)
        return found


def signature(f: Callable[..., Any] | Program, examples: tuple[Any, ...], wrt: Any) -> Signature:
    """Trace `f`, or take a program as it is, and resolve `wrt` to inputs."""
    if isinstance(f, Program):
        if examples and len(examples) != len(f.inputs):
            raise ArgumentError(
                f"{f.name} has {len(f.inputs)} inputs, got {len(examples)} examples: one each, or none"
            )
        _fitting(f, examples)
        names = tuple(i.name for i in f.inputs)
        if wrt is not None and f.gradients:
            raise ArgumentError(f"{f.name} has gradients already: pass wrt=None, or a program without them")
        asked = _names(wrt, names, names) if wrt is not None else None
        leaves = tuple(_leaves(asked)) if asked is not None else tuple(name for name, _ in f.gradients)
        return Signature(f, None, examples, leaves, asked)
    found = traced(f, *examples)
    if any(i.name == COTANGENT for i in found.program.inputs) and wrt is not None:
        raise ArgumentError(
            f"{found.program.name} has an argument named {COTANGENT!r}, which is taken: rename it"
        )
    inputs = tuple(i.name for i in found.program.inputs)
    asked = _names(wrt, found.arguments, inputs) if wrt is not None else None
    return Signature(found.program, found, examples, tuple(_inputs_of(asked, found)), asked)


def _fitting(program: Program, examples: tuple[Any, ...]) -> None:
    """Raise `ArgumentError` where an example of a bare program is not of its input's type; None says
    nothing.
    """
    for given, example in zip(program.inputs, examples, strict=False):
        if example is None:
            continue
        kind = type_of(example, given.name)
        if kind is None or (kind.shape, kind.dtype) != (given.type.shape, given.type.dtype):
            came = shown(example) if kind is None else kind
            raise ArgumentError(
                f"{program.name} needs an example of {given.name} of type {given.type}, got {came}"
            )


def _names(wrt: Any, arguments: tuple[str, ...], inputs: tuple[str, ...]) -> Any:
    """`wrt` with positions turned into names; its tuples and lists are kept."""
    if isinstance(wrt, tuple | list):
        if not wrt:
            raise ArgumentError(
                "wrt needs at least one argument, got none: name one, or pass None for the value alone"
            )
        return type(wrt)(_names(w, arguments, inputs) for w in wrt)
    if isinstance(wrt, int) and not isinstance(wrt, bool) and -len(arguments) <= wrt < len(arguments):
        return arguments[wrt]
    if isinstance(wrt, str) and wrt in (*arguments, *inputs):
        return wrt
    raise ArgumentError(f"wrt needs names or positions of arguments ({', '.join(arguments)}), got {wrt!r}")


def _inputs_of(asked: Any, found: Traced) -> list[str]:
    inputs: list[str] = []
    for name in _leaves(asked) if asked is not None else ():
        if name not in found.arguments:
            inputs.append(name)
            continue
        start = 0
        for argument, child in zip(found.arguments, found.in_spec.children(), strict=True):
            names = found.names[start : start + child.num_leaves]
            if argument == name:
                if None in names:
                    raise ArgumentError(
                        f"wrt names {name!r}, which holds a Python number: pass an array to differentiate"
                    )
                inputs += [n for n in names if n is not None]
            start += child.num_leaves
    return inputs


def _leaves(asked: Any) -> list[str]:
    return [leaf for a in asked for leaf in _leaves(a)] if isinstance(asked, tuple | list) else [asked]


def _mapped(asked: Any, of: Callable[[str], Any]) -> Any:
    return type(asked)(_mapped(a, of) for a in asked) if isinstance(asked, tuple | list) else of(asked)


def _converted(name: str, given: Any, kind: Type) -> AnyArray:
    try:
        return np.asarray(given, dtype=kind.dtype)
    except (TypeError, ValueError):
        raise ArgumentError(f"samples need {name} as an array of {kind}, got {given!r}") from None


def _structure(spec: optree.PyTreeSpec) -> str:
    """A structure with `*` for each leaf: an array or a number."""
    if spec.is_leaf():
        return "an array or number"
    return repr(spec).removeprefix("PyTreeSpec(").removesuffix(")")


def _same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and bool(np.all(a == b))


__all__ = ["Signature", "Type", "signature"]
