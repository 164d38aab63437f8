"""Forcing of a flow besides forces that are the same everywhere and always: each has tasks of its own, and costs
nothing where it is not there.

A mean velocity is kept by a uniform force along a periodic direction, as large as it takes in every stage. The mean
over the domain is measured before the projection, which leaves it as it is, and the velocity shifted by what it lacks.
Like the pressure, the force is what holds a constraint, so the order of the time scheme stays.

The Coriolis force of a frame that turns with the angular velocity Omega: du/dt = ... - 2 Omega x u. Each component is
the mean of the four beside a face, so that the force does no work: over all faces the sum of u F is 0 to rounding,
between walls too. The centrifugal force is a gradient, which the pressure takes. Euler's force, -dOmega/dt x r, is not
here: it needs to know where the axis is, and is an expression of the place.

A background temperature of constant gradient: T is the departure from it, and dT/dt = ... - u . gradient. With
buoyancy, a fluid at rest that is displaced along gravity oscillates with the frequency of Brunt and Vaisala, N^2 =
-expansion gravity . gradient. The velocity in a cell is the mean of its faces, as the temperature on a face is that of
its cells: so what buoyancy takes from |T|^2 the velocity gains, to rounding.
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
    """r_new += dt (1 + ratio/2) F_r, h_r += F_r, F_r = frequency s; likewise F_s = -frequency r, on faces.

    r and s are the velocities along the two axes other than that of rotation, in the order of x, y, z; frequency = 2
    Omega, and -2 Omega about y, since x, z, y are left-handed. After the momentum equation of the same stage: then h
    has all of H. Faces that lie on a wall keep their velocity.
    """


@task(kernel=KERNELS / "forcing" / "coriolis.cu")
def coriolis_timed(
    velocity: ACROSS, tendency: TENDENCY, velocity_new: ACROSS_NEW,
    *, about: Axis, dt: Scalar, ratio: Scalar, rotation: Scalar, grid: Grid, factor: float,
) -> None:  # fmt: skip
    """The same with frequency = factor rotation, at the beginning of the stage."""


def angular_velocity(axis: int, stage: str) -> str:
    """The scalar of an angular velocity about an axis that changes in time, at the beginning of the stage whose names
    end so.
    """
    return f"rotation_{'xyz'[axis]}{stage}"


def coriolis_force(f: Roles, rotation: Vector, turned: tuple[int, ...] = (), **stage: Any) -> Iterator[Launch]:
    """A launch for each component of the frame's angular velocity, of which those about the axes `turned` change in
    time; `stage` says over which cells, dt, ratio, grid.
    """
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
    """2 Omega x wind: minus the gradient of the pressure that holds a steady wind against the Coriolis force."""
    (a, b, c), (u, v, w) = rotation, wind
    return 2 * (b * w - c * v), 2 * (c * u - a * w), 2 * (a * v - b * u)


@task(kernel=KERNELS / "forcing" / "stratification.cu")
def stratify(
    q: Read[facing(n=(0, 1))], h_T: ReadWrite, T_new: ReadWrite,
    *, along: Axis, dt: Scalar, ratio: Scalar, gradient: float,
) -> None:  # fmt: skip
    """T_new += dt (1 + ratio/2) F, h_T += F, F = -q gradient, in cells; q is the velocity along an axis, on faces.

    After the heat equation of the same stage: then h_T has all of H.
    """


def stratification(f: Roles, gradient: Vector, **stage: Any) -> Iterator[Launch]:
    """A launch for each component of the gradient; `stage` says over which cells, dt and ratio."""
    for axis, velocity, slope in zip("xyz", (f.u, f.v, f.w), gradient, strict=True):
        if slope != 0:
            yield stratify(velocity, f.h_T, f.T_new, along=axis, gradient=slope, **stage)


def buoyancy_frequency(expansion: float, gravity: Vector, gradient: Vector) -> float:
    """sqrt|expansion gravity . gradient|: how fast a stable layer oscillates, or an unstable one grows."""
    return abs(expansion * sum(g * slope for g, slope in zip(gravity, gradient, strict=True))) ** 0.5


NOTHING = (0.0, 0.0, 0.0)
Means = tuple[float | None, float | None, float | None]  # None: as the flow will have it


@task(kernel=KERNELS / "forcing" / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar["exact sum"], mean: float, share: float) -> None:
    """q = q + mean - total share, share being one over the number of cells: then its mean is `mean`."""


def sum_of(axis: int, stage: str) -> str:
    """The scalar that holds the sum of the velocity along an axis, for the stage whose names end so."""
    return f"total_{'uvw'[axis]}{stage}"


@dataclass(frozen=True)
class Setting:
    """The place where a flow is driven: the cells, their grid, the fluid, and the bodies in it, None without any."""

    box: Box
    grid: Grid
    fluid: Fluid
    bodies: Obstacles | None


@task(kernel=KERNELS / "forcing" / "body_force.cu")
def accelerate(
    h_q: ReadWrite, q_new: ReadWrite, *, along: Axis, dt: Scalar, ratio: Scalar, force: Scalar, grid: Grid
) -> None:
    """q_new += dt (1 + ratio/2) force, h_q += force, q being the velocity along an axis, on faces. After the momentum
    equation of the same stage: then h has all of H. Faces that lie on a wall keep their velocity.
    """


def body_force(axis: int, stage: str) -> str:
    """The scalar of a force along an axis that changes in time, at the beginning of the stage whose names end so."""
    return f"body_force_{'xyz'[axis]}{stage}"


@dataclass(frozen=True)
class Driving:
    """du/dt = ... - 2 rotation x u + F(t),    dT/dt = ... - u . gradient

    `rotation`: angular velocity of the frame; `gradient`: of a background temperature, from which T is the departure;
    `means`: over the fluid, of u, v, w, each kept by a uniform F along it where it is a number. `forced` are the axes
    along which a uniform force acts that is given as a function of time, `turned` those about which the rotation is,
    and the largest one in `rotation`: whoever runs the steps gives the scalars of `body_force` and `angular_velocity`
    for each stage.
    """

    rotation: Vector = NOTHING
    gradient: Vector = NOTHING
    means: Means = (None, None, None)
    forced: tuple[int, ...] = ()
    turned: tuple[int, ...] = ()

    def begin(self, f: Roles, setting: Setting) -> Iterator[Launch]:
        """The initial u, v, w get the means that they will keep. Needs their values on all faces, and p."""
        if self.means != (None, None, None):
            yield advective_rate(f.u, f.v, f.w, over=setting.box, rate=f.scalar("rate"), grid=setting.grid)
            yield from self.keep(f, (f.u, f.v, f.w), "dt", setting)

    def act(self, f: Roles, names: Mapping[str, str], setting: Setting) -> Iterator[Launch]:
        """Adds to u_new, ..., T_new and h_u, ... what the momentum and the heat equation of a stage have not; `names`
        are those of the stage's dt and ratio.
        """
        yield from coriolis_force(f, self.rotation, self.turned, over=setting.box, grid=setting.grid, **names)
        yield from stratification(f, self.gradient, over=setting.box, **names)
        for axis in self.forced:
            tendency, new, force = f[f"h_{'uvw'[axis]}"], f[f"{'uvw'[axis]}_new"], body_force(axis, stage(names["dt"]))
            about: dict[str, Any] = {"along": "xyz"[axis], "grid": setting.grid, **names}
            yield accelerate(tendency, new, over=setting.box, force=force, **about)
        yield from self.keep(f, (f.u_new, f.v_new, f.w_new), names["dt"], setting)

    def keep(self, f: Roles, velocity: tuple[str, str, str], dt: str, setting: Setting) -> Iterator[Launch]:
        """Gives a velocity its means. The scalar rate has to be that of this velocity or of one before: see
        `advective_rate`.
        """
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
        """The force per mass on all fluid at the beginning of the last step."""
        timed = [scalars.get(body_force(axis, ""), 0.0) if axis in self.forced else 0.0 for axis in range(3)]
        return triple(a + b for a, b in zip(fluid.force, timed, strict=True))

    def forces(self, scalars: Mapping[str, float], scheme: TimeScheme, dt: float, cells: int) -> dict[str, float]:
        """force_x, ...: what kept the means in the last step, of length dt, per mass and as a mean over the step.

        NaN before the first step (dt = 0).
        """
        stages, accelerations = [stage(names["dt"]) for names in scheme.names], {}
        for axis, mean in enumerate(self.means):
            if mean is None:
                continue
            name = f"force_{'xyz'[axis]}"
            if not dt:
                accelerations[name] = math.nan
            elif is_kept_around_bodies(scalars, axis, stages[0]):
                accelerations[name] = force_around_bodies(scalars, axis, stages, dt)
            else:
                sums = (reduced(scalars, sum_of(axis, ending))[0] for ending in stages)
                accelerations[name] = sum(mean - total / cells for total in sums) / dt
        return accelerations


NO_DRIVING = Driving()
"""No task more than the equations have."""
