"""The time of a step in the loop of a run in this process: `python -m tests.performance.loop CASE.toml`.

Overrides `table.key=VALUE` may follow. The first 40 % of the steps are not counted. With `--alone` the host plans every
step.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
import uuid
from pathlib import Path

from taskflow.cases import Case
from taskflow.runs.block import batch
from taskflow.runs.block.checkpoints import CheckpointPolicy
from taskflow.runs.block.commands import FlowJob
from taskflow.runs.block.job import RunLoop
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Mapper, Shard, run_threads
from taskflow.runtime.machine.device import cpu, gpu

LATE = 0.4  # share of the steps that are not counted


def main() -> None:
    """Run the case, and print processor and wall time per step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case")
    parser.add_argument("settings", nargs="*")
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    if asked.alone:
        batch.WARM = math.inf
    device = gpu() if asked.device == "gpu" else cpu(1)
    setup = RunSetup(Case.load(asked.case, asked.settings), (1, 1, 1), device=device.kind)
    marks: list[tuple[int, float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        directory, policy = RunDirectory(Path(folder)), CheckpointPolicy.of(setup, Path(folder), uuid.uuid4().hex)
        directory.create(setup, force=True)
        job = FlowJob(setup.spec, directory.initial(setup), policy, None)

        class Timed(RunLoop):
            def step(self) -> None:
                marks.append((self.now.step, time.thread_time(), time.perf_counter()))
                super().step()

        def done(shard: Shard) -> None:
            loop = Timed(job, shard, Control())
            loop.begin()
            while not loop.now.finished:
                loop.record()
                loop.step()
            loop.close()

        run_threads(setup.partition, done, device, Mapper("none" if device.kind == "cpu" else "auto"))
    first = next(mark for mark in marks if mark[0] >= LATE * marks[-1][0])
    steps = marks[-1][0] - first[0]
    processor, wall = ((marks[-1][n] - first[n]) / steps * 1e6 for n in (1, 2))
    print(f"{asked.case}: {steps} steps, {processor:.1f} us of processor time and {wall:.1f} us of wall time a step")


if __name__ == "__main__":
    main()
