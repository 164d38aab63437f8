"""Rough walls: terrain and cities whose roughness the grid does not resolve, by the logarithmic law of the wall.

    |u| = (u_tau / kappa) log((y + z_0) / z_0)

holds from the wall to the middle of the first cell, y = spacing / 2, u being the velocity there along the wall and
relative to it. The wall takes momentum u_tau^2 u / |u| per area, with the speed at each moment (P. J. Mason, D. J.
Thomson 1987, Q. J. R. Meteorol. Soc. 113, 413; after U. Schumann 1975, J. Comput. Phys. 18, 376). The difference
between the wall and the first cell gives that with an eddy viscosity on the wall of

    nu_t = (kappa / log((y + z_0) / z_0))^2 |u| y - viscosity,    or 0 where that is negative,

which the ghost cells of nu_t are made for. Momentum then needs nothing else; nu_t / prandtl conducts heat from the
wall, which is the same law for the temperature.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import INSIDE, Boundaries, Wall, beyond, place
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.tasks import Launch, Read, ReadWrite, Stencil, Task, offsets, task

KARMAN = 0.41


@dataclass(frozen=True)
class LogLaw:
    """nu_t on the wall = factor |u| - viscosity; `first` and `second` are the velocities of the wall along itself."""

    factor: float
    viscosity: float
    first: float
    second: float


@dataclass(frozen=True)
class Warmth:
    """What diffuses through a wall: `supply` = spacing times what comes, `loss` = spacing times the transfer
    coefficient / 2; `half` = 1 / (2 prandtl).
    """

    supply: float
    loss: float
    diffusivity: float
    half: float


def _along(face: str, axis: str) -> Stencil:
    """From a ghost cell: both faces across the axis of the cell inside."""
    step = 1 if face.endswith("min") else -1
    return offsets(**{face[0]: (step, step), axis: (0, 1)})


def _drag(face: str) -> Task:
    first, second = (axis for axis in "xyz" if axis != face[0])

    def drag(
        r: Read[_along(face, first)], s: Read[_along(face, second)], nu_t: ReadWrite[INSIDE[face]], *, law: LogLaw
    ) -> None:
        """nu_t[ghost] = 2 max(factor |u| - viscosity, 0) - nu_t[inside]"""

    drag.__name__ = f"drag_{face}"
    return task(kernel=KERNELS / "boundaries" / "rough_wall.cu")(drag)


def _warm(face: str) -> Task:
    def warm(T: ReadWrite[INSIDE[face]], nu_t: Read[offsets() | INSIDE[face]], *, warmth: Warmth) -> None:
        """T[ghost] = ((K - loss) T[inside] + supply) / (K + loss), K = diffusivity + nu_t / prandtl on the wall"""

    warm.__name__ = f"warm_{face}"
    return task(kernel=KERNELS / "boundaries" / "rough_wall.cu")(warm)


DRAG = {face: _drag(face) for face in INSIDE}
WARM = {face: _warm(face) for face in INSIDE}
drag_x_min, drag_x_max, drag_y_min, drag_y_max, drag_z_min, drag_z_max = DRAG.values()
warm_x_min, warm_x_max, warm_y_min, warm_y_max, warm_z_min, warm_z_max = WARM.values()


def rough(boundaries: Boundaries) -> dict[str, Wall]:
    """The rough walls by face."""
    walls = {face: side for face, side in boundaries.items() if isinstance(side, Wall) and side.roughness > 0}
    return {face: walls[face] for face in INSIDE if face in walls}


def drag_ghosts(
    velocity: tuple[str, str, str], nu_t: str, boundaries: Boundaries, grid: Grid, viscosity: float
) -> Iterator[Launch]:
    """Eddy viscosities beyond rough walls; one launch for each."""
    for face, wall in rough(boundaries).items():
        axis, _ = place(face)
        first, second = (a for a in range(3) if a != axis)
        y = grid.beside(face) / 2
        factor = (KARMAN / math.log1p(y / wall.roughness)) ** 2 * y
        law = LogLaw(factor, viscosity, wall.velocity[first], wall.velocity[second])
        yield DRAG[face](velocity[first], velocity[second], nu_t, over=beyond(face, grid, edges=False), law=law)


@dataclass(frozen=True)
class Supply:
    """What comes through a face: `coming` - `transfer` times what is there, per area and time."""

    coming: float
    transfer: float = 0.0


def heat_supplies(boundaries: Boundaries) -> dict[str, Supply]:
    """Of rough walls that have no temperature of their own, but let heat through."""
    walls = {face: wall for face, wall in rough(boundaries).items() if wall.temperature is None}
    found = {
        face: Supply(wall.heat_flux + wall.heat_transfer * wall.outside_temperature, wall.heat_transfer)
        for face, wall in walls.items()
    }
    return {face: supply for face, supply in found.items() if supply != Supply(0.0)}


def supply_ghosts(
    field: str, nu_t: str, supplies: Mapping[str, Supply], grid: Grid, diffusivity: float, prandtl: float
) -> Iterator[Launch]:
    """Values of a temperature or a scalar beyond faces through which so much comes; one launch for each."""
    for face, supply in supplies.items():
        spacing = grid.beside(face)
        warmth = Warmth(spacing * supply.coming, spacing * supply.transfer / 2, diffusivity, 0.5 / prandtl)
        yield WARM[face](field, nu_t, over=beyond(face, grid, edges=False), warmth=warmth)
