"""Area of an interface of planes in cells."""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Read, ReadByte, Reduce, Roles, box, task


@task(kernel=KERNELS / "two_phase" / "plane_area.cu")
def plane_area(
    f: Read[box(1)], solid: ReadByte | None, *, total: Reduce["exact sum"], grid: Grid, bound: float
) -> None:
    """total = area of the planes in the fluid cells that the interface cuts. `bound` is at least a sixteenth of the
    largest area in a cell. Walls mirror f.
    """


@task(kernel=KERNELS / "two_phase" / "plane_area.cu")
def volume_of_shares(
    f: Read, solid: ReadByte | None, *, both: Reduce["exact sum", 2], grid: Grid, bound: float
) -> None:
    """both = sums of f V and of V in fluid cells, V being the volume of a cell, at most 16 `bound`."""


@dataclass(frozen=True)
class PlaneSurface:
    """The planes in cells with the share f of phase 1, on the grid for kernels that read shares."""

    read: Grid

    def area(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launch for the area in a box of cells, outside of bodies."""
        bound = max(grid.constants.largest(axis) for axis in range(3)) ** 2
        yield plane_area(f.f, solid, over=over, total=name, grid=self.read, bound=bound)

    def volume(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launch for the volumes of phase 1 and of both phases."""
        yield volume_of_shares(f.f, solid, over=over, both=name, grid=grid.constants, bound=grid.volume)
