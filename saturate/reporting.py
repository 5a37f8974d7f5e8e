"""From what optimizing found to the plain data of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from saturate.accuracy import Judge
from saturate.extract.costs import Profile
from saturate.extract.report import (
    Accuracy,
    Barred,
    Chosen,
    LawUse,
    Report,
    ResultError,
    Step,
    Steps,
)
from saturate.forms import LOWERINGS
from saturate.improve import Improved
from saturate.log import matched, searched, windows
from saturate.ops.structure import Transpose
from saturate.price import price_program
from saturate.program import Program
from saturate.rules.law import Law
from saturate.target import Target


def report_of(
    baseline: Program,
    improved: Improved,
    judge: Judge,
    exact: str,
    laws: Sequence[Law],
    notes: Sequence[str] = (),
    assumed: Sequence[str] = (),
    target: Target | None = None,
) -> Report:
    """The report of an optimization; its check is added once it was run."""
    target = target or Target()
    made_for = "" if target.ops is None else f"; target {target}"
    return Report(
        title=baseline.name,
        before=_steps(baseline, {}, target.profile),
        after=_steps(improved.program, improved.laws, target.profile),
        context=", ".join(f"{i.name}: {i.type}" for i in baseline.inputs) + f"; exact={exact}" + made_for,
        laws=_uses(improved, laws),
        matched=matched(improved),
        saturation=searched(improved),
        windows=windows(baseline, improved, target.profile),
        extraction=_chosen(improved),
        accuracy=_accuracy(improved, judge),
        assumptions=tuple(assumed),
        notes=(*improved.notes, *notes),
    )


def _chosen(improved: Improved) -> Chosen | None:
    """How the result was taken out; what windows cost and their bounds add up."""
    found = [p.extraction for p in improved.last]
    if not found:
        return None
    return Chosen(
        method=", ".join(dict.fromkeys(e.method for e in found)),
        cost=sum(e.cost for e in found),
        lower_bound=sum(e.lower_bound for e in found),
        proven=all(e.proven for e in found),
        bound_by=", ".join(dict.fromkeys(e.bound_by for e in found if e.bound_by)),
    )


def _steps(program: Program, laws: Mapping[str, str], profile: Profile | None) -> Steps:
    names = {i.value: i.name for i in program.inputs}
    for node in program.nodes:
        names[node.value] = node.label or node.value
    views = {n.value: n for n in program.nodes if n.op.view}

    def name(value: str) -> str:
        """The name of what a view shows, with its axes in the order of the view."""
        if value not in views:
            return names[value]
        view = views[value]
        inner = name(view.operands[0])
        return _turned(view.op, inner) if isinstance(view.op, Transpose) else inner

    return Steps(
        steps=tuple(
            Step(
                value=names[p.node.value],
                op=p.node.op.text(*(name(v) for v in p.node.operands)),
                shape=p.node.type.shape,
                dtype=p.node.type.dtype,
                flops=p.step.flops,
                bytes=p.step.bytes,
                cost=p.cost,
                law=laws.get(p.node.value, ""),
            )
            for p in price_program(program, profile).nodes
        )
    )


def _turned(op: Transpose, operand: str) -> str:
    """A transpose as people write it."""
    rank = len(op.permutation)
    if op.permutation == (*range(rank - 2), rank - 1, rank - 2):
        turned = ".T" if rank == 2 else ".swapaxes(-2, -1)"
        return operand.removesuffix(turned) if operand.endswith(turned) else operand + turned
    return op.text(operand)


def _uses(improved: Improved, laws: Sequence[Law]) -> tuple[LawUse, ...]:
    labels = {n.value: n.label or n.value for n in improved.program.nodes}
    where: dict[str, list[str]] = {}
    for value, law in improved.laws.items():
        if value in labels:
            where.setdefault(law, []).append(labels[value])
    statements = {law.name: law.doc.splitlines()[0] for law in laws} | LOWERINGS
    classes = {law.name: law.exact for law in laws}
    return tuple(
        LawUse(name=name, statement=statement, where=tuple(where[name]), exact=classes.get(name, "rounding"))
        for name, statement in statements.items()
        if name in where
    )


def _accuracy(improved: Improved, judge: Judge) -> Accuracy:
    return Accuracy(
        factor=judge.factor if judge.samples else None,
        reference=judge.yardstick.dtype,
        results=tuple(
            ResultError(name=r.name, baseline=r.baseline_error, chosen=r.error) for r in judge.rows
        ),
        barred=tuple(
            Barred(step=b.partition(":")[0], why=b.partition(":")[2].strip()) for b in improved.barred
        ),
    )
