"""Transfers between levels: residuals and coefficients to the next coarser level, corrections back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from taskflow.flow.grid import Counts, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import ON_FACES_ELSEWHERE, Faces, faces_across
from taskflow.flow.poisson.mesh import Mesh, StretchedMesh
from taskflow.flow.poisson.multigrid.levels import Level
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import (
    Components,
    Foreign,
    ForeignAny,
    Launch,
    LookupTable,
    LookupTables,
    ReadWrite,
    Scalar,
    Write,
    box,
    frame,
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
ON_FACES_BESIDE = Components(  # on the faces of a fine cell and of its neighbours
    b_x=Foreign[offsets(x=(-1, 2))], b_y=Foreign[offsets(y=(-1, 2))], b_z=Foreign[offsets(z=(-1, 2))]
)


@dataclass(frozen=True)
class Transfer:
    """Constants of a pair of levels, for kernels.

    `cells`: of the coarser level. `ratio` and `length`: fine over coarse cell size, and its inverse. `parts`: three per
    coarse cell, its volume fractions in the first fine cell that it overlaps and in the next two.
    """

    cells: Counts
    ratio: Vector
    length: Vector
    parts: LookupTables


@task(kernel=KERNELS / "poisson" / "transfer.cu")
def restrict_residual(
    p: Foreign[1], rhs: Foreign, b: ON_FACES_ELSEWHERE | None, screen: Foreign | None, coarse: Write, *, mesh: Mesh
) -> None:
    """coarse = mean of rhs - div(b grad p) + screen p in the 2 x 2 x 2 cells of a coarse one, on the fine `mesh`"""


@task(kernel=KERNELS / "poisson" / "overlapping.cu")
def restrict_overlapping(
    p: Foreign[BESIDE_OVERLAPPED], rhs: Foreign[OVERLAPPED], b: ON_FACES_OVERLAPPED | None,
    screen: Foreign[OVERLAPPED] | None, coarse: Write, *, mesh: Mesh, transfer: Transfer,
) -> None:  # fmt: skip
    """coarse = mean of rhs - div(b grad p) + screen p over a coarse cell, on the fine `mesh`, with parts of fine cells
    """


@task(kernel=KERNELS / "poisson" / "overlapping.cu")
def coarsen(b: Foreign[OVERLAPPED], coarse: Write, *, mesh: Mesh, transfer: Transfer, axis: int) -> None:
    """coarse = mean of b over the low face of a coarse cell across an axis, on the fine level `mesh`.

    If the face lies inside fine cells, b is the harmonic mean of their two face values, weighted by nearness.
    """


@task(kernel=KERNELS / "poisson" / "overlapping.cu")
def narrow(b: Foreign[BESIDE_OVERLAPPED], coarse: ReadWrite, *, mesh: Mesh, transfer: Transfer, axis: int) -> None:
    """coarse = coarse b / (share b + (1 - share) coarse) on faces of a side, with the mean b over the next fine faces
    inside, and the width of the last fine cell over the width of the last coarse cell, `share`.
    """


@task(kernel=KERNELS / "poisson" / "overlapping.cu")
def coarsen_screen(screen: Foreign[OVERLAPPED], coarse: Write, *, mesh: Mesh, transfer: Transfer) -> None:
    """coarse = s g / (s + g), s the mean of the screen over a coarse cell, on the fine `mesh`, and g the screen of its
    face by the distance between the centres of a fine and a coarse cell. s if the cell is as wide as a fine one.
    """


@task(kernel=KERNELS / "poisson" / "interpolation.cu")
def correct_by_coarse(p: ReadWrite, coarse: Foreign[box(1)], *, mesh: Mesh, transfer: Transfer) -> None:
    """p = p + coarse, interpolated linearly along each direction from the coarse level `mesh`.

    The ghost value is the inner value at a wall, and its negative at a face with p = 0.
    """


@task(kernel=KERNELS / "poisson" / "interpolation_variable.cu")
def correct_by_coarse_variable(
    p: ReadWrite, coarse: Foreign[box(1)], b: ON_FACES_BESIDE, *, mesh: Mesh, fine: Mesh, transfer: Transfer
) -> None:
    """`correct_by_coarse` in cells with an open face, with weights that depend on b.

    Along each direction the weight of a coarse value is proportional to the resistance to the other value, the sum of
    lengths over b up to its centre: p and b dp/dx are continuous (R. E. Alcouffe et al. 1981, SIAM J. Sci. Stat.
    Comput. 2, 430). With b = 1 this is linear.
    """


@task(kernel=KERNELS / "poisson" / "interpolation_pairs.cu")
def correct_by_pairs_variable(
    p: ReadWrite, coarse: Foreign[box(1)], b: ON_FACES_BESIDE, *, mesh: Mesh, fine: Mesh
) -> None:
    """`correct_by_coarse_variable` for coarse cells of 2 x 2 x 2 fine cells."""


@task(kernel=KERNELS / "poisson" / "transfer.cu")
def gather(part: ForeignAny, whole: Write) -> None:
    """whole = part, a field of other blocks on the same cells, of any precision"""


@task(kernel=KERNELS / "poisson" / "transfer.cu")
def gather_in_units(part: ForeignAny, whole: Write, *, norm: Scalar) -> None:
    """whole = part / unit, a power of two near sqrt(norm)"""


def gathering(level: Level, part: str, whole: str, over: Box, norm: str | None = None) -> Iterator[Launch]:
    """Yield the launches that gather a part of a level, between many blocks axis by axis, in units of `norm`."""
    *between, (last, target) = pairwise((*level.ways(part), whole))
    for one, other in between:
        yield gather(one, other, over=over)
    yield gather_in_units(last, target, over=over, norm=norm) if norm else gather(last, target, over=over)


@lru_cache(maxsize=64)
def transfer(fine: Mesh, coarse: Mesh) -> Transfer:
    """Return the constants of the transfers between two levels."""
    ratios = [(m / n, n / m) for n, m in zip(fine.cells, coarse.cells, strict=True)]
    ratio, length = map(triple, zip(*ratios, strict=True))
    return Transfer(coarse.cells, ratio, length, triple(_parts(fine, axis, n) for axis, n in enumerate(coarse.cells)))


def _parts(fine: Mesh, axis: int, cells: int) -> LookupTable:
    """Return `Transfer.parts` along an axis: coarse cells contain the fine cells at their ends in proportion."""
    n, begin = fine.cells[axis], np.arange(cells)[:, None] * fine.cells[axis]
    cell = begin // cells + np.arange(3)
    length = np.minimum((cell + 1) * cells, begin + n) - np.maximum(cell * cells, begin)
    volumes = np.maximum(length, 0) / n
    if isinstance(fine, StretchedMesh):
        volumes /= np.array(fine.per_cell[axis].values)[cell - fine.per_cell[axis].first]
        volumes /= volumes.sum(axis=1, keepdims=True)
    return LookupTable(0, tuple(volumes.ravel().tolist()))


def restriction(p: str, fine: Level, coarse: Level) -> Launch:
    """Return the launch that restricts the residual of a level to the right-hand side of the next coarser one.

    A mean over cells is conservative, so the coarse problem stays solvable. First-order restriction with second-order
    interpolation is sufficient for the Laplacian (order 2 < 1 + 2, P. W. Hemker 1990, J. Comput. Appl. Math. 32, 423),
    and computes every residual once. The transpose of the interpolation computes each eight times and converges more
    slowly (0.16 per V(2,2) cycle of Gauss-Seidel instead of 0.10).
    """
    fields, over, mesh = (p, fine.rhs, fine.coefficients, fine.screen, coarse.target), coarse.mesh.box, fine.mesh
    if _matching(fine, coarse) and not isinstance(mesh, StretchedMesh):
        launch = restrict_residual(*fields, over=over, mesh=mesh)
    else:
        launch = restrict_overlapping(*fields, over=over, mesh=mesh, transfer=transfer(mesh, coarse.mesh))
    return launch.with_ghosts(coarse.layers.restricted)


def correction(p: str, z: str, fine: Level, coarse: Level, openings: Collection[str] = ()) -> Launch:
    """Return the launch that adds z, interpolated from the coarser level, to p. Its gradient is 0 on `openings`."""
    mesh = coarse.mesh.closed(openings) if openings else coarse.mesh
    over, constants = fine.mesh.box, {"mesh": mesh, "transfer": transfer(fine.mesh, coarse.mesh)}
    b = fine.coefficients
    if b and _matching(fine, coarse):
        return correct_by_pairs_variable(p, z, b, over=over, mesh=mesh, fine=fine.mesh)
    if b:
        return correct_by_coarse_variable(p, z, b, over=over, fine=fine.mesh, **constants)
    return correct_by_coarse(p, z, over=over, **constants)


def _matching(fine: Level, coarse: Level) -> bool:
    """Return True if a coarse cell is 2 x 2 x 2 fine cells."""
    return all(n == 2 * m for n, m in zip(fine.mesh.cells, coarse.mesh.cells, strict=True))


def coefficients(b: Faces, levels: Sequence[Level], openings: Collection[str] = ()) -> Iterator[Launch]:
    """Yield the launches for the coefficients of all levels, given b on the faces of the grid, and the screen.

    The coefficient of a coarse face is the mean over it, or its open fraction if faces are open or closed. A Galerkin
    operator with constant interpolation has the same, after scaling for consistency (P. Wesseling 1988, J. Comput.
    Phys. 79, 85). Harmonic means between coarse centres, correct for layers, would disconnect partly open cells.

    On the sides `openings` p = 0 on some faces alone, and the mean is in series with the fluid inside. The flux
    through an opening smaller than a coarse cell is limited by the fluid near it, not by a duct of its cross-section
    from the side to the centre of the cell: its mean would fall by four instead of two from level to level, and the
    coarse pressure would be many times too large. A screen is coarsened likewise.
    """
    for n, level in enumerate(levels):
        for axis in range(3):
            over, parts = faces_across(level.mesh, axis), level.face_parts
            target = (parts or level.faces)[axis]
            if n:
                fine, to = levels[n - 1], transfer(levels[n - 1].mesh, level.mesh)
                where: dict[str, Any] = {"mesh": fine.mesh, "transfer": to, "axis": axis}
                yield coarsen(fine.faces[axis], target, over=over, **where)
                for side in openings if fine.mesh.cells[axis] > 1 else ():
                    if frame(side)[0] == axis:
                        yield narrow(fine.faces[axis], target, over=over.layer(*frame(side), 0, 1), **where)
            else:
                yield gather(b[axis], target, over=over)
            if parts:
                yield from gathering(level, target, level.faces[axis], over)
        if level.screen:
            over, target = level.mesh.box, (level.face_parts or level.faces)[3]
            if n:
                fine = levels[n - 1]
                assert fine.screen
                to = transfer(fine.mesh, level.mesh)
                yield coarsen_screen(fine.screen, target, over=over, mesh=fine.mesh, transfer=to)
            else:
                yield gather(b[3], target, over=over)
            if level.face_parts:
                yield from gathering(level, target, level.screen, over)
