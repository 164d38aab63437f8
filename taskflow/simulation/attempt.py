"""One attempt to run a case: machines are lent, blocks begin on them and compute, and what they wrote is completed."""

from __future__ import annotations

import signal
import uuid
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

from taskflow.errors import Interrupted, Lost, RunFailed, Stopped, TaskflowError, Terminated
from taskflow.runtime.cluster import (
    BlockGroup,
    Progress,
    cause,
    cluster_client,
    ordinals,
    placed,
    slabs,
    threads_per_block,
    watch,
)
from taskflow.runtime.host import Heartbeats, Place, choose_device, look_at, remaining_workers, survey
from taskflow.runtime.machine import Limits, Mapper, Plan
from taskflow.runtime.profile import Timeline
from taskflow.runtime.regions import Triple
from taskflow.simulation import remedies
from taskflow.simulation.build.simulation import Simulation, blocks_of
from taskflow.simulation.case import Case
from taskflow.simulation.checkpoints import CheckpointPolicy
from taskflow.simulation.directory import RunDirectory
from taskflow.simulation.estimate import count_steps
from taskflow.simulation.job import FlowJob
from taskflow.simulation.memory import Needs
from taskflow.simulation.profiling import Window, write_profile
from taskflow.simulation.report import broken, opening, summary
from taskflow.simulation.restart import RestartPoint
from taskflow.simulation.sanity import cautions

if TYPE_CHECKING:
    from distributed import Client

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Deployment:
    """On what a run began: its blocks, which decide its last bits, its kind of device, and how many workers there were.
    """

    blocks: Triple
    device: str
    workers: int


@dataclass(eq=False)
class Recovery:
    """The outcome of a run's attempts so far, and how often in a row it may go on from one step: `allowed`.

    `remedy` says how somebody can go on with it later. `attempts` counts those that had machines, `deployment` is that
    of the first, `begun` says whether the run directory is the run's own already, `lost` has the workers of the last
    loss. `restarts` is for the report: the step from which the run went on, and why.
    """

    allowed: int
    remedy: str
    attempts: int = 0
    deployment: Deployment | None = None
    begun: bool = False
    lost: frozenset[str] = frozenset()
    restarts: list[dict[str, Any]] = field(default_factory=list)

    def note(self, loss: Lost, step: int) -> None:
        """The run goes on from this step. Raises RunFailed where it has done so as often as it may."""
        if sum(restart["step"] == step for restart in self.restarts) >= self.allowed:
            raise RunFailed(f"{loss}; {self._words(step)}") from loss
        self.restarts.append({"step": step, "reason": str(loss)})
        self.lost = loss.workers

    def _words(self, step: int) -> str:
        if not self.allowed:
            return f"{self.remedy}; machine.restarts lets a run go on by itself"
        return (
            f"the run has begun again from step {step} as often as it may without coming to another checkpoint"
            f" (machine.restarts = {self.allowed}); when the reason is mended, {self.remedy}"
        )


@dataclass(frozen=True)
class RunRequest:
    """The case to be run, its directory (which `force` replaces), and its cluster; see `run`."""

    case: Case
    directory: RunDirectory
    client: Client | None
    scheduler_file: str | PathLike[str] | None
    force: bool
    progress: Progress
    profile: Window | None


@dataclass(frozen=True)
class Outcome:
    """The outcome of all blocks: what each reported last, which signal came or what `progress` raised, what went wrong,
    what was profiled.
    """

    blocks: list[Mapping[str, Any]]
    came: signal.Signals | Exception | None
    failure: TaskflowError | None
    timelines: list[Timeline]


def run_once(request: RunRequest, restart: RestartPoint | None, recovery: Recovery) -> dict[str, Any]:
    """Run a case from its beginning, or go on with it; the report of a run that has come to its end.

    Raises Lost where another attempt could go on, and else as `run` does.
    """
    case, directory = request.case, request.directory
    with cluster_client(case.machine, case.grid.room, request.client, request.scheduler_file) as (cluster, local):
        recovery.attempts += 1
        Heartbeats.of(cluster).bound = case.machine.silence
        places = _places(cluster, recovery, embedded=local)
        deployment = recovery.deployment = recovery.deployment or _deployment(case, places, embedded=local)
        where = placed(case.machine, deployment.blocks, places, embedded=local)
        sim = Simulation(case, deployment.blocks, device=deployment.device)
        Needs(sim, where, sim.device).check()
        count_steps(sim)  # more than anybody would wait for are refused
        sim.system.check()
        plan = _plan(sim, directory, where)
        policy = CheckpointPolicy.of(sim, directory.path, plan.run, directory.guard)
        if restart is None:
            directory.create(sim, force=request.force, again=recovery.begun)
            for warning in (*(sim.survey.warnings if sim.survey else ()), *sim.system.cautions):
                warnings.warn(warning, stacklevel=3)
        else:
            restart.check(sim)
            restart = directory.reopen(sim, restart, policy)
        recovery.begun = True
        directory.check_visible(cluster, [place.worker for place in places])
        cautioned = tuple(cautions(sim))
        for warning in cautioned if recovery.attempts == 1 else ():
            warnings.warn(warning, stacklevel=3)
        job = FlowJob(sim.spec, directory.initial(sim), policy, restart, request.profile, bool(cautioned))
        with BlockGroup(cluster, plan, [place.worker for place in where]) as group:
            about = opening(sim, plan, where, group.connect())
            if restart is not None:
                about["resumed"] = {"step": restart.tick.step, "time": restart.tick.time}
            if recovery.restarts:
                about["restarts"] = recovery.restarts
            if cautioned:
                about["warnings"] = list(cautioned)
            directory.write_report(about)
            try:
                outcome = _watched(group, job, request, len(recovery.restarts))
            except KeyboardInterrupt as error:
                name = "SIGTERM" if isinstance(error, Terminated) else "Ctrl-C"
                directory.write_report(broken(about, Interrupted(f"stopped at once by a second {name}")))
                raise
        return _completed(request, sim, policy, about, outcome)


def _places(cluster: Client, recovery: Recovery, *, embedded: bool) -> list[Place]:
    """The places for blocks: those of the cluster at first, later those of them that the run began on."""
    if recovery.deployment is None:
        return survey(cluster, embedded=embedded, lost=recovery.lost)
    places = look_at(cluster, remaining_workers(cluster, recovery.lost, recovery.deployment.workers), embedded=embedded)
    usable = [place for place in places if recovery.deployment.device == "cpu" or place.gpu_problem is None]
    if not usable:
        raise RunFailed(f"no usable GPU is left: {places[0].gpu_problem}")
    return usable


def _deployment(case: Case, places: list[Place], *, embedded: bool) -> Deployment:
    device = choose_device(case.machine.device, places)
    blocks = blocks_of(case, slabs(places, device, embedded=embedded))
    return Deployment(blocks, device, len(places))


def _plan(sim: Simulation, directory: RunDirectory, where: list[Place]) -> Plan:
    machine = sim.case.machine
    return Plan(
        run=f"{directory.path.name}-{uuid.uuid4().hex[:8]}",
        partition=sim.partition,
        device="gpu" if sim.device == "gpu" else "cpu",
        threads=threads_per_block(machine, where),
        channel=machine.channel,
        mapper=Mapper(machine.overlap, debug=machine.debug),
        limits=Limits(machine.patience),
        ordinals=ordinals(where, sim.device),
    )


def _watched(group: BlockGroup, job: FlowJob, request: RunRequest, restarts: int) -> Outcome:
    """Let the blocks compute until all have ended."""
    jobs, said = [job] * len(group.plan.partition), list[str]()

    def progress(status: Mapping[str, Any]) -> None:
        for warning in status.get("warnings", ())[len(said) :]:
            said.append(warning)
            warnings.warn(warning, stacklevel=3)
        request.progress({**status, "restarts": restarts})

    statuses, came = watch(group, jobs, progress, signals=SIGNALS)
    failure, timelines = cause(statuses), []
    if isinstance(failure, Lost):
        failure.workers = group.blamed(statuses)
    if request.profile is not None and failure is None:
        try:
            timelines = group.results()
        except Lost as loss:
            failure = loss
    return Outcome([status.progress for status in statuses], came, failure, timelines)


def _completed(
    request: RunRequest, sim: Simulation, policy: CheckpointPolicy, about: dict[str, Any], outcome: Outcome
) -> dict[str, Any]:
    """Complete what the blocks have written; the report. Raises what went wrong, and where the run was stopped."""
    directory, profile, failure = request.directory, request.profile, outcome.failure
    came = outcome.came
    raised = came if isinstance(came, Exception) else None
    directory.guard()  # whatever else went wrong: it is another run's
    if said := (*about.get("warnings", ()), *outcome.blocks[0].get("warnings", ())):
        about = {**about, "warnings": list(said)}
    try:
        directory.finish(outcome.blocks, policy)
    except RunFailed as error:
        failure = failure or error
    if isinstance(came, signal.Signals) and isinstance(failure, Lost):  # who ends a run may end its workers, too
        failure = (Stopped if came == signal.SIGTERM and policy.keep else RunFailed)(
            f"{came.name} came, and {failure}; {remedies.how_to_resume(directory.path)}"
        )
    if failure is not None:
        with suppress(RunFailed):  # the disk may be full
            directory.write_report(broken(about, failure))
        raise failure from raised
    report = summary(about, sim, outcome.blocks)
    if profile is not None and profile.by == "timeline":
        report["profile"] = write_profile(directory.path, outcome.timelines, profile)
    if came == signal.SIGTERM and report["ended"] == "interrupted" and policy.keep:
        report["ended"] = "stopped"
    if raised is not None and report["ended"] == "interrupted":
        report["reason"] = f"progress= raised {type(raised).__name__}: {raised}"
    directory.write_report(report)
    if raised is not None:
        raise raised
    remedy = f"with a checkpoint; {remedies.how_to_resume(directory.path)}"
    if report["ended"] == "stopped":
        raise Stopped(f"stopped by SIGTERM at time {report['time']:g}, {remedy}")
    if report["ended"] == "interrupted":
        kept = remedy if policy.keep else f"without a checkpoint; what was written is in {directory.path}"
        raise Interrupted(f"interrupted at time {report['time']:g}, {kept}")
    return report
