"""The search that a request asks for, whole or window by window, its result put together and checked."""

from __future__ import annotations

from dataclasses import replace

from saturate.accuracy import Judge
from saturate.asked import asked
from saturate.assumed import rests_on, told
from saturate.collecting import without_collection
from saturate.cse import share
from saturate.exact import without_identities
from saturate.improve import STOPPED, Improved, improve
from saturate.measure import NOWHERE
from saturate.optimized import Behind, Optimized
from saturate.passes.records import ExpansionResult
from saturate.piecewise import Found, Piecewise, Whole
from saturate.progress import Say, progress
from saturate.provenance import provenance
from saturate.reporting import report_of
from saturate.request import CHECKED, Request
from saturate.samples import KINDS, MILD
from saturate.targeted import require
from saturate.windows import windows
from saturate.zeroless import without_zeros

REFUSED = "the check refused the optimized program; the baseline with shared work is returned"
UNCHECKED = "interrupted: the result was not checked"


@without_collection
def searched(request: Request) -> Optimized:
    """The cheapest program found. An interrupt (Ctrl-C) ends what is going on, and what was found until then
    is returned. Raises `TargetError` where the target cannot run what is found.
    """
    kept: list[Found] = []
    try:
        with progress(f"optimizing {request.baseline.name}") as say:
            kept.append(_found(request, say))
    except KeyboardInterrupt:
        nothing = Found(_shared(request), request.baseline, Judge(request.baseline, (), 4.0))
        kept = [_stopped(found) for found in kept or [nothing]]
    found = kept[0]
    why = f"exact={request.exact}" if request.exact == "bitwise" else "; ".join(found.improved.notes)
    require(found.improved.program, request.goal, why)
    try:
        best = _assembled(request, found)
    except KeyboardInterrupt:  # the search is over, and what it found is not lost
        best = _assembled(request, _stopped(found))
    try:
        passed = _passed(request, best, found.judge) if request.check else best
    except KeyboardInterrupt:
        return _noted(best, UNCHECKED)
    return _refused(request, best) if passed is None else passed


def _stopped(found: Found) -> Found:
    """What was found, with the note of an interrupt."""
    notes = dict.fromkeys((*found.improved.notes, STOPPED))
    return replace(found, improved=replace(found.improved, notes=tuple(notes)))


def _found(request: Request, say: Say) -> Found:
    baseline, goal = request.baseline, request.goal
    facts = request.baseline_facts
    pieces = windows(baseline) if goal.ops is None and request.exact != "bitwise" else ()
    if len(pieces) > 1:
        whole = Whole(
            baseline, facts, request.arrays, request.few[0].arrays, request.given, request.bound
        )  # fmt: skip
        return Piecewise(
            request.laws, request.limits, request.extractor, request.accuracy, request.seed, goal,
            lambda plain: request.judge(plain, MILD), say, request.assumes,
        ).run(whole, pieces)  # fmt: skip
    plain = without_zeros(baseline, facts)
    judge = request.judge((plain,), KINDS)
    if request.exact == "bitwise":
        return Found(Improved(share(without_identities(baseline)), {}, (), (), ()), plain, judge)
    improved = improve(
        baseline, request.laws, request.limits, request.extractor, request.facts, judge, say=say, target=goal
    )  # fmt: skip
    return Found(improved, plain, judge)


def _shared(request: Request) -> Improved:
    """The baseline with shared work, where no time was given."""
    return Improved(share(request.baseline), {}, (), (), ())


def _assembled(request: Request, found: Found) -> Optimized:
    baseline, improved = request.baseline, found.improved
    needed = rests_on(baseline, request.baseline_facts, improved, request.laws, request.limits)
    assumed = told(baseline, needed, request.laws)
    report = report_of(
        baseline, improved, found.judge, request.exact, request.laws, request.notes, assumed, request.goal
    )  # fmt: skip
    rewritten = provenance(baseline, improved)
    questions = asked(
        baseline, improved, request.laws, request.facts, request.limits, request.arrays, request.exact
    )  # fmt: skip
    behind = Behind(questions, improved.parts)
    return Optimized(
        ExpansionResult(improved.program, rewritten.regions), baseline, request.goal, report,
        dict(improved.laws), dict(rewritten.same), request.laws, request.known, request.arrays,
        lambda: (found.plain,), lambda: behind, bool(improved.parts),
    )  # fmt: skip


def _passed(request: Request, best: Optimized, judge: Judge) -> Optimized | None:
    """The program with its certificate in the report; None where the check fails.

    Where the user gave samples, they are what is checked.
    """
    certificate = best.certified("numpy", CHECKED, request.seed, request.samples, judge.yardstick.runs)
    return replace(best, report=replace(best.report, check=certificate)) if certificate.passed else None


def _refused(request: Request, best: Optimized) -> Optimized:
    """The shared baseline in the place of a program that the check refused."""
    shared = share(best.baseline)
    same = {value: value for value in shared.types}
    behind = Behind(best.questions.at_the_start(shared))
    report = replace(best.report, assumptions=(), notes=(*best.report.notes, REFUSED))
    plain = replace(
        best, rewritten=ExpansionResult(shared, ()), laws={}, same=same, behind=lambda: behind, long=False,
        report=report,
    )  # fmt: skip
    require(plain.program, best.target, REFUSED)
    try:
        again = plain.check(trials=CHECKED, seed=request.seed, samples=request.samples)
    except KeyboardInterrupt:
        return _noted(plain, UNCHECKED)
    nowhere = [
        f"{r.name} is NaN or infinite wherever it was computed, such as on {r.worst_sample}, before anything "
        "is optimized: give examples or samples= on which it is finite"
        for r in again.results
        if r.fault == NOWHERE
    ]
    return replace(plain, report=replace(report, check=again, notes=(*report.notes, *nowhere)))


def _noted(best: Optimized, note: str) -> Optimized:
    return replace(best, report=replace(best.report, notes=(*best.report.notes, note)))
