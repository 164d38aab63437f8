"""A cycle of multigrid: an approximate solution of Laplacian(z) = r, or of div(b grad z) = r, that begins from 0.

Its last level, where that has few cells, is solved by the inverse of its operator, in one launch.
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
from taskflow.flow.poisson.multigrid.transfer import coefficients, correction, gather, restriction
from taskflow.flow.poisson.operator import Operator
from taskflow.runtime.regions import Partition, Triple
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


Shape = Literal["V", "W", "F"]
GATHERED = 32**3  # cells: with fewer, the messages of a level take longer than all its arithmetic


@dataclass(frozen=True)
class Cycle:
    """A V, W or F cycle with `before` and `after` sweeps of a smoother on each level.

    Levels of at most `gathered` cells are on every block as a whole
    (amalgamated). The first level of at most `exact` cells is the last one, and solved: by the inverse of its operator,
    or, if it has one cell, by a division. With `depth` levels (truncated) `coarsest` sweeps are done on the last one,
    if it has more. Rather than wait for ghost cells blocks compute them, up to `redundant` in a launch; from the
    numbers of `blocks` along x, y and z follows where that is less than an exchange of right-hand sides. Neither where
    levels live, nor how they are cut, nor what is computed twice changes a bit of the result. If `single`, the fields
    of the levels are of single precision, for a p of double precision: half as much is moved, and as a correction is
    approximate anyway, no more iterations are needed. Inverses are for the Laplacian alone: where coefficients are
    variable, `exact` is 1.

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
            raise BadInput("multigrid: it knows no flags of bodies; give coefficients")
        if self.operator.variable and self.exact > 1:
            raise BadInput(f"multigrid: exact = {self.exact} is not for variable coefficients; give 1")

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels from the finest to the coarsest."""
        finest, variable = self.operator.mesh, self.operator.variable
        plain = levels(finest, self.depth, self.gathered, self.exact, single=self.single, variable=variable)
        if not self.redundant:
            return plain
        passes = self.smoother.passes
        return tuple(layered(plain, passes * self.before, passes * self.after, self.blocks, self.redundant))

    @property
    def mesh(self) -> Mesh:
        """The finest level's."""
        return self.levels[0].mesh

    @property
    def residual(self) -> str:
        """The field that holds r when a cycle begins; it stays as it is."""
        return self.levels[0].target

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The regions of the levels on the blocks of `main`."""
        return partitions(self.levels, main, self.single, self.redundant)

    def prepare(self, b: Faces) -> Iterator[Launch]:
        """The coefficients of all levels, from those on the faces of the grid."""
        return coefficients(b, self.levels)

    def launches(self) -> Sweeping:
        """One cycle; returns the field that holds z, on the mesh of r, and another one."""
        return (yield from self._cycle(0, self.shape))

    def _cycle(self, n: int, shape: Shape) -> Sweeping:
        level = self.levels[n]
        if level.part:
            yield gather(level.part, level.rhs, over=level.mesh.box)
        if n == len(self.levels) - 1:
            return (yield from self._solve(level))
        at = yield from self.smoother.begin(level, self.before, level.layers.smoothed)
        return (yield from self._correct(n, at, shape))

    def _again(self, n: int, at: Iterate, shape: Shape) -> Sweeping:
        level = self.levels[n]
        at = yield from self.smoother.smooth(level, at, self.before, level.layers.smoothed, after=False)
        return (yield from self._correct(n, at, shape))

    def _correct(self, n: int, at: Iterate, shape: Shape) -> Sweeping:
        """The correction of the smoothed p by the coarser levels, smoothed afterwards."""
        fine, coarse = self.levels[n], self.levels[n + 1]
        yield restriction(at.p, fine, coarse)
        below = yield from self._cycle(n + 1, shape)
        if shape != "V" and n + 2 < len(self.levels):
            below = yield from self._again(n + 1, below, "W" if shape == "W" else "V")
        yield correction(at.p, below.p, fine, coarse).with_ghosts(fine.layers.corrected)
        return (yield from self.smoother.smooth(fine, at, self.after, fine.layers.returned, after=True))

    def _solve(self, level: Level) -> Sweeping:
        """On the coarsest level: one relaxation solves for a single cell."""
        cells = level.mesh.box.volume
        if cells > self.exact:
            return (yield from self.smoother.begin(level, self.coarsest, 0))
        if cells > 1:
            yield solve_exactly(level.rhs, level.p, over=level.mesh.box, inverse=inverse(level.mesh))
        else:
            yield relaxed_from_zero(level, 1.0)
        return level.iterate
