"""Numbers that say how a flow does, each folded from all cells. NaN anywhere makes a maximum NaN."""

from dataclasses import dataclass

from taskflow.flow.grid import Grid, on_face
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Axis, Launch, Read, Reduce, facing, frame, task

BELOW = facing(n=(-1, 0))  # the cells on both sides of a low face


@dataclass(frozen=True)
class Conduction:
    """Heat through faces: `conductance` = diffusivity / spacing, `eddy` = 1 / (prandtl spacing), `sign` = 1 where it
    counts along the axis, -1 against it.
    """

    conductance: float
    eddy: float
    sign: float


@task(kernel=KERNELS / "diagnostics.cu")
def divergence_max(
    u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, divergence: Reduce["max"], grid: Grid
) -> None:
    """divergence = max over cells of |div(u)|"""


@task(kernel=KERNELS / "diagnostics.cu")
def advective_rate(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, rate: Reduce["max"], grid: Grid) -> None:
    """rate = max over cells of |u|/dx + |v|/dy + |w|/dz, with the larger of a cell's two faces: dt = cfl / rate"""


@task(kernel=KERNELS / "diagnostics.cu")
def kinetic_energy(
    u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, energy: Reduce["sum"], grid: Grid
) -> None:
    """energy = sum over cells of |u|^2 / 2, with the mean of the squares on the cell's two faces; each cell counts
    as its volume over the mean one.
    """


@task(kernel=KERNELS / "diagnostics.cu")
def largest_speed(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, speed: Reduce["max"]) -> None:
    """speed = max over cells of |u|, with the mean of the squares on the cell's two faces"""


@task(kernel=KERNELS / "diagnostics.cu")
def velocity_change(u: Read, v: Read, w: Read, u_old: Read, v_old: Read, w_old: Read, *, change: Reduce["max"]) -> None:
    """change = max over faces of |u - u_old|, |v - v_old| and |w - w_old|"""


@task(kernel=KERNELS / "diagnostics.cu")
def total(q: Read, *, total: Reduce["sum"], grid: Grid) -> None:
    """total = sum over cells of q, each of which counts as its volume over the mean one."""


@task(kernel=KERNELS / "diagnostics.cu")
def heat_flux(
    T: Read[BELOW], q: Read, nu_t: Read[BELOW] | None,
    *, along: Axis, flux: Reduce["sum"], face: Conduction, grid: Grid,
) -> None:  # fmt: skip
    """flux = sum over low faces of sign (q (T_low + T_high) / 2 + K (T_low - T_high) / spacing), q being the velocity
    along the axis; each face counts as its area over the mean one. K = diffusivity, and with eddies diffusivity + nu_t
    / prandtl, nu_t being the mean of both cells.
    """


@dataclass(frozen=True)
class Conductivity:
    """A thermal diffusivity, and the turbulent Prandtl number of eddies where there are some."""

    diffusivity: float
    prandtl: float = 1.0

    def between(self, spacing: float, sign: float) -> Conduction:
        """The conduction between cells that are so far from each other."""
        return Conduction(self.diffusivity / spacing, 1 / (self.prandtl * spacing), sign)


def wall_heat_flux(
    T: str, normal: str, nu_t: str | None, flux: str, face: str, grid: Grid, conductivity: Conductivity
) -> Launch:
    """The heat flux through a wall (x_min to z_max), positive into the fluid, summed over its faces into the scalar
    `flux`, each of which counts as its area over the mean one.

    `normal` is the velocity normal to the wall. Needs ghost values of T and, if there is one, of the eddy viscosity.
    """
    _, high = frame(face)
    conduction = conductivity.between(grid.beside(face), -1.0 if high else 1.0)
    over = on_face(face, grid)
    return heat_flux(T, normal, nu_t, over=over, along=face[0], flux=flux, face=conduction, grid=grid)
