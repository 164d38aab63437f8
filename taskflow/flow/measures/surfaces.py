"""Areas of surfaces, and the volumes that they enclose: of an isosurface, and of planes in cells.

An isosurface is measured to second order by marching tetrahedra (A. Doi, A. Koide 1991, IEICE Trans. E74, 214): each
box between the centres of eight cells is cut into six tetrahedra (H. W. Kuhn 1960, IBM J. Res. Dev. 4, 518), in which
the quantity is linear and the surface plane. The surface has no gaps and ends on the boundaries of the domain, with
their values. Sums are bitwise identical on any blocks.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from taskflow.flow.boundaries.boundary import Mirror, beyond, mirror
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.measures.derived import Derived
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Launch, Read, ReadByte, Reduce, Roles, box, offsets, reduced, task

AREA = "isosurface area"
UPWARD = offsets(x=(0, 1), y=(0, 1), z=(0, 1))


@task(kernel=KERNELS / "isosurface.cu")
def isosurface_area(
    q: Read[UPWARD], solid: ReadByte[UPWARD] | None,
    *, total: Reduce["exact sum"], grid: Grid, value: float, bound: float,
) -> None:  # fmt: skip
    """total = area of the surface q = `value` between the centres of each cell and the next ones, outside of solid
    cells.

    `bound` is at least a sixteenth of the largest possible area between eight centres. Needs ghost values of q.
    """


@task(kernel=KERNELS / "isosurface.cu")
def volume_above(
    q: Read[UPWARD], solid: ReadByte[UPWARD] | None,
    *, both: Reduce["exact sum", 2], grid: Grid, value: float, bound: float,
) -> None:  # fmt: skip
    """both = volume with q > `value`, and all of it, between the same centres. `bound` is the volume of a cell."""


@task(kernel=KERNELS / "two_phase" / "plane_area.cu")
def plane_area(
    f: Read[box(1)], solid: ReadByte | None, *, total: Reduce["exact sum"], grid: Grid, bound: float
) -> None:
    """total = area of the planes in the fluid cells that the interface cuts, with shares 1e-6 < f < 1 - 1e-6: others
    are what divergence leaves. `bound` is at least a sixteenth of the largest area in a cell. Walls mirror f.
    """


@task(kernel=KERNELS / "two_phase" / "plane_area.cu")
def volume_of_shares(
    f: Read, solid: ReadByte | None, *, both: Reduce["exact sum", 2], grid: Grid, bound: float
) -> None:
    """both = sums of f V and of V in fluid cells, V being the volume of a cell, at most 16 `bound`."""


class Surface(Protocol):
    """A surface with an area, and phase 1 on one side."""

    def area(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launches for the area in a box of cells up to adjacent boundaries, without bodies: an exact sum."""

    def volume(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launches for the volumes of phase 1 and of both, two exact sums. `area` comes first."""


@dataclass(frozen=True)
class ValueSurface:
    """Surface on which the field in a role has a value, between cell centres.

    At the faces `mirrored` the ghost values are set by mirroring before the measurement. At others they are used
    unchanged.
    """

    role: str
    value: float
    mirrored: tuple[str, ...] = ()

    def area(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launches for the area in a box of cells, up to adjacent boundaries, outside of bodies."""
        for face in self.mirrored:
            yield mirror(f[self.role], over=beyond(face, grid.constants), on=face, mirror=Mirror(1.0, 0.0))
        bound = max(grid.constants.largest(axis) for axis in range(3)) ** 2
        where: dict[str, Any] = {"over": _between_centres(grid, over), "grid": grid.constants}
        yield isosurface_area(f[self.role], solid, total=name, value=self.value, bound=bound, **where)

    def volume(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launch for the volume above the value and all of it, with the ghost values of `area`."""
        bound = math.prod(grid.constants.largest(axis) for axis in range(3))
        where: dict[str, Any] = {"over": _between_centres(grid, over), "grid": grid.constants}
        yield volume_above(f[self.role], solid, both=name, value=self.value, bound=bound, **where)


@dataclass(frozen=True)
class PlaneSurface:
    """The planes in cells with the share f of phase 1. `read` is the grid for kernels that read shares."""

    read: Grid

    def area(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launch for the area in a box of cells, outside of bodies."""
        bound = max(grid.constants.largest(axis) for axis in range(3)) ** 2
        yield plane_area(f.f, solid, over=over, total=name, grid=self.read, bound=bound)

    def volume(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """Yield the launch for the volumes of phase 1 and of both phases."""
        yield volume_of_shares(f.f, solid, over=over, both=name, grid=grid.constants, bound=grid.volume)


@dataclass(frozen=True)
class Isosurface:
    """Program that measures the area of a surface, outside of `bodies`. `derived` computes its field before."""

    grid: StaggeredGrid
    surface: ValueSurface
    bodies: bool = False
    derived: Derived | None = None
    __name__: ClassVar[str] = "isosurface"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        if self.derived is not None:
            yield from self.derived(f)
        yield from self.surface.area(f, f.solid if self.bodies else None, self.grid, self.grid.box, AREA)

    def numbers(self, scalars: Mapping[str, float]) -> list[float]:
        return [*reduced(scalars, AREA)]


def _between_centres(grid: StaggeredGrid, over: Box) -> Box:
    """Return the cells from whose centres boxes begin that cover a box of cells up to adjacent boundaries."""
    ends = triple(int(low == 0 and not around) for low, around in zip(over.lo, grid.periodic, strict=True))
    return over.expand(ends, (0, 0, 0))
