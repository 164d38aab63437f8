"""Client side of `tf.Simulation`: a run that advances and pauses on request."""

from __future__ import annotations

import math
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar
from weakref import WeakSet

from taskflow.cases import Case
from taskflow.cases.formulas.values import number, positive, whole
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import HERE, Pause
from taskflow.common.errors import BadInput, Interrupted, Lost, RunFailed, Stopped, named
from taskflow.common.pool import ending
from taskflow.output import LOG, RecordedArray
from taskflow.output.log import Tail
from taskflow.runs.attempt import Attempt, Outcome, Recovery, RunRequest
from taskflow.runs.block.commands import advance, end_run
from taskflow.runs.block.profiling import Window
from taskflow.runs.interactive.callbacks import Callback, Callbacks
from taskflow.runs.notebook import shown_progress
from taskflow.runs.records import RunRecords
from taskflow.runs.results import Run
from taskflow.runs.run import arguments, claimed_directory, stoppable
from taskflow.runs.state.remedies import as_keys, how_to_resume
from taskflow.runs.state.setup import Settings
from taskflow.runtime.cluster import Progress, lasting_client
from taskflow.runtime.cluster.blocks import Blocks
from taskflow.runtime.host import SYSTEM
from taskflow.runtime.machine import Job
from taskflow.systems.projection import system_of

if TYPE_CHECKING:
    from distributed import Client

    from taskflow.runtime.cluster import Slurm

Answer = TypeVar("Answer")


class DrivenRun(RunRecords):
    """Run on persistent blocks: state, advance, shutdown."""

    def __init__(
        self,
        case: Case | str | PathLike[str],
        output: str | PathLike[str] | None = None,
        client: Client | Slurm | None = None,
        *,
        scheduler_file: str | PathLike[str] | None = None,
        force: bool = False,
        resume: bool = False,
        progress: Progress | None = None,
        profile: Window | None = None,
    ) -> None:
        case, output, client = arguments(case, output, client, progress=progress)
        self.case, self._callbacks = case, Callbacks()
        self._over, self._halted, self._busy, self._reason, self._state, self._closed = "", False, "", "", 0, False
        self._reading = RLock()  # dask reads fields in several threads: one after the other
        self._computed = set[tuple[str, int]]()  # what follows from the fields of a state, and is there
        self._recorded: dict[str, RecordedArray] = {}
        self._log: Tail | None = None
        with ExitStack() as stack, stoppable(), as_keys():
            own, restart = stack.enter_context(claimed_directory(case, output, force=force, resume=resume))
            self._directory = own
            lasting = stack.enter_context(lasting_client(client))
            over, callback = force or resume, progress or shown_progress(case)
            request = RunRequest(case, own, lasting, scheduler_file, over, callback, profile, steered=True)
            self._attempt = stack.enter_context(Attempt(request, restart, Recovery(0, how_to_resume(own.path))))
            self._tick, given = (restart.tick, restart.given) if restart is not None else (Tick(), {})
            system = self._attempt.sim.system
            self._settings = Settings(system.timed, system.inflows, system.surroundings)
            self._settings.update(given)
            try:
                self._done(self._do(replace(self._attempt.job, pause=HERE)))
            except Exception as error:
                if not self._over:
                    self._end(f"{type(error).__name__}: {error}")
                raise
            self._opened = stack.pop_all()
        _open.add(self)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None and not self._reason:
            self._reason = f"{type(error).__name__}: {error}"
        self.close()

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self._directory.path

    @property
    def time(self) -> float:
        """Present time of the flow, T."""
        return self._tick.time

    @property
    def dt(self) -> float:
        """Length of the last step, T; 0 before the first."""
        return self._tick.dt

    @property
    def ended(self) -> bool:
        """True after the end of the run."""
        return bool(self._over)

    def log(self) -> list[dict[str, Any]]:
        """Return the lines of the log as dictionaries. A line of the present step is written when the run continues."""
        self._log = self._log or Tail(self.directory / LOG)
        return [*self._log.look()]

    @property
    def iteration(self) -> int:
        """Number of completed steps, including those before a restart."""
        return self._tick.step

    def close(self) -> Run:
        """End the run, write its state as after Ctrl-C, release the machines, and return the run.

        Idempotent. Raises BadInput within a callback, without effect.
        """
        if not self._over and self._busy.startswith("the callback"):
            self._check_free("close()")
        try:
            if not self._over:
                reason = self._reason or f"it was closed at step {self.iteration}"
                with self._call("close()"):
                    self._end(reason)
        finally:
            _open.discard(self)
            self._over, self._closed = self._over or "it has failed", True
            with self._opened:
                for recorded in self._recorded.values():
                    recorded.finish()
                self._recorded.clear()
        return Run(self.directory, self._directory.report())

    def _advance(
        self, call: str, until: float | None = None, steps: int | None = None, wall: float | None = None
    ) -> None:  # fmt: skip
        self._check_going(call)
        with named(call):
            step = math.inf if steps is None else self.iteration + whole(steps)
            end = math.inf if until is None else number(until)
            seconds = math.inf if wall is None else positive(wall)
        target, self._halted, self._reason = Pause(step, end, seconds).started(), False, ""
        with self._call(call):
            while not (self._over or self._halted or target.reached(self._tick) or target.late):
                self._done(self._do(partial(advance, pause=self._callbacks.pause(target))))
                for callback in [] if self._over else self._callbacks.due(self._tick):
                    self._call_back(callback)
                if self._tick.finished and not self._over:
                    self._done(self._do(partial(advance, pause=Pause())))

    def _do(self, job: Job) -> Outcome:
        """Run a job on the blocks. A second Ctrl-C ends the run immediately."""
        try:
            return self._attempt.do(job)
        except KeyboardInterrupt:
            self._over = "it has failed"
            raise

    def _call_back(self, callback: Callback) -> None:
        """Call a function; an exception ends the run."""
        self._busy, busy = f"the callback {callback.name}", self._busy
        try:
            callback.function(self)
        except KeyboardInterrupt:
            raise Interrupted(f"stopped by Ctrl-C in {self._busy} {self._pauses}") from None
        except Exception as error:
            if not self._over:
                self._end(f"{callback.name} raised {type(error).__name__}: {error}")
            raise
        finally:
            with self._reading:
                self._busy = busy

    def _done(self, outcome: Outcome) -> None:
        """Update the state of the run after a job. Raises the error of the job, or Interrupted."""
        self._last, self._state = outcome, self._state + 1
        status, paused = outcome.blocks[0], outcome.failure is None and "paused" in outcome.blocks[0]
        if paused:
            self._tick = status["paused"]
        else:
            self._over = "it has failed"
            try:
                report = self._attempt.finish(outcome)
            except Lost as loss:
                raise RunFailed(f"{loss}; {how_to_resume(self.directory)}") from loss
            self._over = f"it has ended ({report['ended']})"
            self._tick = Tick(status["step"], status["time"], status["dt"], finished=True)
        if isinstance(outcome.came, signal.Signals) and outcome.came in SYSTEM and paused:
            self._end(outcome.came.name, outcome.came)
            raise Stopped(f"stopped by {outcome.came.name} at step {self.iteration}; {how_to_resume(self.directory)}")
        if isinstance(outcome.came, Exception):
            raise outcome.came
        if outcome.came is not None and paused:
            raise Interrupted(f"stopped by Ctrl-C {self._pauses}")

    @property
    def _pseudo_time(self) -> bool:
        return system_of(self.case).pseudo_time(self.case)

    @property
    def _moment(self) -> str:
        return f"step {self.iteration}{'' if self._pseudo_time else f', time {self.time:g}'}"

    @property
    def _pauses(self) -> str:
        return f"at {self._moment}; the simulation pauses: continue it, or close it"

    def _end(self, reason: str, came: signal.Signals | None = None) -> None:
        self._over = "it has failed"
        outcome = replace(self._do(end_run), came=came)
        report = self._attempt.finish(outcome, reason)
        self._over = f"it has ended ({report['ended']})"

    def _ask(self, name: str, do: Callable[[Blocks], Answer]) -> Answer:
        """Run an operation on the blocks that is not a step. Raises RunFailed, and ends the run, if it fails."""
        self._check_open(name)
        with self._call(name, drives=False):
            try:
                return do(Blocks(self._attempt.group, [], ExitStack()))
            except Interrupted:
                raise
            except RunFailed as error:
                self._over = "it has failed"
                self._attempt.finish(replace(self._last, failure=error))
                raise

    def _check_open(self, call: str) -> None:
        if self._closed or self._over == "it has failed":
            raise BadInput(f"{call}: the simulation is closed; Run.open({str(self.directory)!r}) reads its data")

    def _check_going(self, call: str) -> None:
        if self._over:
            end, broken = self.case.time, any(word in self._over for word in ("interrupted", "failed"))
            last = f"time.end = {end.end:g}" if end.end is not None else f"time.steps = {end.steps}"
            to = "" if broken else f", to a later end than {last}"
            remedy = f"Simulation(case, ..., resume=True) resumes it{to}"
            raise BadInput(f"{call}: the run has ended: {self._over}; {remedy}")

    def _check_free(self, call: str, *, drives: bool = True) -> None:
        if self._busy and (drives or not self._busy.startswith("the callback")):
            raise BadInput(f"{call} within {self._busy}: the simulation is busy; call stop() there")

    @contextmanager
    def _call(self, name: str, *, drives: bool = True) -> Iterator[None]:
        """Mark a call that uses the blocks. Raises BadInput within another call, except some within callbacks."""
        with self._reading:
            self._check_free(name, drives=drives)
            self._busy, busy = name, self._busy
        try:
            with stoppable(), as_keys():
                yield
        finally:
            with self._reading:
                self._busy = busy


_open = WeakSet[DrivenRun]()


def _close_all() -> None:
    """End simulations that a script has left open: their release after the end of their threads would never return."""
    ending.set()
    with ExitStack() as stack:  # one that fails does not keep the others open
        for one in [*_open]:
            stack.callback(one.close)


# Functions of `atexit` come after the end of executors, which write the state. There is no public way to be earlier.
threading._register_atexit(_close_all)  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=_open.clear)  # the simulations of the parent go on there
