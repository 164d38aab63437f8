"""Kernels of other packages: compiled before a run, since no test of this package has seen their texts."""

from __future__ import annotations

from collections.abc import Iterable

from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.kernel import compile_together
from taskflow.runtime.machine.trace.gather import text_of
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Launch, Task

OWN = __name__.partition(".")[0]


def compile_others(launches: Iterable[Launch], partition: Partition, device: Device) -> int:
    """Compile the kernels of launches to which another package gives the text, or functions in it; return their number.

    Raises BadInput without a compiler, and KernelError if a text does not compile.
    """
    texts = {text_of(launch, partition) for launch in launches if launch.task.kernel is not None}
    others = [(task, real, False) for task, real in texts if _of_others(task)]
    compile_together(others, device)
    return len(others)


def _of_others(task: Task) -> bool:
    brought = [kind.__module__ for kind in task.constants.values() if hasattr(kind, "functions")]
    return any(module.partition(".")[0] != OWN for module in (task.body.__module__, *brought))
