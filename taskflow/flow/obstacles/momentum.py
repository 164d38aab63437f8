"""Momentum beside bodies: nothing flows through a face of a solid cell, and the fluid sticks to it."""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.momentum import Buoyancy, Fluid
from taskflow.flow.stencils import AROUND_EDGES, BESIDE, U, V, W
from taskflow.tasks import Read, ReadShort, ReadWrite, Scalar, Write, task


@task(kernel=KERNELS / "obstacles" / "momentum_obstructed.cu")
def momentum_obstructed(
    u: Read[U], v: Read[V], w: Read[W], faces: ReadShort,
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid,
) -> None:  # fmt: skip
    """`momentum` beside bodies: closed faces keep their velocity, with H = 0.

    At others each buried neighbour, which holds 0, shows minus the face's own velocity: half a cell away the fluid
    stands still. H loses viscosity u / h^2 for each, h being the spacing there.
    """


@task(kernel=KERNELS / "obstacles" / "momentum_obstructed.cu")
def momentum_buoyant_obstructed(
    u: Read[U], v: Read[V], w: Read[W], T: Read[BESIDE], faces: ReadShort,
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy,
) -> None:  # fmt: skip
    """`momentum_buoyant` beside bodies, as `momentum_obstructed`."""


@task(kernel=KERNELS / "obstacles" / "momentum_obstructed.cu")
def momentum_eddy_obstructed(
    u: Read[U], v: Read[V], w: Read[W], nu_t: Read[AROUND_EDGES], faces: ReadShort, edges: ReadShort,
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid,
) -> None:  # fmt: skip
    """`momentum_eddy` beside bodies, as `momentum_obstructed`: on edges that touch a body nu_t is 0."""


@task(kernel=KERNELS / "obstacles" / "momentum_obstructed.cu")
def momentum_eddy_buoyant_obstructed(
    u: Read[U], v: Read[V], w: Read[W], nu_t: Read[AROUND_EDGES], T: Read[BESIDE], faces: ReadShort, edges: ReadShort,
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy,
) -> None:  # fmt: skip
    """`momentum_eddy_obstructed` with buoyancy."""


MOMENTUM_OBSTRUCTED = {
    (False, False): momentum_obstructed,
    (False, True): momentum_buoyant_obstructed,
    (True, False): momentum_eddy_obstructed,
    (True, True): momentum_eddy_buoyant_obstructed,
}
"""The task with an eddy viscosity or not, with buoyancy or not."""
