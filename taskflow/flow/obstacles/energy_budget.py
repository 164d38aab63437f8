"""What the budget of the kinetic energy of fluctuations needs beside bodies: dissipation, and what eddies take.

The differences are those with which the equations find friction there. A face that is open has, of the square of its
difference to the next one along another direction, half, and the other half is that one's; where that one is closed it
has all of it, and of flagged bodies twice as much where that one is buried: half a cell away the fluid stands still.
Of immersed bodies it has stick u'^2 besides, and of each two factors u' in such a square one is that in the centre of
the face, (1 + cover) u' (`taskflow.flow.obstacles.adherence`): the energy is that of u (1 + cover) u / 2. A cell has
half of what its two faces have. So over all cells dissipation adds up to what friction takes.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import ACROSS_X, ACROSS_Y, ACROSS_Z, AROUND, GRADIENT_U, GRADIENT_V, GRADIENT_W
from taskflow.tasks import Read, ReadByte, ReadWrite, Scalar, task

DISSIPATION = KERNELS / "obstacles" / "dissipation_obstructed.cu"


@task(kernel=DISSIPATION)
def dissipation_obstructed(
    u: Read[GRADIENT_U], v: Read[GRADIENT_V], w: Read[GRADIENT_W],
    mean_u: Read[GRADIENT_U], mean_v: Read[GRADIENT_V], mean_w: Read[GRADIENT_W], solid: ReadByte[1],
    rate: ReadWrite, *, share: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """`dissipation` beside flagged bodies."""


@task(kernel=DISSIPATION)
def dissipation_immersed(
    u: Read[GRADIENT_U], v: Read[GRADIENT_V], w: Read[GRADIENT_W],
    mean_u: Read[GRADIENT_U], mean_v: Read[GRADIENT_V], mean_w: Read[GRADIENT_W], solid: ReadByte[1],
    stick_x: Read[ACROSS_X], stick_y: Read[ACROSS_Y], stick_z: Read[ACROSS_Z],
    cover_x: Read[GRADIENT_U], cover_y: Read[GRADIENT_V], cover_z: Read[GRADIENT_W],
    rate: ReadWrite, *, share: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """`dissipation` beside immersed bodies; `stick` and `cover` as in `taskflow.flow.obstacles.adherence`."""


@task(kernel=KERNELS / "obstacles" / "eddy_budget_obstructed.cu")
def eddy_budget_obstructed(
    u: Read[GRADIENT_U], v: Read[GRADIENT_V], w: Read[GRADIENT_W], nu_t: Read[AROUND], solid: ReadByte[1],
    mean_u: Read, mean_v: Read, mean_w: Read,
    xx: ReadWrite, xy: ReadWrite, xz: ReadWrite, yy: ReadWrite, yz: ReadWrite, zz: ReadWrite,
    flux_x: ReadWrite, flux_y: ReadWrite, flux_z: ReadWrite, rate: ReadWrite, *, share: Scalar, grid: Grid,
) -> None:  # fmt: skip
    """`eddy_budget` beside bodies: on edges that touch one nu_t is 0."""
