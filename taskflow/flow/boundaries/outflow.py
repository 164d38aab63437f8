"""Outflow: convective, by pressure, or with advected pressure.

Convective: dq/dt + U dq/dn = 0 for velocity and temperature, n being the outward normal (I. Orlanski 1976, J. Comput.
Phys. 21, 251) and U the mean outflow speed for all (as in L. L. Pauley, P. Moin, W. C. Reynolds 1990, J. Fluid Mech.
220, 397). Upwind differences over the last spacing, Euler's method in each stage. The normal velocity is then shifted
by a constant such that outflow equals inflow: the pressure equation has a wall there, and no solution otherwise.

By pressure: on the face p = 0, or a number P that may change in time, and the normal gradient of velocity is 0. The
normal velocity changes as on the next face inside, except for the gradient of p, taken between the last cell and the
face. The contribution of P is added before the projection, so that pressure solvers see p = 0 on the face.

With advected pressure, for flows that are not parallel at the outflow: as convective, but on the face p obeys dp/dt + U
(dp/dn + 2 p / W) = 0, W being the width of the side. Vortices take their pressure with them. Outside it decays over W /
2, as in a channel that continues there, where it decays over W / pi. The known p on the face gives the normal velocity
by the momentum equation du/dt = H - dp/dn. H, all its other terms, is advected with U like p.

Both act on the face in the form du/dt = (p_cell - P) / (width / 2), P = p - (width / 2) H, with p_cell and `width` of
the last cell. Only P is stored, in the unused layer of ghost cells of the normal velocity's tendency. It is advected by
upwind differences over the last cell and by Euler's method, and is 0 if the mean outflow speed is not positive. The
pressure equation sees p = 0 on the face.
"""

from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Face, Read, ReadWrite, Scalar, Write, facing, frame, task

ADVECTED = KERNELS / "boundaries" / "advected_pressure.cu"
NEXT_FACE = facing(n=(1, 1), high=(0, 0))  # from the last cell, the next face inside
OUTSIDE = facing(n=(-1, -1), high=(0, 0))  # from a face, the layer of cells beyond
Coefficients = tuple[str, ...] | None  # fields on faces across x, y and z
QUANTA = 2.0**24  # times `sum_bound`: a sixteenth of the largest velocity that sums are exact for


@dataclass(frozen=True)
class Opening:
    """A side of the domain: `sign` of an outward velocity, `inverse` spacing across, and the number of its `faces`."""

    sign: float
    inverse: float
    faces: float


@dataclass(frozen=True)
class Outlet:
    """A side: `sign` of an outward velocity, `width` of adjacent cells, `reach`: decay length of p outside."""

    sign: float
    width: float
    reach: float


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def convect(
    q_new: Write, q: Read[facing(n=(0, 1))], *, on: Face, dt: Scalar, outflow_speed: Scalar, opening: Opening
) -> None:
    """q_new = q - C (q - q[inside]), C = dt outflow_speed / spacing, limited to 0 <= C <= 1.

    Over the faces of a side for the normal velocity, over the layer of ghost cells for other fields.
    """


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def extrapolate(q_new: ReadWrite[INSIDE], q: Read[facing(n=(0, 1))], *, on: Face) -> None:
    """q_new = q + q_new[inside] - q[inside], over the faces of a side, q being the normal velocity."""


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def correct_outlet(
    q: ReadWrite, p: Read[facing(n=(0, 0), high=(1, 1))], b: Read | None, *, on: Face, dt: Scalar, opening: Opening
) -> None:
    """q = q + sign dt b p[cell inside] / (spacing / 2), over the faces of a side, q being the normal velocity: the
    correction by a pressure that is 0 on the face. b = 1 if absent.
    """


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def push_outlet(q: ReadWrite, *, dt: Scalar, pressure: Scalar, opening: Opening) -> None:
    """q = q - sign dt pressure / (spacing / 2), over the faces of a side: the effect of a pressure on the face."""


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def balance(q: ReadWrite, *, total: Scalar["exact sum"], outflow_speed: Scalar, opening: Opening) -> None:
    """q = q + constant, over the faces of a side, such that its mean, from its sum, is outflow_speed outward."""


@task(kernel=ADVECTED)
def inner_face_pressure(
    p: Read[facing(n=(0, 1))], q_new: Read[NEXT_FACE], q: Read[NEXT_FACE], rhs: Write,
    *, on: Face, dt: Scalar, grid: Grid, outlet: Outlet,
) -> None:  # fmt: skip
    """rhs = p - sign (width / 2) (q_new - q) / dt on the next face inside, stored in the last cells, over which it is
    launched. p on that face is interpolated linearly between both cells, and q is the normal velocity.
    """


@task(kernel=ADVECTED)
def advect_pressure(
    P: ReadWrite, rhs: Read[INSIDE], *, on: Face, dt: Scalar, outflow_speed: Scalar, outlet: Outlet
) -> None:
    """P = (1 - dt outflow_speed / reach) (P + C (rhs[inside] - P)), C = dt outflow_speed / width, over the layer of
    ghost cells. Both numbers are at most 1, and P = 0 if outflow_speed <= 0.
    """


@task(kernel=ADVECTED)
def accelerate_outlet(q: Read, P: Read[OUTSIDE], q_new: Write, *, on: Face, dt: Scalar, outlet: Outlet) -> None:
    """q_new = q - sign dt P / (width / 2) on faces: all accelerations except by the pressure in the cell inside."""


def opening(side: BoxSide) -> Opening:
    """Return the constants of a side that kernels read."""
    return Opening(1.0 if frame(side.face)[1] else -1.0, 1.0 / side.spacing, side.count)


def outlet(side: BoxSide) -> Outlet:
    """Return the constants of a side that kernels read. The pressure decays over half the least width of the side,
    along axes of more than one cell, between walls if it has any.
    """
    (axis, high), grid = frame(side.face), side.grid
    across = [a for a in range(3) if a != axis and grid.cells[a] > 1]
    bounded = [a for a in across if grid.low[a]] or across or [axis]
    return Outlet(1.0 if high else -1.0, side.spacing, min(grid.length(a) for a in bounded) / 2)
