"""Watches of the lengths of steps: warnings of steps that are unstable, too long for particles, or very short."""

from __future__ import annotations

import math

from taskflow.cases import SCHEMES
from taskflow.cases.timing.intervals import Tick
from taskflow.flow.stability import Stability

MARGIN = 1.02  # increase of the flow speed, and change of diffusion, before the next check
NAMES = {scheme: f'time.scheme = "{name}"' for name, scheme in SCHEMES.items()}
SHORTER, SHORT_STEPS = 10, 100  # ratio of steps without and with waves, and number of such steps, before a warning
NOT_WATCHED = {"stable": math.inf, "alike": 0.0, "slack": math.inf, "spacings": 0.0}


class StepWatch:
    """Checks every step of a run, and warns once, identically on all blocks."""

    def __init__(self, stability: Stability) -> None:
        self._stability, self.exceeded = stability, False
        self._known = (-1.0, -1.0)  # a CFL number that is stable with a diffusion number

    @property
    def limits(self) -> dict[str, float]:
        """The steps known to be stable, as limits of the clock on the device."""
        if self.exceeded:
            return NOT_WATCHED
        slowest, alike = self._known
        slack = (MARGIN - 1) * alike
        return {"stable": slowest, "alike": alike, "slack": slack, "spacings": self._stability.spacings}

    def look(self, tick: Tick, advection: float, eddy: float) -> str | None:
        """Return a warning of the step to `tick`, from a state with this advection and eddy viscosity; once."""
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


class WaveWatch:
    """Warns once, the same on all blocks, if capillary waves make steps much shorter than all other bounds."""

    def __init__(self) -> None:
        self._warned, self._steps = False, 0  # steps in a row that were so short

    @property
    def shorter(self) -> float:
        """The ratio by which waves shorten steps above which steps are examined; infinite once the warning is given."""
        return math.inf if self._warned else SHORTER

    def skip(self) -> None:
        """Note steps that waves did not make so short."""
        self._steps = 0

    def look(self, tick: Tick) -> str | None:
        """Return a warning of the step to `tick`; once."""
        allowed = tick.bounds.get("capillary", math.inf)
        others = min((length for name, length in tick.bounds.items() if name != "capillary"), default=0.0)
        self._steps = self._steps + 1 if allowed * SHORTER < others else 0
        if self._warned or self._steps < SHORT_STEPS:
            return None
        self._warned = True
        then = f"everything else would allow {others:.3g}" if others < math.inf else "nothing else bounds them"
        return (
            f"at step {tick.step}, time {tick.time:g}, steps of {allowed:.3g} follow capillary waves, where {then}:"
            " the run is expensive for its surface tension; give fewer cells, a larger time.capillary, up to 1, or a"
            " smaller two_phase.surface_tension"
        )


def too_long(step: float, advection: float) -> str:
    """Return the warning of a prescribed step in which particles around obstacles cross several faces."""
    return (
        f"time.step = {step:g} has the CFL number {step * advection:.3g}: around obstacles particles pass one face of"
        f" cells in a step and stop at the next one; give one of {1 / advection:.3g} or less, or time.cfl instead"
    )


def beyond(stability: Stability, dt: float, share: float, cfl: float, diffusion: float) -> str:
    """Return the warning of a step with these numbers, of which only a `share` is stable."""
    return (
        f"with the CFL number {cfl:.3g} and the diffusion number {diffusion:.3g}"
        f" {NAMES[stability.scheme]} is stable up to a step of {share * dt:.3g}; waves from cell to cell grow"
    )
