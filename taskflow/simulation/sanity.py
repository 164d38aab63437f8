"""Whether a state is one that its case can explain, as every block finds it; and if not, where that shows.

A state is insane where a number is not finite, or `SANE` times as large as all that the case gives (see `build.scales`)
and the initial fields had. The velocity is looked at after every step, what it carries before every checkpoint: none is
made of what a run that diverges leaves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from taskflow.errors import RunFailed
from taskflow.flow import StaggeredGrid
from taskflow.runtime.machine import Shard
from taskflow.simulation.block_spec import BlockSpec
from taskflow.simulation.build.scales import Scale, Scales
from taskflow.simulation.inflow.inflow import FINEST
from taskflow.simulation.schedule import Tick
from taskflow.simulation.stability import StepWatch, better

SANE = 100.0
GROWTH = 0.01  # of the least energy so far
NOISE = 1e-6  # of the largest energy so far: so much may come and go
SPEED = "speed"
LEFT = 0.1  # share of the divergence that solves of a fixed number of iterations may leave


class Sanity:
    """The judgement on one block; all blocks come to the same."""

    def __init__(self, scales: Scales, grid: StaggeredGrid, shard: Shard, diagnosis: Diagnosis) -> None:
        self._scales, self._grid, self._shard, self._diagnosis = scales, grid, shard, diagnosis
        self._known: dict[str, float] = {}  # how large what was found at the start was, and what has entered since
        self._least, self._most = math.inf, 0.0  # of the kinetic energy
        self._nearest = sum(1 / grid.narrowest(axis) for axis in range(3))

    def begin(self, speed: float) -> None:
        """The present state, which has this largest speed, is sane, however large it is. All blocks have to call it."""
        self._known = {SPEED: speed, **self._largest(tuple(self._scales.carried))}

    def go_on(self, state: Mapping[str, float]) -> None:
        """From the `state` of a checkpoint."""
        self._known = dict(state)

    @property
    def state(self) -> dict[str, float]:
        """The state for a checkpoint."""
        return dict(self._known)

    def entered(self, numbers: Mapping[str, float]) -> None:
        """Note how fast fluid enters in a step, from what `Inflows.advance` gives for it."""
        self._known[SPEED] = max(self._known[SPEED], numbers.get("sum_bound", 0.0) / FINEST)

    def moves(self, tick: Tick) -> None:
        """Raises RunFailed where the velocity is insane. All blocks have to call it."""
        if not _sane(self._shard.scalars["rate"], self._nearest * self._most_of(SPEED, tick.time)):
            raise self.failure(tick)

    def carries(self, tick: Tick) -> None:
        """Raises RunFailed where the temperature or a scalar is insane. All blocks have to call it."""
        largest = self._largest(tuple(self._scales.carried))
        if not all(_sane(most, self._most_of(role, tick.time)) for role, most in largest.items()):
            raise self.failure(tick)

    def grows(self, tick: Tick, energy: float) -> str | None:
        """A warning of a mean kinetic energy that nothing can have made; once."""
        if self._scales.driven or self._least < 0:
            return None
        grown = energy > (1 + GROWTH) * self._least + NOISE * self._most
        before, self._most = self._least, max(self._most, energy)
        self._least = -1.0 if grown else min(self._least, energy)
        if not grown:
            return None
        return (
            f"at step {tick.step}, time {tick.time:g}, the kinetic energy has grown from {before:.4g} to {energy:.4g},"
            f" though nothing drives the flow: the numbers are not to be trusted; {self._diagnosis(tick)}"
        )

    def failure(self, tick: Tick, what: str = "") -> RunFailed:
        """The error that says where the present state is worst, or in which number that shows. All blocks have to call
        it, and get the same one.
        """
        velocity, time = self._scales.velocity, tick.time
        roles = (*velocity, *self._scales.carried)
        limits = np.array([self._most_of(SPEED if role in velocity else role, time) for role in roles])
        extremes = self._extremes(roles)
        with np.errstate(divide="ignore", invalid="ignore"):
            excess = np.where(np.isfinite(extremes[:, :, 3]), np.abs(extremes[:, :, 3]) / limits, np.inf)
        block, n = np.unravel_index(int(np.argmax(np.nan_to_num(excess, posinf=np.inf))), excess.shape)
        i, j, k, value = extremes[block, n]
        cell = int(i), int(j), int(k)
        x, y, z = (
            float(self._grid.coordinates(self._shard.partition.fields[roles[n]].location, axis, at, at + 1)[0])
            for axis, at in enumerate(cell)
        )
        where = f"in cell {cell} of block {block}, at x = {x:.6g}, y = {y:.6g}, z = {z:.6g}"
        most = f" (the case explains {limits[n] / SANE:.3g})" if limits[n] > 0 and math.isfinite(value) else ""
        return RunFailed(
            f"the run diverged: at step {tick.step}, time {tick.time:g}, {what}{roles[n]} is {value:.4g}{most}"
            f" {where}; {self._diagnosis(tick)}"
        )

    def _most_of(self, name: str, time: float) -> float:
        """The largest magnitude that is sane at a time; 0 where nothing tells one."""
        if name != SPEED:
            scale = self._scales.carried[name]
            return SANE * Scale(max(scale.largest, self._known[name]), scale.gain).at(time)
        scale, lift = self._scales.speed, 0.0
        if self._scales.lift:
            lift = self._scales.lift * 2 * self._most_of("T", time) / SANE
        return SANE * Scale(max(scale.largest, self._known[SPEED]), scale.gain + lift).at(time)

    def _largest(self, roles: Sequence[str]) -> dict[str, float]:
        """The largest magnitude of each field; no number where one is none."""
        if not roles:
            return {}
        return dict(zip(roles, np.abs(self._extremes(roles)[:, :, 3]).max(axis=0).tolist(), strict=True))

    def _extremes(self, roles: Sequence[str]) -> np.ndarray:
        """The cell i, j, k and the value of the extreme of each field, [block, role, number]."""
        mine = [(*cell, value) for cell, value in map(self._shard.extreme, roles)]
        rows = self._shard.gather(np.array(mine, np.float64).ravel())
        return rows.reshape(len(rows), len(roles), 4)


def _sane(magnitude: float, most: float) -> bool:
    return math.isfinite(magnitude) and (most == 0 or magnitude <= most)


class Diagnosis:
    """The probable cause of a divergence, from all that was seen; called with the last step, the remedy in words.

    `watch` looks at the steps of the run; None where none that its case allows is too long.
    """

    def __init__(self, spec: BlockSpec) -> None:
        self._spec, self._residual = spec, 0.0
        stability = spec.stability
        self.watch = StepWatch(stability) if stability is not None and not stability.certain else None

    def note(self, numbers: Mapping[str, Any]) -> None:
        """Note what a sane state was like, from its line in the log."""
        self._residual = numbers.get("residual", 0.0)

    @property
    def steps(self) -> str:
        """The remedy where steps are too long."""
        return f"{self._spec.clock.remedy}{better(self._spec.stability)}"

    def __call__(self, tick: Tick) -> str:
        spec = self._spec
        if self.watch is not None and self.watch.exceeded:
            return self.steps
        if spec.sweeps is not None and self._residual > LEFT:
            now = f"pressure.iterations (now {spec.sweeps})"
            return f"{self._residual:.0%} of the divergence was left: give more {now}, or another pressure.solver"
        if spec.stability is None or not spec.stability.damped(tick.dt, spec.clock.limit.cfl):
            return self.steps
        return 'steps are stable, so the grid may be too coarse: give more cells, or fluid.scheme = "quick"'
