"""When a march to the steady state is over, as every block judges it: by its residuals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.flow.models.artificial_compressibility.convergence import PATIENCE, Convergence
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Program
from taskflow.simulation.timing.schedule import Every, Tick

FIRST = 5  # steps after each of which is looked: residuals may be largest then


@dataclass(frozen=True, eq=False)
class ResidualCriterion:
    """Each residual has fallen to `tolerance` times its largest value so far, looked at `every` so often, and after
    each of the first steps; with `accept` also where they fall no further in `patience` steps. `thinnest` is the least
    thickness of a cell.
    """

    model: ArtificialCompressibility
    tolerance: float
    every: Every
    accept: bool
    thinnest: float
    patience: int = PATIENCE
    label: ClassVar[str] = "steady"

    @property
    def creeping(self) -> str:
        """Say what to do where steps are as short as friction wants them, and pressure takes many to spread: with b
        up to (viscosity / thickness)^2 of the thinnest cells sound is no faster than friction there.
        """
        model = self.model
        b, most = model.method.least_compressibility(model.speed), (model.fluid.viscosity / self.thinnest) ** 2
        if b > 0.01 * most:
            return ""
        return (
            "friction makes steps short, and pressure takes very many of them to spread: give a larger"
            f" method.compressibility (now {b:.3g}), up to {most:.2g}"
        )

    @property
    def programs(self) -> tuple[Program, ...]:
        """The residuals."""
        return (self.model.monitor,)

    @property
    def fields(self) -> dict[str, Location]:
        """None: residuals are where the next state will be."""
        return {}

    def watch(self, shard: Shard) -> ResidualWatch:
        """The judgement on a block."""
        return ResidualWatch(self, shard)

    def described(self) -> tuple[str, str]:
        """The criterion in words, for `taskflow check`."""
        otherwise = "ends the run" if self.accept else "is an error"
        return (
            f"when each residual has fallen to {self.tolerance:g} of its largest value so far",
            f"a fall of less than 10 % in {self.patience} steps {otherwise}",
        )


class ResidualWatch:
    """The judgement on one block; all blocks come to the same."""

    concern: ClassVar[None] = None

    def __init__(self, criterion: ResidualCriterion, shard: Shard) -> None:
        self._criterion, self._shard = criterion, shard
        self._convergence = Convergence(criterion.tolerance, criterion.accept, criterion.patience)
        self._steady = False
        self.insane: str | None = None

    def begin(self, now: float) -> None:
        """Nothing has been looked at."""

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Go on from the `state` of a checkpoint."""
        convergence = self._convergence
        convergence.largest, convergence.norms = dict(state["largest"]), dict(state["norms"])
        convergence.history = [(look["step"], look["left"]) for look in state["looks"]]

    @property
    def state(self) -> dict[str, Any]:
        """The residuals now, the largest ones, and the looks that count."""
        convergence = self._convergence
        looks = [{"step": step, "left": left} for step, left in convergence.history]
        return {"largest": convergence.largest, "norms": convergence.norms, "looks": looks}

    @property
    def rates(self) -> dict[str, float]:
        """The rest of each residual, of its largest value so far."""
        return self._convergence.fallen()

    @property
    def shortfall(self) -> str | None:
        """Say what a run that has made all its steps lacks."""
        if self._steady or not self.rates:
            return None
        worst = max(self.rates, key=lambda name: self.rates[name])
        slow = f"; {self._criterion.creeping}" if worst == "continuity" and self._criterion.creeping else ""
        return (
            f"the state is not steady after time.steps: the residual of {worst} has fallen to {self.rates[worst]:.2g}"
            f" of its largest value, and {self._criterion.tolerance:g} was to be reached; give more steps{slow}"
        )

    def look(self, before: Tick, now: Tick) -> str | None:
        """Return "steady" or "stalled" where the march is over. Raises RunFailed where residuals fall no further."""
        criterion = self._criterion
        if now.step > FIRST and not now.finished and not criterion.every.due(before, now.step, now.time):
            return None
        self._shard.run(criterion.model.monitor)
        norms = criterion.model.norms(self._shard.scalars)
        self.insane = next((name for name, value in norms.items() if not math.isfinite(value)), None)
        if self.insane is not None or not self._convergence.note(now.step, norms):
            return None
        self._steady = all(share <= criterion.tolerance for share in self.rates.values())
        return "steady" if self._steady else "stalled"
