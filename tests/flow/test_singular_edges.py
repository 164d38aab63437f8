"""Ghost values where three charts meet: the same in all three, so that what leaves one enters the next."""

from itertools import permutations

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.edges import Edge, edge_ghosts, scalar_edge_ghosts
from taskflow.geometry.grids import atlas, shape
from taskflow.runtime.regions import Box
from taskflow.systems.artificial_compressibility.boundaries import more_edges
from tests.flow.byhand import ByHand

CELLS = (5, 4, 3)
GHOSTS = Box((-1, 4, 0), (0, 5, 3))  # beyond x_min and y_max


@pytest.mark.fast("*True")
@pytest.mark.parametrize("three", [False, True])
def test_ghost_values_beyond_an_edge(three, device):
    made = ByHand(CELLS, ghost=2, **device).fill(("u", "v", "w", "T", "s"), seed=1)
    edge = Edge(("x_min", "y_max"), (GHOSTS,), three)
    made.run(edge_ghosts(edge, ("u", "v", "w"), "T"))
    made.run(scalar_edge_ghosts(edge, "s"))
    for name in ("u", "v", "w", "T", "s"):
        q = made.fields[name][2:-2]
        a, b, c = q[:, 6, 2], q[:, 5, 1], q[:, 5, 2]  # [z, y, x], two layers around
        expected = (a + b + c) / 3 if three else a + b - c
        np.testing.assert_allclose(q[:, 6, 1], expected, rtol=0, atol=1e-15)


def test_all_three_cells_find_the_same_bits(device):
    values, bits = np.random.default_rng(2).uniform(-1, 1, 3), set()
    for a, b, c in permutations(values):
        made = ByHand(CELLS, ghost=2, **device).fill(("s",))
        made.fields["s"][:, 6, 2], made.fields["s"][:, 5, 1], made.fields["s"][:, 5, 2] = a, b, c
        made.run(scalar_edge_ghosts(Edge(("x_min", "y_max"), (GHOSTS,), three=True), "s"))
        bits.update(made.fields["s"][2:-2, 6, 1])
    assert len(bits) == 1


@pytest.mark.parametrize("cells", [(5, 6, 4), (6, 4, 1)], ids=str)
def test_three_charts_meet_at_the_edges_of_a_pipe(cells):
    """Along all of its length: at the four edges of the square, and at two of each chart around it."""
    grid = shape("pipe", {"cells": cells, "length": 1.0, "periodic": True}).grid()
    edges = more_edges(grid, atlas(grid), planar=cells[2] == 1)
    assert all(edge.three for edge in edges)
    assert sorted(box.shape for edge in edges for box in edge.ghosts) == [(1, 1, cells[2])] * 12


def test_no_three_charts_meet_in_a_box():
    grid = shape("box", {"cells": (8, 8, 8), "lengths": (1.0, 1.0, 1.0), "charts": (2, 2, 1), "turned": True}).grid()
    assert not any(edge.three for edge in more_edges(grid, atlas(grid), planar=False))
