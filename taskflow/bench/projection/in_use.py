"""A step as users have it: in the loop of `taskflow run`, with its log, and lengths of steps from the flow."""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from taskflow.bench.team import Team
from taskflow.bench.timing import slowest
from taskflow.cases import Case
from taskflow.runs.block.checkpoints import CheckpointPolicy, RunStart
from taskflow.runs.block.job import RunLoop
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Mapper, Shard
from taskflow.runtime.regions import Triple

LOGGED = 100  # steps between two lines of the log
EARLY = 0.4  # share of the steps that are not timed, in which kernels are compiled and overlaps tried
LEAST, MOST = 5 * LOGGED, 50 * LOGGED  # steps of a run
LASTS = 2.0  # times the duration of a measurement, as a step in use takes longer


@dataclass(frozen=True)
class StepInUse:
    """Job of a block: a run from its start to its end, of which the steps after the first `untimed` are timed."""

    start: RunStart
    untimed: int

    def __call__(self, shard: Shard, control: Control) -> float:
        """Return the seconds of a step on the slowest block."""
        loop = RunLoop(self.start, shard, control)
        try:
            loop.begin()
            self._advance(loop, lambda: loop.now.step >= self.untimed)
            shard.synchronize()
            began, first = time.perf_counter(), loop.now.step
            self._advance(loop, lambda: loop.now.finished)
            return slowest(shard, began) / (loop.now.step - first)
        finally:
            loop.close()

    @staticmethod
    def _advance(loop: RunLoop, until: Callable[[], bool]) -> None:
        while not until():
            loop.record()
            loop.step()


def seconds_in_use(team: Team, case: Case, blocks: Triple, mapper: Mapper, about: float, seconds: float) -> float:
    """Return the seconds of a step of a run of this case. A step takes `about` so long without the loop, and the timed
    steps last about `seconds`.

    Raises BadInput if memory is insufficient, and RunFailed if the flow diverges.
    """
    steps = int(min(max(LASTS * seconds / about / (1 - EARLY), LEAST), MOST))
    run = case.replace(**{"time.steps": steps, "monitor.every": {"steps": LOGGED}})
    setup = RunSetup(run, blocks, device=team.device)
    MemoryEstimate(setup, team.spread(len(setup.partition)), setup.device).check()
    with tempfile.TemporaryDirectory() as folder:
        directory, policy = RunDirectory(Path(folder)), CheckpointPolicy.of(setup, Path(folder), uuid.uuid4().hex)
        directory.create(setup, force=True)
        job = StepInUse(RunStart(setup.spec, directory.initial(setup), policy), int(EARLY * steps))
        taken, _ = team.run(setup.partition, job, mapper, case.machine.channel)
    return taken[0]
