"""Words on steps that are too long for their scheme: before a run, and once in it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from taskflow.flow.stability import Stability
from taskflow.flow.time.schemes import ADAMS_BASHFORTH
from taskflow.simulation.case import SCHEMES
from taskflow.simulation.schedule import FITS, Tick

if TYPE_CHECKING:
    from taskflow.simulation.build.simulation import Simulation

MARGIN = 1.02  # how much faster a flow may get before it is asked again, and how far diffusion may change
NAMES = {scheme: f'time.scheme = "{name}"' for name, scheme in SCHEMES.items()}


def better(stability: Stability | None) -> str:
    """The scheme with a wider range, if there is one, as a further choice."""
    return f", or {NAMES[SCHEMES['rk3']]}" if stability and stability.scheme == ADAMS_BASHFORTH else ""


class StepWatch:
    """Looks at every step of a run, and speaks once. What it says is the same on all blocks."""

    def __init__(self, stability: Stability) -> None:
        self._stability, self.exceeded = stability, False
        self._known = (-1.0, -1.0)  # a CFL number that is stable with a diffusion number

    def look(self, tick: Tick, advection: float, eddy: float) -> str | None:
        """A warning of the step that leads to `tick`, from a state with this advection and eddy viscosity; once."""
        cfl, diffusion = self._stability.numbers(tick.dt, advection, eddy)
        slowest, alike = self._known
        if self.exceeded or (cfl <= slowest and abs(diffusion - alike) <= (MARGIN - 1) * alike):
            return None
        for faster in (MARGIN, 1.0):
            share = self._stability.share(tick.dt, faster * cfl, eddy)
            if share == 1.0:
                self._known = faster * cfl, diffusion
                return None
        self.exceeded = True
        return (
            f"at step {tick.step}, time {tick.time:g}, the step is longer than is stable:"
            f" {beyond(self._stability, tick.dt, share, cfl, diffusion)}"
        )


def beyond(stability: Stability, dt: float, share: float, cfl: float, diffusion: float) -> str:
    """In words, that of a step with these numbers only a share is stable."""
    return (
        f"with the CFL number {cfl:.3g} and the diffusion number {diffusion:.3g}"
        f" {NAMES[stability.scheme]} is stable up to a step of {share * dt:.3g}; waves from cell to cell grow"
    )


def cautions(sim: Simulation) -> Iterator[str]:
    """Warnings of steps that are too long at the speed of walls, inflows and initial velocity."""
    stability, rate = sim.stability, sim.system.advective_rate
    if stability is None:
        return
    limit, where = stability.limit, "at the speed of walls, inflows and initial velocity"
    if limit.fixed is not None:
        cfl, diffusion = stability.numbers(limit.fixed, rate)
        if (share := stability.share(limit.fixed, cfl)) < 1:
            why = beyond(stability, limit.fixed, share, cfl, diffusion)
            yield f"time.step = {limit.fixed:g} is longer than is stable {where}: {why}"
        return
    limits: dict[str, str] = {}
    slow = limit.diffusion / limit.spread if limit.spread > 0 else math.inf  # the longest step of diffusion alone
    # With next to no viscosity it has no number
    diffuses = math.isfinite(slow * stability.grid.inverse_spacing_squared)
    if diffuses and (share := stability.share(slow, 0.0)) < 1:
        limits["diffusion"] = f"{share * limit.diffusion:.3g}, where nothing is carried"
    # Where nothing tells the speed it may get so large that diffusion does nothing in a step.
    dt = limit.longest(rate) if rate > 0 else 0.0
    cfl, diffusion = stability.numbers(dt, rate) if dt else (limit.cfl, 0.0)
    if (share := stability.share(dt, cfl)) < 1 and cfl >= limit.cfl * (1 - FITS):
        then = f"{where}, with a diffusion number of {share * diffusion:.3g} then" if dt else "where nothing diffuses"
        limits["cfl"] = f"{share * cfl:.3g} {then}"
    elif share < 1:  # diffusion makes the step as short as it is
        limits["diffusion"] = f"{share * diffusion:.3g} {where}, with a CFL number of {share * cfl:.3g} then"
    for key, most in limits.items():
        now = getattr(limit, key)
        yield f"time.{key} = {now:g}: {NAMES[stability.scheme]} is stable up to {most}; give less"
