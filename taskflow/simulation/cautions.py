"""What is to be said of a case before it is run: that its steps may be too long for its scheme."""

from __future__ import annotations

import math
from collections.abc import Iterator

from taskflow.simulation.estimate import advective_rate
from taskflow.simulation.schedule import FITS
from taskflow.simulation.setup import Setup
from taskflow.simulation.stability import beyond


def cautions(setup: Setup) -> Iterator[str]:
    """What is to be said of steps that are too long at the speed of walls, inflows and initial velocity."""
    stability, rate = setup.stability, advective_rate(setup)
    limit, where = stability.limit, "at the speed of walls, inflows and initial velocity"
    if limit.fixed is not None:
        cfl, diffusion = stability.numbers(limit.fixed, rate)
        if (share := stability.share(limit.fixed, cfl)) < 1:
            told = beyond(stability, limit.fixed, share, cfl, diffusion)
            yield f"time.step = {limit.fixed:g} is longer than is stable {where}: {told}"
        return
    found: dict[str, str] = {}
    slow = limit.diffusion / limit.spread if limit.spread > 0 else math.inf  # the longest step of diffusion alone
    diffuses = math.isfinite(slow * stability.grid.crowding)  # with next to no viscosity it has no number
    if diffuses and (share := stability.share(slow, 0.0)) < 1:
        found["diffusion"] = f"{share * limit.diffusion:.3g}, where nothing is carried"
    # Where nothing tells the speed it may get so large that diffusion does nothing in a step.
    dt = limit.longest(rate) if rate > 0 else 0.0
    cfl, diffusion = stability.numbers(dt, rate) if dt else (limit.cfl, 0.0)
    if (share := stability.share(dt, cfl)) < 1 and cfl >= limit.cfl * (1 - FITS):
        then = f"{where}, with a diffusion number of {share * diffusion:.3g} then" if dt else "where nothing diffuses"
        found["cfl"] = f"{share * cfl:.3g} {then}"
    elif share < 1:  # diffusion makes the step as short as it is
        found["diffusion"] = f"{share * diffusion:.3g} {where}, with a CFL number of {share * cfl:.3g} then"
    for key, most in found.items():
        now = getattr(limit, key)
        yield f'time.{key} = {now:g}: time.scheme = "{stability.name}" is stable up to {most}; give less'
