"""The start of a run: from a validated case and a cluster to a finished run directory."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from taskflow.cases import Case
from taskflow.cases.language.problems import shown
from taskflow.common.errors import Avoidable, BadInput, Lost, RunFailed, Stopped, TaskflowError, Terminated
from taskflow.common.files import path_of
from taskflow.runs.attempt import Attempt, Recovery, RunRequest
from taskflow.runs.block.profiling import Window
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.directory.report import broken
from taskflow.runs.notebook import shown_progress
from taskflow.runs.results import Run
from taskflow.runs.state import remedies
from taskflow.runs.state.remedies import as_keys
from taskflow.runs.state.restart import RestartPoint, newest_restart, starts_over, usable
from taskflow.runtime.cluster import Progress, Slurm, lasting_client
from taskflow.runtime.host import Here, terminable

if TYPE_CHECKING:
    from distributed import Client


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
    """Run a case to completion.

    A finished run that is resumed is returned unchanged. After the loss of a worker, GPU or connection the run restarts
    automatically from its newest checkpoint, with a warning, up to `machine.restarts` times. A directory in use by
    another run is refused.

    Parameters
    ----------
    case : Case or path-like
        Case, or the path of a case file.
    output : path-like, optional
        Run directory. Default: named after the case title, in the current directory.
    client : distributed.Client or Slurm, optional
        Where the blocks run. Default: an embedded local cluster.
    scheduler_file : path-like, optional
        Cluster of the blocks, instead of `client`.
    force : bool
        Replace an existing run. The old run is kept until the new run has written its first state.
    resume : bool
        Restart from the newest intact checkpoint and continue to the end given by `case`. A run that was killed before
        its first checkpoint starts over.
    progress : callable, optional
        Called a few times per second with the latest status of block 0, a dict; `stopping` is true after Ctrl-C,
        `restarts` counts automatic restarts. An exception stops the run as Ctrl-C does, and is re-raised. Default: a
        progress display in notebooks.
    profile : Window, optional
        Steps to profile. A timeline is written, and a summary added to the report.

    Returns
    -------
    Run

    Raises
    ------
    BadInput
        Before anything is written or replaced.
    RunFailed, Interrupted, Stopped
        Failure, Ctrl-C, SIGTERM or SIGHUP. Written data stay readable, with a checkpoint if blocks were computing.
    """
    case, output, client = arguments(case, output, client, progress=progress)
    return run_on(
        case, output, client, force=force, resume=resume, progress=progress, scheduler_file=scheduler_file,
        profile=profile,
    )  # fmt: skip


def arguments(
    case: object, output: Any, client: Any, **functions: object
) -> tuple[Case, str | PathLike[str] | None, Client | Slurm | None]:
    """Return the case, directory and cluster of a run; a case file is read.

    Directory and cluster may be exchanged, because `Simulation` and `sweep` had the other order. Raises BadInput if the
    case is missing, or one of `functions` is not callable.
    """
    for name, function in functions.items():
        if function is not None and not callable(function):
            raise BadInput(f"{name} = {function!r}; give a function, which is called as the run advances")
    swapped = output is None and isinstance(client, str | PathLike)
    if swapped or isinstance(output, Here | Slurm) or hasattr(output, "scheduler_info"):
        output, client = client, output
    if isinstance(case, str | PathLike):
        return Case.load(case), output, client
    if not isinstance(case, Case):
        raise BadInput(f"case = {case!r}; give a Case, or the path of a case file")
    return case, output, client


def run_on(
    case: Case,
    output: str | PathLike[str] | None,
    client: Client | Here | Slurm | None,
    *,
    force: bool,
    resume: bool,
    progress: Progress | None,
    scheduler_file: str | PathLike[str] | None = None,
    profile: Window | None = None,
    workers: frozenset[str] | None = None,
) -> Run:
    """Run a case on some of the workers of a cluster (see `run`)."""
    if not isinstance(profile, Window | None):
        raise BadInput(f"profile = {profile!r}; give taskflow.runs.block.profiling.Window(after=10, steps=20)")
    with (
        stoppable(),
        claimed_directory(case, output, force=force, resume=resume) as (own, restart),
        as_keys(),
        lasting_client(client) as lasting,
    ):
        report = own.report()
        if restart is not None and restart.tick.finished and report.get("ended") in ("end", "steady", "stalled"):
            return Run(own.path, report)
        over, callback = force or resume, progress or shown_progress(case)
        request = RunRequest(case, own, lasting, scheduler_file, over, callback, profile, workers)
        return Run(own.path, _computed(request, restart))


@contextmanager
def claimed_directory(
    case: Case, output: str | PathLike[str] | None, *, force: bool, resume: bool
) -> Iterator[tuple[RunDirectory, RestartPoint | None]]:
    """Lock the directory of a run and yield it with the point from which the run starts (see `run`)."""
    if resume and force:
        raise BadInput("resume=True, force=True: use one of them; force starts over and deletes existing data")
    path = RunDirectory.default(case.title) if output is None else path_of(output, "output", "a run directory")
    directory = RunDirectory(path)
    over = force or resume  # whether what is there may go, where nothing has been computed
    directory.check(force=over)
    with directory.locked() as own:
        own.check(force=over)
        yield own, _restart_point(own, case) if resume else None


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise Stopped after SIGTERM or SIGHUP while no blocks compute."""
    try:
        with terminable():
            yield
    except Terminated as asked:
        raise Stopped(f"stopped by {asked} while no blocks computed; {remedies.SAME}") from None


def _restart_point(directory: RunDirectory, case: Case) -> RestartPoint | None:
    if directory.bare():
        return None
    if starts_over(directory.path, case, directory.report()):
        warnings.warn(f"{directory.path}: the run ended before its first checkpoint; it starts over", stacklevel=3)
        return None
    restart, skipped = newest_restart(directory.path, case)
    _warn_of(skipped)
    return restart


def _computed(request: RunRequest, restart: RestartPoint | None) -> dict[str, Any]:
    """Return the report of a run, after as many attempts as it needs and is allowed."""
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
                raise RunFailed(f"after a loss the run cannot continue: {error}") from error
            raise


def _again(loss: Lost, restart: RestartPoint | None, request: RunRequest, recovery: Recovery) -> RestartPoint | None:
    """Return the restart point after a loss, None for the beginning. Raises RunFailed if none is allowed."""
    if not recovery.attempts:
        raise loss
    try:
        if recovery.started:
            restart = _newest(loss, restart, request)
        step = restart.tick.step if restart is not None else 0
        recovery.note(loss, step)
    except RunFailed as error:
        if recovery.started:
            with suppress(RunFailed):
                request.directory.write_report(broken(request.directory.report(), error))
        raise
    warnings.warn(f"{loss}; the run restarts from step {step}", stacklevel=3)
    return restart


def _otherwise(
    failure: Avoidable, restart: RestartPoint | None, request: RunRequest, recovery: Recovery
) -> tuple[RunRequest, RestartPoint | None]:
    """Return the run with changes that avoid a failure, and its restart point. Raises RunFailed if impossible."""
    changed = replace(request, case=request.case.replace(**failure.changes))
    if changed.case.checkpoint.every is not None or restart is not None:
        restart = _newest(failure, restart, changed)
    step = restart.tick.step if restart is not None else 0
    recovery.restarts.append({"step": step, "reason": str(failure)})
    values = ", ".join(f"{key} = {shown(value)}" for key, value in failure.changes.items())
    warnings.warn(f"{failure}; the run restarts from step {step} with {values}", stacklevel=3)
    return changed, restart


def _newest(loss: RunFailed, before: RestartPoint | None, request: RunRequest) -> RestartPoint | None:
    """Return the newest checkpoint, or None if the run may start over. Raises RunFailed if it cannot continue."""
    checkpoint, skipped = usable(request.directory.path, request.case, contents=False)
    _warn_of(skipped)
    if checkpoint is not None:
        return RestartPoint.of(checkpoint, request.case)
    if skipped or before is not None:
        raise RunFailed(f"{loss}; there is no intact checkpoint from which the run could continue")
    if request.case.checkpoint.every is None and not request.directory.bare():
        raise RunFailed(f"{loss}; there is no checkpoint to restart from: give checkpoint.every")
    return None


def _warn_of(skipped: list[str]) -> None:
    for reason in skipped:
        warnings.warn(f"a checkpoint is skipped: {reason}", stacklevel=3)


__all__ = ["Run", "RunFailed", "TaskflowError", "run"]
