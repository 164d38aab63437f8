"""The algebra of boxes agrees with the algebra of sets of cells."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Box, difference, joined, overlapping, periodic_images, triple

from .cells import boxes, cells, count, flags, together

UNIT = Box((0, 0, 0), (1, 1, 1))


@pytest.mark.parametrize("values", [(), (1, 2), (1, 2, 3, 4)])
def test_triple_wants_three(values):
    with pytest.raises(ValueError, match="values to unpack"):
        triple(values)


@pytest.mark.parametrize("corner", [(4.5, 1, 1), (8 / 2, 1, 1), (np.float64(4), 1, 1), ("4", 1, 1), (4, 1), 4])
def test_corners_are_three_whole_numbers(corner):
    with pytest.raises(BadInput, match=r"Box\(\(0, 0, 0\), .*\): give each corner as three integers"):
        Box((0, 0, 0), corner)
    assert Box((0, 0, 0), (np.int64(4), 1, 1)) == Box.of((4, 1, 1))


def test_of_begins_at_the_origin():
    assert Box.of([2, 3, 4]) == Box((0, 0, 0), (2, 3, 4))


def test_value():
    box = Box((1, 2, 3), (4, 6, 8))
    assert box.shape == (3, 4, 5)
    assert box.volume == 60
    assert str(box) == "[1,4)x[2,6)x[3,8)"
    assert pickle.loads(pickle.dumps(box)) == box
    assert len({box, Box((1, 2, 3), (4, 6, 8))}) == 1
    assert sorted([box, UNIT]) == [UNIT, box]


@pytest.mark.parametrize("hi", [(0, 5, 5), (5, 0, 5), (5, 5, 0), (-3, 5, 5), (-3, -3, -3), (-3, -3, 5)])
def test_a_box_without_cells_is_falsy_whatever_its_corners(hi):
    box = Box((0, 0, 0), hi)
    assert not box
    assert box.volume == 0
    assert cells(box) == set()
    assert box.shape == tuple(max(0, n) for n in hi)
    assert box in UNIT
    assert not box.meets(Box.of((9, 9, 9)))
    assert box.subtract(UNIT) == []
    assert UNIT.subtract(box) == [UNIT]
    assert periodic_images(box, UNIT, (True, False, True)) == []


@given(st.lists(boxes(), max_size=5))
def test_overlapping(several):
    pairs = [(a, b) for n, a in enumerate(several) for b in several[:n] if a.meets(b)]
    result = overlapping(tuple(several))
    assert (result is None) == (not pairs)
    assert result is None or result in pairs or result[::-1] in pairs


def test_intersecting_boxes_among_thousands():
    grid = [Box.of((4, 4, 4)).shift((4 * i, 4 * j, 4 * k)) for i in range(16) for j in range(16) for k in range(16)]
    assert overlapping(tuple(grid)) is None
    odd = Box.of((2, 2, 2)).shift((31, 32, 32))
    assert overlapping((*grid, odd)) in ((odd, grid[7 * 256 + 8 * 16 + 8]), (grid[7 * 256 + 8 * 16 + 8], odd))


@given(boxes(), boxes())
def test_intersection(one, other):
    assert cells(one & other) == cells(one) & cells(other) == cells(other & one)
    assert one.meets(other) == bool(cells(one) & cells(other)) == bool(one & other)


@given(boxes(), boxes())
def test_containment(one, other):
    assert (other in one) == (cells(other) <= cells(one))
    assert (one & other) in one


@given(boxes())
def test_shape_and_volume(box):
    assert box.volume == len(cells(box)) == np.prod(box.shape)
    assert bool(box) == bool(cells(box))


@given(boxes(), st.tuples(*[st.integers(-3, 3)] * 3), st.tuples(*[st.integers(-3, 3)] * 3))
def test_expand_and_shift(box, low, high):
    grown = box.expand(low, high)
    assert grown.lo == tuple(a - n for a, n in zip(box.lo, low, strict=True))
    assert grown.hi == tuple(b + n for b, n in zip(box.hi, high, strict=True))
    assert box.grow(low[0]) == box.expand((low[0],) * 3, (low[0],) * 3)
    assert cells(box.shift(low)) == {tuple(np.add(cell, low)) for cell in cells(box)}
    assert box.shift(low).shape == box.shape


@given(boxes(), boxes())
def test_subtract_is_disjoint_and_complete(one, other):
    pieces = one.subtract(other)
    assert together(pieces) == cells(one) - cells(other)
    assert count(pieces) == len(cells(one) - cells(other))
    assert all(pieces)
    assert len(pieces) <= 6


def test_subtract_cuts_planes_of_constant_z_first():
    """Whole planes of a C-ordered array are contiguous: they are the largest pieces."""
    assert Box.of((5, 5, 5)).subtract(Box((1, 1, 1), (4, 4, 4))) == [
        Box((0, 0, 0), (5, 5, 1)),
        Box((0, 0, 4), (5, 5, 5)),
        Box((0, 0, 1), (5, 1, 4)),
        Box((0, 4, 1), (5, 5, 4)),
        Box((0, 1, 1), (1, 4, 4)),
        Box((4, 1, 1), (5, 4, 4)),
    ]


@given(boxes(least=1), st.integers(0, 2), st.integers(0, 1), st.integers(-2, 3), st.integers(0, 3))
def test_layers_count_inwards_from_a_face(box, axis, side, start, thickness):
    stop = start + thickness
    face, inwards = (box.lo[axis], 1) if side == 0 else (box.hi[axis] - 1, -1)
    planes = {face + inwards * n for n in range(start, stop)}
    layer = box.layer(axis, side, start, stop)
    assert {cell[axis] for cell in cells(layer)} == planes
    assert layer.volume == thickness * box.volume // box.shape[axis]


@given(boxes(), boxes(most=6))
def test_slices_address_an_array_whose_first_element_is_the_origin(box, frame):
    box &= frame
    array = np.zeros(frame.shape[::-1], bool)
    if box:
        array[box.slices(frame.lo)] = True
    marked = {tuple(np.add(index[::-1], frame.lo)) for index in np.argwhere(array)}
    assert marked == cells(box)


few = st.lists(boxes(), max_size=5)


@given(few, few)
def test_difference(minuends, holes):
    rest = difference(minuends, holes)
    assert together(rest) == together(minuends) - together(holes)
    assert all(rest)
    disjoint = []
    for box in minuends:
        disjoint += difference([box], disjoint)
    assert together(disjoint) == together(minuends)
    assert count(disjoint) == len(together(minuends))
    assert count(difference(disjoint, holes)) == len(together(minuends) - together(holes))


@given(boxes(most=7), boxes(least=1, most=3), flags)
def test_periodic_images(box, domain, periodic):
    """The pieces lie in the domain and, shifted back by whole periods, make up the box: each cell once."""
    images = periodic_images(box, domain, periodic)
    moved = [piece.shift(shift) for piece, shift in images]
    assert together(moved) == cells(box)
    assert count(moved) == box.volume
    for piece, shift in images:
        for axis in range(3):
            if periodic[axis]:
                assert domain.lo[axis] <= piece.lo[axis] < piece.hi[axis] <= domain.hi[axis]
                assert shift[axis] % domain.shape[axis] == 0
            else:
                assert shift[axis] == 0


def test_a_row_of_one_cell_is_its_own_neighbour():
    cell = Box((4, 0, 0), (5, 1, 1))
    images = periodic_images(cell.expand((2, 0, 0), (1, 0, 0)), cell, (True, True, True))
    assert sorted(images) == [(cell, (-2, 0, 0)), (cell, (-1, 0, 0)), (cell, (0, 0, 0)), (cell, (1, 0, 0))]


def test_a_corner_has_an_image_across_each_border():
    domain = Box.of((4, 4, 4))
    corner = Box((3, 3, 3), (5, 5, 5))
    assert len(periodic_images(corner, domain, (True, True, True))) == 8
    assert len(periodic_images(corner, domain, (True, False, True))) == 4
    assert periodic_images(corner, domain, (False, False, False)) == [(corner, (0, 0, 0))]


def test_boxes_that_are_one_together_are_joined():
    whole = Box((0, 0, 0), (8, 5, 9))
    layers = [whole.layer(0, 1, 0, 1), *whole.expand((0, 0, 0), (-1, 0, 0)).subtract(Box((2, 2, 2), (4, 4, 4)))]
    assert joined([*layers, Box((2, 2, 2), (4, 4, 4))]) == (whole,)
    apart = [Box((0, 0, 0), (1, 1, 1)), Box((2, 0, 0), (3, 1, 1))]
    assert list(joined(reversed(apart))) == apart
    assert joined([]) == ()
