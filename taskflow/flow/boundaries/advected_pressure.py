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

from taskflow.flow.boundaries.boundary import (
    INSIDE,
    AdvectedOutflow,
    Boundaries,
    Value,
    beyond,
    impose,
    on_face,
    place,
)
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, ReadWrite, Roles, Scalar, Task, Write, offsets, task

TEXT = KERNELS / "boundaries" / "advected_pressure.cu"
HERE = offsets()
NEXT = {face: inside if face.endswith("min") else HERE for face, inside in INSIDE.items()}  # from a cell, the next face
OUTSIDE = {  # from a face, the layer of cells beyond
    "x_min": offsets(x=(-1, -1)), "x_max": HERE, "y_min": offsets(y=(-1, -1)), "y_max": HERE,
    "z_min": offsets(z=(-1, -1)), "z_max": HERE,
}  # fmt: skip


@dataclass(frozen=True)
class Outlet:
    """A side: the `sign` of a velocity that leaves, the `width` of the cells beside it, and how far beyond it the
    pressure has decayed.
    """

    sign: float
    width: float
    reach: float


def _approach(face: str) -> Task:
    def approach(
        p: Read[HERE | INSIDE[face]], q_new: Read[NEXT[face]], q: Read[NEXT[face]], rhs: Write,
        *, dt: Scalar, grid: Grid, outlet: Outlet,
    ) -> None:  # fmt: skip
        """rhs = p - sign (width / 2) (q_new - q) / dt on the next face inside, p being that on the line between both
        cells.
        """

    approach.__name__ = f"approach_{face}"
    return task(kernel=TEXT)(approach)


def _advect(face: str) -> Task:
    def advect(P: ReadWrite, rhs: Read[INSIDE[face]], *, dt: Scalar, throughflow: Scalar, outlet: Outlet) -> None:
        """P = (1 - dt throughflow / reach) (P + C (rhs[inside] - P)), C = dt throughflow / width, each at most 1; 0
        where throughflow <= 0.
        """

    advect.__name__ = f"advect_{face}"
    return task(kernel=TEXT)(advect)


def _drive(face: str) -> Task:
    def drive(q: Read, P: Read[OUTSIDE[face]], q_new: Write, *, dt: Scalar, outlet: Outlet) -> None:
        """q_new = q - sign dt P / (width / 2)"""

    drive.__name__ = f"drive_{face}"
    return task(kernel=TEXT)(drive)


APPROACH = {face: _approach(face) for face in INSIDE}
ADVECT = {face: _advect(face) for face in INSIDE}
DRIVE = {face: _drive(face) for face in INSIDE}
approach_x_min, approach_x_max, approach_y_min, approach_y_max, approach_z_min, approach_z_max = APPROACH.values()
advect_x_min, advect_x_max, advect_y_min, advect_y_max, advect_z_min, advect_z_max = ADVECT.values()
drive_x_min, drive_x_max, drive_y_min, drive_y_max, drive_z_min, drive_z_max = DRIVE.values()


def advected(boundaries: Boundaries) -> list[str]:
    """The faces where the pressure is carried out."""
    return [face for face in INSIDE if isinstance(boundaries.get(face), AdvectedOutflow)]


def begin_advected(f: Roles, boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """At the beginning P = 0."""
    for face in advected(boundaries):
        yield impose(_kept(f, face), over=beyond(face, grid, edges=False), value=Value(0.0))


def drive(new: str, old: str, f: Roles, face: str, grid: Grid, *, dt: str, throughflow: str) -> Iterator[Launch]:
    """The normal velocity `new` on a face at the end of a stage, before its projection; needs `new` inside. `rhs` is
    used on the way.
    """
    about, kept, cells = outlet(face, grid), _kept(f, face), _last_cells(face, grid)
    yield APPROACH[face](f.p, new, old, f.rhs, over=cells, dt=dt, grid=grid, outlet=about)
    layer = beyond(face, grid, edges=False)
    yield ADVECT[face](kept, f.rhs, over=layer, dt=dt, throughflow=throughflow, outlet=about)
    yield DRIVE[face](old, kept, new, over=on_face(face, grid), dt=dt, outlet=about)


def outlet(face: str, grid: Grid) -> Outlet:
    """What kernels know of a side. Its width is the least of those of more than one cell, between walls if there are
    such.
    """
    axis, high = place(face)
    across = [a for a in range(3) if a != axis and grid.cells[a] > 1]
    bounded = [a for a in across if grid.low[a]] or across or [axis]
    return Outlet(1.0 if high else -1.0, grid.beside(face), min(grid.length(a) for a in bounded) / 2)


def _kept(f: Roles, face: str) -> str:
    return (f.h_u, f.h_v, f.h_w)[place(face)[0]]


def _last_cells(face: str, grid: Grid) -> Box:
    axis, side = place(face)
    return Box.of(grid.cells).layer(axis, side, 0, 1)
