"""What the budget of the kinetic energy of fluctuations needs besides means and covariances, as running statistics.

    flux_j      = <u'_i u'_i u'_j> / 2
    dissipation = viscosity <(du'_i/dx_j)^2>

A sample of weight a, as a share of the weight of all so far, turns a third moment of u' = u - mean(u) into

    T_ijk <- (1 - a) (T_ijk - a (u'_i C_jk + u'_j C_ik + u'_k C_ij) + a (1 - 2 a) u'_i u'_j u'_k)

C being the covariances of before (P. Pebay 2008, SAND2008-6212). The gradients are the differences with which the
equations find friction: along itself in cells, otherwise on edges, of whose squares a cell has the mean of four.
Beside bodies: `taskflow.flow.obstacles.energy_budget`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow import eddy_budget
from taskflow.flow.boundaries.boundary import Boundaries, Value, impose
from taskflow.flow.boundaries.inflow import inflow_edges
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.obstacles import Obstacles
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, GRADIENT_U, GRADIENT_V, GRADIENT_W
from taskflow.regions import Box, Location, triple
from taskflow.tasks import Launch, Read, ReadWrite, Roles, Scalar, task

TEXT = KERNELS / "energy_budget.cu"
FLUXES = {
    f"mean_energy_flux_{axis}": f"flux along {axis} of the kinetic energy of fluctuations by them" for axis in "xyz"
}
DISSIPATION = {"mean_dissipation": "dissipation of the kinetic energy of fluctuations"}
FACES: dict[str, Location] = {"mean_face_u": "fx", "mean_face_v": "fy", "mean_face_w": "fz"}


@task(kernel=TEXT)
def energy_flux(
    u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], mean_u: Read, mean_v: Read, mean_w: Read,
    uu: Read, uv: Read, uw: Read, vv: Read, vw: Read, ww: Read,
    flux_x: ReadWrite, flux_y: ReadWrite, flux_z: ReadWrite, *, share: Scalar,
) -> None:  # fmt: skip
    """flux = <u'_i u'_i u'_j> / 2 with a sample of this share; means and covariances are those of before."""


@task(kernel=TEXT)
def dissipation(
    u: Read[GRADIENT_U], v: Read[GRADIENT_V], w: Read[GRADIENT_W],
    mean_u: Read[GRADIENT_U], mean_v: Read[GRADIENT_V], mean_w: Read[GRADIENT_W],
    rate: ReadWrite, *, share: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """rate = viscosity <(du'_i/dx_j)^2> with a sample of this share; the means, on faces, are those of before."""


@task(kernel=TEXT)
def face_means(
    u: Read, v: Read, w: Read, mean_u: ReadWrite, mean_v: ReadWrite, mean_w: ReadWrite, *, share: Scalar
) -> None:
    """Means of u, v, w on faces with a sample of this share."""


@dataclass(frozen=True, eq=False)
class EnergyBudget:
    """The running statistics of a fluid of this viscosity on the cells of a grid, between boundaries, beside obstacles.
    `eddies`: whether there are some that are not resolved.
    """

    grid: Grid
    boundaries: Boundaries
    viscosity: float
    eddies: bool = False
    obstacles: Obstacles | None = None

    @property
    def written(self) -> dict[str, str]:
        """The role of each field that is of interest, and what it is in words."""
        return FLUXES | DISSIPATION | (eddy_budget.WRITTEN if self.eddies else {})

    @property
    def fields(self) -> dict[str, Location]:
        """Every field by role, with its location."""
        return {**dict.fromkeys(self.written, "c"), **FACES}

    @property
    def _cells(self) -> Box:
        return Box.of(self.grid.cells)

    @property
    def _faces(self) -> Box:
        """With what gradients at walls read beyond them."""
        return self._cells.expand(triple(map(int, self.grid.low)), triple(map(int, self.grid.high)))

    def begin(self, f: Roles) -> Iterator[Launch]:
        """No sample yet."""
        for name in FLUXES | DISSIPATION:
            yield impose(f[name], over=self._cells, value=Value(0.0))
        if self.eddies:
            yield from eddy_budget.begin(f, self.grid)
        for name in FACES:
            yield impose(f[name], over=self._faces, value=Value(0.0))

    def sample(self, f: Roles, share: str, covariances: list[str]) -> Iterator[Launch]:
        """The present state as one more sample, before means and covariances (uu, uv, uw, vv, vw, ww) have it."""
        velocity, means = (f.u, f.v, f.w), (f.mean_u, f.mean_v, f.mean_w)
        yield from inflow_edges(velocity, self.boundaries, self.grid)
        moments = [f[name] for name in covariances]
        yield energy_flux(*velocity, *means, *moments, *(f[name] for name in FLUXES), over=self._cells, share=share)
        faces, numbers = tuple(f[name] for name in FACES), {"grid": self.grid, "viscosity": self.viscosity}
        find, bodies = self.obstacles.dissipation(f) if self.obstacles else (dissipation, ())
        yield find(*velocity, *faces, *bodies, f.mean_dissipation, over=self._cells, share=share, **numbers)
        yield face_means(*velocity, *faces, over=self._faces, share=share)
        if self.eddies:
            yield from eddy_budget.sample(f, self.grid, share, f.solid if self.obstacles else None)
