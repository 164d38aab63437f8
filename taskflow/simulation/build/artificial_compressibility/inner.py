"""Whether what is marched within steps of real time was enough, as every block judges it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from taskflow.errors import RunFailed
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.real_time import DIVERGENCE, LOOKS, TO_EXCEED, left
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Program
from taskflow.simulation.build.artificial_compressibility.domain import ChartDomain
from taskflow.simulation.timing.schedule import Tick

MARGIN = 1.5  # of the compressibility over what it has to exceed
MOST = 5  # steps in a row that may miss their tolerance
REMEDY = "give more method.inner.iterations, shorter steps, or a larger method.compressibility, which couples faster"


@dataclass(frozen=True, eq=False)
class InnerCriterion:
    """A step of real time has to reach the tolerance of the model's `real`: five in a row that do not are an error."""

    model: ArtificialCompressibility
    domain: ChartDomain
    label: ClassVar[str] = "inner"
    programs: ClassVar[tuple[Program, ...]] = ()

    @property
    def fields(self) -> dict[str, Location]:
        """None: the step measures."""
        return {}

    def watch(self, shard: Shard) -> InnerWatch:
        """The judgement on a block."""
        return InnerWatch(self, shard)

    def described(self) -> tuple[str, str]:
        """When a step ends, in words, for `taskflow check`."""
        real, speed = self.model.real, self.model.speed
        assert real is not None
        return (
            f"a step ends when its residuals have fallen to {real.tolerance:g} of those at its beginning, and"
            f" max |div u| to {DIVERGENCE * speed / real.length:.3g}",
            f"looked at every {self.model.look} steps of pseudo-time, of which {real.iterations} at most",
        )


class InnerWatch:
    """The judgement on one block; all blocks come to the same."""

    rates: ClassVar[dict[str, float]] = {}
    shortfall: ClassVar[None] = None

    def __init__(self, criterion: InnerCriterion, shard: Shard) -> None:
        self._criterion, self._shard = criterion, shard
        self._missed = 0  # steps in a row
        self.insane: str | None = None
        self.concern: str | None = None

    def begin(self, now: float) -> None:
        """Nothing has been looked at."""

    def go_on(self, state: Mapping[str, Any]) -> None:
        """Go on from the `state` of a checkpoint."""
        self._missed = state["missed"]

    @property
    def state(self) -> dict[str, Any]:
        """How many steps in a row have missed their tolerance."""
        return {"missed": self._missed}

    def look(self, before: Tick, now: Tick) -> str | None:
        """Note whether the step that led here has reached its tolerance. Raises RunFailed where five in a row have not.
        """
        model, scalars = self._criterion.model, self._shard.scalars
        real, self.concern = model.real, None
        assert real is not None
        if model.moves and scalars[TO_EXCEED] * MARGIN > model.numbers.compressibility:
            raise RunFailed(f"step {now.step}, time {now.time:g}: {self._too_small(scalars[TO_EXCEED])}")
        rest = left(real, model, scalars)
        self.insane = next((name for name, times in rest.items() if not math.isfinite(times)), None)
        worst = max(rest, key=lambda name: rest[name])
        self._missed = self._missed + 1 if rest[worst] > 1 else 0
        if not self._missed or self.insane is not None:
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
        """Where the grid is too fast for sound, in words. All blocks have to call it, and get the same."""
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
