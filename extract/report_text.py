"""Findings as compact text, through rich."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from saturate.extract import units
from saturate.extract.findings import Accuracy, Findings, Steps

WIDTH = 110
"""Columns of the text without a terminal."""
NARROW = 100
"""On consoles of fewer columns the tables of steps show cost alone."""


def plain(found: Findings, times: bool, steps: bool = True) -> str:
    """The text without colour; the same on every machine unless `times` asks for seconds."""
    return _printed(renderable(found, times, steps))


def _printed(what: RenderableType) -> str:
    made = StringIO()
    console = Console(
        file=made,
        width=WIDTH,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        legacy_windows=False,
    )  # rich would show it in the notebook instead
    console.print(what)
    return "\n".join(line.rstrip() for line in made.getvalue().strip().splitlines())


def renderable(found: Findings, times: bool, steps: bool = True) -> RenderableType:
    """The report as one renderable of rich, with or without the tables of steps."""
    parts: list[RenderableType] = [Text(found.title, style="bold")]
    if found.context:
        parts.append(Text(found.context))
    parts.append(Text(headline(found), style="green"))
    if steps:
        parts += _section("before", [_Steps(found, found.before)])
        parts += _section("after", [_Steps(found, found.after)])
    parts += _section("laws in the result", list(_laws(found)))
    parts += _section("search", list(_search(found, times)))
    parts += _section("accuracy", list(_accuracy(found)))
    parts += _section("assumes", [Text(a) for a in found.assumptions])
    parts += _section("notes", [Text(f"• {n}") for n in found.notes])
    if found.check is not None:
        parts += _section("check", [Text(found.check.figures)])
    return Group(*parts)


def headline(found: Findings) -> str:
    """The line that says what was saved."""
    before, after = found.before, found.after
    costs = (units.cost(before.cost, found.unit), units.cost(after.cost, found.unit))
    return ", ".join(
        (
            f"cost {costs[0]} → {costs[1]} ({units.times(found.ratio)})",
            f"steps {before.passes} → {after.passes}",
            f"bytes {units.memory(before.bytes)} → {units.memory(after.bytes)}",
            f"flops {units.count(before.flops)} → {units.count(after.flops)}",
        )
    )


def search_lines(found: Findings, times: bool) -> Iterator[tuple[str, str]]:
    """How the search went and how the choice was made, as pairs of what and what it was."""
    search, chosen = found.saturation, found.extraction
    if search is not None:
        yield from _windows(found)
        yield "stopped", f"{search.stopped} after {units.plural(len(search.nodes), 'round')}{_nodes(found)}"
    if found.matched:
        matched = ", ".join(
            f"{m.name} {m.matches:,}" + f" ({m.seconds * 1e3:.1f} ms)" * times for m in found.matched
        )
        yield "laws matched", matched
    if chosen is not None:
        how = f"{chosen.method}, cost {units.cost(chosen.cost, found.unit)}, {chosen.verdict}"
        yield "chosen by", how + f" (bound: {chosen.bound_by})" * bool(chosen.bound_by)
    if times and search is not None and search.seconds:
        yield "seconds", ", ".join(f"{stage} {s:.3f}" for stage, s in search.seconds.items())


def _windows(found: Findings) -> Iterator[tuple[str, str]]:
    """Which windows there are, where there are several."""
    if len(found.windows) > 1:
        total = sum(w.times for w in found.windows)
        kinds = (f"{w.title}" + f" {w.times} times" * (w.times > 1) for w in found.windows)
        different = f", {len(found.windows)} different ones" * (total > len(found.windows))
        yield "windows", f"{total}{different}: {', '.join(kinds)}"


def _nodes(found: Findings) -> str:
    """E-nodes after each round; of several windows the most."""
    if len(found.windows) > 1:
        return f", at most {max(w.largest for w in found.windows):,} e-nodes at once"
    searches = [nodes for w in found.windows for nodes in w.nodes if nodes]
    several = f" of {len(searches)} searches" * (len(searches) > 1)
    told = [" → ".join(f"{n:,}" for n in nodes) for nodes in searches]
    return f"{several}, e-nodes {'; '.join(told)}" if told else ""


def profile(found: Findings) -> str:
    """The log of the search as tables: law by law, window by window, and what took the time."""
    return _printed(Group(*_profile(found))) or "nothing was searched"


def _profile(found: Findings) -> Iterator[RenderableType]:
    yield from _section("law by law", [_law_by_law(found)] if found.windows else [])
    yield from _section("window by window", [_window_by_window(found)] if found.windows else [])
    spent = found.saturation.seconds if found.saturation is not None else None
    if spent:
        stages = _table(("stage", "l"), ("ms", "r"))
        for stage, seconds in spent.items():
            stages.add_row(stage, _ms(seconds))
        yield from _section("stage by stage", [stages])


def _law_by_law(found: Findings) -> Table:
    steps = {use.name: len(use.where) for use in found.laws}
    table = _table(
        ("law", "l"), ("matches", "r"), ("ms", "r"), ("e-nodes", "r"), ("steps of the result", "r")
    )
    for m in found.matched:
        figures = (f"{m.matches:,}", _ms(m.seconds), f"{m.made:,}", str(steps.get(m.name, 0)))
        table.add_row(*map(Text, (m.name, *figures)))
    others = found.saturation.others if found.saturation is not None else None
    for what, seconds in (others or {}).items():
        table.add_row(Text(what, style="dim"), "", _ms(seconds), "", "")
    return table


def _window_by_window(found: Findings) -> Table:
    heads = [("window", "f"), *((h, "r") for h in ("times", "nodes", "searches", "rounds", "e-nodes"))]
    table = _table(*heads, ("cost before", "r"), ("after", "r"), ("gain", "r"), ("ms", "r"))
    for w in found.windows:
        counts = (w.times, w.size, len(w.nodes), w.rounds, w.largest)
        costs = (units.cost(w.before, found.unit), units.cost(w.after, found.unit))
        gain = units.times(w.before / w.after) if w.after else ""
        table.add_row(*map(Text, (w.title, *(f"{n:,}" for n in counts), *costs, gain, _ms(w.seconds))))
    return table


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.0f}"


def _section(title: str, body: list[RenderableType]) -> list[RenderableType]:
    if not body:
        return []
    return [Text(""), Text(title, style="bold"), *(Padding(part, (0, 0, 0, 2)) for part in body)]


def _table(*columns: tuple[str, str]) -> Table:
    """A table without lines; columns are given as heading and `l`, `r` or `f` (left, and may fold)."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for heading, side in columns:
        table.add_column(
            heading, justify="right" if side == "r" else "left", no_wrap=side != "f", overflow="fold"
        )
    return table


@dataclass(frozen=True)
class _Steps:
    """The steps as a table; without flops and bytes where the console is narrow."""

    found: Findings
    program: Steps

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wide = options.max_width >= NARROW
        lawful = any(s.law for s in self.program.steps)
        columns = [("value", "f"), ("step", "f"), ("type", "l")]
        columns += [("flops", "r"), ("bytes", "r")] * wide + [("cost", "r")] + [("law", "f")] * lawful
        table = _table(*columns)
        for s in self.program.steps:
            kind = f"{s.dtype}[{', '.join(map(str, s.shape))}]"
            figures = self._figures(s.flops, s.bytes, s.cost, wide)
            table.add_row(*map(Text, (s.value, s.op, kind, *figures, *([s.law] if lawful else []))))
        sums = self._figures(self.program.flops, self.program.bytes, self.program.cost, wide)
        table.add_row(*map(Text, ("", units.plural(self.program.passes, "step"), "", *sums)), style="bold")
        yield table

    def _figures(self, flops: float, moved: float, cost: float, wide: bool) -> tuple[str, ...]:
        paper = (units.count(flops), units.memory(moved)) if wide else ()
        return (*paper, units.cost(cost, self.found.unit))


def _laws(found: Findings) -> Iterator[RenderableType]:
    if not found.laws:
        return
    table = _table(("law", "l"), ("class", "l"), ("it says", "f"), ("made", "f"))
    for use in found.laws:
        table.add_row(*map(Text, (use.name, use.exact, use.statement, ", ".join(use.where))))
    yield table


def _search(found: Findings, times: bool) -> Iterator[RenderableType]:
    rows = list(search_lines(found, times))
    if not rows:
        return
    table = _table(("", "l"), ("", "f"))
    table.show_header = False
    for what, said in rows:
        table.add_row(Text(what, style="dim"), Text(said))
    yield table


def _accuracy(found: Findings) -> Iterator[RenderableType]:
    if found.accuracy is None:
        return
    yield Text(accuracy_line(found))
    if found.accuracy.results:
        table = _table(("result", "l"), ("error before", "r"), ("error after", "r"))
        for r in found.accuracy.results:
            table.add_row(*map(Text, (r.name, units.error(r.baseline), units.error(r.chosen))))
        yield table
    for line in barred_lines(found.accuracy):
        yield Text(f"left out: {line}")


def barred_lines(accuracy: Accuracy) -> list[str]:
    """The steps that were left out, those of one reason together: how often each, and why."""
    reasons: dict[str, dict[str, int]] = {}
    for barred in accuracy.barred:
        steps = reasons.setdefault(barred.why, {})
        steps[barred.step] = steps.get(barred.step, 0) + 1
    return [
        f"{', '.join(f'{count} × {step}' if count > 1 else step for step, count in steps.items())}: {why}"
        for why, steps in reasons.items()
    ]


def accuracy_line(found: Findings) -> str:
    """What error was admitted, against which reference."""
    accuracy = found.accuracy
    if accuracy is None or accuracy.factor is None:
        return "not measured (accuracy=None): among ways that are equal over the reals, cost alone decided"
    reference = f", against {accuracy.reference}" if accuracy.reference else ""
    return f"admitted: up to {accuracy.factor:g} times the largest error the baseline can have{reference}"
