"""Bodies in the projection: their velocity is 0, and the pressure meets closed faces.

The coefficients of its equation are 0 on closed faces, which then are like walls, and 1 on open ones. Where p is given
on no face, Jacobi's iteration reads the flags of cells instead: a byte in place of three numbers, so that a sweep moves
little more than without bodies. See `taskflow.flow.poisson.Operator`.
"""

from collections.abc import Iterator

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import BESIDE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.projection import VELOCITY
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, ReadByte, Roles, Scalar, Write, task


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def stop(velocity: VELOCITY, solid: ReadByte) -> None:
    """u = 0 on closed faces."""


@task(kernel=KERNELS / "bodies" / "velocity.cu")
def force(velocity: VELOCITY, p: Read[BESIDE], solid: ReadByte, *, dt: Scalar, grid: Grid) -> None:
    """u = dt grad(p) on closed faces that are not on walls: the projection with this very p takes them to 0."""


@task(kernel=KERNELS / "bodies" / "open_faces.cu")
def open_faces(b_x: Write, b_y: Write, b_z: Write, solid: ReadByte) -> None:
    """b = 1 on open low faces of cells, 0 on closed ones"""


def coefficients_at_bodies(f: Roles, grid: Grid) -> Iterator[Launch]:
    """The coefficients of div(b grad p) on all faces of a grid."""
    cells, b = Box.of(grid.cells), (f.b_x, f.b_y, f.b_z)
    for axis, name in enumerate(b):
        if grid.high[axis]:
            yield impose(name, over=cells.layer(axis, 1, -1, 0), value=Value(1.0))
    yield open_faces(*b, f.solid, over=cells)
