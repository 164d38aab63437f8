"""The last level, where it has few cells: solved by the inverse of its operator, in one launch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import fsum

import numpy as np

from taskflow.flow.grid import Counts
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.mesh import Mesh, StretchedMesh
from taskflow.flow.poisson.multigrid.levels import Level
from taskflow.runtime.tasks import Launch, LookupTable, Read, Write, task


@dataclass(frozen=True)
class Inverse:
    """The inverse of the Laplacian on n cells, numbered along x first: cell c has the sum over all m of `rows`[n c + m]
    rhs[m].

    Where p is given on no face only right-hand sides without a mean have a solution: others are taken without it, and
    the solution is the one without a mean.
    """

    cells: Counts
    rows: LookupTable


@task(kernel=KERNELS / "poisson" / "exact.cu", whole=True)
def solve_exactly(rhs: Read, p: Write, *, inverse: Inverse) -> None:
    """p = the solution of Laplacian(p) = rhs."""


def exact_solution(level: Level) -> Launch:
    """The level's p = the solution for its right-hand side."""
    return solve_exactly(level.rhs, level.p, over=level.mesh.box, inverse=inverse(level.mesh))


@cache
def inverse(mesh: Mesh) -> Inverse:
    """Return the inverse of the Laplacian on a mesh, made symmetric: cells are weighed by the roots of their volumes.

    Elementary operations in a fixed order, each rounded correctly, give the same bits on every machine; libraries of
    linear algebra do not, and blocks on different ones would go apart.
    """
    along, (x, y, z) = [_along(mesh, axis) for axis in range(3)], [np.eye(n) for n in mesh.cells]
    laplacian = np.kron(z, np.kron(y, along[0]) + np.kron(along[1], x)) + np.kron(along[2], np.kron(y, x))
    volumes = np.kron(_widths(mesh, 2), np.kron(_widths(mesh, 1), _widths(mesh, 0)))
    root = np.sqrt(volumes)
    symmetric, shift = -root[:, None] * laplacian / root, np.zeros_like(laplacian)
    if mesh.singular:
        shift = root[:, None] * root / fsum(volumes)  # of the mode that is the same everywhere, which stays out
    strength = symmetric.diagonal().max()
    inverted = shift / strength - _inverted(symmetric + strength * shift)
    return Inverse(mesh.cells, LookupTable(0, tuple((inverted * root / root[:, None]).ravel().tolist())))


def _inverted(matrix: np.ndarray) -> np.ndarray:
    """The inverse of a matrix that is symmetric and positive definite, by Gauss and Jordan's elimination."""
    work = matrix.copy()
    for n in range(len(work)):
        pivot, row, column = work[n, n], work[n] / work[n, n], work[:, n].copy()
        work -= column[:, None] * row
        work[n], work[:, n] = row, -column / pivot
        work[n, n] = 1 / pivot
    return work


def _widths(mesh: Mesh, axis: int) -> np.ndarray:
    """Return the widths of cells along a direction, over the mean one."""
    n = mesh.cells[axis]
    return np.array([mesh.share[axis][i] for i in range(n)]) if isinstance(mesh, StretchedMesh) else np.ones(n)


def _along(mesh: Mesh, axis: int) -> np.ndarray:
    """Return what differences along a direction contribute to the Laplacian, [cell, seen cell]."""
    n, cells = mesh.cells[axis], np.arange(mesh.cells[axis])
    before = behind = np.full(n, mesh.weight[axis])
    if isinstance(mesh, StretchedMesh):
        per_cell, per_face = mesh.per_cell[axis], mesh.per_face[axis]
        before = np.array([per_cell[i] * per_face[i] for i in range(n)])
        behind = np.array([per_cell[i] * per_face[i + 1] for i in range(n)])
    laplacian = np.zeros((n, n))
    sides = (cells - 1, before, 0, mesh.mirror_low), (cells + 1, behind, n - 1, mesh.mirror_high)
    for neighbour, coupling, end, mirror in sides:
        shown = np.ones(n)  # of the value of the neighbour, which is the own one at a face
        seen = neighbour % n
        if not mesh.periodic[axis]:
            shown[end], seen[end] = mirror[axis], end
        np.add.at(laplacian, (cells, seen), shown * coupling)
        np.add.at(laplacian, (cells, cells), -coupling)
    return laplacian
