"""Transport of a scalar q, the temperature or a passive scalar: dq/dt = -div(u q) + diffusivity Laplacian(q) + source.

`transport` has central differences. `bounded_euler` and `bounded_heun` keep q within its bounds.

**Bounds.** The value that flows through a face is that of the third-order upwind-biased scheme, limited by B. Koren
(1993, in Numerical Methods for Advection-Diffusion Problems, Vieweg, 117): TVD in one dimension. In time it is Heun's
method, the strong stability preserving one of second order (S. Gottlieb, C.-W. Shu, E. Tadmor 2001, SIAM Rev. 43, 89),
with the mean of the velocities before and after the stage, which is as free of divergence as these. It is a mean of q
and two steps of Euler's, so what holds for one of these holds for it.

Without sources a step of Euler's makes of a cell a mean of its neighbours, its own value and those given on faces,
with weights that are not negative, if div(u) = 0 and

    dt (2 (|u|/dx + |v|/dy + |w|/dz) + 3 diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2)) <= 1,

each speed being the larger one of the two faces. Then no new extremum arises: q stays within the bounds that it and
the values on faces have. What is left of div(u), and rounding, are all that can add to them.
"""

from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.grid.implicit import EXPLICIT, Implicit
from taskflow.flow.grid.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, FACE_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Components, Read, ReadShort, ReadWrite, Scalar, Write, task

CROSSINGS, SPREADINGS = 2.0, 3.0
"""The factors of the advective rate and of diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2) in the limit of dt above."""

GHOST = 2
"""Layers of ghost cells that bounded transport reads."""

NEW_FACE_VELOCITY = Components(u_new=Read[ACROSS_X], v_new=Read[ACROSS_Y], w_new=Read[ACROSS_Z])


@dataclass(frozen=True)
class Transport:
    """The diffusivity of q, a source that is the same everywhere (q per time), and the direction along which
    `transport` leaves diffusion out, as it is `implicit`.
    """

    diffusivity: float
    source: float = 0.0
    implicit: Implicit = EXPLICIT


@task(kernel=KERNELS / "scalars" / "transport.cu")
def transport(
    q: Read[1], velocity: FACE_VELOCITY, nu_t: Read[1] | None, q_faces: ReadShort | None, h_q: ReadWrite, q_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, transport: Transport, prandtl: float | None,
) -> None:  # fmt: skip
    """q_new = q + dt ((1 + ratio/2) H - ratio/2 H_old), H = -div(u q) + diffusivity Laplacian(q) + source, in cells.

    `ratio` = dt / dt_old. At the start it is 0, and H_old (what h_q holds) is not used. On return h_q holds H.

    With an eddy viscosity nu_t in cells, diffusivity Laplacian(q) is div((diffusivity + nu_t / prandtl) grad q), nu_t
    on a face being the mean of its two cells.

    Beside bodies, whose flags are in `q_faces` (`taskflow.flow.bodies.flags.heat_bits`), nothing diffuses into those
    that are insulated, and 2 diffusivity (q_body - q) / h out of those with a value, without nu_t. Solid cells keep
    their value.
    """


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_euler(
    q: Read[2], velocity: FACE_VELOCITY, velocity_new: NEW_FACE_VELOCITY, nu_t: Read[1] | None,
    q_faces: ReadShort | None, q_new: Write,
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float | None,
) -> None:  # fmt: skip
    """q_new = q + dt H(q), in cells, H being that of the mean of both velocities.

    Eddies (nu_t, prandtl) and bodies (q_faces) are those of `transport`.
    """


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_heun(
    q: ReadWrite, q_euler: Read[2], velocity: FACE_VELOCITY, velocity_new: NEW_FACE_VELOCITY, nu_t: Read[1] | None,
    q_faces: ReadShort | None,
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float | None,
) -> None:  # fmt: skip
    """q = (q + q_euler + dt H(q_euler)) / 2, H being that of `bounded_euler`."""
