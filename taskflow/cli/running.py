"""`taskflow run`: from the case file to the report at the end."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from taskflow.cli.watching import Lines, Meter, View, on_terminal
from taskflow.cli.words import duration, rate, say, several, style, tell, times
from taskflow.cluster.slurm import Slurm
from taskflow.output import LOG, STORE
from taskflow.simulation.build.pressure import described
from taskflow.simulation.case import Case
from taskflow.simulation.keys import as_keys
from taskflow.units import size

if TYPE_CHECKING:
    from taskflow.simulation.profiling import Window


Onto = Literal["new", "replace", "resume"]  # what to do with the run directory


def run_case(
    path: Path,
    output: Path,
    settings: Sequence[str],
    *,
    onto: Onto,
    where: Path | str | None,
    quiet: bool,
    profile: Window | None,
) -> None:
    """Run a case; unless quiet, show how it goes and how it went. Raises what `taskflow.run` raises.

    `where` is a scheduler file, or what to ask SLURM for, or nothing: on this machine.
    """
    with as_keys():
        slurm = Slurm.of(where) if isinstance(where, str) else None
    case = Case.load(path, settings)
    with view(case, output, quiet=quiet) as watch, warnings.catch_warnings():
        from taskflow.simulation.run import run

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _warn
        force, resume = onto == "replace", onto == "resume"
        client = slurm and replace(slurm, told=lambda words: watch({"waiting": words}))
        file = None if client else where
        finished = run(
            case, output, client, scheduler_file=file, force=force, resume=resume, progress=watch, profile=profile
        )
    if not quiet:
        if "profile" in finished.report:
            from taskflow.cli.profiling import tell_profile

            tell_profile(finished.report["profile"], output / "profile.json")
        elif profile is not None and profile.by == "timeline":
            typer.echo(
                "Nothing was profiled: the run ended before that could begin, or while it still timed the ways to"
                " overlap; let it do more steps, give less --profile-after, or set machine.overlap"
            )
        say(heading(finished.report).capitalize(), [*speed(finished.report), ("results", f"{output}")])
        tell(f"Next: taskflow plot {output}, or in Python: xarray.open_zarr({str(output / STORE)!r})")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    tell(message, f"{style('Warning:', fg='yellow', bold=True)} ", err=True)


def window(after: int, steps: int, *, profile: bool, nvtx: bool) -> Window | None:
    """The steps to profile, if any."""
    if not (profile or nvtx):
        return None
    from taskflow.simulation.profiling import Window

    return Window(after, steps, "nvtx" if nvtx else "timeline")


def view(case: Case, output: Path, *, quiet: bool) -> View:
    """What shows this run."""
    if quiet:
        return View()
    cells = case.grid.cells
    end = target(case.time.end, case.time.steps)
    heading = f"{case.title}: {times(cells)} cells, to {end}, into {output}\nPressure: {described(case)}"
    meter = Meter(cells[0] * cells[1] * cells[2], case.clock())
    if not on_terminal():
        return Lines(heading, meter, output / LOG)
    from taskflow.cli.live import Display

    return Display(heading, meter)


def target(end: float | None, steps: int | None) -> str:
    """Where a run stops."""
    return f"time {end:g}" if end is not None else several(steps or 0, "step")


def heading(report: Mapping[str, Any]) -> str:
    """How a run ended, in words."""
    how = "finished" if report["ended"] == "end" else report["ended"]
    return f"{how} at time {report['time']:g}, after {several(report['steps'], 'step')}"


def speed(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Label and text of each line on how fast a run was."""
    if report["steps"] == 0:
        return
    yield "loop", f"{duration(report['loop_seconds'])}, {rate(report['cell_steps_per_second'])}"
    share = report["t_eff"] / report["copy_bandwidth"]
    yield "T_eff", f"{size(report['t_eff'])}/s, {share:.0%} of the copy bandwidth"
