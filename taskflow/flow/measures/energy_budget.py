"""Running statistics for the budget of turbulent kinetic energy, in addition to means and covariances.

    flux_j      = <u'_i u'_i u'_j> / 2
    dissipation = viscosity <(du'_i/dx_j)^2>

A sample whose weight is the fraction a of all weights so far updates a third moment of u' = u - mean(u) by

    T_ijk <- (1 - a) (T_ijk - a (u'_i C_jk + u'_j C_ik + u'_k C_ij) + a (1 - 2 a) u'_i u'_j u'_k)

with the previous covariances C (P. Pebay 2008, SAND2008-6212). Gradients are the differences of the friction terms:
normal ones in cells, shear ones on edges, whose squares are averaged over the four edges of a cell.

Unresolved eddies add their stress s_ij = nu_t (du_i/dx_j + du_j/dx_i), as in the equations: normal stresses in cells,
shear stresses as the mean of four edges.

    stress_ij   = <s_ij>
    flux_j      = <u'_i s'_ij>
    dissipation = <s_ij du_i/dx_j>, the total loss to eddies, including the loss of the mean flow
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import (
    ACROSS_X,
    ACROSS_Y,
    ACROSS_Z,
    AROUND,
    FACE_VELOCITY,
    GRADIENT_U,
    GRADIENT_V,
    GRADIENT_VELOCITY,
    GRADIENT_W,
)
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Components, Launch, Read, ReadByte, ReadWrite, Roles, Scalar, task

FLUXES = {
    f"mean_energy_flux_{axis}": f"flux along {axis} of the kinetic energy of fluctuations by them" for axis in "xyz"
}
DISSIPATION = {"mean_dissipation": "dissipation of the kinetic energy of fluctuations"}
DIRECTIONS = ["".join(pair) for pair in combinations_with_replacement("xyz", 2)]
STRESSES = {f"mean_eddy_stress_{pair}": f"stress of eddies, {pair}, over density" for pair in DIRECTIONS}
EDDY_FLUXES = {f"mean_eddy_flux_{axis}": f"covariance of velocity and stress of eddies along {axis}" for axis in "xyz"}
EDDIES = {**STRESSES, **EDDY_FLUXES, "mean_eddy_dissipation": "loss of kinetic energy to eddies"}
FACES: dict[str, Location] = {"mean_face_u": "fx", "mean_face_v": "fy", "mean_face_w": "fz"}


@task(kernel=KERNELS / "energy_budget.cu")
def energy_flux(
    velocity: FACE_VELOCITY, mean: Components(mean_u=Read, mean_v=Read, mean_w=Read),
    covariances: Components(uu=Read, uv=Read, uw=Read, vv=Read, vw=Read, ww=Read),
    flux: Components(flux_x=ReadWrite, flux_y=ReadWrite, flux_z=ReadWrite), *, share: Scalar,
) -> None:  # fmt: skip
    """flux = <u'_i u'_i u'_j> / 2, in cells, with a sample of this share and the previous means and covariances"""


@task(kernel=KERNELS / "dissipation.cu")
def dissipation(
    velocity: GRADIENT_VELOCITY,
    mean: Components(mean_u=Read[GRADIENT_U], mean_v=Read[GRADIENT_V], mean_w=Read[GRADIENT_W]),
    solid: ReadByte[1] | None,
    friction: Components(friction_x=Read[ACROSS_X], friction_y=Read[ACROSS_Y], friction_z=Read[ACROSS_Z]) | None,
    blockage: Components(blockage_x=Read[GRADIENT_U], blockage_y=Read[GRADIENT_V], blockage_z=Read[GRADIENT_W]) | None,
    rate: ReadWrite, *, share: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """rate = viscosity <(du'_i/dx_j)^2>, in cells, with a sample of this share and the previous means on faces.

    Next to bodies, flagged in `solid`, the squared difference between two open faces along another direction is shared
    equally. If the next face is closed, the open face has all of it, and twice as much for stair steps if that face is
    solid, because u = 0 half a cell away. With immersed bodies it also has friction u'^2, and one of the two factors u'
    of a square is the value at the face centre, (1 + blockage) u' (`taskflow.flow.bodies.immersed`), because the energy
    is u (1 + blockage) u / 2. A cell has half of the sum of its two faces. The dissipation summed over all cells thus
    equals the work of friction.
    """


@task(kernel=KERNELS / "energy_budget.cu")
def face_means(
    velocity: Components(u=Read, v=Read, w=Read),
    mean: Components(mean_u=ReadWrite, mean_v=ReadWrite, mean_w=ReadWrite), *, share: Scalar,
) -> None:  # fmt: skip
    """Update means of u, v, w on faces with a sample of this share."""


@task(kernel=KERNELS / "eddy_budget.cu")
def eddy_budget(
    velocity: GRADIENT_VELOCITY, nu_t: Read[AROUND], solid: ReadByte[1] | None,
    mean: Components(mean_u=Read, mean_v=Read, mean_w=Read),
    stress: Components(xx=ReadWrite, xy=ReadWrite, xz=ReadWrite, yy=ReadWrite, yz=ReadWrite, zz=ReadWrite),
    flux: Components(flux_x=ReadWrite, flux_y=ReadWrite, flux_z=ReadWrite),
    rate: ReadWrite, *, share: Scalar, grid: Grid,
) -> None:  # fmt: skip
    """Update stress, flux and dissipation in cells with a sample of this share and the previous mean velocities.

    nu_t = 0 on edges that touch a body, by the flags in `solid`.
    """


@dataclass(frozen=True, eq=False)
class EnergyBudget:
    """Running statistics of a flow with its boundaries and obstacles."""

    flow: FlowModel

    @property
    def written(self) -> dict[str, str]:
        """Roles of the recorded fields, with their descriptions."""
        return FLUXES | DISSIPATION | (EDDIES if self.flow.turbulence else {})

    @property
    def fields(self) -> dict[str, Location]:
        """All fields by role, with their location."""
        return {**dict.fromkeys(self.written, "c"), **FACES}

    @property
    def _cells(self) -> Box:
        return self.flow.staggered.box

    @property
    def _faces(self) -> Box:
        """Cells, and the ghost cells at walls that gradients read."""
        return self._cells.expand(triple(map(int, self.flow.grid.low)), triple(map(int, self.flow.grid.high)))

    def begin(self, f: Roles) -> Iterator[Launch]:
        for name in self.written:
            yield impose(f[name], over=self._cells, value=Value(0.0))
        for name in FACES:
            yield impose(f[name], over=self._faces, value=Value(0.0))

    def sample(self, f: Roles, share: str, covariances: list[str]) -> Iterator[Launch]:
        """Add the current state as a sample, before means and covariances (uu, uv, uw, vv, vw, ww) are updated."""
        flow, velocity, means = self.flow, (f.u, f.v, f.w), (f.mean_u, f.mean_v, f.mean_w)
        moments, fluxes = (tuple(f[name] for name in names) for names in (covariances, FLUXES))
        yield energy_flux(velocity, means, moments, fluxes, over=self._cells, share=share)
        faces = tuple(f[name] for name in FACES)
        surfaces = flow.obstacles.surfaces(f) if flow.obstacles else (None, None, None)
        yield dissipation(
            velocity, faces, *surfaces, f.mean_dissipation,
            over=self._cells, share=share, grid=flow.grid, viscosity=flow.fluid.viscosity,
        )  # fmt: skip
        yield face_means(velocity, faces, over=self._faces, share=share)
        if flow.turbulence:
            stress, flux = (tuple(f[name] for name in names) for names in (STRESSES, EDDY_FLUXES))
            yield eddy_budget(
                velocity, f.nu_t, f.solid if flow.obstacles else None, means, stress, flux, f.mean_eddy_dissipation,
                over=self._cells, share=share, grid=flow.grid,
            )  # fmt: skip
