"""Transfers between levels: residuals and coefficients to the next coarser one, corrections back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from taskflow.flow.grid import Counts, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import ON_FACES_ELSEWHERE, Faces, faces_across
from taskflow.flow.poisson.mesh import Mesh, StretchedMesh
from taskflow.flow.poisson.multigrid.levels import Level
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import (
    Components,
    Foreign,
    ForeignAny,
    Launch,
    LookupTable,
    LookupTables,
    ReadWrite,
    Write,
    box,
    offsets,
    task,
)

OVERLAPPED = offsets((-1, 0), (-1, 0), (-1, 0))
BESIDE_OVERLAPPED = (
    offsets((-2, 1), (-1, 0), (-1, 0)) | offsets((-1, 0), (-2, 1), (-1, 0)) | offsets((-1, 0), (-1, 0), (-2, 1))
)
ON_FACES_OVERLAPPED = Components(  # coefficients on the faces of all overlapped cells
    b_x=Foreign[offsets((-1, 1), (-1, 0), (-1, 0))],
    b_y=Foreign[offsets((-1, 0), (-1, 1), (-1, 0))],
    b_z=Foreign[offsets((-1, 0), (-1, 0), (-1, 1))],
)
ON_FACES_BESIDE = Components(  # and on those of a finer cell and of its neighbours
    b_x=Foreign[offsets(x=(-1, 2))], b_y=Foreign[offsets(y=(-1, 2))], b_z=Foreign[offsets(z=(-1, 2))]
)


@dataclass(frozen=True)
class Transfer:
    """A finer and a coarser level, as kernels know them besides a mesh: how many `cells` the coarser one has; `ratio`,
    how many of these a finer one is long, and `length`, the reverse; and for each three `parts`, those that are the
    first finer cell that it overlaps and the two behind that.
    """

    cells: Counts
    ratio: Vector
    length: Vector
    parts: LookupTables


@task(kernel=KERNELS / "poisson" / "transfer.cu")
def restrict_residual(
    p: Foreign[1], rhs: Foreign, b: ON_FACES_ELSEWHERE | None, coarse: Write, *, mesh: Mesh
) -> None:
    """coarse = mean of rhs - div(b grad p) in the 2 x 2 x 2 finer cells of a coarser one; `mesh` is the finer level."""


@task(kernel=KERNELS / "poisson" / "overlapping.cu")
def restrict_overlapping(
    p: Foreign[BESIDE_OVERLAPPED], rhs: Foreign[OVERLAPPED], b: ON_FACES_OVERLAPPED | None, coarse: Write,
    *, mesh: Mesh, transfer: Transfer,
) -> None:  # fmt: skip
    """coarse = mean of rhs - div(b grad p) over a coarser cell, whatever finer ones it overlaps; `mesh` is the finer
    level.
    """


@task(kernel=KERNELS / "poisson" / "overlapping.cu")
def coarsen(b: Foreign[OVERLAPPED], coarse: Write, *, mesh: Mesh, transfer: Transfer, axis: int) -> None:
    """coarse = mean of b over a coarser cell's low face across an axis; `mesh` is the finer level.

    Where that lies within finer cells, b is the harmonic mean of those on their two faces, weighted by nearness.
    """


@task(kernel=KERNELS / "poisson" / "interpolation.cu")
def correct_by_coarse(p: ReadWrite, coarse: Foreign[box(1)], *, mesh: Mesh, transfer: Transfer) -> None:
    """p = p + what a coarser level has, interpolated linearly along each direction; `mesh` is the coarser level.

    Beyond a wall stands the value inside, beyond a face with p = 0 minus that.
    """


@task(kernel=KERNELS / "poisson" / "interpolation_variable.cu")
def correct_by_coarse_variable(
    p: ReadWrite, coarse: Foreign[box(1)], b: ON_FACES_BESIDE, *, mesh: Mesh, fine: Mesh, transfer: Transfer
) -> None:
    """`correct_by_coarse` in the cells that have an open face, with weights that follow from b.

    Along each direction the weight of a coarse value is that of the other one's resistance, the sum of lengths over b
    along the way to its centre: p is continuous, and so is b times its slope (R. E. Alcouffe et al. 1981, SIAM J. Sci.
    Stat. Comput. 2, 430). Where b = 1 that is linear.
    """


@task(kernel=KERNELS / "poisson" / "interpolation_pairs.cu")
def correct_by_pairs_variable(
    p: ReadWrite, coarse: Foreign[box(1)], b: ON_FACES_BESIDE, *, mesh: Mesh, fine: Mesh
) -> None:
    """`correct_by_coarse_variable` where a coarser cell is 2 x 2 x 2 finer ones."""


@task(kernel=KERNELS / "poisson" / "transfer.cu")
def gather(part: ForeignAny, whole: Write) -> None:
    """whole = part, a field of other blocks over the same cells, of any precision."""


@lru_cache(maxsize=64)
def transfer(fine: Mesh, coarse: Mesh) -> Transfer:
    """Return the constants of the transfers between two levels."""
    ratios = [(m / n, n / m) for n, m in zip(fine.cells, coarse.cells, strict=True)]
    ratio, length = map(triple, zip(*ratios, strict=True))
    return Transfer(coarse.cells, ratio, length, triple(_parts(fine, axis, n) for axis, n in enumerate(coarse.cells)))


def _parts(fine: Mesh, axis: int, cells: int) -> LookupTable:
    """`Transfer.parts` along an axis with so many coarser cells: each is as long as n / cells of n finer ones, of which
    it has those on its ends in proportion.
    """
    n, begin = fine.cells[axis], np.arange(cells)[:, None] * fine.cells[axis]
    cell = begin // cells + np.arange(3)
    length = np.minimum((cell + 1) * cells, begin + n) - np.maximum(cell * cells, begin)
    volumes = np.maximum(length, 0) / n
    if isinstance(fine, StretchedMesh):
        volumes /= np.array(fine.per_cell[axis].values)[cell - fine.per_cell[axis].first]
        volumes /= volumes.sum(axis=1, keepdims=True)
    return LookupTable(0, tuple(volumes.ravel().tolist()))


def restriction(p: str, fine: Level, coarse: Level) -> Launch:
    """Return the launch that makes the residual of a level the right-hand side of the next coarser one.

    A mean over cells conserves it: the coarser problem is as solvable as the finer one. Of first order, with
    interpolation of second order, it is all that the Laplacian needs (order 2 < 1 + 2; P. W. Hemker 1990, J. Comput.
    Appl. Math. 32, 423), and every residual is computed once; the transpose of the interpolation computes each eight
    times, and converges more slowly (0.16 per V(2,2) cycle of Gauss-Seidel instead of 0.10).
    """
    fields, over, mesh = (p, fine.rhs, fine.coefficients, coarse.target), coarse.mesh.box, fine.mesh
    if _matching(fine, coarse) and not isinstance(mesh, StretchedMesh):
        launch = restrict_residual(*fields, over=over, mesh=mesh)
    else:
        launch = restrict_overlapping(*fields, over=over, mesh=mesh, transfer=transfer(mesh, coarse.mesh))
    return launch.with_ghosts(coarse.layers.restricted)


def correction(p: str, z: str, fine: Level, coarse: Level) -> Launch:
    """Return p plus z, the correction by the next coarser level, interpolated."""
    over, constants = fine.mesh.box, {"mesh": coarse.mesh, "transfer": transfer(fine.mesh, coarse.mesh)}
    b = fine.coefficients
    if b and _matching(fine, coarse):
        return correct_by_pairs_variable(p, z, b, over=over, mesh=coarse.mesh, fine=fine.mesh)
    if b:
        return correct_by_coarse_variable(p, z, b, over=over, fine=fine.mesh, **constants)
    return correct_by_coarse(p, z, over=over, **constants)


def _matching(fine: Level, coarse: Level) -> bool:
    """Return whether a coarser cell is 2 x 2 x 2 finer ones."""
    return all(n == 2 * m for n, m in zip(fine.mesh.cells, coarse.mesh.cells, strict=True))


def coefficients(b: Faces, levels: Sequence[Level]) -> Iterator[Launch]:
    """Yield the launches for the coefficients of all levels, from those of the grid.

    The coefficient of a coarse face is the mean over it, its open part where faces are open or closed: what a Galerkin
    operator with constant interpolation has, scaled to be consistent (P. Wesseling 1988, J. Comput. Phys. 79, 85).
    Harmonic means along the whole way between two coarse cells, right for layers, cut off cells that are partly open.
    """
    for n, level in enumerate(levels):
        for axis in range(3):
            over, parts = faces_across(level.mesh, axis), level.face_parts
            target = (parts or level.faces)[axis]
            if n:
                fine, to = levels[n - 1], transfer(levels[n - 1].mesh, level.mesh)
                yield coarsen(fine.faces[axis], target, over=over, mesh=fine.mesh, transfer=to, axis=axis)
            else:
                yield gather(b[axis], target, over=over)
            if parts:
                yield gather(target, level.faces[axis], over=over)
