"""How far a pressure is from the solution: the residual is measured relative to the right-hand side, in the 2-norm.

Where p is given on no face only right-hand sides whose sum is 0 have a solution. Rounding leaves a sum, small beside
the parts of which a divergence is the difference, but not always beside the divergence: so its mean is taken off where
residuals are measured, and by conjugate gradients, which would diverge.
"""

from collections.abc import Collection

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.mesh import Mesh, mesh
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, Reduce, Roles, Scalar, task


@task(kernel=KERNELS / "poisson" / "residual.cu")
def residual_square(p: Read[1], rhs: Read, *, residual: Reduce["sum"], mean: Scalar, grid: Grid) -> None:
    """residual = sum over cells of (rhs - mean - Laplacian(p))^2, each of which counts as its volume over the mean one.
    A wall shows a cell its own value.
    """


@task(kernel=KERNELS / "poisson" / "residual_open.cu")
def residual_square_open(p: Read[1], rhs: Read, *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh) -> None:
    """`residual_square` where p = 0 on some faces."""


@task(kernel=KERNELS / "poisson" / "residual.cu")
def rhs_sums(rhs: Read, *, norm: Reduce["sum"], mean: Reduce["sum"], grid: Grid, share: float) -> None:
    """norm = sum over cells of rhs^2, mean = sum over cells of share rhs, each counting as its volume over the mean
    one.
    """


def measure_rhs(f: Roles, grid: Grid, *, singular: bool = True) -> Launch:
    """The scalars `norm` and `mean` of a right-hand side; `mean` is 0 where the problem is not taken for singular."""
    box, numbers = Box.of(grid.cells), f.scalars("norm", "mean")
    return rhs_sums(f.rhs, over=box, grid=grid, share=1 / box.volume if singular else 0.0, **numbers)


def measure_residual(f: Roles, grid: Grid, outflow: Collection[str] = ()) -> Launch:
    """The scalar `residual`, with p = 0 on the faces `outflow`; needs `measure_rhs` before."""
    box, numbers = Box.of(grid.cells), f.scalars("residual", "mean")
    if outflow:
        return residual_square_open(f.p, f.rhs, over=box, mesh=mesh(grid, outflow), **numbers)
    return residual_square(f.p, f.rhs, over=box, grid=grid, **numbers)
