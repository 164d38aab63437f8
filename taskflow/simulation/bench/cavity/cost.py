"""What a program must move and compute: the bytes as `taskflow check` counts them, the operations as its kernels do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from taskflow.errors import BadInput
from taskflow.machine.kernel import KernelError
from taskflow.machine.kernel.counting import operations, prepare
from taskflow.regions import Partition
from taskflow.simulation.build.simulation import Simulation
from taskflow.simulation.step_cost import often
from taskflow.tasks import Launch, Program, Roles, plan, visited

Done = Sequence[tuple[tuple[Launch, ...], float]]  # launches, and how often


@dataclass(frozen=True)
class Cost:
    """Bytes through memory, and operations; None where a kernel's are not known."""

    nbytes: float
    operations: float | None


def cost(setup: Simulation, program: Program, rounds: Mapping[str, float]) -> Cost:
    """What a pass costs on all blocks together; `rounds` says how often is done what is repeated until it is enough, by
    the scalar that counts it.
    """
    parts, _ = plan(program, Roles.of(tuple(setup.partition.fields)))
    done = list(often(parts, rounds))
    nbytes = sum(times * setup.step_cost.bytes_of(launches) for launches, times in done)
    return Cost(nbytes, _operations(done, setup.partition))


def _operations(done: Done, partition: Partition) -> float | None:
    """Of all launches; None where a library does one of them, or a text cannot be counted: it may use more of a
    compiler than arithmetic, and a machine with GPUs may have no compiler for its own cores.
    """
    first = {launch.task: launch for launches, _ in reversed(done) for launch in reversed(launches)}
    if any(task.kernel is None for task in first):
        return None
    try:
        prepare(first)
        known = {task: operations(launch, partition) for task, launch in first.items()}
    except (BadInput, KernelError):
        return None
    return sum(
        times * known[launch.task] * visited(launch, partition) for launches, times in done for launch in launches
    )
