"""Numbers that say how a flow does, each folded from all cells. NaN anywhere makes a maximum NaN."""

from dataclasses import dataclass

from taskflow.flow.grid import AXES, Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, Reduce, Task, offsets, task


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


def _heat_flux(axis: str) -> Task:
    beside = offsets(**{axis: (-1, 0)})

    def heat_flux(T: Read[beside], q: Read, *, flux: Reduce["sum"], face: Conduction, grid: Grid) -> None:
        """flux = sum over low faces of sign (q (T_low + T_high) / 2 + diffusivity (T_low - T_high) / spacing)"""

    heat_flux.__name__ = f"heat_flux_{axis}"
    return task(kernel=KERNELS / "diagnostics.cu")(heat_flux)


def _eddy_heat_flux(axis: str) -> Task:
    beside = offsets(**{axis: (-1, 0)})

    def heat_flux(
        T: Read[beside], q: Read, nu_t: Read[beside], *, flux: Reduce["sum"], face: Conduction, grid: Grid
    ) -> None:
        """That of `_heat_flux` with diffusivity + nu_t / prandtl in place of diffusivity."""

    heat_flux.__name__ = f"eddy_heat_flux_{axis}"
    return task(kernel=KERNELS / "diagnostics.cu")(heat_flux)


HEAT_FLUX = heat_flux_x, heat_flux_y, heat_flux_z = tuple(_heat_flux(axis) for axis in AXES)
EDDY_HEAT_FLUX = eddy_heat_flux_x, eddy_heat_flux_y, eddy_heat_flux_z = tuple(_eddy_heat_flux(axis) for axis in AXES)


@dataclass(frozen=True)
class Conductivity:
    """A thermal diffusivity, and the turbulent Prandtl number of eddies where there are some."""

    diffusivity: float
    prandtl: float = 1.0

    def between(self, spacing: float, sign: float) -> Conduction:
        """What it makes of cells that are so far from each other."""
        return Conduction(self.diffusivity / spacing, 1 / (self.prandtl * spacing), sign)


def wall_heat_flux(fields: tuple[str, ...], flux: str, face: str, grid: Grid, conductivity: Conductivity) -> Launch:
    """The heat flux through a wall (x_min to z_max), positive into the fluid, summed over its faces into the scalar
    `flux`, each of which counts as its area over the mean one.

    `fields` are the temperature, the velocity normal to the wall and, if there is one, the eddy viscosity. Needs ghost
    values of the first and the last.
    """
    axis, high = AXES[face[0]], face.endswith("max")
    faces = Box.of(grid.cells).layer(axis, int(high), -int(high), 1 - int(high))
    conduction = conductivity.between(grid.beside(face), -1.0 if high else 1.0)
    kinds = EDDY_HEAT_FLUX if len(fields) > 2 else HEAT_FLUX
    return kinds[axis](*fields, over=faces, flux=flux, face=conduction, grid=grid)
