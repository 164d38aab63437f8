"""`taskflow sweep`: runs that differ in parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from taskflow.cli.format import tell
from taskflow.cli.info import heading
from taskflow.simulation.run import Run
from taskflow.simulation.sweep import load, sweep


def sweep_file(
    path: Path,
    output: Path,
    settings: Sequence[str],
    *,
    at_once: int | None,
    force: bool,
    where: Path | None,
    quiet: bool,
) -> None:
    """Run the sweep of a file; unless quiet, tell of each run that has ended. Raises what `taskflow.sweep` raises."""
    case, parameters = load(path, settings)

    def told(_: int, values: Mapping[str, Any], run: Run) -> None:
        words = ", ".join(f"{name} = {value}" for name, value in values.items())
        if not quiet:
            tell(f"{run.directory}: {words}: {heading(run.report)}")

    done = sweep(case, parameters, output=output, scheduler_file=where, at_once=at_once, force=force, told=told)
    if not quiet:
        tell(f"{len(done.runs)} runs are in {output}; in Python: taskflow.sweep(..., output={str(output)!r}).dataset()")
