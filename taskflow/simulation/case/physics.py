"""The space, the fluid and what acts on it: [grid], [fluid], [heat], [body]."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from taskflow.errors import BadInput
from taskflow.flow.grid import Flags, StaggeredGrid
from taskflow.simulation.case.problems import Problem, missing
from taskflow.simulation.case.scalars import Sources, TransportScheme
from taskflow.simulation.case.stretching import Stretching
from taskflow.simulation.case.table import NonNegative, Number, Positive, Table, Vector, WholeVector, entry, reads
from taskflow.simulation.values import one_of, positive, three

SMALLEST, LARGEST = 1e-100, 1e100
ALONG = "the mean velocity along this direction; one of them at least"


def _length(value: object) -> float:
    length = positive(value)
    if not SMALLEST <= length <= LARGEST:
        raise BadInput(f"give a number between {SMALLEST:g} and {LARGEST:g}")
    return length


class Grid(Table):
    """A box of cells."""

    cells: WholeVector = entry(
        "how many cells, along x, y and z", remedy="give three whole numbers >= 1, in the order x, y, z"
    )
    lengths: Annotated[tuple[Positive, Positive, Positive], reads(three(_length, "three numbers > 0"))] = entry(
        "the size of the domain", remedy="give three numbers > 0, in the order x, y, z"
    )
    origin: Vector = entry("its lowest corner", (0.0, 0.0, 0.0))
    stretching: Stretching | None = entry(
        "how wide cells are along `x`, `y` or `z`; see below", None, otherwise="all cells are equal"
    )

    def staggered(self, periodic: Flags) -> StaggeredGrid:
        """Cells and places. Needs `stretching.*.faces` that fit."""
        along = dict(self.stretching or ())
        x, y, z = (
            spacing.edges(n, start, length) if (spacing := along.get(axis)) else None
            for axis, n, start, length in zip("xyz", self.cells, self.origin, self.lengths, strict=True)
        )
        return StaggeredGrid(self.cells, self.lengths, self.origin, periodic, (x, y, z))


class Fluid(Table):
    """The fluid."""

    viscosity: NonNegative = entry("kinematic viscosity", remedy="give the kinematic viscosity, a number >= 0")
    scheme: Annotated[Literal["central", "quick"], reads(one_of("central", "quick"))] = entry(
        "how the velocity is carried: `central`, or `quick`, biased upwind, for coarse grids",
        "central",
    )


class Heat(Table):
    """The temperature T, and the force -expansion (T - reference) gravity."""

    diffusivity: NonNegative = entry("thermal diffusivity", remedy="give the thermal diffusivity, a number >= 0")
    expansion: Number = entry("volumetric expansion coefficient", 0.0)
    reference: Number = entry("temperature without buoyancy", 0.0)
    source: Number = entry("temperature per unit time, everywhere", 0.0)
    sources: Sources = entry(
        "what heats in a `box` or at a `point`, as in [scalars](#scalars); `rate` is temperature times volume per time",
        (),
    )
    scheme: TransportScheme = entry(
        "`central`, or `koren`: T stays within its bounds, see [the method](../explanation/method.md#scalars)",
        "central",
    )
    background_gradient: Vector = entry(
        "the constant gradient of a background temperature. `T`, its initial value and what boundaries give are then"
        " departures from it, which may be periodic along the gradient",
        (0.0, 0.0, 0.0),
    )


class BulkVelocity(Table):
    """The mean velocity over the domain along some directions, which a uniform force keeps."""

    x: Number | None = entry(ALONG, None)
    y: Number | None = entry(ALONG, None)
    z: Number | None = entry(ALONG, None)

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if not given:
            yield missing("x", "give x, y or z, the mean velocity along it")

    @property
    def means(self) -> tuple[float | None, float | None, float | None]:
        """Along x, y and z."""
        return self.x, self.y, self.z


class Body(Table):
    """Accelerations of the whole fluid."""

    gravity: Vector = entry("acts through `heat`", (0.0, 0.0, 0.0))
    force: Vector = entry("acceleration of all fluid", (0.0, 0.0, 0.0))
    rotation: Vector = entry(
        "the angular velocity of the frame; -2 `rotation` x u acts on the fluid. On the Earth, with x to the east, y"
        " to the north and z up: `[0, 7.29e-5 * cos(latitude), 7.29e-5 * sin(latitude)]`, as numbers",
        (0.0, 0.0, 0.0),
    )
    geostrophic_wind: Vector = entry(
        "the velocity at which the Coriolis force balances a constant gradient of the pressure; that gradient, 2"
        " `rotation` x `geostrophic_wind`, drives the flow",
        (0.0, 0.0, 0.0),
    )
    bulk_velocity: BulkVelocity | None = entry(
        "a table with `x`, `y`, `z`, or some of them: the mean velocity over the domain along a periodic direction,"
        " which a uniform force keeps, from the start. It is in the log as `force_x`, ...",
        None,
        otherwise="no such force",
    )
