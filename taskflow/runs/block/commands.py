"""The jobs by which a run is driven on its blocks: begun, gone on with to a pause or to its end, ended where it pauses.

A run that the case drives is one job. Between the jobs of another one its loop stays on the block, in `Control.kept`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from taskflow.cases.timing.schedule import NEVER, Pause
from taskflow.common.errors import RunFailed
from taskflow.runs.block.checkpoints import Beginning
from taskflow.runs.block.job import RunLoop
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.profile import Timeline

DRIVE = "drive"


class Drive:
    """A loop that goes on and pauses. A pause lies between a step and what is due after it: what somebody changes there
    is in the records and checkpoints of that step, and a run that is resumed has it.
    """

    def __init__(self, loop: RunLoop) -> None:
        self.loop = loop
        self._since: float | None = None  # when it paused

    @classmethod
    def of(cls, control: Control) -> Drive:
        """The drive that pauses on this block. Raises RunFailed where none does."""
        if DRIVE not in control.kept:
            raise RunFailed("no run pauses on this block")
        drive: Drive = control.kept[DRIVE]
        return drive

    def taken(self, control: Control) -> RunLoop:
        """The loop, for a job that does not go on with it."""
        control.report(**self.loop.control.progress)
        self.loop.control = control
        return self.loop

    def advance(self, control: Control, pause: Pause) -> Timeline | None:
        """Go on until the run is over, or pauses; what was profiled by then. Whatever else happens closes the loop."""
        loop, paused = self.loop, False
        control.kept[DRIVE] = self
        if control is not loop.control:
            control.report(**{name: value for name, value in loop.control.progress.items() if name != "paused"})
        loop.control, loop.pause = control, pause.begun()
        try:
            paused = self._paused()
        finally:
            if not paused:
                loop.close()
                del control.kept[DRIVE]
        return loop.profiling.timeline

    def _paused(self) -> bool:
        """Go on; return whether the run pauses, and is not over."""
        loop = self.loop
        if self._since is not None:
            loop.began += time.perf_counter() - self._since
        else:
            loop.begin()
        while not loop.pause.reached(loop.now):
            loop.record()
            if loop.now.finished:
                loop.complete()
                return False
            loop.step()
        self._since = time.perf_counter()
        control = loop.control
        control.report(**{**control.progress, "paused": loop.now, "step": loop.now.step, "time": loop.now.time})
        return True


@dataclass(frozen=True)
class FlowJob(Beginning):
    """The control program of a case, from its beginning to its end or to a `pause`; what was profiled on a block.

    Raises RunFailed where the flow diverges or the output cannot be written.
    """

    pause: Pause = NEVER

    def __call__(self, shard: Shard, control: Control) -> Timeline | None:
        return Drive(RunLoop(self, shard, control)).advance(control, self.pause)


def go_on(shard: Shard, control: Control, pause: Pause) -> Timeline | None:
    """Go on with a run that pauses, to another pause or its end; what was profiled. Raises as `FlowJob` does."""
    return Drive.of(control).advance(control, pause)


def end_run(shard: Shard, control: Control) -> Timeline | None:
    """End a run where it pauses, with its state written, as one that Ctrl-C ends; what was profiled."""
    drive = Drive.of(control)
    drive.loop.end()
    return drive.advance(control, NEVER)


def write_checkpoint(shard: Shard, control: Control) -> None:
    """Write a checkpoint of the present state, after what is due now; on return all blocks have written it."""
    Drive.of(control).taken(control).keep()
