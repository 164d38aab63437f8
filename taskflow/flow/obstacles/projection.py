"""The projection beside bodies, and what forces the velocity of a body where the pressure knows of none."""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import BESIDE
from taskflow.tasks import Read, ReadByte, ReadWrite, Scalar, task


@task(kernel=KERNELS / "obstacles" / "correction_obstructed.cu")
def correct_obstructed(
    u: ReadWrite, v: ReadWrite, w: ReadWrite, p: Read[BESIDE], solid: ReadByte, *, dt: Scalar, grid: Grid
) -> None:
    """u = u - dt grad(p) on open faces. Others, and those on walls, keep their velocity."""


@task(kernel=KERNELS / "obstacles" / "correction_obstructed.cu")
def stop(u: ReadWrite, v: ReadWrite, w: ReadWrite, solid: ReadByte) -> None:
    """u = 0 on closed faces"""


@task(kernel=KERNELS / "obstacles" / "correction_obstructed.cu")
def force(
    u: ReadWrite, v: ReadWrite, w: ReadWrite, p: Read[BESIDE], solid: ReadByte, *, dt: Scalar, grid: Grid
) -> None:
    """u = dt grad(p) on closed faces that are not on walls: the projection with this very p takes them to 0."""
