"""`taskflow bench`: the group of all benchmarks, and their registry.

A system of this package is a subpackage whose module `app` has a typer app of that name. Its commands become commands
of `taskflow bench`. Another package names a typer app by an entry point of the group `taskflow.bench`: its commands are
`taskflow bench NAME ...`, where NAME is the name of the entry point. All are looked up when the group is first used.
They should not import modules that only a measurement needs.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from taskflow.cli.exit_codes import writing
from taskflow.cli.format import tell

PAPERS = "examples.papers.zaspel_griebel_2011", "examples.papers.luo_2014"
SYSTEMS = ("taskflow.bench.machine", "taskflow.bench.projection", *PAPERS)
OTHERS = "taskflow.bench"  # the group of entry points


class Benchmarks(TyperGroup):
    """Commands of all systems, looked up when first requested."""

    _own: dict[str, Any]
    _all: dict[str, Any] | None

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """Commands by name, those in this package first."""
        if self._all is None:
            registry = typer.Typer(rich_markup_mode=None)
            for system in SYSTEMS:
                registry.add_typer(import_module(f"{system}.app").app)
            self._all = {**get_group(registry).commands, **self._own, **_others()}
        return self._all

    @commands.setter
    def commands(self, commands: MutableMapping[str, Any]) -> None:
        self._own, self._all = dict(commands), None


def _others() -> MutableMapping[str, Any]:
    """Return the groups of other packages. Groups that cannot be loaded are reported on standard error and omitted."""
    from importlib.metadata import entry_points

    registry = typer.Typer(rich_markup_mode=None)
    for point in entry_points(group=OTHERS):
        try:
            registry.add_typer(point.load(), name=point.name)
        except Exception as error:
            words = f"{type(error).__name__}: {error}"
            tell(f"Warning: the benchmarks {point.name} of {point.value} cannot be loaded ({words})", err=True)
    return get_group(registry).commands


bench = typer.Typer(
    cls=Benchmarks, no_args_is_help=True, rich_markup_mode=None, help="Measure this machine, and taskflow on it."
)


@bench.command()
def report(
    results: Annotated[
        list[Path], typer.Argument(metavar="RESULT.json...", help="What benchmarks wrote with -o.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PAGE.md", help="Make the tables of this page anew; it may be new."),
    ] = None,
) -> None:
    """Make tables of results, as in the documentation.

    Kernels, steps, pressure solvers, several GPUs and CPUs, with machine, date, commit and command. In a page a table
    is between `<!-- table of NAME -->` and `<!-- end -->`. Without -o the tables are printed.
    """
    from docs.performance import report

    tables = {**report.TABLES}
    for system in SYSTEMS:
        if find_spec(f"{system}.report"):
            tables |= import_module(f"{system}.report").TABLES
    read = report.read(results)
    if output is None:
        typer.echo(report.updated(report.blank(list(report.TABLES)), read, tables), nl=False)
        return
    page = output.read_text(encoding="utf-8") if output.exists() else report.blank(list(report.TABLES))
    with writing(output):
        output.write_text(report.updated(page, read, tables), encoding="utf-8")
    tell(output)
