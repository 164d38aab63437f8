"""Whether the steps of a run are too long for its scheme, which is asked at every step that may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from taskflow.flow import Grid
from taskflow.flow.schemes import Scheme
from taskflow.flow.stability import ROUNDING, growth, longest
from taskflow.simulation.schedule import StepLimit, Tick

if TYPE_CHECKING:
    from taskflow.simulation.setup import Setup

MARGIN = 1.02  # how much faster a flow may get before it is asked again, and how far diffusion may change
LEVELS = 8  # diffusion numbers that are tried


class Carried(NamedTuple):
    """What a flow carries, itself among it: how it diffuses, with which part of the eddy viscosity, and whether it is
    carried upwind.
    """

    diffusivity: float
    eddies: float
    upwind: bool


@dataclass(frozen=True)
class Stability:
    """What is stable in a case. Picklable. `name` is that of the scheme in a case file."""

    name: str
    scheme: Scheme
    grid: Grid
    carried: tuple[Carried, ...]
    limit: StepLimit

    @classmethod
    def of(cls, setup: Setup) -> Stability:
        """That of a case. What stays bounded has steps of its own, and is left out."""
        case, model = setup.case, setup.model
        part = 1 / model.turbulence.prandtl if model.turbulence else 0.0
        carried = [Carried(each.diffusivity, part, False) for each in model.quantities if not each.bounded]
        momentum = Carried(case.fluid.viscosity, float(model.turbulence is not None), case.fluid.scheme == "quick")
        return cls(case.time.scheme, model.scheme, model.grid, (momentum, *carried), case.clock().limit)

    @property
    def better(self) -> str:
        """That there is a scheme with a wider range, if there is."""
        return ', or time.scheme = "rk3"' if self.name == "ab2" else ""

    def numbers(self, dt: float, advection: float, eddy: float = 0.0) -> tuple[float, float]:
        """The CFL number of a step, and its largest diffusion number."""
        most = max(each.diffusivity + each.eddies * eddy for each in self.carried)
        return dt * (advection + self.limit.frequency), dt * most * self.grid.crowding

    def share(self, dt: float, cfl: float, eddy: float = 0.0) -> float:
        """The share of a step that is stable, 1 at most: with eddies as large as they are, and where there are none."""
        once = dt * self.grid.crowding
        found = {(each.diffusivity + each.eddies * some, each.upwind) for each in self.carried for some in (0.0, eddy)}
        return min(longest(self.scheme, self.grid, cfl, once * nu, upwind=upwind) for nu, upwind in found)

    def damped(self, dt: float, cfl: float) -> bool:
        """Whether no wave grows at all in a step, without eddies: a scheme may allow some growth."""
        once = dt * self.grid.crowding
        numbers = {(once * each.diffusivity, each.upwind) for each in self.carried}
        return all(growth(self.scheme, self.grid, cfl, d, upwind=way) <= ROUNDING for d, way in numbers)

    @property
    def certain(self) -> bool:
        """Whether all steps that the limits of the case allow are stable, however fast the flow is."""
        limit, found = self.limit, {each.upwind for each in self.carried}
        if limit.fixed is not None:
            return False
        levels = [limit.diffusion * level / LEVELS for level in range(LEVELS + 1)]
        return all(longest(self.scheme, self.grid, limit.cfl, d, upwind=way) == 1 for d in levels for way in found)


class StepWatch:
    """Looks at every step of a run, and speaks once. What it says is the same on all blocks."""

    def __init__(self, stability: Stability) -> None:
        self._stability, self.exceeded = stability, False
        self._known = (-1.0, -1.0)  # a CFL number that is stable with a diffusion number

    def look(self, tick: Tick, advection: float, eddy: float) -> str | None:
        """What is to be said of the step that leads to `tick`, from a state with this advection and eddy viscosity."""
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
        f' time.scheme = "{stability.name}" is stable up to a step of {share * dt:.3g}; waves from cell to cell grow'
    )
