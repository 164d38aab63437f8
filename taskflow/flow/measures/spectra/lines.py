"""Spectra along one direction, averaged over statistically equivalent lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.flow.measures.spectra.spectra import COSPECTRUM, QUADRATURE, TEXT, Spectra, forward_rows, lines_along
from taskflow.flow.measures.statistics import SHARE
from taskflow.runtime.regions import Box, Partition, Triple, triple
from taskflow.runtime.tasks import Axis, Foreign, Launch, ReadWrite, Roles, Scalar, lines, task


@task(kernel=TEXT)
def power_beside(
    power: ReadWrite, rows: Foreign[lines("xn")], *, along: Axis, share: Scalar, lines: int, scale: float
) -> None:
    """power = mean of scale |c|^2 of each wave, summed over `lines` adjacent rows, with a sample of this share"""


@task(kernel=TEXT)
def product_beside(
    cospectrum: ReadWrite, quadrature: ReadWrite, rows: Foreign[lines("xn")], others: Foreign[lines("xn")],
    *, along: Axis, share: Scalar, lines: int, scale: float,
) -> None:  # fmt: skip
    """cospectrum - i quadrature = mean of scale c* d of each wave, c of `rows` and d of `others`.

    Summed over `lines` adjacent rows along an axis, with a sample of this share.
    """


@dataclass(frozen=True, eq=False)
class LineSpectra(Spectra):
    """Spectra along a periodic `axis` of uniform cells, averaged over the directions `alike`.

    The integral over the wavenumber is the mean square of the variation along lines. Rows of lines along x and y are in
    slabs across z, those along z in slabs across y. Sums over the rows of a slab have a fixed order, so results are
    bitwise identical on any blocks.
    """

    axis: int
    alike: tuple[int, ...]

    @property
    def _across(self) -> int:
        return 1 if self.axis == 2 else 2

    @property
    def _beside(self) -> int:
        return 3 - self.axis - self._across

    @property
    def _count(self) -> int:
        return self.grid.cells[self.axis]

    def _shape(self, row: int, beside: int) -> Triple:
        """Return the shape of rows of `row` numbers, `beside` rows in each plane across the slabs."""
        along = {0: row, self._across: self.grid.cells[self._across], 3 - self._across: beside}
        return triple(along[axis] for axis in range(3))

    @property
    def _rows(self) -> Box:
        return Box.of(self._shape(2 * (self._count // 2 + 1), self.grid.cells[self._beside]))

    @property
    def _lines(self) -> int:
        """Number of rows that are summed."""
        return self.grid.cells[self._beside] if self._beside in self.alike else 1

    @property
    def modes(self) -> Box:
        """Waves along x, for each row that is not averaged."""
        return Box.of(self._shape(self._count // 2 + 1, self.grid.cells[self._beside] // self._lines))

    @property
    def _width(self) -> float:
        return 2 * np.pi / self.grid.lengths[self.axis]

    @property
    def resolved(self) -> tuple[int, ...]:
        """Other directions that are not averaged."""
        return tuple(axis for axis in (2, 1, 0) if axis not in (self.axis, *self.alike))

    @property
    def parts(self) -> tuple[str, ...]:
        """Both parts, because waves have a direction."""
        return COSPECTRUM, QUADRATURE

    def _name(self, *, other: bool = False) -> str:
        """Return the field of the rows of a field, or of the second field of a pair."""
        return f"lines_along_{'xyz'[self.axis]}{'_of_other' if other else ''}"

    def shared(self) -> dict[str, Partition]:
        """Return the partitions of the rows of one field or, with pairs, two."""
        slabs, handed = self.slabs(self._across), self._handed(self._across)
        names = [self._name(), *([self._name(other=True)] if self.pairs else [])]
        return {**handed, **{name: slabs.partition((name,), self._rows.shape, self.dtype) for name in names}}

    def _transformed(self, f: Roles, name: str, *, other: bool = False) -> Iterator[Launch]:
        yield from self._hand_over(f, name, self._across)
        rows, place = f[self._name(other=other)], self._source(f, name, self._across)
        yield lines_along(rows, place, over=self._rows, along="xyz"[self.axis], cells=self._count)
        yield forward_rows(rows, over=self._rows, cells=self._count)

    def _power(self, f: Roles, kept: str) -> Launch:
        return power_beside(kept, f[self._name()], over=self.modes, **self._sum)

    def _product(self, f: Roles, kept: Sequence[str]) -> Launch:
        rows, others = f[self._name()], f[self._name(other=True)]
        return product_beside(*kept, rows, others, over=self.modes, **self._sum)

    @property
    def _sum(self) -> dict[str, Any]:
        """Constants of the tasks that sum coefficients."""
        scale = 1.0 / (float(self._count) ** 2 * self._lines)
        return {"along": "xyz"[3 - self._across], "share": SHARE, "lines": self._lines, "scale": scale}

    def density(self, power: np.ndarray) -> np.ndarray:
        """Return the densities. Waves count twice, except the mean and the shortest of an even number of cells."""
        waves = np.full(self._count // 2, 2.0)
        if self._count % 2 == 0:
            waves[-1] = 1.0
        densities = power[..., 1:] * waves / self._width
        place = {self._across: 2 - self._across, self._beside: self._across - 1}
        densities = densities.transpose(*(place[axis] for axis in sorted(place, reverse=True)), 2)
        for axis in sorted(self.alike):
            if axis != self.axis:
                densities = densities.mean(axis=-2 if axis == min(place) else -3, keepdims=True)
        return densities.reshape(*(self.grid.cells[axis] for axis in self.resolved), -1)
