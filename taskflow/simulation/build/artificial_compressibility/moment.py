"""The end of a step of real time: how fast a grid moves then, by the differences of the step; what its faces sweep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.flow.models.artificial_compressibility.dual_time import weights
from taskflow.hexahedra import swept_volumes
from taskflow.output.moving import transformed
from taskflow.simulation.case.motion import GridMotion
from taskflow.simulation.timing.schedule import Tick


@dataclass(frozen=True)
class Moment:
    """The end of a step of real time of `dt`, behind one of `last` (0: none); without `dt` the beginning of a run."""

    time: float = 0.0
    dt: float = 0.0
    last: float = 0.0

    @classmethod
    def of(cls, tick: Tick) -> Moment:
        """That of a state of a run."""
        return cls(tick.time, tick.dt, tick.dt / tick.ratio if tick.ratio else 0.0)

    @property
    def before(self) -> tuple[float, float]:
        """The times of the two levels before."""
        return self.time - self.dt, self.time - self.dt - self.last

    @property
    def weights(self) -> tuple[float, float, float]:
        """c_0, c_1 and c_2 of the step."""
        return weights(self.dt / self.last if self.last else 0.0)

    def rates(self, motion: GridMotion) -> tuple[np.ndarray, np.ndarray]:
        """How fast R and b of x = R X + b change, by the differences of the step; 0 at the beginning."""
        if not self.dt:
            return np.zeros((3, 3)), np.zeros(3)
        turns, shifts = zip(*(motion.pose(time) for time in (self.time, *self.before)), strict=True)
        return np.tensordot(self.weights, turns, 1) / self.dt, np.tensordot(self.weights, shifts, 1) / self.dt

    def speeds(self, motion: GridMotion, points: np.ndarray) -> np.ndarray:
        """How fast points [xyz, ...] of the grid at rest move."""
        return transformed(points, *self.rates(motion))

    def swept(self, motion: GridMotion, vertices: np.ndarray) -> np.ndarray:
        """The volume that low faces sweep per time, [k, j, value, i], between vertices [xyz, k, j, i] of the grid at
        rest: (c_0 s^(n+1) - c_2 s^n) / dt, s being the volumes swept in this step and in the one before.

        As c_0 + c_1 + c_2 = 0, what the six faces of a cell sweep is to rounding the rate of change of its volume.
        """
        cells = tuple(n - 1 for n in vertices.shape[1:])
        if not self.dt:
            return np.zeros((cells[0], cells[1], 3, cells[2]))
        now, old, older = ((x, y, z) for x, y, z in (motion.moved(vertices, t) for t in (self.time, *self.before)))
        c_0, _, c_2 = self.weights
        low = tuple(slice(0, n) for n in cells)
        rates = []
        for axis in range(3):
            rate = c_0 * swept_volumes(old, now, axis)
            rates.append(((rate - c_2 * swept_volumes(older, old, axis)) if c_2 else rate)[low] / self.dt)
        return np.stack(rates, axis=2)


BEGINNING = Moment()
