"""What drives a flow besides forces that are the same everywhere and always: each has tasks of its own, and costs
nothing where it is not there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from taskflow.flow.diagnostics import advective_rate
from taskflow.flow.driving.bulk_velocity import Means, force, keep
from taskflow.flow.driving.coriolis import coriolis
from taskflow.flow.driving.stratification import stratification
from taskflow.flow.grid import Grid, Vector
from taskflow.flow.obstacles.bulk_velocity import keep_around_bodies, open_faces
from taskflow.flow.schemes import Scheme
from taskflow.regions import Box
from taskflow.tasks import Launch, Roles

NOTHING = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Driving:
    """du/dt = ... - 2 rotation x u + F(t),    dT/dt = ... - u . gradient

    `rotation`: angular velocity of the frame; `gradient`: of a background temperature, from which T is the departure;
    `means`: over the fluid, of u, v, w, each kept by a uniform F along it where it is a number.
    """

    rotation: Vector = NOTHING
    gradient: Vector = NOTHING
    means: Means = (None, None, None)

    def begin(self, f: Roles, box: Box, grid: Grid, *, bodies: bool) -> Iterator[Launch]:
        """The initial u, v, w get the means that they will keep. Needs their values on all faces, and p."""
        if self.means != (None, None, None):
            yield advective_rate(f.u, f.v, f.w, over=box, rate="rate", grid=grid)
            yield from self.keep(f, (f.u, f.v, f.w), {"dt": "dt"}, box, grid, bodies=bodies)

    def act(self, f: Roles, names: Mapping[str, str], box: Box, grid: Grid, *, bodies: bool) -> Iterator[Launch]:
        """Adds to u_new, ..., T_new and h_u, ... what the momentum and the heat equation of a stage have not; `names`
        are those of the stage's dt and ratio.
        """
        yield from coriolis(f, self.rotation, over=box, grid=grid, **names)
        yield from stratification(f, self.gradient, over=box, **names)
        yield from self.keep(f, (f.u_new, f.v_new, f.w_new), names, box, grid, bodies=bodies)

    def keep(
        self, f: Roles, velocity: tuple[str, str, str], names: Mapping[str, str], box: Box, grid: Grid, *, bodies: bool
    ) -> Iterator[Launch]:
        """Gives a velocity its means."""
        for axis, (q, mean) in enumerate(zip(velocity, self.means, strict=True)):
            if mean is None:
                continue
            elif bodies:
                yield from keep_around_bodies(f, q, mean, axis, names, over=box, grid=grid, stage=_stage(names))
            else:
                yield from keep(q, mean, axis, over=box, grid=grid, stage=_stage(names))

    def forces(self, scalars: Mapping[str, float], scheme: Scheme, dt: float, cells: int) -> dict[str, float]:
        """force_x, ...: what kept the means in the last step, of length dt, per mass and as a mean over the step.

        NaN before the first step (dt = 0).
        """
        stages, found = [_stage(names) for names in scheme.names], {}
        for axis, mean in enumerate(self.means):
            if mean is not None:
                faces = scalars.get(open_faces(axis), cells)
                found[f"force_{'xyz'[axis]}"] = force(scalars, mean, axis, stages, faces, dt) if dt else math.nan
        return found


def _stage(names: Mapping[str, str]) -> str:
    """How the names of what belongs to a stage end."""
    return names["dt"].removeprefix("dt")


NO_DRIVING = Driving()
"""No task more than the equations have."""
