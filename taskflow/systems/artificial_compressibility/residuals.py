"""The end of a march, or of pseudo-time within a physical time step, judged on every block by residuals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.timing.intervals import Every, Tick
from taskflow.cases.timing.steady import Criterion, Measure, StateWatch
from taskflow.common.errors import RunFailed
from taskflow.common.rows import Row
from taskflow.flow.models.artificial_compressibility.convergence import PATIENCE, Convergence
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.real_time import DIVERGENCE, LOOKS, TO_EXCEED, left
from taskflow.runtime.machine import Shard
from taskflow.systems.artificial_compressibility.domain import ChartDomain

MARGIN = 1.5  # of the compressibility over its lower bound
MOST = 5  # steps in a row that may miss their tolerance
REMEDY = "give more method.inner.iterations, shorter steps, or a larger method.compressibility, which couples faster"
FIRST = 5  # steps after each of which is looked: residuals may be largest then


@dataclass(frozen=True, eq=False)
class ResidualCriterion(Criterion):
    """Each residual has fallen to `tolerance` times its largest value so far, checked at the interval `every`, and
    after each of the first steps; with `accept` also if they stall for `patience` steps. `thickness`: of the
    thinnest and the thickest cell.
    """

    model: ArtificialCompressibility
    tolerance: float
    every: Every
    accept: bool
    thickness: tuple[float, float]
    patience: int = PATIENCE

    @property
    def creeping(self) -> str:
        """Advice if friction is far faster than sound: b far below (viscosity / thickness)^2 of the thinnest cells."""
        most, b = self._frictions[0], self.model.method.least_compressibility(self.model.speed)
        if b > 0.01 * most:
            return ""
        return (
            "friction is much faster than sound, and pressure takes very many steps to spread: give a larger"
            f" method.compressibility (now {b:.3g}), up to {most:.2g}"
        )

    def advice(self, worst: str) -> str:
        """Return the same advice after a semicolon, if the residual of this equation is the worst: of continuity, or of
        any if friction is far faster than sound also in the thickest cells.
        """
        everywhere = self.model.method.least_compressibility(self.model.speed) <= 0.01 * self._frictions[1]
        return f"; {self.creeping}" if self.creeping and (worst == "continuity" or everywhere) else ""

    @property
    def _frictions(self) -> tuple[float, float]:
        """(viscosity / thickness)^2 of the thinnest and of the thickest cells."""
        thinnest, thickest = self.thickness
        return (self.model.fluid.viscosity / thinnest) ** 2, (self.model.fluid.viscosity / thickest) ** 2

    def watch(self, shard: Shard, measure: Measure) -> ResidualWatch:
        return ResidualWatch(self, measure)

    def rows(self) -> Iterator[Row]:
        otherwise = "ends the run" if self.accept else "is an error"
        yield Row("steady", f"when each residual has fallen to {self.tolerance:g} of its largest value so far")
        yield Row("", f"a fall of less than 10 % in {self.patience} steps {otherwise}", "detail")


class ResidualWatch(StateWatch):
    """The residual criterion on one block."""

    def __init__(self, criterion: ResidualCriterion, measure: Measure) -> None:
        self._criterion, self._measure = criterion, measure
        weights = criterion.model.weights
        self._convergence = Convergence(criterion.tolerance, criterion.accept, criterion.patience, weights)
        self._steady = False

    def resume(self, state: Mapping[str, Any]) -> None:
        convergence = self._convergence
        convergence.largest, convergence.norms = dict(state["largest"]), dict(state["norms"])
        convergence.history = [(look["step"], look["left"]) for look in state["looks"]]

    @property
    def state(self) -> dict[str, Any]:
        """The present and the largest residuals, and the samples that count."""
        convergence = self._convergence
        looks = [{"step": step, "left": left} for step, left in convergence.history]
        return {"largest": convergence.largest, "norms": convergence.norms, "looks": looks}

    @property
    def rates(self) -> dict[str, float]:
        """Each residual over its largest value so far."""
        return self._convergence.fallen()

    @property
    def shortfall(self) -> str | None:
        if self._steady or not self.rates:
            return None
        worst = self._worst
        return (
            f"the state is not steady after time.steps: the residual of {worst} has fallen to {self.rates[worst]:.2g}"
            f" of its largest value, and {self._criterion.tolerance:g} was required; give more"
            f" steps{self._criterion.advice(worst)}"
        )

    @property
    def _worst(self) -> str:
        return max(self.rates, key=lambda name: self.rates[name])

    def look(self, before: Tick, now: Tick) -> str | None:
        """Return "steady" or "stalled" if the march has ended. Raises RunFailed if residuals stall."""
        criterion = self._criterion
        if now.step > FIRST and not now.finished and not criterion.every.due(before, now.step, now.time):
            return None
        norms = criterion.model.norms(self._measure(now))
        self.not_finite = next((name for name, value in norms.items() if not math.isfinite(value)), None)
        try:
            if self.not_finite is not None or not self._convergence.note(now.step, norms):
                return None
        except RunFailed as error:
            raise RunFailed(f"{error}{criterion.advice(self._worst)}") from None
        self._steady = all(share <= criterion.tolerance for share in self.rates.values())
        return "steady" if self._steady else "stalled"


@dataclass(frozen=True, eq=False)
class InnerCriterion(Criterion):
    """A physical time step has to reach the tolerance of the model's `real`. Five successive failures are an error."""

    model: ArtificialCompressibility
    domain: ChartDomain

    def watch(self, shard: Shard, measure: Measure) -> InnerWatch:
        return InnerWatch(self, shard)

    def rows(self) -> Iterator[Row]:
        real, speed = self.model.real, self.model.speed
        assert real is not None
        yield Row(
            "inner",
            f"a step ends when its residuals have fallen to {real.tolerance:g} of their initial values, and"
            f" max |div u| to {DIVERGENCE * speed / real.length:.3g}",
        )
        checked = f"checked every {self.model.look} steps of pseudo-time, at most {real.iterations} of them"
        yield Row("", checked, "detail")


class InnerWatch(StateWatch):
    """The criterion on one block, by the residuals at the end of each physical time step."""

    def __init__(self, criterion: InnerCriterion, shard: Shard) -> None:
        self._criterion, self._shard = criterion, shard
        self._missed = 0  # steps in a row

    def resume(self, state: Mapping[str, Any]) -> None:
        self._missed = state["missed"]

    @property
    def state(self) -> dict[str, Any]:
        """The number of successive steps that missed their tolerance."""
        return {"missed": self._missed}

    def look(self, before: Tick, now: Tick) -> str | None:
        """Note if the last step reached its tolerance. Raises RunFailed if five in a row did not."""
        model, scalars = self._criterion.model, self._shard.scalars
        real, self.concern = model.real, None
        assert real is not None
        if model.moves and scalars[TO_EXCEED] * MARGIN > model.numbers.compressibility:
            raise RunFailed(f"step {now.step}, time {now.time:g}: {self._too_small(scalars[TO_EXCEED])}")
        rest = left(real, model, scalars)
        self.not_finite = next((name for name, times in rest.items() if not math.isfinite(times)), None)
        worst = max(rest, key=lambda name: rest[name])
        self._missed = self._missed + 1 if rest[worst] > 1 else 0
        if not self._missed or self.not_finite is not None:
            return None
        words = (
            f"step {now.step}, time {now.time:g}: after {model.look * scalars[LOOKS]:.0f} steps of pseudo-time the"
            f" residual of {worst} is {rest[worst]:.2g} times what method.inner.tolerance = {real.tolerance:g} allows"
        )
        if self._missed == MOST:
            raise RunFailed(f"{words}, in the {MOST}th step in a row; {REMEDY}")
        self.concern = f"{words}; {REMEDY}" if self._missed == 1 else None
        return None

    def _too_small(self, least: float) -> str:
        """Return the places at which the grid moves faster than sound, as text. Collective."""
        cell, value = self._shard.extreme(TO_EXCEED)
        rows = self._shard.gather(np.array([*cell, value], np.float64)).reshape(-1, 4)
        block = int(np.nanargmax(rows[:, 3]))
        i, j, k = (int(n) for n in rows[block, :3])
        where = self._criterion.domain.place("c", (i, j, k), block)
        b = self._criterion.model.numbers.compressibility
        return (
            f"the grid moves too fast for a compressibility of {b:.4g} {where}, where u.n (u_g - u).n is {least:.4g};"
            f" give method.compressibility = {2 * MARGIN * least:.2g}"
        )
