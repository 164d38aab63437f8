"""Temperature and passive scalars beside immersed bodies of which some move.

All cells are advanced by the velocity on all faces, closed ones included, which is free of divergence inside of bodies,
too. Nothing diffuses through closed faces. Then a step puts right what bodies have in them:

- **With a temperature** T_b: T = T_b in cells whose centre is inside, and in cells beside them what conduction over
  the true distance s h makes of it, as at rest (`taskflow.flow.bodies.immersed.wall_heat_flux`). The heat that a body
  gives is all that this changes, in it and beside it, so the sum of T over all cells, bodies included, changes by that
  and by what sides and sources give, to rounding. As T_b is constant, so is the heat that is stored inside.
- **Without one**, or for a passive scalar: cells without an open face keep what they have, and before each step take
  the mean of the neighbours outside, or of all neighbours where none is outside. Cells beyond walls are no neighbours.
  So through a closed face the body carries what is beside it, and a cell that comes out of a body begins with the mean
  of its neighbours in the fluid.
  What is even stays even, and what is bounded stays bounded. What the surface sweeps over is not conserved exactly.

A surface with a temperature that comes near at the speed U adds U (1/s - 1) / h to what it conducts, as it does to its
friction (`taskflow.flow.bodies.moving`).
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
    """A pass of a stage over a quantity: the part of the step in which bodies conduct there, what of a change by them
    it keeps to the end of the step, and whether it is the first one.
    """

    conducts: float
    counts: float
    begins: bool


WHOLE, EULER, HEUN = Pass(1.0, 1.0, begins=True), Pass(1.0, 0.5, begins=True), Pass(0.5, 1.0, begins=False)
"""That of central differences, and the two of `taskflow.flow.scalars.transport` for what is bounded."""


@task(kernel=TEXT)
def mean_beside(q: Read[1], q_faces: ReadShort[1], mean: Write, *, grid: Grid) -> None:
    """mean = that of q over the neighbours of a cell in the domain that are outside of bodies; over all in the domain
    where there are none.
    """


@task(kernel=TEXT)
def fill_inside(q: ReadWrite, mean: Read, q_faces: ReadShort) -> None:
    """q = mean in cells that are STORED."""


@task(kernel=TEXT)
def keep_inside(q: ReadWrite, q_before: Read, q_faces: ReadShort) -> None:
    """q = q_before in cells that are STORED."""


@task(kernel=TEXT)
def exchange_heat(
    T: ReadWrite, push_T: ReadWrite, T_faces: ReadShort, conductance_T: Read, warm_T: Read,
    *, dt: Scalar, diffusivity: float, counts: float, begins: int,
) -> None:  # fmt: skip
    """T becomes warm_T in cells that a body HOLDS, and (T + dt diffusivity warm_T) / (1 + dt diffusivity conductance_T)
    in those beside it. push_T = `counts` times that change / dt, added to what it was where this does not begin it.
    """


@task(kernel=TEXT)
def hold_temperature(T: ReadWrite, T_faces: ReadShort, warm_T: Read) -> None:
    """T = warm_T in cells that a body HOLDS."""


@task(kernel=KERNELS / "bodies" / "heat_moving.cu")
def heat_from_moving_body(
    push_T: Read, owner_T: ReadByte, *, flux: Reduce[sum], grid: Grid, number: int
) -> None:
    """flux = sum over the cells that belong to a body of volume push_T: what it gave per time in the last step."""


def extended(f: Roles, name: str, faces: str, over: Box, grid: Grid) -> Iterator[Launch]:
    """A quantity in the insides of bodies, from cells beside them; `faces` are the flags with which it was advanced."""
    yield mean_beside(f[name], faces, f.rhs, over=over, grid=grid)
    yield fill_inside(f[name], f.rhs, faces, over=over)
