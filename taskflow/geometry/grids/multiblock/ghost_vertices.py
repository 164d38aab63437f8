"""Ghost vertices of charts: from neighbours through seams, reflected at boundaries."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

from taskflow.geometry.grids.multiblock.grid import GridSeam, MultiBlockGrid, oriented, vertices
from taskflow.runtime.regions import SIDES, Box, Patch, triple

ALIKE = 1e-6  # of the distance from the edge: tolerance of ghost vertices computed in different ways

Ends = tuple[tuple[int, int], ...]  # directions with their ends


def ghosted(grid: MultiBlockGrid, depth: int = 2) -> list[np.ndarray]:
    """Return the vertices [xyz, k, j, i] of each chart with `depth` layers of ghost vertices on every side.

    Through a seam they are the vertices of the other chart minus its translation. At a boundary x_g = 2 x_0 - x_n, with
    x_n n layers inside and x_0 on the side. At an edge or corner they are the common result of the ways across its
    sides. If these differ, as at an edge of three or five charts, x(-m, -n) = x(-m, 0) + x(0, -n) - x(0, 0). Outside
    the reach of a chart one cell thick, the spacing is continued.
    """
    return _Ghosts(grid, depth).filled()


class _Ghosts:
    def __init__(self, grid: MultiBlockGrid, depth: int) -> None:
        self.grid, self.depth = grid, depth
        self.vertices = []
        for chart in grid.charts:
            width = ((0, 0), *(((depth, depth),) * 3))
            self.vertices.append(np.pad(chart.vertices, width, constant_values=np.nan))
        self.seams: dict[tuple[int, str], list[GridSeam]] = {}
        for seam in grid.joins():
            self.seams.setdefault((seam.one.chart, seam.one.side), []).append(seam)
        self.patches: dict[tuple[int, str], list[Patch]] = {}
        for patch in (patch for patches in grid.sides.values() for patch in patches):
            self.patches.setdefault((patch.chart, patch.side), []).append(patch)

    def filled(self) -> list[np.ndarray]:
        for beyond in (1, 2, 3):
            for chart in range(len(self.grid.charts)):
                for axes in combinations(range(3), beyond):
                    for ends in product((0, 1), repeat=beyond):
                        self._fill(chart, tuple(zip(axes, ends, strict=True)))
        return self.vertices

    def _at(self, chart: int, vertices: Box) -> np.ndarray:
        """Return a view of vertices of a chart, ghosts included."""
        return self.vertices[chart][:, *vertices.slices((-self.depth,) * 3)]

    def _region(self, chart: int, beyond: Ends) -> Box:
        """Return the ghost vertices of a chart across these sides only."""
        box = self.grid.charts[chart].box.expand((0, 0, 0), (1, 1, 1))
        for axis, end in beyond:
            box = box.layer(axis, end, -self.depth, 0)
        return box

    def _fill(self, chart: int, beyond: Ends) -> None:
        """Fill the ghost vertices across some sides, given those across fewer sides."""
        region = self._region(chart, beyond)
        ways = [self._way(chart, region, axis, end, beyond) for axis, end in beyond]
        result = ways[0]
        if len(beyond) > 1:
            free, scale = self._extrapolated(chart, region, beyond)
            apart = [np.sqrt(((way - result) ** 2).sum(axis=0)) for way in ways[1:]]
            agree = np.all([distance <= ALIKE * scale for distance in apart], axis=0)
            result = np.where(agree, result, free)
        self._at(chart, region)[...] = result

    def _way(self, chart: int, region: Box, axis: int, end: int, beyond: Ends) -> np.ndarray:
        """Return ghost vertices of a region computed across one of its sides, NaN if undetermined."""
        shape = tuple(reversed(region.shape))
        result, side = np.full((3, *shape), np.nan), SIDES[2 * axis + end]
        cells = self.grid.charts[chart].cells[axis]
        for layer in range(1, self.depth + 1):
            here, inward = region.layer(axis, 1 - end, layer - 1, layer), -layer if end else layer
            place = result[:, *here.slices(region.lo)]
            if layer > cells:
                place[...] = 2 * self._before(chart, region, result, axis, end, layer - 1)
                place -= self._before(chart, region, result, axis, end, layer - 2)
                continue
            for patch in self.patches.get((chart, side), []):
                part = self._part(chart, patch, here, beyond)
                step = triple(inward * (a == axis) for a in range(3))
                face, inside = part.shift(step), part.shift(step).shift(step)
                values = 2 * self._at(chart, face) - self._at(chart, inside)
                result[:, *part.slices(region.lo)] = values
            for seam in self.seams.get((chart, side), []):
                part = self._part(chart, seam.one, here, beyond)
                values = oriented(seam.turn, self._at(seam.other.chart, vertices(seam.turn, part)))
                result[:, *part.slices(region.lo)] = values - np.reshape(seam.translation, (3, 1, 1, 1))
        return result

    def _before(self, chart: int, region: Box, result: np.ndarray, axis: int, end: int, layer: int) -> np.ndarray:
        """Return the layer before this one."""
        here = region.layer(axis, 1 - end, layer - 1, layer)
        return self._at(chart, here) if layer < 1 else result[:, *here.slices(region.lo)]

    def _part(self, chart: int, patch: Patch, here: Box, beyond: Ends) -> Box:
        """Return the part of a layer across a patch, including ghosts past an end of the patch that is the end of the
        chart.
        """
        ends = dict(beyond)
        for axis in patch.along:
            first, last = patch.cells.lo[axis], patch.cells.hi[axis]
            if axis not in ends:
                here = here.cut(axis, first, last + 1)
            elif (first > 0) if ends[axis] == 0 else (last < self.grid.charts[chart].cells[axis]):
                here = here.cut(axis, here.lo[axis], here.lo[axis])  # nothing
        return here

    def _extrapolated(self, chart: int, region: Box, beyond: Ends) -> tuple[np.ndarray, np.ndarray]:
        """Return ghost vertices computed from those across fewer sides, and the distance of the nearest from edge or
        corner.
        """
        corner = self._at(chart, self._on_sides(chart, region, beyond))
        total, scale = np.zeros((3, *reversed(region.shape))), np.full(tuple(reversed(region.shape)), np.inf)
        for count in range(len(beyond)):
            for fewer in combinations(beyond, count):
                sides = tuple(pair for pair in beyond if pair not in fewer)
                values = self._at(chart, self._on_sides(chart, region, sides))
                total = total + (1 if (len(beyond) - count) % 2 else -1) * values
                if count == 1:
                    scale = np.minimum(scale, np.sqrt(((values - corner) ** 2).sum(axis=0)))
        return total, scale

    def _on_sides(self, chart: int, region: Box, sides: Ends) -> Box:
        """Return the region moved onto sides, one vertex thick across them."""
        for axis, end in sides:
            at = self.grid.charts[chart].cells[axis] if end else 0
            region = region.cut(axis, at, at + 1)
        return region
