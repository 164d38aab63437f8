"""Shares in ghost cells of walls in NumPy. Arrays are [n, r, s]: cells from a wall into the domain, and along the other
axes in their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tests.reference.two_phase import surrounded
from tests.reference.volume_of_fluid import height, normal, plane, volume

ANGLE_REACH = 2  # cells along a wall to the nearest interface whose contact line counts
RINGS = [[(r, s) for r in (-1, 0, 1) for s in (-1, 0, 1) if abs(r) + abs(s) == rank] for rank in range(3)]


def is_bent(f: float) -> bool:
    """Whether a share is that of a cell at the interface."""
    return 1e-6 < f < 1 - 1e-6


def faced(q: np.ndarray, axis: int, high: bool) -> np.ndarray:
    """An array [z, y, x] as [n, r, s] of one of its sides."""
    turned = q.transpose([2 - axis, *(2 - a for a in range(3) if a != axis)])
    return turned[::-1] if high else turned


@dataclass(frozen=True)
class Side:
    """The shares of cells at a side, the axes r and s that end at walls, and spacings along n, r and s."""

    f: np.ndarray
    walls: tuple[bool, bool]
    h: Sequence[float] = (1.0, 1.0, 1.0)

    def index(self, axis: int, n: int) -> int:
        """The cell that cell n along r (1) or s (2) is the mirror image or the periodic image of."""
        size = self.f.shape[axis]
        n %= 2 * size if self.walls[axis - 1] else size
        return n if n < size else 2 * size - 1 - n

    def value(self, n: int, r: int, s: int) -> float:
        return self.f[n, self.index(1, r), self.index(2, s)]

    def around(self, r: int, s: int, ring: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Steps to the cells of a ring around a cell that are no images beyond walls."""
        for i, j in ring:
            beyond = (not 0 <= q < size for q, size in ((r + i, self.f.shape[1]), (s + j, self.f.shape[2])))
            if not any(out and wall for out, wall in zip(beyond, self.walls, strict=True)):
                yield i, j


def shares_below_planes(f: np.ndarray, walls: tuple[bool, bool, bool], axis: int, high: bool) -> np.ndarray:
    """The first layer of ghost cells [r, s] of a side of the cells [z, y, x]: planes in the cells at the wall extended,
    with the normals of cells one farther in.
    """
    others = [a for a in range(3) if a != axis]
    m = np.array([faced(q, axis, high) for q in normal(surrounded(f, walls))[[axis, *others]]])
    m[0] *= -1 if high else 1
    side = Side(faced(f, axis, high), (walls[others[0]], walls[others[1]]))
    shape = side.f.shape[1:]
    normals = np.zeros((3, *shape))
    for r, s in np.ndindex(shape):
        if is_bent(side.f[0, r, s]):
            normals[:, r, s] = _normal_at_wall(side, m, r, s)
    alpha, known = np.zeros(shape), abs(normals).sum(axis=0) > 0
    alpha[known] = plane(abs(normals[:, known]), side.f[0][known])
    ghosts = side.f[0].copy()
    for r, s in np.ndindex(shape):
        for ring in RINGS:
            found = []
            for i, j in side.around(r, s, ring):
                cell = side.index(1, r + i), side.index(2, s + j)
                own = normals[:, *cell]
                if known[cell]:
                    found.append(volume(abs(own)[:, None], alpha[cell] + np.array([own @ (1, i, j)])).item())
            if found:
                ghosts[r, s] = np.mean(found)
                break
    return ghosts


def _normal_at_wall(side: Side, m: np.ndarray, r: int, s: int) -> np.ndarray:
    """The mean normal of the nearest cut cells one farther in; without them that of heights across the wall or, where
    the share changes more than twice as much off another side, across that one.
    """
    def off_wall(n: int, axis: int) -> int:
        size = side.f.shape[axis]
        return min(max(min(n, size - 2), 1), size - 1) if side.walls[axis - 1] else n % size

    for ring in RINGS:
        cells = [(1, off_wall(r + i, 1), off_wall(s + j, 2)) for i, j in ring]
        found = [m[:, *cell] for cell in cells if is_bent(side.f[cell])]
        if any(one.any() for one in found):
            total = np.sum(found, axis=0)
            return total / abs(total).sum()

    changes = [abs(_change_inwards(side, (0, r, s), axis)) / (1 if axis == 0 else 2) for axis in range(3)]
    return _along_side(side, (0, r, s), int(np.argmax(changes)))


def _ways(side: Side, cell: tuple[int, int, int], axis: int) -> tuple[tuple[int, int], int]:
    """The steps along an axis to the cells whose difference over two is a slope, and the way off a side at which a cell
    is, 0 elsewhere.
    """
    wall = axis == 0 or side.walls[axis - 1]
    low, high = cell[axis] == 0, cell[axis] == side.f.shape[axis] - 1
    return ((0, 2), 1) if wall and low else ((-2, 0), -1) if wall and high else ((-1, 1), 0)


def _moved(cell: tuple[int, int, int], axis: int, steps: int) -> tuple[int, int, int]:
    return tuple(n + steps * (a == axis) for a, n in enumerate(cell))


def _change_inwards(side: Side, cell: tuple[int, int, int], axis: int) -> float:
    return side.value(*cell) - side.value(*_moved(cell, axis, _ways(side, cell, axis)[1]))


def _along_side(side: Side, cell: tuple[int, int, int], axis: int) -> np.ndarray:
    """The normal of an interface along the side of an axis, by heights across the side."""
    inward = _ways(side, cell, axis)[1]

    def column(at: tuple[int, int, int]) -> float:
        return sum(side.value(*_moved(at, axis, n * inward)) for n in range(3))

    def component(b: int) -> float:
        if b == axis:
            return np.sign(_change_inwards(side, cell, axis)) * inward
        low, high = (_moved(cell, b, steps) for steps in _ways(side, cell, b)[0])
        return (column(low) - column(high)) / 2

    m = np.array([component(b) for b in range(3)])
    return m / abs(m).sum() if m.any() else m


def shares_at_angle(
    f: np.ndarray, walls: tuple[bool, bool, bool], axis: int, high: bool, angle: float, h: Sequence[float]
) -> list[np.ndarray]:
    """Three layers of ghost cells [r, s] of a side of the cells [z, y, x], from the wall outwards, below parabolas that
    meet it at an angle, in radians.
    """
    others = [a for a in range(3) if a != axis]
    side = Side(faced(f, axis, high), (walls[others[0]], walls[others[1]]), [h[a] for a in (axis, *others)])
    shape = side.f.shape[1:]
    cotangent = 1 / np.tan(angle)
    curves = {(along, r, s): parabola(side, along, r, s, cotangent) for along in (1, 2) for r, s in np.ndindex(shape)}
    layers = []
    for layer in (1, 2, 3):
        ghosts = side.f[0].copy()
        for r, s in np.ndindex(shape):
            for away in range(ANGLE_REACH + 1):
                found = []
                for along in (1, 2):
                    for by in {away, -away}:
                        step = (by, 0) if along == 1 else (0, by)
                        if [*side.around(r, s, [step])]:
                            curve = curves[along, side.index(1, r + step[0]), side.index(2, s + step[1])]
                            found += [] if curve is None else [curve.share(layer, by)]
                if found:
                    ghosts[r, s] = np.mean(found)
                    break
        layers.append(ghosts)
    return layers


@dataclass(frozen=True)
class Parabola:
    """The interface beyond a cell at the wall as heights along r or s, in cells: X_0, c and b, the slope across, and
    whether phase 1 is on the low side.
    """

    first: float
    slope: float
    bend: float
    tilt: float
    up: bool

    def share(self, layer: int, away: int) -> float:
        """The share of a ghost cell so many cells behind, along r or s, the one that the parabola begins in."""
        reach = self.first + layer * self.slope + layer * (layer - 1) / 2 * self.bend + (away if self.up else -away)
        size = np.array([1, abs(self.slope + (layer - 0.5) * self.bend), abs(self.tilt)])
        return volume((size / size.sum())[:, None], np.array([reach / size.sum() + 0.5])).item()


def parabola(side: Side, along: int, r: int, s: int, cotangent: float) -> Parabola | None:
    """The parabola of heights along r (1) or s (2) that begins in a cell at the wall, where it has a height."""
    step, over = ((1, 0), (0, 1)) if along == 1 else ((0, 1), (1, 0))
    if not is_bent(side.f[0, r, s]):
        return None

    def gradient(p: tuple[int, int], q: tuple[int, int]) -> float:
        weights = {-1: 1, 0: 2, 1: 1}
        return sum(
            w * sign * side.value(0, r - sign * p[0] + n * q[0], s - sign * p[1] + n * q[1])
            for n, w in weights.items() for sign in (1, -1)
        )  # fmt: skip

    main, across = gradient(step, over) / side.h[along], gradient(over, step) / side.h[3 - along]
    if main == 0 or abs(main) < abs(across):
        return None
    tilt = across / abs(main)
    slope = cotangent * np.sqrt(1 + tilt**2) * side.h[0] / side.h[along]

    def row(n: int, away: int) -> float | None:
        column = [side.value(n, r + i * step[0], s + i * step[1]) for i in range(away - 3, away + 4)]
        return height(column if main > 0 else column[::-1])

    first, back = row(0, 0), int(np.clip(np.trunc(slope + np.copysign(0.5, slope)), -2, 2))
    away = -back if main > 0 else back
    inside = [*side.around(r, s, [(away * step[0], away * step[1])])]
    second = row(1, away) if inside else None
    if first is None:
        return None
    bend = 0.0 if second is None else second - back - first + slope
    return Parabola(first, slope, bend, tilt * side.h[3 - along] / side.h[along], bool(main > 0))
