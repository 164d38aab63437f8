"""One attempt to run a case: machines are lent, blocks begin on them and compute, and what they wrote is completed."""

from __future__ import annotations

import signal
import uuid
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

from taskflow.cluster import (
    BlockGroup,
    Progress,
    cause,
    cut,
    lent,
    mended,
    ordinals,
    placed,
    slabs,
    threads_per_block,
    watch,
)
from taskflow.errors import Interrupted, Lost, RunFailed, Stopped, TaskflowError, Terminated
from taskflow.host import Heartbeats, Place, choose_device, look_at, survey
from taskflow.machine import Limits, Mapper, Plan
from taskflow.profile import Timeline
from taskflow.simulation import remedies
from taskflow.simulation.case import Case
from taskflow.simulation.cautions import cautions
from taskflow.simulation.directory import RunDirectory
from taskflow.simulation.estimate import count_steps
from taskflow.simulation.job import FlowJob
from taskflow.simulation.memory import Needs
from taskflow.simulation.profiling import Window, write_profile
from taskflow.simulation.recovery import Deployment, Recovery
from taskflow.simulation.report import broken, opening, summary
from taskflow.simulation.resuming import Beginning
from taskflow.simulation.saving import Keeping
from taskflow.simulation.setup import Setup
from taskflow.simulation.start import check_start

if TYPE_CHECKING:
    from distributed import Client

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Order:
    """What is to be run, into which directory (which `force` replaces), and on which cluster; see `run`."""

    case: Case
    directory: RunDirectory
    client: Client | None
    scheduler_file: str | PathLike[str] | None
    force: bool
    progress: Progress
    profile: Window | None


@dataclass(frozen=True)
class Course:
    """How the blocks fared: what each told last, which signal came or what `progress` raised, what went wrong, what was
    profiled.
    """

    blocks: list[Mapping[str, Any]]
    came: signal.Signals | Exception | None
    failure: TaskflowError | None
    timelines: list[Timeline]


def attempt(order: Order, going_on: Beginning | None, recovery: Recovery) -> dict[str, Any]:
    """Run a case from its beginning, or go on with it; the report of a run that has come to its end.

    Raises Lost where another attempt could go on, and else as `run` does.
    """
    case, directory = order.case, order.directory
    with lent(case.machine, case.grid.cells, order.client, order.scheduler_file) as (cluster, local):
        recovery.attempts += 1
        Heartbeats.of(cluster).bound = case.machine.silence
        places = _places(cluster, recovery, embedded=local)
        deployment = recovery.deployment = recovery.deployment or _deployment(case, places, embedded=local)
        where = placed(case.machine, deployment.blocks, places, embedded=local)
        setup = Setup(case, deployment.blocks, device=deployment.device)
        Needs(setup, where, setup.device).check()
        count_steps(setup)  # more than anybody would wait for are refused
        check_start(setup)
        plan = _plan(setup, directory, where)
        keeping = Keeping.of(setup, directory.path, plan.run, directory.guard)
        if going_on is None:
            directory.create(setup, force=order.force, again=recovery.begun)
            for warning in setup.survey.warnings if setup.survey else ():
                warnings.warn(warning, stacklevel=3)
        else:
            going_on.check(setup)
            going_on = directory.reopen(setup, going_on, keeping)
        recovery.begun = True
        directory.check_visible(cluster, [place.worker for place in places])
        cautioned = tuple(cautions(setup))
        for warning in cautioned if recovery.attempts == 1 else ():
            warnings.warn(warning, stacklevel=3)
        job = FlowJob(setup.scenario, directory.initial(setup), keeping, going_on, order.profile, bool(cautioned))
        with BlockGroup(cluster, plan, [place.worker for place in where]) as gang:
            about = opening(setup, plan, where, gang.connect())
            if going_on is not None:
                about["resumed"] = {"step": going_on.tick.step, "time": going_on.tick.time}
            if recovery.restarts:
                about["restarts"] = recovery.restarts
            if cautioned:
                about["warnings"] = list(cautioned)
            directory.write_report(about)
            try:
                course = _watched(gang, job, order, len(recovery.restarts))
            except KeyboardInterrupt as error:
                name = "SIGTERM" if isinstance(error, Terminated) else "Ctrl-C"
                directory.write_report(broken(about, Interrupted(f"stopped at once by a second {name}")))
                raise
        return _completed(order, setup, keeping, about, course)


def _places(cluster: Client, recovery: Recovery, *, embedded: bool) -> list[Place]:
    """Where blocks can live: wherever the cluster says, at first; later where what the run began on still is."""
    if recovery.deployment is None:
        return survey(cluster, embedded=embedded, lost=recovery.lost)
    found = look_at(cluster, mended(cluster, recovery.lost, recovery.deployment.workers), embedded=embedded)
    usable = [place for place in found if recovery.deployment.device == "cpu" or place.gpu_problem is None]
    if not usable:
        raise RunFailed(f"no usable GPU is left: {found[0].gpu_problem}")
    return usable


def _deployment(case: Case, places: list[Place], *, embedded: bool) -> Deployment:
    device = choose_device(case.machine.device, places)
    blocks = cut(case.machine, case.grid.cells, slabs(places, device, embedded=embedded))
    return Deployment(blocks, device, len(places))


def _plan(setup: Setup, directory: RunDirectory, where: list[Place]) -> Plan:
    machine = setup.case.machine
    return Plan(
        run=f"{directory.path.name}-{uuid.uuid4().hex[:8]}",
        partition=setup.partition,
        device="gpu" if setup.device == "gpu" else "cpu",
        threads=threads_per_block(machine, where),
        channel=machine.channel,
        mapper=Mapper(machine.overlap, debug=machine.debug),
        limits=Limits(machine.patience),
        ordinals=ordinals(where, setup.device),
    )


def _watched(gang: BlockGroup, job: FlowJob, order: Order, restarts: int) -> Course:
    """Let the blocks compute until all have ended."""
    jobs, said = [job] * len(gang.plan.partition), list[str]()

    def progress(told: Mapping[str, Any]) -> None:
        for warning in told.get("warnings", ())[len(said) :]:
            said.append(warning)
            warnings.warn(warning, stacklevel=3)
        order.progress({**told, "restarts": restarts})

    statuses, came = watch(gang, jobs, progress, signals=SIGNALS)
    failure, timelines = cause(statuses), []
    if isinstance(failure, Lost):
        failure.workers = gang.blamed(statuses)
    if order.profile is not None and failure is None:
        try:
            timelines = gang.results()
        except Lost as loss:
            failure = loss
    return Course([status.progress for status in statuses], came, failure, timelines)


def _completed(order: Order, setup: Setup, keeping: Keeping, about: dict[str, Any], course: Course) -> dict[str, Any]:
    """Complete what the blocks have written; the report. Raises what went wrong, and where the run was stopped."""
    directory, profile, failure = order.directory, order.profile, course.failure
    raised = course.came if isinstance(course.came, Exception) else None
    directory.guard()  # whatever else went wrong: it is another run's
    if said := (*about.get("warnings", ()), *course.blocks[0].get("warnings", ())):
        about = {**about, "warnings": list(said)}
    try:
        directory.finish(course.blocks, keeping)
    except RunFailed as error:
        failure = failure or error
    if isinstance(course.came, signal.Signals) and isinstance(failure, Lost):  # who ends a run may end its workers, too
        failure = (Stopped if course.came == signal.SIGTERM and keeping.keep else RunFailed)(
            f"{course.came.name} came, and {failure}; {remedies.going_on(directory.path)}"
        )
    if failure is not None:
        with suppress(RunFailed):  # the disk may be full
            directory.write_report(broken(about, failure))
        raise failure from raised
    report = summary(about, setup, course.blocks)
    if profile is not None and profile.by == "timeline":
        report["profile"] = write_profile(directory.path, course.timelines, profile)
    if course.came == signal.SIGTERM and report["ended"] == "interrupted" and keeping.keep:
        report["ended"] = "stopped"
    if raised is not None and report["ended"] == "interrupted":
        report["reason"] = f"progress= raised {type(raised).__name__}: {raised}"
    directory.write_report(report)
    if raised is not None:
        raise raised
    remedy = f"with a checkpoint; {remedies.going_on(directory.path)}"
    if report["ended"] == "stopped":
        raise Stopped(f"stopped by SIGTERM at time {report['time']:g}, {remedy}")
    if report["ended"] == "interrupted":
        kept = remedy if keeping.keep else f"without a checkpoint; what was written is in {directory.path}"
        raise Interrupted(f"interrupted at time {report['time']:g}, {kept}")
    return report
