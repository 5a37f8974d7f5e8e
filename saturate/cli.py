"""The command `saturate`: demos, a user's own function optimized from the shell, the laws and one's own."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.syntax import Syntax

from saturate.demos import DEMOS
from saturate.errors import ArgumentError, SaturateError
from saturate.extract.command import extract_command
from saturate.extract.report import Report
from saturate.extract.report_text import WIDTH, renderable
from saturate.extract.units import cost, times
from saturate.law_command import EVERY, catalogue, checked, law_named, page
from saturate.named import examples_of, function_of
from saturate.op import Type
from saturate.ops.constants import Constant, is_saved
from saturate.optimize import Optimized
from saturate.optimize import optimize as optimize_function
from saturate.rules import Law
from saturate.stopwatch import compared
from saturate.target import Target
from saturate.text import save_constants

_USAGE: Any = typer.BadParameter.__mro__[2]
"""ClickException: newer versions of typer bring a click of their own, older ones need the package."""

REPEATED = ("--arg", "--wrt", "--ops")
"""The options that may be repeated."""
SHOWN = 60
"""A demo of more steps shows no table of them."""

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="The cheapest program with the same value and gradients as a NumPy function.",
)


def _version(asked: bool) -> None:
    if asked:
        print(f"saturate {version('saturate-grad')}")
        raise typer.Exit


@app.callback()
def _face(
    asked: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    name: Annotated[str | None, typer.Argument(help="Which demo; without it they are listed.")] = None,
) -> None:
    """List the demos, or run one: the function, its forward and backward as source, the report, the check."""
    console = _console()
    if name is None:
        width = max(map(len, DEMOS))
        for known in DEMOS.values():
            console.print(f"{known.name:{width}}  {known.about}", highlight=False, soft_wrap=True)
        console.print(f"\nRun one: saturate demo {next(iter(DEMOS))}", highlight=False)
        return
    if name not in DEMOS:
        raise ArgumentError(f"there is no demo {name!r}; there are {', '.join(DEMOS)}")
    chosen = DEMOS[name]
    _heading(console, "The function")
    _code(console, "\n\n".join(inspect.getsource(f) for f in (*chosen.beside, chosen.function)))
    best = _optimized(chosen.function, chosen.types, wrt=chosen.wrt)
    _heading(console, f"Its forward and backward, optimized: {chosen.about}")
    _code(console, "def forward" + best.source().partition("def forward")[2])
    count = best.report.before.passes
    _heading(console, "The report" + f", without its tables of {count} steps" * (count > SHOWN))
    _report(console, best.report, steps=count <= SHOWN)
    before, after = compared((best.baseline, best.program))
    _heading(
        console,
        f"Measured here: {cost(before * 1e9, 'ns')} before, {cost(after * 1e9, 'ns')} after "
        f"({times(before / after)}), both by the same runner, which reuses its buffers",
    )


@app.command()
def optimize(
    function: Annotated[str, typer.Argument(metavar="FILE.py:FUNCTION", help="A NumPy function in a file.")],
    arg: Annotated[
        list[str],
        typer.Option(help="Type of an argument, NAME=SHAPE[:DTYPE], as in q=256x64:float32; repeat."),
    ] = [],  # noqa: B006  # typer copies it
    wrt: Annotated[
        list[str],
        typer.Option(help="Arguments to differentiate by, as in q,k; may be repeated."),
    ] = [],  # noqa: B006  # typer copies it
    source: Annotated[Path | None, typer.Option(help="Write the optimized source to this file.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report as a page to this file.")] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Print what the search did: by law, by window, by stage.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    exact: Annotated[str, typer.Option(help="bitwise, rounding, domain or bounded.")] = "rounding",
    target: Annotated[str, typer.Option(help="The runner: numpy or cupy.")] = "numpy",
    ops: Annotated[
        list[str],
        typer.Option(help="The only ops of the result, as in full,matmul,mul,reshape; may be repeated."),
    ] = [],  # noqa: B006  # typer copies it
    accuracy: Annotated[float, typer.Option(help="Times the error that the baseline can have.")] = 4.0,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
) -> None:
    """Optimize a function of a file and print its source and report."""
    found = function_of(function)
    best = _optimized(
        found, examples_of(found, arg), wrt=_listed(wrt), exact=exact, accuracy=accuracy, seed=seed,
        target=Target(target, _listed(ops)),
    )  # fmt: skip
    written = _written(best, source, report)
    if as_json:
        said = {"program": str(best.program), "source": best.source(), "report": best.report.to_dict()}
        print(json.dumps(said, allow_nan=False, indent=1, ensure_ascii=False))
        return
    console = _console()
    if source is None:
        _code(console, best.source())
    _report(console, best.report)
    if profile:
        print(f"\n{best.report.profile()}")
    for file in written:
        console.print(f"wrote {file}", markup=False, soft_wrap=True)


@app.command()
def rules(
    name: Annotated[str | None, typer.Argument(help="Which law; without it they are listed.")] = None,
    check: Annotated[
        str | None,
        typer.Option(metavar="FILE.py", help="Test the laws of this file; if one is wrong, status 1."),
    ] = None,
    used: Annotated[bool, typer.Option(help="Optimize the workloads for its uses: half a minute.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """List the laws by theory, show one and where it is used, or test your own."""
    if check is not None:
        said, right = checked(check, name, as_json)
        print(said)
        raise typer.Exit(0 if right else 1)
    if name is None:
        print(catalogue(as_json))
        return
    law = law_named(name, EVERY)
    with _waiting("optimizing the workloads") if used and isinstance(law, Law) else nullcontext():
        shown = page(law, as_json, used)
    print(shown)


@app.command()
def extract(
    graph: Annotated[Path, typer.Argument(help="An e-graph in egraph-serialize form, .json or .json.gz.")],
    seconds: Annotated[
        float, typer.Option("--seconds", "--time", min=0.0, help="When to stop looking, in seconds.")
    ] = 10.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """The cheapest choice out of an e-graph of a file, with a lower bound."""
    if not graph.is_file():
        raise ArgumentError(f"extract needs a file, and there is no file {str(graph)!r}")
    print(extract_command(graph, seconds, as_json))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; errors are one line on stderr, with status 2 where an argument is wrong, else 1."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        _once(given)
        status = app(given or ["--help"], prog_name="saturate", standalone_mode=False)
    except ArgumentError as error:
        _fail(str(error), 2)
    except SaturateError as error:
        _fail(str(error), 1)
    except typer.Abort:
        _fail("interrupted", 130)
    except _USAGE as error:
        _fail(error.format_message(), 2)
    except OSError as error:
        _fail(f"{error.filename}: {error.strerror}", 1)
    except Exception as error:
        traced = [note for note in getattr(error, "__notes__", ()) if note.startswith("while tracing")]
        if not traced:
            raise
        _fail(f"{type(error).__name__}: {error} ({traced[0]})", 1)  # NumPy refuses what the user wrote
    sys.exit(status or 0)


def _once(given: Sequence[str]) -> None:
    """Raise where an option that takes one value is given twice, of which the last alone would count."""
    options = [text.partition("=")[0] for text in given if text.startswith("--")]
    twice = [option for option in options if options.count(option) > 1 and option not in REPEATED]
    if twice:
        raise ArgumentError(f"{twice[0]} is given twice; what may be repeated is {', '.join(REPEATED)}")


def _fail(message: str, status: int) -> NoReturn:
    print(f"saturate: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(status)


def _listed(given: Sequence[str]) -> tuple[str, ...] | None:
    """The names of an option with commas that may be repeated, None where it is not given."""
    return tuple(name.strip() for names in given for name in names.split(",")) or None


def _optimized(function: Callable[..., Any], types: Sequence[Type], **options: Any) -> Optimized:
    """`optimize`, with a sign of life on a terminal."""
    with _waiting(f"optimizing {getattr(function, '__name__', 'the function')}"):
        return optimize_function(function, *types, **options)


def _waiting(what: str) -> AbstractContextManager[object]:
    """A sign of life on a terminal."""
    console = Console(stderr=True)
    return console.status(f"{what} …") if console.is_terminal else nullcontext()


def _written(best: Optimized, source: Path | None, report: Path | None) -> list[Path]:
    """Write what was asked for; large captured arrays go beside the source."""
    files: list[Path] = []
    if source is not None:
        source.write_text(best.source(), encoding="utf-8")
        files.append(source)
        if any(isinstance(n.op, Constant) and is_saved(n.op.array) for n in best.program.nodes):
            files.append(source.with_name(f"{best.program.name}.npz"))
            save_constants(best.program, files[-1])
    if report is not None:
        best.report.to_html(report)
        files.append(report)
    return files


def _console() -> Console:
    """Standard output; wide enough for tables where it is no terminal."""
    plain = Console()
    return plain if plain.is_terminal else Console(width=WIDTH)


def _report(console: Console, report: Report, steps: bool = True) -> None:
    """In colour on a terminal, else the plain text."""
    if console.is_terminal:
        console.print(renderable(report, times=True, steps=steps))
    else:
        print(report.text(times=True, steps=steps))


def _heading(console: Console, text: str) -> None:
    console.print(f"\n{text}\n", style="bold", markup=False, highlight=False, soft_wrap=True)


def _code(console: Console, text: str) -> None:
    """Python in colour on a terminal, else the text as it is."""
    if console.is_terminal:
        python = Syntax("", "python", theme="ansi_light", background_color="default")
        console.print(python.highlight(text.rstrip()), soft_wrap=True)
    else:
        print(text.rstrip())
