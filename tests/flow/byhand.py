"""Kernels run by hand: one block, no runtime."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.operators.momentum import momentum
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.kernel import Layout, compiled
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Privilege, Task, Variant
from tests.reference import Shifted

LENGTHS = (1.1, 0.7, 1.7)  # spacings differ
DT, RATIO, MEAN = 0.05, 0.8, 0.3


@dataclass
class ByHand:
    """Fields of random values over a grid and its ghost layers, and the means to run launches on them."""

    cells: tuple[int, int, int]
    walls: tuple[bool, bool, bool] = (True, True, True)
    real: str = "f8"
    device: Device = field(default_factory=lambda: cpu(2))
    ghost: int = 1
    fields: dict[str, np.ndarray] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=lambda: {"dt": DT, "ratio": RATIO, "mean": MEAN})

    @property
    def staggered(self) -> StaggeredGrid:
        x, y, z = (not wall for wall in self.walls)
        return StaggeredGrid(self.cells, LENGTHS, periodic=(x, y, z))

    def faces(self) -> list[str]:
        """The faces of the domain that are walls."""
        return [f"{name}_{end}" for name, wall in zip("xyz", self.walls, strict=True) if wall for end in ("min", "max")]

    @property
    def box(self) -> Box:
        return Box.of(self.cells)

    @property
    def memory(self) -> Box:
        return self.box.grow(self.ghost)

    @property
    def tolerance(self) -> float:
        """Of a kernel's values relative to the largest."""
        return 200 * float(np.finfo(self.real).eps)

    def fill(self, names: Iterable[str], seed: int = 0) -> ByHand:
        random = np.random.default_rng(seed)
        for name in names:
            self.fields[name] = random.uniform(-1, 1, self.memory.shape[::-1]).astype(self.real)
        return self

    def run(self, *launches: Launch, threads: int | None = None) -> None:
        """Do the launches, one after the other."""
        device = self.device if threads is None else cpu(threads)
        for launch in launches:
            arrays = [self._allocated(device, name, privilege) for name, privilege in launch.requirements]
            for array, name in zip(arrays, launch.fields, strict=True):
                array[...] = device.xp.asarray(self.fields[name])
            numbers = {name: device.allocate((1,), "f8") for name in (*launch.scalars, *launch.reductions)}
            for parameter, name in launch.scalars.items():
                numbers[parameter][...] = self.scalars[name]
            kernel = compiled(launch.task, self.real, device)
            layout = Layout(self.memory.lo, self.memory.shape[::-1])
            kernel.bind(launch.over, layout, arrays, launch.constants, numbers, numbers)()
            for array, (name, privilege) in zip(arrays, launch.requirements, strict=True):
                if privilege.writes:
                    self.fields[name] = np.array(device.to_host(array))
            for parameter, (name, _) in launch.reductions.items():
                self.scalars[name] = float(device.to_host(numbers[parameter])[0])

    def _allocated(self, device: Device, name: str, privilege: Privilege) -> Any:
        """Memory for a field, of which a launch takes the values of a cell behind each other where it is private."""
        kind, shape = privilege.precision or self.real, self.fields[name].shape
        kind = self.real if kind == "any" else kind
        if privilege.together:
            return device.allocate((*shape[:2], shape[3], shape[2]), kind).swapaxes(2, 3)
        return device.allocate(shape, kind)

    def launch(self, task: Task, constants: Mapping[str, Any], over: Box | None = None) -> Launch:
        """The task, or a variant of it, on the fields that its parameters are named after."""
        base, absent = task.base, task.derived[1].absent if task.derived else frozenset()
        fields = [
            None if name in absent else parts[0] if parts == (name,) else parts
            for name, parts in base.parameters.items()
        ]
        values = {name: name for name in base.keywords if name not in base.constants} | dict(constants)
        values |= dict.fromkeys(absent.intersection(base.keywords))
        values |= {base.turns[0]: task.orientation} if base.turns else {}
        return base(*fields, over=self.box if over is None else over, **values)

    def shifted(self, *names: str, box: Box | None = None) -> list[Shifted]:
        return [Shifted(self.fields[name].copy(), self.box if box is None else box, self.memory.lo) for name in names]

    def values(self, name: str, box: Box | None = None) -> np.ndarray:
        return self.fields[name][(self.box if box is None else box).slices(self.memory.lo)]

    def assert_agrees(self, name: str, expected: np.ndarray, box: Box | None = None) -> None:
        scale = max(1.0, float(abs(expected).max()))
        np.testing.assert_allclose(self.values(name, box), expected, rtol=0, atol=self.tolerance * scale, err_msg=name)


SORTS = ("pressure", "friction", "moment")
FORCES = {f"{sort}_{axis}": f"forces.{3 * n + m}" for n, sort in enumerate(SORTS) for m, axis in enumerate("xyz")}
"""The scalars of the force on a body, by what they are."""


def coupled(values: np.ndarray, device: Device) -> np.ndarray:
    """The block [row, column, ...] of a matrix for a neighbour, from its numbers [number, ...] on a device: by rows, or
    by columns where fields are tiled, too.
    """
    count = round(len(values) ** 0.5)
    block = values.reshape(count, count, *values.shape[1:])
    return block.swapaxes(0, 1) if device.tiled else block


def variant(task: Task, without: str = "", turned: str | None = None) -> Task:
    """The task without these parameters, turned to an axis or a face."""
    return task.of(Variant(absent=frozenset(without.split()), orientation=turned))


def momentum_with(*, eddies: bool = False, warm: bool = False, bodies: bool = False) -> Task:
    """The momentum equation of such a flow."""
    without = {"nu_t": eddies, "T buoyancy": warm, "faces": bodies, "edges": eddies and bodies}
    return variant(momentum, " ".join(names for names, present in without.items() if not present))


def scalar_with(task: Task, *, eddies: bool = False, bodies: bool = False) -> Task:
    """The transport of a scalar in such a flow."""
    without = {"nu_t prandtl": eddies, "q_faces": bodies}
    return variant(task, " ".join(names for names, present in without.items() if not present))


def surrounded(cells: np.ndarray, walls: tuple[bool, bool, bool]) -> np.ndarray:
    """Numbers of cells [z, y, x] with one layer around them: 0 beyond walls, else the periodic images."""
    for axis, wall in enumerate(walls):
        width = [(0, 0)] * 3
        width[2 - axis] = (1, 1)
        cells = np.pad(cells, width) if wall else np.pad(cells, width, mode="wrap")
    return cells
