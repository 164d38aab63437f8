"""The projection: a pressure p with Laplacian(p) = div(u) / dt, whose gradient makes u - dt grad(p) free of divergence.

The equation for p is solved by a `taskflow.flow.poisson.Solver`.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, BESIDE
from taskflow.tasks import Read, ReadWrite, Scalar, Write, task


@task(kernel=KERNELS / "divergence.cu")
def divergence(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], rhs: Write, *, dt: Scalar, grid: Grid) -> None:
    """rhs = div(u) / dt"""


@task(kernel=KERNELS / "correction.cu")
def correct(u: ReadWrite, v: ReadWrite, w: ReadWrite, p: Read[BESIDE], *, dt: Scalar, grid: Grid) -> None:
    """u = u - dt grad(p). Faces that lie on a wall keep their velocity."""
