"""Running a case: from a validated case and a cluster to a finished run directory."""

from __future__ import annotations

import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cluster import by_scheduler_file, embedded, gpus
from taskflow.errors import Interrupted, RunFailed, TaskflowError
from taskflow.machine import Gang, Mapper, Place, Plan, Status, cause, choose_device, look, survey
from taskflow.simulation.case import Case
from taskflow.simulation.directory import RunDirectory
from taskflow.simulation.initial import check_start
from taskflow.simulation.job import FlowJob
from taskflow.simulation.placement import cut, placed, processes, slabs, threads_per_block
from taskflow.simulation.report import beginning, broken, summary
from taskflow.simulation.setup import Setup, check_memory

if TYPE_CHECKING:
    import xarray as xr
    from distributed import Client

POLL = 0.1  # seconds between two looks at the blocks
END = 30.0  # seconds that blocks have to end once they were told to

Progress = Callable[[Mapping[str, Any]], None]


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
) -> Run:
    """Run a case to its end and return the finished run.

    `output` is the run directory (by default the case's title as a name, in the current folder); an existing one is
    refused unless `force` replaces it. The blocks live on the workers of `client`, or of the cluster behind
    `scheduler_file`, or of an embedded cluster of this machine. `progress` is called a few times a second with what
    block 0 last reported; its `stopping` says whether Ctrl-C has been pressed.
    Raises BadInput before anything is written or replaced; RunFailed where the run could not go on, Interrupted after
    Ctrl-C: what was written stays readable.
    """
    directory = RunDirectory(Path(output) if output is not None else RunDirectory.default(case.title))
    directory.check(force=force)
    with _cluster(case, client, scheduler_file) as (cluster, local):
        places = survey(cluster, embedded=local)
        device = choose_device(case.machine.device, places)
        setup = Setup(case, cut(case, slabs(places, device, embedded=local)))
        where = placed(case, setup.blocks, places, embedded=local)
        check_memory(setup, where, device)
        check_start(case, setup.grid)
        directory.create(setup, force=force)
        directory.check_visible(cluster)
        plan = _plan(setup, directory, device, where)
        with Gang(cluster, plan, [place.worker for place in where]) as gang:
            about = beginning(setup, plan, where, gang.connect())
            directory.write_report(about)
            try:
                statuses = _watch(gang, progress or _ignore)
            except KeyboardInterrupt:
                directory.write_report(broken(about, Interrupted("stopped at once by a second Ctrl-C")))
                raise
        blocks = [status.progress for status in statuses]
        directory.finish(blocks)
        failure = cause(statuses)
        if failure is not None:
            directory.write_report(broken(about, failure))
            raise failure
    report = summary(about, setup, blocks)
    directory.write_report(report)
    if report["ended"] == "interrupted":
        raise Interrupted(f"interrupted at time {report['time']:g}; the state is in {directory.path}")
    return Run(directory.path, report)


@contextmanager
def _cluster(
    case: Case, client: Client | None, scheduler_file: str | PathLike[str] | None
) -> Iterator[tuple[Client, bool]]:
    """The client to use, and whether its cluster is embedded in this run."""
    if client is not None:
        yield client, False
    elif scheduler_file is not None:
        with by_scheduler_file(Path(scheduler_file)) as found:
            yield found, False
    else:
        wanted, lent = case.machine.device, gpus()
        here = look("this machine")
        device = "cpu" if wanted == "auto" and not lent else choose_device(wanted, [here])
        with embedded(processes(case, lent or None if device == "gpu" else None), gpu=device == "gpu") as found:
            yield found, True


def _plan(setup: Setup, directory: RunDirectory, device: str, where: list[Place]) -> Plan:
    case = setup.case
    machine = case.machine
    return Plan(
        run=f"{directory.path.name}-{uuid.uuid4().hex[:8]}",
        partition=setup.partition,
        device="gpu" if device == "gpu" else "cpu",
        threads=threads_per_block(case, where),
        channel=machine.channel,
        mapper=Mapper(machine.overlap),
        ordinals=tuple(place.gpus[0].ordinal if device == "gpu" else 0 for place in where),
        job=FlowJob(setup.model, case.clock(), directory.initial(setup), directory.path, case.time.steady),
    )


def _watch(gang: Gang, progress: Progress) -> list[Status]:
    """Start the blocks and look at them until all have ended.

    Where one fails the others are told to give up; Ctrl-C is passed on.
    """
    with _interruption() as interrupted:
        gang.start()
        stopped, ending = False, None
        while True:
            statuses = gang.status()
            progress({**statuses[0].progress, "stopping": stopped})
            states = {status.state for status in statuses}
            if states <= {"finished", "failed"}:
                return statuses
            if interrupted.is_set() and not stopped:
                stopped = True
                gang.stop()
            if "failed" in states and ending is None:
                ending = time.monotonic() + END
                gang.abort(f"another block failed: {cause(statuses)}")
            if ending is not None and time.monotonic() > ending:
                return statuses
            time.sleep(POLL)


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets. A second Ctrl-C acts as usual. Outside of the main thread nothing can be caught."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    usual = signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        event.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, usual)


def _ignore(_: Mapping[str, Any]) -> None:
    """Nobody watches."""


__all__ = ["Run", "RunFailed", "TaskflowError", "run"]
