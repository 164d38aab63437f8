"""The longest stable steps of a flow that is carried and diffuses at once, after von Neumann: waves on equal cells,
carried at one speed. The amplification of a wave in a step follows from dt times its eigenvalue,

    z = - diffusion sum of share_a 4 sin(k_a dx_a / 2)^2 + cfl symbol(k_b dx_b)

with the share of each direction a in the diffusion number, and the worst of all directions b of the flow. The symbol is
that of the scheme of convection: -i sin(k dx) of central differences.

A direction along which diffusion is implicit has no share: what it takes of waves lets none grow that would not grow
without it, as long as the other numbers are stable.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.flow.grid import Grid
from taskflow.flow.scalars.transport import CROSSINGS, SPREADINGS
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, DiffusiveRates, TimeScheme

ROUNDING = 1e-9
NO_EDDIES = DiffusiveRates()
FASTER = 0.1  # share by which the velocity may grow in a step with bounded quantities
LEVELS = 8  # diffusion numbers that are tried
DEEPEST = 40  # halvings in the search for the longest step
ANGLES = np.linspace(0.0, np.pi, 65)[:, None, None]  # k dx along the flow
ACROSS = np.linspace(0.0, 1.0, 9)[None, :, None]  # what diffusion along other directions does, of the most
SLOWER = np.linspace(0.0, 1.0, 9)  # cells where the flow is slower than in the fastest one
SYMBOLS = {
    False: -1j * np.sin(ANGLES),
    True: -((1 - np.cos(ANGLES)) ** 2) / 4 - 1j * (10 * np.sin(ANGLES) - np.sin(2 * ANGLES)) / 8,
}
"""Symbols of central differences (False), and of values that are biased upwind (True: QUICK)."""
NEWTON = 8  # iterations to rounding
MISSED = 0.01  # share of the velocity at the CFL limit that the first step from rest may miss, so 2 % of the energy
BEYOND = 1e9  # every explicit scheme lets waves grow that change so much in a step; their squares are numbers still


def amplification(scheme: TimeScheme, z: np.ndarray) -> np.ndarray:
    """Return the factors by which waves grow in a step of a scheme, for dt times their eigenvalues: the spectral radius
    of the matrix that takes the value and the last tendency through the step. Steps are equally long.
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
    """The waves on a grid that a scheme takes through a step, by central differences or biased `upwind`; `implicit` is
    the direction of such diffusion. Speeds are up to a CFL number, and there is one diffusion number.
    """

    scheme: TimeScheme
    grid: Grid
    upwind: bool = False
    implicit: int | None = None

    def growth(self, cfl: float, diffusion: float) -> float:
        """Return the share by which the fastest wave grows in a step, 0 where none grows."""
        factors = (amplification(self.scheme, z).max() for z in self._eigenvalues(cfl, diffusion))
        return max(float(max(factors, default=1.0)) - 1, 0.0)

    def stable(self, cfl: float, diffusion: float) -> bool:
        """Return whether no wave grows, or none by more than without viscosity, as far as the scheme tolerates that."""
        for z in self._eigenvalues(cfl, diffusion):
            if abs(z).max() > BEYOND:
                return False
            undamped = amplification(self.scheme, 1j * np.minimum(abs(z.imag), self.scheme.tolerated))
            if (amplification(self.scheme, z) > np.maximum(undamped, 1.0) + ROUNDING).any():
                return False
        return True

    def longest(self, cfl: float, diffusion: float) -> float:
        """The share of a step with these numbers that is stable, 1 at most, to ten digits or so."""
        if self.stable(cfl, diffusion):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(DEEPEST):
            middle = (low + high) / 2
            low, high = (middle, high) if self.stable(middle * cfl, middle * diffusion) else (low, middle)
        return low

    def _eigenvalues(self, cfl: float, diffusion: float) -> Iterator[np.ndarray]:
        """Yield dt times those of a flow along each direction."""
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
    """The longest stable step: `fixed`, or min(cfl / (advection + frequency), diffusion / spread), and where quantities
    are to stay within bounds what that needs (`taskflow.flow.scalars.transport`), less a tenth, as the velocity may
    grow in the step.

    advection = max(|u|/dx + |v|/dy + |w|/dz) and eddies = what diffuses with them, found anew before each step;
    spread = max(viscosity, diffusivity) (1/dx^2 + 1/dy^2 + 1/dz^2), a constant of the case;
    `scheme` knows for which numbers it is stable;
    frequency = that of the fastest oscillation that forces make, in radians per time.
    bounded = the spread of the bounded quantities alone, None without any;
    `longest_step`: what no step may exceed that follows capillary waves;
    fall = the largest acceleration over a spacing: with it dt (C + sqrt(C^2 + 4 fall)) / 2 is at most cfl, C being the
    advection, so that a fluid at rest starts.
    damping = how much upwind differences take per CFL number of a wave from cell to cell: with it dt (damping C + 4
    spread) is at most 1, less a tenth, as more makes such waves grow.
    """

    fixed: float | None = None
    cfl: float = 0.5
    diffusion: float = 0.2
    spread: float = 0.0
    scheme: TimeScheme = ADAMS_BASHFORTH
    frequency: float = 0.0
    bounded: float | None = None
    longest_step: float = math.inf
    fall: float = 0.0
    damping: float | None = None

    def longest(self, advection: float, eddies: DiffusiveRates = NO_EDDIES) -> float:
        """Length of the step, with eddies. `BadInput` if nothing moves and nothing diffuses, so that no length can be
        found.
        """
        return shortest(self.bounds(advection, eddies))

    def bounds(self, advection: float, eddies: DiffusiveRates = NO_EDDIES) -> dict[str, float]:
        """The longest step that each bound allows, by the key of [time] that sets it, by "scalars" for quantities with
        bounds of their own, and by "cfl and diffusion" for what both may do together; the fixed one alone, where there
        is one.
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
    """The causes that set a fluid in motion within a step, divided by the spacing: the `speed` of walls and inflows
    (1/T), the `acceleration` of the fluid (1/T^2), and its growth, the `jerk` (1/T^3), where heat is released.
    """

    speed: float = 0.0
    acceleration: float = 0.0
    jerk: float = 0.0

    def longest(self, cfl: float, advection: float = 0.0) -> float:
        """Return the dt with dt (C + acceleration dt + jerk dt^2 / 2) = cfl, C being the larger one of speed and
        advection: the step at whose end the CFL number is `cfl`. Infinite if nothing moves.
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
        """Return the longest step that a scheme of first order may begin with from rest. It misses jerk dt^2 / 2, which
        is never made up for: `MISSED` of the speed with which the fluid reaches the CFL number. Infinite without jerk,
        as speeds and accelerations that are constant are met exactly.
        """
        crossing = self.longest(cfl)
        return min(crossing, math.sqrt(2 * MISSED * cfl / (crossing * self.jerk))) if self.jerk > 0 else math.inf


NO_ONSET = Onset()


def shortest(bounds: Mapping[str, float]) -> float:
    """The longest step within all bounds. `BadInput` where none holds."""
    dt = min(bounds.values())
    if dt == math.inf:
        raise BadInput("no time step can be found: the fluid is at rest, and nothing moves it; give time.step")
    return dt


class Transported(NamedTuple):
    """A quantity that a flow carries, or its momentum: its diffusivity, the part of the eddy viscosity that is added to
    it, and whether its differences are biased upwind.
    """

    diffusivity: float
    eddies: float
    upwind: bool = False


@dataclass(frozen=True)
class Stability:
    """The stability of the steps of a flow, which are as long as their `limit` allows; `implicit` is the direction
    along which its diffusion is. Picklable.
    """

    scheme: TimeScheme
    grid: Grid
    carried: tuple[Transported, ...]
    limit: StepLimit
    implicit: int | None = None

    @property
    def spacings(self) -> float:
        """1/dx^2 + 1/dy^2 + 1/dz^2 of the directions along which diffusion is explicit."""
        return self.grid.explicit_spacings(self.implicit)

    def numbers(self, dt: float, advection: float, eddy: float = 0.0) -> tuple[float, float]:
        """The CFL number of a step, and its largest diffusion number."""
        most = max(q.diffusivity + q.eddies * eddy for q in self.carried)
        return dt * (advection + self.limit.frequency), dt * most * self.spacings

    def share(self, dt: float, cfl: float, eddy: float = 0.0) -> float:
        """The share of a step that is stable, 1 at most: with eddies as large as they are, and where there are none."""
        once = dt * self.spacings
        cases = {(q.diffusivity + q.eddies * nu_t, q.upwind) for q in self.carried for nu_t in (0.0, eddy)}
        return min(self._waves(upwind).longest(cfl, once * nu) for nu, upwind in cases)

    def damped(self, dt: float, cfl: float) -> bool:
        """Return whether no wave grows at all in a step, without eddies: a scheme may allow some growth."""
        once = dt * self.spacings
        numbers = {(once * q.diffusivity, q.upwind) for q in self.carried}
        return all(self._waves(upwind).growth(cfl, d) <= ROUNDING for d, upwind in numbers)

    @property
    def certain(self) -> bool:
        """Whether all steps that the limit allows are stable, however fast the flow is."""
        limit, kinds = self.limit, {q.upwind for q in self.carried}
        if limit.fixed is not None:
            return False
        levels = [limit.diffusion * level / LEVELS for level in range(LEVELS + 1)]
        return all(self._waves(upwind).longest(limit.cfl, d) == 1 for d in levels for upwind in kinds)

    def _waves(self, upwind: bool) -> Waves:
        return Waves(self.scheme, self.grid, upwind, self.implicit)


def _ratio(amount: float, rate: float) -> float:
    return amount / rate if rate > 0 else math.inf
