"""One attempt to run a case: get machines, start blocks on them, compute, and complete their output."""

from __future__ import annotations

import signal
import uuid
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cases import Case
from taskflow.cases.tables.pictures import check_libraries
from taskflow.common.errors import BadInput, Interrupted, Lost, RunFailed, Stopped, TaskflowError, Terminated
from taskflow.output import STORE, cut_recorded, lockable
from taskflow.runs.block.checkpoints import CheckpointPolicy
from taskflow.runs.block.commands import FlowJob
from taskflow.runs.block.profiling import Window, write_profile
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.directory.pictures import DrawingProcess
from taskflow.runs.directory.report import broken, opening, summary
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.estimate.step_count import count_steps, step_warnings
from taskflow.runs.state import remedies
from taskflow.runs.state.origin import check_restart
from taskflow.runs.state.remedies import OUTPUT
from taskflow.runs.state.restart import RestartPoint
from taskflow.runs.state.setup import RunSetup, Settings, blocks_of
from taskflow.runtime.cluster import (
    BlockGroup,
    Progress,
    cause,
    cluster_client,
    copying,
    crowding,
    host_numbers,
    ordinals,
    placed,
    slabs,
    threads_per_block,
    watch,
)
from taskflow.runtime.host import SYSTEM, Heartbeats, Here, Place, choose_device, look_at, remaining_workers, survey
from taskflow.runtime.machine import Job, Mapper, Plan
from taskflow.runtime.regions import Triple

if TYPE_CHECKING:
    from distributed import Client

    from taskflow.runtime.profile import Timeline

SIGNALS = (signal.SIGINT, *SYSTEM)


@dataclass(frozen=True)
class RunRequest:
    """A case to run, its directory (replaced with `force`), and its cluster, of which it may use only some `workers`;
    see `run`. `steered`: the user may set values during the run.
    """

    case: Case
    directory: RunDirectory
    client: Client | Here | None
    scheduler_file: str | PathLike[str] | None
    force: bool
    progress: Progress
    profile: Window | None
    workers: frozenset[str] | None = None
    steered: bool = False


@dataclass(frozen=True)
class Outcome:
    """The outcome of all blocks: their last status, a signal or an exception of `progress`, errors, and timelines."""

    blocks: list[Mapping[str, Any]]
    came: signal.Signals | Exception | None
    failure: TaskflowError | None
    timelines: list[Timeline]


@dataclass(eq=False)
class Recovery:
    """The outcome of a run's attempts so far, and the number of restarts from one step that is `allowed`.

    - `remedy`: how to resume the run later
    - `attempts`: attempts that had machines
    - `blocks` (which affect the last bits of a run), `device`, `workers`: of the first attempt
    - `begun`: the run directory already belongs to the run
    - `lost`: the workers of the last loss
    - `restarts`: for the report, the steps of restarts with reasons
    """

    allowed: int
    remedy: str
    attempts: int = 0
    blocks: Triple | None = None
    device: str = ""
    workers: int = 0
    started: bool = False
    lost: frozenset[str] = frozenset()
    restarts: list[dict[str, Any]] = field(default_factory=list)

    def note(self, loss: Lost, step: int) -> None:
        """Record a restart from this step. Raises RunFailed if no further restart is allowed."""
        if sum(restart["step"] == step for restart in self.restarts) >= self.allowed:
            words = (
                f"the run has restarted from step {step} as often as machine.restarts = {self.allowed} allows, without"
                f" reaching another checkpoint; once the cause is fixed, {self.remedy}"
            )
            never = f"{self.remedy}; machine.restarts lets a run restart automatically"
            raise RunFailed(f"{loss}; {words if self.allowed else never}") from loss
        self.restarts.append({"step": step, "reason": str(loss)})
        self.lost = loss.workers


class Attempt(AbstractContextManager["Attempt"]):
    """One attempt to run a case, from its start or from a checkpoint, until its blocks have ended or are lost. It holds
    machines until it is closed.

    Raises as `run` does.
    """

    def __init__(self, request: RunRequest, restart: RestartPoint | None, recovery: Recovery) -> None:
        self.request, self._restarts, self._warned = request, len(recovery.restarts), list[str]()
        with ExitStack() as stack:
            self._begin(stack, restart, recovery)
            self._opened = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def _begin(self, stack: ExitStack, restart: RestartPoint | None, recovery: Recovery) -> None:
        request = self.request
        case, directory = request.case if restart is None else restart.resumed(request.case), request.directory
        workers = request.client, request.scheduler_file
        cluster, local = stack.enter_context(cluster_client(case.machine, case.grid.room, *workers))
        recovery.attempts += 1
        Heartbeats.of(cluster).bound = case.machine.silence
        places = _places(cluster, recovery, request.workers, embedded=local)
        if recovery.blocks is None:
            recovery.device, recovery.workers = choose_device(case.machine.device, places), len(places)
            recovery.blocks = blocks_of(case, slabs(places, recovery.device, embedded=local))
        blocks, device = recovery.blocks, recovery.device
        where = placed(case.machine, blocks, places, embedded=local)
        steered = request.steered or (restart is not None and bool(restart.given))
        hosts = host_numbers(where) if lockable(directory.path) else ()
        sim = self.sim = RunSetup(case, blocks, device=device, steered=steered, hosts=hosts)
        MemoryEstimate(sim, where, sim.device).check()
        count_steps(sim)  # more than anybody would wait for are refused
        check_libraries(case.pictures)
        if restart is not None:  # its bodies move as the user has set
            Settings(sim.system.timed, sim.system.inflows, sim.system.surroundings).update(restart.given)
        sim.system.check(0.0 if restart is None else restart.tick.time)
        machine, threads = case.machine, threads_per_block(case.machine, where)
        plan = Plan(
            run=f"{directory.path.name}-{uuid.uuid4().hex[:8]}",
            partition=sim.partition,
            device="gpu" if device == "gpu" else "cpu",
            threads=threads,
            channel=machine.channel,
            mapper=Mapper(machine.overlap, debug=machine.debug),
            patience=machine.patience,
            ordinals=ordinals(where, device),
            crowded=device == "cpu" and crowding(threads, where) is not None,
        )
        policy = self.policy = CheckpointPolicy.of(sim, directory.path, plan.run, directory.guard)
        if restart is None:
            self._begin_elsewhere()
            directory.create(sim, force=request.force, again=recovery.started)
            for warning in (*(sim.system.survey.warnings if sim.system.survey else ()), *sim.system.warnings):
                warnings.warn(warning, stacklevel=5)
        else:
            check_restart(restart, sim)
            restart = directory.reopen(sim, restart, policy)
            cut_recorded(directory.path / STORE, restart.tick.time)
        recovery.started = True
        directory.check_visible(cluster, [place.worker for place in places])
        cautioned = tuple(step_warnings(sim))
        for warning in cautioned if recovery.attempts == 1 else ():
            warnings.warn(warning, stacklevel=5)
        self.drawing = stack.enter_context(DrawingProcess(case, directory.path, directory.guard))
        initial = directory.initial(sim, begins=restart is None)
        copies = copying(threads, where, device)
        self.job = FlowJob(sim.spec, initial, policy, restart, request.profile, bool(cautioned), copies)
        self.group = stack.enter_context(BlockGroup(cluster, plan, [place.worker for place in where]))
        self.about = opening(sim, plan, where, self.group.connect())
        if restart is not None:
            self.about["resumed"] = {"step": restart.tick.step, "time": restart.tick.time}
        elif sim.origin is not None:
            self.about["began"] = sim.origin.row.text
        self.about |= {"restarts": recovery.restarts} if recovery.restarts else {}
        self.about |= {"warnings": list(cautioned)} if cautioned else {}
        directory.write_report(self.about)

    def _begin_elsewhere(self) -> None:
        """Raise BadInput if the source of the initial state cannot be read, or would be replaced by the run."""
        source = self.sim.case.initial.source
        if isinstance(source, str) and Path(source).resolve() == self.request.directory.path.resolve():
            raise BadInput(f"initial.source = {source}: the run would replace it; give another directory ({OUTPUT})")
        _ = self.sim.origin

    def do(self, job: Job) -> Outcome:
        """Run a job on the blocks, until all have ended it."""
        request, group = self.request, self.group

        def progress(status: Mapping[str, Any]) -> None:
            for warning in status.get("warnings", ())[len(self._warned) :]:
                self._warned.append(warning)
                warnings.warn(warning, stacklevel=3)
            request.progress({**status, "restarts": self._restarts})

        try:
            statuses, came = watch(group, [job] * len(group.plan.partition), progress, signals=SIGNALS)
        except KeyboardInterrupt as error:
            name = str(error) if isinstance(error, Terminated) else "Ctrl-C"
            request.directory.write_report(broken(self.about, Interrupted(f"stopped immediately by a second {name}")))
            raise
        failure, timelines = cause(statuses), []
        if isinstance(failure, Lost):
            failure.workers = group.blamed(statuses)
        if request.profile is not None and failure is None:
            try:
                timelines = group.results()
            except Lost as loss:
                failure = loss
        return Outcome([status.progress for status in statuses], came, failure, timelines)

    def complete(self, outcome: Outcome) -> dict[str, Any]:
        """Complete the output of ended blocks, and return the report. Raises errors of the run, also if stopped."""
        self.group.close()
        report, keep = self.finish(outcome), self.policy.keep
        if isinstance(outcome.came, Exception):
            raise outcome.came
        remedy = f"with a checkpoint; {remedies.how_to_resume(self.request.directory.path)}"
        if report["ended"] == "stopped":
            assert isinstance(outcome.came, signal.Signals)
            raise Stopped(f"stopped by {outcome.came.name} at time {report['time']:g}, {remedy}")
        if report["ended"] == "interrupted":
            remains = remedy if keep else f"without a checkpoint; written data are in {self.request.directory.path}"
            raise Interrupted(f"interrupted at time {report['time']:g}, {remains}")
        return report

    def finish(self, outcome: Outcome, reason: str | None = None) -> dict[str, Any]:
        """Finish the files of an ended run. Return the report, with the `reason` of an early end. Raises its errors."""
        directory, profile, policy, about = self.request.directory, self.request.profile, self.policy, self.about
        failure, came = outcome.failure, outcome.came
        if failure is not None:
            self.group.close()  # no process writes any longer
        raised = came if isinstance(came, Exception) else None
        directory.guard()  # takes precedence over other errors: the directory belongs to another run
        undrawn = self.drawing.finish() if failure is None else ()
        for warning in undrawn:
            warnings.warn(warning, stacklevel=4)
        if all_warnings := (*about.get("warnings", ()), *outcome.blocks[0].get("warnings", ()), *undrawn):
            about = {**about, "warnings": list(all_warnings)}
        try:
            directory.finish(outcome.blocks, policy)
        except RunFailed as error:
            failure = failure or error
        if isinstance(came, signal.Signals) and isinstance(failure, Lost):  # who ends a run may end its workers, too
            failure = (Stopped if came in SYSTEM and policy.keep else RunFailed)(
                f"{came.name} came, and {failure}; {remedies.how_to_resume(directory.path)}"
            )
        if failure is not None:
            with suppress(RunFailed):  # the disk may be full
                directory.write_report(broken(about, failure))
            raise failure from raised
        report = summary(about, self.sim, outcome.blocks)
        if profile is not None and profile.by == "timeline":
            report["profile"] = write_profile(directory.path, outcome.timelines, profile)
        if came in SYSTEM and report["ended"] == "interrupted" and policy.keep:
            report["ended"] = "stopped"
        if raised is not None and report["ended"] == "interrupted":
            reason = f"progress= raised {type(raised).__name__}: {raised}"
        if reason is not None:
            report["reason"] = reason
        directory.write_report(report)
        return report


def _places(
    cluster: Client | Here, recovery: Recovery, workers: frozenset[str] | None, *, embedded: bool
) -> list[Place]:
    """Return the places for blocks: at first on some workers, later on the remaining ones of the first attempt."""
    if recovery.blocks is None:
        places = survey(cluster, embedded=embedded, lost=recovery.lost)
        return [place for place in places if workers is None or place.worker in workers] or places
    places = look_at(cluster, remaining_workers(cluster, recovery.lost, recovery.workers), embedded=embedded)
    usable = [place for place in places if recovery.device == "cpu" or place.gpu_problem is None]
    if not usable:
        raise RunFailed(f"no usable GPU is left: {places[0].gpu_problem}")
    return usable
