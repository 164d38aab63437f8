"""Binding: point tasks and copies of a block as calls on its arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from taskflow.common.errors import BadInput, RunFailed
from taskflow.runtime.machine.device import Array, Call, Device, Lane
from taskflow.runtime.machine.kernel import Layout, bind_pieces, compile_together, compiled, copiers, kernel_of
from taskflow.runtime.machine.kernel.instance import Instances
from taskflow.runtime.machine.kernel.kernel import Arguments, Kernel
from taskflow.runtime.machine.kernel.transform import OPERATIONS
from taskflow.runtime.machine.trace.gather import listed, text_of
from taskflow.runtime.machine.trace.scalars import Scalars
from taskflow.runtime.regions import Box, Copy, Triple, hull
from taskflow.runtime.tasks import ROWS, Compute, Launch, combine, reading, run_body


class Binder:
    """Binds point tasks and copies to the arrays and scalars of one block. Repeated ones are bound once."""

    def __init__(self, device: Device, instances: Instances, scalars: Scalars, *, debug: bool = False) -> None:
        self.device, self.instances, self.scalars, self._debug = device, instances, scalars, debug
        self._kernels: dict[Hashable, tuple[Launch, Call]] = {}  # launches keep constants, whose ids are keys, alive
        self._lists: dict[Hashable, tuple[list[Launch], Call]] = {}
        self._folds = Counter[Hashable]()  # per key: reducing point tasks bound in this pass
        self._copies: dict[Hashable, list[Call]] = {}
        self._layouts = {
            (name, piece): Layout(box.lo, box.shape[::-1], instances.tile(name))
            for (name, piece), box in instances.boxes.items()
        }

    def begin(self) -> None:
        """Start to bind another pass. Its reductions may reuse the memory of earlier passes, which have ended when it
        runs.
        """
        self._folds.clear()

    def compile(self, launches: Iterable[Launch]) -> None:
        """Compile the kernels of these launches that are new, concurrently."""
        mine, texts = self.instances.partition, (launch for launch in launches if launch.task.kernel is not None)
        compile_together(((*text_of(launch, mine), self._listed(launch)) for launch in texts), self.device)

    def tile(self, launch: Launch, cells: Box, middle: Box) -> Triple:
        """Return the granularity, in cells along x, y and z, of the edges of a launch that is cut at `middle`."""
        if launch.task.kernel is None or self._listed(launch):
            return ROWS
        return compiled(*text_of(launch, self.instances.partition), self.device).tile(cells, middle) or ROWS

    def _listed(self, launch: Launch) -> bool:
        mine = self.instances
        return listed(launch, mine.partition, mine.block, gpu=self.device.kind == "gpu", debug=self._debug)

    def compute_all(self, nodes: Sequence[Compute], lane: Lane) -> Call:
        """Return the call of independent point tasks with one list key."""
        key = self._keyed(tuple(map(self._key, nodes)), nodes[0], lane)
        bound = self._lists.get(key)
        if bound is None:
            bound = self._lists[key] = [node.launch for node in nodes], self._list(nodes, lane)
        return bound[1]

    def compute(self, node: Compute, lane: Lane) -> Call:
        """Return the call of a point task: its kernel, a library operation, or its Python body."""
        launch = node.launch
        if (library := launch.task.library) is not None:
            if library not in OPERATIONS:
                known = ", ".join(OPERATIONS)
                raise BadInput(f'task {launch.task.name}: library = "{library}" is not one of {known}')
            return OPERATIONS[library](self.device, lane, *self._views(node), **launch.constants)
        if launch.task.kernel is None:
            for name in launch.scalars.values():
                self.scalars.array(name)  # allocated now, so that values set by the host are there before the body runs
            return lambda: self._run_body(node, lane)
        key = self._keyed(self._key(node), node, lane)
        bound = self._kernels.get(key)
        if bound is None:
            call = self._kernel(node, lane)
            if self._debug and launch.swept and not lane.asynchronous:
                mine, places = self.instances, {name: node.place(name) for name in launch.written}
                written = {name: (mine.arrays[place], mine.boxes[place].lo) for name, place in places.items()}
                call = _done_twice(node, call, self._kernel(replace(node, launch=launch.shuffled()), lane), written)
            bound = self._kernels[key] = launch, call
        return bound[1]

    def _keyed(self, key: Hashable, node: Compute, lane: Lane) -> Hashable:
        """Return the key of a binding on a lane. For a reduction on a GPU it includes its number in the pass:
        concurrent ones must not share memory.
        """
        if not (node.launch.task.reductions and lane.asynchronous):
            return key, lane
        self._folds[key] += 1
        return key, lane, self._folds[key]

    def _list(self, nodes: Sequence[Compute], lane: Lane) -> Call:
        kernel = kernel_of(*text_of(nodes[0].launch, nodes[0].partition), self.device)
        return bind_pieces(kernel, [self._arguments(kernel, node) for node in nodes], lane)

    def _kernel(self, node: Compute, lane: Lane) -> Call:
        kernel = compiled(*text_of(node.launch, node.partition), self.device)
        return kernel.call(self._arguments(kernel, node), lane)

    def _arguments(self, kernel: Kernel, node: Compute) -> Arguments:
        launch, arrays, scalar = node.launch, self.instances.arrays, self.scalars.array
        return kernel.arguments(
            node.box,
            self._layouts[node.place(launch.usual)],
            [arrays[node.place(name)] for name in launch.fields],
            launch.constants | node.placed,
            {parameter: scalar(name) for parameter, name in launch.scalars.items()},
            {parameter: scalar(name) for parameter, (name, _) in launch.reductions.items()},
            {parameter: self._layouts[node.place(name)] for parameter, name in launch.apart.items()},
            kernel.tile(node.cells, node.middle),
            further=not node.first,
        )

    @staticmethod
    def _key(node: Compute) -> Hashable:
        """Return a key that is equal for identical point tasks."""
        return node.launch.kind, node.launch.same_constants, node.box, node.piece, node.cells, node.middle, node.first

    def _views(self, node: Compute) -> Iterator[Array]:
        """Yield the cells of each field of a point task: its own, or all cells of a foreign field that it reads."""
        launch = node.launch
        for name, privilege in launch.requirements:
            box = node.box
            if privilege.foreign:
                box = hull(reading(name, privilege, launch, node.partition).around(node.box))
            yield self.instances.view(name, box, node.place(name)[1])

    def copies(self, copies: tuple[tuple[str, Copy], ...], lane: Lane) -> list[Call]:
        """Return calls that copy cells of fields to ghost cells of the same block."""
        calls = self._copies.get((copies, lane))
        if calls is None:
            mine = self.instances
            pairs = [(mine.target(name, copy), mine.source(name, copy)) for name, copy in copies]
            calls = self._copies[copies, lane] = copiers(self.device, pairs, lane)
        return calls

    def value(self, name: str) -> float:
        """Return this block's value of a scalar after all earlier work on the device."""
        return float(self.device.to_host(self.scalars.array(name))[0])

    def _run_body(self, node: Compute, lane: Lane) -> None:
        with lane.active():
            numbers = {name: self.value(name) for name in node.launch.scalars.values()}
            places = {name: node.place(name) for name in node.launch.fields}
            arrays = {name: self.instances.arrays[place] for name, place in places.items()}
            origins = {name: self.instances.boxes[place].lo for name, place in places.items()}
            results = run_body(node, arrays, origins, numbers)
            for (name, operator), value in zip(node.launch.reductions.values(), results.values(), strict=True):
                folded = value if node.first else combine(operator, [self.value(name), value])
                self.scalars.array(name)[...] = folded


def _done_twice(node: Compute, usual: Call, other: Call, written: Mapping[str, tuple[Array, Triple]]) -> Call:
    """Return a call for debug mode: the sweep as `other`, in another order, then as `usual`. `written` has the array of
    each written field and its first cell. Raises RunFailed if the results differ: then a point reads a neighbour
    that is neither earlier nor later.
    """

    def call() -> None:
        before = {name: array.copy() for name, (array, _) in written.items()}
        other()
        results = {name: array.copy() for name, (array, _) in written.items()}
        for name, (array, _) in written.items():
            array[...] = before[name]
        usual()
        for name, (array, first) in written.items():
            differ = (array != results[name]) & ~(np.isnan(array) & np.isnan(results[name]))
            if differ.any():
                place = np.argwhere(differ)[0]
                cell = tuple(int(n) + low for n, low in zip((place[-1], place[1], place[0]), first, strict=True))
                raise RunFailed(
                    f"{node.launch} makes another {name!r} in the cell {cell} of block {node.block} in another order of"
                    " its points: one of them reads a neighbour there without asking earlier(c, side)"
                )

    return call
