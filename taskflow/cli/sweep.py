"""`taskflow sweep`: runs with different parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from taskflow.cli.options import Jobs, Quiet, Scheduler, Settings, into, where
from taskflow.terminal.process import loading

if TYPE_CHECKING:
    from taskflow.runs.results import Run


def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="SWEEP.toml", help="The case file and its parameters.", show_default=False)
    ],
    output: Annotated[
        Path | None, into("DIR", "The folder of the run directories; by default SWEEP in the current one.")
    ] = None,
    settings: Settings = [],  # noqa: B006
    at_once: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Concurrent runs; default: one per worker.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Recompute existing runs.")] = False,
    scheduler_file: Scheduler = None,
    slurm: Jobs = None,
    quiet: Quiet = False,
) -> None:
    """Run a case with all combinations of some parameters, concurrently.

    Finished runs are kept, and interrupted ones are resumed.
    """
    with loading():
        from taskflow.cli.run import warn
        from taskflow.runs import sweep as sweeps
        from taskflow.runs.directory.record import heading
        from taskflow.runs.state.remedies import as_keys
        from taskflow.runtime.cluster.slurm import Slurm
        from taskflow.terminal.format import tell

    place, folder = where(slurm, scheduler_file), output or Path(file.stem)
    with as_keys():
        client = Slurm.of(place) if isinstance(place, str) else None
    case, parameters = sweeps.load(file, settings)

    def on_run(_: int, values: Mapping[str, Any], run: Run) -> None:
        words = ", ".join(f"{name} = {value}" for name, value in values.items())
        if not quiet:
            tell(f"{run.directory}: {words}: {heading(run.report)}")
        for warning in run.report.get("warnings", ()):
            warn(f"{run.directory}: {warning}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # they do not name the run and are printed at its end
        done = sweeps.sweep(
            case, parameters, folder, client, scheduler_file=scheduler_file, at_once=at_once, force=force, on_run=on_run
        )
    if not quiet:
        tell(f"{len(done.runs)} runs are in {folder}; in Python: taskflow.sweep(..., output={str(folder)!r}).dataset()")
