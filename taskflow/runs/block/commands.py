"""Jobs that drive a run on its blocks: start, advance to a pause or to the end, end at a pause.

A run driven by its case is one job. Otherwise the loop stays on the block between jobs, in `Control.kept`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from taskflow.cases.timing.schedule import NEVER, Pause
from taskflow.common.errors import RunFailed
from taskflow.runs.block.checkpoints import RunStart
from taskflow.runs.block.job import RunLoop
from taskflow.runtime.machine import Control, Shard

if TYPE_CHECKING:
    from taskflow.runtime.profile import Timeline

DRIVE = "drive"


class Drive:
    """A loop that advances and pauses. A pause is between a step and its records: the records and checkpoints of that
    step, and a restart, include changes made during the pause.
    """

    def __init__(self, loop: RunLoop) -> None:
        self.loop = loop
        self._since: float | None = None  # when it paused

    @classmethod
    def of(cls, control: Control) -> Drive:
        """Return the paused drive on this block. Raises RunFailed if no run is paused."""
        if DRIVE not in control.kept:
            raise RunFailed("no run pauses on this block")
        drive: Drive = control.kept[DRIVE]
        return drive

    def for_job(self, control: Control) -> RunLoop:
        """Return the loop, for a job that does not advance it."""
        self.loop.progress.pass_to(control)
        return self.loop

    def advance(self, control: Control, pause: Pause) -> Timeline | None:
        """Advance until the run ends or pauses; return the timeline profiled so far. Any exception closes the loop."""
        loop, paused = self.loop, False
        control.kept[DRIVE] = self
        loop.progress.pass_to(control, "paused")
        loop.pause = pause.started()
        try:
            paused = self._paused()
        finally:
            if not paused:
                loop.close()
                del control.kept[DRIVE]
        return loop.profiling.timeline

    def _paused(self) -> bool:
        """Advance; return True if the run pauses, False if it has ended."""
        loop = self.loop
        if self._since is not None:
            loop.progress.began += time.perf_counter() - self._since
        else:
            loop.begin()
        while not loop.pause.reached(loop.now):
            loop.record()
            if loop.now.finished:
                loop.complete()
                return False
            loop.step()
        self._since = time.perf_counter()
        loop.progress.report(paused=loop.now, step=loop.now.step, time=loop.now.time)
        return True


@dataclass(frozen=True)
class FlowJob(RunStart):
    """The control program of a case, from its start to its end or to a `pause`. Returns the profiled timeline of a
    block.

    Raises RunFailed if the flow diverges or the output cannot be written.
    """

    pause: Pause = NEVER

    def __call__(self, shard: Shard, control: Control) -> Timeline | None:
        return Drive(RunLoop(self, shard, control)).advance(control, self.pause)


def advance(shard: Shard, control: Control, pause: Pause) -> Timeline | None:
    """Advance a paused run to another pause or its end; return the timeline. Raises as `FlowJob` does."""
    return Drive.of(control).advance(control, pause)


def end_run(shard: Shard, control: Control) -> Timeline | None:
    """End a paused run, with its state written, as Ctrl-C does; return the timeline."""
    drive = Drive.of(control)
    drive.loop.end()
    return drive.advance(control, NEVER)


def write_checkpoint(shard: Shard, control: Control) -> None:
    """Write a checkpoint of the present state, after the scheduled records; return when all blocks have written it."""
    Drive.of(control).for_job(control).keep()
