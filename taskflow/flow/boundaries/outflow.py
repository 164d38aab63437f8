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

from taskflow.flow.boundaries.advected_pressure import advance_advected, advected_outlets, init_advected
from taskflow.flow.boundaries.boundary import (
    INSIDE,
    AdvectedOutflow,
    Boundaries,
    ConvectiveOutflow,
    Mirror,
    PressureOutflow,
    beyond,
    mirror,
)
from taskflow.flow.grid import Grid, on_face
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.exact_sums import exact_sum
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import FACES, Face, Launch, Read, ReadWrite, Roles, Scalar, Write, facing, frame, task

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
class Stage:
    """The names of scalars: the length of a stage, and the mean speed at which fluid leaves at its end."""

    dt: str
    outflow_speed: str


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
    q: ReadWrite, p: Read[facing(n=(0, 0), high=(1, 1))], *, on: Face, dt: Scalar, opening: Opening
) -> None:
    """q = q + sign dt p[cell inside] / (spacing / 2), over the faces of a side: the correction of the velocity q normal
    to it by a pressure that is 0 on the face.
    """


@task(kernel=KERNELS / "boundaries" / "outflow.cu")
def balance(q: ReadWrite, *, total: Scalar["exact sum"], outflow_speed: Scalar, opening: Opening) -> None:
    """q = q + constant, over the faces of a side: its mean, by its sum, becomes outflow_speed outward."""


def balanced_outlets(boundaries: Boundaries) -> list[str]:
    """The faces with convective outflow, whose normal velocity is balanced."""
    return [face for face in FACES if isinstance(boundaries.get(face), ConvectiveOutflow)]


def convective_outlets(boundaries: Boundaries) -> list[str]:
    """The faces through which what leaves is carried at the mean speed."""
    return [*balanced_outlets(boundaries), *advected_outlets(boundaries)]


def pressure_outlets(boundaries: Boundaries) -> list[str]:
    """The faces on which p = 0 for the pressure's equation."""
    return [face for face in FACES if isinstance(boundaries.get(face), PressureOutflow | AdvectedOutflow)]


def init_outflow(f: Roles, boundaries: Boundaries, grid: Grid, outflow_speed: str) -> Iterator[Launch]:
    """Before the first projection the normal velocity is that on the next face inside, balanced."""
    velocity = f.u, f.v, f.w
    yield from init_advected(f, boundaries, grid)
    for face in (*balanced_outlets(boundaries), *pressure_outlets(boundaries)):
        axis, _ = frame(face)
        yield mirror(velocity[axis], over=on_face(face, grid), on=face, mirror=Mirror(1.0, 0.0))
    yield from _balanced(f, velocity, boundaries, grid, outflow_speed)


def advance_outflow(f: Roles, boundaries: Boundaries, grid: Grid, stage: Stage) -> Iterator[Launch]:
    """The normal velocity at the end of a stage, before its projection; needs u_new, v_new and w_new inside."""
    new, old = (f.u_new, f.v_new, f.w_new), (f.u, f.v, f.w)
    for face in balanced_outlets(boundaries):
        axis, _ = frame(face)
        yield _convected(face, new[axis], old[axis], on_face(face, grid), grid, stage)
    yield from _balanced(f, new, boundaries, grid, stage.outflow_speed)
    for face in pressure_outlets(boundaries):
        axis, _ = frame(face)
        if face in advected_outlets(boundaries):
            speed = stage.outflow_speed
            yield from advance_advected(new[axis], old[axis], f, face, grid, dt=stage.dt, outflow_speed=speed)
        else:
            yield extrapolate(new[axis], old[axis], over=on_face(face, grid), on=face)


def correct_outlets(
    velocity: tuple[str, str, str], p: str, boundaries: Boundaries, grid: Grid, dt: str
) -> Iterator[Launch]:
    """The correction of the normal velocity where p = 0."""
    for face in pressure_outlets(boundaries):
        axis, _ = frame(face)
        about = opening(face, grid)
        yield correct_outlet(velocity[axis], p, over=on_face(face, grid), on=face, dt=dt, opening=about)


def outflow_ghosts(
    new: tuple[str, ...], old: tuple[str, ...], boundaries: Boundaries, grid: Grid, stage: Stage
) -> Iterator[Launch]:
    """Ghost values of u, v, w and, if there is one, T, beyond faces through which they are carried."""
    for face in convective_outlets(boundaries):
        axis, _ = frame(face)
        for n in range(len(new)):
            if n != axis:
                yield _convected(face, new[n], old[n], beyond(face, grid), grid, stage)


def pressure_ghosts(p: str, boundaries: Boundaries, grid: Grid) -> Iterator[Launch]:
    """Ghost values of a pressure that is 0 on the face."""
    for face in pressure_outlets(boundaries):
        yield mirror(p, over=beyond(face, grid), on=face, mirror=Mirror(-1.0, 0.0))


def opening(face: str, grid: Grid) -> Opening:
    """The constants that kernels get of a side."""
    _, high = frame(face)
    return Opening(1.0 if high else -1.0, 1.0 / grid.beside(face), float(on_face(face, grid).volume))


def _convected(face: str, new: str, old: str, over: Box, grid: Grid, stage: Stage) -> Launch:
    numbers = {"dt": stage.dt, "outflow_speed": stage.outflow_speed}
    return convect(new, old, over=over, on=face, opening=opening(face, grid), **numbers)


def _balanced(
    f: Roles, velocity: tuple[str, str, str], boundaries: Boundaries, grid: Grid, outflow_speed: str
) -> Iterator[Launch]:
    for face in balanced_outlets(boundaries):
        axis, _ = frame(face)
        q, over = velocity[axis], on_face(face, grid)
        where: dict[str, Any] = {"grid": grid, "axis": axis, "layer": True}
        total = f.scalar("outflow")
        yield exact_sum(q, over=over, total=total, bound=f.scalar("sum_bound"), scale=QUANTA, **where)
        yield balance(q, over=over, total=total, outflow_speed=outflow_speed, opening=opening(face, grid))
