"""Projection: Laplacian(p) = div(u) / dt, so that u - dt grad(p) is divergence-free.

A `taskflow.flow.poisson.Solver` solves the equation for p.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE, FACE_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Components, Read, ReadByte, ReadWrite, Scalar, Write, task

VELOCITY = Components(u=ReadWrite, v=ReadWrite, w=ReadWrite)


@task(kernel=KERNELS / "divergence.cu")
def divergence(velocity: FACE_VELOCITY, rhs: Write, *, dt: Scalar, grid: Grid) -> None:
    """rhs = div(u) / dt, in cells"""


@task(kernel=KERNELS / "correction.cu")
def correct(velocity: VELOCITY, p: Read[BESIDE], solid: ReadByte | None, *, dt: Scalar, grid: Grid) -> None:
    """u = u - dt grad(p), on faces, except for faces on walls and faces closed by bodies (flags in `solid`)"""
