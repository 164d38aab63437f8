"""Rough walls: terrain and cities of unresolved roughness, by the logarithmic law of the wall.

    |u| = (u_tau / kappa) log((y + z_0) / z_0)

holds from the wall to the centre of the first cell, y = spacing / 2, u being the tangential velocity there, relative to
the wall. The wall takes momentum u_tau^2 u / |u| per area, with the instantaneous speed (P. J. Mason, D. J. Thomson
1987, Q. J. R. Meteorol. Soc. 113, 413; after U. Schumann 1975, J. Comput. Phys. 18, 376). The difference between wall
and first cell gives this flux with the eddy viscosity on the wall

    nu_t = (kappa / log((y + z_0) / z_0))^2 |u| y - viscosity,    or 0 if that is negative,

which the ghost cells of nu_t impose. Momentum needs nothing further. nu_t / prandtl conducts heat from the wall, the
same law for the temperature.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Boundaries, Velocity
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Components, Face, Launch, Read, ReadWrite, facing, task

KARMAN = 0.41


@dataclass(frozen=True)
class LogLaw:
    """nu_t = factor |u| - viscosity, u relative to a wall with the velocity (`first`, `second`) in its plane."""

    factor: float
    viscosity: float
    first: float
    second: float


@dataclass(frozen=True)
class WallFlux:
    """A diffusive flux through a wall of a quantity with this `diffusivity`: `supply` = spacing times the part
    independent of the value there, `loss` = spacing times the transfer coefficient / 2.
    """

    supply: float
    loss: float
    diffusivity: float
    half_inverse_prandtl: float


@task(kernel=KERNELS / "boundaries" / "rough_wall.cu")
def apply_log_law(
    velocity: Components(r=Read[facing(n=(1, 1), r=(0, 1))], s=Read[facing(n=(1, 1), s=(0, 1))]),
    nu_t: ReadWrite[INSIDE], *, on: Face, law: LogLaw,
) -> None:  # fmt: skip
    """nu_t[ghost] = 2 max(factor |u| - viscosity, 0) - nu_t[inside], u = (r, s) in the centre of the cell inside."""


@task(kernel=KERNELS / "boundaries" / "rough_wall.cu")
def apply_wall_flux(T: ReadWrite[INSIDE], nu_t: Read[facing(n=(0, 1))], *, on: Face, wall: WallFlux) -> None:
    """T[ghost] = ((K - loss) T[inside] + supply) / (K + loss), K = diffusivity + nu_t / prandtl on the wall."""


def log_law_ghosts(
    velocity: Velocity, nu_t: str, speed: Vector, roughness: float, side: BoxSide, viscosity: float
) -> Iterator[Launch]:
    """Fill ghost eddy viscosities of a rough wall that moves at the velocity `speed`."""
    first, second = side.along
    y = side.spacing / 2
    factor = (KARMAN / math.log1p(y / roughness)) ** 2 * y
    law = LogLaw(factor, viscosity, speed[first], speed[second])
    along = velocity[first], velocity[second]
    yield apply_log_law(along, nu_t, over=side.layer, on=side.face, law=law)


@dataclass(frozen=True)
class Supply:
    """A kinematic flux through a face: `coming` (quantity times velocity) - `transfer` (velocity) times the value."""

    coming: float
    transfer: float = 0.0


def heat_supplies(boundaries: Boundaries, grid: Grid) -> list[tuple[BoxSide, Supply]]:
    """Return the non-zero heat fluxes through rough walls without prescribed temperature, with their sides."""
    supplies = [
        (side, Supply(wall.heat_flux + wall.heat_transfer * wall.outside_temperature, wall.heat_transfer))
        for side, wall in parts(boundaries, grid)
        if wall.roughness > 0 and wall.temperature is None
    ]
    return [(side, supply) for side, supply in supplies if supply != Supply(0.0)]


def supply_ghosts(
    field: str, nu_t: str, supplies: Iterable[tuple[BoxSide, Supply]], diffusivity: float, prandtl: float
) -> Iterator[Launch]:
    """Fill ghost values of a temperature or a scalar at sides with these fluxes, one launch each."""
    for side, supply in supplies:
        spacing = side.spacing
        wall = WallFlux(spacing * supply.coming, spacing * supply.transfer / 2, diffusivity, 0.5 / prandtl)
        yield apply_wall_flux(field, nu_t, over=side.layer, on=side.face, wall=wall)
