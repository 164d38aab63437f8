"""Supply of momentum and heat by parts of a body's face that move, or have a temperature or a heat flux.

The other faces of bodies are at rest and insulated. A part adds to the equations of the adjacent cells what a wall
gives them beyond that. With the ghost value g = factor q + value of a wall, half a cell of the width h away,

    friction and diffusion = K (g - q) / h^2 = K value / h^2 - K (1 - factor) / h^2 q

with the viscosity or diffusivity K. Of the friction the equation of a body at rest has the second term. Nothing is
stored in the body, so parts may meet at its edges. Time-dependent values are scalars at both ends of a stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import Mirror
from taskflow.flow.boundaries.box_side import Boxes, BoxSide
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Launch, Read, ReadWrite, Scalar, frame, task

TEXT = KERNELS / "boundaries" / "wall_supply.cu"
END = "_end"  # of a scalar at the end of a stage; without it, at the beginning


@dataclass(frozen=True)
class CellSupply:
    """The supply of a quantity q per time, in cells: `value`, or `value` times a scalar, less `rate` q."""

    value: float
    rate: float = 0.0


@task(kernel=TEXT)
def supply(
    h: ReadWrite, q_new: ReadWrite, q: Read | None,
    *, dt: Scalar, ratio: Scalar, number: Scalar | None, supply: CellSupply,
) -> None:  # fmt: skip
    """h += F, q_new += dt (1 + ratio/2) F, F = value number - rate q, after the equation of the stage."""


@task(kernel=TEXT)
def supply_bounded(
    q_new: ReadWrite, q: Read | None, *, dt: Scalar, number: Scalar | None, supply: CellSupply, part: float
) -> None:
    """q_new += part dt F"""


class CellsAtFace(BoxSide):
    """A face of a body, with ghost cells as wide as the adjacent cells."""

    @property
    def spacing(self) -> float:
        return self.grid.width(self.axis, self.plane - frame(self.face)[1])

    def along_faces(self, name: str) -> Boxes:
        """Return the faces of adjacent cells that store a velocity along the side, without ends of the grid."""
        own, grid = "uvw".index(name), self.grid
        first = triple(int(a == own and grid.low[a]) for a in range(3))
        inside = Box(first, grid.cells)
        return tuple(cells for box in self.beyond(name) if (cells := box.shift(self.inward) & inside))


@dataclass(frozen=True)
class WallSupply:
    """The supply of a quantity at a part of a face. `number` begins the name of the scalar of a value that changes."""

    side: CellsAtFace
    supply: CellSupply
    number: str | None = None

    @classmethod
    def of(cls, mirror: Mirror, number: str | None, side: CellsAtFace, coefficient: float) -> WallSupply:
        """Return the supply by a ghost value, with this viscosity or diffusivity."""
        per = coefficient / side.spacing**2
        return cls(side, CellSupply(per * mirror.value, per * (1 - mirror.factor)), number)

    def at(self, ending: str) -> str | None:
        """Return the scalar of its value, with the suffix of a stage."""
        return None if self.number is None else f"{self.number}{ending}"

    def gained(self, total: float, scalars: Mapping[str, float], ending: str) -> float:
        """Return the sum of the supply over the cells, weighted as `total`, the sum of the quantity, at a state."""
        name = self.at(END + ending)
        value = self.supply.value * (1.0 if name is None else scalars[name])
        return value * self.side.volume - self.supply.rate * total


def warm(h: str, new: str, old: str, supplies: Iterable[WallSupply], names: Mapping[str, str]) -> Iterator[Launch]:
    """Add supplies to a quantity with central differences, after its equation."""
    for given in supplies:
        number = given.at(names["dt"].removeprefix("dt"))
        yield supply(h, new, old, over=given.side.last, number=number, supply=given.supply, **names)


def warm_bounded(
    new: str, old: str, supplies: Iterable[WallSupply], dt: str, part: float, end: str
) -> Iterator[Launch]:  # fmt: skip
    """Add `part` of the supplies, with the values of the field `old`, to a bounded quantity; `end` is END or ""."""
    for given in supplies:
        number = given.at(end + dt.removeprefix("dt"))
        over = given.side.last
        yield supply_bounded(new, old, over=over, dt=dt, number=number, supply=given.supply, part=part)
