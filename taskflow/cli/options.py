"""Options and arguments that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def _settings(begun: str) -> list[str]:
    from taskflow.simulation.case import Case

    keys = (".".join(path) + "=" for path in Case.paths() if len(path) > 1)
    return [key for key in keys if key.startswith(begun)]


CaseFile = Annotated[Path, typer.Argument(metavar="CASE.toml", help="The case file.", show_default=False)]
RunDirectory = Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.", show_default=False)]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="table.key=VALUE",
        help="Replace a value of the case file, as often as wanted. VALUE is as in TOML; plain text needs no quotes.",
        autocompletion=_settings,
    ),
]
Scheduler = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Run on the cluster of this Dask scheduler, not on an embedded one.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


def into(kind: str, text: str) -> Any:
    """The option -o of a command."""
    return typer.Option("-o", "--output", metavar=kind, help=text)
