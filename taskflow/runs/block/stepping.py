"""The steps of a run on one block. A step longer than time.cfl allows is repeated with a shorter length."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

from taskflow.cases.timing.intervals import Tick
from taskflow.common.caching import cached_property
from taskflow.common.errors import RunFailed
from taskflow.runs.block.pace import Pace
from taskflow.runs.block.sanity import Sanity
from taskflow.runs.block.savepoint import Savepoint, keeper
from taskflow.runs.state.setup import BlockSpec, Settings
from taskflow.runtime.machine import Keeper, Shard
from taskflow.runtime.tasks import Cells
from taskflow.systems.base.pressure import explained
from taskflow.systems.bodies import Movement
from taskflow.systems.records.particles import Clouds

ATTEMPTS = 20
UNEVEN = 1.5  # ratio of steps above which a jump in the first one may not be extrapolated


class Stepping:
    """Takes steps, with the time-dependent values of the case. `cells` determine the further run."""

    def __init__(
        self, spec: BlockSpec, shard: Shard, cells: Cells, settings: Settings, movement: Movement | None,
        particles: Clouds, sanity: Sanity,
    ) -> None:  # fmt: skip
        self._spec, self._shard, self._cells = spec, shard, cells
        self._settings, self._movement, self._particles, self._sanity = settings, movement, particles, sanity
        self.pace = Pace(spec.clock.limit, spec.onset, spec.inert)
        self.fixed = spec.clock.limit.fixed is not None
        self._foresight = replace(spec.foresight) if spec.foresight else None  # samples are each block's own
        self._before = 0.0  # the advective rate before the planned step
        self._more = 0.0  # increase by changes of walls, inflows and forces in it

    @property
    def _rate(self) -> float:
        return float(self._spec.model.advection(self._shard.scalars))

    @property
    def moves(self) -> bool:
        """True if the growth of the flow is known, and it does not start from rest."""
        return self.fixed or (self.pace.previous is not None and not self.pace.begins)

    def planned(self, before: Tick) -> Tick:
        """Return the tick at the end of the next step, unless the step turns out too long."""
        model, scalars, pace, advance = self._spec.model, self._shard.scalars, self.pace, self._spec.clock.advance
        now = before, model.rate(scalars), model.diffusive_rates(scalars)
        if self.fixed:
            return advance(*now)
        rate = self._before = self._rate
        self._more = 0.0
        tick = advance(*now, pace.longest(before, rate))
        if (longest := pace.beginning(before, tick, rate)) < tick.dt:
            tick = advance(*now, longest)
        if (foresight := self._foresight) is not None:
            longest, self._more = foresight.longest(
                self._settings.values, before.time, tick.dt, rate, pace.limit.cfl, slow=pace.slow(tick, rate)
            )
            tick = advance(*now, longest) if longest < tick.dt else tick
            about = before.time - before.dt, before.time, tick.dt, pace.limit.cfl
            if tick.ratio > UNEVEN and foresight.jumped(self._settings.values, *about, resting=pace.begins):
                return replace(tick, ratio=0.0)  # Adams-Bashforth would extrapolate the jump
        return tick

    def disturbed(self) -> None:
        """Note a change of the state or of values of the case by the user: the growth of the flow is unknown."""
        self.pace.previous = None
        self._sanity.driven()

    def take(self, before: Tick, tick: Tick) -> Tick:
        """Take the planned step. Return its actual end. Raises RunFailed if no step is short enough. Collective."""
        if self.fixed:
            self._advance(before, tick)
        else:
            surge = self._movement.moving.surge(before.time, tick.time) if self._movement is not None else 0.0
            if self.pace.certain(tick, self._before, self._more + surge):
                self._advance(before, tick)
            else:
                tick = self._tried(before, tick)
            self.pace.previous = self._before
        self._particles.settle(tick)
        return tick

    def _tried(self, before: Tick, tick: Tick) -> Tick:
        scalars, pace, clock, model = self._shard.scalars, self.pace, self._spec.clock, self._spec.model
        kept, attempts = self._kept(), 1
        while True:
            self._advance(before, tick)
            rate = self._rate
            if pace.accepts(tick, rate):
                return tick
            if attempts == ATTEMPTS:
                raise RunFailed(
                    f"the run diverged: at step {tick.step}, time {before.time:g}, steps of {tick.dt:g} still have the"
                    f" CFL number {tick.dt * rate:.3g}; {clock.remedy}"
                )
            most = pace.shorter(tick, self._before, rate, attempts)
            if self._movement is not None:
                self._movement.begin(before.time)
            kept.restore()
            if isinstance(kept, Savepoint):  # it gives its state back once
                kept = self._kept()
            shorter = clock.advance(before, model.rate(scalars), model.diffusive_rates(scalars), most)
            tick = shorter if tick.ratio else replace(shorter, ratio=0.0)
            attempts += 1

    def _kept(self) -> Keeper | Savepoint:
        keeper = None if self._particles else self.keeper
        if keeper is None:
            return Savepoint(self._shard, self._cells, self._particles)
        keeper.keep()
        return keeper

    @cached_property
    def keeper(self) -> Keeper | None:
        """The memory for the state before steps; None for large or tiled states. The first call is collective."""
        return keeper(self._shard, self._cells)

    def _advance(self, before: Tick, tick: Tick) -> None:
        spec, shard = self._spec, self._shard
        inflows = self._settings.inflows
        numbers = inflows.advance(shard, before.time, tick.dt, before.dt) if inflows else {}
        numbers |= self._settings.timed.advance(before.time, tick.dt, tick.ratio)
        numbers |= self._movement.advance(tick.time) if self._movement is not None else {}
        self._sanity.entered(numbers)
        surroundings = spec.surroundings.followed(tick.time) if spec.surroundings is not None else nullcontext()
        with surroundings, explained(f"step {tick.step}, time {tick.time:g}"):
            numbers |= {**spec.model.stage_times(before.time, tick.dt), **self._particles.scalars(tick)}
            shard.run(spec.step, **spec.model.scalars(tick.dt, tick.ratio), **numbers)
