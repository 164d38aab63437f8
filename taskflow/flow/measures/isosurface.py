"""The area of the surface on which a quantity has a value, of second order.

Marching tetrahedra (A. Doi, A. Koide 1991, IEICE Trans. E74, 214): the boxes between the centres of eight cells are cut
into six tetrahedra each (H. W. Kuhn 1960, IBM J. Res. Dev. 4, 518), in which the quantity is linear and the surface
plane. The surface has no gaps; it ends on the boundaries of the domain, with the values that they give. The sum has the
same bits for any blocks.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.boundaries.boundary import Mirror, beyond, mirror
from taskflow.flow.grid import Grid, StaggeredGrid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Launch, Read, ReadByte, Reduce, Roles, offsets, reduced, task

AREA = "isosurface area"
UPWARD = offsets(x=(0, 1), y=(0, 1), z=(0, 1))


@task(kernel=KERNELS / "isosurface.cu")
def isosurface_area(
    q: Read[UPWARD], solid: ReadByte[UPWARD] | None,
    *, total: Reduce["exact sum"], grid: Grid, value: float, bound: float,
) -> None:  # fmt: skip
    """total = the area where q is `value`, between the centres of each cell and the next ones, but for what is in solid
    cells.

    `bound` is at least a sixteenth of the area that there can be between eight centres. Needs ghost values of q.
    """


@dataclass(frozen=True)
class ValueSurface:
    """The surface on which the field in a role has a value, between the centres of cells. Beyond the faces `mirrored`
    the field is mirrored before it is measured; beyond others its ghost values are there.
    """

    role: str
    value: float
    mirrored: tuple[str, ...] = ()

    def area(self, f: Roles, solid: str | None, grid: StaggeredGrid, over: Box, name: str) -> Iterator[Launch]:
        """The area between the centres of cells of a box, and the boundaries beside them, but for what is in bodies."""
        for face in self.mirrored:
            yield mirror(f[self.role], over=beyond(face, grid.constants), on=face, mirror=Mirror(1.0, 0.0))
        ends = triple(int(low == 0 and not around) for low, around in zip(over.lo, grid.periodic, strict=True))
        bound = max(grid.constants.largest(axis) for axis in range(3)) ** 2
        cells, numbers = over.expand(ends, (0, 0, 0)), {"value": self.value, "bound": bound, "grid": grid.constants}
        yield isosurface_area(f[self.role], solid, over=cells, total=name, **numbers)


@dataclass(frozen=True)
class Isosurface:
    """The program that measures, after a step, the area of a surface, outside of bodies where there are any."""

    grid: StaggeredGrid
    surface: ValueSurface
    bodies: bool = False
    __name__: ClassVar[str] = "isosurface"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """The area, in a scalar that all measurements share."""
        yield from self.surface.area(f, f.solid if self.bodies else None, self.grid, self.grid.box, AREA)

    def numbers(self, scalars: Mapping[str, float]) -> list[float]:
        return [*reduced(scalars, AREA)]
