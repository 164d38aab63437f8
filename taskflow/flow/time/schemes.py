"""Time schemes: explicit, of low storage, of one or more stages that are all of one form.

A stage advances velocity and temperature by  share dt ((1 + ratio/2) H - ratio/2 H_old),  H being the tendency now
and H_old that of the stage before, and then projects the velocity. The pressure that this takes belongs to the middle
of the last stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple


class DiffusiveRates(NamedTuple):
    """diffusivity (1/dx^2 + 1/dy^2 + 1/dz^2), the largest of all that diffuses, and that of what is to stay bounded."""

    most: float = 0.0
    bounded: float = 0.0

    @classmethod
    def of(cls, viscosity: float, carried: Iterable[tuple[bool, float]], once: float) -> DiffusiveRates:
        """From a viscosity, for each quantity whether it is to stay bounded and its diffusivity, and `once`, 1/dx^2 +
        1/dy^2 + 1/dz^2.
        """
        quantities = list(carried)
        most = max([viscosity, *(diffusivity for _, diffusivity in quantities)])
        most_bounded = max((diffusivity for bounded, diffusivity in quantities if bounded), default=0.0)
        return cls(most * once, most_bounded * once)

    def beside(self, friction: float) -> DiffusiveRates:
        """The same of a fluid in which friction changes so much."""
        return DiffusiveRates(max(self.most, friction), self.bounded)


@dataclass(frozen=True)
class Stage:
    """Part of a step. Without a `ratio` of its own it has that of the steps, dt / dt_old, and is the only one."""

    share: float
    ratio: float | None = None


@dataclass(frozen=True)
class StagePart:
    """The shares in a step of a stage, `now`, and of the stage before, 0 for the first one."""

    now: float
    before: float


@dataclass(frozen=True)
class TimeScheme:
    """The stages of a step, and what is stable with central differences.

    `diffusion` is the largest dt viscosity (1/dx^2 + 1/dy^2 + 1/dz^2) where nothing is carried; `cfl` the largest dt
    (|u|/dx + |v|/dy + |w|/dz) without viscosity, 0 where no step is stable then; `tolerated` the one up to which waves
    grow so slowly then that they are taken for stable. For both together see `taskflow.flow.stability`.
    """

    stages: tuple[Stage, ...]
    diffusion: float
    cfl: float
    tolerated: float = 0.0

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of the names of scalars of each stage."""
        return ("",) if len(self.stages) == 1 else tuple(f"_{n}" for n in range(1, len(self.stages) + 1))

    @property
    def names(self) -> tuple[Mapping[str, str], ...]:
        """The names of the scalars `dt` and `ratio` of each stage."""
        return tuple({name: f"{name}{ending}" for name in ("dt", "ratio")} for ending in self.endings)

    @property
    def ends(self) -> tuple[float, ...]:
        """The part of the step at which each stage ends."""
        shares = accumulate(stage.share for stage in self.stages)
        return (*list(shares)[:-1], 1.0)

    def part(self, n: int) -> StagePart:
        """Return what stage n is of the step."""
        return StagePart(self.stages[n].share, self.stages[n - 1].share if n else 0.0)

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The values of these scalars in a step of length dt, `ratio` times as long as the last one (0: the first)."""
        values = {}
        for stage, names in zip(self.stages, self.names, strict=True):
            values[names["dt"]] = stage.share * dt
            values[names["ratio"]] = ratio if stage.ratio is None else stage.ratio
        return values


ADAMS_BASHFORTH = TimeScheme((Stage(1.0),), diffusion=0.25, cfl=0.0, tolerated=0.5)
"""Second order, for steps that vary; begun by a step of Euler's. One stage.

Without viscosity the fastest waves grow by about cfl^4 / 4 per step: by 2.7 % where cfl is 0.5, which is tolerated.
"""

RUNGE_KUTTA = TimeScheme((Stage(8 / 15, 0.0), Stage(2 / 15, 17 / 4), Stage(1 / 3, 5 / 2)), diffusion=0.62, cfl=1.73)
"""Third order, of Wray: weights 8/15; 5/12 and -17/60; 3/4 and -5/12 (Spalart, Moser & Rogers 1991, J. Comput. Phys.
96, 297; Le & Moin 1991, J. Comput. Phys. 92, 369).

It begins anew with every step. Every stage is projected: so it is the very scheme applied to du/dt = P H(u), P the
projection, which is constant in time where boundary values are, and the velocity is of third order (Sanderse & Koren
2012, J. Comput. Phys. 231, 3041). With one projection per step, at its end, the other stages would have the last
pressure at best, an error of order dt^2 in their velocities, and the step would be of second order. Stable up to cfl
1.73 with any diffusion up to 0.4.
"""
