"""C-grids: the sections they surround, their symmetry, and files of coordinates."""

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import cell_volumes
from taskflow.geometry.grids import BadGrid, quality, shape
from taskflow.geometry.grids.generators.c_grid import on, section

KEYS = {"cells": (64, 16, 1), "far": 5.0, "wake": 4.0}
SHARES = np.linspace(0, 1, 33)


def mirrored(vertices):
    """The chart on the other side of the x axis, in the same direction round."""
    return np.stack([vertices[0], -vertices[1], vertices[2]])[..., ::-1]


@pytest.mark.parametrize("keys", [{}, {"section": "0006", "first": 1e-3, "chord": 2.0}, {"cells": (66, 9, 4)}])
def test_a_symmetric_section_has_a_symmetric_grid_to_the_bit(keys):
    below, around, above = shape("c-grid", {**KEYS, **keys}).grid().charts
    np.testing.assert_array_equal(mirrored(below.vertices), above.vertices)
    np.testing.assert_array_equal(mirrored(around.vertices), around.vertices)
    np.testing.assert_allclose(cell_volumes(mirrored(around.vertices)), cell_volumes(around.vertices), rtol=1e-13)


def test_what_lies_where():
    below, around, above = (c.vertices for c in shape("c-grid", {**KEYS, "chord": 2.0, "span": 3.0}).grid().charts)
    np.testing.assert_array_equal(around[:, 0, 0, 16], (0, 0, 0))  # the leading edge
    for point in (around[:, 0, 0, 0], around[:, 0, 0, -1], below[:, 0, 0, -1], above[:, 0, 0, 0]):
        np.testing.assert_array_equal(point, (2, 0, 0))
    np.testing.assert_array_equal(above[:2, 0, -1, -1], (6, 5))
    np.testing.assert_array_equal(below[:, -1, -1, 0], (6, -5, 3))
    np.testing.assert_array_equal(around[:, 0, -1, 16], (-5, 0, 0))
    lengths = np.hypot(*(around[:2, 0, -1] - around[:2, 0, 0]))
    np.testing.assert_allclose(lengths, 5, rtol=1e-14)


def test_cells_at_the_trailing_edge_are_as_long_on_all_sides():
    below, around, above = (c.vertices[:2, 0, 0] for c in shape("c-grid", KEYS).grid().charts)
    lengths = [np.hypot(*(points[:, n + 1] - points[:, n])) for points, n in ((around, 0), (around, -2), (above, 0))]
    np.testing.assert_allclose(lengths, np.hypot(*(below[:, -1] - below[:, -2])), rtol=1e-9)


def test_the_section_is_that_of_naca():
    points, turned = on(section("naca0012")[0], SHARES)
    x = points[0]
    y = 0.6 * (0.2969 * np.sqrt(x) - 0.1260 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    np.testing.assert_allclose(points[1], y, atol=1e-15)
    assert turned[0] == pytest.approx(np.pi / 2, abs=1e-4)
    steps = np.hypot(*np.diff(points, axis=1))
    np.testing.assert_allclose(steps[1:-1], steps[1], rtol=3e-3)  # chords for arcs; the nose is round


def test_camber():
    """2412: 2 % of the chord at 40 % of it, 12 % thick across the mean line."""
    (above, _), (below, _) = (on(surface, np.linspace(0, 1, 2001)) for surface in section("2412"))
    middle = (np.interp(0.4, *above) - np.interp(0.4, *below)) / 2
    assert middle == pytest.approx(0.02, abs=1e-5)
    assert np.interp(0.3, *above) + np.interp(0.3, *below) == pytest.approx(0.12, rel=2e-3)
    np.testing.assert_array_equal(above[:, [0, -1]], [[0, 1], [0, 0]])


@pytest.mark.parametrize("name", ["NACA 2412", "naca4415", "6409", "0003", "0050", "9512"])
def test_many_sections_have_grids(name):
    told = quality(shape("c-grid", {**KEYS, "section": name}).grid())
    assert told.volume.value > 0
    assert told.singular == {}


def test_a_section_without_a_grid():
    with pytest.raises(BadGrid, match=r'^section = "9101": lines outwards meet, cells turn inside out; give one with'):
        shape("c-grid", {**KEYS, "section": "9101"}).grid()


def written(path, points, head="a wing"):
    path.write_text(f"{head}\n" + "\n".join(f" {x:.9f} {y:.9f}" for x, y in points.T))
    return path


def naca(n=80, digits="0015"):
    """Points of a section, as files have them."""
    shares = (1 - np.cos(np.pi * np.linspace(0, 1, n))) / 2
    (above, _), (below, _) = (on(surface, shares) for surface in section(digits))
    return np.concatenate([above[:, ::-1], np.stack([below[0], -below[1]])[:, 1:]], axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("backwards", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_file_of_points_is_the_section(tmp_path, backwards):
    """In another size and place, too: it begins with 0 and ends at (1, 0)."""
    points = naca()[:, ::-1] if backwards else naca()
    path = written(tmp_path / "wing.dat", 3 * points + np.array([[0.7], [0.3]]))
    for surfaces in zip(section("0015"), section(str(path)), strict=True):
        (expected, _), (result, _) = (on(surface, SHARES) for surface in surfaces)
        np.testing.assert_allclose(result, expected, atol=2e-5)
        np.testing.assert_allclose(result[:, -1], (1, 0), atol=1e-8)
    one, other = (shape("c-grid", {**KEYS, "section": text}).grid() for text in ("0015", str(path)))
    for chart, again in zip(one.charts, other.charts, strict=True):
        np.testing.assert_allclose(chart.vertices, again.vertices, atol=5e-3)


@pytest.mark.slow
def test_a_file_of_a_section_with_camber(tmp_path):
    """Its leading edge is the point farthest from the trailing one, which is another than that of the mean line."""
    path = written(tmp_path / "wing.dat", naca(200, "4412"))
    dense = naca(4000, "4412")
    for surface, sign in zip(section(str(path)), (1, -1), strict=True):
        points = on(surface, SHARES)[0] * [[1], [sign]]
        apart = np.sqrt(((points[:, :, None] - dense[:, None]) ** 2).sum(axis=0)).min(axis=1)
        assert apart.max() < 5e-4
    assert quality(shape("c-grid", {**KEYS, "section": str(path)}).grid()).volume.value > 0


POINTS = naca(9)
OPEN = POINTS.copy()
OPEN[1, 0] += 0.001
FILES = [
    (OPEN, "a wing", "its trailing edge is open, 0.001 of the chord thick; give both surfaces one last point"),
    (POINTS[:, :3], "a wing", "3 points; give two numbers a line, x and y, from the trailing edge over the upper"),
    (POINTS, "a wing\nx y", "line 2: 'x y'; give two numbers a line"),
    (POINTS, "a wing\n9. 9.", "its first numbers are counts of points on either surface; give two numbers a line"),
    (POINTS[:, [0, 1, 1, *range(2, 17)]], "a wing", "points 2 and 3 are the same; omit one of them"),
    (POINTS * [[0], [1]], "a wing", "all points have one x; give two numbers a line"),
]


@pytest.mark.parametrize(("points", "head", "message"), FILES)
def test_a_file_of_other_points(tmp_path, points, head, message):
    path = written(tmp_path / "wing.dat", points, head)
    with pytest.raises(BadInput) as error:
        section(str(path))
    assert str(error.value).startswith(f"{path}")
    assert message in str(error.value)
