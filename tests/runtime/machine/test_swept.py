"""Swept launches: the bits of the loop that they stand for, on any blocks and threads."""

import numpy as np
import pytest

from .sweeping import expected, solved

ORDERINGS = ["tiles", "colours", "hyperplanes", "blocks", "jacobi"]


@pytest.mark.parametrize("ordering", ORDERINGS)
@pytest.mark.parametrize(("cells", "tile"), [((8, 8, 8), (4, 4, 4)), ((9, 7, 5), (4, 2, 3)), ((1, 13, 6), (8, 8, 8))])
def test_a_sweep_is_the_loop_that_it_says(ordering, cells, tile):
    np.testing.assert_array_equal(solved(cells, (1, 1, 1), ordering, tile), expected(cells, ordering, tile))


@pytest.mark.parametrize("ordering", ["tiles", "jacobi"])
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 2, 1), (3, 1, 2)])
def test_blocks_and_threads_change_no_bit(ordering, blocks, threads):
    cells, tile = (23, 18, 21), (4, 4, 4)
    np.testing.assert_array_equal(
        solved(cells, blocks, ordering, tile, threads, debug=True), solved(cells, (1, 1, 1), ordering, tile)
    )
