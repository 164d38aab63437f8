"""Large-eddy simulation: subgrid-scale eddy viscosities.

nu_t in a cell is computed from the velocity gradient in its centre at the end of every stage. It is 0 on a smooth wall,
and has no gradient across slip boundaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.closures.closure import Closure
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.grid.stencils import GRADIENT_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import FACES, Launch, ReadByte, Reduce, Roles, Write, task

PRANDTL = 0.85  # turbulent, of boundary layers (W. M. Kays 1994, J. Heat Transfer 116, 284)
FAR = 1e6  # times the size of the domain: where walls are that do not damp
REST: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SmoothWalls:
    """Walls with van Driest damping: distances of first cells from them, their velocities, the inverse viscosity."""

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
def eddies(
    velocity: GRADIENT_VELOCITY, solid: ReadByte | None, nu_t: Write,
    *, rate: Reduce[max], eddy: Reduce[max], grid: Grid, closure: Closure,
    width_square: float | None, walls: SmoothWalls | None,
) -> None:  # fmt: skip
    """Eddy viscosity nu_t of a closure in cells; eddy = max of nu_t, rate as in `advective_rate`.

    `width_square` is the square of the filter width if all cells are equal, else 1, and None for closures without a
    filter. Smooth `walls` shorten the filter width by 1 - exp(-y+ / 26). In bodies, flagged in `solid`, nu_t is 0. A
    neighbour in a body gets minus the velocity of the cell, so that the velocity on the face between them is 0. Bodies
    do not damp.
    """


@dataclass(frozen=True)
class _MixingLength(Closure):
    """A closure with the square of its constant, rounded once for kernels of either precision."""

    square: float = field(init=False, repr=False, default=0.0)

    dimensionless: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "square", self.constant**2)


@dataclass(frozen=True)
class Smagorinsky(_MixingLength):
    """nu_t = (C D Delta)^2 |S|, |S| = (2 S_ij S_ij)^(1/2) (J. Smagorinsky 1963, Mon. Weather Rev. 91, 99), Delta being
    the cube root of the cell volume. The default C is for isotropic turbulence (D. K. Lilly 1967, Proc. IBM Sci.
    Comput. Symp. Environ. Sci., 195). 0.1 suits shear flows (J. W. Deardorff 1970, J. Fluid Mech. 41, 453).

    With damping D = 1 - exp(-y+ / 26) near smooth walls (E. R. van Driest 1956, J. Aeronaut. Sci. 23, 1007). The
    friction velocity in y+ = y u_tau / viscosity follows from the speed in the cell itself, relative to the nearest
    smooth wall, by the law u+ = y+ or, further out, u+ = 8.3 y+^(1/7) (H. Werner, H. Wengle 1991, 8th Symp. Turbulent
    Shear Flows). D = 1 without smooth walls, and without a viscosity.
    """

    constant: float = 0.17

    title: ClassVar[str] = "Smagorinsky"
    functions: ClassVar[Path] = KERNELS / "closures" / "smagorinsky.h"
    damps: ClassVar[bool] = True


@dataclass(frozen=True)
class Wale(_MixingLength):
    """nu_t = (C Delta)^2 (Sd_ij Sd_ij)^(3/2) / ((S_ij S_ij)^(5/2) + (Sd_ij Sd_ij)^(5/4)), Sd being the traceless
    symmetric part of the square of the gradient, Delta the cube root of a cell's volume (F. Nicoud, F. Ducros 1999,
    Flow Turbul. Combust. 62, 183). 0 in pure shear; falls as y^3 to a wall.
    """

    constant: float = 0.5

    title: ClassVar[str] = "WALE"
    functions: ClassVar[Path] = KERNELS / "closures" / "wale.h"


@dataclass(frozen=True)
class Vreman(Closure):
    """nu_t = C (B_beta / (alpha_ij alpha_ij))^(1/2), alpha_ij = du_j / dx_i, beta_ij = Delta_m^2 alpha_mi alpha_mj,
    B_beta = beta_11 beta_22 - beta_12^2 + beta_11 beta_33 - beta_13^2 + beta_22 beta_33 - beta_23^2, Delta_m being the
    spacings (A. W. Vreman 2004, Phys. Fluids 16, 3670). 0 in pure shear; C is 2.5 times the square of Smagorinsky's.
    """

    constant: float = 0.07

    title: ClassVar[str] = "Vreman"
    functions: ClassVar[Path] = KERNELS / "closures" / "vreman.h"
    filtered: ClassVar[bool] = False
    dimensionless: ClassVar[bool] = True


@dataclass(frozen=True)
class Turbulence:
    """An eddy viscosity, and with heat an eddy diffusivity nu_t / prandtl.

    `damped`: smooth walls of boxes damp the filter width. None: as the closure requires.
    """

    model: Closure
    prandtl: float = PRANDTL
    damped: bool | None = None


def eddy_viscosity(
    f: Roles, velocity: tuple[str, str, str], solid: str | None, turbulence: Turbulence, boundaries: Boundaries,
    grid: Grid, viscosity: float,
) -> Iterator[Launch]:  # fmt: skip
    """Compute nu_t with its ghost values, and the scalars rate and eddy: maxima of the advective rate and of nu_t.

    The velocity needs its ghost values. `solid` is the field of body flags, or None.
    """
    closure, nu_t, numbers = turbulence.model, f.nu_t, f.scalars("rate", "eddy")
    damped = closure.damps if turbulence.damped is None else turbulence.damped
    width_square = grid.filter_width**2 if closure.filtered else None
    walls = _smooth_walls(boundaries, grid, viscosity) if damped else None
    how = {"closure": closure, "grid": grid, "width_square": width_square, "walls": walls}
    yield eddies(velocity, solid, nu_t, over=Box.of(grid.cells), **numbers, **how)
    for side, condition in sorted(parts(boundaries, grid), key=lambda part: part[1].roughness > 0):
        if not side.in_body:  # nothing is stored in bodies
            yield from condition.eddy_ghosts(velocity, nu_t, side, viscosity)


def _smooth_walls(boundaries: Boundaries, grid: Grid, viscosity: float) -> SmoothWalls | None:
    """Return the walls that damp, or None without viscosity or smooth walls."""
    smooth = {face: side for face, side in boundaries.items() if side.eddies < 0 and not side.roughness}
    if not smooth or viscosity <= 0:
        return None
    far = FAR * sum(grid.length(axis) for axis in range(3))
    ends = {axis: grid.ends(number) for number, axis in enumerate("xyz")}
    low = triple(first if f"{axis}_min" in smooth else far for axis, (first, _) in ends.items())
    high = triple(last if f"{axis}_max" in smooth else far for axis, (_, last) in ends.items())
    speeds = {face: smooth[face].velocity if face in smooth else REST for face in FACES}
    return SmoothWalls(1 / viscosity, low, high, **speeds)
