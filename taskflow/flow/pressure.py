"""The projection: a pressure p with Laplacian(p) = div(u) / dt, whose gradient makes u - dt grad(p) free of divergence.

Across walls p has no gradient. Its values beyond them are never used.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, BESIDE
from taskflow.tasks import Read, ReadWrite, Reduce, Scalar, Write, task


@task(kernel=KERNELS / "pressure.cu")
def divergence(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], rhs: Write, *, dt: Scalar, grid: Grid) -> None:
    """rhs = div(u) / dt"""


@task(kernel=KERNELS / "pressure.cu")
def jacobi(p: Read[1], rhs: Read, p_new: Write, *, grid: Grid) -> None:
    """p_new = (a_x (p_W + p_E) + a_y (p_S + p_N) + a_z (p_B + p_T) - rhs) / (2 (a_x + a_y + a_z)), a = 1 / spacing^2.

    One sweep towards Laplacian(p) = rhs. A wall shows a cell its own value.
    """


@task(kernel=KERNELS / "pressure.cu")
def jacobi_half(p: Read[1], rhs: Read, p_new: Write, *, grid: Grid) -> None:
    """p_new = (p + q) / 2, q being what `jacobi` makes of p.

    A sweep of Jacobi multiplies each mode of the error by a number between -1 and 1, near -1 for those that alternate
    from cell to cell; this one by (1 + that) / 2, never negative.
    """


@task(kernel=KERNELS / "pressure.cu")
def correct(u: ReadWrite, v: ReadWrite, w: ReadWrite, p: Read[BESIDE], *, dt: Scalar, grid: Grid) -> None:
    """u = u - dt grad(p). Faces that lie on a wall keep their velocity."""


@task(kernel=KERNELS / "pressure.cu")
def residual_square(p: Read[1], rhs: Read, *, residual: Reduce["sum"], grid: Grid) -> None:
    """residual = sum over cells of (rhs - Laplacian(p))^2"""


@task(kernel=KERNELS / "pressure.cu")
def rhs_square(rhs: Read, *, norm: Reduce["sum"]) -> None:
    """norm = sum over cells of rhs^2"""
