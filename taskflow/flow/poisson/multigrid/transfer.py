"""Transfers between levels: residuals to the next coarser one, corrections back."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.flow.grid import Counts, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.multigrid.mesh import Mesh
from taskflow.tasks import Foreign, ForeignDouble, Launch, ReadWrite, Write, box, offsets, task

OVERLAPPED = offsets((-1, 0), (-1, 0), (-1, 0))
BESIDE_OVERLAPPED = (
    offsets((-2, 1), (-1, 0), (-1, 0)) | offsets((-1, 0), (-2, 1), (-1, 0)) | offsets((-1, 0), (-1, 0), (-2, 1))
)


@dataclass(frozen=True)
class Transfer:
    """What kernels know of a finer and a coarser level besides a mesh: the cells of the coarser one, and `ratio`, how
    many of them a finer cell is long.
    """

    cells: Counts
    ratio: Vector


@task(kernel=KERNELS / "transfer.cu")
def restrict_residual(p: Foreign[1], rhs: Foreign, coarse: Write, *, mesh: Mesh) -> None:
    """coarse = mean of rhs - Laplacian(p) in the 2 x 2 x 2 finer cells of a coarser one; `mesh` is the finer level."""


@task(kernel=KERNELS / "transfer.cu")
def restrict_overlapping(
    p: Foreign[BESIDE_OVERLAPPED], rhs: Foreign[OVERLAPPED], coarse: Write, *, mesh: Mesh, transfer: Transfer
) -> None:
    """coarse = mean of rhs - Laplacian(p) over a coarser cell, whatever finer ones it overlaps; `mesh` is the finer
    level.
    """


@task(kernel=KERNELS / "interpolation.cu")
def correct_by_coarse(p: ReadWrite, coarse: Foreign[box(1)], *, mesh: Mesh, transfer: Transfer) -> None:
    """p = p + what a coarser level has, interpolated linearly along each direction; `mesh` is the coarser level.

    Beyond a wall stands the value inside, beyond a face with p = 0 minus that.
    """


@task(kernel=KERNELS / "transfer.cu")
def gather(part: Foreign, whole: Write) -> None:
    """whole = part, a field of other blocks over the same cells."""


@task(kernel=KERNELS / "transfer.cu")
def gather_double(part: ForeignDouble, whole: Write) -> None:
    """whole = part, a field of double precision."""


def transfer(fine: Mesh, coarse: Mesh) -> Transfer:
    """The constants of the transfers between two levels."""
    x, y, z = (m / n for n, m in zip(fine.cells, coarse.cells, strict=True))
    return Transfer(coarse.cells, (x, y, z))


def restriction(p: str, rhs: str, coarse: str, fine: Mesh, to: Mesh) -> Launch:
    """The residual of a level as the right-hand side of the next coarser one.

    A mean over cells conserves it: the coarser problem is as solvable as the finer one. Of first order, with
    interpolation of second order, it is all that the Laplacian needs (order 2 < 1 + 2; P. W. Hemker 1990, J. Comput.
    Appl. Math. 32, 423), and every residual is computed once; the transpose of the interpolation computes each eight
    times, and converges more slowly (0.16 per V(2,2) cycle of Gauss-Seidel instead of 0.10).
    """
    if all(n == 2 * m for n, m in zip(fine.cells, to.cells, strict=True)):
        return restrict_residual(p, rhs, coarse, over=to.box, mesh=fine)
    return restrict_overlapping(p, rhs, coarse, over=to.box, mesh=fine, transfer=transfer(fine, to))


def correction(p: str, coarse: str, fine: Mesh, by: Mesh) -> Launch:
    """p plus the interpolated correction of the next coarser level."""
    return correct_by_coarse(p, coarse, over=fine.box, mesh=by, transfer=transfer(fine, by))
