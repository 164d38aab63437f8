"""Spectra over shells of wavenumber, of a flow that is periodic in all directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, prod, sqrt
from typing import Any

import numpy as np

from taskflow.flow.grid import Counts, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.spectra.spectra import COSPECTRUM, Spectra, forward_rows, lines_along
from taskflow.flow.measures.statistics import SHARE
from taskflow.flow.poisson.spectrum import forward_in_place
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Foreign, Launch, ReadWrite, Roles, Scalar, lines, task

PLANES, COLUMNS, OTHERS = "waves_of_planes", "waves_of_columns", "waves_of_columns_of_other"
TEXT = KERNELS / "spectra" / "shells.cu"


@dataclass(frozen=True)
class Shells:
    """`count` shells of the waves on `cells`, as wide as the smallest wavenumber. `ratio`: of each direction to it."""

    cells: Counts
    ratio: Vector
    count: int


@task(kernel=TEXT)
def shell_power(
    power: ReadWrite, rows: Foreign[lines("xz")], *, share: Scalar, shells: Shells, scale: float
) -> None:
    """power = mean of scale |c|^2 of the waves in each shell for each mode along y, with a sample of this share.

    A wave is in shell s if |k| over the width is in [s - 1/2, s + 1/2). Shorter waves are in the last shell.
    """


@task(kernel=TEXT)
def shell_product(
    cospectrum: ReadWrite, rows: Foreign[lines("xz")], others: Foreign[lines("xz")],
    *, share: Scalar, shells: Shells, scale: float,
) -> None:  # fmt: skip
    """cospectrum = mean of scale Re(c* d), c of `rows` and d of `others`, as in `shell_power`"""


@dataclass(frozen=True, eq=False)
class ShellSpectra(Spectra):
    """Spectra over shells. The integral over the wavenumber is the variance.

    The kinetic energy is half of the sum for u, v and w. Planes are transformed in slabs across z, columns in slabs
    across y. `density` sums over modes along y last, so results are bitwise identical on any blocks.
    """

    @property
    def shells(self) -> Shells:
        """Shells up to the shortest wave of all directions combined."""
        longest, lengths = max(self.grid.lengths), self.grid.lengths
        ratio = longest / lengths[0], longest / lengths[1], longest / lengths[2]
        largest = sqrt(sum((n // 2 * k) ** 2 for n, k in zip(self.grid.cells, ratio, strict=True)))
        return Shells(self.grid.cells, ratio, floor(largest + 0.5) + 1)

    @property
    def _across(self) -> int:
        return 1

    @property
    def modes(self) -> Box:
        """Shells along x, modes along y."""
        return Box.of((self.shells.count, self.grid.cells[1], 1))

    @property
    def _width(self) -> float:
        return 2 * np.pi / max(self.grid.lengths)

    @property
    def resolved(self) -> tuple[int, ...]:
        return ()

    @property
    def parts(self) -> tuple[str, ...]:
        """Co-spectrum only: quadrature spectra of opposite waves, which share a shell, cancel."""
        return (COSPECTRUM,)

    @property
    def _planes(self) -> Box:
        nx, ny, nz = self.grid.cells
        return Box.of((2 * (nx // 2 + 1), ny, nz))

    @property
    def _columns(self) -> Box:
        (width, ny, nz) = self._planes.shape
        return Box.of((2 * (nz // 2 + 1), ny, width))

    def shared(self) -> dict[str, Partition]:
        """Return the partitions of planes, which columns read, and of columns, twice with pairs."""
        flat, upright = self.slabs(2), self.slabs(1)
        width, depth = self._planes.shape[0], flat.cuts[-1]
        reach = tuple(Box(box.lo, (width, box.hi[1], depth)) for box in upright.boxes)
        planes = flat.partition((PLANES,), self._planes.shape, self.dtype, reach)
        names = (COLUMNS, OTHERS) if self.pairs else (COLUMNS,)
        columns = {name: upright.partition((name,), self._columns.shape, self.dtype) for name in names}
        return {**self._handed(2), PLANES: planes, **columns}

    def _transformed(self, f: Roles, name: str, *, other: bool = False) -> Iterator[Launch]:
        yield from self._hand_over(f, name, 2)
        (nx, _, nz), planes, columns = self.grid.cells, f[PLANES], f[OTHERS if other else COLUMNS]
        yield lines_along(planes, self._source(f, name, 2), over=self._planes, along="x", cells=nx)
        yield forward_in_place(planes, over=self._planes, cells=nx)
        yield lines_along(columns, planes, over=self._columns, along="z", cells=nz)
        yield forward_rows(columns, over=self._columns, cells=nz)

    def _power(self, f: Roles, kept: str) -> Launch:
        return shell_power(kept, f[COLUMNS], over=self.modes, **self._sum)

    def _product(self, f: Roles, kept: Sequence[str]) -> Launch:
        return shell_product(*kept, f[COLUMNS], f[OTHERS], over=self.modes, **self._sum)

    @property
    def _sum(self) -> dict[str, Any]:
        """Constants of the tasks that sum coefficients."""
        return {"share": SHARE, "shells": self.shells, "scale": 1.0 / float(prod(self.grid.cells)) ** 2}

    def density(self, power: np.ndarray) -> np.ndarray:
        """Return the densities, without the mean in the first shell."""
        return power[0].sum(axis=0)[1:] / self._width
