"""`taskflow bench`: the group of all benchmarks, and the registry in which it finds them.

A subpackage has a module `app` with a typer app of that name; the commands of the app are commands of
`taskflow bench`. Another package names a typer app by an entry point of the group `taskflow.benchmarks`; its commands
are run as `taskflow bench NAME COMMAND`, where NAME is the name of the entry point. All are looked up when the group is
first used. None should import modules that only a measurement needs.

Studies outside the package are typer apps, too (`studies`), or modules to start (`start`).
"""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from taskflow.terminal.exit_codes import Command, Commands, refuse
from taskflow.terminal.format import tell
from taskflow.terminal.process import alone

SYSTEMS = ("taskflow.bench.machine", "taskflow.bench.projection")
OTHERS = "taskflow.benchmarks"  # the group of entry points
LOOKS: dict[str, Any] = {"rich_markup_mode": None, "pretty_exceptions_enable": False, "add_completion": False}
HELP = {"help_option_names": ["-h", "--help"]}
IN_USE = "--in-use"  # an option of a study whose passes a run has
NO_RUN = {
    "channels": "no run consists of messages alone",
    **dict.fromkeys(("scaling", "sweep"), "no run consists of sweeps alone"),
}
PAPER = "examples.papers."
MOVED = {
    "report": "docs.performance.report",
    "kernels": "tests.performance.kernels",
    "runtime": "tests.performance.runtime",
    "cavity": f"{PAPER}jacobsen_senocak_2013 cavity",
    "two-phase": f"{PAPER}zaspel_griebel_2011 two-phase",
    **{name: f"{PAPER}xue_roy_2020 {name}" for name in ("residual", "ssspnt")},
    **{name: f"{PAPER}luo_2014 {name}" for name in ("triangular", "outer", "simplefoam")},
}


class Benchmarks(TyperGroup):
    """The commands of all systems, looked up on first use."""

    _own: dict[str, Any]
    _all: dict[str, Any] | None

    @property
    def commands(self) -> MutableMapping[str, Any]:
        """Return the commands by name, this package's own first."""
        if self._all is None:
            registry = typer.Typer(rich_markup_mode=None)
            for system in SYSTEMS:
                registry.add_typer(import_module(f"{system}.app").app)
            self._all = {**get_group(registry).commands, **self._own, **_others()}
        return self._all

    @commands.setter
    def commands(self, commands: MutableMapping[str, Any]) -> None:
        self._own, self._all = dict(commands), None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that these words give. Raises BadInput if it has moved out of the package."""
        if IN_USE in args and args[0] in NO_RUN:
            refuse(f"bench {args[0]} {IN_USE}: {NO_RUN[args[0]]}; give `taskflow bench step {IN_USE}`")
        if (name := args[0]) in MOVED and name not in self.commands:
            refuse(f"bench {name}: it has moved; in a checkout of taskflow give `python -m {MOVED[name]} ...`")
        return super().resolve_command(ctx, args)


def _others() -> MutableMapping[str, Any]:
    """The groups of other packages. One that cannot be loaded is named on standard error, and skipped."""
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


def studies(about: str) -> typer.Typer:
    """Return an app for the commands of `python -m MODULE`, with the error handling and exit codes of `taskflow`."""
    app = typer.Typer(cls=Commands, no_args_is_help=True, context_settings=HELP, **LOOKS)

    @app.callback(help=about)
    def _(debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False) -> None:
        pass

    return app


def study(command: Any) -> typer.Typer:
    """Return an app of this command alone, which `python -m MODULE` gives without another word."""
    app = typer.Typer(**LOOKS)
    app.command(cls=Command, context_settings=HELP)(command)
    return app


def start(app: typer.Typer, module: str) -> None:
    """Give the command that the words of `python -m MODULE` ask for."""
    with alone():
        app(prog_name=f"python -m {module}")
