"""Running a case: from a validated case and a cluster to a finished run directory."""

from __future__ import annotations

import signal
import uuid
import warnings
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cluster import cut, lent, ordinals, placed, slabs, threads_per_block
from taskflow.errors import BadInput, Interrupted, RunFailed, Stopped, TaskflowError
from taskflow.machine import Gang, Mapper, Place, Plan, Progress, cause, choose_device, survey, unwatched, watch
from taskflow.simulation.case import Case
from taskflow.simulation.directory import RunDirectory
from taskflow.simulation.job import FlowJob
from taskflow.simulation.memory import Needs
from taskflow.simulation.profiling import Window, write_profile
from taskflow.simulation.recording import STATISTICS, STORE
from taskflow.simulation.report import broken, opening, summary
from taskflow.simulation.resuming import beginning
from taskflow.simulation.saving import Keeping
from taskflow.simulation.setup import Setup
from taskflow.simulation.start import check_start

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

    from taskflow.cluster import Slurm


@dataclass(frozen=True)
class Run:
    """A run: its directory and its report."""

    directory: Path
    report: dict[str, Any]

    @classmethod
    def open(cls, directory: str | PathLike[str]) -> Run:
        """That of a run directory, finished or not. Raises BadInput where it is none."""
        path = Path(directory)
        report = RunDirectory(path).report()
        if not report:
            raise BadInput(f"{path}: there is no report.json to read; give the folder that `taskflow run` wrote")
        return cls(path, report)

    def dataset(self, group: str = "") -> xr.Dataset:
        """The snapshots, or the records in another group of the store, as lazy arrays. Raises BadInput where there are
        none.
        """
        from taskflow.output import dataset

        return dataset(self.directory / STORE, group)

    def statistics(self) -> xr.Dataset:
        """Means and covariances over time, as lazy arrays. Raises BadInput where the case asks for none."""
        return self.dataset(STATISTICS)

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        from taskflow.output import read_log

        return read_log(self.directory / "log.jsonl")


def run(
    case: Case,
    output: str | PathLike[str] | None = None,
    client: Client | Slurm | None = None,
    *,
    scheduler_file: str | PathLike[str] | None = None,
    force: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
    profile: Window | None = None,
) -> Run:
    """Run a case to its end and return the finished run.

    `output` is the run directory (by default the case's title as a name, in the current folder); an existing one is
    refused unless `force` replaces it or `resume` goes on with it: from its newest checkpoint that is whole, to the
    end that `case` has now; a run that has nothing left to do is returned as it is. The blocks live on the workers of
    `client`, or in jobs of SLURM that are submitted for it, or of the cluster behind `scheduler_file`, or of an
    embedded cluster of this machine.
    `progress` is called a few times a second with what block 0 last reported; its `stopping` says whether Ctrl-C has
    been pressed. `profile` names steps to be timed: a timeline is written and a summary added to the report.
    Raises BadInput before anything is written or replaced; RunFailed where the run could not go on, Interrupted after
    Ctrl-C, Stopped after SIGTERM, with a checkpoint: what was written stays readable. Warns of damaged checkpoints.
    """
    directory = RunDirectory(Path(output) if output is not None else RunDirectory.default(case.title))
    going_on = None
    if resume and not force and directory.path.exists():
        going_on, skipped = beginning(directory.path, directory.report(), case)
        for reason in skipped:
            warnings.warn(f"a damaged checkpoint is left out: {reason}", stacklevel=2)
        if going_on.tick.finished and (report := directory.report()).get("ended") in ("end", "steady"):
            return Run(directory.path, report)
    else:
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
        plan = _plan(setup, directory, device, where)
        keeping = Keeping.of(setup, directory.path, plan.run)
        if going_on is None:
            directory.create(setup, force=force)
        else:
            going_on.check(setup)
            going_on = directory.reopen(setup, going_on, keeping)
        directory.check_visible(cluster)
        job = FlowJob.of(setup, directory.initial(setup), keeping, going_on, profile)
        with Gang(cluster, plan, [place.worker for place in where]) as gang:
            about = opening(setup, plan, where, gang.connect())
            if going_on is not None:
                about["resumed"] = {"step": going_on.tick.step, "time": going_on.tick.time}
            directory.write_report(about)
            try:
                jobs, signals = [job] * len(plan.partition), (signal.SIGINT, signal.SIGTERM)
                statuses, came = watch(gang, jobs, progress or unwatched, signals=signals)
            except KeyboardInterrupt:
                directory.write_report(broken(about, Interrupted("stopped at once by a second Ctrl-C")))
                raise
            timelines = gang.results() if profile is not None and cause(statuses) is None else []
        blocks = [status.progress for status in statuses]
        failure = cause(statuses)
        try:
            directory.finish(blocks, keeping)
        except RunFailed as error:
            failure = failure or error
        if failure is not None:
            directory.write_report(broken(about, failure))
            raise failure
    report = summary(about, setup, blocks)
    if profile is not None and profile.by == "timeline":
        report["profile"] = write_profile(directory.path, timelines, profile)
    if came == signal.SIGTERM and report["ended"] == "interrupted" and keeping.keep:
        report["ended"] = "stopped"
    directory.write_report(report)
    if report["ended"] == "stopped":
        raise Stopped(f"stopped by SIGTERM at time {report['time']:g}, with a checkpoint; --resume goes on from it")
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
