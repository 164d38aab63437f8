"""Direct solver: Laplacian(p) = rhs by Fourier and cosine transforms along x and y and a tridiagonal solve along z.

It also solves the equation with a uniform coefficient.
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
    """Direct solver on a grid cut into `blocks`. See `Solver`.

    Each direction is periodic, or each of its ends is a wall or a face with p = 0 (`given_low`, `given_high`). The
    discrete equation is solved up to rounding, whatever p was before. If no face has p = 0, the mean of p over the
    lowest plane of cells is 0 on any blocks.

    The solver works on slabs of whole planes, one per block. Blocks of other shapes send their cells there and back.
    The heights dz may differ between walls or faces with p = 0: Gaussian elimination then replaces the filters. Raises
    BadInput if spacings differ along x, y or a periodic z, or if a direction is periodic at one end only.
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
        """Layout of the modes, for kernels."""
        grid, (nx, ny, nz) = self.grid, self.blocks
        low, high = _kinds(grid.low, self.given_low), _kinds(grid.high, self.given_high)
        if isinstance(grid, Stretched):
            return LayeredSpectrum.between(grid, low, high, nx * ny * nz)
        return Spectrum.of(grid.cells, grid.spacing, low, high, nx * ny * nz)

    @property
    def slabs(self) -> bool:
        """True if the blocks are the slabs."""
        return self.spectrum.fits(self.blocks)

    def partitions(self, main: Partition) -> tuple[Partition, ...]:
        """Return the partition of the spectrum into slabs.

        Several slabs add their ends, readable by every block. If blocks are not slabs, the right-hand side on blocks
        and planes on slabs are added, each with memory for the cells that it receives from the other.
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
        """Yield the launches for the pivots of the elimination, if heights differ."""
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
    """Return why an FFT cannot solve on a grid, with a remedy, or None if it can. `periodic` refers to z."""
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
    """Solver of div(b grad p) = rhs with b = 1 / `factor` on all open faces: p = factor q, Laplacian(q) = rhs.

    `operator` provides the coefficients, which other tasks read. The previous p is ignored. See `Solver`.
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
