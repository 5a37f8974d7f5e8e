"""The log of a search as plain data: law by law, window by window, stage by stage."""

from __future__ import annotations

from collections import Counter

from saturate.extract.costs import Profile
from saturate.extract.report import LawMatches, Searched, WindowSearch
from saturate.improve import Improved, Pass
from saturate.price import price_program
from saturate.program import Program


def matched(improved: Improved) -> tuple[LawMatches, ...]:
    """Matches, seconds and e-nodes of every law that matched, over all searches; the most matches first."""
    (matches, seconds), made = _runs(improved), growth(improved)
    laws = [name for name in matches if matches[name] and not _states_facts(name)]
    most = sorted(laws, key=lambda name: (-matches[name], name))  # the engine reports in no fixed order
    return tuple(
        LawMatches(name=name, matches=matches[name], seconds=seconds[name], made=made[name]) for name in most
    )


def _runs(improved: Improved) -> tuple[Counter[str], dict[str, float]]:
    """Matches and seconds of every rule."""
    matches, seconds = Counter[str](), dict[str, float]()
    for found in improved.passes:
        for name, run in found.search.saturation.laws.items():
            matches[name] += run.matches
            seconds[name] = seconds.get(name, 0.0) + run.seconds
    return matches, seconds


def _states_facts(rule: str) -> bool:
    """Whether a rule is no law: those go by their text."""
    return "(" in rule


def _others(improved: Improved) -> dict[str, float]:
    """Seconds of the rules that are no law that matched."""
    matches, seconds = _runs(improved)
    idle = sum(s for name, s in seconds.items() if not matches[name] and not _states_facts(name))
    facts = sum(s for name, s in seconds.items() if _states_facts(name))
    return {"laws that matched nothing": idle, "facts": facts}


def growth(improved: Improved) -> Counter[str]:
    """How many e-nodes of the final e-graphs each law made; those of the program stand under `program`."""
    classes = [found.search.saturation.classes for found in improved.passes]
    return Counter(node.law for c in classes for nodes in c.nodes for node in nodes)


def searched(improved: Improved) -> Searched | None:
    """Why the searches stopped, e-nodes after each round, seconds by stage; None where none was run."""
    if not improved.passes:
        return None
    seconds: dict[str, float] = {}
    for found in improved.passes:
        for stage, spent in _seconds(found).items():
            seconds[stage] = seconds.get(stage, 0.0) + spent
    last = improved.last or improved.passes[-1:]
    return Searched(
        stopped=", ".join(dict.fromkeys(found.search.saturation.stopped for found in last)),
        nodes=tuple(n for found in improved.passes for n in _rounds(found)),
        seconds=seconds,
        others=_others(improved),
    )


def windows(baseline: Program, improved: Improved, profile: Profile | None) -> tuple[WindowSearch, ...]:
    """The windows of the program, equal ones once; one that is not long is one window."""
    if not improved.parts:
        whole = _window("the whole", 1, baseline, improved, improved.passes, profile)
        return (whole,) if improved.passes else ()
    times = Counter(part.title for part in improved.parts)
    kinds = {part.title: part for part in reversed(improved.parts)}
    return tuple(
        _window(title, times[title], part.window.program, part.improved, part.searched.passes, profile)
        for title in times
        for part in [kinds[title]]
    )


def _window(
    title: str,
    times: int,
    program: Program,
    improved: Improved,
    passes: tuple[Pass, ...],
    profile: Profile | None,
) -> WindowSearch:
    return WindowSearch(
        title=title,
        times=times,
        size=len(program.nodes),
        nodes=tuple(_rounds(found) for found in passes),
        before=price_program(program, profile).cost,
        after=price_program(improved.program, profile).cost,
        seconds=sum(sum(_seconds(found).values()) for found in passes),
    )


def _rounds(found: Pass) -> tuple[int, ...]:
    return tuple(r.nodes for r in found.search.saturation.rounds)


def _seconds(found: Pass) -> dict[str, float]:
    return {**found.search.seconds, "extract": found.extraction.seconds}
