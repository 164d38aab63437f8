"""Linear interpolation between the centres of cells on charts, up to the sides.

Around a point are the centres of its cell and of the neighbours towards the point, through seams, too. Beyond a
side it is the centre inside, mirrored in the plane of the face: ghost values of sides belong there. Where this gives no
position, beyond two sides and where other than four charts meet, a position and its value are a linear combination of
the others. So linear fields are exact on any cells.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.hexahedra import area, centres, face_corners, feet
from taskflow.common.point_location import shares
from taskflow.flow.model import Ends
from taskflow.runtime.regions import Atlas, Box, Triple, triple

Axes = frozenset[int]


@dataclass(frozen=True)
class WeightedPoint:
    """A position, and the cells whose values, times a share each, sum up to the value there."""

    place: np.ndarray
    cells: dict[Triple, float]

    def between(self, other: WeightedPoint, origin: WeightedPoint) -> WeightedPoint:
        """Return the fourth corner of a parallelogram: self + other - origin."""
        cells = Counter(self.cells)
        cells.update(other.cells)
        cells.subtract(origin.cells)
        return WeightedPoint(self.place + other.place - origin.place, dict(cells))


@dataclass(frozen=True)
class CellAround:
    """A `cell` of the atlas in this `chart`, and vertices [xyz, k, j, i] around it. Fields vary along `axes` only."""

    atlas: Atlas
    cell: Triple
    chart: Box
    vertices: np.ndarray
    axes: tuple[int, ...]

    def weights(self, point: np.ndarray, ends: Ends) -> dict[Triple, float]:
        """Return the cells from which a point in this cell has its value, with their weights.

        At a side these are the ghost values, or values inside only: extrapolated ("linear"), or the nearest.
        """
        own = shares(self._vertices_of({}), point)
        steps = {a: -1 if own is not None and own[2 - a] < 0.5 else 1 for a in self.axes}
        for axis, step in [*steps.items()] if ends != "sides" else ():
            if self._beyond_side(axis, step):
                steps[axis] = 0 if ends == "nearest" or self._beyond_side(axis, -step) else -step
        nodes = self._nodes({axis: step for axis, step in steps.items() if step})
        corners = np.stack([node.place for node in nodes.values()], axis=1).reshape(3, 2, 2, 2)
        found = shares(corners, point)
        if found is None:
            return {self.cell: 1.0}
        total = Counter[Triple]()
        for axes, node in nodes.items():
            weight = float(np.prod([found[2 - a] if a in axes else 1 - found[2 - a] for a in range(3)]))
            total.update({cell: weight * share for cell, share in node.cells.items()})
        return dict(total)

    def _nodes(self, steps: dict[int, int]) -> dict[Axes, WeightedPoint]:
        """Return the nodes after steps along some axes, in the order of k, j and i, the last one fastest."""
        sides = Axes(axis for axis, step in steps.items() if self._beyond_side(axis, step))
        nodes, combined = dict[Axes, WeightedPoint](), set[Axes]()
        for axes in (Axes(some) for count in range(4) for some in combinations(range(3), count)):
            still = axes - steps.keys()
            if still:
                axis = min(still)
                before = nodes[axes - {axis}]
                nodes[axes] = WeightedPoint(before.place + self._along(axis), before.cells)
            elif node := self._node({axis: steps[axis] for axis in axes}, axes & sides):
                nodes[axes] = node
            else:
                pairs = [Axes(pair) for pair in combinations(sorted(axes), 2)]
                one, other = sorted(next((pair for pair in pairs if pair in combined), pairs[0]))
                nodes[axes] = nodes[axes - {one}].between(nodes[axes - {other}], nodes[axes - {one, other}])
                combined.add(axes)
        return {axes: nodes[axes] for axes in (Axes(a for a in range(3) if n >> a & 1) for n in range(8))}

    def _node(self, steps: dict[int, int], beyond: Axes) -> WeightedPoint | None:
        """Return the node after some steps, of which those along `beyond` lead out of sides, or None."""
        owner, outside = self._owner(steps)
        if outside != len(beyond) or outside > 1:
            return None
        if not beyond:
            return WeightedPoint(self._centre(steps), {owner: 1.0})
        (axis,) = beyond
        inner = {a: step for a, step in steps.items() if a != axis}
        corners = [x[..., 0, 0, 0] for x in self._face(inner, axis, steps[axis])]
        inside = self._centre(inner)
        return WeightedPoint(2 * feet(inside, np.mean(corners, axis=0), area(*corners)) - inside, {owner: 1.0})

    def _owner(self, steps: dict[int, int]) -> tuple[Triple, int]:
        """Return the cell, of any chart, after some steps, and the number of directions in which it lies outside."""
        cell = triple(at + steps.get(axis, 0) for axis, at in enumerate(self.cell))
        box = Box(cell, triple(at + 1 for at in cell))
        if box in self.chart:
            return cell, 0
        owner = self.atlas.images(box)[0][0]
        chart = next(chart for chart in self.atlas.charts if owner in chart.grow(self.atlas.ghost))
        return owner.lo, sum(not low <= at < high for low, at, high in zip(chart.lo, owner.lo, chart.hi, strict=True))

    def _beyond_side(self, axis: int, step: int) -> bool:
        return self._owner({axis: step})[1] > 0

    def _vertices_of(self, steps: dict[int, int]) -> np.ndarray:
        k, j, i = (slice(1 + steps.get(axis, 0), 3 + steps.get(axis, 0)) for axis in (2, 1, 0))
        return self.vertices[:, k, j, i]

    def _centre(self, steps: dict[int, int]) -> np.ndarray:
        k, j, i = (1 + steps.get(axis, 0) for axis in (2, 1, 0))
        return self._centres[:, k, j, i]

    @cached_property
    def _centres(self) -> np.ndarray:
        return np.array(centres(self.vertices))

    def _face(self, steps: dict[int, int], axis: int, end: int) -> list[np.ndarray]:
        """Return the corners [xyz, 1, 1, 1], in order around it, of a face of the cell after some steps."""
        faces = face_corners(self._vertices_of(steps), axis)
        return [np.take(x, [0 if end < 0 else -1], axis=3 - axis) for x in faces]

    def _along(self, axis: int) -> np.ndarray:
        """Return the way from the low to the high face of this cell."""
        low, high = (np.mean(self._face({}, axis, end), axis=0) for end in (-1, 1))
        return np.asarray(high - low)[:, 0, 0, 0]
