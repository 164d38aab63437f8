"""Numbers so large, so small or so far apart that the equations cannot be computed with them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from taskflow.simulation.case.boundaries import AXES, FACES, Boundaries
from taskflow.simulation.case.initial import Initial
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.obstacles import Obstacles
from taskflow.simulation.case.physics import Body, Fluid, Grid, Heat
from taskflow.simulation.case.problems import Key, Problem, wrong
from taskflow.simulation.case.rules.grid import faces_fit
from taskflow.simulation.case.scalars import Scalars
from taskflow.simulation.expression import Expression
from taskflow.simulation.magnitudes import Magnitudes

Checked = tuple[Key, Any, Callable[[float], str | None]]
FARTHEST = 1e100  # as lengths of the domain
REMEDY = "give another unit of length or time, or a number nearer to 1"


def _coordinates_differ(grid: Grid) -> Iterator[Problem]:
    """Faces and centres of neighbouring cells are different numbers in double precision, in which they are stored."""
    if list(faces_fit(grid)):
        return
    for axis, (name, width) in enumerate(zip(AXES, _narrowest(grid), strict=True)):
        start, length = grid.origin[axis], grid.lengths[axis]
        apart = float(np.spacing(max(abs(start), abs(start + length))))
        if not width / 2 > apart:
            remedy = (
                f"numbers are {apart:.3g} apart there, and cells {width:.3g} wide in {name}, so that neighbours have"
                " one coordinate; give an origin nearer to 0, or wider cells"
            )
            key = "origin" if abs(start) > length else "cells"
            yield wrong(("grid", key), getattr(grid, key), remedy)


def _widths_go_together(grid: Grid, machine: Machine) -> Iterator[Problem]:
    if list(faces_fit(grid)):
        return
    numbers = Magnitudes(_narrowest(grid), 0.0, machine.precision)
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
    if list(faces_fit(grid)) or list(_widths_go_together(grid, machine)):
        return
    spread = max([fluid.viscosity, *([heat.diffusivity] if heat else []), *(each.diffusivity for each in scalars)])
    numbers = Magnitudes(_narrowest(grid), spread, machine.precision)
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


def _narrowest(grid: Grid) -> tuple[float, float, float]:
    """The narrowest cells along x, y and z. Needs faces that fit."""
    staggered = grid.staggered((False, False, False))
    x, y, z = (staggered.narrowest(axis) for axis in range(3))
    return x, y, z


RULES = (
    (_winds_can_be_computed, ("boundaries",)),
    (_bodies_have_places, ("obstacles",)),
    (_coordinates_differ, ("grid",)),
    (_widths_go_together, ("grid", "machine")),
    (
        _numbers_can_be_computed,
        ("grid", "fluid", "heat", "scalars", "boundaries", "body", "initial", "machine"),
    ),
)
