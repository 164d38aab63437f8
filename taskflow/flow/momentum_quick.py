"""Momentum that is carried by QUICK: `taskflow.flow.momentum` with values that are biased upwind, for coarse grids.

Between two neighbours along any direction, D the one that the flow goes to, U the one that it comes from and UU the one
before, q = (U + D) / 2 - (UU - 2 U + D) / 8 (B. P. Leonard 1979, Comput. Methods Appl. Mech. Eng. 19, 59), the value of
a parabola, of third order; its flux is one for both sides, so momentum is conserved. What carries it is the mean that
the central scheme has, so that divergence and convection are of second order. Against this scheme it adds a dissipation
|U| h^3 / 16 times the fourth derivative. The mean (U + D) / 2 is taken on boundaries, and for the velocity across a
boundary in the cell beside it where fluid comes from there: UU would lie beyond.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.momentum import Buoyancy, Fluid
from taskflow.flow.stencils import AROUND_EDGES, BESIDE, WIDE_U, WIDE_V, WIDE_W
from taskflow.tasks import Read, ReadWrite, Scalar, Write, task

GHOST = 2
"""Layers of ghost cells that are read."""


@task(kernel=KERNELS / "momentum_quick.cu")
def momentum_quick(
    u: Read[WIDE_U], v: Read[WIDE_V], w: Read[WIDE_W],
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid,
) -> None:  # fmt: skip
    """`momentum`, carried by QUICK."""


@task(kernel=KERNELS / "momentum_quick.cu")
def momentum_quick_buoyant(
    u: Read[WIDE_U], v: Read[WIDE_V], w: Read[WIDE_W], T: Read[BESIDE],
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy,
) -> None:  # fmt: skip
    """`momentum_buoyant`, carried by QUICK."""


@task(kernel=KERNELS / "momentum_quick.cu")
def momentum_quick_eddy(
    u: Read[WIDE_U], v: Read[WIDE_V], w: Read[WIDE_W], nu_t: Read[AROUND_EDGES],
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid,
) -> None:  # fmt: skip
    """`momentum_eddy`, carried by QUICK."""


@task(kernel=KERNELS / "momentum_quick.cu")
def momentum_quick_eddy_buoyant(
    u: Read[WIDE_U], v: Read[WIDE_V], w: Read[WIDE_W], nu_t: Read[AROUND_EDGES], T: Read[BESIDE],
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy,
) -> None:  # fmt: skip
    """`momentum_eddy_buoyant`, carried by QUICK."""


MOMENTUM_QUICK = {
    (False, False): momentum_quick,
    (False, True): momentum_quick_buoyant,
    (True, False): momentum_quick_eddy,
    (True, True): momentum_quick_eddy_buoyant,
}
"""The task with an eddy viscosity or not, with buoyancy or not."""
