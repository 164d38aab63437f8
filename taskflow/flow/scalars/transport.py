"""What a flow carries: dq/dt = -div(u q) + diffusivity Laplacian(q) + source, by central differences.

q is the temperature or any passive scalar. `taskflow.flow.scalars.bounded` has a scheme for the same equation that
keeps q within its bounds.
"""

from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.tasks import Read, ReadWrite, Scalar, Write, task


@dataclass(frozen=True)
class Transport:
    """Diffusivity, and a source everywhere (q per time)."""

    diffusivity: float
    source: float = 0.0


@task(kernel=KERNELS / "scalars" / "transport.cu")
def transport(
    q: Read[1], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], h_q: ReadWrite, q_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, transport: Transport,
) -> None:  # fmt: skip
    """q_new = q + dt ((1 + ratio/2) H - ratio/2 H_old), H = -div(u q) + diffusivity Laplacian(q) + source.

    `ratio` = dt / dt_old. At the start it is 0, and H_old (what h_q holds) is not used. On return h_q holds H.
    """


@task(kernel=KERNELS / "scalars" / "transport.cu")
def transport_eddy(
    q: Read[1], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], nu_t: Read[1], h_q: ReadWrite, q_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, transport: Transport, prandtl: float,
) -> None:  # fmt: skip
    """`transport` with div((diffusivity + nu_t / prandtl) grad q) in place of diffusivity Laplacian(q).

    nu_t on a face is the mean of its two cells.
    """
