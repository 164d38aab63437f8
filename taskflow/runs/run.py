"""Running a case: from a validated case and a cluster to a finished run directory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.cases import Case
from taskflow.cases.language.problems import shown
from taskflow.common.errors import Avoidable, BadInput, Lost, RunFailed, Stopped, TaskflowError, Terminated
from taskflow.output import LOG, STORE
from taskflow.output.store.metadata import PSEUDO_TIME
from taskflow.runs.attempt import Attempt, Recovery, RunRequest
from taskflow.runs.block.profiling import Window
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.directory.report import broken
from taskflow.runs.notebook import as_html, shown_progress
from taskflow.runs.state import remedies
from taskflow.runs.state.remedies import as_keys
from taskflow.runs.state.restart import RestartPoint, newest_restart, starts_over, usable
from taskflow.runtime.cluster import Progress, Slurm, lasting_client
from taskflow.runtime.host import terminable
from taskflow.systems.records.fields import STATISTICS

if TYPE_CHECKING:
    from distributed import Client

TOLD = ("title", "ended", "steps", "time", "started", "device", "blocks", "warnings")  # of a report, in a notebook


@dataclass(frozen=True)
class Run:
    """A run: its directory and its report."""

    directory: Path
    report: dict[str, Any] = field(repr=False)

    @classmethod
    def open(cls, directory: str | PathLike[str]) -> Run:
        """The run of a directory, finished or not. Raises BadInput where it is none."""
        path = Path(directory)
        report = RunDirectory(path).report()
        if not report:
            raise BadInput(f"{path}: there is no report.json to read; give the folder that `taskflow run` wrote")
        return cls(path, report)

    def dataset(self, group: str = "") -> Any:
        """The snapshots, or the records in another group of the store, as lazy arrays: an xarray Dataset, or, of fields
        on charts, a DataTree with a child for each chart. Raises BadInput where there are none, or files are damaged;
        so does reading of values later, with the name of the file.
        """
        from taskflow.accessor.flow import opened

        return opened(self.directory / STORE, group)

    def statistics(self) -> Any:
        """Means and covariances over time, as lazy arrays: a Dataset or, on charts, a DataTree as that of snapshots is.
        Raises BadInput where the case asks for none.
        """
        return self.dataset(STATISTICS)

    def _repr_html_(self) -> str:
        """How the run ended, and its last snapshot, for a notebook."""
        left_out = "time" if PSEUDO_TIME in self.report else None
        table = {key: self.report[key] for key in TOLD if key in self.report and key != left_out}
        return as_html(repr(self), table, self.dataset)

    def log(self) -> list[dict[str, Any]]:
        """The lines of the log."""
        from taskflow.output import read_log

        return read_log(self.directory / LOG)


def run(
    case: Case | str | PathLike[str],
    output: str | PathLike[str] | None = None,
    client: Client | Slurm | None = None,
    *,
    scheduler_file: str | PathLike[str] | None = None,
    force: bool = False,
    resume: bool = False,
    progress: Progress | None = None,
    profile: Window | None = None,
) -> Run:
    """Run a case, or a case file by its path, to its end and return the finished run.

    `output` is the run directory (by default the case's title as a name, in the current folder); an existing one is
    refused unless `force` replaces it or `resume` goes on with it: from its newest checkpoint that is whole, to the
    end that `case` has now; a run that has nothing left to do is returned as it is, and one that was killed before its
    first checkpoint begins again. A directory in which a run goes on is refused in any case; one whose process cannot
    be seen from here is watched for a minute, with a warning. What `force` replaces is there until the new run has
    written its first state. The blocks live on the workers of `client`, or in jobs of SLURM that are submitted for it,
    or of the cluster behind `scheduler_file`, or of an embedded cluster of this machine.
    Where a worker, a GPU or a connection is lost, the run goes on by itself from its newest checkpoint, with a warning:
    `machine.restarts` says how often.
    `progress` is called a few times a second with what block 0 last reported; its `stopping` says whether Ctrl-C has
    been pressed, its `restarts` how often the run has gone on by itself. An exception that it raises ends the run as
    Ctrl-C does, and comes out of this call. Without it a notebook shows how far the run is. `profile` names steps to be
    timed: a timeline is written and a summary added to the report.
    Raises BadInput before anything is written or replaced; RunFailed where the run could not go on, Interrupted after
    Ctrl-C, Stopped after SIGTERM or SIGHUP, with a checkpoint where blocks computed: what was written stays readable.
    Warns of damaged checkpoints.
    """
    case, output, client = arguments(case, output, client, progress=progress)
    return run_on(
        case, output, client, force=force, resume=resume, progress=progress, scheduler_file=scheduler_file,
        profile=profile,
    )  # fmt: skip


def arguments(
    case: object, output: Any, client: Any, **functions: object
) -> tuple[Case, str | PathLike[str] | None, Client | Slurm | None]:
    """Return the first arguments of a run: its case, read if it is a path, its directory, its cluster.

    The last two may come in either order, as `Simulation` and `sweep` used to have them in the other one. Raises
    BadInput if there is no case, or one of the `functions` is none.
    """
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise BadInput(f"{name} = {function!r}; give a function, which is called as the run advances")
    swapped = output is None and isinstance(client, str | PathLike)
    if swapped or isinstance(output, Slurm) or hasattr(output, "scheduler_info"):
        output, client = client, output
    if isinstance(case, str | PathLike):
        return Case.load(case), output, client
    if not isinstance(case, Case):
        raise BadInput(f"case = {case!r}; give a Case, or the path of a case file")
    return case, output, client


def run_on(
    case: Case,
    output: str | PathLike[str] | None,
    client: Client | Slurm | None,
    *,
    force: bool,
    resume: bool,
    progress: Progress | None,
    scheduler_file: str | PathLike[str] | None = None,
    profile: Window | None = None,
    workers: frozenset[str] | None = None,
) -> Run:
    """`run`, on some of the workers of the cluster."""
    with (
        stoppable(),
        begun(case, output, force=force, resume=resume) as (own, restart),
        as_keys(),
        lasting_client(client) as lasting,
    ):
        report = own.report()
        if restart is not None and restart.tick.finished and report.get("ended") in ("end", "steady", "stalled"):
            return Run(own.path, report)
        over, told = force or resume, progress or shown_progress(case)
        request = RunRequest(case, own, lasting, scheduler_file, over, told, profile, workers)
        return Run(own.path, _computed(request, restart))


@contextmanager
def begun(
    case: Case, output: str | PathLike[str] | None, *, force: bool, resume: bool
) -> Iterator[tuple[RunDirectory, RestartPoint | None]]:
    """The directory of a run, to itself, and the point from which it goes on; see `run`."""
    if resume and force:
        raise BadInput("resume=True, force=True: one at a time; force begins again and drops what is there")
    if not isinstance(output, str | PathLike | None):
        raise BadInput(f"output = {output!r}; give the path of a run directory")
    directory = RunDirectory(Path(output) if output is not None else RunDirectory.default(case.title))
    over = force or resume  # whether what is there may go, where nothing has been computed
    directory.check(force=over)
    with directory.locked() as own:
        own.check(force=over)
        yield own, _restart_point(own, case) if resume else None


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM or SIGHUP within raises Stopped where no blocks compute."""
    try:
        with terminable():
            yield
    except Terminated as asked:
        raise Stopped(f"stopped by {asked} while no blocks computed; {remedies.SAME}") from None


def _restart_point(directory: RunDirectory, case: Case) -> RestartPoint | None:
    """The point from which to go on with the run in a directory; None for its beginning."""
    if directory.bare():
        return None
    if starts_over(directory.path, case, directory.report()):
        warnings.warn(f"{directory.path}: the run ended before its first checkpoint; it begins again", stacklevel=3)
        return None
    restart, skipped = newest_restart(directory.path, case)
    _warn_of(skipped)
    return restart


def _computed(request: RunRequest, restart: RestartPoint | None) -> dict[str, Any]:
    """The report of a run, in as many attempts as it needs, and may have."""
    recovery = Recovery(request.case.machine.restarts, remedies.how_to_resume(request.directory.path))
    while True:
        try:
            with as_keys(), Attempt(request, restart, recovery) as attempt:
                return attempt.complete(attempt.do(attempt.job))
        except Lost as loss:
            restart = _again(loss, restart, request, recovery)
        except Avoidable as failure:
            request, restart = _otherwise(failure, restart, request, recovery)
        except BadInput as error:
            if recovery.restarts:  # the input was good: what is left of the machines does not suffice
                raise RunFailed(f"after a loss the run cannot go on: {error}") from error
            raise


def _again(loss: Lost, restart: RestartPoint | None, request: RunRequest, recovery: Recovery) -> RestartPoint | None:
    """The point from which a run goes on after a loss: its newest checkpoint, or None for its beginning.

    Raises RunFailed where it may not, or cannot: without any machine from the beginning nothing would be another time.
    """
    if not recovery.attempts:
        raise loss
    try:
        if recovery.begun:
            restart = _newest(loss, restart, request)
        step = restart.tick.step if restart is not None else 0
        recovery.note(loss, step)
    except RunFailed as error:
        if recovery.begun:
            with suppress(RunFailed):
                request.directory.write_report(broken(request.directory.report(), error))
        raise
    warnings.warn(f"{loss}; the run goes on from step {step}", stacklevel=3)
    return restart


def _otherwise(
    failure: Avoidable, restart: RestartPoint | None, request: RunRequest, recovery: Recovery
) -> tuple[RunRequest, RestartPoint | None]:
    """The run with the changes of its case that avoid a failure, and the point from which it goes on: its newest
    checkpoint, or None for its beginning. Raises RunFailed where it cannot go on.
    """
    changed = replace(request, case=request.case.replace(**failure.changes))
    if changed.case.checkpoint.every is not None or restart is not None:
        restart = _newest(failure, restart, changed)
    step = restart.tick.step if restart is not None else 0
    recovery.restarts.append({"step": step, "reason": str(failure)})
    values = ", ".join(f"{key} = {shown(value)}" for key, value in failure.changes.items())
    warnings.warn(f"{failure}; the run goes on from step {step} with {values}", stacklevel=3)
    return changed, restart


def _newest(loss: RunFailed, before: RestartPoint | None, request: RunRequest) -> RestartPoint | None:
    """The newest checkpoint of a run that went on from `before`; None where it has had none, and may begin again.

    Raises RunFailed where it cannot go on.
    """
    checkpoint, skipped = usable(request.directory.path, request.case, contents=False)
    _warn_of(skipped)
    if checkpoint is not None:
        return RestartPoint.of(checkpoint, request.case)
    if skipped or before is not None:
        raise RunFailed(f"{loss}; no checkpoint is whole from which the run could go on")
    if request.case.checkpoint.every is None and not request.directory.bare():
        raise RunFailed(f"{loss}; there is no checkpoint to go on from: give checkpoint.every")
    return None


def _warn_of(skipped: list[str]) -> None:
    for reason in skipped:
        warnings.warn(f"a checkpoint is left out: {reason}", stacklevel=3)


__all__ = ["Run", "RunFailed", "TaskflowError", "run"]
