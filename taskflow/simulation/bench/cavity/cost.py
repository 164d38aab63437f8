"""What a program must move and compute: the bytes as `taskflow check` counts them, the operations as its kernels do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from taskflow.errors import BadInput
from taskflow.machine.kernel.counting import operations
from taskflow.regions import Partition
from taskflow.simulation.moving import often
from taskflow.simulation.setup import Setup
from taskflow.tasks import Launch, Program, Roles, Task, plan, visited


@dataclass(frozen=True)
class Cost:
    """Bytes through memory, and operations; None where a kernel's are not known."""

    nbytes: float
    operations: float | None


def cost(setup: Setup, program: Program, rounds: Mapping[str, float]) -> Cost:
    """What a pass costs on all blocks together; `rounds` says how often is done what is repeated until it is enough, by
    the scalar that counts it.
    """
    parts, _ = plan(program, Roles.of(tuple(setup.partition.fields)))
    nbytes, total, known = 0.0, 0.0, _Known(setup.partition)
    for launches, times in often(parts, rounds):
        nbytes += times * setup.bytes_of(launches)
        total += times * known.operations(launches)
    return Cost(nbytes, total if known.all else None)


class _Known:
    """Operations per cell of each task. `all` is False once one of them could not be told."""

    def __init__(self, partition: Partition) -> None:
        self.all = True
        self._partition = partition
        self._found: dict[Task, float] = {}

    def operations(self, launches: Iterable[Launch]) -> float:
        """Of some launches, as far as they are known."""
        return sum(self._per_cell(launch) * visited(launch, self._partition) for launch in launches)

    def _per_cell(self, launch: Launch) -> float:
        if launch.task not in self._found:
            try:
                found = operations(launch, self._partition)
            except BadInput:  # no compiler, on a machine that has GPUs
                found = None
            self.all = self.all and found is not None
            self._found[launch.task] = found or 0.0
        return self._found[launch.task]
