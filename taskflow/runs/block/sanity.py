"""Sanity of states, judged on every block, with the probable cause of a divergence, and all checks of a run.

A state is implausible if a number is not finite, or `SANE` times larger than the values explained by the case (see
`systems.base.scales`) and by the initial fields. The velocity is checked after every step, temperature and scalars
before every checkpoint: a diverging run writes none.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Sized
from typing import Any

import numpy as np

from taskflow.cases import SCHEMES
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import RunFailed
from taskflow.flow.time.schemes import ADAMS_BASHFORTH
from taskflow.runs.block.step_watch import NAMES, NOT_WATCHED, StepWatch, WaveWatch, too_long
from taskflow.runs.state.setup import BlockSpec
from taskflow.runtime.machine import Shard
from taskflow.systems.base.scales import Scale
from taskflow.systems.initial.inflow import FINEST

SANE = 100.0
GROWTH = 0.01  # of the least energy so far
NOISE = 1e-6  # of the largest energy so far: so much may come and go
SPEED, EDDIES = "speed", "nu_t"
LEFT = 0.1  # share of the divergence that solves of a fixed number of iterations may leave


class Sanity:
    """Judgement on one block, the same on all. With `given` values only non-finite numbers are implausible."""

    def __init__(self, spec: BlockSpec, shard: Shard, diagnosis: Diagnosis, given: Sized = ()) -> None:
        self._given, self._spec, self._scales, self._shard, self._diagnosis = given, spec, spec.scales, shard, diagnosis
        self._known: dict[str, float] = {}  # largest values at the start, and of inflows since
        self._least, self._most = math.inf, 0.0  # of the kinetic energy
        self._nearest = spec.domain.inverse_spacing

    def begin(self, speed: float) -> None:
        """Accept the present state, with this largest speed, as sane. Collective."""
        self._known = {SPEED: speed, **self._largest(tuple(self._scales.carried))}

    def resume(self, state: Mapping[str, float]) -> None:
        """Resume from the `state` of a checkpoint."""
        self._known = dict(state)

    @property
    def state(self) -> dict[str, float]:
        """The state for a checkpoint."""
        return dict(self._known)

    def entered(self, numbers: Mapping[str, float]) -> None:
        """Note the inflow speed in a step, from the scalars of `Inflows.advance`."""
        self._known[SPEED] = max(self._known[SPEED], numbers.get("sum_bound", 0.0) / FINEST)

    def driven(self) -> None:
        """Note that the user drives the flow: its energy may grow."""
        self._least = -1.0

    def moves(self, tick: Tick) -> None:
        """Raise RunFailed if the velocity is implausible. Collective."""
        if not _sane(self._spec.model.rate(self._shard.scalars), self._nearest * self._most_of(SPEED, tick.time)):
            raise self.failure(tick)
        if self._spec.closure and not math.isfinite(self._shard.scalars.get("eddy", 0.0)):
            raise self.failure(tick)

    def fastest(self, time: float) -> float:
        """Return the largest sane advective rate from a time on."""
        return self._nearest * self._most_of(SPEED, time) or math.inf

    def carries(self, tick: Tick) -> None:
        """Raise RunFailed if the temperature or a scalar is implausible. Collective."""
        largest = self._largest(tuple(self._scales.carried))
        if not all(_sane(most, self._most_of(role, tick.time)) for role, most in largest.items()):
            raise self.failure(tick)

    def grows(self, tick: Tick, energy: float) -> str | None:
        """Return a warning, once, if the mean kinetic energy grows without a cause."""
        if self._scales.driven or self._least < 0 or self._given:
            return None
        grown = energy > (1 + GROWTH) * self._least + NOISE * self._most
        before, self._most = self._least, max(self._most, energy)
        self._least = -1.0 if grown else min(self._least, energy)
        if not grown:
            return None
        return (
            f"at step {tick.step}, time {tick.time:g}, the kinetic energy has grown from {before:.4g} to {energy:.4g},"
            f" though nothing drives the flow: do not trust the results; {self._diagnosis(tick)}"
        )

    def failure(self, tick: Tick, what: str = "") -> RunFailed:
        """Return the error with the place of the worst value, or with the number `what` that shows it. An eddy
        viscosity that is not finite, of a finite flow, is the fault of its closure. Collective, with the same result on
        all blocks.
        """
        velocity, time, closure = self._scales.velocity, tick.time, self._spec.closure
        roles: tuple[str, ...] = (*velocity, *self._scales.carried)
        known = (self._most_of(SPEED if role in velocity else role, time) for role in roles)
        limits, extremes, remedy = np.array([most or math.inf for most in known]), self._extremes(roles), None
        if closure and np.isfinite(extremes).all() and not np.isfinite(eddies := self._extremes((EDDIES,))).all():
            roles, limits, extremes = (EDDIES,), np.array([math.inf]), eddies
            remedy = f'correct turbulence.model = "{closure}"'
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.where(np.isfinite(extremes[:, :, 3]), np.abs(extremes[:, :, 3]) / limits, np.inf)
        block, n = np.unravel_index(int(np.argmax(np.nan_to_num(excess, posinf=np.inf))), excess.shape)
        i, j, k, value = extremes[block, n]
        location = self._shard.partition.fields[roles[n]].location
        where = self._spec.domain.place(location, (int(i), int(j), int(k)), int(block))
        most = f" (the case explains {limits[n] / SANE:.3g})" if limits[n] < math.inf and math.isfinite(value) else ""
        return RunFailed(
            f"the run diverged: at step {tick.step}, time {tick.time:g}, {what}{roles[n]} is {value:.4g}{most}"
            f" {where}; {remedy or self._diagnosis(tick)}"
        )

    def _most_of(self, name: str, time: float) -> float:
        """Return the largest sane magnitude at a time; 0 if unknown."""
        if self._given:
            return 0.0
        if name != SPEED:
            scale = self._scales.carried[name]
            return SANE * Scale(max(scale.largest, self._known[name]), scale.gain).at(time)
        scale, lift = self._scales.speed, 0.0
        if self._scales.lift:
            lift = self._scales.lift * 2 * self._most_of("T", time) / SANE
        return SANE * Scale(max(scale.largest, self._known[SPEED]), scale.gain + lift).at(time)

    def _largest(self, roles: Sequence[str]) -> dict[str, float]:
        """Return the largest magnitude of each field; NaN if it has a NaN."""
        if not roles:
            return {}
        return dict(zip(roles, np.abs(self._extremes(roles)[:, :, 3]).max(axis=0).tolist(), strict=True))

    def _extremes(self, roles: Sequence[str]) -> np.ndarray:
        """Return the cell i, j, k and the value of the extreme of each field, [block, role, number]."""
        mine = [(*cell, value) for cell, value in map(self._shard.extreme, roles)]
        rows = self._shard.gather(np.array(mine, np.float64).ravel())
        return rows.reshape(len(rows), len(roles), 4)


def _sane(magnitude: float, most: float) -> bool:
    return math.isfinite(magnitude) and (most == 0 or magnitude <= most)


class Diagnosis:
    """The probable cause of a divergence, from all samples. Called with the last step, it returns the remedy as text.

    `watch` checks the steps of the run; None if all steps that its case allows are stable.
    """

    def __init__(self, spec: BlockSpec) -> None:
        self._spec, self._residual = spec, 0.0
        stability = spec.stability
        self.watch = StepWatch(stability) if stability is not None and not stability.certain else None

    def note(self, numbers: Mapping[str, Any]) -> None:
        """Note the residual of a sane state, from its line in the log."""
        self._residual = numbers.get("residual", 0.0)

    @property
    def steps(self) -> str:
        """The remedy for too long steps."""
        stability = self._spec.stability  # of which another scheme may have a wider range
        better = f", or {NAMES[SCHEMES['rk3']]}" if stability and stability.scheme == ADAMS_BASHFORTH else ""
        return f"{self._spec.clock.remedy}{better}"

    def __call__(self, tick: Tick) -> str:
        spec = self._spec
        if spec.remedy is not None:
            return spec.remedy
        if self.watch is not None and self.watch.exceeded:
            return self.steps
        if spec.sweeps is not None and self._residual > LEFT:
            now = f"pressure.iterations (now {spec.sweeps})"
            return f"{self._residual:.0%} of the divergence was left: give more {now}, or another pressure.solver"
        if spec.stability is None or not spec.stability.damped(tick.dt, spec.clock.limit.cfl):
            return self.steps
        return 'steps are stable, so the grid may be too coarse: give more cells, or fluid.scheme = "quick"'


class SanityChecks:
    """All checks of a run, which yield warnings. `cautioned`: it was already warned that steps may be too long."""

    def __init__(self, spec: BlockSpec, shard: Shard, given: Sized = (), *, cautioned: bool) -> None:
        self._model, self._shard, self._cautioned = spec.model, shard, cautioned
        self._diagnosis = Diagnosis(spec)
        self.sanity = Sanity(spec, shard, self._diagnosis, given)
        self._waves = WaveWatch()
        fixed, bodies = spec.clock.limit.fixed, spec.particles is not None and spec.particles.carrying.bodies
        self._passing = fixed if bodies and not cautioned else None  # steps in which particles may pass several faces

    def of_numbers(self, tick: Tick, numbers: Mapping[str, Any], not_finite: str | None) -> Iterator[str]:
        """Raise RunFailed if numbers show divergence, or `not_finite` names one. Yield a warning if they suggest it."""
        if tick.step == 0:
            self.sanity.begin(self._shard.scalars.get("speed", 0.0))
        self.sanity.moves(tick)
        if not_finite is not None:
            raise self.sanity.failure(tick, f"{not_finite} is {numbers[not_finite]}: ")
        self._diagnosis.note(numbers)
        if (warning := self.sanity.grows(tick, numbers.get("kinetic_energy", 0.0))) is not None:
            yield warning

    @property
    def limits(self) -> dict[str, float]:
        """The limits within which steps need no check, for the clock on the device."""
        watch = self._diagnosis.watch
        return {**(watch.limits if watch else NOT_WATCHED), "shorter": self._waves.shorter}

    def skip(self) -> None:
        """Note steps within these limits."""
        self._waves.skip()

    def of_step(self, tick: Tick) -> Iterator[str]:
        """Warn, once each, of steps too long for their scheme or for particles, or short by capillary waves."""
        rate = self._model.rate(self._shard.scalars)
        if self._passing is not None and tick.dt * rate > 1:
            yield f"at step {tick.step}, time {tick.time:g}, {too_long(self._passing, rate)}"
            self._passing = None
        if self._diagnosis.watch is not None:
            warning = self._diagnosis.watch.look(tick, rate, self._shard.scalars.get("eddy", 0.0))
            if warning is not None and not self._cautioned:
                yield f"{warning}; {self._diagnosis.steps}"
        if (warning := self._waves.look(tick)) is not None:
            yield warning
