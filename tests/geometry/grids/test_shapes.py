"""Grids by formula: their volumes, sides, seams; and keys that cannot be obeyed."""

from dataclasses import MISSING
from pathlib import Path

import numpy as np
import pytest

from taskflow.errors import BadArgument
from taskflow.geometry.grids import LATER, SHAPES, BadGrid, quality, shape, volumes
from taskflow.geometry.grids.keys import written
from taskflow.geometry.grids.spacing import both_ends, geometric, one_end, with_first

SMALL = {
    "box": {"cells": (8, 6, 4), "lengths": (1, 2, 3)},
    "skewed-box": {"cells": (8, 6, 1), "lengths": (1, 2, 3), "angle": 30},
    "annulus": {"cells": (8, 32, 1), "radii": (0.25, 1.0)},
    "sector": {"cells": (8, 6, 1), "radii": (1, 2), "angle": 5},
    "o-grid": {"cells": (32, 16, 1), "far": 10.0},
    "pipe": {"cells": (8, 6, 5), "length": 3.0},
    "step": {"cells": (24, 16, 1), "downstream": 30.0, "upstream": 10.0},
}
BOX_SIDES = {"x_min", "x_max", "y_min", "y_max", "z_min", "z_max"}


def total(grid):
    return sum(volumes(chart.vertices).sum() for chart in grid.charts)


def polygon(corners, radius):
    """Area of a regular polygon in a circle."""
    return corners * radius**2 * np.sin(2 * np.pi / corners) / 2


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
    ],
)
def test_shape(name, charts, sides, volume):
    grid = shape(name, SMALL[name]).grid()
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
    ],
)
def test_first(name, keys, place):
    assert place(shape(name, {**SMALL[name], **keys}).grid()) == pytest.approx(0.01, rel=1e-10)


def test_growth():
    points = shape("o-grid", {**SMALL["o-grid"], "growth": 1.1}).grid().charts[0].vertices[0, 0, :, 0]
    np.testing.assert_allclose(np.diff(points)[1:] / np.diff(points)[:-1], 1.1, rtol=1e-10)


BAD = [
    ("box", {"cells": (8, 6)}, "cells = [8, 6]: give three whole numbers >= 1"),
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
    ("box", {"radius": 3}, "radius = 3: there is no such key; box has cells"),
    ("box", {"length": (1, 1, 1)}, "did you mean lengths?"),
    ("skewed-box", {"angle": 180}, "angle = 180: give a number of degrees > 0 and < 180"),
    ("annulus", {"radii": (1, 0.5)}, "radii = [1.0, 0.5]: give the inner and then the outer one"),
    ("annulus", {"first": 0.1}, "first = 0.1: 8 equal cells are 0.09375 wide; give less"),
    ("annulus", {"charts": 9}, "cells = [8, 32, 1]: give at least 36 along the circumference"),
    ("annulus", {"height": 0}, "height = 0: give a number > 0"),
    ("sector", {"angle": "wide"}, 'angle = "wide"'),
    ("o-grid", {"far": 0.4}, "far = 0.4: give more than the radius 0.5"),
    ("o-grid", {"first": 0.01, "growth": 1.1}, "growth = 1.1: it follows from first; leave one of them out"),
    ("o-grid", {"growth": 1.0}, "growth = 1.0: give a number > 1"),
    ("pipe", {"core": 1.0}, "core = 1.0: give a number > 0 and < 1"),
    ("pipe", {"cells": (3, 6, 5)}, "cells = [3, 6, 5]: give at least 4 along the side of the square"),
    ("pipe", {"first": 0.1}, "first = 0.1: 6 equal cells are 0.03333 wide"),
    ("pipe", {"cells": (8, 6, 2), "periodic": True}, "cells = [8, 6, 2]: give at least 4 along the axis"),
    ("step", {"height": 0.1}, "1 lie below the corner, 15 above; give more, for 4 in each part"),
    ("step", {"upstream": 1.0}, "upstream = 1.0: give 0, or at least 5 for 4 cells"),
    ("step", {"cells": (8, 16, 1)}, "cells = [8, 16, 1]: give at least 12 along the way behind the step"),
]


@pytest.mark.parametrize(("name", "keys", "message"), BAD)
def test_bad_key(name, keys, message):
    with pytest.raises(BadGrid) as caught:
        shape(name, {**SMALL[name], **keys})
    assert message in str(caught.value)
    problem = caught.value.problems[0]
    assert isinstance(problem, BadArgument)
    assert problem.called(f"grid.{problem.parameter}").startswith(f"grid.{problem.parameter} = ")


def test_all_bad_keys_are_told_at_once():
    with pytest.raises(BadGrid) as caught:
        shape("pipe", {"cells": (8, 6, 5), "length": 0, "core": 2, "first": "thin"})
    assert [problem.parameter for problem in caught.value.problems] == ["length", "core", "first"]


def test_a_key_that_is_missing():
    with pytest.raises(BadGrid, match=r"^length is missing; give a number > 0$"):
        shape("pipe", {"cells": (8, 6, 5)})


@pytest.mark.parametrize("name", LATER)
def test_shapes_of_later_versions(name):
    with pytest.raises(BadGrid, match=f'shape = "{name}": it is not available in this version; give one of box, '):
        shape(name, {})


def test_no_such_shape():
    with pytest.raises(BadGrid, match=r'shape = "pip": there is no such shape; did you mean pipe\?'):
        shape("pip", {})


def test_every_key_has_a_meaning_and_a_kind():
    for kind in SHAPES.values():
        entries = list(kind.entries())
        assert entries[0].name == "cells"
        assert kind.counts in entries[0].meaning
        assert all(entry.meaning and entry.kind.words for entry in entries)


def table(kind):
    """The section of a shape on the page on grids."""
    rows = [f"### {kind.shape}", "", " ".join(kind.__doc__.split()), ""]
    rows += ["| key | value | default | meaning |", "|---|---|---|---|"]
    for entry in kind.entries():
        default = "required" if entry.default is MISSING else f"`{written(entry.default)}`"
        default = "none" if entry.default is None else default
        rows.append(f"| `{entry.name}` | {entry.kind.words} | {default} | {entry.meaning} |")
    return "\n".join(rows)


@pytest.mark.parametrize("name", SHAPES)
def test_the_page_on_grids_has_every_key(name):
    page = (Path(__file__).parents[3] / "docs" / "howto" / "grids.md").read_text()
    assert table(SHAPES[name]) in page
