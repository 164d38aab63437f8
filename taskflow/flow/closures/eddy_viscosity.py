"""Large-eddy simulation: eddy viscosities for what the grid does not resolve.

nu_t in a cell follows from the velocity gradient in its centre, anew at the end of every stage. It is 0 on a
smooth wall, and has no gradient across slip boundaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from taskflow.flow.boundaries.condition import Boundaries, BoxSide
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.stencils import GRADIENT_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import FACES, Launch, ReadByte, Reduce, Roles, Task, Write, task

PRANDTL = 0.85  # turbulent, of boundary layers (W. M. Kays 1994, J. Heat Transfer 116, 284)
FAR = 1e6  # times the size of the domain: where walls are that do not damp
REST: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SmoothWalls:
    """The walls that damp, after van Driest: the distances of the first cells along x, y and z from walls at the low
    ends and at the high ends, and the velocities of these walls; one over the viscosity.
    """

    inverse_viscosity: float
    low: Vector
    high: Vector
    x_min: Vector
    x_max: Vector
    y_min: Vector
    y_max: Vector
    z_min: Vector
    z_max: Vector


@task(kernel=KERNELS / "turbulence.cu")
def smagorinsky(
    velocity: GRADIENT_VELOCITY, solid: ReadByte | None, nu_t: Write,
    *, rate: Reduce[max], eddy: Reduce[max], grid: Grid, mixing: float, walls: SmoothWalls | None,
) -> None:  # fmt: skip
    """nu_t = mixing D^2 (2 S_ij S_ij)^(1/2), in cells; eddy = max of nu_t, rate as that of `advective_rate`.

    `mixing` is the square of the mixing length, D = 1 - exp(-y+ / 26) beside smooth `walls`, and 1 without. In bodies,
    by the flags in `solid`, nu_t is 0. Neighbours in one have minus the velocity of the cell, so that it is 0 on the
    face between them; bodies do not damp.
    """


@task(kernel=KERNELS / "turbulence.cu")
def wale(
    velocity: GRADIENT_VELOCITY, solid: ReadByte | None, nu_t: Write,
    *, rate: Reduce[max], eddy: Reduce[max], grid: Grid, mixing: float,
) -> None:  # fmt: skip
    """nu_t = mixing (Sd_ij Sd_ij)^(3/2) / ((S_ij S_ij)^(5/2) + (Sd_ij Sd_ij)^(5/4)), in cells; the rest as that of
    `smagorinsky`.
    """


@task(kernel=KERNELS / "turbulence.cu")
def vreman(
    velocity: GRADIENT_VELOCITY, solid: ReadByte | None, nu_t: Write,
    *, rate: Reduce[max], eddy: Reduce[max], grid: Grid, constant: float,
) -> None:  # fmt: skip
    """nu_t = constant (B_beta / (alpha_ij alpha_ij))^(1/2), in cells; the rest as that of `smagorinsky`."""


@dataclass(frozen=True)
class Smagorinsky:
    """nu_t = (C D Delta)^2 |S|, |S| = (2 S_ij S_ij)^(1/2) (J. Smagorinsky 1963, Mon. Weather Rev. 91, 99), Delta being
    the cube root of a cell's volume. C is that of isotropic turbulence (D. K. Lilly 1967, Proc. IBM Sci. Comput. Symp.
    Environ. Sci., 195); 0.1 suits shear flows (J. W. Deardorff 1970, J. Fluid Mech. 41, 453).

    `damped`: D = 1 - exp(-y+ / 26) beside smooth walls (E. R. van Driest 1956, J. Aeronaut. Sci. 23, 1007). The
    friction velocity in y+ = y u_tau / viscosity follows from the speed in the cell itself, relative to the nearest
    smooth wall, by the law u+ = y+ or, further out, u+ = 8.3 y+^(1/7) (H. Werner, H. Wengle 1991, 8th Symp. Turbulent
    Shear Flows). D = 1 without smooth walls, and without a viscosity.
    """

    constant: float = 0.17
    damped: bool = True

    def task(self, grid: Grid, walls: SmoothWalls | None) -> tuple[Task, dict[str, Any]]:
        """The task that evaluates nu_t, and its constants."""
        mixing = (self.constant * grid.filter_width) ** 2
        return smagorinsky, {"mixing": mixing, "walls": walls if self.damped else None}


@dataclass(frozen=True)
class Wale:
    """nu_t = (C Delta)^2 (Sd_ij Sd_ij)^(3/2) / ((S_ij S_ij)^(5/2) + (Sd_ij Sd_ij)^(5/4)), Sd being the traceless
    symmetric part of the square of the gradient, Delta the cube root of a cell's volume (F. Nicoud, F. Ducros 1999,
    Flow Turbul. Combust. 62, 183). 0 in pure shear; falls as y^3 to a wall.
    """

    constant: float = 0.5

    def task(self, grid: Grid, walls: SmoothWalls | None) -> tuple[Task, dict[str, Any]]:
        """The task that evaluates nu_t, and its constants."""
        return wale, {"mixing": (self.constant * grid.filter_width) ** 2}


@dataclass(frozen=True)
class Vreman:
    """nu_t = C (B_beta / (alpha_ij alpha_ij))^(1/2), alpha_ij = du_j / dx_i, beta_ij = Delta_m^2 alpha_mi alpha_mj,
    B_beta = beta_11 beta_22 - beta_12^2 + beta_11 beta_33 - beta_13^2 + beta_22 beta_33 - beta_23^2, Delta_m being the
    spacings (A. W. Vreman 2004, Phys. Fluids 16, 3670). 0 in pure shear; C is 2.5 times the square of Smagorinsky's.
    """

    constant: float = 0.07

    def task(self, grid: Grid, walls: SmoothWalls | None) -> tuple[Task, dict[str, Any]]:
        """The task that evaluates nu_t, and its constants."""
        return vreman, {"constant": self.constant}


@dataclass(frozen=True)
class Turbulence:
    """An eddy viscosity, and with heat an eddy diffusivity nu_t / prandtl."""

    model: Smagorinsky | Wale | Vreman
    prandtl: float = PRANDTL


def eddy_viscosity(
    f: Roles, velocity: tuple[str, str, str], solid: str | None, turbulence: Turbulence, boundaries: Boundaries,
    grid: Grid, viscosity: float,
) -> Iterator[Launch]:  # fmt: skip
    """nu_t with its ghost values, from a velocity with its own, and the scalars rate and eddy: maxima of the advective
    rate and of nu_t. `solid` is the field of the flags of bodies, None without these.
    """
    model, constants = turbulence.model.task(grid, _smooth_walls(boundaries, grid, viscosity))
    nu_t, numbers = f.nu_t, f.scalars("rate", "eddy")
    yield model(velocity, solid, nu_t, over=Box.of(grid.cells), grid=grid, **numbers, **constants)
    faces = [face for face in FACES if face in boundaries]
    for face in sorted(faces, key=lambda face: boundaries[face].roughness > 0):
        yield from boundaries[face].eddy_ghosts(velocity, nu_t, BoxSide(face, grid), viscosity)


def _smooth_walls(boundaries: Boundaries, grid: Grid, viscosity: float) -> SmoothWalls | None:
    """The walls that damp: none without a viscosity, or where all are rough."""
    smooth = {face: side for face, side in boundaries.items() if side.eddies < 0 and not side.roughness}
    if not smooth or viscosity <= 0:
        return None
    far = FAR * sum(grid.length(axis) for axis in range(3))
    ends = {axis: grid.ends(number) for number, axis in enumerate("xyz")}
    low = triple(first if f"{axis}_min" in smooth else far for axis, (first, _) in ends.items())
    high = triple(last if f"{axis}_max" in smooth else far for axis, (_, last) in ends.items())
    speeds = {face: smooth[face].velocity if face in smooth else REST for face in FACES}
    return SmoothWalls(1 / viscosity, low, high, **speeds)
