"""`taskflow run`: from the case file to the final report."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from taskflow.cases import Case
from taskflow.cli.watch import ProgressMeter, View, view
from taskflow.common.rows import Row
from taskflow.common.units import duration, plural, significant
from taskflow.output import LOG, STORE, has_charts
from taskflow.runs.directory.record import heading, speed_rows, target
from taskflow.runs.state.remedies import as_keys
from taskflow.runtime.cluster.slurm import Slurm
from taskflow.systems.projection import system_of
from taskflow.terminal.format import say, style, table, tell
from taskflow.terminal.process import loading

if TYPE_CHECKING:
    from taskflow.runs.block.profiling import Window

CATEGORIES = ("compute", "copy", "communication")  # of the time in a profile
PHASES = 12  # most lines of its table
LINKS = 5  # of the critical path
SMALL = 0.001  # shares below which nothing is shown

Onto = Literal["new", "replace", "resume"]  # use of the run directory


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
    """Run a case and, unless quiet, show its progress and result. Raises the errors of `taskflow.run`.

    `where` is a scheduler file, a request to SLURM, or None for this machine.
    """
    with as_keys():
        slurm = Slurm.of(where) if isinstance(where, str) else None
    case = Case.load(path, settings)
    shown: View = nullcontext(lambda status: None) if quiet else _view(case, output)
    with shown as watch, warnings.catch_warnings():
        with loading():
            from taskflow.runs.run import run

        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = warn
        force, resume = onto == "replace", onto == "resume"
        client = slurm and replace(slurm, report=lambda words: watch({"waiting": words}))
        file = None if client else where
        finished = run(
            case, output, client, scheduler_file=file, force=force, resume=resume, progress=watch, profile=profile
        )
    if not quiet:
        if "profile" in finished.report:
            tell_profile(finished.report["profile"], output / "profile.json")
        elif profile is not None and profile.by == "timeline":
            typer.echo(
                "Nothing was profiled: the run ended before that could begin, or while it still timed the ways to"
                " overlap; let it do more steps, give less --profile-after, or set machine.overlap"
            )
        say(heading(finished.report).capitalize(), [*speed_rows(finished.report), Row("results", f"{output}")])
        opened, how = "open_zarr", ""
        if has_charts(output / STORE):  # groups with separate times do not form one tree
            grouped = case.statistics is not None or bool(case.probes or case.planes)
            opened, how = ("open_datatree", "open_groups")[grouped], ', engine="zarr"'
        tell(f"Next: taskflow plot {output}, or in Python: xarray.{opened}({str(output / STORE)!r}{how})")


def warn(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning."""
    tell(message, f"{style('Warning:', fg='yellow', bold=True)} ", err=True)


def _view(case: Case, output: Path) -> View:
    end, system = target(case.time.end, case.time.steps), system_of(case)
    pseudo_time = system.pseudo_time(case)
    most = "at most " * pseudo_time
    title = f"{case.title}: {case.grid.size}, to {most}{end}, into {output}\n{system.headline(case)}"
    return view(title, ProgressMeter(case.grid.count, case.clock(), pseudo_time), output / LOG)


def tell_profile(profile: Mapping[str, Any], path: Path) -> None:
    """Print the summary of a profile whose timeline is in a file."""
    passes = profile["passes"]
    if not passes:
        say(f"Nothing was profiled: no step came twice after the first {profile['after']}; give less --profile-after")
        return
    counts = " and ".join(f"{plural(count, 'pass')} of {name}" for name, count in passes.items())
    say(f"Profile: {counts} on {plural(profile['blocks'], 'block')}, {duration(profile['seconds'])}")
    phases = list(profile["phases"].items())
    rows = [(phase, [_share(shares[name]) for name in CATEGORIES]) for phase, shares in phases[:PHASES]]
    if len(phases) > PHASES:
        others = {name: sum(shares[name] for _, shares in phases[PHASES:]) for name in CATEGORIES}
        rows.append((f"{len(phases) - PHASES} others", [_share(others[name]) for name in CATEGORIES]))
    rows.append(("all", [_share(profile["shares"][name]) for name in (*CATEGORIES, "rest")]))
    table(["compute", "copy", "communic.", "rest"], rows)
    say("In short", _facts(profile, path))


def _facts(profile: Mapping[str, Any], path: Path) -> Iterator[Row]:
    overlap, host, critical = profile["overlap"], profile["host"], profile["critical_path"]
    if overlap["fraction"] is not None:
        whole, hidden = overlap["exchange_seconds"], overlap["hidden_seconds"]
        text = f"{overlap['fraction']:.0%} of {duration(whole)} of exchange hidden under computing"
        yield Row("overlap", f"{text}, {duration(whole - hidden)} exposed")
    calls = f"{significant(host['call_microseconds'])} us per call, {host['calls_per_pass']:.0f} calls per pass"
    yield Row("host", calls)
    links = ", ".join(f"{_share(share)} {name}" for name, share in list(critical["operations"].items())[:LINKS])
    yield Row("critical", f"{duration(critical['seconds'])}, {critical['share']:.0%} of the time: {links}")
    yield Row("timeline", f"{path}: open it at https://ui.perfetto.dev")
    yield Row("picture", f"{path.with_suffix('.png')}")


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= SMALL else ""
