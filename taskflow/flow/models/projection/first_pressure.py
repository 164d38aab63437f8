"""The pressure of the first state. Immersed bodies use the pressure of the previous step: with this one a fluid at
rest, with weight balanced by pressure, also stays at rest in the first step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from taskflow.flow.bodies import Obstacles
from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.boundaries.open_boundaries import OpenBoundaries
from taskflow.flow.boundaries.sides import normal_velocity
from taskflow.flow.forcing.driving import Driving, Setting
from taskflow.flow.model import VELOCITY
from taskflow.flow.poisson import Solver
from taskflow.flow.time.schemes import RUNGE_KUTTA, TimeScheme
from taskflow.runtime.tasks import Derive, Launch, Repeat, Roles

RATIO = "ratio_at_first"  # the scalar: a step of Euler's


class Accelerated(Protocol):
    """The part of a flow that `first_pressure` needs."""

    @property
    def driving(self) -> Driving: ...
    @property
    def setting(self) -> Setting: ...
    @property
    def openings(self) -> OpenBoundaries: ...
    @property
    def pressure(self) -> Solver: ...
    @property
    def scheme(self) -> TimeScheme: ...
    def accelerate(self, f: Roles, names: Mapping[str, str]) -> Iterator[Launch]: ...


def first_pressure(flow: Accelerated, f: Roles, obstacles: Obstacles) -> Iterator[Launch | Repeat | Derive]:
    """Compute the pressure that removes the divergence of the tendency, with dt = 1. Overwrites `u_new` and `h`."""
    setting = flow.setting
    first, new = flow.scheme.names[0]["dt"], f.copy()  # values that change in time are those of the first stage
    yield Derive(_euler, (RATIO,))
    if first != "dt":
        yield Derive(_stage, (first,))
    names = {"dt": first, "ratio": f.scalar(RATIO)}
    for name in VELOCITY:
        new.swap(name, f"{name}_new")
    velocity = new.u, new.v, new.w
    yield from flow.accelerate(f, names)
    yield from replace(flow.driving, means=(None, None, None)).act(f, names, setting)
    yield from normal_velocity(velocity, flow.openings.boundaries, setting.grid)
    yield from flow.openings.begin(new)
    yield from obstacles.hold(f, velocity, setting.grid)
    yield from obstacles.projection(f, velocity, "dt", setting.grid, flow.pressure)
    yield impose(f.rhs, over=setting.box, value=Value(0.0))


def _euler(_: Mapping[str, float]) -> dict[str, float]:
    return {RATIO: 0.0}


def _stage(_: Mapping[str, float]) -> dict[str, float]:
    return {RUNGE_KUTTA.names[0]["dt"]: 1.0}
