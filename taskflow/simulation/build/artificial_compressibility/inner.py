"""Whether what is marched within steps of real time was enough, as every block judges it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.errors import RunFailed
from taskflow.flow.models.artificial_compressibility.dual_time import DIVERGENCE, LOOK, LOOKS
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Program
from taskflow.simulation.schedule import Tick

MOST = 5  # steps in a row that may miss their tolerance
REMEDY = "give more method.inner.iterations, shorter steps, or a larger method.compressibility, which couples faster"


@dataclass(frozen=True, eq=False)
class InnerCriterion:
    """A step of real time has to reach the tolerance of the model's `real`: five in a row that do not are an error."""

    model: ArtificialCompressibility
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
            f"looked at every {LOOK} steps of pseudo-time, of which {real.iterations} at most",
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
        left = real.left(model, scalars)
        self.insane = next((name for name, times in left.items() if not math.isfinite(times)), None)
        worst = max(left, key=lambda name: left[name])
        self._missed = self._missed + 1 if left[worst] > 1 else 0
        if not self._missed or self.insane is not None:
            return None
        words = (
            f"step {now.step}, time {now.time:g}: after {LOOK * scalars[LOOKS]:.0f} steps of pseudo-time the residual"
            f" of {worst} is {left[worst]:.2g} times what method.inner.tolerance = {real.tolerance:g} allows"
        )
        if self._missed == MOST:
            raise RunFailed(f"{words}, in the {MOST}th step in a row; {REMEDY}")
        self.concern = f"{words}; {REMEDY}" if self._missed == 1 else None
        return None
