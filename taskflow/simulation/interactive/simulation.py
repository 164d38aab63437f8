"""`tf.Simulation`: a run that Python drives, step by step or to its end, where `tf.run` lets the case drive it."""

from __future__ import annotations

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from taskflow.errors import BadInput, Interrupted, Lost, RunFailed, Stopped
from taskflow.runtime.cluster import Progress, lasting_client, unwatched
from taskflow.simulation.attempt import Attempt, Outcome, RunRequest
from taskflow.simulation.case import Case
from taskflow.simulation.drive import AdvanceJob, CheckpointJob, EndJob
from taskflow.simulation.interactive.callbacks import Callback, Callbacks
from taskflow.simulation.pause import HERE, Pause
from taskflow.simulation.recovery import Recovery
from taskflow.simulation.remedies import as_keys, how_to_resume
from taskflow.simulation.run import Run, begun, stoppable
from taskflow.simulation.schedule import Tick
from taskflow.simulation.values import number, positive, whole

if TYPE_CHECKING:
    from distributed import Client

    from taskflow.runtime.cluster import Slurm

Function = TypeVar("Function", bound=Callable[..., object])


class Simulation:
    """A run of a case that goes on as far as it is told to, and pauses in between with its blocks at work.

    Use it in a `with` statement, or close it. The arguments are those of `taskflow.run`. On return the initial state is
    there and written; with `resume` it is that of the newest checkpoint. Steps are those that `taskflow.run` would do,
    to the bit: no pause changes their lengths. What is due at the present step (snapshots, log, checkpoints) is written
    when the run goes on, or ends: it has what was changed in the pause.
    A loss of a worker or GPU ends the simulation; it does not go on by itself, as `taskflow.run` does.
    Raises as `taskflow.run` does.
    """

    def __init__(
        self,
        case: Case,
        client: Client | Slurm | None = None,
        output: str | PathLike[str] | None = None,
        *,
        scheduler_file: str | PathLike[str] | None = None,
        force: bool = False,
        resume: bool = False,
        progress: Progress | None = None,
    ) -> None:
        self.case, self._callbacks = case, Callbacks()
        self._over, self._halted, self._busy, self._reason = "", False, "", ""
        with ExitStack() as stack, stoppable(), as_keys():
            own, restart = stack.enter_context(begun(case, output, force=force, resume=resume))
            self._directory = own
            lasting = stack.enter_context(lasting_client(client))
            over = force or resume
            request = RunRequest(case, own, lasting, scheduler_file, over, progress or unwatched, None)
            recovery = Recovery(0, how_to_resume(own.path))
            self._attempt = stack.enter_context(Attempt(request, restart, recovery))
            self._opened = stack
            self._tick = restart.tick if restart is not None else Tick()
            try:
                self._done(self._attempt.do(replace(self._attempt.job, pause=HERE)))
            except Exception as error:
                if not self._over:
                    self._end(f"{type(error).__name__}: {error}")
                raise
            self._opened = stack.pop_all()

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None and not self._reason:
            self._reason = f"{type(error).__name__}: {error}"
        self.close()

    def __repr__(self) -> str:
        where = f"{self._over}, in" if self._over else "pauses, in"
        return f"<Simulation of {self.case.title}: step {self.iteration}, time {self.time:g}; {where} {self.directory}>"

    @property
    def directory(self) -> Path:
        """The run directory."""
        return self._directory.path

    @property
    def time(self) -> float:
        """The present time of the flow."""
        return self._tick.time

    @property
    def iteration(self) -> int:
        """The number of steps that were done, those before a resumption included."""
        return self._tick.step

    def step(self, n: int = 1) -> None:
        """Do n steps, or fewer where the case ends before. Raises BadInput where n is no whole number from 1, or the
        run is over; Interrupted after Ctrl-C: the simulation pauses then after a step, and can go on.
        """
        self._advance(steps=n)

    def run(self, until: float | None = None, steps: int | None = None, wall: float | None = None) -> None:
        """Go on to the end of the case, or to the first step that reaches the time `until`, or by so many `steps`, or
        for so many seconds of the `wall` clock, whichever comes first. No step is cut for it. Raises as `step` does.
        """
        self._advance(until=until, steps=steps, wall=wall)

    def stop(self) -> None:
        """Let `run` or `step`, from one of whose callbacks this is called, return after the callbacks of this step."""
        self._halted = True
        self._reason = f"stop() was called at step {self.iteration}"

    def checkpoint(self) -> None:
        """Write what is due, and a checkpoint of the present state; on return it is on the disk.

        Raises BadInput where the run is over, or keeps none (checkpoint.keep = 0).
        """
        self._check_going("checkpoint()")
        if not self.case.checkpoint.keep:
            raise BadInput("checkpoint(): checkpoint.keep = 0, so that none stays; give checkpoint.keep from 1 on")
        with self._call("checkpoint()"):
            self._done(self._attempt.do(CheckpointJob()))

    def every(
        self, *, steps: int | None = None, time: float | None = None, wall: float | None = None
    ) -> Callable[[Function], Function]:
        """Have a function called with this simulation while it goes on: after so many `steps`, at the first step that
        reaches a multiple of `time`, or at the first step after so many seconds of the `wall` clock.

        It is called between the step and all that is due after it. An exception that it raises ends the run with its
        state written, and comes out of `run` or `step`. Raises BadInput where not one positive interval is given.
        """

        def add(function: Function) -> Function:
            self._callbacks.callbacks.append(Callback.of(function, self._tick, steps, time, wall))
            return function

        return add

    def close(self) -> Run:
        """End the run where it pauses, with its state written as after Ctrl-C, and give the machines back; the run.
        Idempotent.
        """
        try:
            if not self._over:
                reason = self._reason or f"it was closed at step {self.iteration}"
                with self._call("close()"):
                    self._end(reason)
        finally:
            self._over = self._over or "it has failed"
            self._opened.close()
        return Run(self.directory, self._directory.report())

    # ------------------------------------------------------------------------------------------------------- within

    def _advance(self, until: float | None = None, steps: int | None = None, wall: float | None = None) -> None:
        call = "run(...)" if steps is None or until is not None or wall is not None else f"step({steps})"
        self._check_going(call)
        try:
            step = math.inf if steps is None else self.iteration + whole(steps)
            end = math.inf if until is None else number(until)
            seconds = math.inf if wall is None else positive(wall)
        except BadInput as error:
            raise BadInput(f"{call} with until={until!r}, steps={steps!r}, wall={wall!r}: {error}") from None
        target, self._halted, self._reason = Pause(step, end, seconds).begun(), False, ""
        with self._call(call):
            while not (self._over or self._halted or target.reached(self._tick) or target.late):
                self._done(self._attempt.do(AdvanceJob(self._callbacks.pause(target))))
                for callback in [] if self._over else self._callbacks.due(self._tick):
                    self._call_back(callback)
                if self._tick.finished and not self._over:
                    self._done(self._attempt.do(AdvanceJob(Pause())))

    def _call_back(self, callback: Callback) -> None:
        """Call a function; one that raises ends the run."""
        self._busy, busy = f"the callback {callback.name}", self._busy
        try:
            callback.function(self)
        except Exception as error:
            self._end(f"{callback.name} raised {type(error).__name__}: {error}")
            raise
        finally:
            self._busy = busy

    def _done(self, outcome: Outcome) -> None:
        """Note where the run is after a job. Raises what went wrong, and where somebody interrupted it."""
        told, paused = outcome.blocks[0], outcome.failure is None and "paused" in outcome.blocks[0]
        if paused:
            self._tick = told["paused"]
        else:
            self._over = "it has failed"
            try:
                report = self._attempt.finish(outcome)
            except Lost as loss:
                raise RunFailed(f"{loss}; {how_to_resume(self.directory)}") from loss
            self._over = f"it has ended ({report['ended']})"
            self._tick = Tick(told["step"], told["time"], told["dt"], finished=True)
        if outcome.came == signal.SIGTERM and paused:
            self._end("SIGTERM", outcome.came)
            raise Stopped(f"stopped by SIGTERM at step {self.iteration}; {how_to_resume(self.directory)}")
        if isinstance(outcome.came, Exception):
            raise outcome.came
        if outcome.came is not None and paused:
            where = f"at step {self.iteration}, time {self.time:g}"
            raise Interrupted(f"stopped by Ctrl-C {where}; the simulation pauses: go on with it, or close it")

    def _end(self, reason: str, came: signal.Signals | None = None) -> None:
        """End the run where it pauses."""
        self._over = "it has failed"
        outcome = replace(self._attempt.do(EndJob()), came=came)
        report = self._attempt.finish(outcome, reason)
        self._over = f"it has ended ({report['ended']})"

    def _check_going(self, call: str) -> None:
        if self._over:
            end = self.case.time
            more = f"time.end = {end.end:g}" if end.end is not None else f"time.steps = {end.steps}"
            raise BadInput(
                f"{call}: the run is over: {self._over}; Simulation(case, ..., resume=True) goes on with it, to a later"
                f" end than {more}"
            )

    @contextmanager
    def _call(self, name: str) -> Iterator[None]:
        """A call that has the blocks work. Raises BadInput within another one."""
        if self._busy and not (self._busy.startswith("the callback") and name == "checkpoint()"):
            raise BadInput(f"{name} within {self._busy}: it would have to go on while it goes on; call stop() there")
        self._busy, busy = name, self._busy
        try:
            with stoppable(), as_keys():
                yield
        finally:
            self._busy = busy
