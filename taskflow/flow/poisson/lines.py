"""Implicit diffusion along lines: (1 - a d2/ds2) q = r on each line, by the elimination of the direct solver.

With d = -r / a it reads  d2q/ds2 - mu q = d,  mu = 1/a = 2 / (dt diffusivity): the equation of a mode of the direct
solver with eigenvalue mu. All lines share mu and the pivots, which are stored once. Lines are solved as a whole: if
blocks cut them, they are sent to pencils, one per block, and back. Results therefore do not depend on blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.poisson.spectrum import PERIODIC, LayeredSpectrum, Spectrum, space, transfer
from taskflow.runtime.regions import Box, Partition, Region, Triple, triple
from taskflow.runtime.tasks import (
    Axis,
    Foreign,
    Launch,
    LookupTable,
    Read,
    ReadWrite,
    Roles,
    Scalar,
    Write,
    facing,
    lines,
    task,
)

LINES, DIFFUSION = KERNELS / "poisson" / "implicit_lines.cu", KERNELS / "poisson" / "implicit_diffusion.cu"
ENDS = (PERIODIC,) * 3  # the conductances define the ends
ALONG = Read[facing(n=(-1, 1))]


@task(kernel=LINES, whole=True)
def find_leaks(leaks: Write, *, dt: Scalar, diffusivity: float, s: Spectrum) -> None:
    """e_k of `taskflow.flow.poisson.elimination` with mu = 2 / (dt diffusivity), for the nodes of one line."""


@task(kernel=LINES, whole=True)
def solve_lines(
    values: ReadWrite, leaks: Foreign[lines("xyz")], *, along: Axis, dt: Scalar, diffusivity: float, s: Spectrum
) -> None:
    """Replace d by q on lines that begin with the first cell of the launch."""


@task(kernel=DIFFUSION)
def begin_lines(q: ALONG, q_new: ALONG, values: Write, *, along: Axis, grid: Grid, on_face: bool) -> None:
    """values = -(L q + L q_new), with L the second derivative along the axis, in cells or `on_face`."""


@task(kernel=DIFFUSION)
def end_lines(
    q_new: ReadWrite, change: Read, p: Read[facing(n=(-1, 0))] | None, *, along: Axis, dt: Scalar, grid: Grid
) -> None:
    """q_new += change + dt dp/ds along the axis s, or q_new += change without p"""


@dataclass(frozen=True)
class Lines:
    """Lines along an `axis` of a grid cut into `blocks`, between walls."""

    axis: int
    grid: Grid
    blocks: Triple

    @property
    def cut(self) -> bool:
        return self.blocks[self.axis] > 1

    def in_cells(self, low: float, high: float) -> LayeredSpectrum:
        """Return the nodes of a quantity at cell centres along the axis.

        Its ghost values are the last inner values times `low` or `high`: -1 if the quantity is given on the wall.
        """
        n = self.grid.cells[self.axis]
        beside = {0: 1 - low, n: 1 - high}
        per_face = [beside.get(k, 1.0) / self.grid.distance(self.axis, k) for k in range(n + 1)]
        return _chain([self.grid.width(self.axis, k) for k in range(n)], per_face)

    def on_faces(self) -> LayeredSpectrum:
        """Return the nodes of a quantity on the faces between cells that is 0 on the walls."""
        n = self.grid.cells[self.axis]
        heights = [self.grid.distance(self.axis, k) for k in range(1, n)]
        return _chain(heights, [1 / self.grid.width(self.axis, k) for k in range(n)])

    def partitions(self, main: Partition, leaks: tuple[str, ...]) -> tuple[Partition, ...]:
        """Return the region of the fields `leaks`, one line on every block, and of pencils if blocks cut lines."""
        dtype, cells, count = main.region.fields["p"].dtype, self.grid.cells, len(main)
        region = Region(Box.of((cells[self.axis], 1, 1)), space(dtype, *leaks), ghost=0)
        partitions = [Partition(region, main.shape, replicated=True)]
        if self.cut:
            across = max((a for a in range(3) if a != self.axis), key=lambda a: cells[a])
            width = -(-cells[across] // count)
            cuts = tuple(range(0, (count + 1) * width, width))
            at = tuple(cuts if a == across else (0, cells[a]) for a in range(3))
            shape = triple(count if a == across else 1 for a in range(3))
            box = Box.of(triple(places[-1] for places in at))
            pencils = Partition(Region(box, space(dtype, "pencils"), ghost=0), shape, at=at, reach=main.blocks)
            cut = Region(Box.of(cells), space(dtype, "cut_lines"), ghost=0)
            reach = tuple(block & cut.cells for block in pencils.blocks)
            partitions += [pencils, Partition(cut, main.shape, at=main.cuts, reach=reach)]
        return tuple(partitions)

    def solve(
        self, f: Roles, leaks: str, s: LayeredSpectrum, *, over: Box, dt: str, diffusivity: float
    ) -> Iterator[Launch]:
        """Replace d by the solution in rhs, on the cells of the nodes. `leaks` is the field that `find` wrote."""
        values = f.pencils if self.cut else f.rhs
        if self.cut:
            yield transfer(f.cut_lines, f.rhs, over=over)
            yield transfer(values, f.cut_lines, over=over)
        yield solve_lines(values, leaks, over=over, along="xyz"[self.axis], dt=dt, diffusivity=diffusivity, s=s)
        if self.cut:
            yield transfer(f.rhs, values, over=over)

    def find(self, leaks: str, s: LayeredSpectrum, *, dt: str, diffusivity: float) -> Launch:
        """Return the launch for the pivots that all lines share, given the length of the stage."""
        return find_leaks(leaks, over=Box.of((s.cells[2], 1, 1)), dt=dt, diffusivity=diffusivity, s=s)


def _chain(heights: list[float], conductances: list[float]) -> LayeredSpectrum:
    """Return nodes of these heights with n + 1 conductances: one before, between and after them."""
    cells, one = (1, 1, len(heights)), (0.0, 0.0, 1.0)
    tables = LookupTable(0, tuple(heights)), LookupTable(0, tuple(conductances))
    return LayeredSpectrum(cells, cells, ENDS, ENDS, one, 1.0, len(heights), 1, *tables)
