"""Transport of a temperature or passive scalar q: dq/dt = -div(u q) + diffusivity Laplacian(q) + source.

`transport` uses central differences. `bounded_euler` and `bounded_heun` keep q within its bounds.

**Bounds.** The face value is given by the third-order upwind-biased scheme with the limiter of B. Koren (1993, in
Numerical Methods for Advection-Diffusion Problems, Vieweg, 117), TVD in one dimension. Time integration is Heun's
method, second-order strong stability preserving (S. Gottlieb, C.-W. Shu, E. Tadmor 2001, SIAM Rev. 43, 89), with the
mean of the velocities before and after the stage, which is divergence-free if they are. The result is a mean of q and
two Euler steps, so the bounds of an Euler step hold.

Without sources, the result of an Euler step in a cell is a mean of its neighbours, its own value and given face values,
with non-negative weights, if div(u) = 0 and

    dt (2 (|u|/dx + |v|/dy + |w|/dz) + 3 diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2)) <= 1,

each speed being the larger of the two faces. No new extremum arises then: q stays within the bounds of its values and
face values, up to the residual of div(u) and rounding.
"""

from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, FACE_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import EXPLICIT, Implicit
from taskflow.runtime.tasks import Components, Read, ReadShort, ReadWrite, Scalar, Write, task

CROSSINGS, SPREADINGS = 2.0, 3.0
"""Factors of the advective rate and of diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2) in the limit of dt above."""

GHOST = 2
"""Ghost layers that bounded transport reads."""

NEW_FACE_VELOCITY = Components(u_new=Read[ACROSS_X], v_new=Read[ACROSS_Y], w_new=Read[ACROSS_Z])


@dataclass(frozen=True)
class Transport:
    """Diffusivity of q, a uniform source (q per time), and the direction of `implicit` diffusion, omitted here."""

    diffusivity: float
    source: float = 0.0
    implicit: Implicit = EXPLICIT


@task(kernel=KERNELS / "scalars" / "transport.cu")
def transport(
    q: Read[1], velocity: FACE_VELOCITY, nu_t: Read[1] | None, q_faces: ReadShort | None, h_q: ReadWrite, q_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, transport: Transport, prandtl: float | None,
) -> None:  # fmt: skip
    """q_new = q + dt ((1 + ratio/2) H - ratio/2 H_old), H = -div(u q) + diffusivity Laplacian(q) + source, in cells.

    `ratio` = dt / dt_old, or 0 in the first step, where H_old in h_q is not used. On return h_q = H.

    With an eddy viscosity nu_t in cells, diffusivity Laplacian(q) becomes div((diffusivity + nu_t / prandtl) grad q),
    with nu_t on a face the mean of its two cells.

    Adjacent to bodies, flagged in `q_faces` (`taskflow.flow.bodies.flags.heat_bits`), the diffusive flux is 0 at
    insulated bodies and 2 diffusivity (q_body - q) / h, without nu_t, at bodies with a value. Solid cells keep their
    value.
    """


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_euler(
    q: Read[2], velocity: FACE_VELOCITY, velocity_new: NEW_FACE_VELOCITY, nu_t: Read[1] | None,
    q_faces: ReadShort | None, q_new: Write,
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float | None,
) -> None:  # fmt: skip
    """q_new = q + dt H(q), in cells, with H of the mean of both velocities. Eddies and bodies as in `transport`."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_heun(
    q: ReadWrite, q_euler: Read[2], velocity: FACE_VELOCITY, velocity_new: NEW_FACE_VELOCITY, nu_t: Read[1] | None,
    q_faces: ReadShort | None,
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float | None,
) -> None:  # fmt: skip
    """q = (q + q_euler + dt H(q_euler)) / 2, with H of `bounded_euler`"""
