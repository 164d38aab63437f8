"""Velocity and heat at cut faces and cells: friction with a surface that is less than a spacing away.

Of a second derivative beside a surface, a share s of a spacing h from the face, the difference towards it is

    (0 - u) / (s h)     in place of     (0 - u) / h,

which the equation without bodies has, as u = 0 is stored inside (F. Gibou, R. Fedkiw, L.-T. Cheng & M. Kang 2002, J.
Comput. Phys. 176, 205). What that is more, -viscosity stick u with the sum `stick` of (1/s - 1) / h^2 over all
neighbours inside, has no bound: it is taken at the end of the step, where no length of a step is too large for it.
"""

from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.stencils import BESIDE
from taskflow.tasks import Read, ReadByte, ReadWrite, Scalar, task


@task(kernel=KERNELS / "obstacles" / "adherence.cu")
def adhere(
    u: ReadWrite, v: ReadWrite, w: ReadWrite, p: Read[BESIDE], solid: ReadByte,
    stick_x: Read, stick_y: Read, stick_z: Read, *, dt: Scalar, grid: Grid, viscosity: float,
) -> None:  # fmt: skip
    """u = 0 on closed faces, u = (u + a dt grad(p)) / (1 + a), a = dt viscosity stick, on cut ones.

    That is the end of the step dt of du/dt = -viscosity stick u - grad(p), less what the projection with that p will
    take: so a steady flow does not depend on dt. Faces on walls keep their velocity.
    """


@task(kernel=KERNELS / "obstacles" / "adherence.cu")
def warm(T: ReadWrite, bond_T: Read, warm_T: Read, *, dt: Scalar, diffusivity: float) -> None:
    """T = (T + dt diffusivity warm_T) / (1 + dt diffusivity bond_T): the end of the step dt of conduction from bodies.

    bond_T is the sum of 1 / (s h^2) over the neighbours in bodies with a temperature, s h being the distance of their
    surface; warm_T has each of them times that temperature.
    """
