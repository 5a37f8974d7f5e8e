"""From a NumPy function and examples of its arguments to a program; it knows no derivative and no law."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import optree

from saturate.build import Builder
from saturate.errors import ArgumentError, TraceError, shown
from saturate.program import Program
from saturate.tracing import refusals
from saturate.tracing.emitting import lift, operand
from saturate.tracing.functions import METHODS, call_function
from saturate.tracing.labels import local_names, unwatched
from saturate.tracing.leaves import named_leaves, parameters, title, type_of
from saturate.tracing.site import Site, site_of
from saturate.tracing.tracer import Recording, Tracer
from saturate.tracing.ufunc_methods import call_ufunc

_METHODS = {name: unwatched(method) for name, method in METHODS.items()}


@dataclass(frozen=True)
class Traced:
    """A program with what is needed to call it as the function was called.

    `arguments` names the parameter of each positional example. `in_spec` is the structure of the tuple of
    examples; `names` and `statics` go leaf by leaf: the name of the program's input, or None and the value
    that was passed on as it is. `out_spec` is the structure of the result, whose leaves are the program's
    outputs. `promotions` names the lines where a NumPy scalar widened an array.
    """

    program: Program
    in_spec: optree.PyTreeSpec
    out_spec: optree.PyTreeSpec
    arguments: tuple[str, ...]
    names: tuple[str | None, ...]
    statics: tuple[Any, ...]
    promotions: tuple[str, ...] = ()


def trace(f: Callable[..., Any], *examples: Any) -> Program:
    """The program that `f` computes on arrays of the examples' shapes and dtypes.

    `f` is plain NumPy. Examples are arrays, `Type`s, or nested dicts, lists and tuples of them; Python
    scalars and other objects are passed to `f` as they are. Arrays that `f` captures are copied into the
    program. Raises `TraceError` for what cannot be traced, with the user's line and what to write instead,
    NumPy's own errors, with a note of the line, for what NumPy refuses, and `ArgumentError` for examples.
    """
    return traced(f, *examples).program


def traced(f: Callable[..., Any], *examples: Any) -> Traced:
    """As `trace`, with the structure of arguments and result."""
    arguments = parameters(f, examples)
    leaves, names, in_spec = named_leaves(arguments, examples)
    builder = Builder()
    recording = Recording(builder, unwatched(call_ufunc), unwatched(call_function), _METHODS)
    types = [type_of(leaf, name) for leaf, name in zip(leaves, names, strict=True)]
    passed = [
        leaf if kind is None else Tracer(recording, builder.input(name, kind))
        for leaf, name, kind in zip(leaves, names, types, strict=True)
    ]
    given = {x.value.id for x in passed if isinstance(x, Tracer)}
    if examples and not given:
        came = ", ".join(f"{a}: {shown(x)}" for a, x in zip(arguments, examples, strict=True))
        raise ArgumentError(f"{title(f)} needs an array or a Type among its examples, got {came}")
    try:
        with local_names(recording) as labels:
            result = _called(f, optree.tree_unflatten(in_spec, passed))
        outputs, out_spec = _outputs(recording, f, result)
    finally:
        recording.open = False
    builder.relabel({value: name for value, name in labels.items() if value not in given})
    return Traced(
        builder.program(title(f), outputs), in_spec, out_spec, arguments,
        tuple(None if kind is None else name for name, kind in zip(names, types, strict=True)),
        tuple(leaf if kind is None else None for leaf, kind in zip(leaves, types, strict=True)),
        tuple(recording.promotions),
    )  # fmt: skip


def _called(f: Callable[..., Any], args: Any) -> Any:
    """`f(*args)`; a refusal that a library turned into another error is raised itself."""
    try:
        return f(*args)
    except TraceError:
        raise
    except Exception as error:
        behind: BaseException | None = error
        while behind is not None:
            if isinstance(behind, TraceError):
                raise behind from error
            behind = behind.__cause__ or behind.__context__
        site, library = site_of(error) or (None, None)
        met = library is not None and any(isinstance(x, Tracer) for x in library.f_locals.values())
        if site is not None and not getattr(error, "__notes__", None) and (met or "Tracer" in str(error)):
            raise refusals.failed(site, error) from error
        raise


def _outputs(
    recording: Recording, f: Callable[..., Any], result: Any
) -> tuple[tuple[str, ...], optree.PyTreeSpec]:
    """Value ids of the leaves of the result; arrays and numbers become constants."""
    leaves, spec = optree.tree_flatten(result)
    outputs: list[str] = []
    odd = [x for x in leaves if isinstance(x, str | bytes) or callable(x)]
    if odd or not leaves:
        code = getattr(f, "__code__", None)
        raise refusals.refusal(
            f"{title(f)} with {f'a {type(odd[0]).__name__}' if odd else 'no array'} in its result",
            "programs return arrays",
            "Return arrays, or dicts, lists and tuples of them",
            Site(code.co_filename, code.co_firstlineno) if code else None,
        )
    for leaf in leaves:
        lifted = lift(recording, operand(leaf, f"the result of {title(f)}"))
        lifted.check(recording)
        outputs.append(lifted.value.id)
    return tuple(outputs), spec
