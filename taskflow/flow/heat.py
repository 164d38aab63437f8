"""The heat equation: dT/dt = -div(u T) + diffusivity Laplacian(T) + source."""

from dataclasses import dataclass

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z
from taskflow.tasks import Read, ReadWrite, Scalar, Write, task


@dataclass(frozen=True)
class Heat:
    """Thermal diffusivity, and heating everywhere (temperature per time)."""

    diffusivity: float
    source: float = 0.0


@task(kernel=KERNELS / "heat.cu")
def heat(
    T: Read[1], u: Read[ACROSS_X], v: Read[ACROSS_Y], w: Read[ACROSS_Z], h_T: ReadWrite, T_new: Write,
    *, dt: Scalar, ratio: Scalar, grid: Grid, heat: Heat,
) -> None:  # fmt: skip
    """T_new = T + dt ((1 + ratio/2) H - ratio/2 H_old), H = -div(u T) + diffusivity Laplacian(T) + source.

    `ratio` = dt / dt_old. At the start it is 0, and H_old (what h_T holds) is not used. On return h_T holds H.
    """
