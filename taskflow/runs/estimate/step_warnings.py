"""Warnings of unstable steps, as far as a case determines the speed of its flow."""

from __future__ import annotations

import math
from collections.abc import Iterator

from taskflow.cases.timing.schedule import FITS
from taskflow.runs.block.step_watch import NAMES, beyond, too_long
from taskflow.runs.state.setup import RunSetup


def step_warnings(sim: RunSetup) -> Iterator[str]:
    """Yield warnings of steps too long for the speed of walls, inflows and initial velocity."""
    stability, rate, fixed = sim.stability, sim.system.advective_rate, sim.clock.limit.fixed
    where = "at the speed of walls, inflows and initial velocity"
    if fixed is not None and sim.particles is not None and sim.particles.carrying.bodies and fixed * rate > 1:
        yield f"{where} {too_long(fixed, rate)}"
    if stability is None:
        return
    limit = stability.limit
    if limit.fixed is not None:
        cfl, diffusion = stability.numbers(limit.fixed, rate)
        if (share := stability.share(limit.fixed, cfl)) < 1:
            why = beyond(stability, limit.fixed, share, cfl, diffusion)
            yield f"time.step = {limit.fixed:g} is longer than is stable {where}: {why}"
        return
    limits: dict[str, str] = {}
    slow = limit.diffusion / limit.spread if limit.spread > 0 else math.inf  # the longest step of diffusion alone
    diffuses = math.isfinite(slow * stability.spacings)  # without viscosity it has no number
    if diffuses and (share := stability.share(slow, 0.0)) < 1:
        limits["diffusion"] = f"{share * limit.diffusion:.3g}, where nothing is carried"
    # An unknown speed may become so large that diffusion is negligible in a step.
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
