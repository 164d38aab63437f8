"""What an analysis costs: it grows with the program, not with its square."""

from time import process_time

import pytest

from taskflow.tasks import analyse

from .known import above, duplicate, jacobi, partition
from .running import check_versions, orders
from .spy import conflicts, unordered


def long_program(sweeps, cells):
    fields = ["p", "q"] * (sweeps + 1)
    bottom = cells.layer(2, 0, -1, 0)
    for n in range(sweeps):
        yield jacobi(fields[n], "rhs", fields[n + 1], over=cells)
        yield above(fields[n + 1], "r", over=bottom)
        yield duplicate("r", fields[n + 1], over=bottom)


@pytest.mark.parametrize("blocks", [[0], None])
def test_edges_grow_with_the_program_and_not_with_its_square(blocks):
    part = partition((2, 2, 2), (8, 8, 8), (False, True, False))
    edges = {}
    for sweeps in (10, 20, 40):
        graph = analyse(list(long_program(sweeps, part.region.cells)), part, blocks=blocks).graph
        edges[sweeps] = sum(map(len, graph.waits))
        assert max(map(len, graph.waits)) < 30
    assert edges[40] - edges[20] == 2 * (edges[20] - edges[10])


def test_a_block_analyses_three_hundred_launches_in_a_moment():
    """Measured: 0.2 s. The limit is far above, and far below what a quadratic cost would need."""
    part = partition((2, 2, 2), (64, 64, 64), (False, True, False))
    launches = list(long_program(100, part.region.cells))
    begin = process_time()
    analyse(launches, part, following=launches, blocks=[0])
    assert process_time() - begin < 5.0


def test_the_long_program_is_right():
    part = partition((2, 1, 2), (4, 3, 5), (False, True, False))
    launches = list(long_program(4, part.region.cells))
    found = analyse(launches, part)
    assert not unordered(found.graph, conflicts(found.graph, part))
    for seed in range(5):
        check_versions(part, [launches], [found], [orders(seed)])
