"""Findings as one page of HTML that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from saturate.extract import units
from saturate.extract.findings import Findings, Steps
from saturate.extract.report_text import accuracy_line, barred_lines, search_lines

STYLE = """
.saturate { font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", sans-serif;
  color: #1f2733; background: #fff; max-width: 68rem; padding: 1.5rem 2rem 2.5rem; }
.saturate h1 { font-size: 1.7rem; line-height: 1.2; margin: 0; font-weight: 650; }
.saturate h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; font-weight: 650; }
.saturate p { margin: .25rem 0; }
.saturate .quiet { color: #5b6675; }
.saturate .tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1.25rem 0 .5rem; }
.saturate .tile { border: 1px solid #dfe4ea; border-radius: 8px; padding: .6rem 1rem; min-width: 8.5rem; }
.saturate .tile b { display: block; font-size: 1.3rem; font-weight: 650; white-space: nowrap; }
.saturate .tile.best { background: #eef7f1; border-color: #b9dcc5; color: #14532d; }
.saturate.saturate table { border-collapse: collapse; width: 100%; color: inherit; table-layout: auto;
  font-variant-numeric: tabular-nums; }
.saturate th { text-align: left; font-weight: 500; color: #5b6675; border-bottom: 1px solid #cbd2da;
  font-size: .85rem; }
.saturate.saturate th, .saturate.saturate td { padding: .28rem .9rem .28rem 0; vertical-align: top;
  background: none; text-align: left; }
.saturate td { border-bottom: 1px solid #eef1f4; }
.saturate tr.sum td { border-bottom: 0; font-weight: 650; }
.saturate.saturate .n { text-align: right; white-space: nowrap; }
.saturate code, .saturate pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono",
  "DejaVu Sans Mono", monospace; font-size: .85em; color: inherit; background: none; }
.saturate td code { overflow-wrap: anywhere; }
.saturate pre { background: #f6f8fa; padding: .8rem 1rem; border-radius: 8px; overflow-x: auto;
  margin: .25rem 0; }
.saturate .type { color: #5b6675; white-space: nowrap; }
.saturate .bar { width: 12%; min-width: 3rem; vertical-align: middle; }
.saturate .bar i { display: block; height: .7rem; border-radius: 2px; background: #9db4d0; min-width: 1px; }
.saturate .after .bar i { background: #5aa578; }
.saturate .law { color: #14532d; }
.saturate ul { margin: .25rem 0; padding-left: 1.2rem; }
.saturate td:first-child code { white-space: nowrap; }
@media print {
  .saturate { padding: 0; max-width: none; font-size: 12px; }
  .saturate tr { break-inside: avoid; }
}
"""


COLUMNS = ("value", "step", "type", "flops", "bytes", "cost")


def page(found: Findings) -> str:
    """A whole document, to be opened or printed."""
    title = escape(f"{found.title}: what saturate found")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>body {{ margin: 0; background: #fff; }} "
        f".saturate {{ margin: 0 auto; }}</style>\n</head>\n<body>\n{fragment(found)}\n</body>\n</html>\n"
    )


def fragment(found: Findings) -> str:
    """The report with its style, to stand in another page."""
    parts = [
        f"<h1>{escape(found.title)}</h1>",
        _paragraph(found.context, "quiet") if found.context else "",
        _tiles(found),
        _program(found, "Before", found.before),
        _program(found, "After", found.after),
        *_sections(found),
    ]
    body = "\n".join(part for part in parts if part)
    return f'<style>{STYLE}</style>\n<article class="saturate">\n{body}\n</article>'


def _tiles(found: Findings) -> str:
    before, after, unit = found.before, found.after, found.unit
    pairs = (
        ("cost", units.cost(before.cost, unit), units.cost(after.cost, unit)),
        ("steps that touch memory", str(before.passes), str(after.passes)),
        ("moved", units.memory(before.bytes), units.memory(after.bytes)),
        ("operations", units.count(before.flops), units.count(after.flops)),
    )
    tiles = [f'<div class="tile best"><b>{units.times(found.ratio)}</b>cost, before : after</div>']
    tiles += [f'<div class="tile"><b>{escape(b)} → {escape(a)}</b>{what}</div>' for what, b, a in pairs]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _program(found: Findings, title: str, program: Steps) -> str:
    longest = max((s.cost for s in (*found.before.steps, *found.after.steps)), default=0.0) or 1.0
    lawful = any(s.law for s in program.steps)
    rows = []
    for s in program.steps:
        kind = f"{s.dtype}[{', '.join(map(str, s.shape))}]"
        bar = f'<td class="bar"><i style="width:{100 * s.cost / longest:.1f}%"></i></td>'
        cells = [_cell(s.value, code=True), _cell(s.op, code=True), _cell(kind, "type")]
        cells += [_cell(f, "n") for f in _figures(found, s.flops, s.bytes, s.cost)]
        cells += [bar, _cell(s.law, "law")] if lawful else [bar]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    sums = _figures(found, program.flops, program.bytes, program.cost)
    total = ["", units.plural(program.passes, "step"), ""]
    rows.append(
        f'<tr class="sum">{"".join(map(_cell, total))}{"".join(_cell(f, "n") for f in sums)}'
        f"{'<td></td>' * (1 + lawful)}</tr>"
    )
    heads = [(h, "n" if h in ("flops", "bytes", "cost") else "") for h in COLUMNS] + [("", "bar")]
    lines = [_head(heads + [("law", "")] * lawful), *rows]
    return f'<h2>{title}</h2>\n<table class="{title.lower()}">\n' + "\n".join(lines) + "\n</table>"


def _figures(found: Findings, flops: float, moved: float, cost: float) -> tuple[str, str, str]:
    return units.count(flops), units.memory(moved), units.cost(cost, found.unit)


def _sections(found: Findings) -> Iterator[str]:
    if found.laws:
        yield "<h2>Laws in the result</h2>"
        rows = [(u.name, u.exact, u.statement, ", ".join(u.where)) for u in found.laws]
        yield _table(("law", "class", "it says", "made"), rows, code=(0, 3))
    search = list(search_lines(found, times=True))
    if search:
        yield "<h2>Search</h2>"
        yield _table((), search)
    if found.accuracy is not None:
        yield "<h2>Accuracy</h2>" + _paragraph(accuracy_line(found))
        errors = [(r.name, units.error(r.baseline), units.error(r.chosen)) for r in found.accuracy.results]
        if errors:
            yield _table(("result", "error before", "error after"), errors)
        yield _list(f"left out: {line}" for line in barred_lines(found.accuracy))
    if found.assumptions:
        yield "<h2>Assumes</h2>" + _list(found.assumptions)
    if found.notes:
        yield "<h2>Notes</h2>" + _list(found.notes)
    if found.check is not None:
        yield f"<h2>Check</h2>\n<pre>{escape(found.check.figures)}</pre>"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]], code: tuple[int, ...] = ()) -> str:
    named = [(h, "") for h in heads]
    lines = [f"<tr>{''.join(_cell(cell, code=k in code) for k, cell in enumerate(row))}</tr>" for row in rows]
    return "<table>\n" + "\n".join([*([_head(named)] if named else []), *lines]) + "\n</table>"


def _head(columns: Iterable[tuple[str, str]]) -> str:
    cells = "".join(f'<th class="{kind}">{escape(h)}</th>' for h, kind in columns)
    return f"<tr>{cells}</tr>".replace(' class=""', "")


def _cell(text: str, kind: str = "", code: bool = False) -> str:
    body = f"<code>{escape(text)}</code>" if code and text else escape(text)
    return f'<td class="{kind}">{body}</td>' if kind else f"<td>{body}</td>"


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _list(lines: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if items else ""
