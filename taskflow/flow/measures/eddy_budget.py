"""What the budget of turbulent kinetic energy needs of eddies that are not resolved, as running statistics.

Their stress is s_ij = nu_t (du_i/dx_j + du_j/dx_i), as the equations have it: along one direction in cells, otherwise
on edges, of whose four a cell has the mean.

    stress_ij   = <s_ij>
    flux_j      = <u'_i s'_ij>
    dissipation = <s_ij du_i/dx_j>, all that the flow loses to eddies, its mean included
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import AROUND, GRADIENT_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Components, Launch, Read, ReadByte, ReadWrite, Roles, Scalar, task

PAIRS = ["".join(pair) for pair in combinations_with_replacement("xyz", 2)]
STRESSES = {f"mean_eddy_stress_{pair}": f"stress of eddies, {pair}, over density" for pair in PAIRS}
FLUXES = {f"mean_eddy_flux_{axis}": f"covariance of velocity and stress of eddies along {axis}" for axis in "xyz"}
WRITTEN = {**STRESSES, **FLUXES, "mean_eddy_dissipation": "loss of kinetic energy to eddies"}


@task(kernel=KERNELS / "eddy_budget.cu")
def eddy_budget(
    velocity: GRADIENT_VELOCITY, nu_t: Read[AROUND], solid: ReadByte[1] | None,
    mean: Components(mean_u=Read, mean_v=Read, mean_w=Read),
    stress: Components(xx=ReadWrite, xy=ReadWrite, xz=ReadWrite, yy=ReadWrite, yz=ReadWrite, zz=ReadWrite),
    flux: Components(flux_x=ReadWrite, flux_y=ReadWrite, flux_z=ReadWrite),
    rate: ReadWrite, *, share: Scalar, grid: Grid,
) -> None:  # fmt: skip
    """Stress, flux and dissipation, in cells, with a sample of this share; means of velocities are those of before.

    On edges that touch a body, by the flags in `solid`, nu_t is 0.
    """


def begin(f: Roles, grid: Grid) -> Iterator[Launch]:
    """No sample yet."""
    for name in WRITTEN:
        yield impose(f[name], over=Box.of(grid.cells), value=Value(0.0))


def sample(f: Roles, grid: Grid, share: str, solid: str | None = None) -> Iterator[Launch]:
    """The present state as one more sample, before means of velocities have it. `solid` is the field of the flags of
    bodies.
    """
    stress, flux = (tuple(f[name] for name in names) for names in (STRESSES, FLUXES))
    yield eddy_budget(
        (f.u, f.v, f.w), f.nu_t, solid, (f.mean_u, f.mean_v, f.mean_w), stress, flux, f.mean_eddy_dissipation,
        over=Box.of(grid.cells), share=share, grid=grid,
    )  # fmt: skip
