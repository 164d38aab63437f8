"""Vertices and arrays of turned charts: all 24 rotations, cell by cell."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from taskflow.geometry.grids.multiblock.grid import oriented, vertices
from taskflow.runtime.regions import ROTATIONS, Box, Turn

TURNS = st.builds(Turn, st.sampled_from([turn.axes for turn in ROTATIONS]), st.tuples(*[st.integers(-9, 9)] * 3))
LOW = st.tuples(*[st.integers(-5, 5)] * 3)
SIZE = st.tuples(*[st.integers(1, 4)] * 3)


def image(turn, cell):
    """The definition: out[b] = in[a] + shift[b], or shift[b] - in[a]."""
    out = [0, 0, 0]
    for a, axis in enumerate(turn.axes):
        b = abs(axis) - 1
        out[b] = cell[a] + turn.shift[b] if axis > 0 else turn.shift[b] - cell[a]
    return tuple(out)


def cells(box):
    return {(i, j, k) for i in range(box.lo[0], box.hi[0]) for j in range(box.lo[1], box.hi[1])
            for k in range(box.lo[2], box.hi[2])}  # fmt: skip


@given(TURNS, LOW)
def test_the_vertices_of_a_cell_become_those_of_its_image(turn, low):
    corners = Box.of((2, 2, 2)).shift(low)
    (first,) = cells(turn(Box.of((1, 1, 1)).shift(low)))
    assert vertices(turn, corners) == Box.of((2, 2, 2)).shift(first)


@given(TURNS, SIZE)
def test_values_of_images_come_in_the_order_of_cells(turn, size):
    box = Box.of(size)
    present = turn(box)
    values = np.zeros((3, *reversed(present.shape)), int)
    for cell in cells(present):
        values[:, cell[2] - present.lo[2], cell[1] - present.lo[1], cell[0] - present.lo[0]] = cell
    turned = oriented(turn, values)
    for cell in cells(box):
        assert tuple(turned[:, cell[2], cell[1], cell[0]]) == image(turn, cell)
