"""Fields of a record on charts, interpolated to another grid.

In the nearest cell a field is linear, with differences to its neighbours on the chart, limited to their range (T. J.
Barth, D. C. Jespersen 1989, AIAA 89-0366): no overshoots, exact for linear fields, otherwise of second order. A cell
adjacent to a side or a seam has no neighbour there: across it the field is constant in that cell and of first order. In
wider cells the value is the mean at several points. If the new grid fills the same volume, the deficit of the mean over
the volume is then added within these ranges.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.charts.derived import CENTRES, KJI, differences, fields_of
from taskflow.analysis.charts.metrics import vertices_of
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import cell_volumes
from taskflow.common.point_location import around_cells, reach, thin_along
from taskflow.output.store.reading import charts

POINTS = 1 << 20  # points searched together
SLACK = 1e-9  # of an extent: rounding errors of positions
ALIKE = 0.01  # of a volume: largest difference of two grids of a domain
MOST = 4  # points along each direction of a cell
ENDS = (slice(None, -1), slice(1, None))  # of cells between vertices
SHIFTS = (slice(None, -2), slice(1, -1), slice(2, None))  # of arrays with a layer around


class ChartsSource:
    """Cells of one record on charts, as a source of fields. Raises BadInput if the tree is invalid."""

    def __init__(self, records: xr.DataTree) -> None:
        self._charts = [chart for _, chart in charts(records)]
        missing = [name for name in (*"xyz", *CENTRES) if any(name not in chart for chart in self._charts)]
        if missing:
            raise BadInput(f"a chart has no {missing[0]}; give a tree as run.dataset() returns it")
        self.fields = fields_of(records)
        self._vertices = [vertices_of(chart) for chart in self._charts]

    def is_on(self, vertices: Sequence[np.ndarray]) -> bool:
        pairs = zip(self._vertices, vertices, strict=False)
        return len(self._vertices) == len(vertices) and all(np.array_equal(one, other) for one, other in pairs)

    def values(self, name: str) -> list[np.ndarray]:
        """Return a field [k, j, i] on every chart, in double precision. Raises BadInput if a value is not finite."""
        values = [chart[name].transpose("k", "j", "i").values.astype("f8") for chart in self._charts]
        if not all(np.isfinite(part).all() for part in values):
            raise BadInput(f"{name} is not finite everywhere; give numbers")
        return values

    def covers(self, places: Sequence[np.ndarray]) -> None:
        """Raise BadInput if points [xyz, ...] are not covered.

        A point must be in the bounding box, and no farther from the nearest centre than the diagonal of its cell. A
        direction of one cell is ignored.
        """
        for axis, low, high, first, last in zip("xyz", *reach(self._vertices), *reach(places), strict=True):
            slack = SLACK * (high - low)
            if axis != self._thin and (first < low - slack or last > high + slack):
                raise BadInput(
                    f"it reaches from {axis} = {low:g} to {high:g}, the cells of the domain from {first:g} to {last:g};"
                    " give a grid inside of it"
                )
        across = [axis != self._thin for axis in "xyz"]
        for some, cells in self._cells(places):
            far = np.linalg.norm((some - self._centres[cells])[:, across], axis=1)
            beyond = far > np.linalg.norm(self._extents[cells][:, across], axis=1)
            if beyond.any():
                x, y, z = some[np.where(beyond, far, 0).argmax()]
                raise BadInput(
                    f"it has no cell near x = {x:g}, y = {y:g}, z = {z:g}, where the domain has one; give a grid inside"
                    " of it"
                )

    def at(self, name: str, places: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return a field at points [xyz, ...], one array per input."""
        return _split(self._sampled(self._linear(name), places)[0], [x.shape[1:] for x in places])

    def over(self, name: str, vertices: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Return a field [k, j, i] on charts of these vertices, as the mean at the centres of equal parts of each cell.

        Along each direction a cell has about as many parts as the source has cells there, at most `MOST`. The mean over
        the volume equals the source mean if the volumes agree to 1 % and the range of neighbouring values allows it.
        """
        sizes = [cell_volumes(x) for x in vertices]
        wider = np.concatenate([size.ravel() for size in sizes]).mean() / self._sizes.mean()
        count = min(math.ceil(wider ** (1 / (2 if self._thin else 3)) - ALIKE), MOST)
        linear = self._linear(name)
        values, low, high = np.concatenate([self._means(linear, x, count) for x in vertices], axis=1)
        weights = np.concatenate([size.ravel() for size in sizes])
        return _split(self._with_mean(linear[0], values, weights, (low, high)), [size.shape for size in sizes])

    def _means(self, linear: tuple[np.ndarray, ...], vertices: np.ndarray, count: int) -> np.ndarray:
        """Return values and bounds [3, cell] in a chart's cells: means over `count` points along each direction."""
        along = [max(count, 1) if n > 2 else 1 for n in vertices.shape[1:]]
        points = [*product(*((np.arange(n) + 0.5) / n for n in along))]
        sampled = (np.stack(self._sampled(linear, [_inside(vertices, point)])) for point in points)
        return np.asarray(reduce(np.add, sampled) / len(points))

    def _sampled(
        self, linear: tuple[np.ndarray, ...], places: Sequence[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
        """Return the values of a field at points, and the bounds there."""
        value, slopes, low, high = linear
        parts, nearest = [], []
        for some, cells in self._cells(places):
            inside = value[cells] + ((some - self._centres[cells]) * slopes[cells]).sum(axis=1)
            parts.append(np.clip(inside, low[cells], high[cells]))
            nearest.append(cells)
        near = np.concatenate(nearest)
        return np.concatenate(parts), low[near], high[near]

    def _with_mean(
        self, source: np.ndarray, values: np.ndarray, sizes: np.ndarray, bounds: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray:  # fmt: skip
        """Return the values with the mean of the source, each moved by the same share of the way to its bound."""
        own = self._sizes
        if abs(sizes.sum() - own.sum()) > ALIKE * own.sum():
            return values
        lacking = np.average(source, weights=own) - np.average(values, weights=sizes)
        room = bounds[int(lacking > 0)] - values
        most = np.average(room, weights=sizes)
        return values + room * min(1.0, lacking / most) if most else values

    def _cells(self, places: Sequence[np.ndarray]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield points [point, xyz] in order, in parts, with the cells of the nearest centres."""
        for points in (x.reshape(3, -1).T for x in places):
            for first in range(0, len(points), POINTS):
                some = points[first : first + POINTS]
                yield some, self._nearest.query(some)[1]

    @cached_property
    def _thin(self) -> str:
        """Axis along which all charts are one cell thick, or "" in three dimensions."""
        thin = thin_along(self._vertices)
        return "" if thin is None else "xyz"[thin[0]]

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.concatenate([cell_volumes(x).ravel() for x in self._vertices])

    @cached_property
    def _centres(self) -> np.ndarray:
        places = [np.stack([chart[name].values for name in CENTRES]) for chart in self._charts]
        return np.concatenate([part.reshape(3, -1).T for part in places])

    @cached_property
    def _extents(self) -> np.ndarray:
        """Extent of cells [cell, xyz] along each direction."""
        extents = [around_cells(x, np.maximum) - around_cells(x, np.minimum) for x in self._vertices]
        return np.concatenate([part.reshape(3, -1).T for part in extents])

    @cached_property
    def _nearest(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self._centres)

    def _linear(self, name: str) -> tuple[np.ndarray, ...]:
        """Return values, slopes [cell, xyz], and the range of each cell and its neighbours."""
        parts = []
        for chart, vertices, values in zip(self._charts, self._vertices, self.values(name), strict=True):
            places = np.stack([chart[name].values for name in CENTRES])
            metric = np.stack([differences(places, axis, vertices) for axis in KJI])  # [kji, xyz, k, j, i]
            change = np.stack([differences(values[None], axis)[0] for axis in KJI])
            for n in range(3):
                np.moveaxis(change[n], n, 0)[[0, -1]] = 0.0  # where any slope leaves the range of neighbours
            padded = np.pad(values, 1, mode="edge")
            around = [padded[place] for place in product(SHIFTS, repeat=3)]
            low, high = reduce(np.minimum, around), reduce(np.maximum, around)
            change *= _share(abs(change).sum(axis=0) / 2, np.minimum(high - values, values - low))
            slopes = np.linalg.solve(np.moveaxis(metric, (0, 1), (-2, -1)), np.moveaxis(change, 0, -1)[..., None])
            parts.append((values.ravel(), slopes.reshape(-1, 3), low.ravel(), high.ravel()))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _share(size: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return the fraction of changes of this size that does not exceed the room."""
    return np.minimum(1.0, np.divide(room, size, out=np.ones_like(size), where=size > 0))


def _inside(vertices: np.ndarray, shares: Sequence[float]) -> np.ndarray:
    """Return points [xyz, k, j, i] of cells at these fractions of their extent along k, j and i."""
    for axis, share in enumerate(shares, start=1):
        low, high = (np.moveaxis(np.moveaxis(vertices, axis, 0)[end], 0, axis) for end in ENDS)
        vertices = (1 - share) * low + share * high
    return vertices


def _split(values: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    parts = np.split(values, np.cumsum([math.prod(shape) for shape in shapes])[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
