"""Binding: point tasks and copies of a block as calls on its arrays."""

from __future__ import annotations

from collections.abc import Iterable

from taskflow.machine.device import Device, Lane
from taskflow.machine.instance import Instances
from taskflow.machine.kernel import Layout, compiled, copiers
from taskflow.machine.trace.operation import Call
from taskflow.machine.trace.scalars import Scalars
from taskflow.regions import Copy
from taskflow.tasks import Compute, run_body


class Binder:
    """Binds to the arrays and scalars of one block."""

    def __init__(self, device: Device, instances: Instances, scalars: Scalars) -> None:
        self.device, self.instances, self.scalars = device, instances, scalars
        self._layouts = {name: Layout(box.lo, box.shape[::-1]) for name, box in instances.boxes.items()}
        self._origins = {name: box.lo for name, box in instances.boxes.items()}

    def compute(self, node: Compute, lane: Lane) -> Call:
        """The call of a point task: its kernel, or its Python body where it has none."""
        launch, arrays, scalar = node.launch, self.instances.arrays, self.scalars.array
        if launch.task.kernel is None:
            return lambda: self._run_body(node, lane)
        foreign = {
            parameter: self._layouts[name]
            for (parameter, privilege), name in zip(launch.task.fields.items(), launch.fields, strict=True)
            if privilege.foreign
        }
        own = next(name for name, privilege in launch.requirements if not privilege.foreign)
        kernel = compiled(launch.task, arrays[launch.fields[0]].dtype, self.device)
        return kernel.bind(
            node.box,
            self._layouts[own],
            [arrays[name] for name in launch.fields],
            launch.constants,
            {parameter: scalar(name) for parameter, name in launch.scalars.items()},
            {parameter: scalar(name) for parameter, (name, _) in launch.reductions.items()},
            lane,
            foreign,
        )

    def copies(self, copies: Iterable[tuple[str, Copy]], lane: Lane) -> list[Call]:
        """Calls that copy cells of fields to ghost cells of the same block."""
        view = self.instances.view
        pairs = [(view(name, copy.target_box), view(name, copy.source_box)) for name, copy in copies]
        return copiers(self.device, pairs, lane)

    def value(self, name: str) -> float:
        """The value of a scalar here, once the device has got there."""
        return float(self.device.to_host(self.scalars.array(name))[0])

    def _run_body(self, node: Compute, lane: Lane) -> None:
        with lane.active():
            numbers = {name: self.value(name) for name in node.launch.scalars.values()}
            found = run_body(node, self.instances.arrays, self._origins, numbers)
            for name, value in found.items():
                self.scalars.array(name)[...] = value
