"""Transport that keeps a quantity within its bounds: dq/dt = -div(u q) + diffusivity Laplacian(q) + source.

The value that flows through a face is that of the third-order upwind-biased scheme, limited by B. Koren (1993, in
Numerical Methods for Advection-Diffusion Problems, Vieweg, 117): TVD in one dimension. In time Heun's method, the
strong stability preserving one of second order (S. Gottlieb, C.-W. Shu, E. Tadmor 2001, SIAM Rev. 43, 89), with the
mean of the velocities before and after the stage, which is as free of divergence as these. It is a mean of q and two
steps of Euler's, so what holds for one of these holds for it.

Without sources a step of Euler's makes of a cell a mean of its neighbours, its own value and those given on faces,
with weights that are not negative, if div(u) = 0 and

    dt (2 (|u|/dx + |v|/dy + |w|/dz) + 3 diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2)) <= 1,

each speed being the larger one of the two faces. Then no new extremum arises: q stays within the bounds that it and
the values on faces have. What is left of div(u), and rounding, are all that can add to them.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.scalars.transport import Transport
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.tasks import Read, ReadShort, ReadWrite, Scalar, Write, task

CROSSINGS, SPREADINGS = 2.0, 3.0
"""What the advective rate and diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2) count in the limit of dt above."""

GHOST = 2
"""Layers of ghost cells that are read."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_euler(
    q: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], q_new: Write,
    *, dt: Scalar, grid: Grid, transport: Transport,
) -> None:  # fmt: skip
    """q_new = q + dt H(q), with the mean of both velocities."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_heun(
    q: ReadWrite, q_euler: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z],
    *, dt: Scalar, grid: Grid, transport: Transport,
) -> None:  # fmt: skip
    """q = (q + q_euler + dt H(q_euler)) / 2, with the mean of both velocities."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_euler_obstructed(
    q: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], q_faces: ReadShort, q_new: Write,
    *, dt: Scalar, grid: Grid, transport: Transport,
) -> None:  # fmt: skip
    """`bounded_euler` beside bodies: nothing diffuses into them, or 2 diffusivity (q_body - q) / h out of those with a
    value, see `taskflow.flow.obstacles.flags.heat_bits`. Solid cells keep their values.
    """


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_heun_obstructed(
    q: ReadWrite, q_euler: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], q_faces: ReadShort,
    *, dt: Scalar, grid: Grid, transport: Transport,
) -> None:  # fmt: skip
    """`bounded_heun` beside bodies, as `bounded_euler_obstructed`."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_euler_eddy(
    q: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], nu_t: Read[1], q_new: Write,
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float,
) -> None:  # fmt: skip
    """`bounded_euler` with the diffusivity of `transport_eddy`."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_heun_eddy(
    q: ReadWrite, q_euler: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], nu_t: Read[1],
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float,
) -> None:  # fmt: skip
    """`bounded_heun` with the diffusivity of `transport_eddy`."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_euler_eddy_obstructed(
    q: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], nu_t: Read[1], q_faces: ReadShort,
    q_new: Write, *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float,
) -> None:  # fmt: skip
    """`bounded_euler_obstructed` with the diffusivity of `transport_eddy` between cells of the fluid."""


@task(kernel=KERNELS / "scalars" / "bounded.cu")
def bounded_heun_eddy_obstructed(
    q: ReadWrite, q_euler: Read[2], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z],
    u_new: Read[ACROSS_X], v_new: Read[ACROSS_Y], w_new: Read[ACROSS_Z], nu_t: Read[1], q_faces: ReadShort,
    *, dt: Scalar, grid: Grid, transport: Transport, prandtl: float,
) -> None:  # fmt: skip
    """`bounded_heun_obstructed` with the diffusivity of `transport_eddy` between cells of the fluid."""


EULER = {
    (False, False): bounded_euler,
    (False, True): bounded_euler_obstructed,
    (True, False): bounded_euler_eddy,
    (True, True): bounded_euler_eddy_obstructed,
}
HEUN = {
    (False, False): bounded_heun,
    (False, True): bounded_heun_obstructed,
    (True, False): bounded_heun_eddy,
    (True, True): bounded_heun_eddy_obstructed,
}
"""The task with an eddy diffusivity or not, beside bodies or not."""
