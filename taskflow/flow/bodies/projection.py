"""The velocity of bodies: 0, and what forces it where the pressure knows of none."""

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.projection import VELOCITY
from taskflow.runtime.tasks import Read, ReadByte, Scalar, task


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def stop(velocity: VELOCITY, solid: ReadByte) -> None:
    """u = 0 on closed faces."""


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def force(velocity: VELOCITY, p: Read[BESIDE], solid: ReadByte, *, dt: Scalar, grid: Grid) -> None:
    """u = dt grad(p) on closed faces that are not on walls: the projection with this very p takes them to 0."""
