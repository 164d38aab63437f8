"""Operators on a stretched grid: differences divide by the distance between the points that they use.

Fields are arrays [z, y, x] of all cells and their ghost layers. What is computed in ghost layers means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

Carried = Callable[[np.ndarray, int, np.ndarray], np.ndarray]


class Widths(Protocol):
    """A grid as far as the reference asks it: `taskflow.flow.grid.StaggeredGrid` is one."""

    @property
    def cells(self) -> tuple[int, int, int]:
        """The number of cells along x, y and z."""

    @property
    def periodic(self) -> tuple[bool, bool, bool]:
        """Whether the grid is periodic along x, y and z."""

    def widths(self, axis: int) -> np.ndarray:
        """The widths of the cells along an axis."""


def shift(q: np.ndarray, axis: int, n: int = 1) -> np.ndarray:
    """q[i + n] along an axis."""
    return np.roll(q, -n, axis=2 - axis)


def parabola(place: np.ndarray, points: Sequence[np.ndarray], values: Sequence[np.ndarray]) -> np.ndarray:
    """The value at a place on the parabola through three points, by Lagrange's formula."""
    total = np.zeros(())
    for n, value in enumerate(values):
        others = [points[m] for m in range(3) if m != n]
        total = total + value * np.prod([(place - other) / (points[n] - other) for other in others], axis=0)
    return total


class Metrics:
    """The sizes of cells along each axis, and the operators made of them.

    W are the widths of cells, D[i] the distance between the centres of the cells i - 1 and i, F the places of low faces
    and C of centres, N the numbers of cells; `last` is the number of the last cell before a wall, None along a periodic
    axis. Beyond walls cells are mirrored.
    """

    def __init__(self, grid: Widths, ghost: int = 1) -> None:
        self.W: list[np.ndarray] = []
        self.D: list[np.ndarray] = []
        self.F: list[np.ndarray] = []
        self.C: list[np.ndarray] = []
        self.N: list[np.ndarray] = []
        self.last: list[int | None] = []
        for axis in range(3):
            periodic, n = grid.periodic[axis], grid.cells[axis]
            width = np.pad(grid.widths(axis), ghost + 1, mode="wrap" if periodic else "symmetric")
            faces = np.cumsum(width)[:-2]
            centres, numbers = faces + width[1:-1] / 2, np.arange(-ghost, n + ghost)
            sizes = width[1:-1], (width[:-2] + width[1:-1]) / 2, faces, centres, numbers
            for member, values in zip((self.W, self.D, self.F, self.C, self.N), sizes, strict=True):
                shape = [1, 1, 1]
                shape[2 - axis] = -1
                member.append(values.reshape(shape))
            self.last.append(None if periodic else n - 1)

    def divergence(self, velocity: Sequence[np.ndarray]) -> np.ndarray:
        """(u[i+1] - u[i]) / W[i] + ... in cells."""
        return sum(((shift(q, a) - q) / self.W[a] for a, q in enumerate(velocity)), np.zeros(()))

    def gradient(self, p: np.ndarray, axis: int) -> np.ndarray:
        """(p[i] - p[i-1]) / D[i] on low faces across an axis."""
        return (p - shift(p, axis, -1)) / self.D[axis]

    def carrier(self, r: np.ndarray, a: int) -> np.ndarray:
        """(W[i-1] r[i-1] + W[i] r[i]) / (2 D[i]) on low faces across a: the mean of r weighted by volumes."""
        return (shift(self.W[a], a, -1) * shift(r, a, -1) + self.W[a] * r) / (2 * self.D[a])

    def upwind(
        self, q: np.ndarray, a: int, speed: np.ndarray, points: np.ndarray, places: np.ndarray,
        central: Sequence[np.ndarray],
    ) -> np.ndarray:  # fmt: skip
        """QUICK: the value of q at `places`, between the `points` i - 1 and i along a, on the parabola through these
        two and the one before that which the flow comes from.

        It is the mean of both in cells that are `central` for flow that goes forward, and for flow that goes backward.
        """
        values = []
        for first, mean in zip((-2, -1), central, strict=True):
            row = [[shift(each, a, first + n) for n in range(3)] for each in (np.broadcast_to(points, q.shape), q)]
            values.append(np.where(mean, (q + shift(q, a, -1)) / 2, parabola(places, *row)))
        return np.where(speed > 0, *values)

    def momentum(self, velocity: Sequence[np.ndarray], a: int, viscosity: float) -> np.ndarray:
        """-div(q u) + viscosity Laplacian(q) on faces across a, q = velocity[a], carried by central differences."""
        return self._momentum(velocity, a, viscosity, lambda q, b, _: (q + shift(q, b, -1)) / 2)

    def momentum_quick(self, velocity: Sequence[np.ndarray], a: int, viscosity: float) -> np.ndarray:
        """The same as `momentum`, with q carried by QUICK."""

        def carried(q: np.ndarray, b: int, speed: np.ndarray) -> np.ndarray:
            if b == a:
                cell, ends = self.N[a] - 1, (None, None) if self.last[a] is None else (0, self.last[a])
                central = [np.zeros_like(cell, bool) if end is None else np.equal(cell, end) for end in ends]
                return self.upwind(q, a, speed, self.F[a], shift(self.C[a], a, -1), central)
            last = self.last[b]
            on_wall = np.isin(self.N[b], [] if last is None else [0, last + 1])
            return self.upwind(q, b, speed, self.C[b], self.F[b], [on_wall, on_wall])

        return self._momentum(velocity, a, viscosity, carried)

    def _momentum(self, velocity: Sequence[np.ndarray], a: int, viscosity: float, carried: Carried) -> np.ndarray:
        q, W, D = velocity[a], self.W, self.D
        speed = (q + shift(q, a, -1)) / 2
        inside = shift(speed * carried(q, a, speed), a)
        stress = (shift(q, a) - q) / W[a]
        total = (viscosity * (stress - shift(stress, a, -1)) - (inside - shift(inside, a, -1))) / D[a]
        for b in {0, 1, 2} - {a}:
            speed = self.carrier(velocity[b], a)
            flux = speed * carried(q, b, speed) - viscosity * self.gradient(q, b)
            total = total - (shift(flux, b) - flux) / W[b]
        return total

    def transport(
        self, T: np.ndarray, velocity: Sequence[np.ndarray], diffusivity: float | np.ndarray
    ) -> np.ndarray:
        """-div(u T) + div(diffusivity grad T) in cells, the diffusivity being a number or a field in cells."""
        total = np.zeros(())
        for a, u in enumerate(velocity):
            on_face = (diffusivity + shift(np.broadcast_to(diffusivity, T.shape), a, -1)) / 2
            flux = u * (shift(T, a, -1) + T) / 2 - on_face * self.gradient(T, a)
            total = total - (shift(flux, a) - flux) / self.W[a]
        return total
