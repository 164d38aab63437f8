"""Stencils as sets of offsets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import POINT, box, offsets, star

from ..regions.cells import boxes, cells, together
from .palette import reach, stencils


def test_a_point_is_the_cell_itself():
    assert reach(POINT) == [(0, 0, 0)]
    assert star(0).width == box(0).width == POINT.width == 0


@pytest.mark.parametrize("width", [1, 2])
def test_a_star_has_no_edges_and_no_corners(width):
    result = reach(star(width))
    assert len(result) == 1 + 6 * width
    assert all(sum(n != 0 for n in offset) <= 1 for offset in result)
    assert star(width).width == width


@pytest.mark.parametrize("width", [1, 2])
def test_a_box_has_them_all(width):
    assert len(reach(box(width))) == (2 * width + 1) ** 3
    assert box(width).width == width


def test_offsets_may_leave_out_the_cell_itself():
    assert reach(offsets(x=(1, 2), z=(-1, -1))) == [(1, 0, -1), (2, 0, -1)]
    assert offsets(x=(1, 2), z=(-3, -1)).width == 3


@pytest.mark.parametrize("name", "xyz")
def test_offsets_go_from_low_to_high(name):
    with pytest.raises(ValueError, match=rf"offsets\({name}=\(1, -1\)\): the first offset exceeds the last"):
        offsets(**{name: (1, -1)})


@given(stencils(2), stencils(2))
def test_union(one, other):
    assert set(reach(one | other)) == set(reach(one)) | set(reach(other))
    assert (one | other).width == max(one.width, other.width)
    assert one | one == one
    assert set((one | other).offsets) == set((other | one).offsets)


def test_offsets_inside_others_are_left_out():
    assert star(1) | box(1) == box(1) | POINT == box(1)
    assert offsets(x=(0, 1)) | offsets(x=(-1, 1)) == offsets(x=(-1, 1))
    assert star(0) == box(0) == POINT


@given(stencils(2), boxes())
def test_around_holds_every_cell_that_is_read(stencil, over):
    expected = {
        tuple(a + n for a, n in zip(cell, offset, strict=True)) for cell in cells(over) for offset in reach(stencil)
    }
    assert together(stencil.around(over)) == expected


@given(stencils(2))
def test_width_is_the_farthest_neighbour(stencil):
    assert stencil.width == max(abs(n) for offset in reach(stencil) for n in offset)


@given(stencils(2), st.tuples(*[st.integers(-3, 3)] * 3))
def test_membership(stencil, offset):
    assert (offset in stencil) == bool(together(stencil.around(Box.of((1, 1, 1)))) & {offset})
