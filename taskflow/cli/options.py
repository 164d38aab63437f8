"""Options and arguments shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from taskflow.terminal.exit_codes import refuse


def _settings(prefix: str) -> list[str]:
    from taskflow.cases import Case

    keys = (".".join(path) + "=" for path in Case.paths() if len(path) > 1)
    return [key for key in keys if key.startswith(prefix)]


CaseFile = Annotated[Path, typer.Argument(metavar="CASE.toml", help="The case file.", show_default=False)]
RunDirectory = Annotated[Path, typer.Argument(metavar="DIR", help="A run directory.", show_default=False)]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="table.key=VALUE",
        help="Replace a value of the case file; repeatable. VALUE is TOML; plain text needs no quotes.",
        autocompletion=_settings,
    ),
]
Scheduler = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Run on the cluster of this Dask scheduler, not on an embedded one.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the same as JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]


Jobs = Annotated[
    str | None,
    typer.Option(
        "--slurm",
        metavar="gpus=N,...",
        help="Submit jobs to SLURM and run in them: gpus or workers, per-node, cores, time, partition and others.",
    ),
]


def where(slurm: str | None, scheduler_file: Path | None) -> str | Path | None:
    """Return where to run. Raises BadInput if both are given."""
    if slurm is not None and scheduler_file is not None:
        refuse("--slurm --scheduler-file: use one of them; --slurm starts its own cluster")
    return slurm or scheduler_file


def named_once(argument: Path | None, option: Path | None) -> Path | None:
    """Return the file that a command writes, given by its argument or -o. Raises BadInput if both are given."""
    if argument is not None and option is not None:
        refuse(f"{argument} -o {option}: give the file to write once")
    return argument or option


def into(kind: str, text: str) -> Any:
    """Return the option -o of a command."""
    return typer.Option("-o", "--output", metavar=kind, help=text)
