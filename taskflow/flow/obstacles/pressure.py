"""The equation of the pressure beside bodies: faces of solid cells are like walls.

Solvers that are `variable` get 0 on closed and 1 on open faces for coefficients, once. Jacobi's iteration has kernels
of its own: where coefficients are three numbers per cell the flags are a byte, so that a sweep moves little more than
without bodies.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson import ConvergedJacobi, Jacobi
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, ReadByte, Reduce, Roles, Scalar, Write, task


@task(kernel=KERNELS / "obstacles" / "open_faces.cu")
def open_faces(b_x: Write, b_y: Write, b_z: Write, solid: ReadByte) -> None:
    """b = 1 on open low faces of cells, 0 on closed ones"""


def coefficients_at_bodies(f: Roles, grid: Grid) -> Iterator[Launch]:
    """The coefficients of div(b grad p) on all faces of a grid."""
    cells, b = Box.of(grid.cells), (f.b_x, f.b_y, f.b_z)
    for axis, name in enumerate(b):
        if grid.high[axis]:
            yield impose(name, over=cells.layer(axis, 1, -1, 0), value=Value(1.0))
    yield open_faces(*b, f.solid, over=cells)


@task(kernel=KERNELS / "obstacles" / "jacobi_obstructed.cu")
def jacobi_obstructed(p: Read[1], rhs: Read, solid: ReadByte, p_new: Write, *, grid: Grid) -> None:
    """`jacobi`, but a closed face shows a cell its own value."""


@task(kernel=KERNELS / "obstacles" / "jacobi_obstructed.cu")
def jacobi_half_obstructed(p: Read[1], rhs: Read, solid: ReadByte, p_new: Write, *, grid: Grid) -> None:
    """`jacobi_half`, but a closed face shows a cell its own value."""


@task(kernel=KERNELS / "obstacles" / "residual_obstructed.cu")
def residual_square_obstructed(
    p: Read[1], rhs: Read, solid: ReadByte, *, residual: Reduce["sum"], mean: Scalar, grid: Grid
) -> None:
    """residual = sum over fluid cells of (rhs - mean - Laplacian(p))^2, p having no gradient across closed faces."""


def measure_residual_obstructed(f: Roles, grid: Grid) -> Launch:
    """The scalar `residual` over the fluid; needs `measure_rhs` before."""
    over = Box.of(grid.cells)
    return residual_square_obstructed(f.p, f.rhs, f.solid, over=over, residual="residual", mean="mean", grid=grid)


@dataclass(frozen=True)
class ObstructedJacobi(Jacobi):
    """A fixed number of sweeps, the last of them a half one. See `Jacobi`."""

    def solve(self, f: Roles) -> Iterator[Launch]:
        """The sweeps, from p."""
        for relax in (*[jacobi_obstructed] * (self.sweeps - 1), jacobi_half_obstructed):
            yield relax(f.p, f.rhs, f.solid, f.p_new, over=Box.of(self.grid.cells), grid=self.grid)
            f.swap("p", "p_new")


@dataclass(frozen=True)
class ConvergedObstructedJacobi(ConvergedJacobi):
    """Sweeps until a tolerance is reached. See `ConvergedJacobi`."""

    @property
    def _round(self) -> Jacobi:
        return ObstructedJacobi(self.grid, self.sweeps)

    def _body(self, f: Roles) -> Iterator[Launch]:
        yield from self._round.solve(f)
        yield measure_residual_obstructed(f, self.grid)
