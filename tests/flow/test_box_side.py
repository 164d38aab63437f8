"""Parts of sides: every value on a side belongs to exactly one of them."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.boundaries.boundary import beyond
from taskflow.flow.boundaries.box_side import BoxSide, SidePart, boxes_on, rectangles
from taskflow.flow.boundaries.openings import OpenedSides, SideOpening, closed_faces, parts
from taskflow.flow.boundaries.outflow import PressureOutflow
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.grid import StaggeredGrid, on_face
from taskflow.runtime.regions import Box


def marked(boxes: tuple[Box, ...], around: Box) -> np.ndarray:
    """How often each place in a box is in others, which stay within it."""
    found = np.zeros(around.shape, int)
    for box in boxes:
        assert box in around
        ends = zip(box.lo, box.hi, around.lo, strict=True)
        found[tuple(slice(lo - start, hi - start) for lo, hi, start in ends)] += 1
    return found


@pytest.mark.parametrize("seed", range(4))
def test_rectangles_cover_what_is_marked_once(seed):
    places = np.random.default_rng(seed).random((9, 7)) < 0.6
    found = np.zeros(places.shape, int)
    for (j, i), (m, n) in rectangles(places):
        found[j:m, i:n] += 1
    np.testing.assert_array_equal(found, places)


@pytest.mark.parametrize("face", ["x_min", "x_max", "y_min", "z_max"])
@pytest.mark.parametrize("periodic", [(False, False, False), (True, True, True)])
def test_parts_of_a_side_are_the_side(face, periodic):
    axis = "xyz".index(face[0])
    periodic = tuple(flag and a != axis for a, flag in enumerate(periodic))
    grid = StaggeredGrid((6, 5, 7), (1.0, 1.0, 1.0), periodic=periodic).constants
    shape = [n for a, n in enumerate(grid.cells) if a != axis][::-1]
    covered = np.random.default_rng(5).random(shape) < 0.5
    inside = boxes_on(face, covered)
    own, left = SidePart("opening1", "", "", inside), SidePart(face, "", "", None, inside)
    sides = BoxSide(face, grid, own), BoxSide(face, grid, left)
    whole = BoxSide(face, grid)
    assert sum(side.count for side in sides) == whole.count
    for name in ("u", "v", "w", "T"):
        if name != "uvw"[axis] or name == "T":
            around = beyond(face, grid)
            assert (sum(marked(side.beyond(name), around) for side in sides) == 1).all()
            (around,) = whole.outside(name)
            assert (sum(marked(side.outside(name), around) for side in sides) == 1).all()
    assert (sum(marked(side.faces, on_face(face, grid)) for side in sides) == 1).all()


def test_edges_of_an_opening_belong_to_its_side():
    grid = StaggeredGrid((4, 8, 4), (1.0, 1.0, 1.0)).constants
    side = BoxSide("x_min", grid, SidePart("opening1", "", "", (Box((0, 2, 0), (1, 5, 4)),)))
    assert [(box.lo[1], box.hi[1]) for box in side.beyond("v")] == [(3, 5)]
    assert [(box.lo[2], box.hi[2]) for box in side.beyond("w")] == [(0, 5)]  # with the ends of the side
    assert [(box.lo[1], box.hi[1]) for box in side.faces] == [(2, 5)]


def test_the_edge_between_two_openings_belongs_to_the_lower_one():
    grid = StaggeredGrid((4, 8, 4), (1.0, 1.0, 1.0)).constants
    low, high = (Box((0, 2, 0), (1, 5, 4)),), (Box((0, 5, 0), (1, 8, 4)),)
    parts_of = [BoxSide("x_min", grid, SidePart("opening", "", "", *pair)) for pair in ((low, high), (high, low))]
    assert [[(box.lo[1], box.hi[1]) for box in side.beyond("v")] for side in parts_of] == [[(3, 6)], [(6, 9)]]
    left = BoxSide("x_min", grid, SidePart("x_min", "", "", None, low + high))
    assert [(box.lo[1], box.hi[1]) for box in left.beyond("v")] == [(0, 3)]


def test_the_pressure_is_closed_where_a_wall_is_left():
    grid = StaggeredGrid((4, 4, 4), (1.0, 1.0, 1.0)).constants
    walls = {f"{axis}_{end}": Wall() for axis in "xyz" for end in ("min", "max")}
    inside = (Box((0, 1, 0), (1, 3, 4)),)
    opening = SideOpening("out", "x_max", SidePart("opening1", "", "", inside), PressureOutflow())
    sides = OpenedSides(walls, (opening,))
    ((axis, closed),) = closed_faces(sides, grid)
    assert axis == 0
    assert sum(box.volume for box in closed) == 8
    assert all(box.lo[0] == 4 for box in closed)
    assert [side.key for side, _ in parts(sides, grid)][:3] == ["x_min", "x_max", "opening1"]
