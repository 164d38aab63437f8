"""Binding: point tasks and copies of a block as operations on its arrays."""

from __future__ import annotations

from taskflow.machine.device import Array, Device, Lane
from taskflow.machine.kernel import Layout, compiled, copier
from taskflow.machine.trace.instance import Instances
from taskflow.machine.trace.operation import Call
from taskflow.regions import Copy
from taskflow.tasks import Compute, run_body


class Binder:
    """Binds to the arrays of one block, and keeps its scalars in the memory of its device."""

    def __init__(self, device: Device, instances: Instances) -> None:
        self.device, self.instances = device, instances
        self._layout = Layout(instances.box.lo, instances.box.shape[::-1])
        self._scalars: dict[str, Array] = {}

    def compute(self, node: Compute, lane: Lane) -> Call:
        """The operation of a point task: its kernel, or its Python body where it has none."""
        launch, arrays = node.launch, self.instances.arrays
        if launch.task.kernel is None:
            return lambda: self._run_body(node, lane)
        kernel = compiled(launch.task, arrays[launch.fields[0]].dtype, self.device)
        return kernel.bind(
            node.box,
            self._layout,
            [arrays[name] for name in launch.fields],
            launch.constants,
            {parameter: self._scalar(name) for parameter, name in launch.scalars.items()},
            {parameter: self._scalar(name) for parameter, (name, _) in launch.reductions.items()},
            lane,
        )

    def copy(self, name: str, copy: Copy, lane: Lane) -> Call:
        """The operation that copies cells of a field to ghost cells of the same block."""
        target, source = self.instances.view(name, copy.target_box), self.instances.view(name, copy.source_box)
        return copier(self.device, target, source, lane)

    def set(self, name: str, value: float) -> None:
        """Give a scalar a value, on the lane that is current."""
        self._scalar(name)[...] = value

    def value(self, name: str) -> float:
        """The value of a scalar, once the device has got there."""
        return float(self.device.to_host(self._scalar(name))[0])

    def _scalar(self, name: str) -> Array:
        if name not in self._scalars:
            self._scalars[name] = self.device.allocate((1,), "f8")
        return self._scalars[name]

    def _run_body(self, node: Compute, lane: Lane) -> None:
        with lane.active():
            numbers = {name: self.value(name) for name in node.launch.scalars.values()}
            found = run_body(node.launch, node.box, self.instances.arrays, self._layout.origin, numbers)
            for name, value in found.items():
                self.set(name, value)
