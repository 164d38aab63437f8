"""Multigrid cycle: approximate solution of Laplacian(z) = r or div(b grad z) = r, started from 0.

If the last level is small, it is solved by the inverse of its operator in one launch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from math import fsum
from typing import Literal

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.grid import Counts
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.coefficients import Faces
from taskflow.flow.poisson.mesh import Mesh, StretchedMesh
from taskflow.flow.poisson.multigrid.levels import Iterate, Level, layered, levels, partitions
from taskflow.flow.poisson.multigrid.smoothing import RedBlack, Smoother, Sweeping, relaxed_from_zero
from taskflow.flow.poisson.multigrid.transfer import coefficients, correction, gathering, restriction
from taskflow.flow.poisson.operator import Operator
from taskflow.runtime.regions import Partition, Triple, rows
from taskflow.runtime.tasks import Launch, LookupTable, Read, Write, task


@dataclass(frozen=True)
class Inverse:
    """Inverse of the Laplacian on n cells, x fastest: p[c] = sum over m of `rows`[n c + m] rhs[m].

    If p = 0 on no face, the mean of the right-hand side is removed and the solution has mean 0.
    """

    cells: Counts
    rows: LookupTable


@task(kernel=KERNELS / "poisson" / "exact.cu", whole=True)
def solve_exactly(rhs: Read, p: Write, *, inverse: Inverse) -> None:
    """p = the solution of Laplacian(p) = rhs."""


@cache
def inverse(mesh: Mesh) -> Inverse:
    """Return the inverse of the Laplacian on a mesh, symmetrised with the square roots of the cell volumes.

    Elementary operations in a fixed order, each rounded correctly, are bitwise identical on every machine. Linear
    algebra libraries are not, and blocks on different machines would diverge.
    """
    along, (x, y, z) = [_along(mesh, axis) for axis in range(3)], [np.eye(n) for n in mesh.cells]
    laplacian = np.kron(z, np.kron(y, along[0]) + np.kron(along[1], x)) + np.kron(along[2], np.kron(y, x))
    volumes = np.kron(_widths(mesh, 2), np.kron(_widths(mesh, 1), _widths(mesh, 0)))
    root = np.sqrt(volumes)
    symmetric, shift = -root[:, None] * laplacian / root, np.zeros_like(laplacian)
    if mesh.singular:
        shift = root[:, None] * root / fsum(volumes)  # of the constant mode, which is excluded
    strength = symmetric.diagonal().max()
    inverted = shift / strength - _inverted(symmetric + strength * shift)
    return Inverse(mesh.cells, LookupTable(0, tuple((inverted * root / root[:, None]).ravel().tolist())))


def _inverted(matrix: np.ndarray) -> np.ndarray:
    """Return the inverse of a symmetric positive definite matrix by Gauss-Jordan elimination."""
    work = matrix.copy()
    for n in range(len(work)):
        pivot, row, column = work[n, n], work[n] / work[n, n], work[:, n].copy()
        work -= column[:, None] * row
        work[n], work[:, n] = row, -column / pivot
        work[n, n] = 1 / pivot
    return work


def _widths(mesh: Mesh, axis: int) -> np.ndarray:
    """Return the cell widths along a direction over their mean."""
    n = mesh.cells[axis]
    return np.array([mesh.share[axis][i] for i in range(n)]) if isinstance(mesh, StretchedMesh) else np.ones(n)


def _along(mesh: Mesh, axis: int) -> np.ndarray:
    """Return the second difference along a direction as a matrix [cell, neighbour]."""
    n, cells = mesh.cells[axis], np.arange(mesh.cells[axis])
    before = behind = np.full(n, mesh.weight[axis])
    if isinstance(mesh, StretchedMesh):
        per_cell, per_face = mesh.per_cell[axis], mesh.per_face[axis]
        before = np.array([per_cell[i] * per_face[i] for i in range(n)])
        behind = np.array([per_cell[i] * per_face[i + 1] for i in range(n)])
    laplacian = np.zeros((n, n))
    sides = (cells - 1, before, 0, mesh.mirror_low), (cells + 1, behind, n - 1, mesh.mirror_high)
    for neighbour, coupling, end, mirror in sides:
        shown = np.ones(n)  # factor of the neighbour's value, which is the cell's own one at a face
        seen = neighbour % n
        if not mesh.periodic[axis]:
            shown[end], seen[end] = mirror[axis], end
        np.add.at(laplacian, (cells, seen), shown * coupling)
        np.add.at(laplacian, (cells, cells), -coupling)
    return laplacian


Shape = Literal["V", "W", "F"]
GATHERED = 32**3  # cells: below this the messages of a level take longer than its arithmetic


@dataclass(frozen=True)
class Cycle:
    """V, W or F cycle with `before` and `after` sweeps of a smoother on each level.

    Levels of at most `gathered` cells are amalgamated: every block has all their cells. The first level of at most
    `exact` cells is the last one and is solved, by the inverse of its operator or, if it has one cell, by a division.
    With `depth` levels (truncated), `coarsest` sweeps are done on a last level with more cells.

    Blocks compute ghost cells instead of waiting for them, up to `redundant` per launch, if this is cheaper than an
    exchange of right-hand sides on `blocks` along x, y and z. Placement, cuts and redundant work leave results bitwise
    identical. If `single`, levels are stored in single precision for p in double precision: half the memory traffic and
    as many iterations, because corrections are approximate anyway. Inverses exist for the Laplacian only: with variable
    coefficients `exact` is 1.

    Raises BadInput for numbers of sweeps, levels or cells below 1, for variable coefficients with inverses, and for an
    operator with flags of bodies.
    """

    operator: Operator
    smoother: Smoother = field(default_factory=RedBlack)
    before: int = 1
    after: int = 1
    shape: Shape = "V"
    gathered: int = GATHERED
    redundant: int = 0
    blocks: Triple = (1, 1, 1)
    depth: int | None = None
    coarsest: int = 20
    exact: int = 1
    single: bool = False

    def __post_init__(self) -> None:
        for name, least in (("before", 1), ("after", 0), ("depth", 1), ("coarsest", 1), ("exact", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise BadInput(f"multigrid: {name} = {value}; give {least} or more")
        if self.operator.near is not None:
            raise BadInput("multigrid: it does not read flags of bodies; give coefficients")
        if self.operator.variable and self.exact > 1:
            raise BadInput(f"multigrid: exact = {self.exact} is not for variable coefficients; give 1")

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        sizes, along = (self.operator.mesh, self.depth, self.gathered, self.exact), rows(self.blocks)
        plain = levels(*sizes, single=self.single, coefficients=tuple(self.operator.fields), along=along)
        if not self.redundant:
            return plain
        passes = self.smoother.passes
        return tuple(layered(plain, passes * self.before, passes * self.after, self.blocks, self.redundant))

    @property
    def mesh(self) -> Mesh:
        return self.levels[0].mesh

    @property
    def residual(self) -> str:
        """Field that holds r when a cycle starts. A cycle does not change it."""
        return self.levels[0].target

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Return the regions of the levels on the blocks of `main`."""
        return partitions(self.levels, main, self.single, self.redundant)

    def prepare(self, b: Faces) -> Iterator[Launch]:
        """Yield the launches for the coefficients of all levels, given b on the faces of the grid, and the screen."""
        return coefficients(b, self.levels, self.operator.openings)

    def launches(self, norm: str) -> Sweeping:
        """Yield the launches of one cycle, and return the field of z on the finest level with its spare field.

        If `single`, z is in units of the right-hand side, whose sum of squares is the scalar `norm`: for conjugate
        gradients, its scale does not matter.
        """
        return (yield from self._cycle(0, self.shape, norm if self.single else None))

    def _cycle(self, n: int, shape: Shape, norm: str | None = None) -> Sweeping:
        level = self.levels[n]
        if level.part:
            yield from gathering(level, level.part, level.rhs, level.mesh.box, norm)
        if n == len(self.levels) - 1:
            return (yield from self._solve(level))
        at = yield from self.smoother.begin(level, self.before, level.layers.smoothed)
        return (yield from self._correct(n, at, shape))

    def _again(self, n: int, at: Iterate, shape: Shape) -> Sweeping:
        level = self.levels[n]
        at = yield from self.smoother.smooth(level, at, self.before, level.layers.smoothed, after=False)
        return (yield from self._correct(n, at, shape))

    def _correct(self, n: int, at: Iterate, shape: Shape) -> Sweeping:
        """Correct the smoothed p by the coarser levels, then smooth again."""
        fine, coarse = self.levels[n], self.levels[n + 1]
        yield restriction(at.p, fine, coarse)
        below = yield from self._cycle(n + 1, shape)
        if shape != "V" and n + 2 < len(self.levels):
            below = yield from self._again(n + 1, below, "W" if shape == "W" else "V")
        corrected = correction(at.p, below.p, fine, coarse, self.operator.openings)
        yield corrected.with_ghosts(fine.layers.corrected)
        return (yield from self.smoother.smooth(fine, at, self.after, fine.layers.returned, after=True))

    def _solve(self, level: Level) -> Sweeping:
        """Solve on the coarsest level. One relaxation solves a single cell."""
        cells = level.mesh.box.volume
        if cells > self.exact:
            return (yield from self.smoother.begin(level, self.coarsest, 0))
        if cells > 1:
            yield solve_exactly(level.rhs, level.p, over=level.mesh.box, inverse=inverse(level.mesh))
        else:
            yield relaxed_from_zero(level, 1.0)
        return level.iterate
