"""Linear interpolation on charts: linear fields are exact up to the sides, through seams, where three charts meet."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases.tables.charts.grid import BodyFittedGrid
from taskflow.common.hexahedra import centres
from taskflow.runtime.regions import Box, triple
from taskflow.systems.artificial_compressibility.domain import ChartDomain

BOX = {"shape": "box", "cells": [10, 9, 8], "lengths": [1.0, 1.0, 1.0], "distortion": 0.08}
GRIDS = {
    "one chart": BOX,
    "turned charts": {**BOX, "charts": [2, 2, 1], "turned": True},
    "periodic": {**BOX, "periodic": ["x"]},
    "skewed": {"shape": "skewed-box", "cells": [7, 6, 1], "lengths": [1.0, 1.0, 0.2]},
    "three charts meet": {"shape": "pipe", "cells": [6, 5, 4], "length": 1.0},
    "ring": {"shape": "o-grid", "cells": [32, 12, 1], "far": 3.0},
    "across y": {"shape": "box", "cells": [6, 1, 7], "lengths": [1.0, 1.0, 1.0]},
}


def points_in(domain: ChartDomain, count: int = 20) -> np.ndarray:
    """Points of cells at the ends of each chart and drawn at random: inside, on faces, on edges and at vertices."""
    random, points = np.random.default_rng(1), []
    for x in domain.chart_vertices:
        last = np.array(x.shape[1:]) - 2
        cells = [np.zeros(3, int), last, *(random.integers(last + 1) for _ in range(count))]
        for k, j, i in cells:
            at = random.choice([0.0, 1.0, *random.uniform(0.0, 1.0, 4)], 3)
            corners = x[:, k : k + 2, j : j + 2, i : i + 2]
            points.append(np.einsum("xkji,k,j,i->x", corners, *np.stack([1 - at, at], axis=1)))
    return np.array(points)


def place_of(domain: ChartDomain, cell: tuple[int, ...]) -> np.ndarray:
    """The centre of a cell; of a ghost cell the centre inside, on the other side of the plane of the face of a side."""
    chart = domain.boxes[domain.chart_of(Box(triple(cell), triple(at + 1 for at in cell)))]
    beyond = [(at >= hi) - (at < lo) for lo, at, hi in zip(chart.lo, cell, chart.hi, strict=True)]
    inner = triple(int(at - out) for at, out in zip(cell, beyond, strict=True))
    x = domain.at_rest(Box(inner, triple(at + 1 for at in inner)))
    centre = np.array(centres(x)).ravel()
    if any(beyond):
        ((axis, out),) = ((a, out) for a, out in enumerate(beyond) if out)
        a, b, c, d = np.take(x, 1 if out > 0 else 0, axis=3 - axis).reshape(3, 4).T
        normal = np.cross(d - a, c - b)
        centre -= 2 * normal * ((centre - (a + b + c + d) / 4) @ normal) / (normal @ normal)
    return centre


@pytest.mark.parametrize("ends", ["sides", "linear"])
@pytest.mark.parametrize("name", GRIDS)
def test_a_linear_field_is_exact(name, ends):
    """By its values in cells, and by those that sides give to ghost cells."""
    domain = ChartDomain(BodyFittedGrid(**GRIDS[name]))
    points, slopes = points_in(domain), np.array([0.7, -0.4, 0.9])
    if name == "periodic":
        slopes[0] = 0.0
    if domain.normal is not None:
        slopes[domain.normal] = 0.0
    found = domain.corners("c", points, ends)
    ghosts = [not any(Box(c, triple(n + 1 for n in c)) in box for box in domain.boxes)
              for c in map(tuple, found.cells.reshape(-1, 3).tolist())]  # fmt: skip
    assert any(ghosts) == found.filled == (ends == "sides")
    fields = [slopes @ place_of(domain, cell) for cell in map(tuple, found.cells.reshape(-1, 3).tolist())]
    values = (np.reshape(fields, found.weights.shape) * found.weights).sum(axis=1)
    np.testing.assert_allclose(values, points @ slopes, rtol=0, atol=1e-9)


def test_the_nearest_value_is_that_of_the_cell():
    """At sides; inside all values are interpolated."""
    domain = ChartDomain(BodyFittedGrid(**GRIDS["skewed"]))
    corner = domain.chart_vertices[0][:, 0, 0, 0]
    found = domain.corners("c", corner[None], "nearest")
    assert found.cells[0][found.weights[0] > 0].tolist() == [list(domain.boxes[0].lo)]
