"""The space, the fluid and what acts on it: [grid], [fluid], [heat], [body]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from taskflow.errors import BadInput
from taskflow.flow.grid import Flags, StaggeredGrid
from taskflow.simulation.case.problems import Problem, missing
from taskflow.simulation.case.scalars import Sources, TransportScheme
from taskflow.simulation.case.stretching import Stretching
from taskflow.simulation.case.table import NonNegative, Number, Table, Vector, WholeVector, reads
from taskflow.simulation.values import one_of, positive, three

SMALLEST, LARGEST = 1e-100, 1e100


def _length(value: object) -> float:
    length = positive(value)
    if not SMALLEST <= length <= LARGEST:
        raise BadInput(f"give a number between {SMALLEST:g} and {LARGEST:g}")
    return length


class Grid(Table):
    """A box of `cells`, `lengths` long, whose corner is `origin`; cells are equal but along `stretching`."""

    cells: WholeVector = Field(description="give three whole numbers >= 1, in the order x, y, z")
    lengths: Annotated[tuple[float, float, float], reads(three(_length, "three numbers > 0"))] = Field(
        description="give three numbers > 0, in the order x, y, z"
    )
    origin: Vector = (0.0, 0.0, 0.0)
    stretching: Stretching | None = None

    def staggered(self, periodic: Flags) -> StaggeredGrid:
        """Cells and places. Needs `stretching.*.faces` that fit."""
        along = dict(self.stretching or ())
        x, y, z = (
            spacing.edges(n, start, length) if (spacing := along.get(axis)) else None
            for axis, n, start, length in zip("xyz", self.cells, self.origin, self.lengths, strict=True)
        )
        return StaggeredGrid(self.cells, self.lengths, self.origin, periodic, (x, y, z))


class Fluid(Table):
    """`viscosity` is kinematic; `scheme` says how the velocity is carried."""

    viscosity: NonNegative = Field(description="give the kinematic viscosity, a number >= 0")
    scheme: Annotated[Literal["central", "quick"], reads(one_of("central", "quick"))] = "central"


class Heat(Table):
    """Temperature T, with `diffusivity`, a `source` everywhere and `sources`; force = -expansion (T - reference)
    gravity.

    With a `background_gradient` T is the departure from a temperature of that constant gradient.
    """

    diffusivity: NonNegative = Field(description="give the thermal diffusivity, a number >= 0")
    expansion: Number = 0.0
    reference: Number = 0.0
    source: Number = 0.0
    sources: Sources = ()
    scheme: TransportScheme = "central"
    background_gradient: Vector = (0.0, 0.0, 0.0)


class BulkVelocity(Table):
    """The mean velocity over the domain along some directions, which a uniform force keeps."""

    x: Number | None = None
    y: Number | None = None
    z: Number | None = None

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if not given:
            yield missing("x", "give x, y or z, the mean velocity along it")

    @property
    def means(self) -> tuple[float | None, float | None, float | None]:
        """Along x, y and z."""
        return self.x, self.y, self.z


class Body(Table):
    """Accelerations of the whole fluid: `gravity` acts through temperature, `force` everywhere alike.

    `rotation`: the angular velocity of the frame, whose Coriolis force acts. `geostrophic_wind`: the velocity that this
    balances a constant gradient of the pressure at. `bulk_velocity` is kept by a uniform force.
    """

    gravity: Vector = (0.0, 0.0, 0.0)
    force: Vector = (0.0, 0.0, 0.0)
    rotation: Vector = (0.0, 0.0, 0.0)
    geostrophic_wind: Vector = (0.0, 0.0, 0.0)
    bulk_velocity: BulkVelocity | None = None
