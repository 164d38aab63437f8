"""The fluid and what acts on it: [fluid], [heat], [body]."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import numpy as np

from taskflow.cases.language.problems import Problem, missing, present, shown, wrong
from taskflow.cases.language.table import (
    NonNegative,
    Number,
    Table,
    Vector,
    entry,
    optional,
    reads,
    written,
)
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.initial import Initial
from taskflow.cases.tables.scalars import RELEASED, Sources, TransportScheme, sources_are_inside
from taskflow.cases.tables.timed import FormulaVector, Values, three_of_time, three_values
from taskflow.common.errors import named

NO_HEAT = "this case has no temperature; add a [heat] table with diffusivity, or omit it"
ALONG = "mean velocity along this direction"


class FluidTable(Table):
    """The fluid."""

    viscosity: NonNegative = entry("kinematic viscosity", remedy="give the kinematic viscosity, a number >= 0")
    scheme: Literal["central", "quick"] = entry(
        "advection scheme of momentum: `central`, or `quick`, upwind-biased, for coarse grids",
        "central",
    )


class Heat(Table):
    """The temperature T, and the force -expansion (T - reference) gravity."""

    diffusivity: NonNegative = entry("thermal diffusivity", remedy="give the thermal diffusivity, a number >= 0")
    expansion: Number = entry("volumetric expansion coefficient", 0.0)
    reference: Number = entry("temperature without buoyancy", 0.0)
    source: Number = entry("temperature per unit time, everywhere", 0.0)
    sources: Sources = entry(
        "heat sources in a `box` or at a `point`, as for [scalars](#scalars). `rate` is temperature times volume per"
        " time",
        (),
        remedy=RELEASED,
    )
    scheme: TransportScheme = entry(
        "`central`, or `koren`, which keeps T within its bounds. See [the method](../explanation/method.md#scalars)",
        "central",
    )
    background_gradient: Vector = entry(
        "the constant gradient of a background temperature. `T`, its initial and boundary values are"
        " departures from it",
        (0.0, 0.0, 0.0),
    )


class BulkVelocity(Table):
    """The mean velocity over the domain along some directions, which a uniform force keeps."""

    least = missing("x", "give x, y or z, the mean velocity along it")

    x: Number | None = optional(ALONG)
    y: Number | None = optional(ALONG)
    z: Number | None = optional(ALONG)

    @property
    def means(self) -> tuple[float | None, float | None, float | None]:
        """Along x, y and z."""
        return self.x, self.y, self.z


class Forcing(Table, FormulaVector):
    """Accelerations of the whole fluid."""

    gravity: Vector = entry("acts through `heat`", (0.0, 0.0, 0.0))
    force: Annotated[Values, reads(three_values)] = entry(
        "acceleration of all fluid. May [change in time](#values-that-change-in-time), on body-fitted grids also with"
        " x, y and z",
        (0.0, 0.0, 0.0),
    )
    rotation: Annotated[Values, reads(three_of_time)] = entry(
        "angular velocity of the frame: -2 `rotation` x u acts on the fluid. On the Earth, with x east, y"
        " north and z up: `[0, 7.29e-5 * cos(latitude), 7.29e-5 * sin(latitude)]`, as numbers. May [change in"
        " time](#values-that-change-in-time)",
        (0.0, 0.0, 0.0),
    )
    geostrophic_wind: Vector = entry(
        "the velocity at which the Coriolis force balances a constant pressure gradient, which drives the flow",
        (0.0, 0.0, 0.0),
    )
    bulk_velocity: BulkVelocity | None = optional(
        "the mean velocity over the fluid along periodic directions `x`, `y`, `z`, kept constant by a uniform"
        " force. The log has the force as `force_x`, ...",
        otherwise="no force",
    )

    @property
    def vector(self) -> Values:
        return self.force

    @property
    def numbers(self) -> Vector:
        """The force if it is the same everywhere and at all times, else 0: it is a field then."""
        return (0.0, 0.0, 0.0) if self.varies else super().numbers

    def at(self, x: np.ndarray, y: np.ndarray, z: np.ndarray, t: float = 0.0) -> list[np.ndarray]:
        with named("body.force"):
            return super().at(x, y, z, t)


def heat_is_on(heat: Heat | None, boundaries: Any, initial: Initial) -> Iterator[Problem]:
    """Temperatures need heat, and fluxes of it a diffusivity, on the sides of a box and of charts."""
    yield from sides_have_heat(heat, boundaries)
    if heat is None and initial.temperature is not None:
        yield wrong(("initial", "temperature"), initial.temperature.source, NO_HEAT)


def sides_have_heat(heat: Heat | None, boundaries: Any) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        for option in present(dict(side), "temperature", "heat_flux", "heat_transfer"):
            value, key = getattr(side, option), ("boundaries", face, option)
            if heat is None:
                yield wrong(key, written(value), NO_HEAT)
            elif option != "temperature" and value != 0 and heat.diffusivity == 0:
                yield wrong(key, written(value), "no heat flows without heat.diffusivity; give one")


def tables_have_heat(heat: Heat | None, boundaries: Boundaries) -> Iterator[Problem]:
    for face, side in boundaries.sides.items():
        if heat is None and side.table and "T" in side.table.names:
            message = "it has T, but this case has no temperature; add a [heat] table, or omit the column"
            yield wrong(("boundaries", face, "table"), side.table.source, message)


def _background_is_central(heat: Heat | None) -> Iterator[Problem]:
    if heat and heat.scheme != "central" and any(heat.background_gradient):
        remedy = "a departure from a background has no bounds to keep; omit it, or background_gradient"
        yield wrong(("heat", "scheme"), heat.scheme, remedy)


def _sources_of_heat_are_inside(grid: GridTable, heat: Heat | None) -> Iterator[Problem]:
    return sources_are_inside(grid, ("heat",), heat.sources if heat else ())


def _bulk_velocity_is_free(boundaries: Boundaries, body: Forcing) -> Iterator[Problem]:
    if body.bulk_velocity is None:
        return
    for axis, mean, acceleration in zip(AXES, body.bulk_velocity.means, body.force, strict=True):
        if mean is None:
            continue
        key = ("body", "bulk_velocity", axis)
        if getattr(boundaries, axis) is None:
            remedy = f'what flows along {axis} has to return; give boundaries.{axis} = "periodic", or omit it'
            yield wrong(key, mean, remedy)
        if acceleration != 0:
            now = f"{acceleration:g}" if isinstance(acceleration, float) else shown(written(acceleration))
            remedy = f"it takes the force that it needs; give 0 for body.force along {axis} (now {now})"
            yield wrong(key, mean, remedy)
    if any(body.geostrophic_wind):
        remedy = "body.bulk_velocity drives the flow, too; omit one of them"
        yield wrong(("body", "geostrophic_wind"), body.geostrophic_wind, remedy)


def _wind_is_geostrophic(body: Forcing) -> Iterator[Problem]:
    if any(body.geostrophic_wind) and not any(body.rotation):
        remedy = "without rotation no Coriolis force balances it; give body.rotation, or omit it"
        yield wrong(("body", "geostrophic_wind"), body.geostrophic_wind, remedy)


Heat.rules = (heat_is_on, tables_have_heat, _background_is_central, _sources_of_heat_are_inside)
Forcing.rules = (_bulk_velocity_is_free, _wind_is_geostrophic)
