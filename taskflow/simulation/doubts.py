"""All that is doubted of a run while it goes on, on one block: its numbers, which may end it, and its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taskflow.runtime.machine import Shard
from taskflow.simulation.build.simulation import BlockSpec
from taskflow.simulation.sanity import Diagnosis, PassageWatch, Sanity, WaveWatch
from taskflow.simulation.timing.schedule import Tick


class Doubts:
    """Whoever looks at a run. `cautioned`: it has been said that its steps may be too long. Warnings are yielded."""

    def __init__(self, spec: BlockSpec, shard: Shard, *, cautioned: bool) -> None:
        self._model, self._shard, self._cautioned = spec.model, shard, cautioned
        self._diagnosis = Diagnosis(spec)
        self.sanity = Sanity(spec.scales, spec.domain, shard, self._diagnosis)
        self._waves = WaveWatch()
        fixed, bodies = spec.clock.limit.fixed, spec.particles is not None and spec.particles.carrying.bodies
        self._passages = PassageWatch(fixed) if fixed is not None and bodies else None

    def of_numbers(self, tick: Tick, numbers: Mapping[str, Any], insane: str | None) -> Iterator[str]:
        """Raises RunFailed where the numbers of a state show that the run has diverged, as one does that is `insane`;
        warns where they only let one fear so.
        """
        if tick.step == 0:
            self.sanity.begin(self._shard.scalars.get("speed", 0.0))
        self.sanity.moves(tick)
        if insane is not None:
            raise self.sanity.failure(tick, f"{insane} is {numbers[insane]}: ")
        self._diagnosis.note(numbers)
        if (warning := self.sanity.grows(tick, numbers.get("kinetic_energy", 0.0))) is not None:
            yield warning

    def of_step(self, tick: Tick) -> Iterator[str]:
        """Warn, once, where a step is too long for its scheme or for particles around obstacles, or very short for
        capillary waves alone.
        """
        rate = self._model.rate(self._shard.scalars)
        if self._passages is not None and not self._cautioned and (warning := self._passages.look(tick, rate)):
            yield warning
        if self._diagnosis.watch is not None:
            warning = self._diagnosis.watch.look(tick, rate, self._shard.scalars.get("eddy", 0.0))
            if warning is not None and not self._cautioned:
                yield f"{warning}; {self._diagnosis.steps}"
        if (warning := self._waves.look(tick)) is not None:
            yield warning
