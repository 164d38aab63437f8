"""Running a case: from a validated case and a cluster to a finished run directory."""

from __future__ import annotations

import uuid
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cluster import cut, lent, ordinals, placed, slabs, threads_per_block
from taskflow.errors import Interrupted, RunFailed, TaskflowError
from taskflow.machine import Gang, Mapper, Place, Plan, Progress, cause, choose_device, survey, unwatched, watch
from taskflow.simulation.case import Case
from taskflow.simulation.directory import RunDirectory
from taskflow.simulation.job import FlowJob
from taskflow.simulation.memory import Needs
from taskflow.simulation.profiling import Window, write_profile
from taskflow.simulation.report import beginning, broken, summary
from taskflow.simulation.setup import Setup
from taskflow.simulation.start import check_start

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client


@dataclass(frozen=True)
class Run:
    """A finished run: its directory and its report."""

    directory: Path
    report: dict[str, Any]

    def dataset(self) -> xr.Dataset:
        """The snapshots, as lazy arrays."""
        from taskflow.output import dataset

        return dataset(self.directory / "fields.zarr")

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        from taskflow.output import read_log

        return read_log(self.directory / "log.jsonl")


def run(
    case: Case,
    output: str | PathLike[str] | None = None,
    client: Client | None = None,
    *,
    scheduler_file: str | PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
    profile: Window | None = None,
) -> Run:
    """Run a case to its end and return the finished run.

    `output` is the run directory (by default the case's title as a name, in the current folder); an existing one is
    refused unless `force` replaces it. The blocks live on the workers of `client`, or of the cluster behind
    `scheduler_file`, or of an embedded cluster of this machine. `progress` is called a few times a second with what
    block 0 last reported; its `stopping` says whether Ctrl-C has been pressed. `profile` names steps to be timed:
    a timeline is written and a summary added to the report.
    Raises BadInput before anything is written or replaced; RunFailed where the run could not go on, Interrupted after
    Ctrl-C: what was written stays readable.
    """
    directory = RunDirectory(Path(output) if output is not None else RunDirectory.default(case.title))
    directory.check(force=force)
    machine, cells = case.machine, case.grid.cells
    with lent(machine, cells, client, scheduler_file) as (cluster, local):
        places = survey(cluster, embedded=local)
        device = choose_device(machine.device, places)
        setup = Setup(case, cut(machine, cells, slabs(places, device, embedded=local)), device=device)
        where = placed(machine, setup.blocks, places, embedded=local)
        Needs(setup, where, device).check()
        check_start(setup)
        for warning in setup.survey.warnings if setup.survey else ():
            warnings.warn(warning, stacklevel=2)
        directory.create(setup, force=force)
        directory.check_visible(cluster)
        plan = _plan(setup, directory, device, where)
        enters, steady = setup.entering, case.time.steady
        initial = directory.initial(setup)
        counted, masks = setup.counted, setup.masks
        job = FlowJob(setup.model, case.clock(), initial, enters, directory.path, steady, profile, counted, masks)
        with Gang(cluster, plan, [place.worker for place in where]) as gang:
            about = beginning(setup, plan, where, gang.connect())
            directory.write_report(about)
            try:
                statuses, _ = watch(gang, [job] * len(plan.partition), progress or unwatched)
            except KeyboardInterrupt:
                directory.write_report(broken(about, Interrupted("stopped at once by a second Ctrl-C")))
                raise
            timelines = gang.results() if profile is not None and cause(statuses) is None else []
        blocks = [status.progress for status in statuses]
        directory.finish(blocks)
        failure = cause(statuses)
        if failure is not None:
            directory.write_report(broken(about, failure))
            raise failure
    report = summary(about, setup, blocks)
    if profile is not None and profile.by == "timeline":
        report["profile"] = write_profile(directory.path, timelines, profile)
    directory.write_report(report)
    if report["ended"] == "interrupted":
        raise Interrupted(f"interrupted at time {report['time']:g}; the state is in {directory.path}")
    return Run(directory.path, report)


def _plan(setup: Setup, directory: RunDirectory, device: str, where: list[Place]) -> Plan:
    case = setup.case
    machine = case.machine
    return Plan(
        run=f"{directory.path.name}-{uuid.uuid4().hex[:8]}",
        partition=setup.partition,
        device="gpu" if device == "gpu" else "cpu",
        threads=threads_per_block(machine, where),
        channel=machine.channel,
        mapper=Mapper(machine.overlap, debug=machine.debug),
        ordinals=ordinals(where, device),
    )


__all__ = ["Run", "RunFailed", "TaskflowError", "run"]
