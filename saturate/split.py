"""A joint program as two: `forward`, without a cotangent, and `backward`, which reads what forward kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from saturate.build import Builder
from saturate.errors import ProgramError, TargetError
from saturate.op import Type
from saturate.ops.arithmetic import mul
from saturate.ops.spreading import broadcast
from saturate.ops.unary import cast
from saturate.program import Input, Node, Program

COTANGENT = "cotangent"
"""Name of the input that holds the cotangent of the output, in a joint program and in `backward`."""

Product = Callable[[Type, Type], Program]
"""For the types of a gradient and of a scalar cotangent, the program of both that multiplies them."""


def repeated(gradient: Type, cotangent: Type) -> Program:
    """The product of a gradient and the cotangent, repeated to its shape."""
    builder = Builder()
    given, factor = builder.input("gradient", gradient), builder.input(COTANGENT, cotangent)
    if factor.dtype != given.dtype:
        factor = cast(factor, given.dtype)
    if given.shape:
        factor = broadcast(factor, given.shape)
    return builder.program("scaled_gradient", (mul(given, factor).id,))


@dataclass(frozen=True)
class Split:
    """`forward` returns the outputs, then the residuals; `backward` takes the residuals, then the cotangent.

    `residuals` are value ids of the joint program, the same in both halves. The outputs of `backward` are the
    gradients of the joint program, in order. Where nothing multiplies them by a cotangent `refused` says why;
    they are those of the cotangent 1 then, and `backward` has no input for another.
    """

    forward: Program
    backward: Program
    residuals: tuple[str, ...]
    refused: str = ""


def split(program: Program, product: Product = repeated) -> Split:
    """Split a program that has gradients.

    With an input named "cotangent", `forward` is everything that does not depend on it. Without one the
    output is a scalar and its cotangent was 1: `forward` is what the outputs need, `backward` is the rest,
    and it has an input "cotangent" that scales the gradients at the end, by `product`; where that raises
    `TargetError` they stay as they are. Views and arrays without operands that both halves read are made in
    both, so a residual is never a mere view. Raises `ProgramError` without gradients, and where an output
    depends on the cotangent.
    """
    if not program.gradients:
        raise ProgramError(f"a split needs gradients, and {program.name} has none; differentiate it first")
    joint = next((i for i in program.inputs if i.name == COTANGENT), None)
    early = _independent(program, joint.value) if joint else _ancestors(program, program.outputs)
    if not early.issuperset(program.outputs):
        raise ProgramError(
            f"a split needs outputs that do not depend on the cotangent, and those of {program.name} read "
            f"its input {COTANGENT!r}; give that argument another name"
        )
    late = _late(program, early)
    inside = {n.value for n in late} | ({joint.value} if joint else set())
    read = {v for n in late for v in n.operands} | {value for _, value in program.gradients}
    order = [*(i.value for i in program.inputs), *(n.value for n in program.nodes)]
    residuals = tuple(v for v in order if v in read and v not in inside)
    backward, refused = _backward(program, residuals, late, joint, product)
    needed = _ancestors(program, (*program.outputs, *residuals))
    first = tuple(n for n in program.nodes if n.value in needed)
    arguments = tuple(i for i in program.inputs if i != joint)
    forward = Program(f"{program.name}_forward", arguments, first, program.outputs + residuals)
    return Split(forward, backward, residuals, refused)


def _ancestors(program: Program, values: Iterable[str]) -> set[str]:
    found: set[str] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value not in found:
            found.add(value)
            node = program.producer.get(value)
            stack.extend(node.operands if node else ())
    return found


def _independent(program: Program, value: str) -> set[str]:
    """The values that do not depend on this one."""
    found = {i.value for i in program.inputs if i.value != value}
    for node in program.nodes:
        if found.issuperset(node.operands):
            found.add(node.value)
    return found


def _late(program: Program, early: set[str]) -> list[Node]:
    """What the gradients need and forward lacks, and cheap nodes that would else be residuals."""
    found: set[str] = set()
    stack = [value for _, value in program.gradients]
    while stack:
        value = stack.pop()
        node = program.producer.get(value)
        if node is None or value in found or (value in early and not _cheap(node)):
            continue
        found.add(value)
        stack.extend(node.operands)
    return [n for n in program.nodes if n.value in found]


def _cheap(node: Node) -> bool:
    return node.op.view or not node.operands


def _backward(
    program: Program, residuals: tuple[str, ...], late: list[Node], joint: Input | None, product: Product
) -> tuple[Program, str]:
    """The second half; residuals go by the names of inputs, by labels, or by value ids."""
    labels = Counter(n.label for n in program.nodes)
    taken = {i.name for i in program.inputs} | {COTANGENT}
    named = {i.value: i.name for i in program.inputs}
    for node in program.nodes:
        short = node.label and labels[node.label] == 1 and node.label not in taken
        named[node.value] = node.label if short else node.value
    inputs = [Input(named[v], v, program.types[v]) for v in residuals]
    gradients = tuple(value for _, value in program.gradients)
    refused = ""
    if joint is None:
        total = program.types[program.outputs[0]]
        joint = Input(COTANGENT, _fresh(program, COTANGENT), Type((), total.dtype))
        try:
            scaled, gradients = _scaled(program, joint, gradients, product)
            late = late + scaled
        except TargetError as error:
            joint, refused = None, str(error)
    inputs += [joint] if joint else []
    return Program(f"{program.name}_backward", tuple(inputs), tuple(late), gradients), refused


def _scaled(
    program: Program, cotangent: Input, gradients: tuple[str, ...], product: Product
) -> tuple[list[Node], tuple[str, ...]]:
    """Nodes that multiply each gradient by the cotangent, and the products in order."""
    nodes: list[Node] = []
    products: dict[str, str] = {}
    for gradient in dict.fromkeys(gradients):
        part = product(program.types[gradient], cotangent.type)
        here = dict(zip((i.value for i in part.inputs), (gradient, cotangent.value), strict=True))
        for node in part.nodes:
            value = here[node.value] = _fresh(program, f"scaled{len(nodes)}")
            operands = tuple(here[v] for v in node.operands)
            nodes.append(Node(f"n_{value}", value, node.op, operands, node.type))
        products[gradient] = here[part.outputs[0]]
    return nodes, tuple(products[v] for v in gradients)


def _fresh(program: Program, value: str) -> str:
    """The id, made longer until the program has no such value or node."""
    while value in program.types or f"n_{value}" in {n.id for n in program.nodes}:
        value += "_"
    return value
