"""Boundary conditions: launches that fill the boundary layers which the operators read.

Velocity normal to a boundary lives on the boundary and is imposed there; everything else lives half a cell away, and
the ghost cell beyond is chosen such that the mean, or the difference, of the two has the value that is given. The
pressure needs no ghost cells.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import UnionType

from taskflow.common.errors import BadInput
from taskflow.flow.grid import AXES, Grid, Vector, on_face
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import FACES, Face, Launch, ReadWrite, Scalar, Write, facing, frame, task


@dataclass(frozen=True)
class Wall:
    """A wall, which may move in its own plane, and to which fluid sticks. It has a temperature, or lets heat in:
    `heat_flux` + `heat_transfer` (outside_temperature - T).

    Both are kinematic (over density and heat capacity: the flux is a temperature times a velocity, the transfer
    coefficient a velocity); they count where there is no temperature. The default insulates. `roughness` is the length
    z_0 of the law of the wall, see `taskflow.flow.boundaries.rough_wall`; 0 is a smooth wall.

    `timed` names what changes in time, "velocity", "temperature" or "heat", which is all that does not depend on the
    temperature at the wall: whoever runs the steps gives the scalars of `timed` at the end of each stage. Numbers of
    it here are the largest ones, as are those of `fields`, "velocity" or "temperature", which depend on the place: see
    `taskflow.flow.boundaries.inflow.wall_ghosts`.
    """

    velocity: Vector = (0.0, 0.0, 0.0)
    temperature: float | None = None
    heat_flux: float = 0.0
    heat_transfer: float = 0.0
    outside_temperature: float = 0.0
    roughness: float = 0.0
    timed: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Slip:
    """Nothing passes: no flow through, no friction, no heat. The same as a plane of symmetry."""


@dataclass(frozen=True)
class Inflow:
    """Velocity and temperature are given, by values on the faces: see `taskflow.flow.boundaries.inflow`."""


@dataclass(frozen=True)
class ConvectiveOutflow:
    """Velocity and temperature are carried out at the mean speed, see `taskflow.flow.boundaries.outflow`."""


@dataclass(frozen=True)
class PressureOutflow:
    """p is given, and neither velocity nor temperature has a gradient across it.

    See `taskflow.flow.boundaries.outflow`. p is 0, or where it is `timed` what whoever runs the steps gives as the
    scalar `timed` of "p" for each stage; `pressure` is the largest one then.
    """

    pressure: float = 0.0
    timed: bool = False


@dataclass(frozen=True)
class AdvectedOutflow:
    """Velocity, temperature and pressure are carried out at the mean speed, and the normal velocity follows from the
    pressure; see `taskflow.flow.boundaries.outflow`.
    """


Boundary = Wall | Slip | Inflow | ConvectiveOutflow | PressureOutflow | AdvectedOutflow
FILLED = Inflow | ConvectiveOutflow | AdvectedOutflow  # their ghost values: `taskflow.flow.boundaries.open_boundaries`
Boundaries = Mapping[str, Boundary]  # by face, x_min to z_max; the faces of periodic directions are absent


def open_sides(boundaries: Boundaries) -> list[str]:
    """The faces through which fluid may pass."""
    return [face for face, side in boundaries.items() if not isinstance(side, Wall | Slip)]


def sides_of(kind: type | UnionType, boundaries: Boundaries) -> list[str]:
    """The faces with boundaries of a kind, from x_min to z_max."""
    return [face for face in FACES if isinstance(boundaries.get(face), kind)]


@dataclass(frozen=True)
class Value:
    """A number to impose."""

    value: float


@dataclass(frozen=True)
class Mirror:
    """Ghost = factor inside + value."""

    factor: float
    value: float


AROUND = Mirror(-1.0, 2.0)  # the mean of ghost and inside is what is given


@dataclass(frozen=True)
class MirrorTwo:
    """Ghost = factor inside + value, for two fields with values of their own."""

    factor: float
    first: float
    second: float


def timed(face: str, name: str, ending: str) -> str:
    """The scalar of what changes in time on a face, at the end of a stage: u, v, w, T, "heat" or that of a scalar; or
    over a stage: p.
    """
    return f"side_{face}_{name}{ending}"


INSIDE = facing(n=(1, 1))  # from a ghost cell to the cell inside, from a face to the next one


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def impose(q: Write, *, value: Value) -> None:
    """q = value, on all cells that it is launched over."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror(q: ReadWrite[INSIDE], *, on: Face, mirror: Mirror) -> None:
    """q[ghost] = factor q[inside] + value, over the layer of ghost cells beyond a face, or over the face itself."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror_two(q: ReadWrite[INSIDE], r: ReadWrite[INSIDE], *, on: Face, mirror: MirrorTwo) -> None:
    """q[ghost] = factor q[inside] + first, r[ghost] = factor r[inside] + second, over the layer of ghost cells beyond
    a face.
    """


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror_timed(q: ReadWrite[INSIDE], *, on: Face, number: Scalar, mirror: Mirror) -> None:
    """q[ghost] = factor q[inside] + value number, over the layer of ghost cells beyond a face."""


@task(kernel=KERNELS / "boundaries" / "boundary.cu")
def mirror_two_timed(
    q: ReadWrite[INSIDE], r: ReadWrite[INSIDE], *, on: Face, first: Scalar, second: Scalar, mirror: Mirror
) -> None:
    """q[ghost] = factor q[inside] + value first, r[ghost] = factor r[inside] + value second, over the layer of ghost
    cells beyond a face.
    """


def normal_velocity(velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """Nothing flows through walls and slip boundaries: the velocity normal to them is zero. One launch for each, over
    its faces.

    Raises BadInput for a wall that moves out of its plane.
    """
    for face, boundary in _in_order(boundaries, grid):
        if not isinstance(boundary, Wall | Slip):
            continue
        axis, _ = frame(face)
        if isinstance(boundary, Wall) and boundary.velocity[axis] != 0:
            raise BadInput(
                f"boundaries.{face}: velocity = {list(boundary.velocity)} has a component normal to the wall;"
                f" a wall moves in its own plane: set the {face[0]} component to 0, or use an inflow"
            )
        yield impose(velocity[axis], over=on_face(face, grid), value=Value(0.0))


def velocity_ghosts(
    velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid, ending: str = ""
) -> Iterator[Launch]:
    """Ghost values of the velocities along a boundary: 2 velocity - inside beyond a wall, inside beyond slip boundaries
    and outflows by pressure; `ending` is that of the scalars of the stage.

    One launch per boundary. Needs `normal_velocity` before, for the ghosts beyond edges, where two boundaries meet.
    """
    for face, boundary in _in_order(boundaries, grid):
        if isinstance(boundary, FILLED):
            continue
        axis, _ = frame(face)
        first, second = (a for a in range(3) if a != axis)
        over = beyond(face, grid)
        if isinstance(boundary, Wall) and "velocity" in boundary.timed:
            speeds = {key: timed(face, "uvw"[a], ending) for key, a in (("first", first), ("second", second))}
            yield mirror_two_timed(velocity[first], velocity[second], over=over, on=face, **speeds, mirror=AROUND)
            continue
        known = isinstance(boundary, Wall) and "velocity" not in boundary.fields
        speed = boundary.velocity if isinstance(boundary, Wall) and known else (0.0, 0.0, 0.0)
        values = MirrorTwo(-1.0 if isinstance(boundary, Wall) else 1.0, 2 * speed[first], 2 * speed[second])
        yield mirror_two(velocity[first], velocity[second], over=over, on=face, mirror=values)


def temperature_ghosts(
    temperature: str, boundaries: Boundaries, grid: Grid, diffusivity: float, ending: str = ""
) -> Iterator[Launch]:
    """Ghost temperatures beyond walls that have a temperature: 2 temperature - inside; where heat flows into the fluid:
    those with which diffusivity (ghost - inside) / spacing is that flux; inside beyond all others. `ending` is that of
    the scalars of the stage.

    One launch per boundary. Raises BadInput for a heat flux into a fluid that conducts no heat.
    """
    for face, boundary in _in_order(boundaries, grid):
        if isinstance(boundary, FILLED):
            continue
        values, over = Mirror(1.0, 0.0), beyond(face, grid)
        changing = boundary.timed & {"temperature", "heat"} if isinstance(boundary, Wall) else frozenset()
        if isinstance(boundary, Wall) and changing:
            name = "T" if "temperature" in changing else "heat"
            supplied = replace(boundary, heat_flux=1.0, outside_temperature=0.0)  # that which comes is a factor
            values = AROUND if name == "T" else _conducting(face, supplied, grid, diffusivity)
            yield mirror_timed(temperature, over=over, on=face, number=timed(face, name, ending), mirror=values)
            continue
        if isinstance(boundary, Wall) and boundary.temperature is not None:
            values = Mirror(-1.0, 2 * boundary.temperature)
        elif isinstance(boundary, Wall):
            values = _conducting(face, boundary, grid, diffusivity)
        yield mirror(temperature, over=over, on=face, mirror=values)


def temperature_factor(face: str, boundary: Boundary, grid: Grid, diffusivity: float) -> float:
    """The factor by which `temperature_ghosts` multiplies the temperature inside."""
    if not isinstance(boundary, Wall):
        return 1.0
    return -1.0 if boundary.temperature is not None else _conducting(face, boundary, grid, diffusivity).factor


def _conducting(face: str, wall: Wall, grid: Grid, diffusivity: float) -> Mirror:
    """The mirror g = factor inside + value that solves, with T = (g + inside) / 2 on the wall,
    diffusivity (g - inside) / spacing = heat_flux + heat_transfer (outside_temperature - T).
    """
    for name in ("heat_flux", "heat_transfer"):
        if getattr(wall, name) != 0 and diffusivity == 0:
            raise BadInput(
                f"boundaries.{face}: {name} = {getattr(wall, name)} cannot enter a fluid that does not conduct"
                f" heat (heat.diffusivity = 0); give it a diffusivity, or set {name} = 0"
            )
    if wall.heat_transfer == 0:
        flux = wall.heat_flux
        return Mirror(1.0, flux * grid.beside(face) / diffusivity if flux else 0.0)
    conductance, half = diffusivity / grid.beside(face), wall.heat_transfer / 2
    coming = wall.heat_flux + wall.heat_transfer * wall.outside_temperature
    return Mirror((conductance - half) / (conductance + half), coming / (conductance + half))


def _in_order(boundaries: Boundaries, grid: Grid) -> list[tuple[str, Boundary]]:
    """Faces with their boundaries from x_min to z_max. Raises ValueError where they do not fit the grid's ends."""
    ends = {"min": grid.low, "max": grid.high}
    walls = {f"{name}_{end}" for name, axis in AXES.items() for end, flags in ends.items() if flags[axis]}
    if set(boundaries) != walls:
        raise ValueError(f"boundaries are given for {sorted(boundaries)}; the grid has walls at {sorted(walls)}")
    return [(face, boundaries[face]) for face in FACES if face in boundaries]


def beyond(face: str, grid: Grid, *, edges: bool = True) -> Box:
    """The layer of ghost cells beyond a face.

    With `edges` it reaches over the ghosts beyond the walls of earlier axes, so that edges and corners are filled too,
    from values filled before; and over the cells whose low faces lie on the high walls of later axes.
    """
    axis, side = frame(face)
    low = triple(int(edges and a < axis and grid.low[a]) for a in range(3))
    high = triple(int(edges and a != axis and grid.high[a]) for a in range(3))
    return Box.of(grid.cells).layer(axis, side, -1, 0).expand(low, high)
