"""Base of all spectra: power of the waves of each field, averaged over samples in time.

A sample whose weight is the fraction a of all weights updates the mean power P to P + a (|c|^2 - P), with the
coefficients c of a discrete Fourier transform. Transforms work on slabs with whole lines along their direction. Blocks
that are not such slabs send their cells there.

For two fields in cell centres with the coefficients c and d, the mean of c* d is

    co-spectrum - i quadrature spectrum

(R. B. Stull 1988, An Introduction to Boundary Layer Meteorology, section 8.6). The co-spectrum integrates to their
covariance.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import Any

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import transfer
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, Triple, cuts, triple
from taskflow.runtime.tasks import Axis, Foreign, Launch, Read, ReadWrite, Roles, Write, facing, lines, task

TEXT, CENTRES = KERNELS / "spectra" / "lines.cu", KERNELS / "spectra" / "centres.cu"
CENTRED = "spectra.centred"  # temporary field of a velocity in cell centres
COSPECTRUM, QUADRATURE = "cospectrum", "quadrature"
AXIS_OF = {"u": "x", "v": "y", "w": "z"}  # of fields on faces


@task(kernel=TEXT)
def lines_along(rows: Write, q: Foreign[lines("xn")], *, along: Axis, cells: int) -> None:
    """rows = q with the axis and x exchanged, so that each row is a line of `cells` values, then 0"""


@task(kernel=CENTRES)
def centre(q: Read[facing(n=(0, 1))], centred: Write, *, along: Axis) -> None:
    """centred = mean of q on the two faces of each cell across the axis"""


@task(library="forward_rows")
def forward_rows(rows: ReadWrite, *, cells: int) -> None:
    """Discrete Fourier transform of the first `cells` values of each row."""
    values: Any = rows
    values[...] = np.fft.rfft(values[...][:, :, :cells]).view(values[...].dtype)


@dataclass(frozen=True)
class Slabs:
    """Slabs of all `cells` across an `axis`, one per block, with whole lines along the other directions.

    They are cut as in `Partition`. With more blocks than planes the last slabs have no cells.
    """

    cells: Triple
    axis: int
    count: int

    @property
    def cuts(self) -> tuple[int, ...]:
        """First planes of the slabs, and the end of the last slab."""
        return cuts(max(self.cells[self.axis], self.count), self.count)

    @property
    def boxes(self) -> tuple[Box, ...]:
        whole = Box.of(self.cells)
        return tuple(whole.layer(self.axis, 0, low, high) & whole for low, high in pairwise(self.cuts))

    def partition(
        self, names: tuple[str, ...], shape: Triple, dtype: str, reach: tuple[Box, ...] | None = None
    ) -> Partition:
        """Return fields over a box of `shape`, cut across the axis like the slabs."""
        across = {self.axis: self.cuts}
        at = tuple(across.get(axis, (0, size)) for axis, size in enumerate(shape))
        region = Region(Box.of(cuts[-1] for cuts in at), FieldSpace(Field(name, dtype) for name in names), ghost=0)
        return Partition(region, triple(len(cuts) - 1 for cuts in at), at=at, reach=reach)


@dataclass(frozen=True, eq=False)
class Spectra(ABC):
    """Spectra of `fields` and of `pairs` of them, under a unique `name`, on a grid cut as in `main`.

    `begin` must precede the first `sample`, which reads the scalar share: see `Statistics`. With pairs `main` needs the
    field `CENTRED`.
    """

    name: str
    fields: tuple[str, ...]
    grid: StaggeredGrid
    main: Partition
    pairs: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)

    @property
    @abstractmethod
    def parts(self) -> tuple[str, ...]:
        """Spectra of each pair: COSPECTRUM, and QUADRATURE if waves have a direction."""

    @property
    @abstractmethod
    def modes(self) -> Box:
        """Cells of the mean power of each field."""

    @property
    def wavenumbers(self) -> np.ndarray:
        """Wavenumbers of densities, in radians per length: the multiples of the smallest one."""
        return self._width * np.arange(1, self.modes.shape[0])

    @property
    @abstractmethod
    def _width(self) -> float:
        """Smallest wavenumber."""

    @property
    @abstractmethod
    def resolved(self) -> tuple[int, ...]:
        """Directions with one spectrum per cell, in the order z, y, x."""

    @abstractmethod
    def density(self, power: np.ndarray) -> np.ndarray:
        """Return the densities [resolved directions ..., wavenumber], given the mean power [z, y, x] of all modes.

        Their integral over wavenumbers is the mean square.
        """

    @abstractmethod
    def shared(self) -> dict[str, Partition]:
        """Return the partitions that samples work on, by name. Spectra share partitions of the same name."""

    @abstractmethod
    def _transformed(self, f: Roles, name: str, *, other: bool = False) -> Iterator[Launch]:
        """Yield the launches that write the coefficients of a field, or of the second field of a pair."""

    @abstractmethod
    def _power(self, f: Roles, kept: str) -> Launch:
        """Return the launch that adds the coefficients as a sample of a field."""

    @abstractmethod
    def _product(self, f: Roles, kept: Sequence[str]) -> Launch:
        """Return the launch that adds the coefficients of both fields as a sample of a pair, to each of its `parts`."""

    @property
    @abstractmethod
    def _across(self) -> int:
        """Axis across which the slabs of the mean power lie."""

    @property
    def crossed(self) -> dict[str, tuple[str, str, str]]:
        """Spectra of pairs by name, as (part, field, field)."""
        return {f"{part}_{one}_{other}": (part, one, other) for (one, other), part in product(self.pairs, self.parts)}

    def role(self, name: str) -> str:
        """Return the role of the mean power of a field, or of a spectrum of a pair."""
        return f"{self.name}.{name}"

    @property
    def roles(self) -> tuple[str, ...]:
        """Roles of all fields that samples change."""
        return tuple(self.role(name) for name in (*self.fields, *self.crossed))

    @property
    def kept(self) -> Partition:
        """Partition of the mean power."""
        return self.slabs(self._across).partition(self.roles, self.modes.shape, self.dtype)

    def begin(self, f: Roles) -> Iterator[Launch]:
        for role in self.roles:
            yield impose(f[role], over=self.modes, value=Value(0.0))

    def sample(self, f: Roles) -> Iterator[Launch]:
        """Add the current state as a sample."""
        for name in self.fields:
            yield from self._transformed(f, name)
            yield self._power(f, f[self.role(name)])
        for one, other in self.pairs:
            yield from self._in_centres(f, one)
            yield from self._in_centres(f, other, other=True)
            yield self._product(f, [f[self.role(f"{part}_{one}_{other}")] for part in self.parts])

    def _in_centres(self, f: Roles, name: str, *, other: bool = False) -> Iterator[Launch]:
        """Yield `_transformed` of a field in cell centres, with velocities interpolated first."""
        if name in AXIS_OF:
            yield centre(f[name], f[CENTRED], over=Box.of(self.grid.cells), along=AXIS_OF[name])
        yield from self._transformed(f, CENTRED if name in AXIS_OF else name, other=other)

    @cached_property
    def dtype(self) -> str:
        return next(iter(self.main.region.fields.values())).dtype

    def slabs(self, axis: int) -> Slabs:
        """Return the cells in slabs across an axis."""
        return Slabs(self.grid.cells, axis, len(self.main))

    def _handed(self, axis: int) -> dict[str, Partition]:
        """Return the partition from which slabs across an axis fetch cells; none if the blocks are the slabs."""
        name, slabs = f"cells_across_{'xyz'[axis]}", self.slabs(axis).boxes
        if self.main.blocks == slabs:
            return {}
        region = Region(Box.of(self.grid.cells), FieldSpace([Field(name, self.dtype)]), ghost=0)
        return {name: Partition(region, self.main.shape, at=self.main.cuts, reach=slabs)}

    def _hand_over(self, f: Roles, source: str, axis: int) -> Iterator[Launch]:
        for name in self._handed(axis):
            yield transfer(f[name], f[source], over=Box.of(self.grid.cells))

    def _source(self, f: Roles, source: str, axis: int) -> str:
        """Return the field from which slabs across an axis read the cells of a field."""
        return f[next(iter(self._handed(axis)), source)]


def partitions(spectra: Sequence[Spectra]) -> tuple[Partition, ...]:
    """Return the partitions that these spectra need in addition to the partition of the fields."""
    shared: Mapping[str, Partition] = {name: place for waves in spectra for name, place in waves.shared().items()}
    return *shared.values(), *(waves.kept for waves in spectra)
