"""Numbers so large, so small or so far apart that the equations cannot be computed with them."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from taskflow.flow.driving.stratification import buoyancy_frequency
from taskflow.simulation.case.boundaries import AXES, FACES, Boundaries
from taskflow.simulation.case.control import Time
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import Body, Fluid, Grid, Heat
from taskflow.simulation.case.problems import Key, Problem, wrong
from taskflow.simulation.case.rules.grid import cells_fit, narrowest
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.expression import Expression
from taskflow.simulation.magnitudes import Magnitudes

Checked = tuple[Key, Any, Callable[[float], str | None]]
FARTHEST = 1e100  # as lengths of the domain
REMEDY = "give another unit of length or time, or a number nearer to 1"


def _widths_go_together(grid: Grid, machine: Machine) -> Iterator[Problem]:
    if list(cells_fit(grid)):
        return
    numbers = Magnitudes(narrowest(grid), 0.0, machine.precision)
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
    grid: Grid, fluid: Fluid, heat: Heat | None, scalars: Scalars, boundaries: Boundaries, body: Body, initial: Initial,
    machine: Machine,
) -> Iterator[Problem]:  # fmt: skip
    if list(cells_fit(grid)) or list(_widths_go_together(grid, machine)):
        return
    spread = max([fluid.viscosity, *([heat.diffusivity] if heat else []), *(each.diffusivity for each in scalars)])
    numbers = Magnitudes(narrowest(grid), spread, machine.precision)
    found = [
        *_of_fluid(fluid, scalars, numbers),
        *_of_heat(heat, numbers),
        *_of_boundaries(boundaries, numbers),
        *_of_body(body, numbers),
        *_of_initial(initial, numbers),
    ]
    for key, value, lost_in in found:
        for each in value if isinstance(value, tuple) else [value]:
            number = each.source if isinstance(each, Expression) else each
            if isinstance(number, float) and (lost := lost_in(number)):
                yield wrong(key, value, f"{lost}; {REMEDY}")
                break


def _of_fluid(fluid: Fluid, scalars: Scalars, numbers: Magnitudes) -> Iterator[Checked]:
    yield ("fluid", "viscosity"), fluid.viscosity, numbers.diffuses
    for n, scalar in enumerate(scalars, start=1):
        yield ("scalars", f"[{n}]", "diffusivity"), scalar.diffusivity, numbers.diffuses
        yield ("scalars", f"[{n}]", "initial"), scalar.initial, numbers.carried


def _of_heat(heat: Heat | None, numbers: Magnitudes) -> Iterator[Checked]:
    if heat is None:
        return
    yield ("heat", "diffusivity"), heat.diffusivity, numbers.diffuses
    yield ("heat", "reference"), heat.reference, numbers.carried
    for key in ("expansion", "source", "background_gradient"):
        yield ("heat", key), getattr(heat, key), numbers.plain


def _of_boundaries(boundaries: Boundaries, numbers: Magnitudes) -> Iterator[Checked]:
    for face in FACES:
        side = getattr(boundaries, face)
        if side is None:
            continue
        yield ("boundaries", face, "velocity"), side.velocity, numbers.velocity
        yield ("boundaries", face, "temperature"), side.temperature, numbers.carried
        yield ("boundaries", face, "outside_temperature"), side.outside_temperature, numbers.carried
        for key in ("heat_flux", "heat_transfer", "pressure"):
            yield ("boundaries", face, key), getattr(side, key), numbers.plain


def _of_body(body: Body, numbers: Magnitudes) -> Iterator[Checked]:
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
    for face in FACES:
        side = getattr(boundaries, face)
        law = side.log_law if side is not None else None
        for key in ("roughness", "friction_velocity", "speed", "height"):
            value = getattr(law, key, None)
            if value is not None and not 1 / FARTHEST <= value <= FARTHEST:
                remedy = f"give a number between {1 / FARTHEST:g} and {FARTHEST:g}"
                yield wrong(("boundaries", face, "log_law", key), value, remedy)


def _steps_have_squares(time: Time) -> Iterator[Problem]:
    """As limits of stability ask for them."""
    if time.step is not None and time.step > FARTHEST:
        yield wrong(("time", "step"), time.step, f"give a number up to {FARTHEST:g}")


def _oscillations_have_a_frequency(heat: Heat | None, body: Body) -> Iterator[Problem]:
    """Products of what a stratified fluid oscillates with are numbers."""
    if heat is None or math.isfinite(buoyancy_frequency(heat.expansion, body.gravity, heat.background_gradient)):
        return
    remedy = f"times heat.expansion = {heat.expansion:g} and body.gravity it is no number any more; {REMEDY}"
    yield wrong(("heat", "background_gradient"), heat.background_gradient, remedy)


def _bodies_have_places(obstacles: Obstacles) -> Iterator[Problem]:
    """Squares of distances to bodies are formed in double precision."""
    for n, body in enumerate(obstacles, start=1):
        for key in ("centre", "radius", "scale", "shift"):
            value = getattr(body, key)
            for number in value if isinstance(value, tuple) else [value or 0.0]:
                if abs(number) > FARTHEST:
                    remedy = f"give numbers up to {FARTHEST:g}, which have squares"
                    yield wrong(("obstacles", f"[{n}]", key), value, remedy)
                    break


RULES = (
    (_winds_can_be_computed, ("boundaries",)),
    (_oscillations_have_a_frequency, ("heat", "body")),
    (_steps_have_squares, ("time",)),
    (_bodies_have_places, ("obstacles",)),
    (_widths_go_together, ("grid", "machine")),
    (
        _numbers_can_be_computed,
        ("grid", "fluid", "heat", "scalars", "boundaries", "body", "initial", "machine"),
    ),
)
