"""Numbers so large, so small or so far apart that the equations cannot be computed with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.stratification import buoyancy_frequency
from taskflow.simulation.case.boundaries import Boundaries
from taskflow.simulation.case.control import Time
from taskflow.simulation.case.grid import AXES, GridTable, narrowest
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import FluidTable, Forcing, Heat
from taskflow.simulation.case.problems import Key, Problem, numbered, wrong
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.expression import Expression

Products = Mapping[str, float]
Checked = tuple[Key, Any, Callable[[float], str | None]]
FARTHEST = 1e100  # as lengths of the domain
REMEDY = "give another unit of length or time, or a number nearer to 1"


@dataclass(frozen=True)
class Magnitudes:
    """The narrowest cells of a grid along x, y and z, the largest diffusivity, and the precision of the fields.

    Every method says what is wrong with a number, or None.
    """

    spacings: tuple[float, float, float]
    diffusivity: float
    precision: str

    @property
    def info(self) -> np.finfo[np.floating]:
        """The limits of the numbers that fields hold."""
        return np.finfo("f8" if self.precision == "double" else "f4")

    def spacing(self, width: float) -> str | None:
        """A width of cells: its square and what it divides are formed."""
        with np.errstate(all="ignore"):
            h = np.float64(width)
            return self._lost({"its square": h * h, "one over its square": 1 / (h * h)}, small=True)

    def velocity(self, value: float) -> str | None:
        """A component of the velocity: its square, and how it changes over a cell."""
        with np.errstate(all="ignore"):
            u, h = np.float64(value), np.float64(min(self.spacings))
            squares = {"its square": u * u, "its square over the spacing": u * u / h}
            return self._lost({**squares, "its diffusion over a cell": self.diffusivity * u / (h * h)})

    def carried(self, value: float) -> str | None:
        """A temperature or another scalar."""
        with np.errstate(all="ignore"):
            c, h = np.float64(value), np.float64(min(self.spacings))
            diffusing = self.diffusivity * c / (h * h)
            return self._lost({"its square": c * c, "its diffusion over a cell": diffusing})

    def diffuses(self, value: float) -> str | None:
        """A viscosity or another diffusivity."""
        with np.errstate(all="ignore"):
            h = np.float64(min(self.spacings))
            return self._lost({"it": value, "it over the square of the spacing": np.float64(value) / (h * h)})

    def plain(self, value: float) -> str | None:
        """A number that is used as it is."""
        return self._lost({"it": value})

    def _lost(self, products: Products, *, small: bool = False) -> str | None:
        info = self.info
        for name, value in products.items():
            size = abs(float(value))
            if not size <= float(info.max):
                return f"{name} is above {info.max:.3g}, the largest number in {self.precision} precision"
            if small and size < float(info.tiny):
                return f"{name} is below {info.tiny:.3g}, the smallest sound number in {self.precision} precision"
        return None


def _widths_go_together(grid: GridTable, cells: StaggeredGrid, machine: Machine) -> Iterator[Problem]:
    numbers = Magnitudes(narrowest(cells), 0.0, machine.precision)
    for name, width in zip(AXES, numbers.spacings, strict=True):
        if lost := numbers.spacing(width):
            yield wrong(("grid", "lengths"), grid.lengths, f"cells are {width:.3g} wide in {name}; {lost}; {REMEDY}")
    several = [length / n for length, n in zip(grid.lengths, grid.cells, strict=True) if n > 1]
    if several and min(several) / max(several) < numbers.info.eps:
        remedy = (
            f"cells are {min(several):.3g} wide in one direction and {max(several):.3g} in another: beside one over the"
            f" first that of the second is lost in {machine.precision} precision; give lengths and cells whose widths"
            f" differ by a factor of at most {1 / numbers.info.eps:.3g}"
        )
        yield wrong(("grid", "lengths"), grid.lengths, remedy)


def _numbers_can_be_computed(
    grid: GridTable, cells: StaggeredGrid, fluid: FluidTable, heat: Heat | None, scalars: Scalars,
    boundaries: Boundaries, body: Forcing, initial: Initial, machine: Machine,
) -> Iterator[Problem]:  # fmt: skip
    if list(_widths_go_together(grid, cells, machine)):
        return
    spread = max([fluid.viscosity, *([heat.diffusivity] if heat else []), *(scalar.diffusivity for scalar in scalars)])
    numbers = Magnitudes(narrowest(cells), spread, machine.precision)
    checked = [
        *_of_fluid(fluid, scalars, numbers),
        *_of_heat(heat, numbers),
        *_of_boundaries(boundaries, numbers),
        *_of_body(body, numbers),
        *_of_initial(initial, numbers),
    ]
    for key, value, lost_in in checked:
        for item in value if isinstance(value, tuple) else [value]:
            number = item.source if isinstance(item, Expression) else item
            if isinstance(number, float) and (lost := lost_in(number)):
                yield wrong(key, value, f"{lost}; {REMEDY}")
                break


def _of_fluid(fluid: FluidTable, scalars: Scalars, numbers: Magnitudes) -> Iterator[Checked]:
    yield ("fluid", "viscosity"), fluid.viscosity, numbers.diffuses
    for key, scalar in numbered(scalars=scalars):
        yield (*key, "diffusivity"), scalar.diffusivity, numbers.diffuses
        yield (*key, "initial"), scalar.initial, numbers.carried


def _of_heat(heat: Heat | None, numbers: Magnitudes) -> Iterator[Checked]:
    if heat is None:
        return
    yield ("heat", "diffusivity"), heat.diffusivity, numbers.diffuses
    yield ("heat", "reference"), heat.reference, numbers.carried
    for key in ("expansion", "source", "background_gradient"):
        yield ("heat", key), getattr(heat, key), numbers.plain


def _of_boundaries(boundaries: Boundaries, numbers: Magnitudes) -> Iterator[Checked]:
    for face, side in boundaries.sides.items():
        yield ("boundaries", face, "velocity"), side.velocity, numbers.velocity
        yield ("boundaries", face, "temperature"), side.temperature, numbers.carried
        yield ("boundaries", face, "outside_temperature"), side.outside_temperature, numbers.carried
        for key in ("heat_flux", "heat_transfer", "pressure"):
            yield ("boundaries", face, key), getattr(side, key), numbers.plain


def _of_body(body: Forcing, numbers: Magnitudes) -> Iterator[Checked]:
    for key in ("gravity", "force", "rotation"):
        yield ("body", key), getattr(body, key), numbers.plain
    yield ("body", "geostrophic_wind"), body.geostrophic_wind, numbers.velocity
    if body.bulk_velocity is not None:
        for axis, mean in zip(AXES, body.bulk_velocity.means, strict=True):
            yield ("body", "bulk_velocity", axis), mean, numbers.velocity


def _of_initial(initial: Initial, numbers: Magnitudes) -> Iterator[Checked]:
    yield ("initial", "velocity"), initial.velocity, numbers.velocity
    yield ("initial", "temperature"), initial.temperature, numbers.carried
    if initial.noise is not None:
        yield ("initial", "noise", "rms"), initial.noise.rms, numbers.velocity


def _winds_can_be_computed(boundaries: Boundaries) -> Iterator[Problem]:
    """Heights over roughness, and their logarithms, are sound numbers."""
    for face, side in boundaries.sides.items():
        law = side.log_law
        for key in ("roughness", "friction_velocity", "speed", "height"):
            value = getattr(law, key, None)
            if value is not None and not 1 / FARTHEST <= value <= FARTHEST:
                remedy = f"give a number between {1 / FARTHEST:g} and {FARTHEST:g}"
                yield wrong(("boundaries", face, "log_law", key), value, remedy)


def _steps_have_squares(time: Time) -> Iterator[Problem]:
    """As limits of stability ask for them."""
    if time.step is not None and time.step > FARTHEST:
        yield wrong(("time", "step"), time.step, f"give a number up to {FARTHEST:g}")


def _oscillations_have_a_frequency(heat: Heat | None, body: Forcing) -> Iterator[Problem]:
    """Products of what a stratified fluid oscillates with are numbers."""
    if heat is None or math.isfinite(buoyancy_frequency(heat.expansion, body.gravity, heat.background_gradient)):
        return
    remedy = f"times heat.expansion = {heat.expansion:g} and body.gravity it is no number any more; {REMEDY}"
    yield wrong(("heat", "background_gradient"), heat.background_gradient, remedy)


def _bodies_have_places(obstacles: Obstacles) -> Iterator[Problem]:
    """Squares of distances to bodies are formed in double precision."""
    for table, body in numbered(obstacles=obstacles):
        for key in ("centre", "radius", "scale", "shift"):
            value = getattr(body, key)
            for number in value if isinstance(value, tuple) else [value or 0.0]:
                if abs(number) > FARTHEST:
                    remedy = f"give numbers up to {FARTHEST:g}, which have squares"
                    yield wrong((*table, key), value, remedy)
                    break


RULES = (
    _winds_can_be_computed,
    _oscillations_have_a_frequency,
    _steps_have_squares,
    _bodies_have_places,
    _widths_go_together,
    _numbers_can_be_computed,
)
