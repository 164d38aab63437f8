"""Largest values and sums of a flow. NaN anywhere makes a maximum NaN."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Axis, Read, Reduce, facing, task

TEXT = KERNELS / "monitor.cu"
BELOW = facing(n=(-1, 0))  # the cells on both sides of a low face


@dataclass(frozen=True)
class Conduction:
    """Heat through faces: `conductance` = diffusivity / spacing, `eddy` = 1 / (prandtl spacing), `sign` of the axis."""

    conductance: float
    eddy: float
    sign: float


@task(kernel=TEXT)
def divergence_max(
    u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, divergence: Reduce[max], grid: Grid
) -> None:
    """divergence = max over cells of |div(u)|"""


@task(kernel=TEXT)
def kinetic_energy(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, energy: Reduce[sum], grid: Grid) -> None:
    """energy = sum over cells of |u|^2 / 2, weighted by volume over mean volume, |u|^2 from squares on both faces"""


@task(kernel=TEXT)
def largest_speed(u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], *, speed: Reduce[max]) -> None:
    """speed = max over cells of |u|, with the mean of squares on both faces"""


@task(kernel=TEXT)
def velocity_change(u: Read, v: Read, w: Read, u_old: Read, v_old: Read, w_old: Read, *, change: Reduce[max]) -> None:
    """change = max over faces of |u - u_old|, |v - v_old| and |w - w_old|"""


@task(kernel=TEXT)
def total(q: Read, *, total: Reduce[sum], grid: Grid) -> None:
    """total = sum of q over cells, weighted by volume over mean volume"""


@task(kernel=TEXT)
def heat_flux(
    T: Read[BELOW], q: Read, nu_t: Read[BELOW] | None,
    *, along: Axis, flux: Reduce[sum], face: Conduction, grid: Grid,
) -> None:  # fmt: skip
    """flux = sum over low faces of sign (q (T_low + T_high) / 2 + K (T_low - T_high) / spacing), q the velocity along
    the axis.

    Faces are weighted by area over mean area. K = diffusivity or, with eddies, diffusivity + nu_t / prandtl, with nu_t
    the mean of both cells.
    """
