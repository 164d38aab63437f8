"""Residuals: how far a pressure is from the solution, relative to the right-hand side, in the 2-norm.

Where p is given on no face only right-hand sides whose sum is 0 have a solution. Rounding leaves a sum, small beside
the parts of which a divergence is the difference, but not always beside the divergence: so its mean is taken off where
residuals are measured, and by conjugate gradients, which would diverge.

Each cell counts as its volume over the mean one, and cells without an equation, solid ones and those without an open
face, do not count.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import ON_FACES, ON_FACES_ELSEWHERE
from taskflow.flow.poisson.mesh import Mesh
from taskflow.runtime.tasks import Foreign, Read, ReadByte, Reduce, Scalar, Write, task


@task(kernel=KERNELS / "poisson" / "residual.cu")
def residual_square(
    p: Read[1], rhs: Read, solid: ReadByte | None, *, residual: Reduce["sum"], mean: Scalar, grid: Grid
) -> None:
    """residual = sum over cells of (rhs - mean - Laplacian(p))^2. A wall shows a cell its own value, and so does a
    closed face of a body by the flags in `solid`.
    """


@task(kernel=KERNELS / "poisson" / "residual.cu")
def rhs_sums(rhs: Read, *, norm: Reduce["sum"], mean: Reduce["sum"], grid: Grid, share: float) -> None:
    """norm = sum over cells of rhs^2, mean = sum over cells of share rhs"""


@task(kernel=KERNELS / "poisson" / "residual_mesh.cu")
def residual_square_mesh(
    p: Read[1], rhs: Read, b: ON_FACES | None, *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh
) -> None:
    """residual = sum over cells of (rhs - mean - div(b grad p))^2, where p = 0 on some faces, or b is not 1."""


@task(kernel=KERNELS / "poisson" / "residual_mesh.cu")
def count_active(b: ON_FACES, *, cells: Reduce["sum"], mesh: Mesh) -> None:
    """cells = number of cells with an open face"""


@task(kernel=KERNELS / "poisson" / "residual_mesh.cu")
def rhs_sums_active(
    rhs: Read, b: ON_FACES, *, norm: Reduce["sum"], mean: Reduce["sum"], cells: Scalar, centred: bool, mesh: Mesh
) -> None:
    """norm = sum of rhs^2, mean = (sum of rhs) / cells, 0 unless centred, over the cells with an open face"""


@task(kernel=KERNELS / "poisson" / "defect.cu")
def residual_of(
    p: Foreign[1], rhs: Foreign, b: ON_FACES_ELSEWHERE | None, r: Write,
    *, residual: Reduce["sum"], mean: Scalar, mesh: Mesh,
) -> None:  # fmt: skip
    """r = rhs - mean - div(b grad p), 0 in cells without an open face; residual = sum over cells of r^2"""
