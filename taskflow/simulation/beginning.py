"""The beginning of a run, on every block."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from taskflow.runtime.machine import Shard
from taskflow.simulation.build.simulation import BlockSpec
from taskflow.simulation.checkpoints import CheckpointPolicy, restore
from taskflow.simulation.conditions.initial import InitialFields
from taskflow.simulation.conditions.restart import RestartPoint
from taskflow.simulation.profiling import Window


@dataclass(frozen=True)
class Beginning:
    """The beginning of a run, with its initial fields or a checkpoint, in the directory of its checkpoints. Picklable;
    every block gets the same one. `cautioned`: it has been said that its steps may be too long.
    """

    spec: BlockSpec
    initial: InitialFields
    policy: CheckpointPolicy
    resumed: RestartPoint | None = None
    profile: Window | None = None
    cautioned: bool = False

    def fill(self, shard: Shard) -> None:
        """Write the initial fields, where the run begins with them, and the constant ones, while the kernels of the run
        are compiled.
        """
        with ThreadPoolExecutor(1, "taskflow-prepare") as pool:
            prepared = pool.submit(shard.prepare, self.spec.programs)
            if self.resumed is None:
                self.initial.fill(shard)
            if self.spec.constants is not None:
                self.spec.constants.fill(shard)
            prepared.result()

    def take_over(self, shard: Shard) -> float:
        """Have a state that is taken from elsewhere to the bit, or sums of it, once the program of the start, which
        projects the velocity, has run; the length of the step before, 0 where there is none.
        """
        initial = self.initial
        if initial.checkpoint is not None:
            restore(initial.checkpoint, self.policy, shard)
            return float(initial.checkpoint.state["dt"])
        if initial.kept:
            initial.fill(shard)
            shard.run(self.spec.model.taken)
        elif initial.sums:
            initial.fill(shard, initial.sums)
            shard.run(self.spec.model.summed)
        return 0.0
