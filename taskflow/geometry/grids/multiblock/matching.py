"""Find seams from coincident faces, and check that patches cover every face of a grid once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import area
from taskflow.geometry.grids.multiblock.grid import NOWHERE, BadGrid, Chart, GridSeam, Vector, all_right, corners
from taskflow.runtime.regions import SIDES, Box, Patch, Turn, triple

NEAR = 1e-3  # of the shortest edge of a face: closer faces are meant to coincide
DIRECTION = np.array([0.5377, 0.6180, 0.5736])  # along which faces are sorted: no lattice has many at one place
AROUND = np.array([(0, 0), (1, 0), (1, 1), (0, 1)])  # the corners of a face, by both directions in it


@dataclass(frozen=True)
class SideFaces:
    """Faces of sides: chart, number of the side, cell [n, ijk] and corners [n, corner, xyz] of each."""

    chart: np.ndarray
    side: np.ndarray
    cell: np.ndarray
    corners: np.ndarray

    @classmethod
    def of(cls, charts: Sequence[Chart], patches: Sequence[Patch]) -> SideFaces:
        parts = [_faces(charts[patch.chart], patch) for patch in patches]
        cells, points = (np.concatenate(column) for column in zip(*parts, strict=True))
        count = [len(part[0]) for part in parts]
        charted = np.repeat([patch.chart for patch in patches], count)
        return cls(charted, np.repeat([SIDES.index(patch.side) for patch in patches], count), cells, points)

    def __getitem__(self, chosen: np.ndarray) -> SideFaces:
        return SideFaces(self.chart[chosen], self.side[chosen], self.cell[chosen], self.corners[chosen])

    @cached_property
    def edge(self) -> np.ndarray:
        """Shortest edge of each face."""
        return np.asarray(np.sqrt(((self.corners - np.roll(self.corners, 1, axis=1)) ** 2).sum(axis=2)).min(axis=1))


class FaceGaps:
    """Test for cells between faces of sides."""

    def __init__(self, charts: Sequence[Chart], faces: SideFaces) -> None:
        self._centres, self._cells = faces.corners.mean(axis=1), np.empty((len(faces.chart), 3))
        for number, chart in enumerate(charts):
            here = faces.chart == number
            i, j, k = faces.cell[here].T
            corners = [chart.vertices[:, k + c, j + b, i + a] for a, b, c in product((0, 1), repeat=3)]
            self._cells[here] = np.mean(corners, axis=0).T
        self._outward = area(*faces.corners.transpose(1, 2, 0)).T
        self._outward *= np.sign((self._outward * (self._centres - self._cells)).sum(axis=1))[:, None]

    def nothing(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return True if two faces face each other and each is on the near side of the other's cell.

        Charts may overlap slightly, but the sides of a thin slice have its cells between them.
        """
        facing = (self._outward[first] * self._outward[second]).sum(axis=1) < 0
        for face, across in ((first, second), (second, first)):
            facing &= (self._outward[face] * (self._centres[across] - self._cells[face])).sum(axis=1) > 0
        return np.asarray(facing)


def _faces(chart: Chart, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells [n, ijk] of a patch and the corners [n, corner, xyz] of their faces."""
    cell = np.indices(patch.cells.shape[::-1]).reshape(3, -1)[::-1].T + np.array(patch.cells.lo)
    points = np.stack([corner.reshape(3, -1) for corner in corners(chart, patch)])
    around = points if patch.axis != 1 else points[::-1]  # as `AROUND` has them
    return cell, around.transpose(2, 0, 1).copy()


def coincident(charts: Sequence[Chart], translations: Sequence[Vector] = ()) -> tuple[list[GridSeam], list[Patch]]:
    """Return as few seams as possible for faces that coincide, directly or after a translation, and patches of the
    rest.

    Raises BadGrid if three faces coincide, or left-handed and right-handed charts are joined.
    """
    sides = [Patch.whole(n, side, chart.cells) for n, chart in enumerate(charts) for side in SIDES]
    faces = SideFaces.of(charts, sides)
    rest, seams = np.arange(len(faces.chart)), list[GridSeam]()
    for translation in (NOWHERE, *translations):
        here = faces[rest]
        first, second, axes = _pairs(charts, here, translation)
        seams += _seams(here, first, second, axes, translation)
        rest = np.delete(rest, np.concatenate([first, second]))
    return sorted(seams), list(_patches(faces[rest]))


def _pairs(
    charts: Sequence[Chart], faces: SideFaces, translation: Vector
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return pairs of faces that coincide after the translation, with signed axes [n, ijk]. Unmoved pairs are ordered.
    """
    middles, stays = faces.corners.mean(axis=1), translation == NOWHERE
    moved = faces.corners if stays else faces.corners + np.array(translation)
    first, second = close(middles if stays else moved.mean(axis=1), middles, NEAR * faces.edge)
    keep = first != second
    if stays:
        nothing_between = FaceGaps(charts, faces).nothing(first, second)
        keep = (first < second) & (nothing_between | (faces.chart[first] != faces.chart[second]))
    first, second = first[keep], second[keep]
    apart = np.sqrt(((moved[first][:, :, None] - faces.corners[second][:, None]) ** 2).sum(axis=3))
    which = apart.argmin(axis=2)  # [pair, corner of the one]: the corner of the other there
    near = (apart.min(axis=2) <= NEAR * faces.edge[first, None]).all(axis=1)
    first, second, which = first[near], second[near], which[near]
    counts = np.bincount(np.concatenate([first, second]), minlength=len(faces.chart))
    if (counts > 1).any():
        face = int(counts.argmax())
        names = (_name(faces, n) for n in (face, *second[first == face], *first[second == face]))
        raise BadGrid([BadInput(f"faces of {', '.join(names)} coincide; at most two may: remove duplicates")])
    return first, second, _axes(faces, first, second, which)


def close(
    one: np.ndarray, other: np.ndarray, reach: np.ndarray, direction: np.ndarray = DIRECTION
) -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of points [n, xyz] less than `reach` apart, found by sorting along a direction."""
    along, places = one @ direction, other @ direction
    order = np.argsort(places, kind="stable")
    low = np.searchsorted(places[order], along - reach)
    count = np.searchsorted(places[order], along + reach, "right") - low
    first = np.repeat(np.arange(len(one)), count)
    second = order[np.arange(count.sum()) - np.repeat(np.cumsum(count) - count - low, count)]
    near = ((one[first] - other[second]) ** 2).sum(axis=1) <= reach[first] ** 2
    return first[near], second[near]


def _name(faces: SideFaces, n: int) -> str:
    return f"chart {faces.chart[n] + 1}, {SIDES[faces.side[n]]}"


def _axes(faces: SideFaces, first: np.ndarray, second: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Return the signed axes [n, ijk] of pairs, given their matching corners."""
    result = np.zeros((len(first), 3), int)
    rows = np.arange(len(first))
    one, other = faces.side[first], faces.side[second]
    along = np.array([Patch.whole(0, side, (1, 1, 1)).along for side in SIDES])
    result[rows, one // 2] = np.where(one % 2 != other % 2, 1, -1) * (other // 2 + 1)
    for direction, corner in ((0, 1), (1, 3)):
        step = AROUND[which[:, corner]] - AROUND[which[:, 0]]
        runs = np.abs(step).argmax(axis=1)
        result[rows, along[one, direction]] = step[rows, runs] * (along[other, runs] + 1)
    return result


def _seams(
    faces: SideFaces, first: np.ndarray, second: np.ndarray, axes: np.ndarray, translation: Vector
) -> Iterator[GridSeam]:
    pairs, source = np.arange(len(first))[:, None], np.argsort(np.abs(axes), axis=1)  # [pair, direction of the other]
    shift = faces.cell[second] - (np.sign(axes) * faces.cell[first])[pairs, source]
    key = np.stack([faces.chart[first], faces.side[first], faces.chart[second], faces.side[second]], axis=1)
    rows = np.concatenate([key, axes, shift], axis=1)
    for group in _alike(rows):
        chart, side, other_chart, other_side, *numbers = rows[group[0]].tolist()
        turn = Turn(triple(numbers[:3]), triple(numbers[3:]))
        members = first[group]
        if not turn.rotates:
            seam = f"{_name(faces, int(members[0]))} with chart {other_chart + 1}, {SIDES[other_side]}"
            how = "joins a right-handed chart to a left-handed one; reverse an index of one"
            raise BadGrid([BadInput(f"the seam of {seam} {how}")])
        for box in rectangles(faces.cell[members]):
            other = Patch(other_chart, SIDES[other_side], turn(box))
            yield GridSeam(Patch(chart, SIDES[side], box), other, turn.axes, translation).in_order


def _patches(faces: SideFaces) -> Iterator[Patch]:
    for group in _alike(np.stack([faces.chart, faces.side], axis=1)):
        chart, side = int(faces.chart[group[0]]), SIDES[faces.side[group[0]]]
        yield from (Patch(chart, side, box) for box in rectangles(faces.cell[group]))


def _alike(rows: np.ndarray) -> list[np.ndarray]:
    """Return the indices of equal rows, in the order of their values. Sorting ranks takes a tenth of sorting rows."""
    rank = np.zeros(len(rows), int)
    for column in rows.T:
        value = column - column.min(initial=0)
        rank = np.unique(rank * (value.max(initial=0) + 1) + value, return_inverse=True)[1]
    order = np.argsort(rank, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(rank[order])) + 1) if len(rows) else []


def rectangles(cells: np.ndarray) -> Iterator[Box]:
    """Yield boxes, one cell thick, that cover cells [n, ijk] of one side, with the longest possible rows."""
    low = cells.min(axis=0)
    mask = np.zeros(cells.max(axis=0) - low + 1, bool)
    mask[tuple((cells - low).T)] = True
    while mask.any():
        corner = np.array(np.unravel_index(int(mask.argmax()), mask.shape))
        size = np.array([1, 1, 1])
        for axis in (2, 1, 0):
            while corner[axis] + size[axis] < mask.shape[axis]:
                bigger = size + (np.arange(3) == axis)
                if not mask[_slices(corner, bigger)].all():
                    break
                size = bigger
        mask[_slices(corner, size)] = False
        yield Box(triple((low + corner).tolist()), triple((low + corner + size).tolist()))


def _slices(corner: np.ndarray, size: np.ndarray) -> tuple[slice, ...]:
    return tuple(slice(c, c + s) for c, s in zip(corner.tolist(), size.tolist(), strict=True))


def covered(where: Path, charts: Sequence[Chart], seams: Sequence[GridSeam], sides: Mapping[str, list[Patch]]) -> None:
    """Raise BadGrid with all faces that no seam and no side in a file covers, or several."""
    patches = [*(patch for seam in seams for patch in (seam.one, seam.other)), *chain(*sides.values())]
    all_right(BadInput(f"{where}: {problem}") for problem in _uncovered(charts, patches))


def _uncovered(charts: Sequence[Chart], patches: Sequence[Patch]) -> Iterator[BadInput]:
    for chart, block in enumerate(charts):
        for side in SIDES:
            whole = Patch.whole(chart, side, block.cells)
            count = np.zeros(tuple(reversed(whole.cells.shape)), int)
            for patch in patches:
                if (patch.chart, patch.side) == (chart, side):
                    count[patch.cells.slices(whole.cells.lo)] += 1
            for wrong, problem in (
                (count == 0, "are on no seam and no side; add an entry for them"),
                (count > 1, "are covered more than once; remove an entry, or make one smaller"),
            ):
                if wrong.any():
                    places = np.argwhere(wrong)[:, ::-1] + np.array(whole.cells.lo)
                    box = next(rectangles(places))
                    yield BadInput(f"{Patch(chart, side, box)}: these faces {problem}")
