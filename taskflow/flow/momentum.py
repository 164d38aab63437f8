"""The momentum equation: du/dt = -div(u u) + viscosity Laplacian(u) + force - grad(p), without its pressure term.

MAC grid, central differences of second order in divergence form, Adams-Bashforth of second order with a variable step.
"""

from dataclasses import dataclass

from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import BESIDE, U, V, W
from taskflow.tasks import Read, ReadWrite, Scalar, Write, task


@dataclass(frozen=True)
class Fluid:
    """Kinematic viscosity, and a force per mass that acts everywhere."""

    viscosity: float
    force: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Buoyancy:
    """Boussinesq: force per mass = -expansion (T - reference) gravity."""

    expansion: float
    reference: float
    gravity: Vector


@task(kernel=KERNELS / "momentum.cu")
def momentum(
    u: Read[U], v: Read[V], w: Read[W],
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid,
) -> None:  # fmt: skip
    """u_new = u + dt ((1 + ratio/2) H - ratio/2 H_old), H = -div(u u) + viscosity Laplacian(u) + force.

    `ratio` = dt / dt_old. At the start it is 0, and H_old (what h holds) is not used. On return h holds H. Faces that
    lie on a wall keep their velocity, with H = 0.
    """


@task(kernel=KERNELS / "momentum.cu")
def momentum_buoyant(
    u: Read[U], v: Read[V], w: Read[W], T: Read[BESIDE],
    h_u: ReadWrite, h_v: ReadWrite, h_w: ReadWrite, u_new: Write, v_new: Write, w_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, fluid: Fluid, buoyancy: Buoyancy,
) -> None:  # fmt: skip
    """`momentum` with H plus -expansion (T - reference) gravity, T being the mean of the cells beside the face."""
