"""Forcing beyond constant uniform forces. Each kind has its own tasks and costs nothing if absent.

A prescribed mean velocity is kept by a uniform force along a periodic direction, computed in every stage. The mean over
the domain is measured before the projection, which conserves it, and the velocity is shifted by the deficit. Like the
pressure, the force satisfies a constraint, so the order of the time scheme is kept.

Coriolis force of a frame that rotates with the angular velocity Omega: du/dt = ... - 2 Omega x u. Each component is the
mean of the four values adjacent to a face, so the force does no work: the sum of u F over all faces is 0 up to
rounding, also between walls. The centrifugal force is a gradient and absorbed by the pressure. The Euler force,
-dOmega/dt x r, depends on the position of the axis and must be given as an expression.

Background temperature of constant gradient: T is the departure from it, and dT/dt = ... - u . gradient. With buoyancy,
a fluid at rest that is displaced along gravity oscillates with the Brunt-Vaisala frequency, N^2 = -expansion gravity .
gradient. The velocity in a cell is the mean of its faces, and the temperature on a face the mean of its cells. Energy
is thus exchanged between |T|^2 and the velocity up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.flow.bodies import Obstacles
from taskflow.flow.bodies.bulk_velocity import BulkVelocityTarget, force_around_bodies, is_kept_around_bodies, stage
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.operators.rates import advective_rate, exact_sum
from taskflow.flow.time.schemes import TimeScheme
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Axis, Components, Launch, Read, ReadWrite, Roles, Scalar, facing, reduced, task

ACROSS = Components(r=Read[facing(r=(0, 1), s=(-1, 0))], s=Read[facing(r=(-1, 0), s=(0, 1))])
TENDENCY, ACROSS_NEW = Components(h_r=ReadWrite, h_s=ReadWrite), Components(r_new=ReadWrite, s_new=ReadWrite)


@task(kernel=KERNELS / "forcing" / "coriolis.cu")
def coriolis(
    velocity: ACROSS, tendency: TENDENCY, velocity_new: ACROSS_NEW,
    *, about: Axis, dt: Scalar, ratio: Scalar, grid: Grid, frequency: float,
) -> None:  # fmt: skip
    """r_new += dt (1 + ratio/2) F_r, h_r += F_r, F_r = frequency s, and likewise F_s = -frequency r, on faces.

    r and s are the velocities along the two axes other than the rotation axis, in the order x, y, z. frequency = 2
    Omega, or -2 Omega about y, since x, z, y are left-handed. Runs after the momentum equation of the stage, so that h
    = H. Faces on walls keep their velocity.
    """


@task(kernel=KERNELS / "forcing" / "coriolis.cu")
def coriolis_timed(
    velocity: ACROSS, tendency: TENDENCY, velocity_new: ACROSS_NEW,
    *, about: Axis, dt: Scalar, ratio: Scalar, rotation: Scalar, grid: Grid, factor: float,
) -> None:  # fmt: skip
    """`coriolis` with frequency = factor rotation at the start of the stage"""


def angular_velocity(axis: int, stage: str) -> str:
    """Return the scalar of a varying angular velocity about an axis at the start of the stage with this suffix."""
    return f"rotation_{'xyz'[axis]}{stage}"


def coriolis_force(f: Roles, rotation: Vector, turned: tuple[int, ...] = (), **stage: Any) -> Iterator[Launch]:
    """Yield a launch for each axis of rotation, which varies about `turned`. `stage`: cells, dt, ratio and grid."""
    for axis, speed in enumerate(rotation):
        about, factor = "xyz"[axis], -2.0 if axis == 1 else 2.0
        r, s = (q for q, along in zip("uvw", "xyz", strict=True) if along != about)
        tendency, new = (f[f"h_{r}"], f[f"h_{s}"]), (f[f"{r}_new"], f[f"{s}_new"])
        if axis in turned:
            name = angular_velocity(axis, stage["dt"].removeprefix("dt"))
            yield coriolis_timed((f[r], f[s]), tendency, new, about=about, rotation=name, factor=factor, **stage)
        elif speed != 0:
            yield coriolis((f[r], f[s]), tendency, new, about=about, frequency=factor * speed, **stage)


def geostrophic_force(rotation: Vector, wind: Vector) -> Vector:
    """Return 2 Omega x wind, minus the pressure gradient that balances the Coriolis force of a steady wind."""
    (a, b, c), (u, v, w) = rotation, wind
    return 2 * (b * w - c * v), 2 * (c * u - a * w), 2 * (a * v - b * u)


@task(kernel=KERNELS / "forcing" / "stratification.cu")
def stratify(
    q: Read[facing(n=(0, 1))], h_T: ReadWrite, T_new: ReadWrite,
    *, along: Axis, dt: Scalar, ratio: Scalar, gradient: float,
) -> None:  # fmt: skip
    """T_new += dt (1 + ratio/2) F, h_T += F, F = -q gradient, in cells, with q the velocity along an axis, on faces.

    Runs after the heat equation of the stage, so that h_T = H.
    """


def stratification(f: Roles, gradient: Vector, **stage: Any) -> Iterator[Launch]:
    """Yield a launch for each component of the gradient. `stage` has the cells, dt and ratio."""
    for axis, velocity, slope in zip("xyz", (f.u, f.v, f.w), gradient, strict=True):
        if slope != 0:
            yield stratify(velocity, f.h_T, f.T_new, along=axis, gradient=slope, **stage)


def buoyancy_frequency(expansion: float, gravity: Vector, gradient: Vector) -> float:
    """Return sqrt|expansion gravity . gradient|: frequency of a stable layer or growth rate of an unstable one."""
    return abs(expansion * sum(g * slope for g, slope in zip(gravity, gradient, strict=True))) ** 0.5


NOTHING = (0.0, 0.0, 0.0)
Means = tuple[float | None, float | None, float | None]  # None: free


@task(kernel=KERNELS / "forcing" / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar["exact sum"], mean: float, share: float) -> None:
    """q = q + mean - total share, with share = 1 / number of cells, so that the mean of q is `mean`"""


def sum_of(axis: int, stage: str) -> str:
    """Return the scalar with the sum of the velocity along an axis, for the stage with this suffix."""
    return f"total_{'uvw'[axis]}{stage}"


@dataclass(frozen=True)
class Setting:
    """Cells, grid, fluid and bodies (or None) of a driven flow."""

    box: Box
    grid: Grid
    fluid: Fluid
    bodies: Obstacles | None


@task(kernel=KERNELS / "forcing" / "body_force.cu")
def accelerate(
    h_q: ReadWrite, q_new: ReadWrite, *, along: Axis, dt: Scalar, ratio: Scalar, force: Scalar, grid: Grid
) -> None:
    """q_new += dt (1 + ratio/2) force, h_q += force, with q the velocity along an axis, on faces.

    Runs after the momentum equation of the stage, so that h = H. Faces on walls keep their velocity.
    """


def body_force(axis: int, stage: str) -> str:
    """Return the scalar of a varying force along an axis at the start of the stage with this suffix."""
    return f"body_force_{'xyz'[axis]}{stage}"


def applied_force(axis: int) -> str:
    """Return the scalar of a varying force along an axis as a step applied it."""
    return f"applied_force_{'xyz'[axis]}"


@dataclass(frozen=True)
class Driving:
    """du/dt = ... - 2 rotation x u + F(t),    dT/dt = ... - u . gradient

    `rotation`: angular velocity of the frame, the maximum if it varies. `gradient`: of a background temperature.
    `means`: means of u, v, w over the fluid kept by a uniform F, or None. `forced`: axes with a uniform force that
    varies in time. `turned`: axes about which the rotation varies. For these the caller of the steps sets the scalars
    of `body_force` and `angular_velocity` for each stage, and of `applied_force` for the step.
    """

    rotation: Vector = NOTHING
    gradient: Vector = NOTHING
    means: Means = (None, None, None)
    forced: tuple[int, ...] = ()
    turned: tuple[int, ...] = ()

    def begin(self, f: Roles, setting: Setting) -> Iterator[Launch]:
        """Give the initial u, v, w their prescribed means. Needs their values on all faces, and p."""
        if self.means != (None, None, None):
            yield advective_rate(f.u, f.v, f.w, over=setting.box, rate=f.scalar("rate"), grid=setting.grid)
            yield from self.keep(f, (f.u, f.v, f.w), "dt", setting)

    def act(self, f: Roles, names: Mapping[str, str], setting: Setting) -> Iterator[Launch]:
        """Add the forcing to u_new, ..., T_new and h_u, ..., after the momentum and heat equations of a stage.

        `names` are the stage's scalars dt and ratio.
        """
        yield from coriolis_force(f, self.rotation, self.turned, over=setting.box, grid=setting.grid, **names)
        yield from stratification(f, self.gradient, over=setting.box, **names)
        for axis in self.forced:
            tendency, new, force = f[f"h_{'uvw'[axis]}"], f[f"{'uvw'[axis]}_new"], body_force(axis, stage(names["dt"]))
            about: dict[str, Any] = {"along": "xyz"[axis], "grid": setting.grid, **names}
            yield accelerate(tendency, new, over=setting.box, force=force, **about)
        yield from self.keep(f, (f.u_new, f.v_new, f.w_new), names["dt"], setting)

    def keep(self, f: Roles, velocity: tuple[str, str, str], dt: str, setting: Setting) -> Iterator[Launch]:
        """Give a velocity its prescribed means. The scalar `rate` must belong to it or to an earlier one."""
        grid, over = setting.grid, setting.box
        for axis, (q, mean) in enumerate(zip(velocity, self.means, strict=True)):
            if mean is None:
                continue
            elif setting.bodies:
                bulk = BulkVelocityTarget.along(axis, mean, grid)
                yield from setting.bodies.keep(f, q, dt, grid, setting.fluid, bulk)
            else:
                total, most = f.scalar(sum_of(axis, stage(dt))), grid.largest(axis) * grid.unevenness
                constants = {"scale": most, "grid": grid, "axis": axis, "layer": False}
                yield exact_sum(q, over=over, total=total, bound=f.scalar("rate"), **constants)
                yield shift_to_mean(q, over=over, total=total, mean=mean, share=1.0 / over.volume)

    def uniform(self, scalars: Mapping[str, float], fluid: Fluid) -> Vector:
        """Return the uniform force per mass that the last step applied, NaN before the first."""
        timed = [scalars.get(applied_force(axis), math.nan) if axis in self.forced else 0.0 for axis in range(3)]
        return triple(a + b for a, b in zip(fluid.force, timed, strict=True))

    def forces(self, scalars: Mapping[str, float], scheme: TimeScheme, dt: float, cells: int) -> dict[str, float]:
        """Return force_x, ...: mean force per mass in the last step that kept the means; NaN before the first."""
        accelerations = {}
        for axis, mean in enumerate(self.means):
            if mean is None:
                continue
            stages, name = [stage(names["dt"]) for names in scheme.names], f"force_{'xyz'[axis]}"
            if not dt:
                accelerations[name] = math.nan
            elif is_kept_around_bodies(scalars, axis, stages[0]):
                accelerations[name] = force_around_bodies(scalars, axis, stages, dt)
            else:
                sums = (reduced(scalars, sum_of(axis, ending))[0] for ending in stages)
                accelerations[name] = sum(mean - total / cells for total in sums) / dt
        return accelerations


NO_DRIVING = Driving()
"""No forcing: no additional task."""
