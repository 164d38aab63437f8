"""What drives a flow besides forces that are the same everywhere and always: each has tasks of its own, and costs
nothing where it is not there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.bodies import Obstacles
from taskflow.flow.bodies.bulk_velocity import KeptMean, force_around_bodies, is_kept_around_bodies, stage
from taskflow.flow.forcing.bulk_velocity import Means, force, keep
from taskflow.flow.forcing.coriolis import coriolis_force
from taskflow.flow.forcing.stratification import stratification
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.operators.momentum import Fluid
from taskflow.flow.operators.rates import advective_rate
from taskflow.flow.time.schemes import Scheme
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Launch, Roles

NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Setting:
    """Where a flow is driven: the cells, their grid, the fluid, and the bodies in it, None without any."""

    box: Box
    grid: Grid
    fluid: Fluid
    bodies: Obstacles | None


@dataclass(frozen=True)
class Driving:
    """du/dt = ... - 2 rotation x u + F(t),    dT/dt = ... - u . gradient

    `rotation`: angular velocity of the frame; `gradient`: of a background temperature, from which T is the departure;
    `means`: over the fluid, of u, v, w, each kept by a uniform F along it where it is a number.
    """

    rotation: Vector = NOTHING
    gradient: Vector = NOTHING
    means: Means = (None, None, None)

    def begin(self, f: Roles, setting: Setting) -> Iterator[Launch]:
        """The initial u, v, w get the means that they will keep. Needs their values on all faces, and p."""
        if self.means != (None, None, None):
            yield advective_rate(f.u, f.v, f.w, over=setting.box, rate=f.scalar("rate"), grid=setting.grid)
            yield from self.keep(f, (f.u, f.v, f.w), "dt", setting)

    def act(self, f: Roles, names: Mapping[str, str], setting: Setting) -> Iterator[Launch]:
        """Adds to u_new, ..., T_new and h_u, ... what the momentum and the heat equation of a stage have not; `names`
        are those of the stage's dt and ratio.
        """
        yield from coriolis_force(f, self.rotation, over=setting.box, grid=setting.grid, **names)
        yield from stratification(f, self.gradient, over=setting.box, **names)
        yield from self.keep(f, (f.u_new, f.v_new, f.w_new), names["dt"], setting)

    def keep(self, f: Roles, velocity: tuple[str, str, str], dt: str, setting: Setting) -> Iterator[Launch]:
        """Gives a velocity its means."""
        for axis, (q, mean) in enumerate(zip(velocity, self.means, strict=True)):
            if mean is None:
                continue
            elif setting.bodies:
                bulk = KeptMean.along(axis, mean, setting.grid)
                yield from setting.bodies.keep(f, q, dt, setting.grid, setting.fluid, bulk)
            else:
                yield from keep(f, q, mean, axis, over=setting.box, grid=setting.grid, stage=stage(dt))

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
                accelerations[name] = force(scalars, mean, axis, stages, cells, dt)
        return accelerations


NO_DRIVING = Driving()
"""No task more than the equations have."""
