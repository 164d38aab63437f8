"""Outflow where the pressure is carried out, too: for flows that are not parallel where they leave.

On the face p obeys dp/dt + U (dp/dn + 2 p / W) = 0, n being the outward normal, U the mean speed at which fluid leaves
and W the width of the side: vortices take their pressure with them, and beyond the side it decays over W / 2, as that
of a channel that goes on there does, over W / pi. So p on the face is known, and the normal velocity follows from the
equation of momentum: du/dt = H - dp/dn, with all its other terms H, which are carried out with U like p.

Both act on the face alike, du/dt = (p_cell - P) / (width / 2) with P = p - (width / 2) H, p_cell in the last cell and
its `width`: so P alone is kept, in the layer beyond the face of the tendency of the normal velocity, where nothing else
is. It is carried by upwind differences over the last cell and by Euler's method. Where nothing leaves on the whole, P
is 0. The pressure's equation sees p = 0 on the face.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from taskflow.flow.boundaries.boundary import INSIDE, AdvectedOutflow, Boundaries, Value, beyond, impose
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import FACES, Face, Launch, Read, ReadWrite, Roles, Scalar, Write, facing, frame, task

TEXT = KERNELS / "boundaries" / "advected_pressure.cu"
NEXT_FACE = facing(n=(1, 1), high=(0, 0))  # from the last cell, the next face inside
OUTSIDE = facing(n=(-1, -1), high=(0, 0))  # from a face, the layer of cells beyond


@dataclass(frozen=True)
class Outlet:
    """A side: the `sign` of a velocity that leaves, the `width` of the cells beside it, and the `reach` over which the
    pressure decays beyond it.
    """

    sign: float
    width: float
    reach: float


@task(kernel=TEXT)
def inner_face_pressure(
    p: Read[facing(n=(0, 1))], q_new: Read[NEXT_FACE], q: Read[NEXT_FACE], rhs: Write,
    *, on: Face, dt: Scalar, grid: Grid, outlet: Outlet,
) -> None:  # fmt: skip
    """rhs = p - sign (width / 2) (q_new - q) / dt on the next face inside, kept in the last cells, over which it is
    launched. p on that face is that on the line between both cells; q is the velocity normal to the side.
    """


@task(kernel=TEXT)
def advect_pressure(
    P: ReadWrite, rhs: Read[INSIDE], *, on: Face, dt: Scalar, outflow_speed: Scalar, outlet: Outlet
) -> None:
    """P = (1 - dt outflow_speed / reach) (P + C (rhs[inside] - P)), C = dt outflow_speed / width, over the layer of
    ghost cells; both numbers are at most 1, and P = 0 where outflow_speed <= 0.
    """


@task(kernel=TEXT)
def accelerate_outlet(q: Read, P: Read[OUTSIDE], q_new: Write, *, on: Face, dt: Scalar, outlet: Outlet) -> None:
    """q_new = q - sign dt P / (width / 2), over the faces of a side, q being the velocity normal to it: all that
    accelerates it but for the pressure in the cell inside.
    """


def advected_outlets(boundaries: Boundaries) -> list[str]:
    """The faces where the pressure is carried out."""
    return [face for face in FACES if isinstance(boundaries.get(face), AdvectedOutflow)]


def init_advected(f: Roles, boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """At the beginning P = 0."""
    for face in advected_outlets(boundaries):
        yield impose(_kept(f, face), over=beyond(face, grid, edges=False), value=Value(0.0))


def advance_advected(
    new: str, old: str, f: Roles, face: str, grid: Grid, *, dt: str, outflow_speed: str
) -> Iterator[Launch]:
    """The normal velocity `new` on a face at the end of a stage, before its projection; needs `new` inside. `rhs` is
    used on the way.
    """
    kept, side = _kept(f, face), {"on": face, "dt": dt, "outlet": outlet(face, grid)}
    yield inner_face_pressure(f.p, new, old, f.rhs, over=_last_cells(face, grid), grid=grid, **side)
    layer = beyond(face, grid, edges=False)
    yield advect_pressure(kept, f.rhs, over=layer, outflow_speed=outflow_speed, **side)
    yield accelerate_outlet(old, kept, new, over=on_face(face, grid), **side)


def outlet(face: str, grid: Grid) -> Outlet:
    """The constants that kernels get of a side. The pressure decays over half of the least width of the side across
    more than one cell, between walls if there are such.
    """
    axis, high = frame(face)
    across = [a for a in range(3) if a != axis and grid.cells[a] > 1]
    bounded = [a for a in across if grid.low[a]] or across or [axis]
    return Outlet(1.0 if high else -1.0, grid.beside(face), min(grid.length(a) for a in bounded) / 2)


def _kept(f: Roles, face: str) -> str:
    return (f.h_u, f.h_v, f.h_w)[frame(face)[0]]


def _last_cells(face: str, grid: Grid) -> Box:
    axis, high = frame(face)
    return Box.of(grid.cells).layer(axis, high, 0, 1)
