"""Binding: point tasks and copies of a block as calls on its arrays."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator

import numpy as np

from taskflow.errors import BadInput
from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.instance import Instances
from taskflow.runtime.machine.kernel import Layout, compile_together, compiled, copiers
from taskflow.runtime.machine.trace.scalars import Scalars
from taskflow.runtime.machine.transform import OPERATIONS
from taskflow.runtime.regions import Box, Copy, Triple, hull
from taskflow.runtime.tasks import ROWS, Compute, Launch, Task, reading, run_body, share


class Binder:
    """Binds to the arrays and scalars of one block; what occurs again is bound once."""

    def __init__(self, device: Device, instances: Instances, scalars: Scalars) -> None:
        self.device, self.instances, self.scalars = device, instances, scalars
        self._kernels: dict[Hashable, tuple[Launch, Call]] = {}  # launches keep constants, whose ids are in the keys
        self._copies: dict[Hashable, list[Call]] = {}
        self._layouts = {name: Layout(box.lo, box.shape[::-1]) for name, box in instances.boxes.items()}
        self._origins = {name: box.lo for name, box in instances.boxes.items()}

    def compile(self, launches: Iterable[Launch]) -> None:
        """Compile what is not compiled yet of the kernels that these launches need, side by side."""
        texts = (launch for launch in launches if launch.task.kernel is not None)
        compile_together(map(self._text, texts), self.device)

    def tile(self, launch: Launch, cells: Box, middle: Box) -> Triple:
        """The cells along x, y and z of which the edges should be multiples of a launch over some cells, with no more
        than `middle` between them.
        """
        if launch.task.kernel is None:
            return ROWS
        return compiled(*self._text(launch), self.device).tile(cells, middle) or ROWS

    def compute(self, node: Compute, lane: Lane) -> Call:
        """The call of a point task: its kernel, what a library does, or else its Python body."""
        launch = node.launch
        if launch.task.library is not None:
            return self._library(launch)(self.device, lane, *self._views(node), **launch.constants)
        if launch.task.kernel is None:
            return lambda: self._run_body(node, lane)
        cells = share(launch, node.partition, node.block)
        if launch.task.reductions:  # two at a time must not fold in the same memory
            return self._kernel(node, cells, lane)
        key = launch.kind, tuple(map(_same, launch.constants.values())), node.box, cells, node.middle, lane
        bound = self._kernels.get(key)
        if bound is None:
            bound = self._kernels[key] = launch, self._kernel(node, cells, lane)
        return bound[1]

    def _kernel(self, node: Compute, cells: Box, lane: Lane) -> Call:
        """The kernel of a point task, of a launch that the block does on `cells`."""
        launch, arrays, scalar = node.launch, self.instances.arrays, self.scalars.array
        kernel = compiled(*self._text(launch), self.device)
        return kernel.bind(
            node.box,
            self._layouts[launch.own],
            [arrays[name] for name in launch.fields],
            launch.constants,
            {parameter: scalar(name) for parameter, name in launch.scalars.items()},
            {parameter: scalar(name) for parameter, (name, _) in launch.reductions.items()},
            lane,
            {parameter: self._layouts[name] for parameter, name in launch.foreign.items()},
            kernel.tile(cells, node.middle),
        )

    def _text(self, launch: Launch) -> tuple[Task, np.dtype]:
        """The task of a launch as it is compiled for these arrays, and its precision."""
        arrays, fields = self.instances.arrays, launch.task.fields
        real = arrays[launch.own].dtype
        own = ((name, arrays[field].dtype) for name, field in launch.foreign.items() if fields[name].precision == "any")
        return launch.task.precise({name: dtype.str[1:] for name, dtype in own if dtype != real}), real

    def _library(self, launch: Launch) -> Callable[..., Call]:
        name = launch.task.library or ""
        if name not in OPERATIONS:
            raise BadInput(f'task {launch.task.name}: library = "{name}" is none of {", ".join(OPERATIONS)}')
        return OPERATIONS[name]

    def _views(self, node: Compute) -> Iterator[Array]:
        """The cells of each field of a point task: its own, or those that it reads of a foreign one."""
        launch = node.launch
        for name, privilege in launch.requirements:
            box = node.box
            if privilege.foreign:
                box = hull(reading(name, privilege, launch, node.partition).around(node.box))
            yield self.instances.view(name, box)

    def copies(self, copies: tuple[tuple[str, Copy], ...], lane: Lane) -> list[Call]:
        """Calls that copy cells of fields to ghost cells of the same block."""
        calls = self._copies.get((copies, lane))
        if calls is None:
            view = self.instances.view
            pairs = [(view(name, copy.target_box), view(name, copy.source_box)) for name, copy in copies]
            calls = self._copies[copies, lane] = copiers(self.device, pairs, lane)
        return calls

    def value(self, name: str) -> float:
        """The value of a scalar here, once the device has got there."""
        return float(self.device.to_host(self.scalars.array(name))[0])

    def _run_body(self, node: Compute, lane: Lane) -> None:
        with lane.active():
            numbers = {name: self.value(name) for name in node.launch.scalars.values()}
            results = run_body(node, self.instances.arrays, self._origins, numbers)
            for name, value in results.items():
                self.scalars.array(name)[...] = value


def _same(constant: object) -> Hashable:
    """Equal for constants that are the same to the bit, which 0.0 and -0.0 are not. Of those that are no numbers only
    one and the same object counts.
    """
    if isinstance(constant, float):
        return constant.hex()
    return constant if isinstance(constant, int) else id(constant)
