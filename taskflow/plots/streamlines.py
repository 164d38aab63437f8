"""Evenly spaced streamlines that end where they meet each other, themselves or a body.

Method of Jobard and Lefer (1997), "Creating evenly-spaced streamlines of arbitrary density", Visualization in
Scientific Computing '97: a line starts at the separation distance from another line and is followed both ways until it
comes closer than half of it to any line. Here it also ends where it returns to itself, so a vortex is a few closed
lines.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import floor, hypot

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import FancyArrowPatch

ALONG, FLAT = 36, 54  # distances along the longer side of a picture, and of one at least three times as long as wide
NEAR = 0.5  # to another line, and
ITSELF = 0.25  # to itself: where a line ends, in distances
TURN = 1.0  # length before a line can meet itself
STEP = 0.1  # of the integration
SHORT = 1.5  # extent below which a line is omitted
WEAK = 1e-4  # of the largest velocity: where nothing flows
WHITE, WIDTH, ARROW = (1.0, 1.0, 1.0, 0.75), 0.7, 9.0

Point = tuple[float, float]
Square = tuple[int, int]


def draw_streamlines(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    velocity: tuple[np.ndarray, np.ndarray],
    blocked: np.ndarray,
    aspect: float,
) -> None:
    """Draw streamlines of a velocity, two components [y, x] at evenly spaced points, where it is not `blocked`.

    `aspect` is the width of the picture over its height. Nothing is drawn without flow.
    """
    if min(len(x), len(y)) < 4:
        return
    along = FLAT if max(aspect, 1 / aspect) >= 3 else ALONG
    columns, rows = along * min(1.0, aspect), along / max(1.0, aspect)
    scale = np.array([(x[-1] - x[0]) / columns, (y[-1] - y[0]) / rows])
    unblocked = [np.where(blocked, 0.0, component) / size for component, size in zip(velocity, scale, strict=True)]
    largest = float(np.hypot(*unblocked).max())
    if not largest > 0:
        return
    lines = _Streamlines(unblocked[0] / largest, unblocked[1] / largest, blocked, columns, rows).all()
    placed = [np.array([x[0], y[0]]) + np.array(line) * scale for line in lines]
    axes.add_collection(LineCollection(placed, colors=[WHITE], linewidths=WIDTH, capstyle="round"))
    for line in placed:
        middle = len(line) // 2
        head = FancyArrowPatch(
            line[middle - 1], line[middle], arrowstyle="-|>", mutation_scale=ARROW, color=WHITE, linewidth=0.0
        )
        axes.add_patch(head)


@dataclass
class _Streamlines:
    """Lines in a velocity [row, column], in units of the separation distance: 0 to `columns`, and to `rows`."""

    along: np.ndarray
    upwards: np.ndarray
    blocked: np.ndarray
    columns: float
    rows: float
    taken: dict[Square, list[Point]] = field(default_factory=lambda: defaultdict(list))

    def all(self) -> list[list[Point]]:
        """Return all lines: first those next to existing lines, then through points of strong flow."""
        lines: list[list[Point]] = []
        beside: deque[list[Point]] = deque()
        for start in self._strongest():
            seeds: Iterator[Point] = iter([start])
            while True:
                for seed in seeds:
                    if not self._meets(seed, 1.0) and (line := self._line(seed)):
                        lines.append(line)
                        beside.append(line)
                if not beside:
                    break
                seeds = _beside(beside.popleft())
        return lines

    def _strongest(self) -> list[Point]:
        """Return a point for each square of the separation distance, by decreasing speed."""
        points = [(a + 0.5, b + 0.5) for a in range(floor(self.columns)) for b in range(floor(self.rows))]
        speeds = {point: hypot(*velocity) for point in points if (velocity := self._velocity(*point))}
        return sorted(speeds, key=lambda point: -speeds[point])

    def _line(self, seed: Point) -> list[Point]:
        """Return the line through a point and mark it as taken, or [] if it is short."""
        ahead, own = self._followed(seed, 1.0, {}), defaultdict[Square, list[tuple[Point, float]]](list)
        for number, point in enumerate(ahead):
            own[_square(point)].append((point, number * STEP))
        line = [*reversed(self._followed(seed, -1.0, own)), seed, *ahead]
        if max(np.ptp(np.array(line), axis=0)) < SHORT:
            return []
        for point in line[::2]:
            self.taken[_square(point)].append(point)
        return line

    def _followed(self, seed: Point, sign: float, own: Mapping[Square, list[tuple[Point, float]]]) -> list[Point]:
        """Return points of the line from a seed, downstream or upstream. `own` has the points on its other side."""
        points: list[Point] = []
        mine = {square: [(point, -length) for point, length in places] for square, places in own.items()}
        (a, b), length = seed, 0.0
        while (first := self._direction(a, b)) is not None:
            half = sign * STEP / 2
            second = self._direction(a + half * first[0], b + half * first[1])
            if second is None:
                break
            a, b, length = a + 2 * half * second[0], b + 2 * half * second[1], length + STEP
            if self._velocity(a, b) is None or self._meets((a, b), NEAR) or _returns(mine, (a, b), length):
                break
            points.append((a, b))
            mine.setdefault(_square((a, b)), []).append(((a, b), length))
        return points

    def _direction(self, a: float, b: float) -> Point | None:
        velocity = self._velocity(a, b)
        return None if velocity is None else (velocity[0] / hypot(*velocity), velocity[1] / hypot(*velocity))

    def _velocity(self, a: float, b: float) -> Point | None:
        """Return the velocity at a point, bilinear between four points, or None outside, in bodies and without flow."""
        rows, columns = self.along.shape
        i, j = a / self.columns * (columns - 1), b / self.rows * (rows - 1)
        if not (0 <= i <= columns - 1 and 0 <= j <= rows - 1) or self.blocked[floor(j + 0.5), floor(i + 0.5)]:
            return None
        m, n = min(int(i), columns - 2), min(int(j), rows - 2)
        p, q = i - m, j - n
        weights = ((n, m, (1 - p) * (1 - q)), (n, m + 1, p * (1 - q)), (n + 1, m, (1 - p) * q), (n + 1, m + 1, p * q))
        u = sum(float(self.along[row, column]) * weight for row, column, weight in weights)
        v = sum(float(self.upwards[row, column]) * weight for row, column, weight in weights)
        return (u, v) if hypot(u, v) > WEAK else None

    def _meets(self, point: Point, distance: float) -> bool:
        """Return True if another line is closer to a point than `distance`."""
        near = (place for square in _around(point) for place in self.taken.get(square, ()))
        return any(hypot(a - point[0], b - point[1]) < distance for a, b in near)


def _returns(mine: Mapping[Square, list[tuple[Point, float]]], point: Point, length: float) -> bool:
    near = (place for square in _around(point) for place in mine.get(square, ()))
    return any(length - at > TURN and hypot(a - point[0], b - point[1]) < ITSELF for (a, b), at in near)


def _square(point: Point) -> Square:
    return floor(point[0]), floor(point[1])


def _around(point: Point) -> list[Square]:
    """Return the squares that contain points at most one separation distance away."""
    column, row = _square(point)
    return [(column + i, row + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]


def _beside(line: list[Point]) -> Iterator[Point]:
    """Yield points at the separation distance on both sides of a line."""
    for (a, b), (c, d) in zip(line[:-1:4], line[1::4], strict=False):
        length = hypot(c - a, d - b) or 1.0
        across = (-(d - b) / length, (c - a) / length)
        yield a + across[0], b + across[1]
        yield a - across[0], b - across[1]
