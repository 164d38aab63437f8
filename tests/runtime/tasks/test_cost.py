"""What an analysis costs: it grows with the program, not with its square."""

from collections import Counter

import pytest

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import analyse
from tests.speed import seconds

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


def test_the_geometry_of_a_sweep_is_worked_out_once(monkeypatch):
    """Boxes are compared and cut while the first sweeps are analysed; from then on states recur."""
    calls = Counter()

    def counted(method):
        def call(*boxes):
            calls[method.__name__] += 1
            return method(*boxes)

        return call

    for name in ("meets", "subtract"):
        monkeypatch.setattr(Box, name, counted(getattr(Box, name)))
    part = partition((2, 2, 2), (8, 8, 8), (False, True, False))
    assert part.neighbours  # they are found once per partition
    result = []
    for sweeps in (8, 16, 64):
        calls.clear()
        analyse(list(long_program(sweeps, part.region.cells)), part)
        result.append(dict(calls))
    assert result[0] == result[1] == result[2]
    assert result[0].keys() == {"meets", "subtract"}


@pytest.mark.fast("blocks0-*")
@pytest.mark.parametrize(("blocks", "limit"), [([0], 0.3), (None, 1.0)])
def test_three_hundred_launches_are_analysed_in_a_moment(blocks, limit):
    """Measured: 0.03 s for one block of eight, 0.2 s for all eight. The limits leave room for a busy machine."""
    part = partition((2, 2, 2), (64, 64, 64), (False, True, False))
    launches = list(long_program(100, part.region.cells))
    assert min(seconds(lambda: analyse(launches, part, following=launches, blocks=blocks)) for _ in range(3)) < limit


def test_the_long_program_is_right():
    part = partition((2, 1, 2), (4, 3, 5), (False, True, False))
    launches = list(long_program(4, part.region.cells))
    result = analyse(launches, part)
    assert not unordered(result.graph, conflicts(result.graph, part))
    for seed in range(5):
        check_versions(part, [launches], [result], [orders(seed)])
