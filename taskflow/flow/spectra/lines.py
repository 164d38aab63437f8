"""Spectra along one direction, averaged over lines that are alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from taskflow.flow.spectra.spectra import TEXT, Spectra, forward_rows, lines_along_x, lines_along_y, lines_along_z
from taskflow.flow.statistics import SHARE
from taskflow.regions import Box, Partition, Triple, triple
from taskflow.tasks import Foreign, Launch, ReadWrite, Roles, Scalar, lines, task

ALONG = (lines_along_x, lines_along_y, lines_along_z)


@task(kernel=TEXT)
def power_beside_y(
    power: ReadWrite, rows: Foreign[lines("xy")], *, share: Scalar, lines: int, scale: float
) -> None:
    """power = mean of scale |c|^2 of each wave, summed over so many rows along y, with a sample of this share"""


@task(kernel=TEXT)
def power_beside_z(
    power: ReadWrite, rows: Foreign[lines("xz")], *, share: Scalar, lines: int, scale: float
) -> None:
    """power = mean of scale |c|^2 of each wave, summed over so many rows along z, with a sample of this share"""


@dataclass(frozen=True, eq=False)
class LineSpectra(Spectra):
    """Along a periodic `axis` of uniform cells: the integral over the wavenumber is the mean square of what varies
    along lines, on average over the directions `alike`.

    Rows of lines along x and y are in slabs across z, those along z in slabs across y. The second direction across the
    lines is that beside the rows, over which the sum goes in one order: so blocks do not change the bits.
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
        """Rows of so many numbers, so many of them beside each other in each plane across the slabs."""
        along = {0: row, self._across: self.grid.cells[self._across], 3 - self._across: beside}
        return triple(along[axis] for axis in range(3))

    @property
    def _rows(self) -> Box:
        return Box.of(self._shape(2 * (self._count // 2 + 1), self.grid.cells[self._beside]))

    @property
    def _lines(self) -> int:
        """How many rows are summed up."""
        return self.grid.cells[self._beside] if self._beside in self.alike else 1

    @property
    def modes(self) -> Box:
        """Waves along x, beside each other those of rows that are not alike."""
        return Box.of(self._shape(self._count // 2 + 1, self.grid.cells[self._beside] // self._lines))

    @property
    def wavenumbers(self) -> np.ndarray:
        """2 pi / length times 1, 2, ..., n / 2."""
        return self._smallest * np.arange(1, self._count // 2 + 1)

    @property
    def _smallest(self) -> float:
        return 2 * np.pi / self.grid.lengths[self.axis]

    @property
    def resolved(self) -> tuple[int, ...]:
        """The other directions that are not alike."""
        return tuple(axis for axis in (2, 1, 0) if axis not in (self.axis, *self.alike))

    @property
    def _name(self) -> str:
        return f"lines_along_{'xyz'[self.axis]}"

    def shared(self) -> dict[str, Partition]:
        """The rows of one field."""
        rows = self.slabs(self._across).partition((self._name,), self._rows.shape, self.dtype)
        return {**self._copies(self._across), self._name: rows}

    def _sample(self, f: Roles, field: str) -> Iterator[Launch]:
        yield from self._found(f, field, self._across)
        rows, place = f[self._name], self._place(f, field, self._across)
        yield ALONG[self.axis](rows, place, over=self._rows, cells=self._count)
        yield forward_rows(rows, over=self._rows, cells=self._count)
        power = power_beside_z if self._across == 1 else power_beside_y
        scale = 1.0 / (float(self._count) ** 2 * self._lines)
        yield power(f[self.role(field)], rows, over=self.modes, share=SHARE, lines=self._lines, scale=scale)

    def density(self, power: np.ndarray) -> np.ndarray:
        """Each wave but the constant one stands for two, but for the shortest of an even number of cells."""
        waves = np.full(self._count // 2, 2.0)
        if self._count % 2 == 0:
            waves[-1] = 1.0
        found = power[..., 1:] * waves / self._smallest
        place = {self._across: 2 - self._across, self._beside: self._across - 1}
        found = found.transpose(*(place[axis] for axis in sorted(place, reverse=True)), 2)
        for axis in sorted(self.alike):
            if axis != self.axis:
                found = found.mean(axis=-2 if axis == min(place) else -3, keepdims=True)
        return found.reshape(*(self.grid.cells[axis] for axis in self.resolved), -1)
