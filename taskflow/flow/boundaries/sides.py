"""Launches that fill ghost values on all sides of a box, in the order of faces, and on a side of charts."""

from collections.abc import Iterator
from dataclasses import replace

from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.collocated import CellFields, Condition
from taskflow.flow.boundaries.condition import Boundaries, BoundaryCondition, Side, Velocity
from taskflow.flow.boundaries.openings import all_conditions, parts
from taskflow.flow.grid import AXES, Grid
from taskflow.runtime.tasks import FACES, Launch


def open_sides(boundaries: Boundaries) -> list[str]:
    """Return the faces through which fluid may pass."""
    return [face for face in FACES if any(of == face and side.permeable for of, side in all_conditions(boundaries))]


def entrances(boundaries: Boundaries) -> list[str]:
    """Return the faces at which the phase of what enters is prescribed, from x_min to z_max."""
    return [face for face in FACES if any(of == face and side.brings for of, side in all_conditions(boundaries))]


def pressure_sides(boundaries: Boundaries) -> list[str]:
    """Return the faces on which p = 0 in the pressure equation, at least in part, from x_min to z_max."""
    sides = all_conditions(boundaries, in_bodies=False)
    return [face for face in FACES if any(of == face and side.fixes_pressure for of, side in sides)]


def normal_velocity(velocity: Velocity, boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """Set the velocity normal to closed sides to 0. Raises BadInput if a side moves out of its plane."""
    for side, condition in _in_order(boundaries, grid):
        yield from condition.normal(velocity, side)


def velocity_ghosts(
    velocity: Velocity, boundaries: Boundaries, grid: Grid, ending: str = "", viscosity: float | None = None
) -> Iterator[Launch]:
    """Fill the ghost values of tangential velocities on each side, except `filled` sides.

    `ending` is the suffix of the stage's scalars, `viscosity` as of a `BoxSide`. Call after `normal_velocity`, for the
    ghost cells at edges between two boundaries.
    """
    for side, condition in _in_order(boundaries, grid, viscosity):
        if not condition.filled:
            yield from condition.velocity_ghosts(velocity, side, ending)


def temperature_ghosts(
    temperature: str, boundaries: Boundaries, grid: Grid, diffusivity: float, ending: str = ""
) -> Iterator[Launch]:
    """Fill the ghost temperatures on each side, except `filled` sides; `ending` is the suffix of the stage's scalars.

    Raises BadInput for a heat flux into a fluid that conducts no heat.
    """
    for side, condition in _in_order(boundaries, grid):
        if not condition.filled:
            yield from condition.temperature_ghosts(temperature, side, diffusivity, ending)


def _in_order(
    boundaries: Boundaries, grid: Grid, viscosity: float | None = None
) -> list[tuple[BoxSide, BoundaryCondition]]:
    """Return all parts of sides. Raises ValueError if the sides do not match the grid's walls."""
    ends = {"min": grid.low, "max": grid.high}
    walls = {f"{name}_{end}" for name, axis in AXES.items() for end, flags in ends.items() if flags[axis]}
    if set(boundaries) != walls:
        raise ValueError(f"boundaries are given for {sorted(boundaries)}; the grid has walls at {sorted(walls)}")
    return [(replace(side, viscosity=viscosity), condition) for side, condition in parts(boundaries, grid)]


def side_ghosts(side: Side, fields: CellFields, numbers: Condition) -> Iterator[Launch]:
    """Fill the ghost cells of a side, one launch per face; `numbers` has the values common to all sides."""
    yield from side.kind.collocated(side, fields, _with(side.condition, numbers))


def scalar_ghosts(side: Side, name: str, scalar: str, metrics: str | None, numbers: Condition) -> Iterator[Launch]:
    """Fill the ghost cells of a passive scalar by name, in the field `scalar`; insulated if no condition is given."""
    values = _with(side.scalars.get(name, Condition()), numbers)
    yield from side.kind.collocated_scalar(side, scalar, metrics, values)


def _with(condition: Condition, numbers: Condition) -> Condition:
    return replace(condition, diffusivity=numbers.diffusivity, volume=numbers.volume, areas=numbers.areas)
