"""Merge vertices shared by several charts, bitwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.geometry.grids.multiblock.grid import NOWHERE, Chart, GridSeam, oriented, vertices
from taskflow.runtime.regions import Box, Patch, triple

TOLERANCE = 1e-8  # of the local edge: largest distance of vertices of a seam
ROUNDING = 8.0  # times the spacing of floating-point numbers at the largest coordinate: the same, where cells are tiny
BITS = 51  # of coordinates on periodic seams: their sums with a period are exact, too


class Lattice:
    """Numbers for all vertices of charts, or for all edges along i, j and k, located at their low vertex."""

    def __init__(self, charts: Sequence[Chart], axes: Sequence[int | None] = (None,)) -> None:
        self.shapes = {
            (chart, axis): triple(n + (a != axis) for a, n in enumerate(charts[chart].cells))
            for chart in range(len(charts))
            for axis in axes
        }
        counts = [int(np.prod(shape)) for shape in self.shapes.values()]
        self.first = dict(zip(self.shapes, np.cumsum([0, *counts]).tolist(), strict=False))
        self.count = sum(counts)

    def numbers(self, chart: int, box: Box, axis: int | None = None) -> np.ndarray:
        """Return the numbers [k, j, i] of a box of vertices of a chart, or of the edges along an axis."""
        ni, nj, _ = self.shapes[chart, axis]
        i, j, k = (np.arange(low, high) for low, high in zip(box.lo, box.hi, strict=True))
        return np.asarray(self.first[chart, axis] + (k[:, None, None] * nj + j[:, None]) * ni + i)

    def pairs(self, seam: GridSeam, axis: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of vertices, or of edges along a direction of `one`, on both sides of a seam."""
        one, turn, b = seam.one.vertices, seam.turn, None
        other = vertices(turn, one)
        if axis is not None:
            one = one.expand((0, 0, 0), triple(-(a == axis) for a in range(3)))
            b = abs(seam.axes[axis]) - 1
            other = other.expand((0, 0, 0), triple(-(a == b) for a in range(3)))
        numbers = self.numbers(seam.other.chart, other, b)
        return self.numbers(seam.one.chart, one, axis).ravel(), oriented(turn, numbers).ravel()


def edges(points: np.ndarray) -> np.ndarray:
    """Return the length [k, j, i] of the shortest lattice edge at each point [xyz, k, j, i]."""
    shortest = np.full(points.shape[1:], np.inf)
    for axis in range(3):
        length = np.moveaxis(np.sqrt((np.diff(points, axis=axis + 1) ** 2).sum(axis=0)), axis, 0)
        rows = np.moveaxis(shortest, axis, 0)  # the same memory
        for end in (rows[:-1], rows[1:]):
            np.minimum(end, length, out=end)
    return shortest


def both(charts: Sequence[Chart], seam: GridSeam) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices [xyz, k, j, i] of a seam on either chart, in the same order."""
    one = charts[seam.one.chart].at(seam.one.vertices)
    return one, oriented(seam.turn, charts[seam.other.chart].at(seam.other.vertices))


def tolerance(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the largest distance [k, j, i] of vertices to be merged."""
    tiny = ROUNDING * np.spacing(max(np.abs(one).max(), np.abs(other).max()))
    return np.maximum(TOLERANCE * np.minimum(edges(one), edges(other)), tiny)


def mismatches(charts: Sequence[Chart], seams: Sequence[GridSeam]) -> Iterator[BadInput]:
    """Yield problems of seams whose vertices do not coincide: the largest distance and its position."""
    for seam in seams:
        one, other = both(charts, seam)
        moved = one + np.reshape(seam.translation, (3, 1, 1, 1))
        apart = np.sqrt(((moved - other) ** 2).sum(axis=0))
        if (apart > tolerance(one, other)).any():
            worst = np.unravel_index(np.argmax(apart), apart.shape)
            place = ", ".join(f"{x[worst]:.6g}" for x in one)
            part = f"{apart.max():.3g} apart, {apart[worst] / edges(one)[worst]:.2g} of the edge there"
            yield BadInput(
                f"{seam}: vertices do not coincide, at ({place}) they are {part}; at most {TOLERANCE:g} is allowed:"
                " join other faces, or write the grid in double precision"
            )


def welded(charts: Sequence[Chart], seams: Sequence[GridSeam]) -> tuple[tuple[Chart, ...], tuple[GridSeam, ...]]:
    """Return charts and seams with bitwise identical shared vertices, taken from the chart of the lowest number.

    Where a period runs along x, y or z, this coordinate of vertices and translations is rounded to `BITS` bits of the
    largest coordinate. Their sum is then exact, and differences between neighbours are equal on both sides. Other
    coordinates are unchanged, so flat sides stay flat.
    """
    if not seams:
        return tuple(charts), ()
    lattice = Lattice(charts)
    pairs = [lattice.pairs(seam) for seam in seams]
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    used, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    a, b = place[: first.size], place[first.size :]

    marks = np.searchsorted(used, [*lattice.first.values(), lattice.count])
    mine = [used[lo:hi] - start for start, (lo, hi) in zip(lattice.first.values(), pairwise(marks), strict=True)]
    points = np.concatenate([x.vertices.reshape(3, -1)[:, n] for x, n in zip(charts, mine, strict=True)], axis=1)
    unit = _unit(max(max(float(chart.vertices.max()), -float(chart.vertices.min())) for chart in charts))
    rounded = [replace(seam, translation=_rounded(seam.translation, unit)) for seam in seams]
    count = [pair[0].size for pair in pairs]
    steps = np.repeat(np.array([seam.translation for seam in rounded]), count, axis=0)
    label, away = together(a, b, steps, used.size)
    periodic = np.zeros((3, used.size), bool)
    for along, step in zip(periodic, steps.T, strict=True):
        along[label[a[step != 0]]] = True

    base = points[:, label]
    base = np.where(periodic[:, label], np.round(base / unit) * unit, base)
    parts = np.split(base + away.T, marks[1:-1], axis=1)
    return tuple(_with(chart, n, x) for chart, n, x in zip(charts, mine, parts, strict=True)), tuple(rounded)


def _with(chart: Chart, places: np.ndarray, points: np.ndarray) -> Chart:
    """Return the chart with other vertices at some places, or the same object if they are bitwise identical."""
    if chart.vertices.reshape(3, -1)[:, places].tobytes() == points.tobytes():
        return chart
    changed = chart.vertices.reshape(3, -1).copy()
    changed[:, places] = points
    return Chart(changed.reshape(chart.vertices.shape))


def _unit(largest: float) -> float:
    """Return the power of two whose multiples are the coordinates on periodic seams."""
    most = largest * (1 + 1e-9)  # so that rounding does not exceed a power of two
    return float(2.0 ** (np.ceil(np.log2(most or 1.0)) - BITS))


def _rounded(translation: tuple[float, float, float], unit: float) -> tuple[float, float, float]:
    if translation == NOWHERE:
        return translation
    return triple(float(np.round(t / unit) * unit) for t in translation)


def together(a: np.ndarray, b: np.ndarray, steps: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest connected number for each of `count` items, and its offset [xyz] from it.

    Items a[n] and b[n] are connected, with a[n] + steps[n] = b[n].
    """
    label, away = np.arange(count), np.zeros((count, 3))
    while True:
        before = label.copy()
        for source, target, sign in ((a, b, 1.0), (b, a, -1.0)):
            lower = label[source] < label[target]
            order = np.argsort(label[source[lower]])[::-1]  # of several, the lowest is the last to be written
            s, t = source[lower][order], target[lower][order]
            new_label, new_away = label[s], away[s] + sign * steps[lower][order]
            label[t], away[t] = new_label, new_away
        if (label == before).all():
            return label, away


def translated(charts: Sequence[Chart], seam: GridSeam) -> GridSeam:
    """Return the seam with the translation between its vertices, if it is uniform.

    Seams with vertices less than half a cell apart are meant to coincide and unchanged. Raises BadInput for an apparent
    rotation.
    """
    one, other = both(charts, seam)
    apart, most = other - one, tolerance(one, other)
    distance, across = np.sqrt((apart**2).sum(axis=0)), min(_across(charts, seam.one), _across(charts, seam.other))
    if (distance <= most).all() or distance.max() < across / 2:
        return seam
    x, y, z = (float(np.median(step)) for step in apart)
    if (np.sqrt(((apart - np.reshape((x, y, z), (3, 1, 1, 1))) ** 2).sum(axis=0)) <= most).all():
        return replace(seam, translation=(x, y, z))
    if _congruent(one, other):
        problem = "periodic by a rotation, which is not available in this version"
        raise BadInput(f"{problem}; make a grid of the whole circle")
    return seam


def _across(charts: Sequence[Chart], patch: Patch) -> float:
    """Return the shortest edge from the faces of a patch into its chart."""
    inwards = triple((0, 1 - 2 * patch.end)[a == patch.axis] for a in range(3))
    chart, faces = charts[patch.chart], patch.vertices
    return float(np.sqrt(((chart.at(faces.shift(inwards)) - chart.at(faces)) ** 2).sum(axis=0)).min())


def _congruent(one: np.ndarray, other: np.ndarray) -> bool:
    """Return True if all distances from the corners of a patch are the same in the other."""
    corners = [(0, 0, 0), (-1, -1, -1), (-1, 0, 0), (0, 0, -1), (0, -1, 0)]
    for corner in corners:
        first, second = (np.sqrt(((x - x[:, *corner][:, None, None, None]) ** 2).sum(axis=0)) for x in (one, other))
        if not np.allclose(first, second, rtol=1e-6, atol=1e-9 * first.max()):
            return False
    return True
