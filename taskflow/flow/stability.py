"""The longest stable steps of advection and diffusion together, by von Neumann analysis on uniform cells and at uniform
speed. The amplification of a wave in a step follows from dt times its eigenvalue,

    z = - diffusion sum of share_a 4 sin(k_a dx_a / 2)^2 + cfl symbol(k_b dx_b)

with the share of each direction a in the diffusion number, and the worst of all flow directions b. The symbol of
central differences is -i sin(k dx).

A direction with implicit diffusion has no share: implicit diffusion only damps, so it destabilises no wave if the other
numbers are stable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.flow.grid import Grid
from taskflow.flow.scalars.transport import CROSSINGS, SPREADINGS
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, USUAL_CFL, DiffusiveRates, TimeScheme

ROUNDING = 1e-9
NO_EDDIES = DiffusiveRates()
FASTER = 0.1  # share by which the velocity may grow in a step with bounded quantities
LEVELS = 8  # diffusion numbers that are tried
DEEPEST = 40  # halvings in the search for the longest step
ANGLES = np.linspace(0.0, np.pi, 65)[:, None, None]  # k dx along the flow
ACROSS = np.linspace(0.0, 1.0, 9)[None, :, None]  # diffusion along other directions, over its maximum
SLOWER = np.linspace(0.0, 1.0, 9)  # cells where the flow is slower than in the fastest one
SYMBOLS = {
    False: -1j * np.sin(ANGLES),
    True: -((1 - np.cos(ANGLES)) ** 2) / 4 - 1j * (10 * np.sin(ANGLES) - np.sin(2 * ANGLES)) / 8,
}
"""Symbols of central differences (False) and of QUICK, biased upwind (True)."""
NEWTON = 8  # iterations to rounding
MISSED = 0.01  # share of the velocity at the CFL limit that the first step from rest may miss, so 2 % of the energy
BEYOND = 1e9  # every explicit scheme lets waves grow that change so much in a step; their squares are numbers still


def amplification(scheme: TimeScheme, z: np.ndarray) -> np.ndarray:
    """Return the growth factors of waves in a step of a scheme, for z = dt times their eigenvalues: the spectral radius
    of the matrix that advances the value and the last tendency. Steps are equally long.
    """
    value, tendency = (np.ones_like(z), np.zeros_like(z)), (np.zeros_like(z), np.ones_like(z))  # of both at the start
    for stage in scheme.stages:
        ratio = 1.0 if stage.ratio is None else stage.ratio
        now, old = 1 + stage.share * (1 + ratio / 2) * z, -stage.share * ratio / 2
        after = now * value[0] + old * tendency[0], now * value[1] + old * tendency[1]
        tendency, value = (z * value[0], z * value[1]), after
    trace, determinant = value[0] + tendency[1], value[0] * tendency[1] - value[1] * tendency[0]
    root = np.sqrt(trace**2 - 4 * determinant)
    return np.maximum(abs(trace + root), abs(trace - root)) / 2


@dataclass(frozen=True)
class Waves:
    """The waves on a grid in a step of a scheme, with central differences or biased `upwind`. `implicit` is the axis of
    implicit diffusion. Speeds reach up to a CFL number, with one diffusion number.
    """

    scheme: TimeScheme
    grid: Grid
    upwind: bool = False
    implicit: int | None = None

    def growth(self, cfl: float, diffusion: float) -> float:
        """Return the relative growth of the fastest growing wave in a step, 0 if none grows."""
        factors = (amplification(self.scheme, z).max() for z in self._eigenvalues(cfl, diffusion))
        return max(float(max(factors, default=1.0)) - 1, 0.0)

    def stable(self, cfl: float, diffusion: float) -> bool:
        """Return True if no wave grows more than without viscosity, within the growth that the scheme tolerates."""
        for z in self._eigenvalues(cfl, diffusion):
            if abs(z).max() > BEYOND:
                return False
            oscillation = np.minimum(abs(z[:, :1].imag), self.scheme.tolerated)  # diffusion across is real
            undamped = amplification(self.scheme, 1j * oscillation)
            if (amplification(self.scheme, z) > np.maximum(undamped, 1.0) + ROUNDING).any():
                return False
        return True

    def longest(self, cfl: float, diffusion: float) -> float:
        """Return the stable share of a step with these numbers, at most 1, to about ten digits."""
        if self.stable(cfl, diffusion):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(DEEPEST):
            middle = (low + high) / 2
            low, high = (middle, high) if self.stable(middle * cfl, middle * diffusion) else (low, middle)
        return low

    def _eigenvalues(self, cfl: float, diffusion: float) -> Iterator[np.ndarray]:
        """Yield dt times the eigenvalues for a flow along each direction."""
        grid, implicit = self.grid, self.implicit
        axes = [axis for axis, cells in enumerate(grid.cells) if cells > 1]  # there are no waves along one cell
        total = grid.explicit_spacings(implicit)
        shares = {axis: 0.0 if axis == implicit else grid.inverse_spacing_squared_along(axis) / total for axis in axes}
        speeds = cfl * SLOWER if cfl else np.zeros(1)
        for axis in axes:
            along = shares[axis] * 2 * (1 - np.cos(ANGLES))
            across = 4 * (sum(shares.values()) - shares[axis]) * ACROSS
            yield -diffusion * (along + across) + speeds * SYMBOLS[self.upwind]


@dataclass(frozen=True)
class StepLimit:
    """The longest stable step: `fixed`, or the least of min(cfl / (advection + frequency), diffusion / spread) and the
    further bounds below.

    - advection = `max(|u|/dx + |v|/dy + |w|/dz)` and the rates of eddies are measured before each step.
    - spread = max(viscosity, diffusivity) (1/dx^2 + 1/dy^2 + 1/dz^2), a constant of the case.
    - `scheme`: the time scheme, with its stability region.
    - frequency: of the fastest oscillation due to forces, in radians per time.
    - bounded: the spread of bounded quantities, or None. Their bound (`taskflow.flow.scalars.transport`) is reduced by
      a tenth, as the velocity may grow in the step.
    - `longest_step`: the limit set by capillary waves.
    - fall: the largest acceleration over a spacing. It requires dt (C + sqrt(C^2 + 4 fall)) / 2 <= cfl, C being the
      advection, so that a fluid at rest starts.
    - damping: the damping of upwind differences for a wave from cell to cell, per CFL number. It requires dt (damping C
      + 4 spread) <= 1, less a tenth, as such waves grow otherwise.
    """

    fixed: float | None = None
    cfl: float = USUAL_CFL
    diffusion: float = 0.2
    spread: float = 0.0
    scheme: TimeScheme = ADAMS_BASHFORTH
    frequency: float = 0.0
    bounded: float | None = None
    longest_step: float = math.inf
    fall: float = 0.0
    damping: float | None = None

    def longest(self, advection: float, eddies: DiffusiveRates = NO_EDDIES) -> float:
        """Return the length of the step, with eddies. Raises BadInput if nothing moves or diffuses."""
        return finite(min(self.bounds(advection, eddies).values()))

    def bounds(self, advection: float, eddies: DiffusiveRates = NO_EDDIES) -> dict[str, float]:
        """Return the longest step by bound: by the keys of [time], by "scalars" for bounded quantities, and by "cfl and
        diffusion" for both together. If a step is fixed, it is the only entry.
        """
        if self.fixed is not None:
            return {"step": self.fixed}
        carried = (advection + math.sqrt(advection * advection + 4 * self.fall)) / 2 if self.fall else advection
        spread = max(self.spread, eddies.most)
        bounds = {
            "cfl": _ratio(self.cfl, carried + self.frequency),
            "diffusion": _ratio(self.diffusion, spread),
            "capillary": self.longest_step,
            "scalars": math.inf,
        }
        if self.bounded is not None:  # each stage is one of Euler's
            rate = CROSSINGS * advection + SPREADINGS * max(self.bounded, eddies.bounded)
            bounds["scalars"] = _ratio(1 - FASTER, max(stage.share for stage in self.scheme.stages) * rate)
        if self.damping is not None:
            bounds["cfl and diffusion"] = _ratio(1 - FASTER, self.damping * carried + 4 * spread)
        return bounds


@dataclass(frozen=True)
class Onset:
    """Causes that set a fluid in motion within a step, divided by the spacing: `speed` of walls and inflows (1/T),
    `acceleration` of the fluid (1/T^2), and its growth by released heat, `jerk` (1/T^3).
    """

    speed: float = 0.0
    acceleration: float = 0.0
    jerk: float = 0.0

    def longest(self, cfl: float, advection: float = 0.0) -> float:
        """Return the dt at whose end the CFL number is `cfl`: dt (C + acceleration dt + jerk dt^2 / 2) = cfl, C =
        max(speed, advection). Infinite if nothing moves.
        """
        terms = (self.jerk / 2, self.acceleration, max(self.speed, advection))
        dt = min(((cfl / term) ** (1 / power) for term, power in zip(terms, (3, 2, 1), strict=True) if term > 0),
                 default=math.inf)  # fmt: skip
        if not 0 < dt < math.inf:
            return dt
        jerk, acceleration, speed = terms
        for _ in range(NEWTON):  # from above, of a polynomial that is convex
            excess = ((jerk * dt + acceleration) * dt + speed) * dt - cfl
            dt -= excess / ((3 * jerk * dt + 2 * acceleration) * dt + speed)
        return dt

    def gentle(self, cfl: float) -> float:
        """Return the longest first step from rest of a first-order scheme. Infinite without jerk.

        Such a scheme misses the velocity jerk dt^2 / 2 in that step and never recovers it: at most `MISSED` of the
        velocity at the CFL limit. Constant speeds and accelerations are integrated exactly.
        """
        crossing = self.longest(cfl)
        return min(crossing, math.sqrt(2 * MISSED * cfl / (crossing * self.jerk))) if self.jerk > 0 else math.inf


NO_ONSET = Onset()


def finite(dt: float) -> float:
    """Return the length of a step. Raises BadInput if nothing bounds it."""
    if dt == math.inf:
        raise BadInput("no time step can be found: the fluid is at rest, and nothing moves it; give time.step")
    return dt


class Transported(NamedTuple):
    """An advected quantity: its diffusivity, its share of the eddy viscosity, and if differences are upwind-biased."""

    diffusivity: float
    eddies: float
    upwind: bool = False


@dataclass(frozen=True)
class Stability:
    """Stability of the steps of a flow within `limit`. `implicit`: the axis of implicit diffusion. Picklable."""

    scheme: TimeScheme
    grid: Grid
    carried: tuple[Transported, ...]
    limit: StepLimit
    implicit: int | None = None

    @property
    def spacings(self) -> float:
        """1/dx^2 + 1/dy^2 + 1/dz^2 over the directions of explicit diffusion."""
        return self.grid.explicit_spacings(self.implicit)

    def numbers(self, dt: float, advection: float, eddy: float = 0.0) -> tuple[float, float]:
        """Return the CFL number of a step, and its largest diffusion number."""
        most = max(q.diffusivity + q.eddies * eddy for q in self.carried)
        return dt * (advection + self.limit.frequency), dt * most * self.spacings

    def share(self, dt: float, cfl: float, eddy: float = 0.0) -> float:
        """Return the stable share of a step, at most 1, with and without this eddy viscosity."""
        once = dt * self.spacings
        cases = {(q.diffusivity + q.eddies * nu_t, q.upwind) for q in self.carried for nu_t in (0.0, eddy)}
        return min(self._waves(upwind).longest(cfl, once * nu) for nu, upwind in cases)

    def damped(self, dt: float, cfl: float) -> bool:
        """Return True if no wave grows in a step, without eddies. A scheme may tolerate some growth."""
        once = dt * self.spacings
        numbers = {(once * q.diffusivity, q.upwind) for q in self.carried}
        return all(self._waves(upwind).growth(cfl, d) <= ROUNDING for d, upwind in numbers)

    @property
    def certain(self) -> bool:
        """True if all steps within the limit are stable, at any flow speed."""
        limit, kinds = self.limit, {q.upwind for q in self.carried}
        if limit.fixed is not None:
            return False
        levels = [limit.diffusion * level / LEVELS for level in range(LEVELS + 1)]
        return all(self._waves(upwind).longest(limit.cfl, d) == 1 for d in levels for upwind in kinds)

    def _waves(self, upwind: bool) -> Waves:
        return Waves(self.scheme, self.grid, upwind, self.implicit)


def _ratio(amount: float, rate: float) -> float:
    return amount / rate if rate > 0 else math.inf
