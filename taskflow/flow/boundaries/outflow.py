"""Outflow: fluid leaves as it comes.

Convective: dq/dt + U dq/dn = 0 for the velocity and the temperature, n being the outward normal (I. Orlanski 1976,
J. Comput. Phys. 21, 251), with one U for all, the mean speed at which fluid leaves (as in L. L. Pauley, P. Moin, W. C.
Reynolds 1990, J. Fluid Mech. 220, 397). Upwind differences over the last spacing; Euler's method in each stage. The
normal velocity is then shifted by a constant, such that as much leaves as enters: the pressure, which sees a wall
there, has no solution otherwise.

By pressure: p = 0 on the face, or a number P that may change in time, and the velocity has no gradient across it. The
normal velocity changes like that on the next face inside, but for the gradient of p, which is that between the last
cell and the face. The part of it that P has is in the velocity before the projection, so that solvers of the pressure's
equation see p = 0 on the face.

With the pressure carried out, for flows that are not parallel where they leave, all else is as with convection. On the
face p obeys dp/dt + U (dp/dn + 2 p / W) = 0, n being the outward normal, U the mean speed at which fluid leaves
and W the width of the side: vortices take their pressure with them, and beyond the side it decays over W / 2, as that
of a channel that goes on there does, over W / pi. So p on the face is known, and the normal velocity follows from the
equation of momentum: du/dt = H - dp/dn, with all its other terms H, which are carried out with U like p.

Both act on the face alike, du/dt = (p_cell - P) / (width / 2) with P = p - (width / 2) H, p_cell in the last cell and
its `width`: so P alone is kept, in the layer beyond the face of the tendency of the normal velocity, where nothing else
is. It is carried by upwind differences over the last cell and by Euler's method. Where nothing leaves on the whole, P
is 0. The pressure's equation sees p = 0 on the face.
"""

from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Face, Read, ReadWrite, Scalar, Write, facing, frame, task

ADVECTED = KERNELS / "boundaries" / "advected_pressure.cu"
NEXT_FACE = facing(n=(1, 1), high=(0, 0))  # from the last cell, the next face inside
OUTSIDE = facing(n=(-1, -1), high=(0, 0))  # from a face, the layer of cells beyond
Coefficients = tuple[str, ...] | None  # fields on faces across x, y and z
QUANTA = 2.0**24  # times `sum_bound`: a sixteenth of the largest velocity that sums are exact for


@dataclass(frozen=True)
class Opening:
    """A side of the domain with so many `faces`: `sign` is that of a velocity that leaves, `inverse` one over the
    spacing across.
    """

    sign: float
    inverse: float
    faces: float


@dataclass(frozen=True)
class Outlet:
    """A side: the `sign` of a velocity that leaves, the `width` of the cells beside it, and the `reach` over which the
    pressure decays beyond it.
    """

    sign: float
    width: float
    reach: float


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def convect(
    q_new: Write, q: Read[facing(n=(0, 1))], *, on: Face, dt: Scalar, outflow_speed: Scalar, opening: Opening
) -> None:
    """q_new = q - C (q - q[inside]), C = dt outflow_speed / spacing, at least 0 and at most 1.

    Over the faces of a side for the velocity normal to it, over the layer of ghost cells beyond for all else.
    """


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def extrapolate(q_new: ReadWrite[INSIDE], q: Read[facing(n=(0, 1))], *, on: Face) -> None:
    """q_new = q + q_new[inside] - q[inside], over the faces of a side, q being the velocity normal to it."""


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def correct_outlet(
    q: ReadWrite, p: Read[facing(n=(0, 0), high=(1, 1))], b: Read | None, *, on: Face, dt: Scalar, opening: Opening
) -> None:
    """q = q + sign dt b p[cell inside] / (spacing / 2), over the faces of a side: the correction of the velocity q
    normal to it by a pressure that is 0 on the face; b = 1 where there is none.
    """


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def push_outlet(q: ReadWrite, *, dt: Scalar, pressure: Scalar, opening: Opening) -> None:
    """q = q - sign dt pressure / (spacing / 2), over the faces of a side: the part that a pressure on the face has in
    the correction of the velocity q normal to it.
    """


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def balance(q: ReadWrite, *, total: Scalar["exact sum"], outflow_speed: Scalar, opening: Opening) -> None:
    """q = q + constant, over the faces of a side: its mean, by its sum, becomes outflow_speed outward."""


@task(kernel=ADVECTED)
def inner_face_pressure(
    p: Read[facing(n=(0, 1))], q_new: Read[NEXT_FACE], q: Read[NEXT_FACE], rhs: Write,
    *, on: Face, dt: Scalar, grid: Grid, outlet: Outlet,
) -> None:  # fmt: skip
    """rhs = p - sign (width / 2) (q_new - q) / dt on the next face inside, kept in the last cells, over which it is
    launched. p on that face is that on the line between both cells; q is the velocity normal to the side.
    """


@task(kernel=ADVECTED)
def advect_pressure(
    P: ReadWrite, rhs: Read[INSIDE], *, on: Face, dt: Scalar, outflow_speed: Scalar, outlet: Outlet
) -> None:
    """P = (1 - dt outflow_speed / reach) (P + C (rhs[inside] - P)), C = dt outflow_speed / width, over the layer of
    ghost cells; both numbers are at most 1, and P = 0 where outflow_speed <= 0.
    """


@task(kernel=ADVECTED)
def accelerate_outlet(q: Read, P: Read[OUTSIDE], q_new: Write, *, on: Face, dt: Scalar, outlet: Outlet) -> None:
    """q_new = q - sign dt P / (width / 2), over the faces of a side, q being the velocity normal to it: all that
    accelerates it but for the pressure in the cell inside.
    """


def opening(face: str, grid: Grid) -> Opening:
    """The constants that kernels get of a side."""
    _, high = frame(face)
    return Opening(1.0 if high else -1.0, 1.0 / grid.beside(face), float(on_face(face, grid).volume))


def outlet(face: str, grid: Grid) -> Outlet:
    """The constants that kernels get of a side. The pressure decays over half of the least width of the side across
    more than one cell, between walls if there are such.
    """
    axis, high = frame(face)
    across = [a for a in range(3) if a != axis and grid.cells[a] > 1]
    bounded = [a for a in across if grid.low[a]] or across or [axis]
    return Outlet(1.0 if high else -1.0, grid.beside(face), min(grid.length(a) for a in bounded) / 2)
