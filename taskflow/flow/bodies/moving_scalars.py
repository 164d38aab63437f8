"""Temperature and passive scalars around immersed bodies of which some move.

All cells are advanced with the velocity on all faces, which is divergence-free inside bodies, too. No flux diffuses
through closed faces. A step then corrects the values in bodies:

- **With a temperature** T_b: T = T_b in cells whose centre is inside. Adjacent cells get conduction over the true
  distance s h, as at rest (`taskflow.flow.bodies.immersed.wall_heat_flux`). The heat of a body is the sum of these
  changes, so the sum of T over all cells, bodies included, changes by it and by boundaries and sources, up to rounding.
  T_b and the heat stored inside are constant.
- **Without a temperature**, or for a passive scalar: cells without an open face keep their value, and before each step
  take the mean of the neighbours outside, or of all neighbours if none is outside. Ghost cells of walls are no
  neighbours. A body thus carries adjacent values through closed faces, and a cell that leaves a body starts with the
  mean of its neighbours in the fluid.

  Uniform fields stay uniform, and bounded ones stay bounded. Values swept by the surface are not exactly conserved.

A surface with a temperature that approaches at the speed U adds U (1/s - 1) / h to its conduction, as to its friction
(`taskflow.flow.bodies.moving`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, ReadByte, ReadShort, ReadWrite, Reduce, Roles, Scalar, Write, task

TEXT = KERNELS / "bodies" / "moving_scalars.cu"


@dataclass(frozen=True)
class Pass:
    """Pass of a stage over a quantity.

    `conducts`: fraction of the step in which bodies conduct. `counts`: fraction of their change left at the end of the
    step. `begins`: True in the first pass.
    """

    conducts: float
    counts: float
    begins: bool


WHOLE, EULER, HEUN = Pass(1.0, 1.0, begins=True), Pass(1.0, 0.5, begins=True), Pass(0.5, 1.0, begins=False)
"""Pass of central differences, and the two passes of `taskflow.flow.scalars.transport` for bounded quantities."""


@task(kernel=TEXT)
def mean_beside(q: Read[1], q_faces: ReadShort[1], mean: Write, *, grid: Grid) -> None:
    """mean = mean of q over the neighbours of a cell in the domain outside of bodies, or over all in the domain if none
    is
    """


@task(kernel=TEXT)
def fill_inside(q: ReadWrite, mean: Read, q_faces: ReadShort) -> None:
    """q = mean in STORED cells"""


@task(kernel=TEXT)
def keep_inside(q: ReadWrite, q_before: Read, q_faces: ReadShort) -> None:
    """q = q_before in STORED cells"""


@task(kernel=TEXT)
def exchange_heat(
    T: ReadWrite, push_T: ReadWrite, T_faces: ReadShort, conductance_T: Read, warm_T: Read,
    *, dt: Scalar, diffusivity: float, counts: float, begins: int,
) -> None:  # fmt: skip
    """T = warm_T in HOLDS cells, and (T + dt diffusivity warm_T) / (1 + dt diffusivity conductance_T) in adjacent
    cells.

    push_T = `counts` times the change / dt, added to push_T unless it `begins`.
    """


@task(kernel=TEXT)
def hold_temperature(T: ReadWrite, T_faces: ReadShort, warm_T: Read) -> None:
    """T = warm_T in HOLDS cells"""


@task(kernel=KERNELS / "bodies" / "heat_moving.cu")
def heat_from_moving_body(
    push_T: Read, owner_T: ReadByte, *, flux: Reduce[sum], grid: Grid, number: int
) -> None:
    """flux = sum over the cells of a body of volume push_T, the heat that it gave per time in the last step"""


def extended(f: Roles, name: str, faces: str, over: Box, grid: Grid) -> Iterator[Launch]:
    """Yield the launches that extend a quantity into bodies from adjacent cells.

    `faces` are the flags with which it was advanced.
    """
    yield mean_beside(f[name], faces, f.rhs, over=over, grid=grid)
    yield fill_inside(f[name], f.rhs, faces, over=over)
