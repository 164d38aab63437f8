"""Outflow: fluid leaves as it comes.

Convective: dq/dt + U dq/dn = 0 for the velocity and the temperature, n being the outward normal (I. Orlanski 1976,
J. Comput. Phys. 21, 251), with one U for all, the mean speed at which fluid leaves (as in L. L. Pauley, P. Moin, W. C.
Reynolds 1990, J. Fluid Mech. 220, 397). Upwind differences over the last spacing; Euler's method in each stage. The
normal velocity is then shifted by a constant, such that as much leaves as enters: the pressure, which sees a wall
there, has no solution otherwise.

By pressure: p = 0 on the face, and the velocity has no gradient across it. The normal velocity changes like that on the
next face inside, but for the gradient of p, which is that between the last cell and the face. Where the pressure is
carried out, it is as `taskflow.flow.boundaries.advected_pressure` has it, and all else as with convection.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from taskflow.flow.boundaries.advected_pressure import advected, begin_advected, drive
from taskflow.flow.boundaries.boundary import (
    INSIDE,
    MIRROR,
    AdvectedOutflow,
    Boundaries,
    ConvectiveOutflow,
    Mirror,
    PressureOutflow,
    beyond,
    on_face,
    place,
)
from taskflow.flow.exact_sums import exact_sum
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.regions import Box
from taskflow.tasks import Launch, Read, ReadWrite, Roles, Scalar, Task, Write, offsets, task

HERE = offsets()
QUANTA = 2.0**24  # a sixteenth of the largest velocity that sums are exact for
CELL = {face: HERE if face.endswith("min") else inside for face, inside in INSIDE.items()}  # inside a face


@dataclass(frozen=True)
class Opening:
    """A side with so many `faces`: `sign` is that of a velocity that leaves, `inverse` one over the spacing across."""

    sign: float
    inverse: float
    faces: float


@dataclass(frozen=True)
class Stage:
    """The names of scalars: the length of a stage, and the mean speed at which fluid leaves at its end."""

    dt: str
    throughflow: str


def _convect(face: str) -> Task:
    def convect(
        q_new: Write, q: Read[HERE | INSIDE[face]], *, dt: Scalar, throughflow: Scalar, opening: Opening
    ) -> None:
        """q_new = q - C (q - q[inside]), C = dt throughflow / spacing, at least 0 and at most 1"""

    convect.__name__ = f"convect_{face}"
    return task(kernel=KERNELS / "boundaries" / "outflow.cu")(convect)


def _follow(face: str) -> Task:
    def follow(q_new: ReadWrite[INSIDE[face]], q: Read[HERE | INSIDE[face]]) -> None:
        """q_new = q + q_new[inside] - q[inside]"""

    follow.__name__ = f"follow_{face}"
    return task(kernel=KERNELS / "boundaries" / "outflow.cu")(follow)


def _release(face: str) -> Task:
    def release(q: ReadWrite, p: Read[CELL[face]], *, dt: Scalar, opening: Opening) -> None:
        """q = q + sign dt p[cell] / (spacing / 2): the correction by a pressure that is 0 on the face"""

    release.__name__ = f"release_{face}"
    return task(kernel=KERNELS / "boundaries" / "outflow.cu")(release)


CONVECT = {face: _convect(face) for face in INSIDE}
FOLLOW = {face: _follow(face) for face in INSIDE}
RELEASE = {face: _release(face) for face in INSIDE}
convect_x_min, convect_x_max, convect_y_min, convect_y_max, convect_z_min, convect_z_max = CONVECT.values()
follow_x_min, follow_x_max, follow_y_min, follow_y_max, follow_z_min, follow_z_max = FOLLOW.values()
release_x_min, release_x_max, release_y_min, release_y_max, release_z_min, release_z_max = RELEASE.values()


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def balance(q: ReadWrite, *, total: Scalar["exact sum"], throughflow: Scalar, opening: Opening) -> None:
    """q plus the constant with which its mean, by its sum, becomes `throughflow` outward."""


def convective(boundaries: Boundaries) -> list[str]:
    """The faces with convective outflow."""
    return [face for face in INSIDE if isinstance(boundaries.get(face), ConvectiveOutflow)]


def carrying(boundaries: Boundaries) -> list[str]:
    """The faces that what leaves is carried through at the mean speed."""
    return [*convective(boundaries), *advected(boundaries)]


def released(boundaries: Boundaries) -> list[str]:
    """The faces on which p = 0 for the pressure's equation."""
    return [face for face in INSIDE if isinstance(boundaries.get(face), PressureOutflow | AdvectedOutflow)]


def begin_leaving(f: Roles, boundaries: Boundaries, grid: Grid, throughflow: str) -> Iterator[Launch]:
    """Before the first projection the normal velocity is that on the next face inside, balanced."""
    velocity = f.u, f.v, f.w
    yield from begin_advected(f, boundaries, grid)
    for face in (*convective(boundaries), *released(boundaries)):
        axis, _ = place(face)
        yield MIRROR[face](velocity[axis], over=on_face(face, grid), mirror=Mirror(1.0, 0.0))
    yield from _balanced(velocity, boundaries, grid, throughflow)


def leaving(f: Roles, boundaries: Boundaries, grid: Grid, stage: Stage) -> Iterator[Launch]:
    """The normal velocity at the end of a stage, before its projection; needs u_new, v_new and w_new inside."""
    new, old = (f.u_new, f.v_new, f.w_new), (f.u, f.v, f.w)
    for face in convective(boundaries):
        axis, _ = place(face)
        yield _convected(face, new[axis], old[axis], on_face(face, grid), grid, stage)
    yield from _balanced(new, boundaries, grid, stage.throughflow)
    for face in released(boundaries):
        axis, _ = place(face)
        if face in advected(boundaries):
            yield from drive(new[axis], old[axis], f, face, grid, dt=stage.dt, throughflow=stage.throughflow)
        else:
            yield FOLLOW[face](new[axis], old[axis], over=on_face(face, grid))


def release(velocity: tuple[str, str, str], p: str, boundaries: Boundaries, grid: Grid, dt: str) -> Iterator[Launch]:
    """The correction of the normal velocity where p = 0."""
    for face in released(boundaries):
        axis, _ = place(face)
        yield RELEASE[face](velocity[axis], p, over=on_face(face, grid), dt=dt, opening=opening(face, grid))


def outflow_ghosts(
    new: tuple[str, ...], old: tuple[str, ...], boundaries: Boundaries, grid: Grid, stage: Stage
) -> Iterator[Launch]:
    """Ghost values beyond outflows that carry, of u, v, w and, if there is one, T."""
    for face in carrying(boundaries):
        axis, _ = place(face)
        for n in range(len(new)):
            if n != axis:
                yield _convected(face, new[n], old[n], beyond(face, grid), grid, stage)


def pressure_ghosts(p: str, boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """Ghost values of a pressure that is 0 on the face."""
    for face in released(boundaries):
        yield MIRROR[face](p, over=beyond(face, grid), mirror=Mirror(-1.0, 0.0))


def opening(face: str, grid: Grid) -> Opening:
    """What kernels know of a side."""
    _, high = place(face)
    return Opening(1.0 if high else -1.0, 1.0 / grid.beside(face), float(on_face(face, grid).volume))


def _convected(face: str, new: str, old: str, over: Box, grid: Grid, stage: Stage) -> Launch:
    numbers = {"dt": stage.dt, "throughflow": stage.throughflow}
    return CONVECT[face](new, old, over=over, opening=opening(face, grid), **numbers)


def _balanced(velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid, throughflow: str) -> Iterator[Launch]:
    for face in convective(boundaries):
        axis, _ = place(face)
        q, over = velocity[axis], on_face(face, grid)
        where: dict[str, Any] = {"grid": grid, "axis": axis, "layer": True}
        yield exact_sum(q, over=over, total="outflow", bound="quantum", scale=QUANTA, **where)
        yield balance(q, over=over, total="outflow", throughflow=throughflow, opening=opening(face, grid))
