"""Particles that are carried: where they are in cells, what a field has there, and where a step leads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NEAR = 1e-9
Between = tuple[np.ndarray, np.ndarray]  # the number of the value before, and the share of the way to the next one


@dataclass(frozen=True, eq=False)
class Direction:
    """The places of the `faces` along an axis, with one more beyond either end of the domain; all as far apart as
    `spacing`, where that is given.
    """

    faces: np.ndarray
    spacing: float | None
    periodic: bool

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of the domain."""
        return float(self.faces[1]), float(self.faces[-2])

    @property
    def last(self) -> int:
        """The number of the last cell."""
        return len(self.faces) - 4

    def inside(self, x: np.ndarray) -> Between:
        """The cells in which places are, and how far these lie behind their low faces, over their widths."""
        if self.spacing is not None:
            s = (x - self.ends[0]) / self.spacing
            cells = np.clip(s, 0, self.last).astype(int)
            return cells, s - cells
        cells = np.clip(np.searchsorted(self.faces, x, "right") - 2, 0, self.last)
        return cells, (x - self.faces[cells + 1]) / (self.faces[cells + 2] - self.faces[cells + 1])

    def between(self, x: np.ndarray, *, faces: bool, beyond: bool) -> Between:
        """Places among the values of a field, on faces or in centres; `beyond` the last one before a boundary there are
        ghost values, or else its own goes on.
        """
        cells, share = self.inside(x)
        if faces:
            return cells, share
        if self.spacing is not None:
            first, part = np.where(share < 0.5, cells - 1, cells), np.where(share < 0.5, share + 0.5, share - 0.5)
        else:
            centres = 0.5 * (self.faces[:-1] + self.faces[1:])  # from that of cell -1 on
            first = np.where(x < centres[cells + 1], cells - 1, cells)
            part = (x - centres[first + 1]) / (centres[first + 2] - centres[first + 1])
        if beyond or self.periodic:
            return first, part
        part = np.where(first < 0, 0.0, np.where(first < self.last, part, 1.0 if self.last else 0.0))
        return np.clip(first, 0, max(self.last - 1, 0)), part

    def contained(self, x: np.ndarray, opened: tuple[bool, bool]) -> np.ndarray:
        """Places after a move, where they may be: NaN beyond an end that is `opened`, the low or the high one."""
        low, high = self.ends
        if self.periodic:
            turns = (x - low) / (high - low)
            x = x - (high - low) * np.where((turns < 0) | (turns >= 1), np.trunc(turns) - (turns < 0), 0)
            return np.where((x >= low) & (x < high), x, low)
        mirrored = np.clip(np.where(x < low, low - (x - low), np.where(x > high, high - (x - high), x)), low, high)
        return np.where((x < low) & opened[0] | (x > high) & opened[1], np.nan, mirrored)


def linear(axes: Sequence[Direction], q: np.ndarray, across: int, x: np.ndarray) -> np.ndarray:
    """The values at places [n, axis] of a field q [z, y, x], with a ghost layer, on faces across an axis; or in centres
    (-1), where no ghost value beyond a boundary is used.
    """
    places = (axis.between(x[:, n], faces=n == across, beyond=across >= 0) for n, axis in enumerate(axes))
    (i, a), (j, b), (k, c) = ((first + 1, share) for first, share in places)

    def along(y: int, z: int) -> np.ndarray:
        return _mean(q[k + z, j + y, i], q[k + z, j + y, i + 1], a)

    return _mean(_mean(along(0, 0), along(1, 0), b), _mean(along(0, 1), along(1, 1), b), c)


def _mean(low: np.ndarray, high: np.ndarray, share: np.ndarray) -> np.ndarray:
    result: np.ndarray = (1.0 - share) * low + share * high
    return result


def carried(
    axes: Sequence[Direction],
    velocity: Sequence[np.ndarray],
    position: np.ndarray,
    before: np.ndarray,
    dt: float,
    ratio: float,
    solid: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Places [n, axis] after a step of dt, `ratio` times the last one, among walls and periodic sides, and the velocity
    before it at them; `before` is that of the last step, NaN where there was none. The `velocity` [z, y, x] has a ghost
    layer, and so has `solid`, the cells of bodies.
    """
    here = np.stack([linear(axes, q, axis, position) for axis, q in enumerate(velocity)], axis=1)
    past = np.where(np.isnan(before), here, before)
    moved = position + (dt * (1 + ratio / 2) * here - dt * (ratio / 2) * past)
    if solid is not None:
        moved = led(axes, solid, position, moved)
    columns = [axis.contained(moved[:, n], (False, False)) for n, axis in enumerate(axes)]
    return np.stack(columns, axis=1), here


def led(axes: Sequence[Direction], solid: np.ndarray, position: np.ndarray, moved: np.ndarray) -> np.ndarray:
    """Where ways from places [n, axis] end, along x, then y, then z: mirrored at a face of a body and at walls, past
    one face at most, and NEAR cells off all faces. `solid` [z, y, x] are the cells of bodies, with a ghost layer.
    """
    ends = moved.copy()
    for n, (start, goal) in enumerate(zip(position, moved, strict=True)):
        cell = [int(axis.inside(start[a : a + 1])[0][0]) for a, axis in enumerate(axes)]
        for a, axis in enumerate(axes):
            up, spacing = goal[a] > start[a], axis.spacing
            for passed in (False, True):
                low, high = (
                    axis.faces[cell[a] + 1 + k] if spacing is None else axis.ends[0] + spacing * (cell[a] + k)
                    for k in (0, 1)
                )
                least, most = low + NEAR * (high - low), high - NEAR * (high - low)
                if goal[a] < high if up else goal[a] >= low:
                    ends[n, a] = min(max(goal[a], least), most)
                    break
                side = not axis.periodic and cell[a] == (axis.last if up else 0)
                beside = [i + 1 + (b == a) * (1 if up else -1) for b, i in enumerate(cell)]
                if passed and not side:
                    ends[n, a] = most if up else least
                    break
                if side or solid[beside[2], beside[1], beside[0]]:
                    face = high if up else low
                    ends[n, a] = min(max(face - (goal[a] - face), least), most)
                    break
                cell[a] += 1 if up else -1
    return ends


def fallen(
    axes: Sequence[Direction],
    velocity: Sequence[np.ndarray],
    state: tuple[np.ndarray, np.ndarray, np.ndarray],
    weights: tuple[float, float, float],
    time: float,
    settling: Sequence[float],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The `state` of heavy particles after a step: their places, the velocities around them before it, and their own,
    [n, axis]; NaN where there were none. They follow the velocity around them in a `time`, and fall at a velocity in
    fluid at rest. `weights` are now and then, as for the other ones, and 1 - exp(-dt / time).
    """
    position, before, own = state
    now, then, gain = weights
    dt = now - then
    here = np.stack([linear(axes, q, axis, position) for axis, q in enumerate(velocity)], axis=1)
    change = 2 * then / dt * (here - np.where(np.isnan(before), here, before))
    goal = here + np.array(settling) - change * (time / dt)
    lag = goal - np.where(np.isnan(own), here, own)
    moved, own = position + (goal * dt - lag * (time * gain) + 0.5 * change * dt), goal - lag + (lag * gain + change)
    for n, axis in enumerate(axes):
        low, high = axis.ends
        beyond = ((moved[:, n] < low) | (moved[:, n] > high)) & (not axis.periodic)
        own[:, n] = np.where(beyond, -own[:, n], own[:, n])
    places = np.stack([axis.contained(moved[:, n], (False, False)) for n, axis in enumerate(axes)], axis=1)
    return places, here, own
