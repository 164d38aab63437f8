"""Numbers so large, so small or so far apart that the equations cannot be computed with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.language.problems import Key, Problem, numbered, wrong
from taskflow.cases.language.table import Rule, Table, written
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.control import Time
from taskflow.cases.tables.grid import AXES, GridTable, narrowest
from taskflow.cases.tables.initial import Initial, Noise
from taskflow.cases.tables.kinds import SideTable
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.obstacles import Obstacles
from taskflow.cases.tables.physics import BulkVelocity, FluidTable, Forcing, Heat
from taskflow.cases.tables.scalars import PassiveScalar, ScalarFace, SourceTable
from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.driving import buoyancy_frequency

Products = Mapping[str, float]
Check = Callable[["Magnitudes", float], str | None]
Checks = Mapping[type[Table], Mapping[str, Check]]
FARTHEST = 1e100  # as lengths of the domain
REMEDY = "give another unit of length or time, or a number nearer to 1"


@dataclass(frozen=True)
class Magnitudes:
    """The narrowest cells of a grid along x, y and z, the largest diffusivity, and the precision of the fields.

    Every method returns the problem with a number, or None.
    """

    spacings: tuple[float, float, float]
    diffusivity: float
    precision: str

    @property
    def info(self) -> np.finfo[np.floating]:
        """The limits of the numbers in fields."""
        return np.finfo("f8" if self.precision == "double" else "f4")

    @np.errstate(all="ignore")
    def spacing(self, width: float) -> str | None:
        """A width of cells: its square and quotients by it are formed."""
        h = np.float64(width)
        return self._lost({"its square": h * h, "one over its square": 1 / (h * h)}, small=True)

    @np.errstate(all="ignore")
    def velocity(self, value: float) -> str | None:
        """A component of the velocity: its square, and how it changes over a cell."""
        u, h = np.float64(value), np.float64(min(self.spacings))
        squares = {"its square": u * u, "its square over the spacing": u * u / h}
        return self._lost({**squares, "its diffusion over a cell": self.diffusivity * u / (h * h)})

    @np.errstate(all="ignore")
    def carried(self, value: float) -> str | None:
        """A temperature or another scalar."""
        c, h = np.float64(value), np.float64(min(self.spacings))
        return self._lost({"its square": c * c, "its diffusion over a cell": self.diffusivity * c / (h * h)})

    @np.errstate(all="ignore")
    def diffuses(self, value: float) -> str | None:
        """A viscosity or another diffusivity."""
        h = np.float64(min(self.spacings))
        return self._lost({"it": value, "it over the square of the spacing": np.float64(value) / (h * h)})

    def plain(self, value: float) -> str | None:
        """A number that is used directly."""
        return self._lost({"it": value})

    @np.errstate(all="ignore")
    def divisor(self, value: float) -> str | None:
        """A number by which others are divided."""
        return self._lost({"it": value, "one over it": 1 / np.float64(value)}, small=True)

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
    widths = [length / n for length, n in zip(grid.lengths, grid.cells, strict=True) if n > 1]
    if widths and min(widths) / max(widths) < numbers.info.eps:
        remedy = (
            f"cells are {min(widths):.3g} wide in one direction and {max(widths):.3g} in another, which rounding in"
            f" {machine.precision} precision loses; give lengths and cells whose widths differ by a factor of at most"
            f" {1 / numbers.info.eps:.3g}"
        )
        yield wrong(("grid", "lengths"), grid.lengths, remedy)


def _numbers_can_be_computed(
    tables: Mapping[str, Any], grid: GridTable, cells: StaggeredGrid, machine: Machine
) -> Iterator[Problem]:
    """Yield a problem for each number that is lost, for any tables that the system of the case reads on a box."""
    if not list(_widths_go_together(grid, cells, machine)):
        numbers = Magnitudes(narrowest(cells), largest_diffusivity(tables), machine.precision)
        yield from lost_numbers(numbers, tables, CHECKED)


def largest_diffusivity(tables: Mapping[str, Any]) -> float:
    """The largest viscosity or diffusivity of the tables of a case."""
    fluid, heat, scalars = tables.get("fluid"), tables.get("heat"), tables.get("scalars", ())
    carried = [*([heat] if heat else []), *scalars]
    return max([fluid.viscosity if fluid else 0.0, *(table.diffusivity for table in carried)])


def lost_numbers(numbers: Magnitudes, tables: Mapping[str, Any], checks: Checks) -> Iterator[Problem]:
    """Problems with the numbers of the tables of a case that cannot be computed with."""
    for key, value, lost_in in _checked((), tables.items(), checks):
        for item in value if isinstance(value, tuple) else [value]:
            number = item.source if isinstance(item, Expression) else item
            if isinstance(number, float) and (lost := lost_in(numbers, number)):
                yield wrong(key, written(value), f"{lost}; {REMEDY}")
                break


VELOCITY: Check = Magnitudes.velocity
CARRIED: Check = Magnitudes.carried
DIFFUSES: Check = Magnitudes.diffuses
PLAIN: Check = Magnitudes.plain
CHECKED: Checks = {
    FluidTable: {"viscosity": DIFFUSES},
    PassiveScalar: {"diffusivity": DIFFUSES, "initial": CARRIED, "source": PLAIN},
    ScalarFace: {"value": CARRIED, "flux": PLAIN},
    SourceTable: {"rate": PLAIN},
    Heat: {"diffusivity": DIFFUSES, "reference": CARRIED, "expansion": PLAIN, "source": PLAIN}
    | {"background_gradient": PLAIN},
    SideTable: {"velocity": VELOCITY, "temperature": CARRIED, "outside_temperature": CARRIED}
    | dict.fromkeys(("heat_flux", "heat_transfer", "pressure"), PLAIN),
    Forcing: {"gravity": PLAIN, "force": PLAIN, "rotation": PLAIN, "geostrophic_wind": VELOCITY},
    BulkVelocity: dict.fromkeys(AXES, VELOCITY),
    Initial: {"velocity": VELOCITY, "temperature": CARRIED},
    Noise: {"rms": VELOCITY},
}
"""How the numbers of each table are checked, by key."""


def _checked(key: Key, items: Iterable[tuple[str, Any]], checks: Checks) -> Iterator[tuple[Key, Any, Check]]:
    """Yield the checked values under a key, with their keys, also in nested tables and lists."""
    for name, value in items:
        if isinstance(value, Table):
            own = next((checks[kind] for kind in type(value).__mro__ if kind in checks), {})
            yield from (((*key, name, inner), getattr(value, inner), check) for inner, check in own.items())
            yield from _checked((*key, name), value, checks)
        elif isinstance(value, tuple):
            yield from _checked((*key, name), ((f"[{n}]", item) for n, item in enumerate(value, start=1)), checks)


def winds_can_be_computed(boundaries: Boundaries) -> Iterator[Problem]:
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
    remedy = f"times heat.expansion = {heat.expansion:g} and body.gravity the product is no longer finite; {REMEDY}"
    yield wrong(("heat", "background_gradient"), heat.background_gradient, remedy)


def _bodies_have_places(obstacles: Obstacles) -> Iterator[Problem]:
    for table, body in numbered(obstacles=obstacles):
        yield from places_have_squares(table, body)


def places_have_squares(table: Key, shape: Table) -> Iterator[Problem]:
    """Problems with the measures of a shape: squares of distances to it are formed in double precision."""
    for key in ("centre", "radius", "scale", "shift"):
        value = getattr(shape, key, None)
        for number in value if isinstance(value, tuple) else [value or 0.0]:
            if abs(number) > FARTHEST:
                yield wrong((*table, key), value, f"give numbers up to {FARTHEST:g}, which have squares")
                break


RULES: tuple[Rule, ...] = (
    winds_can_be_computed,
    _oscillations_have_a_frequency,
    _steps_have_squares,
    _bodies_have_places,
    _widths_go_together,
    _numbers_can_be_computed,
)
