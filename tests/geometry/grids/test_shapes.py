"""Grids by formula: their volumes, sides, seams; and keys that cannot be obeyed."""

from pathlib import Path

import numpy as np
import pytest

from taskflow.common.errors import BadArgument, BadInput
from taskflow.common.hexahedra import cell_volumes
from taskflow.geometry.grids import SHAPES, BadGrid, faces, quality, shape
from taskflow.geometry.grids.generators.spacing import both_ends, geometric, one_end, with_first

SMALL = {
    "box": {"cells": (8, 6, 4), "lengths": (1, 2, 3)},
    "skewed-box": {"cells": (8, 6, 1), "lengths": (1, 2, 3), "angle": 30},
    "annulus": {"cells": (8, 32, 1), "radii": (0.25, 1.0)},
    "sector": {"cells": (8, 6, 1), "radii": (1, 2), "angle": 5},
    "o-grid": {"cells": (32, 16, 1), "far": 10.0},
    "pipe": {"cells": (8, 6, 5), "length": 3.0},
    "step": {"cells": (24, 16, 1), "downstream": 30.0, "upstream": 10.0},
    "c-grid": {"cells": (32, 8, 1), "far": 5.0, "wake": 4.0},
    "duct-bend": {"cells": (16, 4, 3), "side": 1.0, "mean_radius": 2.3, "upstream": 4.0, "downstream": 3.0},
    "wavy-channel": {"cells": (16, 8, 1), "wavelength": 2.0, "amplitude": 0.1, "height": 1.0},
    "bifurcation": {"cells": (16, 9, 1), "widths": (1, 0.6, 0.4), "angle": 40, "upstream": 2.0, "downstream": 3.0},
}
ROUND = {**SMALL["duct-bend"], "cells": (16, 4, 5), "section": "round", "angle": 60, "first": 0.02}
BOX_SIDES = {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"}


def total(grid):
    return sum(cell_volumes(chart.vertices).sum() for chart in grid.charts)


def polygon(corners, radius):
    """Area of a regular polygon in a circle."""
    return corners * radius**2 * np.sin(2 * np.pi / corners) / 2


def around(grid):
    """Volume of a grid one cell thick, by what is around it: half the sum of x dy - y dx over its sides, times height.
    """
    area = height = 0.0
    for name, patches in grid.sides.items():
        for patch in patches:
            centres, out = faces(grid, patch)
            area += float((centres[:2] * out[:2]).sum()) / 2
            height += 0.0 if name != "ends" else float((centres[2] * out[2]).sum())
    assert height == pytest.approx(area, rel=1e-13)
    return area


@pytest.mark.parametrize(
    ("name", "charts", "sides", "volume"),
    [
        ("box", 1, BOX_SIDES, 6.0),
        ("skewed-box", 1, BOX_SIDES, 3.0),
        ("annulus", 1, {"inner", "outer", "ends"}, polygon(32, 1) - polygon(32, 0.25)),
        ("sector", 1, {"inner", "outer", "wall_low", "wall_high", "ends"}, 3 * 6 * np.sin(np.radians(5 / 6)) / 2),
        ("o-grid", 2, {"body", "far", "ends"}, polygon(32, 10) - polygon(32, 0.5)),
        ("pipe", 5, {"inlet", "outlet", "wall"}, 3 * polygon(32, 0.5)),
        ("step", 4, {"inlet", "outlet", "lower", "upper", "step", "ends"}, 30 * 2 + 10),
        ("c-grid", 3, {"body", "far", "outlet", "ends"}, None),
        ("duct-bend", 3, {"inlet", "outlet", "inner", "outer", "ends"}, 4 + 3 + 2.3 * 8 * np.sin(np.pi / 16)),
        ("wavy-channel", 1, {"lower", "upper", "ends"}, 2.0),
        ("bifurcation", 4, {"inlet", "outlet_1", "outlet_2", "walls", "ends"}, None),
    ],
)
def test_shape(name, charts, sides, volume):
    grid = shape(name, SMALL[name]).grid()
    volume = around(grid) if volume is None else volume
    assert len(grid.charts) == charts
    assert set(grid.sides) == sides
    assert total(grid) == pytest.approx(volume, rel=1e-13)
    assert quality(grid).closure.value < 1e-15


def test_every_shape_is_looked_at():
    assert set(SMALL) == set(SHAPES)


def test_charts_cover_the_box_however_it_is_cut_distorted_and_turned():
    keys = {"cells": (9, 8, 13), "lengths": (1, 2, 3), "charts": (2, 2, 3), "distortion": 0.12, "turned": True}
    grid = shape("box", keys).grid()
    assert total(grid) == pytest.approx(6.0, rel=1e-14)
    assert len(grid.seams) == 6 * 2 + 6 * 1 + 2  # no seam is cut: 12 charts share 20 faces
    assert {name: len(patches) for name, patches in grid.sides.items()} == {
        "x_min": 6, "x_max": 6, "y_min": 6, "y_max": 6, "z_min": 4, "z_max": 4,
    }  # fmt: skip
    for name, axis, at in (("x_min", 0, 0), ("y_max", 1, 2), ("z_max", 2, 3)):
        for patch in grid.sides[name]:
            assert (grid.charts[patch.chart].at(patch.vertices)[axis] == at).all()


def test_the_rotations_are_those_of_the_seed():
    keys = {**SMALL["box"], "turned": True}
    cells = {shape("box", {**keys, "seed": seed}).grid().charts[0].cells for seed in range(10)}
    assert len(cells) > 1
    again = [shape("box", {**keys, "seed": 3}).grid().charts[0].vertices for _ in range(2)]
    np.testing.assert_array_equal(*again)


@pytest.mark.parametrize("charts", [1, 2, 4])
def test_a_ring_closes(charts):
    grid = shape("annulus", {**SMALL["annulus"], "charts": charts}).grid()
    assert len(grid.seams) == charts
    assert quality(grid).singular == {}


def test_a_pipe_has_four_singular_edges():
    grid = shape("pipe", SMALL["pipe"]).grid()
    assert quality(grid).singular == {3: 4 * 5}


def test_a_round_duct_has_four_singular_edges_and_the_volume_of_its_pieces():
    grid = shape("duct-bend", ROUND).grid()
    assert len(grid.charts) == 15
    assert set(grid.sides) == {"inlet", "outlet", "wall"}
    assert quality(grid).singular == {3: 4 * 16}
    section = polygon(16, 0.5)
    bend = 2.3 * 8 * np.sin(np.pi / 3 / 8)  # sections are planes through the axis of the bend
    assert total(grid) == pytest.approx(section * (4 + 3 + bend), rel=1e-13)


def test_a_bend_goes_on_straight():
    """Through 90 degrees; cells grow from the length of those in the bend."""
    before, bend, behind = (chart.vertices[:, 0, 0] for chart in shape("duct-bend", SMALL["duct-bend"]).grid().charts)
    np.testing.assert_allclose(before[:, 0], (-4, -0.5, -0.5))
    np.testing.assert_allclose(bend[:, -1], (2.8, 2.3, -0.5), rtol=1e-15)
    np.testing.assert_allclose(behind[:, -1], (2.8, 5.3, -0.5))
    length = 2.3 * np.pi / 2 / 8
    assert before[0, -1] - before[0, -2] == pytest.approx(length)
    assert behind[1, 1] - behind[1, 0] == pytest.approx(length)


def test_branches_are_as_wide_and_as_long_as_asked_for():
    grid = shape("bifurcation", SMALL["bifurcation"]).grid()
    for name, width, direction in (("outlet_1", 0.6, 1), ("outlet_2", 0.4, -1)):
        (patch,) = grid.sides[name]
        _, out = faces(grid, patch)
        assert np.hypot(*out[:2].sum(axis=(1, 2))) == pytest.approx(width)
        assert np.arctan2(*out[1::-1].sum(axis=(1, 2))) == pytest.approx(direction * np.radians(20))
        points = grid.charts[patch.chart].at(patch.vertices)[:2]
        assert np.hypot(*points).min() == pytest.approx(3.0)
    (x, y, _), _ = faces(grid, grid.sides["inlet"][0])
    assert y.size == 4
    assert (x == -2).all()


@pytest.mark.parametrize(("family", "ends"), [(one_end, 1), (both_ends, 2), (geometric, 1)])
def test_the_first_cell_is_as_wide_as_asked_for(family, ends):
    places = with_first(family, 20, 1e-3)
    widths = np.diff(places)
    assert (places[0], places[-1]) == (0.0, 1.0)
    assert widths[0] == pytest.approx(1e-3, rel=1e-10)
    assert widths[-1] == pytest.approx(1e-3, rel=1e-10) or ends == 1
    assert (widths > 0).all()


@pytest.mark.parametrize(
    ("name", "keys", "place"),
    [
        ("annulus", {"first": 0.01}, lambda grid: grid.charts[0].vertices[0, 0, 0, 1] - 0.25),
        ("pipe", {"first": 0.01}, lambda grid: 0.5 - np.hypot(*grid.charts[1].vertices[:2, 0, -2, 0])),
        ("o-grid", {"first": 0.01}, lambda grid: grid.charts[0].vertices[0, 0, 1, 0] - 0.5),
        ("step", {"first": 0.01}, lambda grid: grid.charts[0].vertices[0, 0, 0, 1]),
        ("step", {"first": 0.01}, lambda grid: -grid.charts[3].vertices[0, 0, 0, -2]),
        ("c-grid", {"first": 0.01}, lambda grid: -grid.charts[0].vertices[1, 0, 1, 0]),
        ("duct-bend", {"first": 0.01}, lambda grid: 0.5 - grid.charts[0].vertices[1, 0, -2, 0]),
    ],
)
def test_first(name, keys, place):
    assert place(shape(name, {**SMALL[name], **keys}).grid()) == pytest.approx(0.01, rel=1e-10)


def test_a_negative_stretching_makes_cells_narrow_in_the_middle():
    keys = {"cells": [20, 6, 1], "lengths": [2, 1, 1], "stretching": [-3, 0, 0]}
    widths = np.diff(shape("box", keys).grid().charts[0].vertices[0, 0, 0])
    assert widths.sum() == pytest.approx(2)
    np.testing.assert_allclose(widths, widths[::-1])
    assert (np.diff(widths[10:]) > 0).all()
    assert widths[10] == pytest.approx(2 * np.sinh(0.3) / np.sinh(3) / 2)


def test_growth():
    points = shape("o-grid", {**SMALL["o-grid"], "growth": 1.1}).grid().charts[0].vertices[0, 0, :, 0]
    np.testing.assert_allclose(np.diff(points)[1:] / np.diff(points)[:-1], 1.1, rtol=1e-10)


BAD = [
    ("box", {"cells": (8, 6)}, "cells = [8, 6]: give three integers >= 1"),
    ("box", {"cells": (8, 6, 0)}, "cells = [8, 6, 0]"),
    ("box", {"cells": (8, 6, True)}, "cells = [8, 6, true]"),
    ("box", {"lengths": (1, 2, -3)}, "lengths = [1, 2, -3]: give three numbers > 0"),
    ("box", {"lengths": (1, 2, float("nan"))}, "lengths = [1, 2, nan]"),
    ("box", {"charts": (3, 1, 1)}, "charts = [3, 1, 1] of [8, 6, 4] cells; each needs 4: give at least 12 cells along"),
    ("box", {"distortion": 0.2}, "distortion = 0.2: give a number >= 0 and at most 0.12"),
    ("box", {"turned": 1}, "turned = 1: give true or false"),
    ("box", {"periodic": ["x", "t"]}, 'periodic = ["x", "t"]: give a list of "x", "y" and "z"'),
    ("box", {"periodic": 3}, "periodic = 3"),
    ("box", {"cells": (3, 6, 4), "periodic": ["x"]}, "cells = [3, 6, 4]: give at least 4 along x"),
    ("box", {"radius": 3}, "radius = 3: unknown key; box has cells"),
    ("box", {"length": (1, 1, 1)}, "did you mean lengths?"),
    ("box", {"cells": (8, 2**31, 4)}, "cells = [8, 2147483648, 4]: give three integers >= 1, none beyond 2147"),
    ("box", {"cells": (16**5000, 6, 4)}, "cells = [(int), 6, 4]: give three integers >= 1, none beyond 2147"),
    ("box", {"origin": (0, -1e71, 0)}, "origin = [0, -1e+71, 0]: give three numbers, none beyond 1e+70"),
    ("box", {"lengths": (1, 1e-71, 1)}, "lengths = [1, 1e-71, 1]: give three numbers > 0, none below 1e-70"),
    ("skewed-box", {"angle": 180}, "angle = 180: give a number of degrees > 0 and < 180"),
    ("annulus", {"radii": (1, 0.5)}, "radii = [1.0, 0.5]: give the inner and then the outer one"),
    ("annulus", {"first": 0.1}, "first = 0.1: 8 equal cells are 0.09375 wide; give less"),
    ("annulus", {"charts": 9}, "cells = [8, 32, 1]: give at least 36 along the circumference"),
    ("annulus", {"height": 0}, "height = 0: give a number > 0"),
    ("sector", {"angle": "wide"}, 'angle = "wide"'),
    ("o-grid", {"far": 0.4}, "far = 0.4: give more than the radius 0.5"),
    ("o-grid", {"first": 0.01, "growth": 1.1}, "growth = 1.1: it follows from first; omit one of them"),
    ("o-grid", {"growth": 1.0}, "growth = 1.0: give a number > 1"),
    ("pipe", {"core": 1.0}, "core = 1.0: give a number > 0 and < 1"),
    ("pipe", {"cells": (3, 6, 5)}, "cells = [3, 6, 5]: give at least 4 along the side of the square"),
    ("pipe", {"first": 0.1}, "first = 0.1: 6 equal cells are 0.03333 wide"),
    ("pipe", {"cells": (8, 6, 2), "periodic": True}, "cells = [8, 6, 2]: give at least 4 along the axis"),
    ("step", {"height": 0.1}, "1 lie below the corner, 15 above; give more, for 4 in each part"),
    ("step", {"upstream": 1.0}, "upstream = 1.0: give 0, or at least 5 for 4 cells"),
    ("step", {"upstream": 1e70, "downstream": 1e-71}, "downstream = 1e-71: give a number > 0, none below 1e-70"),
    ("step", {"cells": (8, 16, 1)}, "cells = [8, 16, 1]: give at least 12 along the way downstream of the step"),
    ("c-grid", {"section": "naca001"}, 'section = "naca001": give "naca" and four digits, as "naca0012", or a file of'),
    ("c-grid", {"section": "naca00012"}, 'section = "naca00012": give "naca" and four digits'),
    ("c-grid", {"section": "naca0000"}, "a section without thickness; give the last two digits"),
    ("c-grid", {"section": "naca2012"}, "camber and its position go together; give both of the first two digits"),
    ("c-grid", {"section": 12}, "section = 12: give a text"),
    ("c-grid", {"section": "none.dat"}, "none.dat: file not found; give two numbers a line, x and y, from the"),
    ("c-grid", {"wake": 0.1}, "wake = 0.1: give at least 0.2491, for 8 cells as long as those at the trailing edge"),
    ("c-grid", {"cells": (33, 8, 1)}, "cells = [33, 8, 1]: give an even number along the first, so that a vertex lies"),
    ("c-grid", {"cells": (14, 8, 1)}, "cells = [14, 8, 1]: give at least 16 along the way round from outlet to outlet"),
    ("c-grid", {"cells": (32, 3, 1)}, "cells = [32, 3, 1]: give at least 4 along the way outwards, across the seam"),
    ("c-grid", {"first": 1.0}, "first = 1.0: 8 equal cells are 0.625 wide"),
    ("c-grid", {"wake": None}, "wake = None: give a number > 0"),
    ("duct-bend", {"mean_radius": 0.5}, "mean_radius = 0.5: give more than 0.5, half the side, so that the inner wall"),
    ("duct-bend", {"section": "oval"}, 'section = "oval": give "square" or "round"'),
    ("duct-bend", {"angle": 181}, "angle = 181: give a number of degrees > 0 and at most 180"),
    ("duct-bend", {"cells": (12, 4, 3)}, "cells = [12, 4, 3]: give at least 16 along the axis"),
    ("duct-bend", {"section": "round"}, "cells = [16, 4, 3]: give at least 4 along the width, across seams"),
    ("duct-bend", {"first": 0.3}, "first = 0.3: 4 equal cells are 0.25 wide"),
    ("wavy-channel", {"amplitude": 1.0}, "amplitude = 1.0: give less than the height 1, so that crests do not touch"),
    ("wavy-channel", {"cells": (3, 8, 1)}, "cells = [3, 8, 1]: give at least 4 along the wave, which is periodic"),
    ("bifurcation", {"widths": (1, 0.1, 0.1)}, "the outer wall of the upper branch begins at x = 1.081, 0.5 from the"),
    ("bifurcation", {"angle": 180}, "angle = 180: give a number of degrees > 0 and < 180"),
    ("bifurcation", {"cells": (16, 7, 1)}, "cells = [16, 7, 1]: give at least 8 along the width of the channel, 4 for"),
    ("bifurcation", {"downstream": 30.0}, "1 lie before the origin, 15 after it; give more, for 4 in each part"),
]


@pytest.mark.parametrize(("name", "keys", "message"), BAD)
def test_bad_key(name, keys, message):
    with pytest.raises(BadGrid) as caught:
        shape(name, {**SMALL[name], **keys})
    assert message in str(caught.value)
    problem = caught.value.problems[0]
    assert isinstance(problem, BadArgument)
    assert problem.called(f"grid.{problem.parameter}").startswith(f"grid.{problem.parameter} = ")


def test_a_long_way_before_a_step_takes_memory():
    """Its cells follow from those behind the step."""
    with pytest.raises(BadInput, match=r"cells = \[24, 16, 1\]: 6\.4e\+30 in all: reading it takes"):
        shape("step", {**SMALL["step"], "upstream": 1e30})


def test_all_bad_keys_are_told_at_once():
    with pytest.raises(BadGrid) as caught:
        shape("pipe", {"cells": (8, 6, 5), "length": 0, "core": 2, "first": "thin"})
    assert [problem.parameter for problem in caught.value.problems] == ["length", "core", "first"]


def test_a_key_that_is_missing():
    with pytest.raises(BadGrid, match=r"^length is missing; give a number > 0$"):
        shape("pipe", {"cells": (8, 6, 5)})


def test_no_such_shape():
    with pytest.raises(BadGrid, match=r'shape = "pip": unknown shape; did you mean pipe\?'):
        shape("pip", {})


def test_every_key_has_a_meaning_and_a_kind():
    for kind in SHAPES.values():
        entries = list(kind.entries())
        assert entries[0].name == "cells"
        assert kind.counts in entries[0].meaning
        assert all(entry.meaning and entry.kind.words for entry in entries)


@pytest.mark.parametrize("name", SHAPES)
def test_the_page_on_grids_has_every_shape(name):
    """Their keys are on the page on case files."""
    page = (Path(__file__).parents[3] / "docs" / "howto" / "grids.md").read_text()
    assert f"| `{name}` |" in page
