"""Fields of a record on charts at the places of another grid.

In the nearest cell a field is linear, with the differences to its neighbours, less steep where it would leave their
range (T. J. Barth, D. C. Jespersen 1989, AIAA 89-0366): so linear fields are exact, others of second order, and none
overshoots. Beyond the sides of a chart neighbours are those of a linear field. Integrals are kept where equal cells are
halved, and not elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.charts.derived import CENTRES, KJI, differences, fields_of
from taskflow.analysis.charts.metrics import vertices_of
from taskflow.errors import BadInput
from taskflow.output.charts.reading import charts

POINTS = 1 << 20  # that are looked for in one go
SLACK = 1e-9  # of an extent: the rounding of places
SHIFTS = (slice(None, -2), slice(1, -1), slice(2, None))  # of arrays with a layer around


class ChartsSource:
    """The cells of one record on charts, from which fields are carried over. Raises BadInput where the tree is none."""

    def __init__(self, records: xr.DataTree) -> None:
        self._charts = [chart for _, chart in charts(records)]
        missing = [name for name in (*"xyz", *CENTRES) if any(name not in chart for chart in self._charts)]
        if missing:
            raise BadInput(f"a chart has no {missing[0]}; give a tree as run.dataset() returns it")
        self.fields = fields_of(records)
        self._vertices = [vertices_of(chart) for chart in self._charts]

    def is_on(self, vertices: Sequence[np.ndarray]) -> bool:
        """Return whether these are its vertices."""
        pairs = zip(self._vertices, vertices, strict=False)
        return len(self._vertices) == len(vertices) and all(np.array_equal(one, other) for one, other in pairs)

    def values(self, name: str) -> list[np.ndarray]:
        """Return a field [k, j, i] on every chart, in double precision. Raises BadInput where one is not finite."""
        values = [chart[name].transpose("k", "j", "i").values.astype("f8") for chart in self._charts]
        if not all(np.isfinite(part).all() for part in values):
            raise BadInput(f"{name} is not finite everywhere; give numbers")
        return values

    def covers(self, places: Sequence[np.ndarray]) -> None:
        """Raises BadInput where places [xyz, ...] are beyond its reach, but for a direction of one cell."""
        for n, axis in enumerate("xyz"):
            low, high = _reach(self._vertices, n)
            first, last = _reach(places, n)
            slack = SLACK * (high - low)
            if axis != self._thin and (first < low - slack or last > high + slack):
                raise BadInput(
                    f"it reaches from {axis} = {low:g} to {high:g}, the cells of the domain from {first:g} to {last:g};"
                    " give a grid inside of it"
                )

    def at(self, name: str, places: np.ndarray) -> np.ndarray:
        """Return a field at places [xyz, ...]."""
        value, slopes, low, high = self._linear(name)
        points, result = places.reshape(3, -1).T, np.empty(places[0].size)
        for first in range(0, len(points), POINTS):
            some = points[first : first + POINTS]
            _, cells = self._nearest.query(some)
            linear = value[cells] + ((some - self._centres[cells]) * slopes[cells]).sum(axis=1)
            result[first : first + POINTS] = np.clip(linear, low[cells], high[cells])
        return result.reshape(places.shape[1:])

    @cached_property
    def _thin(self) -> str:
        """The direction along which all charts are one cell thick; none in three dimensions."""
        along = [axis for n, axis in enumerate("xyz") if all(self._one_cell(x, n) for x in self._vertices)]
        return along[0] if along else ""

    @staticmethod
    def _one_cell(vertices: np.ndarray, direction: int) -> bool:
        return len(np.unique(vertices[direction])) == 2

    @cached_property
    def _centres(self) -> np.ndarray:
        places = [np.stack([chart[name].values for name in CENTRES]) for chart in self._charts]
        return np.concatenate([part.reshape(3, -1).T for part in places])

    @cached_property
    def _nearest(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self._centres)

    def _linear(self, name: str) -> tuple[np.ndarray, ...]:
        """Values, slopes [cell, xyz], and the range of each cell and its neighbours."""
        parts = []
        for chart, vertices, values in zip(self._charts, self._vertices, self.values(name), strict=True):
            places = np.stack([chart[name].values for name in CENTRES])
            metric = np.stack([differences(places, axis, vertices) for axis in KJI])  # [kji, xyz, k, j, i]
            change = np.stack([differences(values[None], axis)[0] for axis in KJI])
            padded = np.pad(values, 1, mode="reflect", reflect_type="odd")
            around = [padded[place] for place in product(SHIFTS, repeat=3)]
            low, high = np.min(around, axis=0), np.max(around, axis=0)
            change *= _share(abs(change).sum(axis=0) / 2, np.minimum(high - values, values - low))
            slopes = np.linalg.solve(np.moveaxis(metric, (0, 1), (-2, -1)), np.moveaxis(change, 0, -1)[..., None])
            parts.append((values.ravel(), slopes.reshape(-1, 3), low.ravel(), high.ravel()))
        return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def _share(size: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return the share of changes of this size with which they are no larger than the room for them."""
    return np.minimum(1.0, np.divide(room, size, out=np.ones_like(size), where=size > 0))


def _reach(places: Sequence[np.ndarray], n: int) -> tuple[float, float]:
    """Return the least and the largest coordinate n."""
    return min(float(x[n].min()) for x in places), max(float(x[n].max()) for x in places)
