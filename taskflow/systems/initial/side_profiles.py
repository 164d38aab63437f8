"""Values on sides as functions of place and time: profiles of inflows, and of walls whose values depend on position."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.profile_table import Column
from taskflow.cases.tables.boundaries import Boundary, LogLawTable
from taskflow.cases.tables.openings import OpeningTable
from taskflow.cases.tables.timed import Timed, TimeFunction, Value, placed
from taskflow.common.errors import named
from taskflow.flow import StaggeredGrid
from taskflow.flow.boundaries.rough_wall import KARMAN
from taskflow.flow.model import VELOCITY
from taskflow.runtime.regions import triple
from taskflow.runtime.tasks import frame

AXES = "xyz"
SAMPLES = 9  # moments at which values are evaluated


def inflow_profiles(case: Case, side: Boundary, face: str) -> dict[str, SideProfile]:
    """Return the inflow profiles at a side or opening on a face, by field."""
    profiles: dict[str, SideProfile] = {}
    if side.table:
        profiles = {name: Column(side.table, name) for name in (*VELOCITY, *(["T"] if case.heat else []))}
    elif side.log_law:
        profiles = dict(zip(VELOCITY, _wind(case, side.log_law, face), strict=True))
    else:
        profiles = {name: on_inflow(value) for name, value in zip(VELOCITY, side.velocity or (), strict=True)}
    if isinstance(side, OpeningTable) and side.obstacle is not None:
        normal = "uvw"[side.axis]
        return {normal: profiles[normal]}
    if case.heat and side.temperature is not None:
        profiles["T"] = on_inflow(side.temperature)
    if side.phase is not None:
        profiles["f"] = on_inflow(2.0 - side.phase if isinstance(side.phase, float) else side.phase)
    return profiles


def wall_profiles(case: Case) -> dict[str, dict[str, SideProfile]]:
    """Return the position-dependent profiles on walls, by side or opening: tangential velocities, and T."""
    walls: dict[str, dict[str, SideProfile]] = {}
    for key, face, _, side in case.conditions:
        if side.kind.permeable:
            continue
        if placed(*(side.velocity or ())):
            along = zip(VELOCITY, side.velocity or (), strict=True)
            walls[key] = {name: on_wall(value) for name, value in along if VELOCITY[name][1] != face[0]}
        if side.temperature is not None and placed(side.temperature):
            walls[key] = {**walls.get(key, {}), "T": on_wall(side.temperature)}
    return walls


def largest_on_wall(key: str, value: Value, case: Case, grid: StaggeredGrid, face: str) -> float:
    """Return the number of largest magnitude, with its sign, of a profile by its key at the faces and centres of a
    wall's cells during the run. Raises BadInput if it is not finite.
    """
    axis, high = frame(face)
    faces = [grid.faces(along) for along in range(3)]
    ends = [np.concatenate([x, (x[:-1] + x[1:]) / 2]) for x in faces]
    ends[axis] = faces[axis][[-high]]
    places = ends[0][None, None, :], ends[1][None, :, None], ends[2][:, None, None]
    with named(key):
        values = np.concatenate([np.ravel(on_wall(value)(*places, time)) for time in times_of(case)])
    return float(values[np.abs(values).argmax()])


def on_inflow(value: Value) -> SideProfile:
    """Return a profile on inflows, where functions may depend on place and time."""
    return Expression(value) if isinstance(value, float) else value


def on_wall(value: Value) -> SideProfile:
    """Return a profile on walls, where functions are functions of time."""
    return EvenFunction(value) if isinstance(value, TimeFunction) else on_inflow(value)


def _wind(case: Case, law: LogLawTable, face: str) -> list[LogProfile]:
    axis, high = frame(face)
    speed = law.friction_velocity or (law.speed or 0.0) * KARMAN / log1p((law.height or 0.0) / law.roughness)
    inward = triple((-1 if high else 1) if a == axis else 0 for a in range(3))
    direction = np.array(law.direction or inward, np.float64)
    up = AXES.index(law.up)
    ground = case.grid.origin[up] if law.ground is None else law.ground
    return [LogProfile(speed, law.roughness, up, ground, share) for share in direction / np.linalg.norm(direction)]


def times_of(case: Case) -> list[float]:
    """Return times of the run, including the first and, if known, the last."""
    return [case.end_time * n / (SAMPLES - 1) for n in range(SAMPLES)] if case.end_time else [0.0]


@dataclass(frozen=True)
class EvenFunction:
    """A function of time alone, uniform in space."""

    function: TimeFunction

    varies = True

    def __call__(self, x: Any, y: Any, z: Any, t: float) -> np.ndarray:
        return np.full(np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z)), self.function.at(t))


@dataclass(frozen=True)
class LogProfile:
    """A velocity component over rough ground (P. J. Richards, R. P. Hoxey 1993, J. Wind Eng. Ind. Aerodyn. 46, 145):

        share (friction_velocity / 0.41) ln((s - ground + roughness) / roughness)

    with the coordinate s along `up`, a direction by number, and 0 below the ground. `share` is the component of the
    wind's direction, a unit vector.
    """

    friction_velocity: float
    roughness: float
    up: int
    ground: float
    share: float

    varies = False

    def __call__(self, x: Any, y: Any, z: Any, t: float = 0.0) -> np.ndarray:
        height = np.maximum((x, y, z)[self.up] - self.ground, 0.0)
        speed = self.friction_velocity / KARMAN * np.log1p(height / self.roughness)
        return np.broadcast_to(self.share * speed, np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z)))


SideProfile = Timed | Column | EvenFunction | LogProfile
"""A quantity on a side as a function of place, and of time if it `varies`."""
