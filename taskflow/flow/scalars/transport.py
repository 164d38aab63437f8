"""Transport of a scalar: dq/dt = -div(u q) + diffusivity Laplacian(q) + source, by central differences.

q is the temperature or any passive scalar. `taskflow.flow.scalars.bounded` has a scheme for the same equation that
keeps q within its bounds.
"""

from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.grid.stencils import FACE_VELOCITY
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Read, ReadShort, ReadWrite, Scalar, Write, task


@dataclass(frozen=True)
class Transport:
    """The diffusivity of q, and a source that is the same everywhere (q per time)."""

    diffusivity: float
    source: float = 0.0


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
