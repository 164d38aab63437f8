"""Forcing of a flow besides forces that are the same everywhere and always: each has tasks of its own, and costs
nothing where it is not there.

A mean velocity is kept by a uniform force along a periodic direction, as large as it takes in every stage. The mean
over the domain is measured before the projection, which leaves it as it is, and the velocity shifted by what it lacks.
Like the pressure, the force is what holds a constraint, so the order of the time scheme stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.flow.bodies import Obstacles
from taskflow.flow.bodies.bulk_velocity import BulkVelocityTarget, force_around_bodies, is_kept_around_bodies, stage
from taskflow.flow.forcing.coriolis import coriolis_force
from taskflow.flow.forcing.stratification import stratification
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.operators.rates import advective_rate, exact_sum
from taskflow.flow.time.schemes import Scheme
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Axis, Launch, ReadWrite, Roles, Scalar, reduced, task

NOTHING = (0.0, 0.0, 0.0)
Means = tuple[float | None, float | None, float | None]  # None: as the flow will have it


@task(kernel=KERNELS / "forcing" / "bulk_shift.cu")
def shift_to_mean(q: ReadWrite, *, total: Scalar["exact sum"], mean: float, share: float) -> None:
    """q = q + mean - total share, share being one over the number of cells: then its mean is `mean`."""


def sum_of(axis: int, stage: str) -> str:
    """The scalar that holds the sum of the velocity along an axis, for the stage whose names end so."""
    return f"total_{'uvw'[axis]}{stage}"


def enforce_bulk_velocity(
    f: Roles, q: str, mean: float, axis: int, *, over: Box, grid: Grid, stage: str
) -> Iterator[Launch]:
    """Gives the velocity along an axis its mean over all cells.

    The scalar rate has to be that of this velocity or of one before: see `advective_rate`.
    """
    total, most = f.scalar(sum_of(axis, stage)), grid.largest(axis) * grid.unevenness
    constants = {"scale": most, "grid": grid, "axis": axis, "layer": False}
    yield exact_sum(q, over=over, total=total, bound=f.scalar("rate"), **constants)
    yield shift_to_mean(q, over=over, total=total, mean=mean, share=1.0 / over.volume)


def mean_force(
    scalars: Mapping[str, float], mean: float, axis: int, stages: Iterable[str], cells: int, dt: float
) -> float:
    """The mean over a step of length dt of the acceleration along an axis that kept the mean over so many cells."""
    sums = (reduced(scalars, sum_of(axis, stage))[0] for stage in stages)
    return sum(mean - total / cells for total in sums) / dt


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
        """Gives a velocity its means."""
        for axis, (q, mean) in enumerate(zip(velocity, self.means, strict=True)):
            if mean is None:
                continue
            elif setting.bodies:
                bulk = BulkVelocityTarget.along(axis, mean, setting.grid)
                yield from setting.bodies.keep(f, q, dt, setting.grid, setting.fluid, bulk)
            else:
                yield from enforce_bulk_velocity(f, q, mean, axis, over=setting.box, grid=setting.grid, stage=stage(dt))

    def forces(self, scalars: Mapping[str, float], scheme: Scheme, dt: float, cells: int) -> dict[str, float]:
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
                accelerations[name] = mean_force(scalars, mean, axis, stages, cells, dt)
        return accelerations


NO_DRIVING = Driving()
"""No task more than the equations have."""
