"""Explicit low-storage time schemes of one or more stages of the same form.

A stage advances velocity and temperature by  share dt ((1 + ratio/2) H - ratio/2 H_old),  with H the tendency at its
start and H_old the tendency of the previous stage, and then projects the velocity. The pressure of this projection is
located at the middle of the last stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from taskflow.common.caching import cached_property

USUAL_CFL = 0.5  # time.cfl by default


class DiffusiveRates(NamedTuple):
    """diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2): maximum over all diffusing quantities, and over bounded ones."""

    most: float = 0.0
    bounded: float = 0.0

    @classmethod
    def of(cls, viscosity: float, carried: Iterable[tuple[bool, float]], once: float) -> DiffusiveRates:
        """Return the rates of a viscosity and of (bounded, diffusivity). `once` = 1/dx^2 + 1/dy^2 + 1/dz^2."""
        quantities = list(carried)
        most = max([viscosity, *(diffusivity for _, diffusivity in quantities)])
        most_bounded = max((diffusivity for bounded, diffusivity in quantities if bounded), default=0.0)
        return cls(most * once, most_bounded * once)

    def beside(self, friction: float) -> DiffusiveRates:
        """Return the rates with at least this viscous rate."""
        return DiffusiveRates(max(self.most, friction), self.bounded)


@dataclass(frozen=True)
class DiffusionTerms:
    """Diffusive rates of a state: `once` max(viscosity + e, diffusivity + part e) and, of bounded quantities, `once`
    (bounded + part e). e is the scalar `eddy`, or 0 without one.
    """

    once: float
    viscosity: float = 0.0
    diffusivity: float = 0.0
    bounded: float | None = None
    part: float = 0.0
    eddy: str | None = None

    def rates(self, scalars: Mapping[str, float]) -> DiffusiveRates:
        """Return the rates with the scalars of a state."""
        eddy = scalars[self.eddy] if self.eddy else 0.0
        most = max(self.viscosity + eddy, self.diffusivity + self.part * eddy) * self.once
        bounded = 0.0 if self.bounded is None else self.bounded + self.part * eddy
        return DiffusiveRates(most, bounded * self.once)


@dataclass(frozen=True)
class Stage:
    """Part of a step. Without a `ratio` it uses dt / dt_old of the steps and is the only stage."""

    share: float
    ratio: float | None = None


@dataclass(frozen=True)
class StagePart:
    """Shares of a step: of a stage, `now`, and of the previous stage, `before`, 0 for the first one."""

    now: float
    before: float


@dataclass(frozen=True)
class TimeScheme:
    """Stages of a step, and stability limits with central differences.

    `diffusion`: largest dt viscosity (1/dx^2 + 1/dy^2 + 1/dz^2) without advection. `cfl`: largest dt (|u|/dx + |v|/dy +
    |w|/dz) without viscosity, 0 if no step is stable. `tolerated`: the largest one with acceptably slow growth of
    waves. For both together see `taskflow.flow.stability`.
    """

    stages: tuple[Stage, ...]
    diffusion: float
    cfl: float
    tolerated: float = 0.0

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """Suffixes of the scalars of each stage."""
        return ("",) if len(self.stages) == 1 else tuple(f"_{n}" for n in range(1, len(self.stages) + 1))

    @cached_property
    def names(self) -> tuple[Mapping[str, str], ...]:
        """Names of the scalars `dt` and `ratio` of each stage."""
        return tuple({name: f"{name}{ending}" for name in ("dt", "ratio")} for ending in self.endings)

    @cached_property
    def ends(self) -> tuple[float, ...]:
        """Fraction of the step at which each stage ends."""
        shares = accumulate(stage.share for stage in self.stages)
        return (*list(shares)[:-1], 1.0)

    def part(self, n: int) -> StagePart:
        """Return the shares of stage n and of the previous stage."""
        return StagePart(self.stages[n].share, self.stages[n - 1].share if n else 0.0)

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """Return the scalars of a step of length dt, `ratio` times as long as the last one (0: the first step)."""
        values = {}
        for stage, names in zip(self.stages, self.names, strict=True):
            values[names["dt"]] = stage.share * dt
            values[names["ratio"]] = ratio if stage.ratio is None else stage.ratio
        return values


ADAMS_BASHFORTH = TimeScheme((Stage(1.0),), diffusion=0.25, cfl=0.0, tolerated=0.5)
"""Second order, one stage, for variable steps. The first step is an Euler step.

Without viscosity the fastest waves grow by about cfl^4 / 4 per step: by 2.7 % at cfl = 0.5, which is tolerated.
"""

RUNGE_KUTTA = TimeScheme((Stage(8 / 15, 0.0), Stage(2 / 15, 17 / 4), Stage(1 / 3, 5 / 2)), diffusion=0.62, cfl=1.73)
"""Third order, of Wray: weights 8/15, then 5/12 and -17/60, then 3/4 and -5/12 (Spalart, Moser & Rogers 1991, J.
Comput. Phys. 96, 297 and Le & Moin 1991, J. Comput. Phys. 92, 369).

Self-starting in every step. Every stage is projected, so the scheme is applied to du/dt = P H(u), with P the
projection, constant in time if boundary values are. The velocity is thus of third order (Sanderse & Koren 2012, J.
Comput. Phys. 231, 3041). A single projection at the end of the step would leave an error of order dt^2 in the
velocities of the other stages, and a step of second order. Stable up to cfl 1.73 with any diffusion up to 0.4.
"""
