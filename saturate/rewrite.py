"""The optimizer as a composable pass: a program in, a program out that keeps the ids of what it keeps, and
records beside it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from saturate.cse import share
from saturate.errors import ArgumentError
from saturate.optimize import Optimized, optimize
from saturate.passes.emitter import Emitter, checked_prefix, checked_program
from saturate.passes.records import ExpansionResult
from saturate.program import Node, Program
from saturate.provenance import RewriteRegion, kept

Result = ExpansionResult[RewriteRegion]


def optimize_program(program: Program, *, reserved_id_prefix: str | None = None, **options: Any) -> Program:
    """The program of `optimize_program_detailed`."""
    return optimize_program_detailed(program, reserved_id_prefix=reserved_id_prefix, **options).program


def optimize_program_detailed(
    program: Program, *, reserved_id_prefix: str | None = None, **options: Any
) -> Result:
    """The cheapest program found, with the ids of `program` where it computes the same values.

    A node that stays keeps its ids; a region's terminal value keeps the id of the value that it replaces, and
    its nodes stand one after another; other new ids begin with `reserved_id_prefix` (`ex`). `options` are
    those of `optimize`, but for `wrt`: differentiate first. Raises what `optimize` raises, `ArgumentError`
    for a wrong prefix, and `ProgramError` (`malformed_derivative_ir`) where a new id is taken.
    """
    checked_program(program, "optimize_program")
    if options.get("wrt") is not None:
        raise ArgumentError("optimize_program takes no wrt: differentiate the program first, with grad")
    prefix = checked_prefix(reserved_id_prefix)
    return _renamed(optimize(program, **options), Emitter(program, prefix))


def _renamed(best: Optimized, e: Emitter) -> Result:
    """The result under the ids of the baseline, region by region."""
    same, baseline = dict(best.same), share(best.baseline)
    by_node = {node.id: node for node in best.program.nodes}
    emitted = {i: region for region in best.provenance for i in region.emitted_node_ids}
    terminals = {region.terminal_value_id: region for region in best.provenance}
    names = {value: old for value, old in same.items() if value not in by_node}
    found: list[RewriteRegion] = []
    for node in best.program.nodes:
        region = terminals.get(node.value)
        if region is not None:
            ids = [_emit(by_node[i], baseline, names, same, e) for i in region.emitted_node_ids]
            terminal = names[region.terminal_value_id]
            found.append(replace(region, emitted_node_ids=tuple(ids), terminal_value_id=terminal))
        elif node.id not in emitted:
            _emit(node, baseline, names, same, e)
    results = [names[v] for v in best.program.results]
    split = len(best.program.outputs)
    gradients = tuple(zip((name for name, _ in baseline.gradients), results[split:], strict=True))
    made = Program(baseline.name, baseline.inputs, tuple(e.nodes), tuple(results[:split]), gradients)
    return ExpansionResult(made, tuple(found))


def _emit(node: Node, baseline: Program, names: dict[str, str], same: dict[str, str], e: Emitter) -> str:
    """Append a node under the ids of the baseline; its node id."""
    old = baseline.producer.get(same.get(node.value, ""))
    if old is not None and kept(node, old, same):
        names[node.value] = old.value
        e.nodes.append(old)
    else:
        value = "" if old is None else old.value
        operands = (names[v] for v in node.operands)
        names[node.value] = e.emit(node.op, *operands, value=value, label=node.label)
    return e.nodes[-1].id
