"""Heat beside bodies, each of which is insulated or has a temperature of its own."""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.scalars.transport import Transport
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.tasks import Read, ReadShort, ReadWrite, Scalar, Write, task


@task(kernel=KERNELS / "obstacles" / "heat_obstructed.cu")
def heat_obstructed(
    T: Read[1], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], T_faces: ReadShort,
    h_T: ReadWrite, T_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, transport: Transport,
) -> None:  # fmt: skip
    """`transport` beside bodies: no flux into those that are insulated, 2 diffusivity (T_body - T) / h from others.

    Solid cells keep their temperature: in those of a body that has one it is the body's.
    """


@task(kernel=KERNELS / "obstacles" / "heat_obstructed.cu")
def heat_eddy_obstructed(
    T: Read[1], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], nu_t: Read[1], T_faces: ReadShort,
    h_T: ReadWrite, T_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, transport: Transport, prandtl: float,
) -> None:  # fmt: skip
    """`heat_obstructed` with the diffusivity of `transport_eddy` between cells of the fluid: at bodies nu_t is 0."""
