"""How far a pressure is from the solution: the residual is measured relative to the right-hand side, in the 2-norm.

Where p is given on no face only right-hand sides whose sum is 0 have a solution. Rounding leaves a sum, small beside
the parts of which a divergence is the difference, but not always beside the divergence: so its mean is taken off where
residuals are measured, and by conjugate gradients, which would diverge.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, Reduce, Scalar, task


@task(kernel=KERNELS / "residual.cu")
def residual_square(p: Read[1], rhs: Read, *, residual: Reduce["sum"], mean: Scalar, grid: Grid) -> None:
    """residual = sum over cells of (rhs - mean - Laplacian(p))^2. A wall shows a cell its own value."""


@task(kernel=KERNELS / "residual.cu")
def rhs_sums(rhs: Read, *, norm: Reduce["sum"], mean: Reduce["sum"], share: float) -> None:
    """norm = sum over cells of rhs^2, mean = sum over cells of share rhs"""


def measure_rhs(rhs: str, box: Box, *, singular: bool = True) -> Launch:
    """The scalars `norm` and `mean` of a right-hand side; `mean` is 0 where the problem is not taken for singular."""
    return rhs_sums(rhs, over=box, norm="norm", mean="mean", share=1 / box.volume if singular else 0.0)


def measure_residual(p: str, rhs: str, grid: Grid) -> Launch:
    """The scalar `residual`; needs `measure_rhs` before."""
    return residual_square(p, rhs, over=Box.of(grid.cells), residual="residual", mean="mean", grid=grid)
