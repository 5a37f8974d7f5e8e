"""The baseline without what is constant by computation: as people write it who hold that constant by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from saturate.cse import share
from saturate.denote import denote
from saturate.facts import Facts
from saturate.normal import simplify
from saturate.ops.constants import Full
from saturate.program import Node, Program


def without_zeros(baseline: Program, facts: Mapping[str, Facts] | None = None) -> Program:
    """The baseline with numbers for what is constant by computation, such as the adjoint of a softmax's
    maximum, and without the steps that then change nothing, such as to add zero.

    No law and no other form enters: what is left is computed as the baseline computes it.
    """
    denotation = denote(baseline, facts)
    simplified = simplify([denotation.values[v] for v in baseline.results])
    images = {v: simplified.image.get(term.id) for v, term in denotation.values.items()}
    same: dict[str, str] = {}
    nodes: list[Node] = []
    for node in baseline.nodes:
        image, kind = images[node.value], node.type
        operands = tuple(same.get(v, v) for v in node.operands)
        if image is not None and image.kind == "con" and not image.args and kind.is_float:
            node, operands = replace(node, op=Full(float(image.head[0]), kind.shape, kind.dtype)), ()
        for v in operands:
            equal = image is not None and images[v] is image and baseline.types[v] == kind
            if equal and denotation.axes[v] == denotation.axes[node.value] and not node.op.view:
                same[node.value] = v
        nodes.append(replace(node, operands=operands))
    outputs = tuple(same.get(v, v) for v in baseline.outputs)
    gradients = tuple((name, same.get(v, v)) for name, v in baseline.gradients)
    return share(Program(baseline.name, baseline.inputs, tuple(nodes), outputs, gradients))
