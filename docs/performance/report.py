"""Make the tables of the performance pages: `python -m docs.performance.report RESULT.json... [-o PAGE.md]`.

A table stands in a page between `<!-- table of NAME -->` and `<!-- end -->`. Machine, date, commit and command of the
numbers of all tables stand between `<!-- sources -->` and `<!-- end -->`. The rest of the page is kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from docs.performance import artificial_compressibility, overview, projection, two_phase
from docs.performance.table import ReportTable, Source, notes
from taskflow.bench.app import start, study
from taskflow.bench.tables import Result
from taskflow.common.errors import BadInput
from taskflow.output import read_report
from taskflow.terminal.exit_codes import refuse, writing
from taskflow.terminal.format import tell

PLACE = re.compile(r"(<!-- table of (\w+) -->\n).*?<!-- end -->", re.DOTALL)
SOURCES = re.compile(r"<!-- sources -->\n.*?<!-- end -->", re.DOTALL)
NO_SOURCES = "## Sources\n\n<!-- sources -->\n\n<!-- end -->\n"
TABLES: Mapping[str, Callable[[Sequence[Result]], ReportTable]] = {
    **overview.TABLES, **projection.TABLES, **two_phase.TABLES, **artificial_compressibility.TABLES,
}  # fmt: skip


def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT.json...", help="What benchmarks wrote with -o.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PAGE.md", help="Update the tables of this page; it may be new."),
    ] = None,
) -> None:
    """Make tables of results, as in the documentation.

    Kernels, steps, pressure solvers, several GPUs and CPUs, and in a page the tables of the papers, too: with machine,
    date, commit and command. Without -o they are printed. Of two results for the same row the newer one counts.
    """
    known = read(results)
    if output is None:
        typer.echo(updated(blank(list(overview.TABLES)), known, TABLES), nl=False)
        return
    page = output.read_text(encoding="utf-8") if output.exists() else blank(list(overview.TABLES))
    with writing(output):
        output.write_text(updated(page, known, TABLES), encoding="utf-8")
    tell(output)


def read(paths: Sequence[Path]) -> list[Result]:
    """The results in these files. Raises BadInput where a file cannot be read, or lacks what a benchmark writes."""
    results = []
    for path in paths:
        try:
            result = read_report(path)
        except OSError as error:
            refuse(f"{path}: cannot be read ({error.strerror or error}); give files that a benchmark wrote with -o")
        missing = {"benchmark", "gpu", "results"} - result.keys()
        missing |= {name for name in ("git_commit", "started", "command") if not result.get(name)}
        if missing:
            refuse(f"{path}: has no {', '.join(sorted(missing))}; give files that a benchmark wrote with -o")
        results.append(result)
    return results


def updated(
    page: str, results: Sequence[Result], tables: Mapping[str, Callable[[Sequence[Result]], ReportTable]]
) -> str:
    """Return the page with new tables and sources. Raises BadInput if a table is unknown or a result lacks a number."""
    sources: list[Source] = []

    def table(place: re.Match[str]) -> str:
        if place[2] not in tables:
            raise BadInput(f"<!-- table of {place[2]} -->: no such table; use one of {', '.join(tables)}")
        try:
            return f"{place[1]}\n{tables[place[2]](results).markdown(sources)}\n\n<!-- end -->"
        except KeyError as error:
            raise BadInput(f"table of {place[2]}: a result has no {error}; measure it again") from None

    page = PLACE.sub(table, page)
    page = page if SOURCES.search(page) else f"{page}\n{NO_SOURCES}"
    return SOURCES.sub(lambda _: f"<!-- sources -->\n\n{notes(sources)}\n\n<!-- end -->", page)


def blank(tables: Sequence[str]) -> str:
    """Return a page of empty tables."""
    places = (f"## {name}\n\n<!-- table of {name} -->\n\n<!-- end -->\n\n" for name in tables)
    return "".join([*places, NO_SOURCES])


app = study(report)

if __name__ == "__main__":
    start(app, "docs.performance.report")
