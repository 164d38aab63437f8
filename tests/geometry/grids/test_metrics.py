"""Areas and volumes from vertices: exact, closed, and the same to the bit however a chart is turned."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from taskflow.common.hexahedra import area, cell_volumes, centres, face_areas
from taskflow.flow.grid.curvilinear import metrics
from taskflow.geometry.grids import closure, shape
from taskflow.geometry.grids.multiblock.assembly import Part, assembled, turned
from taskflow.geometry.grids.multiblock.grid import cell_sizes, oriented
from taskflow.runtime.regions import ROTATIONS
from tests.geometry.grids.test_shapes import ROUND, SMALL

SHIFTS = arrays(np.float64, (3, 2, 2, 2), elements=st.floats(-0.2, 0.2))
CUBE = np.stack(np.meshgrid([0.0, 1.0], [0.0, 1.0], [0.0, 1.0], indexing="ij")[::-1])


def by_quadrature(vertices):
    """Volume of the trilinear cell with these vertices [xyz, 2, 2, 2]: three Gauss points along each direction."""
    nodes, weights = np.polynomial.legendre.leggauss(3)
    points = (nodes + 1) / 2
    total = 0.0
    for r, wr in zip(points, weights / 2, strict=True):
        for s, ws in zip(points, weights / 2, strict=True):
            for t, wt in zip(points, weights / 2, strict=True):
                f, g, h = ([1 - a, a] for a in (r, s, t))
                d = [-1.0, 1.0]
                jacobian = [
                    np.einsum("ckji,k,j,i->c", vertices, *factors) for factors in ((h, g, d), (h, d, f), (d, g, f))
                ]
                total += wr * ws * wt * np.linalg.det(jacobian)
    return total


@given(SHIFTS)
def test_volumes_are_those_of_trilinear_cells(shifts):
    vertices = CUBE + shifts
    assert cell_volumes(vertices).item() == pytest.approx(by_quadrature(vertices), abs=3e-16 * 8)


@given(SHIFTS)
def test_areas_of_a_cell_sum_to_nothing(shifts):
    assert closure(CUBE + shifts).item() <= 1e-16


@given(arrays(np.float64, (3, 4), elements=st.floats(-1e3, 1e3)))
def test_an_area_keeps_its_bits_wherever_and_whichever_way_round_it_begins(quad):
    a, b, c, d = quad.T
    expected = area(a, b, c, d)
    for corners in ((b, c, d, a), (c, d, a, b), (d, a, b, c)):
        np.testing.assert_array_equal(area(*corners), expected)
    for corners in ((d, c, b, a), (c, b, a, d), (b, a, d, c), (a, d, c, b)):
        np.testing.assert_array_equal(area(*corners), -expected)


def seam_areas(grid, seam):
    """The area vectors [xyz, k, j, i] of a seam from both sides, out of the one and into the other, in one order."""
    result = []
    for patch in (seam.one, seam.other):
        box = patch.cells.expand(*(((0, 0, 0), tuple(int(a == patch.axis) for a in range(3)))))
        values = face_areas(grid.charts[patch.chart].vertices, patch.axis)
        result.append(values[:, *box.layer(patch.axis, patch.end, 0, 1).slices((0, 0, 0))])
    sign = -1 if seam.one.end == seam.other.end else 1
    return result[0], sign * oriented(seam.turn, result[1])


GRIDS = {
    "box": {"cells": (9, 8, 10), "lengths": (1, 2, 3), "charts": (2, 2, 1), "distortion": 0.1, "periodic": ["x", "z"]},
    "pipe": {"cells": (4, 5, 6), "length": 2.0, "periodic": True},
    "o-grid": {"cells": (16, 6, 5), "far": 9.0, "periodic": True},
    "step": {"cells": (24, 16, 4), "downstream": 7.0, "upstream": 2.0, "clustering": 1.5, "periodic": True},
    "skewed-box": {"cells": (5, 6, 7), "lengths": (1, 2, 1.7), "angle": 33.0, "periodic": ["x", "y", "z"]},
    "c-grid": {"cells": (34, 7, 4), "far": 5.0, "wake": 4.0, "section": "naca4412", "periodic": True},
    "duct-bend": ROUND,
    "wavy-channel": {"cells": (9, 6, 4), "wavelength": 1.7, "amplitude": 0.1, "height": 1.0, "periodic": True},
    "bifurcation": {**SMALL["bifurcation"], "cells": (16, 9, 4), "clustering": 1.5, "periodic": True},
}


@pytest.mark.parametrize("name", GRIDS)
def test_both_sides_of_a_seam_have_onearea(name):
    grid = shape(name, GRIDS[name]).grid()
    assert grid.seams
    for seam in grid.seams:
        one, other = seam_areas(grid, seam)
        np.testing.assert_array_equal(one, other)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_also_between_charts_that_are_turned(seed):
    keys = {"cells": (8, 9, 5), "lengths": (1, 2, 3), "charts": (2, 2, 1), "distortion": 0.12, "periodic": ["x"]}
    grid = shape("box", {**keys, "turned": True, "seed": seed}).grid()
    assert len(grid.seams) == 6
    for seam in grid.seams:
        one, other = seam_areas(grid, seam)
        np.testing.assert_array_equal(one, other)


def test_also_along_parts_of_sides():
    """Three charts behind a step, each turned."""
    parts = [Part(chart.vertices, {}) for chart in shape("step", GRIDS["step"]).grid().charts]
    for seed in range(10):
        grid = assembled(turned(parts, seed))
        assert len(grid.seams) == 4
        for seam in grid.seams:
            one, other = seam_areas(grid, seam)
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("turn", ROTATIONS)
def test_a_turned_chart_has_the_areas_and_volumes_of_the_chart(turn):
    vertices = shape("box", {"cells": (4, 3, 2), "lengths": (1, 2, 3), "distortion": 0.1}).grid().charts[0].vertices
    other = oriented(turn, vertices)
    straight, turned = ([face_areas(x, axis) for axis in range(3)] for x in (vertices, other))
    for a, axis in enumerate(turn.axes):
        expected = oriented(turn, straight[abs(axis) - 1]) * np.sign(axis)
        np.testing.assert_array_equal(turned[a], expected)
    np.testing.assert_allclose(cell_volumes(other), oriented(turn, cell_volumes(vertices)), rtol=1e-14)


@pytest.mark.parametrize("cells", [1, 8, 24])  # rows of one layer, and several layers
def test_cells_in_several_goes_have_the_same_measures(monkeypatch, cells):
    vertices = shape("box", {"cells": (4, 3, 7), "lengths": (1, 2, 3), "distortion": 0.1}).grid().charts[0].vertices
    measures = cell_volumes, centres, metrics
    whole, sizes = [measure(vertices) for measure in measures], cell_sizes(vertices)
    monkeypatch.setattr("taskflow.common.hexahedra.PART", cells)
    for measure, values in zip(measures, whole, strict=True):
        np.testing.assert_array_equal(measure(vertices), values)
    assert cell_sizes(vertices) == sizes


def test_sizes_of_cells():
    """The least volume, with the first cell that has it, how many are not > 0, the largest; thickness by directions."""
    vertices = shape("box", {"cells": (4, 3, 2), "lengths": (1, 3, 8)}).grid().charts[0].vertices.copy()
    sizes = cell_sizes(vertices)
    assert (sizes.least, sizes.negative, sizes.largest) == (1.0, 0, 1.0)
    assert sizes.thickness == {3: (0.25, 0.25)}
    flat = cell_sizes(vertices[:, 1:])
    assert flat.thickness == {2: (0.25, 0.25), 3: (0.25, 0.25)}
    flat = cell_sizes(vertices[:, 1:] * np.reshape([1, 1, 0.01], (3, 1, 1, 1)))  # the largest face is one across z
    assert flat.thickness[3][1] == pytest.approx(0.04)
    assert flat.thickness[2][0] == pytest.approx(0.25)
    vertices[2, -1] = 12
    vertices[2, 0, 2, 1] = 40.0  # above the layer
    sizes, volumes = cell_sizes(vertices), cell_volumes(vertices)
    k, j, i = np.unravel_index(volumes.argmin(), volumes.shape)
    assert (sizes.least, sizes.place, sizes.negative) == (volumes.min(), (i, j, k), 4)
    assert sizes.largest == volumes.max() == pytest.approx(2.0)
