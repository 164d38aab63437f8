"""The end of a physical time step: the grid velocity by the differences of the step, and the volumes swept by faces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.timing.intervals import Tick
from taskflow.common.hexahedra import swept_rates, swept_volumes
from taskflow.flow.models.artificial_compressibility.dual_time import weights
from taskflow.output.store.rigid_motion import transformed


@dataclass(frozen=True)
class TimeLevels:
    """The end of a physical time step of `dt`, after a step of `last` (0: none). Without `dt`, as at the start of a
    run, the motion has the velocity given by the case.
    """

    time: float = 0.0
    dt: float = 0.0
    last: float = 0.0

    @classmethod
    def of(cls, tick: Tick) -> TimeLevels:
        """Return the moment of a state of a run."""
        return cls(tick.time, tick.dt, tick.dt / tick.ratio if tick.ratio else 0.0)

    @property
    def before(self) -> tuple[float, float]:
        """The times of the two previous levels."""
        return self.time - self.dt, self.time - self.dt - self.last

    @property
    def weights(self) -> tuple[float, float, float]:
        """c_0, c_1 and c_2 of the step."""
        return weights(self.dt / self.last if self.last else 0.0)

    def rates(self, motion: GridMotion) -> tuple[np.ndarray, np.ndarray]:
        """Return the rates of R and b in x = R X + b, by the differences of the step, or without one by derivatives."""
        if not self.dt:
            return motion.rates(self.time)
        turns, shifts = zip(*(motion.pose(time) for time in (self.time, *self.before)), strict=True)
        return np.tensordot(self.weights, turns, 1) / self.dt, np.tensordot(self.weights, shifts, 1) / self.dt

    def speeds(self, motion: GridMotion, points: np.ndarray) -> np.ndarray:
        """Return the velocities of points [xyz, ...] of the grid at rest."""
        return transformed(points, *self.rates(motion))

    def swept(self, motion: GridMotion, vertices: np.ndarray) -> np.ndarray:
        """Return the volume swept by low faces per time, [k, j, value, i], between vertices [xyz, k, j, i] of the grid
        at rest: (c_0 s^(n+1) - c_2 s^n) / dt, s being the volumes swept in this step and in the previous one.

        As c_0 + c_1 + c_2 = 0, the sum over the six faces of a cell is to rounding the rate of change of its volume.
        """
        cells = tuple(n - 1 for n in vertices.shape[1:])
        low = tuple(slice(0, n) for n in cells)
        if not self.dt:
            here, speeds = motion.moved(vertices, self.time), self.speeds(motion, vertices)
            return np.stack([swept_rates(here, speeds, axis)[low] for axis in range(3)], axis=2)
        now, old, older = ((x, y, z) for x, y, z in (motion.moved(vertices, t) for t in (self.time, *self.before)))
        c_0, _, c_2 = self.weights
        rates = []
        for axis in range(3):
            rate = c_0 * swept_volumes(old, now, axis)
            rates.append(((rate - c_2 * swept_volumes(older, old, axis)) if c_2 else rate)[low] / self.dt)
        return np.stack(rates, axis=2)


BEGINNING = TimeLevels()
