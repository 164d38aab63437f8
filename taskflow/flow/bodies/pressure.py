"""The equation of the pressure beside bodies: faces of solid cells are like walls.

Solvers that are `variable` get 0 on closed and 1 on open faces for coefficients, once. Jacobi's iteration has kernels
of its own: where coefficients are three numbers per cell the flags are a byte, so that a sweep moves little more than
without bodies.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import TWICE
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson import ConvergedJacobi, Jacobi
from taskflow.flow.poisson.jacobi import Pass
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Launch, Read, ReadByte, Reduce, Roles, Scalar, Task, Write, task


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


@task(kernel=KERNELS / "bodies" / "jacobi_obstructed.cu")
def jacobi_obstructed(p: Read[1], rhs: Read, solid: ReadByte, p_new: Write, *, grid: Grid) -> None:
    """`jacobi`, but a closed face shows a cell its own value."""


@task(kernel=KERNELS / "bodies" / "jacobi_obstructed.cu")
def jacobi_half_obstructed(p: Read[1], rhs: Read, solid: ReadByte, p_new: Write, *, grid: Grid) -> None:
    """`jacobi_half`, but a closed face shows a cell its own value."""


@task(kernel=KERNELS / "bodies" / "jacobi_twice_obstructed.cu")
def jacobi_twice_obstructed(
    p: Read[TWICE], rhs: Read[1], solid: ReadByte[1], p_new: Write, *, grid: Grid, near: Box
) -> None:
    """p_new = what `jacobi_obstructed` makes of what it makes of p, to the bit. Outside of `near` no cell has a closed
    face.
    """


@task(kernel=KERNELS / "bodies" / "jacobi_twice_obstructed.cu")
def jacobi_twice_half_obstructed(
    p: Read[TWICE], rhs: Read[1], solid: ReadByte[1], p_new: Write, *, grid: Grid, near: Box
) -> None:
    """p_new = what `jacobi_half_obstructed` makes of what `jacobi_obstructed` makes of p."""


@task(kernel=KERNELS / "bodies" / "residual_obstructed.cu")
def residual_square_obstructed(
    p: Read[1], rhs: Read, solid: ReadByte, *, residual: Reduce["sum"], mean: Scalar, grid: Grid
) -> None:
    """residual = sum over fluid cells of (rhs - mean - Laplacian(p))^2, p having no gradient across closed faces."""


def measure_residual_obstructed(f: Roles, grid: Grid) -> Launch:
    """The scalar `residual` over the fluid; needs `measure_rhs` before."""
    numbers = f.scalars("residual", "mean")
    return residual_square_obstructed(f.p, f.rhs, f.solid, over=Box.of(grid.cells), grid=grid, **numbers)


PASSES_OBSTRUCTED: dict[Pass, Task] = {
    Pass(1): jacobi_obstructed,
    Pass(1, half=True): jacobi_half_obstructed,
    Pass(2): jacobi_twice_obstructed,
    Pass(2, half=True): jacobi_twice_half_obstructed,
}


@dataclass(frozen=True)
class ObstructedJacobi(Jacobi):
    """A fixed number of sweeps, the last of them a half one. See `Jacobi`. `near` are the cells around all bodies, with
    those beside them.
    """

    near: Box = field(kw_only=True)

    def _pass(self, sweep: Pass, f: Roles) -> Launch:
        constants = {"grid": self.grid, **({"near": self._repeated} if sweep.sweeps == 2 else {})}
        return PASSES_OBSTRUCTED[sweep](f.p, f.rhs, f.solid, f.p_new, over=Box.of(self.grid.cells), **constants)

    @property
    def _repeated(self) -> Box:
        """`near`, and what ghost cells beyond periodic sides show of it: then all along that direction."""
        ends = zip(self.near.lo, self.near.hi, self.grid.cells, self.grid.low, strict=True)
        shown = [not wall and (lo <= 0 or hi >= n) for lo, hi, n, wall in ends]
        lo = triple(-1 if each else n for each, n in zip(shown, self.near.lo, strict=True))
        hi = triple(n + 1 if each else m for each, m, n in zip(shown, self.near.hi, self.grid.cells, strict=True))
        return Box(lo, hi)


@dataclass(frozen=True)
class ConvergedObstructedJacobi(ConvergedJacobi):
    """Sweeps until a tolerance is reached. See `ConvergedJacobi` and `ObstructedJacobi`."""

    near: Box = field(kw_only=True)

    @property
    def _round(self) -> Jacobi:
        return ObstructedJacobi(self.grid, self.sweeps, self._in_pairs, near=self.near)

    def _body(self, f: Roles) -> Iterator[Launch]:
        yield from self._round.solve(f)
        yield measure_residual_obstructed(f, self.grid)
