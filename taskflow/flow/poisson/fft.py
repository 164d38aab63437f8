"""The direct solver: Laplacian(p) = rhs to rounding, by Fourier and cosine transforms along x and y and recursive
filters along z; and with it the equation with a coefficient that is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isnan

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.flow.grid.metrics import Counts, Flags, Grid, Stretched
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.elimination import ENDS, elimination, filtering, prepare_elimination
from taskflow.flow.poisson.operator import Operator
from taskflow.flow.poisson.solver import Solver
from taskflow.flow.poisson.spectrum import (
    GIVEN,
    PERIODIC,
    WALL,
    LayeredSpectrum,
    Spectrum,
    forward,
    forward_in_place,
    from_dct_order,
    inverse,
    inverse_in_place,
    space,
    to_dct_order,
    transfer,
)
from taskflow.runtime.regions import Box, Location, Partition, Region, Triple, triple
from taskflow.runtime.tasks import Launch, ReadWrite, Repeat, Roles, task

NONE: Flags = (False, False, False)


@dataclass(frozen=True)
class FFT(Solver):
    """Solves on a grid that is cut into `blocks`; see `Solver`.

    Across x, y and z the grid is periodic, or each end is a wall, or a face on which p = 0 (`given_low`,
    `given_high`). The solution is that of the discrete equation but for rounding, whatever p was before. Where p is
    given nowhere, it is the one whose mean over the lowest plane of cells is 0, whatever the blocks.

    It works on slabs of whole planes, one for each block. Blocks that are something else send their cells there and
    back. Cells may have different heights dz, between walls or faces with p = 0; then Gaussian elimination takes the
    place of the filters. Raises BadInput where they differ along x or y, or along a periodic z, and where a direction
    is periodic at one end only.
    """

    grid: Grid
    blocks: Triple = (1, 1, 1)
    given_low: Flags = NONE
    given_high: Flags = NONE

    def __post_init__(self) -> None:
        low, high = _kinds(self.grid.low, self.given_low), _kinds(self.grid.high, self.given_high)
        for axis, ends in zip("xyz", zip(low, high, strict=True), strict=True):
            if PERIODIC in ends and ends != (PERIODIC, PERIODIC):
                raise BadInput(f'pressure.solver = "fft": {axis} is periodic at one end only; make both periodic')
        if problem := transforms_fail(self.grid, periodic=low[2] == PERIODIC):
            raise BadInput(f'pressure.solver = "fft": {problem}')

    @cached_property
    def spectrum(self) -> Spectrum:
        """The modes as kernels know them."""
        grid, (nx, ny, nz) = self.grid, self.blocks
        low, high = _kinds(grid.low, self.given_low), _kinds(grid.high, self.given_high)
        if isinstance(grid, Stretched):
            return LayeredSpectrum.between(grid, low, high, nx * ny * nz)
        return Spectrum.of(grid.cells, grid.spacing, low, high, nx * ny * nz)

    @property
    def slabs(self) -> bool:
        """Return whether the blocks are the slabs."""
        return self.spectrum.fits(self.blocks)

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """The spectrum in slabs; of several slabs the ends, which every block sees; and, where blocks are not slabs,
        the right-hand side on blocks that see their slabs, and planes on slabs that see their blocks.
        """
        if main.shape != self.blocks:
            raise ValueError(f"the solver was made for {self.blocks} blocks, not for {main.shape}")
        s, count, dtype = self.spectrum, len(main), main.region.fields["p"].dtype
        (nx, ny, _), (width, rows, _) = s.cells, s.modes.shape

        def slabs(names: tuple[str, ...], x: int, y: int, reach: tuple[Box, ...] | None = None) -> Partition:
            cuts = tuple(range(0, (count + 1) * s.slab, s.slab))
            region = Region(Box.of((x, y, cuts[-1])), space(dtype, *names), ghost=0)
            return Partition(region, (1, 1, count), at=((0, x), (0, y), cuts), reach=reach)

        layered = isinstance(s, LayeredSpectrum)
        partitions = [slabs(("spectrum", "pivots") if layered else ("spectrum",), width, rows)]
        if s.slabs > 1:
            ends = Box.of((width, rows, count))
            names = ENDS if layered else ENDS[:2]
            region = Region(ends, space(dtype, *names), ghost=0, scale=(1, 1, s.slab))
            partitions.append(Partition(region, (1, 1, count), reach=(ends,) * count))
        if not self.slabs:
            cells = Region(Box.of(s.cells), space(dtype, "rhs_blocks"), ghost=0)
            planes = slabs(("planes",), nx, ny, main.blocks)
            reach = tuple(block & cells.cells for block in planes.blocks)
            partitions += [planes, Partition(cells, self.blocks, at=main.cuts, reach=reach)]
        return tuple(partitions)

    def solve(self, f: Roles) -> Iterator[Launch]:
        if self.slabs:
            yield from self._solve(f, f.rhs, f.p)
            return
        cells = Box.of(self.spectrum.cells)
        yield transfer(f.rhs_blocks, f.rhs, over=cells)
        yield transfer(f.planes, f.rhs_blocks, over=cells)
        yield from self._solve(f, f.planes, f.planes)
        yield transfer(f.p, f.planes, over=cells)

    def prepare(self, f: Roles) -> Iterator[Launch]:
        """The pivots of the elimination, where cells have different heights."""
        if isinstance(self.spectrum, LayeredSpectrum):
            yield from prepare_elimination(f, self.spectrum)

    def taken(self, scalars: Mapping[str, float]) -> int:
        return 1

    def _solve(self, f: Roles, rhs: str, p: str) -> Iterator[Launch]:
        s = self.spectrum
        cells, modes = Box.of(s.cells), s.modes
        if s.plain:
            yield forward(rhs, f.spectrum, over=modes)
            yield from self._along_z(f)
            yield inverse(f.spectrum, p, over=cells, cells=s.cells[0])
        else:
            yield to_dct_order(f.spectrum, rhs, over=modes, s=s)
            yield forward_in_place(f.spectrum, over=modes, cells=s.extended[0])
            yield from self._along_z(f)
            yield inverse_in_place(f.spectrum, over=modes, cells=s.extended[0])
            yield from_dct_order(p, f.spectrum, over=cells, s=s)

    def _along_z(self, f: Roles) -> Iterator[Launch]:
        s = self.spectrum
        yield from elimination(f, s) if isinstance(s, LayeredSpectrum) else filtering(f, s)


def transforms_fail(grid: Grid, *, periodic: bool) -> str | None:
    """Why an FFT cannot solve on a grid, with a remedy; None where it can. `periodic`: whether z is."""
    if not isinstance(grid, Stretched):
        return None
    for axis, h in zip("xy", grid.spacing, strict=False):
        if isnan(h):
            return f'{axis} is stretched, but it transforms along x and y; stretch z, or give "multigrid"'
    if periodic and isnan(grid.spacing[2]):
        return 'z is stretched and periodic; give "multigrid"'
    return None


def _kinds(walls: Flags, zero_ends: Flags) -> Counts:
    return triple(GIVEN if zero else WALL if wall else PERIODIC for wall, zero in zip(walls, zero_ends, strict=True))


@task(kernel=KERNELS / "poisson" / "scaling.cu")
def multiply(p: ReadWrite, *, factor: float) -> None:
    """p = factor p"""


@dataclass(frozen=True)
class UniformCoefficient(Solver):
    """Solves div(b grad p) = rhs where b = 1 / `factor` on all faces that are open: p = factor q, Laplacian(q) = rhs.

    `operator` has the coefficients, which others read; whatever p was before does not matter. See `Solver`.
    """

    direct: FFT
    operator: Operator
    factor: float

    @property
    def fields(self) -> dict[str, Location]:
        return {**self.direct.fields, **self.operator.fields}

    @property
    def ghost(self) -> int:
        return self.direct.ghost

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        return self.direct.partitions(main)

    def prepare(self, f: Roles) -> Iterator[Launch]:
        yield from self.operator.prepare(f)
        yield from self.direct.prepare(f)

    def solve(self, f: Roles) -> Iterator[Launch | Repeat]:
        yield from self.direct.solve(f)
        yield multiply(f.p, over=self.operator.box, factor=self.factor)

    def taken(self, scalars: Mapping[str, float]) -> int:
        return self.direct.taken(scalars)
