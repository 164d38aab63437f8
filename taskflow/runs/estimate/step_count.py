"""The estimated number of steps of a run, and warnings of unstable steps, as far as the case gives the speed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from taskflow.cases.timing.schedule import FITS
from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.common.units import duration, plural
from taskflow.runs.block.pace import FROM_REST, GROWTH, REST
from taskflow.runs.block.step_watch import NAMES, beyond, too_long
from taskflow.runs.state.setup import RunSetup

MOST_STEPS = 1e15  # of a run: at a microsecond each they take 30 years
ROUNDING = 1e-9
MOMENTS = 129  # at which the speed is guessed
SLOWEST = 0.1  # share of the speed that forces could give a fluid in a time, that they give it at the least
ALIKE = 1.05  # numbers with a smaller ratio are one


@dataclass(frozen=True)
class StepCount:
    """A number of steps, `most` for the fastest flow, its basis, if it is `exact`, and the length of the `first`."""

    count: int
    basis: str
    exact: bool = False
    most: int = 0
    first: float = 0.0

    @property
    def range(self) -> tuple[int, ...]:
        """The number, or the least and the largest one."""
        return (self.count, self.most) if self.most > ALIKE * self.count else (max(self.count, self.most),)

    def rows(self, seconds: float, *, bounded: bool, steady: bool) -> Iterator[Row]:
        """Yield rows of `taskflow check`: the time of a run whose steps take `seconds`, at most if `bounded`, and which
        may end early if it becomes `steady`.
        """
        about = "up to about" if bounded else "about"
        whole = " to ".join(duration(seconds * count) for count in self.range)
        yield Row("time", f"{about} {duration(seconds)} per step, {whole} for the run (an estimate)")
        *least, last = self.range
        number = f"{'' if self.exact else 'about '}{f'{least[0]} to ' if least else ''}{plural(last, 'step')}"
        first = f", the first {self.first:.3g} long" if self.first and not self.exact else ""
        yield Row("", f"{number}{first}: {self.basis}{', fewer if it becomes steady' if steady else ''}")


def count_steps(sim: RunSetup) -> StepCount:
    """Return the number of steps at the speed of walls, inflows and initial velocity, or of diffusion, and with the
    fastest flow due to forces and bodies. Raises BadInput if it is unreasonably large.
    """
    case, system, limit = sim.case, sim.system, sim.clock.limit
    if case.time.steps is not None:
        return StepCount(case.time.steps, "time.steps", exact=True, first=limit.fixed or 0.0)
    end = case.time.end or 0.0
    if limit.fixed is not None:
        return StepCount(_counted(end, limit.fixed), f"time.step = {limit.fixed:g}", exact=True, first=limit.fixed)
    times = np.linspace(0.0, end, MOMENTS)
    outlook = system.outlook
    rate, onset, least, fastest = outlook.rate, outlook.onset, outlook.least(times), outlook.speedup * outlook.rate
    bounds = limit.bounds(rate, system.diffusive_rates)
    others = min(length for name, length in bounds.items() if name != "cfl")
    by_flow = rate == 0 == limit.fall and others == math.inf
    if by_flow and onset.acceleration == onset.jerk == 0:
        rate = fastest = sum(1 / sim.grid.narrowest(axis) for axis in range(3) if sim.grid.cells[axis] > 1)
        least = np.full(MOMENTS, rate)
        bounds, basis = limit.bounds(rate), "at a speed of 1 along x, y and z, as the case gives no speed"
        basis = f"CFL {limit.cfl:g} {basis}"
    elif by_flow or min(bounds["cfl"], onset.longest(limit.cfl, rate)) <= others:
        basis = f"CFL {limit.cfl:g} at the speed of walls, inflows and initial velocity"
        basis += ", and the acceleration by forces" if onset.acceleration + onset.jerk + limit.fall > 0 else ""
    else:
        name = min((name for name in bounds if name != "cfl"), key=bounds.__getitem__)
        basis = {
            "cfl and diffusion": "CFL and diffusion number together",
            "scalars": "the limit for bounded scalars at the speed of walls, inflows and initial velocity",
            "capillary": "time.capillary",
        }.get(name, f"diffusion number {limit.diffusion:g}")
        basis += "; a faster flow needs more"
    longest = min(*bounds.values(), onset.longest(limit.cfl, rate), end or math.inf)
    rests = longest * rate <= REST * limit.cfl and not outlook.inert
    first = min(longest, onset.gentle(limit.cfl)) if rests else longest
    if outlook.foresight is not None:
        slow = FROM_REST if rests else 1.0
        first, _ = outlook.foresight.longest({}, 0.0, first, rate, limit.cfl, slow=slow)
    forced = outlook.forced(times)
    slow, fast = np.maximum(least, SLOWEST * forced), fastest + forced
    fewest, most = (_steps(end, [1 / min(limit.bounds(r, system.diffusive_rates).values()) for r in rates])
                   + _growing(first, longest, end) for rates in (slow, fast))  # fmt: skip
    return StepCount(max(1, fewest), basis, most=max(1, fewest, most), first=first)


def _growing(first: float, longest: float, end: float) -> int:
    """Return the number of additional steps while they grow from the first to the longest one."""
    by = min((longest - first) / (GROWTH - 1), end)
    return math.ceil(math.log1p(by * (GROWTH - 1) / first) / math.log(GROWTH) - by / longest) if by > 0 else 0


def _steps(end: float, frequencies: list[float]) -> int:
    """Return the number of steps, for step frequencies at equally spaced moments."""
    each = np.array(frequencies)
    return _counted(end, 1 / float((each[1:] + each[:-1]).mean() / 2)) if each.any() else 1


def _counted(end: float, step: float) -> int:
    """Return the number of steps of this length to the end. Raises BadInput if it is unreasonably large."""
    if not end <= MOST_STEPS * step:
        raise BadInput(
            f"time.end = {end:g}: steps of {step:.3g} reach it in more than {MOST_STEPS:.0e}; give an earlier end, or"
            " forces, speeds and diffusivities that let steps be longer"
        )
    return math.ceil(end / step * (1 - ROUNDING))


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
